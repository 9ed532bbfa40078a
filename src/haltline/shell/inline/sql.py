"""SQL statements: what they would destroy, read from tokens so that a literal is never taken for a statement.

Comments and quoted text are set aside first (SQL:2016, "lexical elements", with the dialects' `#` comments
and dollar quoting), then each statement is judged by its leading words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

MAX_STATEMENTS = 500
MAX_DEPTH = 3

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.|'')*(?:'|\Z)|\$([A-Za-z_]*)\$.*?(?:\$\1\$|\Z)"
    r'|"(?:[^"]|"")*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[A-Za-z_][^\]\n]*\]|[A-Za-z_][A-Za-z0-9_$]*|;|\\![^\n]*|[^\s]',
    re.DOTALL,
)
_DROPPED = word_set(
    "DATABASE SCHEMA TABLE KEYSPACE USER ROLE TABLESPACE COLLECTION OWNED VIEW INDEX MATERIALIZED "
    "COLUMN TYPE "
    "FUNCTION PROCEDURE SEQUENCE EXTENSION STREAM TOPIC PARTITION CATALOG WAREHOUSE DOMAIN BUCKET CONSTRAINT "
    "TRIGGER POLICY SUBSCRIPTION PUBLICATION FOREIGN SERVER"
)


def statements(text: str) -> list[list[str]]:
    """Return each statement's words in capitals; literals become `''` and quoted names keep their quotes."""
    result: list[list[str]] = []
    current: list[str] = []
    for match in _TOKEN.finditer(text):
        lexeme = match[0]
        if lexeme.startswith(("--", "/*")) and not lexeme.startswith("/*!"):
            continue
        if lexeme == ";":
            if current:
                result.append(current)
            current = []
            if len(result) >= MAX_STATEMENTS:
                break
        elif lexeme[0] == "'" or match[1] is not None:
            current.append("''")
        else:
            current.append(lexeme.upper() if lexeme[0].isalpha() or lexeme[0] == "_" else lexeme)
    if current:
        result.append(current)
    return result


_SHELL = re.compile(
    r"(?:^|;)[ \t]*(?:\\!|\.shell\b|\.system\b|system[ \t])[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE
)
_PROGRAM = re.compile(r"\b(?:FROM|TO)\s+PROGRAM\s+'((?:[^']|'')*)'", re.IGNORECASE)
_BLOCK = re.compile(r"\bDO\b[^$;]*\$(\w*)\$(.*?)\$\1\$", re.DOTALL | re.IGNORECASE)
_EXECUTE = re.compile(
    r"\b(?:EXECUTE|PREPARE\s+\w+\s+FROM)\s+(?:IMMEDIATE\s+)?'((?:[^']|'')*)'", re.IGNORECASE
)


def judge(engine: Engine, call: Call, text: str, depth: int = 0) -> None:
    """Report what the SQL in a text would destroy or change, and the shell commands that it holds."""
    for pattern in (_SHELL, _PROGRAM):
        for match in pattern.finditer(text):
            engine.run_text(match[1].replace("''", "'"), call.inner([], "sql"))
    if depth < MAX_DEPTH:
        for inner in [m[2] for m in _BLOCK.finditer(text)] + [m[1] for m in _EXECUTE.finditer(text)]:
            judge(engine, call, inner.replace("''", "'"), depth + 1)
    for words in statements(text):
        finding = _finding(words)
        if finding is not None:
            engine.report("databases." + finding, call, " ".join(words[:6]))
        elif words[0] in ("SELECT", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "PRAGMA", "VALUES", "TABLE", "\\"):
            engine.effect("read", None, call)
        else:
            engine.effect("write", None, call)


def _finding(words: list[str]) -> str | None:  # noqa: C901  one case for each kind of statement
    first = words[0]
    while first in ("EXPLAIN", "(", "BEGIN", "ANALYZE") and len(words) > 1:
        if first == "EXPLAIN" and "ANALYZE" not in words:
            return None
        words = words[1:]
        first = words[0]
    if first == "WITH":
        return _common_table(words)
    if first == "DROP":
        kind = next((word for word in words[1:4] if word in _DROPPED), None)
        return None if kind is None else "drop"
    if first == "TRUNCATE":
        return "truncate"
    if first == "DELETE":
        return "delete-all" if _unfiltered(words) else None
    if first == "UPDATE":
        return "update-all" if _unfiltered(words) else None
    if first == "ALTER":
        return "alter-drop" if "DROP" in words else None
    if first in ("GRANT", "REVOKE"):
        return "grant" if "ALL" in words or "SUPERUSER" in words or first == "REVOKE" else None
    if first in ("FLUSHALL", "FLUSHDB", "SHUTDOWN"):
        return "drop"
    if first == "CREATE" and words[1:4] == ["OR", "REPLACE", "TABLE"]:
        return "drop"
    return None


def _unfiltered(words: list[str]) -> bool:
    """Return whether a DELETE or UPDATE has no WHERE, or one that is always true."""
    if "WHERE" not in words:
        return "LIMIT" not in words and ("SET" in words or "FROM" in words or words[0] == "DELETE")
    rest = words[words.index("WHERE") + 1 :]
    return rest[:1] == ["TRUE"] or (len(rest) == 3 and rest[1] == "=" and rest[0] == rest[2])  # noqa: PLR2004  as in 1 = 1


def _common_table(words: list[str]) -> str | None:
    for index, word in enumerate(words):
        if word in ("DELETE", "UPDATE") and _unfiltered(words[index:]):
            return "delete-all" if word == "DELETE" else "update-all"
    return None
