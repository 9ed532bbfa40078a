"""What database clients do beside SQL: they run shell commands, and read and write files.

Sources: psql(1) "Meta-Commands", "Command Line Shell For SQLite", the MySQL reference's "mysql Client
Commands", and "Use sqlcmd" of Microsoft Learn.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.scanner import LimitReached

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_ANYWHERE = re.compile(
    r"\\!\s*(?P<shell>[^\n]+)|\\(?:i|ir|include|include_relative|\.)\s+(?P<file>'[^'\n]*'|\S+)"
    r"|\\(?:o|out|w|write|g|gx)\s+(?:\|\s*(?P<pipe>[^\n]+)|(?P<out>[^\s|;]+))"
    r"|\\copy\b[^\n]*?\b(?:from|to)\s+(?:program\s+'(?P<program>(?:[^']|'')*)'|'?(?P<copy>[^'\s]+))"
    r"|(?P<gexec>\\gexec\b)"
    r"|^[ \t]*\\[a-z]+\b[^`\n]*(?P<backticks>`[^\n]*`)",
    re.IGNORECASE | re.MULTILINE,
)
_AT_START = re.compile(
    r"^[ \t]*(?:\.(?:sh|she|shel|shell|sy|sys|syst|syste|system)\b|system[ \t]|host[ \t]|!"
    r"|!!|\.(?:r|re|read|i|im|import|o|ou|out|output|on|once|e|ex|excel)[ \t]+[\"']?\|"
    r"|pager[ \t])"
    r"[ \t]*(?P<shell>[^\n]+)"
    r"|^[ \t]*(?:\.read|source|:r)[ \t]+(?P<file>'[^'\n]*'|\S+)"
    r"|^[ \t]*(?P<restore>\.restore\b)[^\n]*"
    r"|^[ \t]*\.(?:output|once|save|backup|clone|log|trace|dump)[ \t]+(?:main[ \t]+)?(?P<out>[^\s|;]+)",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_SEMICOLON = re.compile(
    r";[ \t]*(?:system[ \t]|\.(?:shell|system)\b)[ \t]*(?P<shell>[^\n]+)", re.IGNORECASE
)
NAMED_LOSS = re.compile(
    r"(?:^|[^a-z])(?:drop|truncate|wipe|purge|reset|destroy|delete|nuke)[^/]*\.(?:sql|cql|ddl|psql|m?js|lua)\Z",
    re.IGNORECASE,
)
"""A file of statements whose name says that it deletes."""
_COPIES_OUT = re.compile(r"\\copy\b(?:(?!\\copy\b)[^\n])*\bto\b", re.IGNORECASE)
_SEARCHED_IN_A_STEP = 64  # characters
_RUN_LITERAL = re.compile(r"'((?:drop|truncate|delete|alter|update|revoke)\b(?:[^']|'')*)'", re.IGNORECASE)


def commands(engine: Engine, call: Call, text: str, dialect: str | None, depth: int) -> None:
    """Judge the commands of the client itself that stand in a text of SQL."""
    patterns = []
    if "\\" in text and dialect in ("postgres", "mysql", None):
        patterns.append(_ANYWHERE)
    if dialect not in ("postgres", "bigquery", "snowflake", "clickhouse"):
        patterns += [_AT_START, _AFTER_SEMICOLON]
    for pattern in patterns:
        for match in pattern.finditer(text):
            engine.charge(1)
            for kind, value in match.groupdict().items():
                if value is not None:
                    _HANDLERS[kind](engine, call, value, text, depth)


def _shell(engine: Engine, call: Call, value: str, _text: str, _depth: int) -> None:
    inner = call.inner([], "sql")
    inner.stdin = None
    engine.run_text(value.replace("''", "'").rstrip(" '\""), inner)


def _quoted(value: str) -> str:
    return value.strip("'\"").rstrip(";")


def _file(engine: Engine, call: Call, value: str, _text: str, depth: int) -> None:
    from haltline.shell.inline import sql  # noqa: PLC0415  loaded only where it is needed

    path = _quoted(value)
    flow = engine.file_flow(path, call)
    if flow.text is not None and depth < sql.MAX_DEPTH:
        sql.judge(engine, call, flow.text, depth + 1)
    else:
        if NAMED_LOSS.search(path):
            engine.report("databases.script", call, path)
        engine.unknown("script", path, call)


def _out(engine: Engine, call: Call, value: str, _text: str, _depth: int) -> None:
    from haltline.shell.detectors.filesystem import written  # noqa: PLC0415  loaded only where it is needed

    if _quoted(value).lower() not in ("stdout", "stdin", "pstdout", "pstdin", "on", "off", ""):
        written(engine, call, _quoted(value), overwrites=True)


def _copy(engine: Engine, call: Call, value: str, text: str, depth: int) -> None:
    engine.charge(1 + len(text) // _SEARCHED_IN_A_STEP)
    if _COPIES_OUT.search(text) is not None:
        _out(engine, call, value, text, depth)


def _restore(engine: Engine, call: Call, value: str, _text: str, _depth: int) -> None:
    engine.report("databases.restore", call, value)


def _generated(engine: Engine, call: Call, _value: str, text: str, depth: int) -> None:
    r"""`\gexec` runs what a query returns; the literals show what that will be."""
    from haltline.shell.inline import sql  # noqa: PLC0415  loaded only where it is needed

    if depth >= sql.MAX_DEPTH:
        raise LimitReached(f"more than {sql.MAX_DEPTH} texts of SQL inside one another")
    for match in _RUN_LITERAL.finditer(text):
        engine.charge(1)
        sql.judge(engine, call, match[1].replace("''", "'") + " generated", depth + 1, "postgres")


def _backticks(engine: Engine, call: Call, value: str, _text: str, _depth: int) -> None:
    """Judge each text in backquotes: what it prints is an argument of the meta-command."""
    for code in value.split("`")[1::2]:
        engine.run_text(code, call.inner([], "sql"))


_HANDLERS = {
    "shell": _shell,
    "pipe": _shell,
    "program": _shell,
    "file": _file,
    "out": _out,
    "copy": _copy,
    "restore": _restore,
    "gexec": _generated,
    "backticks": _backticks,
}
