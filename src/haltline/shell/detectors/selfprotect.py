"""Haltline's own command line: what reads is fine, what would settle halts or change Haltline is not."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from haltline.shell.call import Flow
from haltline.shell.marks import HOME, display
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
)
_LIBRARY = re.compile(
    r"\b(?:import|from)\s+haltline\b|import_module\(\s*['\"]haltline|__import__\(\s*['\"]haltline"
)
_RECORDS = re.compile(
    r"\b(?:update|delete\s+from|insert\s+(?:or\s+\w+\s+)?into|replace\s+into|drop\s+table(?:\s+if\s+exists)?"
    r"|truncate(?:\s+table)?|alter\s+table)\s+(?:only\s+)?[\w.\"`\[]*"
    r"(?:halt_events(?:_archive)?|haltline_\w+)\b",
    re.IGNORECASE,
)
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


_HALTLINE = Grammar("--config --database --database-url --home --data-dir --profile")


def haltline(engine: Engine, call: Call) -> Flow | None:
    """Judge `haltline …`."""
    options = parse(call.argv, _HALTLINE, first_word_ends=True)
    words = [word for word in call.argv[options.index :] if not word.startswith("-")]
    for setting, value in call.settings:
        own_setting(engine, call, setting, value)
    if not words or "--help" in call.argv:
        engine.effect("read", "haltline", call)
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


def own_setting(engine: Engine, call: Call, name: str, value: str) -> None:
    """Report a variable that would point Haltline's commands at another database, key or configuration."""
    if _OWN_SETTING.match(name):
        engine.report("haltline.change", call, f"{name}={display(value)}")


def library(engine: Engine, call: Call) -> None:
    """Python code that settles halts or changes Haltline through its library."""
    for option, module in pairwise(call.argv[:-1]):
        if option == "-m" and module.startswith("haltline."):
            haltline(
                engine, call.inner(["haltline", *call.argv[call.argv.index(module) + 1 :]], call.argv[0])
            )
    code = " ".join(call.argv[1:])
    if call.stdin is not None and call.stdin.text is not None:
        code += "\n" + call.stdin.text
    if _RECORDS.search(code):
        engine.report("haltline.files", call, "halt_events")
    if _LIBRARY.search(code) and _SETTLING_CODE.search(code):
        engine.report("haltline.settle", call, "haltline")


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
    if _OWN_HINT.search(text) is None or _CODE_WRITES.search(text) is None:
        return
    for match in _STRING.finditer(text):
        own_file(engine, call, match[1] or match[2], removed=True)


def records(engine: Engine, call: Call) -> None:
    """SQL that changes Haltline's records, whatever the database is called."""
    text = " ".join(call.argv[1:])
    if call.stdin is not None and call.stdin.text is not None:
        text += "\n" + call.stdin.text
    if _RECORDS.search(text):
        engine.report("haltline.files", call, "halt_events")
    if call.stdin is not None and call.stdin.text is None:
        for word in call.argv[1:]:
            own_file(engine, call, word)


_STOPS = word_set("stop kill rm restart pause update down")


def container(engine: Engine, call: Call) -> None:
    """`docker rm -f haltline`: Haltline's own container."""
    words = call.argv[1:]
    if not _STOPS.isdisjoint(words[:4]) and any("haltline" in word for word in words):
        engine.report("haltline.process", call, " ".join(words))
