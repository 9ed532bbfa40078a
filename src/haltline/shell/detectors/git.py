"""Git: without global options and aliases, each subcommand is judged as the program `git-<name>`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import Flow
from haltline.shell.detectors.selfprotect import own_file
from haltline.shell.environment import Environment
from haltline.shell.marks import UNKNOWN, display
from haltline.shell.options import Grammar, Options, parse
from haltline.shell.unwrap_texts import fresh, moved

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_GLOBAL = Grammar("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source")
# Settings whose value Git runs as a command (git-config(1), gitattributes(5)).
_RUN_BY_SETTING = re.compile(
    r"core\.(?:sshcommand|pager|editor|fsmonitor|askpass|alternaterefscommand)|sequence\.editor|diff\.external"
    r"|credential(?:\..+)?\.helper|gpg(?:\..+)?\.program|pager\..+|interactive\.difffilter|tar\..+\.command"
    r"|(?:diff|merge|filter)\..+\.(?:command|textconv|driver|clean|smudge|process)"
    r"|(?:difftool|mergetool|browser|man|guitool)\..+\.cmd|trailer\..+\.(?:command|cmd)"
    r"|remote\..+\.(?:uploadpack|receivepack)|uploadpack\.packobjectshook|sendemail\.(?:tocmd|cccmd)"
)
_OPENS_DOOR = re.compile(
    r"core\.(?:hookspath|gitproxy|worktree|attributesfile)|protocol\..*allow|include(?:if\..+)?\.path"
    r"|url\..+\.(?:push)?insteadof"
)
_SWITCHES = frozenset({"true", "false", "yes", "no", "on", "off", "0", "1"})
_TRANSPORTS = frozenset({"fetch", "pull", "push", "clone", "ls-remote", "remote-update"})


def git(engine: Engine, call: Call) -> Flow | None:
    """Judge `git [options] subcommand …`."""
    argv = call.argv
    if len(argv) > 1 and argv[1][:1] != "-" and not call.settings:
        return subcommand(engine, call, argv[1:])  # most calls: half the time of the steps below
    options = parse(argv, _GLOBAL, first_word_ends=True)
    rest = argv[options.index :]
    aliases: dict[str, str] = {}
    for setting in [*options.all_values("-c"), *_given_settings(call)]:
        name, _, value = setting.partition("=")
        lowered = name.lower()
        if lowered.startswith("alias."):
            aliases[name[6:]] = value
        else:
            _setting(engine, call, lowered, value)
    for setting in options.all_values("--config-env"):
        if _RUN_BY_SETTING.fullmatch(setting.partition("=")[0].lower()):
            engine.report("git.hooks", call, setting)
    if options.value("--exec-path"):
        engine.unproved = True  # where Git looks for its own programs
    call = moved(call, options.value("-C"))
    call = moved(call, options.value("--work-tree"))
    if not rest or options.has("--help", "--version", "-h", "-v"):
        engine.effect("read", None, call)
        return Flow(None, 0)
    if rest[0] in aliases:
        return _alias(engine, call, aliases[rest[0]], rest[1:])
    return subcommand(engine, call, rest)


def _given_settings(call: Call) -> list[str]:
    """Return the settings that environment variables give (`GIT_CONFIG_COUNT`, git-config(1))."""
    given = dict(call.settings)
    return [
        f"{key}={given.get('GIT_CONFIG_VALUE_' + name[15:], '')}"
        for name, key in given.items()
        if name.startswith("GIT_CONFIG_KEY_")
    ]


def _setting(engine: Engine, call: Call, name: str, value: str) -> None:
    """Judge one setting, whether for this command or kept: some make Git run their value."""
    if _OPENS_DOOR.fullmatch(name) and value.lower() not in ("never", "user"):
        engine.report("git.hooks", call, f"{name}={value}")
    elif _RUN_BY_SETTING.fullmatch(name) and value.lower() not in _SWITCHES:
        call.settings.append(("GIT_" + name, value))
        if "/" in value and not name.endswith(("pager", "editor", "sshcommand")):
            engine.report("git.hooks", call, f"{name}={value}")
        engine.run_text(value.removeprefix("!"), call.inner([], "git"), Environment())


def _alias(engine: Engine, call: Call, value: str, rest: list[str]) -> Flow | None:
    engine.report("git.alias", call, value)
    if value.startswith("!"):
        return engine.run_text(value[1:], call.inner([], "git"), Environment())
    return subcommand(engine, call, value.split() + rest)


def subcommand(engine: Engine, call: Call, rest: list[str]) -> Flow | None:
    """Judge one subcommand with its arguments."""
    name = rest[0]
    if rest[1:2] == ["help"] or rest[-1] == "--help" or rest[1:] == ["-h"]:
        engine.effect("read", name, call)
        return Flow(None, 0)
    own = call.inner(["git-" + name, *rest[1:]], "git")
    own.via = call.via
    own.settings = call.settings
    program = engine.book.program(own.argv[0]) if name == name.lower() else None  # Git's names have one case
    transport = name in _TRANSPORTS or (name == "remote" and rest[1:2] in (["update"], ["show"], ["prune"]))
    if transport:
        for setting, value in call.settings:
            if setting in (
                "GIT_SSH_COMMAND",
                "GIT_SSH",
                "GIT_PROXY_COMMAND",
                "GIT_SSH_VARIANT",
                "GIT_core.sshcommand",
            ):
                engine.report("git.transport", call, f"{setting}={value}")
    if program is None:
        if engine.book.own is not None:
            engine.apply_own(engine.book.own, own.argv[0], own)
        engine.unknown("subcommand", "git " + display(name), call)
        return None
    return engine.run_program(program, own)


_PUSH = Grammar("-o --push-option --receive-pack --exec --repo --recurse-submodules")


def push(engine: Engine, call: Call) -> Flow | None:
    """`git push`: forced, deleting or mirroring refspecs."""
    options = parse(call.argv, _PUSH)
    if options.has("-n", "--dry-run"):
        engine.effect("read", None, call)
        return Flow(None, 0)
    refspecs = options.words[1:]
    target = " ".join(display(word) for word in options.words)
    engine.effect("network_out", target or None, call)
    given = [option for option, _ in options.given]
    forced = (
        options.has("-f")
        or any(_means_force(option) for option in given)
        or any(spec.startswith("+") for spec in options.words)
    )
    if options.has("--mirror", "--prune"):
        engine.report("git.push-mirror", call, target)
    elif forced or (not options.words and ("--force-with-lease", None) in options.given):
        engine.report("git.push-force", call, target)
    if options.has("-d", "--delete") or any(
        spec.startswith((":", "+:")) and spec != ":" for spec in refspecs
    ):
        engine.report("git.push-delete", call, target)
    return Flow(None, 0)


def _means_force(option: str) -> bool:
    return len(option) >= 5 and "--force".startswith(option)  # noqa: PLR2004  as many as it takes


_CHECKOUT = Grammar("-b -B --orphan -U --unified --inter-hunk-context --conflict --pathspec-from-file")


def checkout(engine: Engine, call: Call) -> Flow | None:
    """`git checkout`: a branch is switched, or files are overwritten with what was committed."""
    options = parse(call.argv, _CHECKOUT)
    words = options.words
    if options.has("-h"):
        return Flow(None, 0)
    if options.has("-f", "--force", "--discard-changes"):
        engine.report("git.discard", call, " ".join(words))
        return Flow(None, 0)
    creates = options.has("-b", "-B", "--orphan")
    paths: list[str] = []
    if options.separator is not None:
        paths = words[options.separator :]
    elif not creates and not options.has("-t", "--track", "--detach", "-d"):
        if (
            options.has("--recurse-submodules", "--track")
            and len(words) > 1
            and words[0] in ("checkout", "on-demand", "no", "yes")
        ):
            words = words[1:]
        paths = words[1:] if len(words) > 1 else [word for word in words if _surely_path(word)]
    elif options.has("--track") and not creates and len(words) > 1 and words[0] not in ("direct", "inherit"):
        paths = words[1:]
    if paths or options.has("--pathspec-from-file", "-p", "--patch", "--ours", "--theirs"):
        _discards(engine, call, paths)
    else:
        for word in words:
            own_file(engine, call, word)
        engine.effect("write", None, call)
    return Flow(None, 0)


def _surely_path(word: str) -> bool:
    return word in (".", "..", "*") or word.startswith(("./", "../", ":/", ":(")) or word.endswith("/")


def _discards(engine: Engine, call: Call, paths: list[str]) -> None:
    for path in paths or [UNKNOWN]:
        own_file(engine, call, path)
        engine.effect("overwrite", display(path), call, reversible=False)
    engine.report("git.discard", call, " ".join(display(path) for path in paths))


_RESTORE = Grammar("-s --source --pathspec-from-file --conflict -U --unified --inter-hunk-context")


def restore(engine: Engine, call: Call) -> Flow | None:
    """`git restore` overwrites files unless only the index is restored."""
    options = parse(call.argv, _RESTORE)
    if options.has("-h"):
        return Flow(None, 0)
    staged = options.last("--staged", "-S", "--no-staged") in ("--staged", "-S")
    worktree = options.last("--worktree", "-W", "--no-worktree")
    touches = worktree in ("--worktree", "-W") or (worktree is None and not staged)
    patch = options.last("-p", "--patch", "--no-patch") in ("-p", "--patch")
    if touches and (options.words or options.has("--pathspec-from-file") or patch):
        _discards(engine, call, options.words)
    else:
        engine.effect("write", None, call)
    return Flow(None, 0)


_CONFIGURE = Grammar("-f --file --blob --type --default --url --value --comment")


def configure(engine: Engine, call: Call) -> Flow | None:
    """`git config`: settings that make Git run programs, or that hand credentials around."""
    options = parse(call.argv, _CONFIGURE)
    words = options.words
    if words[:1] in (["set"], ["unset"], ["get"], ["list"], ["edit"]):
        words = words[1:] if words[0] == "set" else []
    if (
        options.has("--get", "--get-all", "--list", "-l", "--get-regexp", "--unset", "--unset-all")
        or len(words) < 2  # noqa: PLR2004  as many as it takes
    ):
        engine.effect("read", None, call)
        return Flow(None, 0)
    name, value = words[0].lower(), words[1]
    engine.effect("write", None, call)
    if name.startswith("alias.") and value.startswith("!"):
        engine.run_text(value[1:], call.inner([], "git"), Environment())
    elif name in ("core.fsmonitor", "core.sshcommand") and value.lower() not in _SWITCHES:
        engine.report("git.hooks", call, f"{words[0]} {value}")
    else:
        _setting(engine, call, name, value)
    return Flow(None, 0)


_RUN_BY_OPTION = {
    "git-clone": ("-u", "--upload-pack"),
    "git-difftool": ("-x", "--extcmd"),
    "": (
        *("-x", "--exec", "--upload-pack", "--receive-pack", "--tree-filter", "--index-filter"),
        *(
            "--msg-filter",
            "--commit-filter",
            "--parent-filter",
            "--env-filter",
            "--tag-name-filter",
            "--setup",
        ),
    ),
}


_RUNS = Grammar(
    "-x --exec -s -X --onto -u -c --config --upload-pack --receive-pack --extcmd --tool "
    "--tree-filter --index-filter --msg-filter --commit-filter --parent-filter --env-filter "
    "--tag-name-filter --setup"
)


def runs(engine: Engine, call: Call) -> Flow | None:
    """`git rebase --exec`, `git submodule foreach`, `git bisect run`, `git filter-branch`: shell text."""
    options = parse(call.argv, _RUNS)
    for text in options.all_values(*_RUN_BY_OPTION.get(call.argv[0], _RUN_BY_OPTION[""])):
        engine.run_text(text, call.inner([], "git"), fresh(call))
    if call.argv[0] == "git-clone":
        for setting in options.all_values("-c", "--config"):
            name, _, value = setting.partition("=")
            _setting(engine, call, name.lower(), value)
    for word in options.words:
        if word.startswith("ext::"):
            words = word[5:].replace("% ", "\n").split(" ")
            engine.dispatch(call.inner([w.replace("\n", " ").replace("%", "") for w in words], "git"))
    argv = call.argv
    for word in ("foreach", "run"):
        if word in argv[1:3]:
            rest = [w for w in argv[argv.index(word) + 1 :] if w not in ("--recursive", "--quiet", "-q")]
            if word == "foreach" or len(rest) == 1:
                engine.run_text(" ".join(rest), call.inner([], "git"), fresh(call))
            else:
                engine.dispatch(call.inner(rest, "git"))
    return None


_REMOVE = Grammar("--pathspec-from-file")


def remove(engine: Engine, call: Call) -> Flow | None:
    """`git rm` deletes files; with `--force` also those whose changes were never committed."""
    options: Options = parse(call.argv, _REMOVE)
    dry = options.last("-n", "--dry-run", "--no-dry-run") in ("-n", "--dry-run")
    forced = options.last("-f", "--force", "--no-force") in ("-f", "--force")
    cached = options.has("--cached")
    if dry:
        engine.effect("read", None, call)
        return Flow(None, 0)
    for word in options.words:
        own_file(engine, call, word)
        engine.effect("delete", display(word), call, recursive=options.has("-r"), force=forced)
    if not cached and (forced or any(word in (".", "*", ":/") for word in options.words)):
        engine.report("git.rm", call, " ".join(display(word) for word in options.words))
    return Flow(None, 0)


def move(engine: Engine, call: Call) -> Flow | None:
    """`git mv`: the sources are gone from where they were, and something new stands at the target."""
    options = parse(call.argv)
    words = options.words
    if options.has("-n", "--dry-run") or len(words) < 2:  # noqa: PLR2004  a source and a target
        engine.effect("read" if options.has("-n", "--dry-run") else "write", None, call)
        return Flow(None, 0)
    for source in words[:-1]:
        own_file(engine, call, source, removed=True)
        engine.effect("delete", display(source), call)
    own_file(engine, call, words[-1])
    forced = options.has("-f", "--force")
    engine.effect("overwrite" if forced else "write", display(words[-1]), call, reversible=not forced)
    return Flow(None, 0)
