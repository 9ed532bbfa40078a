"""Haltline's own command line: what reads is fine, what would settle halts or change Haltline is not."""

from __future__ import annotations

import re
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
)
_OWN_HINT = re.compile(r"haltline|\.claude|\.codex|\.gemini|\.cursor")
_RUNTIME_SETTINGS = re.compile(
    r"(?:^|/)(?:\.claude/(?:settings(?:\.local)?\.json|hooks/)|\.codex/(?:config\.toml|hooks)"
    r"|\.gemini/settings\.json|"
    r"\.cursor/hooks\.json)"
)
_READS = word_set("check halts show explain doctor status version help rules hook mcp serve console")
_SETTLES = word_set("ack acknowledge resolve dismiss escalate strikes reset sessions session")
_READING_VERBS = word_set("get list show test verify export path")


def own_file(engine: Engine, call: Call, path: str) -> bool:
    """Report a change to Haltline's own files, or to settings that decide whether its hooks run."""
    directory = call.environment.directory
    if _OWN_HINT.search(path) is None and (directory is None or _OWN_HINT.search(directory) is None):
        return False
    spelled = path.replace("\\", "/")
    if directory is not None and spelled[:1] not in ("/", HOME):
        spelled = directory + "/" + spelled
    if _OWN_FILES.search(spelled):
        engine.report("haltline.files", call, display(path))
        return True
    if _RUNTIME_SETTINGS.search(spelled):
        engine.report("haltline.hooks", call, display(path))
    return False


def haltline(engine: Engine, call: Call) -> Flow | None:
    """Judge `haltline …`."""
    options = parse(
        call.argv,
        Grammar("--config --database --database-url --home --data-dir --profile"),
        first_word_ends=True,
    )
    words = [word for word in call.argv[options.index :] if not word.startswith("-")]
    if not words or "--help" in call.argv:
        engine.effect("read", "haltline", call)
        return Flow(None, 0)
    if words[0] in _READS and words[:2] != ["rules", "add"]:
        engine.effect("read", "haltline", call)
        return Flow(None, 0)
    if len(words) > 1 and words[0] not in ("ack", "archive") and words[1] in _READING_VERBS:
        engine.effect("read", "haltline", call)
        return Flow(None, 0)
    engine.report("haltline.settle" if words[0] in _SETTLES else "haltline.change", call, " ".join(words[:2]))
    return Flow(None, 0)
