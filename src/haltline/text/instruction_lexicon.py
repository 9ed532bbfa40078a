"""Words and opposites by which instructions are compared, as data."""

from __future__ import annotations

from typing import NamedTuple

# Class of a verb: instructions about the same class can contradict each other.
VERB_CLASSES: dict[str, tuple[str, ...]] = {
    "edit": ("edit", "modify", "change", "touch", "alter", "update", "patch", "tweak"),
    "delete": ("delete", "remove", "drop", "erase", "purge", "wipe", "truncate"),
    "add": ("add", "create", "introduce", "generate"),
    "write": ("write",),
    "run": ("run", "execute", "invoke", "launch"),
    "push": ("push",),
    "commit": ("commit",),
    "merge": ("merge",),
    "rebase": ("rebase", "squash"),
    "deploy": ("deploy", "release", "ship", "publish", "roll out"),
    "install": ("install",),
    "upgrade": ("upgrade", "bump", "downgrade"),
    "ask": ("ask", "confirm", "consult"),
    "use": ("use", "using", "employ", "utilise", "utilize", "rely"),
    "rename": ("rename",),
    "move": ("move",),
    "refactor": ("refactor", "restructure", "reorganise", "reorganize", "rewrite"),
    "format": ("format", "reformat", "lint"),
    "log": ("log", "print"),
    "test": ("test",),
    "mock": ("mock", "stub"),
    "document": ("document",),
    "comment": ("comment",),
    "skip": ("skip", "disable", "ignore"),
    "read": ("read", "open", "inspect"),
    "restart": ("restart", "reboot"),
    "store": ("store", "save", "cache", "persist"),
    "send": ("send", "email", "notify"),
    "expose": ("expose", "return", "reveal", "display", "show"),
    "catch": ("catch", "swallow", "suppress"),
    "raise": ("raise", "throw"),
    "connect": ("connect",),
    "fetch": ("fetch", "download"),
    "include": ("include", "import"),
    "keep": ("keep", "preserve", "retain"),
}

# Verbs whose "to" names a place; "use pandas to read it" names a purpose.
DIRECTED_VERBS = frozenset(
    {
        "push",
        "commit",
        "merge",
        "deploy",
        "move",
        "send",
        "connect",
        "write",
        "store",
        "add",
        "rename",
        "expose",
    }
)

NEGATIONS = (
    r"do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|cannot|can't|can not"
    r"|will not|won't"
    r"|avoid|refrain from|stop|without|not allowed to|no longer|not"
)

CONDITIONS = (
    r"if|unless|until|except|only|before|after|when|whenever|while|once|otherwise|where|outside|other than"
    r"|as long as|in case|besides|apart from|where possible|if possible|by default|instead of"
)

# Words that say nothing of what an instruction is about.
_EMPTY_WORDS = """
a an the this that these those it its they them any all every each some your our my their please always
just ever be is are was were been to of and or with by as at so than then also too very really i you we
he she must should shall will would may might can could need needs want wants make sure ensure let lets
new existing own current code codebase project repository repo anything everything something thing things
stuff file files changes
"""
EMPTY_WORDS = frozenset(_EMPTY_WORDS.split())

# Scopes that mean everywhere, and purposes that are no scope.
_EMPTY_SCOPES = """
indentation project repository repo codebase code files everywhere general place advance order future
addition total favour favor response parallel
"""
EMPTY_SCOPES = frozenset(_EMPTY_SCOPES.split())


class Antinomy(NamedTuple):
    """Two things of which an instruction can ask for one: asking for both is a contradiction.

    `first` and `second` are alternatives of a regular expression on lower-case text, matched at word ends.
    """

    name: str
    first: str
    second: str


ANTINOMIES = (
    Antinomy("indentation", r"tabs(?! and)", r"spaces(?! and)|(?:two|four|2|4|8)[- ]space"),
    Antinomy("quotes", r"single[- ]quot(?:es|ed)", r"double[- ]quot(?:es|ed)"),
    Antinomy(
        "dependencies",
        r"(?:only|just) (?:use )?the standard library|standard library only|stdlib only|only (?:the )?stdlib"
        r"|no (?:new |external |third[- ]party |additional )?dependencies|zero dependencies"
        r"|dependency[- ]free",
        r"pip install|npm install|yarn add|cargo add|go get|use (?:pandas|numpy|requests|lodash|axios|httpx)"
        r"|install (?:the )?[\w\-]+ (?:package|library)|add (?:a |the )?[\w\-]* ?dependency",
    ),
    Antinomy(
        "extent",
        r"minimal (?:change|diff|edit)s?|smallest (?:possible )?(?:change|diff)|as few changes as possible",
        r"refactor (?:the )?(?:whole|entire|everything|all)|rewrite (?:the )?(?:whole|entire"
        r"|everything|from scratch)"
        r"|from scratch|overhaul",
    ),
    Antinomy(
        "asking",
        r"ask (?:me )?(?:first|before)|check with me|wait for (?:my )?(?:approval|confirmation)"
        r"|get my approval"
        r"|confirm with me|ask for (?:permission|confirmation|approval)",
        r"(?:do not|don't|never|without) ask(?:ing)?|no questions|without (?:my )?(?:approval|confirmation)"
        r"|don't wait|do not wait|autonomously|don't bother me",
    ),
    Antinomy(
        "verbosity",
        r"concise|brief(?:ly)?|terse|keep it short",
        r"verbose|in (?:great |full )?detail|exhaustive(?:ly)?|lengthy|elaborate",
    ),
    Antinomy("language", r"(?:in|use|with) typescript", r"(?:in|use|with) (?:plain |vanilla )?javascript"),
    Antinomy("paradigm", r"functional style|pure functions", r"object[- ]oriented|use classes"),
    Antinomy(
        "synchrony",
        r"async(?:hronous)?(?:ly)?|async/await|non-blocking",
        r"synchronous(?:ly)?|no async|blocking (?:calls|io)",
    ),
    Antinomy(
        "typing",
        r"no type (?:hints|annotations)|without type (?:hints|annotations)|untyped",
        r"(?:add|use|with) type (?:hints|annotations)|fully typed|strictly typed",
    ),
    Antinomy(
        "comments",
        r"no comments|without comments|(?:do not|don't|never) (?:add|write) comments",
        r"comment every|(?:add|write) comments|well[- ]commented|with comments",
    ),
    Antinomy(
        "tests",
        r"no tests|without tests|(?:do not|don't|never) (?:add|write) (?:any )?tests|skip (?:the )?tests",
        r"(?:add|write|include) (?:unit |integration )?tests|with (?:full )?tests|test[- ]driven|tdd",
    ),
    Antinomy("test_runner", r"pytest", r"(?:use|with) unittest"),
    Antinomy("js_test_runner", r"(?:use|with) jest", r"(?:use|with) (?:vitest|mocha)"),
    Antinomy("package_manager", r"(?:use|with) npm", r"(?:use|with) (?:yarn|pnpm|bun)"),
    Antinomy("python_packaging", r"(?:use|with) poetry", r"(?:use|with) (?:pipenv|uv|conda)"),
    Antinomy(
        "database",
        r"(?:use|with|in) (?:postgres|postgresql)",
        r"(?:use|with|in) (?:mysql|sqlite|mongodb|mariadb)",
    ),
    Antinomy(
        "persistence",
        r"in[- ]memory only|(?:do not|don't|never) (?:persist|store)|nothing (?:is )?persisted",
        r"persist(?:ed)? (?:to|in)|store (?:it |them )?(?:in|on) (?:the )?(?:database|disk)",
    ),
    Antinomy(
        "history",
        r"linear history|rebase,? (?:not|never) merge|always rebase|squash (?:all |the )?commits",
        r"merge commits|never rebase|(?:do not|don't) rebase|(?:do not|don't|never) squash",
    ),
    Antinomy(
        "commits",
        r"(?:one|single|1) commit|single[- ]commit",
        r"(?:small|atomic|separate|multiple) commits|commit (?:often|frequently|each|every)",
    ),
    Antinomy(
        "branch",
        (
            r"commit (?:directly )?to (?:main|master)|push (?:directly )?to (?:main|master)"
            r"|work on (?:main|master)"
        ),
        r"feature branch|new branch|separate branch|never (?:commit|push) (?:directly )?to (?:main|master)",
    ),
    Antinomy(
        "review",
        (
            r"open a (?:pull request|pr|merge request)|through a (?:pull request|pr)"
            r"|via (?:a )?(?:pull request|pr)"
        ),
        r"push directly|without (?:a )?(?:pull request|pr|review)|no (?:pull requests|prs)",
    ),
    Antinomy(
        "compatibility",
        (
            r"backwards?[- ]compatib(?:le|ility)|(?:do not|don't|never) break (?:the )?(?:public )?api"
            r"|no breaking changes"
        ),
        (
            r"breaking changes are (?:fine|ok|okay|allowed|welcome)|ignore backwards?[- ]compatibility"
            r"|remove (?:the )?(?:deprecated|legacy) api"
        ),
    ),
    Antinomy(
        "network",
        (
            r"offline|no (?:network|internet)(?: access)?|without (?:network|internet)|(?:do not|don't"
            r"|never) (?:access|use) the (?:network|internet)"
        ),
        (
            r"download|fetch (?:it |them )?from (?:the )?(?:web|internet|url)|call the (?:live|remote"
            r"|external) api|search the web"
        ),
    ),
    Antinomy(
        "writing",
        (
            r"read[- ]only|(?:do not|don't|never) (?:modify|change|edit|write|touch) (?:anything"
            r"|any files?|any code)|make no changes|no changes"
        ),
        r"(?:fix|implement|refactor|apply|rewrite) (?:it|this|the|them|all)|make the change",
    ),
    Antinomy(
        "scope_of_files",
        r"(?:do not|don't|never) (?:create|add) (?:any )?new files|no new files|only existing files",
        r"(?:create|add) (?:a )?new (?:file|module)|in a new (?:file|module)",
    ),
    Antinomy(
        "errors",
        r"fail fast|let (?:exceptions|errors) propagate|never (?:catch|swallow)",
        (
            r"never (?:raise|throw|fail|crash)|catch all|swallow (?:all )?(?:errors|exceptions)"
            r"|ignore (?:all )?errors"
        ),
    ),
    Antinomy(
        "logging",
        r"no logging|(?:do not|don't|never) log|without logging",
        r"log (?:every|all|each)|verbose logging|detailed logging",
    ),
    Antinomy(
        "order",
        r"alphabetical(?:ly)?(?: order)?|sorted by name",
        r"chronological(?:ly)?(?: order)?|sorted by date|insertion order",
    ),
    Antinomy("direction", r"ascending", r"descending"),
    Antinomy("case", r"snake[_ -]?case", r"camel[_ -]?case"),
    Antinomy("output_format", r"(?:as|in|output|return) json", r"(?:as|in|output|return) (?:xml|yaml|csv)"),
    Antinomy(
        "api_style",
        r"(?:use|with|as) (?:a )?rest(?:ful)?(?: api)?",
        r"(?:use|with|as) (?:a )?(?:graphql|grpc)",
    ),
    Antinomy(
        "css", r"(?:use|with) tailwind", r"plain css|no tailwind|(?:use|with) (?:bootstrap|css modules)"
    ),
    Antinomy("components", r"function(?:al)? components", r"class components"),
    Antinomy(
        "speed",
        r"take your time|be thorough|thorough(?:ly)?",
        r"as (?:fast|quickly) as possible|quick and dirty|quick hack|asap",
    ),
    Antinomy(
        "secrets",
        r"(?:do not|don't|never) (?:commit|hard-?code|store) (?:any )?(?:secrets|credentials|keys)",
        r"hard-?code (?:the )?(?:secret|credential|key|password|token)s?",
    ),
    Antinomy(
        "downtime",
        r"zero[- ]downtime|no downtime|without downtime|keep (?:the )?(?:service|server|site) (?:up|running)",
        r"(?:stop|shut down|take down|restart) (?:the )?(?:service|server|site|database)",
    ),
    Antinomy(
        "formatter",
        r"(?:do not|don't|never) (?:reformat|format)|no formatting changes|keep (?:the )?formatting",
        r"(?:run|apply) (?:black|prettier|ruff format|gofmt|the formatter)|reformat",
    ),
    Antinomy(
        "migration",
        (
            r"(?:do not|don't|never) (?:change|touch|alter|modify) the (?:database )?schema"
            r"|no (?:schema changes|migrations)"
        ),
        (
            r"(?:add|create|write|run) (?:a |the )?(?:database )?migrations?|add (?:a )?column"
            r"|drop (?:the )?(?:column|table)"
        ),
    ),
    Antinomy("generated", r"edit by hand|by hand|manually", r"automatically|auto-generate|with a script"),
    Antinomy(
        "environment",
        r"(?:only|just) (?:on|in) (?:staging|dev|development|test)|never (?:on|in|to) prod(?:uction)?",
        r"(?:on|in|to) prod(?:uction)?",
    ),
)

# Units whose number has one meaning wherever it stands.
OWN_MEANING_UNITS = frozenset({"spaces", "version"})
UNITS = (
    r"characters|chars|columns|spaces|seconds|minutes|hours|days|retries|attempts|lines|words"
    r"|commits|files|workers"
    r"|threads|mb|gb|percent|%|sentences|paragraphs|items|pages|decimal places"
)
PRODUCTS = (
    r"python|node|node\.js|nodejs|java|go|golang|ruby|php|postgres|postgresql|mysql|react|vue"
    r"|angular|django|flask"
    r"|rails|typescript|rust|kotlin|swift|c\+\+|dotnet|\.net|spring boot|kubernetes|terraform|redis|pydantic"
)
