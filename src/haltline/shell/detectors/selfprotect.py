"""Haltline's own command line: what reads is fine, what would settle halts or change Haltline is not."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from haltline.shell.call import PIPED, REST_OF_SCHEDULE, SCHEDULE, Flow
from haltline.shell.marks import HOME, OWN_KEY, display
from haltline.shell.options import Grammar, parse
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_OWN_FILES = re.compile(
    r"(?:^|/)(?:\.haltline|(?:\.local/(?:share|state)|\.config|\.cache|Application Support|var/(?:lib"
    r"|log)|etc|"
    r"AppData/\w+)/haltline)(?:/|\Z)|(?:^|/)haltline\.(?:db|sqlite3?|toml|ya?ml)(?:-wal|-shm)?\Z"
    r"|(?:^|/)s?bin/haltline\Z|/Scripts/haltline(?:\.exe)?\Z|(?:site|dist)-packages/haltline(?:[/-]|\Z)"
    r"|^/proc/haltline-process/"
    r"|(?:^|/)[\w.-]*haltline[\w@.-]*\.(?:service|timer|socket|plist)(?:\.d/.*)?\Z"
)
_OWN_HINT = re.compile(
    r"haltline|\.(?:claude|codex|gemini|cursor|qwen|windsurf|augment|factory)|claude-code|hooks"
)
_RUNTIMES = r"(?:^|/)\.(?:claude|codex|gemini|cursor|qwen|windsurf|augment|factory)"
_RUNTIME_SETTINGS = re.compile(
    _RUNTIMES + r"/(?:settings(?:\.local)?\.json|hooks\.json|hooks(?:/|\Z)|config\.toml)"
    r"|/(?:claude-code|ClaudeCode)/managed-settings(?:\.json|\.d/)|(?:^|/)\.github/hooks(?:/|\Z)"
)
_RUNTIME_HOME = re.compile(_RUNTIMES + r"(?:/(?:\*|\.)?)*\Z")
_READS = word_set(
    "check record halts show explain doctor status version help rules hook mcp serve console demo escalate"
)
_SETTLES = word_set("ack acknowledge resolve dismiss strikes reset sessions session")
_READING_VERBS = word_set("get list show test verify export path open record")
_OWN_SETTING = re.compile(r"HALTLINE_(?!SESSION\Z|AGENT\Z|TASK\Z|LOG|COLOR)")
_SETTLING_CODE = re.compile(
    r"\b(?:acknowledge(?:_halts?)?|reset_(?:attempts|halt_handoff|strikes)|update_halt_config|close_session"
    r"|create_key|revoke_key|replay_spool|archive|authenticate|acting_as)\s*\(|\b(?:getattr|__import__|eval|exec)\s*\("
    r"|\.(?:acknowledge(?:_halts?)?|reset_attempts|update_halt_config|close_session|create_key|revoke_key)\s*[,;\]}\n]"
)
_MODULES = r"(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*"
_LIBRARY = re.compile(
    rf"\bfrom\s+haltline\b|\bimport\s+{_MODULES}haltline\b|(?:import_module|__import__)\(\s*['\"]haltline"
)
# Its command line called by code: the faces and the entry point, however they are imported.
_FACES = re.compile(
    rf"\b(?:from\s+|import\s+{_MODULES})haltline\.(?:faces|__main__)\b"
    r"|(?:import_module|__import__)\(\s*['\"]haltline\.(?:faces|__main__)"
    r"|\bfrom\s+haltline\s+import\s+[\w\s,(]{0,200}?\b(?:faces|__main__)\b"
    r"|\brun_module\(\s*(?:mod_name\s*=\s*)?['\"]haltline|\brun_path\([^)]{0,200}haltline"
    r"|\bentry_points\([^\n]{0,200}haltline|\bload_entry_point\([^)]{0,200}haltline"
)
_CALLS = re.compile(r"[(@]")  # an import alone, as when its time is measured, runs nothing
_WRITES_TABLE = (
    r"\b(?:update(?:\s+or\s+\w+)?|delete\s+from|insert\s+(?:or\s+\w+\s+)?into|(?:replace|merge)\s+into"
    r"|drop\s+table(?:\s+if\s+exists)?|truncate(?:\s+table)?|alter\s+table(?:\s+if\s+exists)?)\s+(?:only\s+)?"
)
_NAME = r"(?:[\"`\[]?\w+[\"`\]]?\.)?[\"`\[]?"
_RECORDS = re.compile(
    _WRITES_TABLE + r"[\w.\"`\[]*(?:halt_events(?:_archive)?|halt_conditions_config|haltline_\w+)\b"
    rf"|{_WRITES_TABLE}{_NAME}(?:halt_)?conditions\b[^;]{{0,400}}\b(?:destructive_command|privilege_escalation)\b",
    re.IGNORECASE,
)
# Tables of Haltline's with names that other applications seldom have, and those that many have.
_LIKELY_RECORDS = re.compile(
    rf"{_WRITES_TABLE}{_NAME}(?:waivers|strikes|principals|audit_log|file_reads)\b", re.IGNORECASE
)
_ANY_CHANGE = re.compile(
    r"\b(?:update|delete|insert|replace|merge|truncate|drop|alter|create|grant|revoke)\s", re.IGNORECASE
)
# A database that is Haltline's by its name: `haltline`, `postgresql://host/haltline`, `dbname=haltline`.
_OWN_DATABASE = re.compile(r"(?:^|[/=@])haltline(?:\.(?:db|sqlite3?))?(?:\Z|[?\s])")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|--[^\n]*\n", re.DOTALL)
OWN_PROCESS = "haltline-process"  # stands for the number of a process of Haltline's


def own_file(engine: Engine, call: Call, path: str, *, removed: bool = False) -> bool:
    """Report a change to Haltline's own files, or to settings that decide whether its hooks run.

    Args:
        engine: where it is reported.
        call: the command that makes the change.
        path: what is changed.
        removed: the path goes away with everything below it.
    """
    directory = call.environment.directory
    if _OWN_HINT.search(path) is None and (directory is None or _OWN_HINT.search(directory) is None):
        return False
    spelled = path.replace("\\", "/")
    if directory is not None and spelled[:1] not in ("/", HOME):
        spelled = directory + "/" + spelled
    if _OWN_FILES.search(spelled):
        engine.report("haltline.files", call, display(path))
        return True
    if _RUNTIME_SETTINGS.search(spelled) or (removed and _RUNTIME_HOME.search(spelled)):
        engine.report("haltline.hooks", call, display(path))
    return False


_GROUPS = frozenset({"config", "keys", "rules", "sessions", "strikes", "audit"})
_HALTLINE = Grammar("--config --database --database-url --home --data-dir --profile")


def haltline(engine: Engine, call: Call) -> Flow | None:
    """Judge `haltline …`."""
    options = parse(call.argv, _HALTLINE, first_word_ends=True)
    words = [word for word in call.argv[options.index :] if not word.startswith("-")]
    if not words or _asks_for_help(call.argv):
        engine.effect("read", "haltline", call)
        return Flow(None, 0)
    for option in ("--config", "--database", "--database-url", "--home", "--data-dir"):
        elsewhere = options.value(option)
        if elsewhere is not None:  # other settings, or another database, in which nothing is halted
            engine.report("haltline.change", call, f"{option} {display(elsewhere)}")
            return Flow(None, 0)
    if words[0] in _READS and words[:2] != ["rules", "add"]:
        engine.effect("read", "haltline", call)
        return Flow(None, 0)
    if words == ["sessions"]:
        engine.effect("read", "haltline", call)
        return Flow(None, 0)
    if len(words) > 1 and words[0] not in ("ack", "archive") and words[1] in _READING_VERBS:
        engine.effect("read", "haltline", call)
        return Flow(None, 0)
    engine.report("haltline.settle" if words[0] in _SETTLES else "haltline.change", call, " ".join(words[:2]))
    return Flow(None, 0)


def _asks_for_help(argv: list[str]) -> bool:
    """Return whether `--help` stands where no option takes it for a value: directly after the subcommand."""
    before = argv[1 : argv.index("--help")] if "--help" in argv else argv
    if any(word[:1] == "-" for word in before):
        return False
    return len(before) <= (2 if argv[1] in _GROUPS else 1)


def own_setting(engine: Engine, call: Call, name: str, value: str) -> None:
    """Report a variable that would point Haltline's commands at another database, key or configuration."""
    if _OWN_SETTING.match(name):
        engine.report("haltline.change", call, f"{name}={display(value)}")


_SHOWS = re.compile(
    r"\b(?:print\w*|puts|echo|say|p|warn|write\w*|log|error|post|put|request\w*|urlopen|fetch|send\w*)\b"
)


def _shown_by_code(engine: Engine, call: Call, text: str) -> None:
    """Report code that reads the key from the environment and has a way to show or send it."""
    if "HALTLINE_KEY" in text and _SHOWS.search(text):
        engine.report("credentials.read", call, "$HALTLINE_KEY")


def library(engine: Engine, call: Call) -> None:
    """Python code that settles halts or changes Haltline through its library."""
    for option, module in pairwise(call.argv[:-1]):
        if (option == "-m" and module.startswith("haltline.")) or (
            module == "haltline" and (option == "runpy" or (option == "-m" and call.program == "coverage"))
        ):
            haltline(
                engine, call.inner(["haltline", *call.argv[call.argv.index(module) + 1 :]], call.argv[0])
            )
    for place, word in enumerate(call.argv):
        if _ENTRY_FILE.search(word):
            haltline(engine, call.inner(["haltline", *call.argv[place + 1 :]], call.argv[0]))
            break
    code = " ".join(call.argv[1:])
    if call.stdin is not None and call.stdin.text is not None:
        code += "\n" + call.stdin.text
    if _RECORDS.search(code) or ("haltline" in code and _LIKELY_RECORDS.search(code)):
        engine.report("haltline.files", call, "halt_events")
    _shown_by_code(engine, call, code)
    if (_FACES.search(code) and _CALLS.search(code)) or (
        _LIBRARY.search(code) and _SETTLING_CODE.search(code)
    ):
        engine.report("haltline.settle", call, "haltline")


_ENTRY_FILE = re.compile(r"(?:^|/)haltline/(?:__main__|faces/cli/__init__)\.py\Z")
_CODE_WRITES = re.compile(
    r"writeFile|appendFile|unlink|rmSync|rmdir|rename|truncate|createWriteStream|copyFile|cpSync|file_put_contents"
    r"|File\.(?:write|delete|rename)|FileUtils|fs\.rm|open\([^)]*['\"][>wa]"
)
_STRING = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")


def code(engine: Engine, call: Call) -> None:
    """Code of other languages that writes to Haltline's files or to a runtime's hook settings."""
    text = " ".join(call.argv[1:])
    if call.stdin is not None and call.stdin.text is not None:
        text += "\n" + call.stdin.text
    _shown_by_code(engine, call, text)
    if _OWN_HINT.search(text) is None or _CODE_WRITES.search(text) is None:
        return
    for match in _STRING.finditer(text):
        own_file(engine, call, match[1] or match[2], removed=True)


def records(engine: Engine, call: Call) -> None:
    """SQL that changes Haltline's records, whatever the database is called."""
    text = " ".join(call.argv[1:])
    if call.stdin is not None and call.stdin.text is not None:
        text += "\n" + call.stdin.text
    if "/*" in text or "--" in text:
        text += "\n" + _COMMENT.sub(" ", text)  # both: what looks like a comment may be a path or an option
    own = any(_OWN_DATABASE.search(word) for word in call.argv[1:] if _ANY_CHANGE.search(word) is None)
    if _RECORDS.search(text) or (own and _ANY_CHANGE.search(text)):
        engine.report("haltline.files", call, "halt_events")
    elif _LIKELY_RECORDS.search(text):
        engine.report("haltline.records", call)
    if call.stdin is not None and call.stdin.text is None:
        for word in call.argv[1:]:
            own_file(engine, call, word)


_STOPS = word_set("stop kill rm restart pause update down")


def container(engine: Engine, call: Call) -> None:
    """`docker rm -f haltline`: Haltline's own container."""
    words = call.argv[1:]
    if not _STOPS.isdisjoint(words[:4]) and any("haltline" in word for word in words):
        engine.report("haltline.process", call, " ".join(words))


_LOOKS_ONLY = word_set("-R -M -v --view --version --help --list-extensions -d --diff")
_LISP_STRING = re.compile(r"\"([^\"\n]*)\"")
_PLACE = re.compile(r"(?::\d+){1,2}\Z")
_EX_FILE = re.compile(
    r"\b(?:w(?:q|rite)?|sav(?:eas)?|e(?:dit)?|up(?:date)?|x(?:it)?|writefile\([^|]{0,200},)"
    r"!?\s+(?:>>\s*)?['\"]?([^\s'\"|)]+)"
)


def edited(engine: Engine, call: Call) -> None:
    """An editor that opens one of Haltline's files, or the settings of a runtime, to change it."""
    words = call.argv[1:]
    if call.program == "sudo" and not {"-e", "--edit"}.intersection(words[:3]):
        return
    if call.program in ("view", "rview") or not _LOOKS_ONLY.isdisjoint(words):
        return
    texts = words if call.stdin is None or call.stdin.text is None else [*words, call.stdin.text]
    for word in words:
        if word[:1] not in ("-", "+", "("):
            own_file(engine, call, _PLACE.sub("", word))
    for text in texts:
        if _OWN_HINT.search(text) is None:
            continue
        if text[:1] == "(":  # Lisp, which names files in strings
            for match in _LISP_STRING.finditer(text):
                own_file(engine, call, match[1])
        for match in _EX_FILE.finditer(text):
            own_file(engine, call, match[1])


def attached(engine: Engine, call: Call) -> None:
    """`gdb -p $(pgrep haltline)`: a debugger or tracer holds the process, and may change what it does."""
    words = call.argv[1:]
    by_name = any(
        option in ("-n", "--attach-name", "--name", "-w", "--waitfor") and "haltline" in name
        for option, name in pairwise(words)
    )
    if by_name or any(OWN_PROCESS in word for word in words):
        engine.report("haltline.process", call, call.argv[0])


def schedule(engine: Engine, call: Call) -> Flow | None:
    """`crontab -l | grep -v haltline | crontab -`: Haltline's timer is taken out of the list."""
    source = call.stdin.source if call.stdin is not None else ""
    if call.program == "crontab":
        if "-l" in call.argv:
            return Flow(None, PIPED, SCHEDULE)
        files = [word for word in call.argv[1:] if word[:1] != "-"]
        if source == REST_OF_SCHEDULE or any(
            engine.file_flow(path, call).source == REST_OF_SCHEDULE for path in files
        ):
            engine.report("haltline.change", call, "crontab")
        return None
    if source not in (SCHEDULE, REST_OF_SCHEDULE):
        return None
    named = any("haltline" in re.sub(r"[\[\]\\]", "", word) for word in call.argv[1:])
    return Flow(None, PIPED, REST_OF_SCHEDULE if named else source)


def key(engine: Engine, call: Call) -> None:
    """`echo $HALTLINE_KEY`: the key that says who somebody is would be shown or sent."""
    flowing = call.stdin.text if call.stdin is not None else None
    if any(OWN_KEY in word for word in call.argv[1:]) or (flowing is not None and OWN_KEY in flowing):
        engine.report("credentials.read", call, "$HALTLINE_KEY")
