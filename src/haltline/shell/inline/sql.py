"""SQL statements: what they would destroy, read from tokens so that a literal is never taken for a statement.

Comments and quoted text are set aside first (SQL:2016, "lexical elements", with what the dialects add), then
each statement is judged by its words. Where that leaves doubt and `sqlglot` is installed, its parser is asked
as well (`haltline.shell.inline.grammar`); the stricter answer wins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.inline import grammar, sql_dynamic, sql_reads
from haltline.shell.inline.sql_conditions import top_level, unfiltered
from haltline.shell.inline.sql_statements import Statement, statements
from haltline.shell.scanner import LimitReached
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

MAX_STATEMENTS = 5000
MAX_DEPTH = 3
_WORDS_PER_STEP = 4
MAX_QUESTIONS = 16  # statements of one text that the parser is asked about

DIALECTS = {
    "psql": "postgres", "pgcli": "postgres", "cockroach": "postgres", "mysql": "mysql", "mariadb": "mysql",
    "mycli": "mysql", "sqlite3": "sqlite", "sqlite": "sqlite", "litecli": "sqlite", "d1": "sqlite",
    "wrangler": "sqlite", "turso": "sqlite", "libsql": "sqlite", "duckdb": "duckdb", "bq": "bigquery",
    "clickhouse": "clickhouse", "clickhouse-client": "clickhouse", "snowsql": "snowflake", "sqlcmd": "tsql",
    "beeline": "hive", "hive": "hive", "impala-shell": "hive", "trino": "trino", "presto": "presto",
}  # fmt: skip
_ESCAPING = frozenset({"mysql", "bigquery", "clickhouse", "snowflake", "hive"})
_EMBEDDED = frozenset({"sqlite", "duckdb"})

_EXECUTABLE_COMMENT = re.compile(r"/\*!\d*+(.*?)(?:\*/|\Z)", re.DOTALL)

_DROPPED = word_set(
    "DATABASE SCHEMA TABLE KEYSPACE USER ROLE TABLESPACE COLLECTION OWNED VIEW INDEX MATERIALIZED COLUMN "
    "TYPE FUNCTION PROCEDURE SEQUENCE EXTENSION STREAM TOPIC PARTITION CATALOG WAREHOUSE DOMAIN BUCKET CONSTRAINT "  # noqa: E501  one word set
    "TRIGGER POLICY SUBSCRIPTION PUBLICATION FOREIGN SERVER DICTIONARY STAGE SNAPSHOT EXTERNAL"
)
_STRONG = word_set("TABLE DATABASE SCHEMA VIEW INDEX KEYSPACE COLUMN USER ROLE")
_VERBS = word_set("DROP TRUNCATE DELETE UPDATE ALTER MERGE GRANT REVOKE")
_READS = word_set("SELECT SHOW EXPLAIN DESCRIBE DESC PRAGMA VALUES TABLE USE LIST \\ HELP")
_LOSING_CALLS = {
    "PG_DROP_REPLICATION_SLOT": "drop", "LO_UNLINK": "drop", "DROP_CHUNKS": "drop",
    "PG_TERMINATE_BACKEND": "server", "PG_ROTATE_LOGFILE": "server", "PG_PROMOTE": "server",
}  # fmt: skip
_SETTLED = {
    "SYSTEM SHUTDOWN": "server", "SYSTEM KILL": "server", "SET GLOBAL": "server",
    "SYSTEM STOP": "server", "SYSTEM DROP": "server",
    "FLUSHALL": "drop", "FLUSHDB": "drop", "SHUTDOWN": "drop", "RESET MASTER": "drop", "RESET BINARY": "drop",
    "RESET REPLICA": "drop", "RESET SLAVE": "drop", "PURGE BINARY": "drop", "PURGE MASTER": "drop",
    "PURGE RECYCLEBIN": "drop", "PURGE DBA_RECYCLEBIN": "drop", "PURGE TABLE": "drop",
    "SET PASSWORD": "grant", "INSERT OVERWRITE": "update-all",
}  # fmt: skip
_NOT_LOST = word_set("DEFAULT NOT IDENTITY EXPRESSION")
_POWERS = word_set("SUPERUSER CREATEROLE BYPASSRLS REPLICATION SYSADMIN ACCOUNTADMIN")
_NOISE = word_set(
    "IF EXISTS ONLY CONCURRENTLY TEMPORARY TEMP LOW_PRIORITY IGNORE QUICK TOP FROM INTO TABLE VIEW BY"
)
_BODIES = word_set("PROCEDURE FUNCTION TRIGGER EVENT PROC RULE POLICY PACKAGE")
_SERVER_PROGRAM = word_set("XP_CMDSHELL SP_OACREATE SYS_EXEC SYS_EVAL DBMS_SCHEDULER")
_SERVER_FILE = word_set(
    "PG_READ_FILE PG_READ_BINARY_FILE LO_IMPORT LO_EXPORT PG_LS_DIR LOAD_FILE DUMPFILE OUTFILE"
)
_BEFORE = word_set("EXPLAIN ( BEGIN ANALYZE DESCRIBE DESC VERBOSE ) , FORMAT ELSE THEN")
_NAME = re.compile(r"[A-Z_@#\"`\[]")
_QUOTED = re.compile(r"\A[\"`\[]|[\"`\]]\Z")
_MATTERS = re.compile(
    r"drop|truncat|delete|update|alter|merge|grant|revoke|replace|overwrite|exec|program|outfile|dumpfile|super"
    r"|flush|shutdown|detach|set\s+global|system\s|prepare|\bset\s+password|reset\s|purge\s|cmdshell|sys_e|load_file|pg_|lo_|\\"
    r"|^[ \t]*(?:[.:!]|host[ \t])|\b(?:system|source|pager)\b",
    re.IGNORECASE | re.MULTILINE,
)


def dialect_of(call: Call) -> str | None:
    """Return the dialect of the client that a command starts, or None."""
    return DIALECTS.get(call.program)


def judge(engine: Engine, call: Call, text: str, depth: int = 0, dialect: str | None = None) -> None:
    """Report what the SQL in a text would destroy or change, and the shell commands that it holds."""
    if engine.collecting and depth == 0 and not sql_reads.only_reads(text):
        engine.unproved = True
    if _MATTERS.search(text) is None:
        engine.effect(
            "read"
            if re.match(
                r"[\s(]*(?:select|show|explain|desc(?:ribe)?|pragma|values|with)\b", text, re.IGNORECASE
            )
            else "write",
            None,
            call,
        )
        return
    from haltline.shell.inline import clients  # noqa: PLC0415  loaded only where it is needed

    dialect = dialect or dialect_of(call)
    engine.charge(1 + len(text) // 64)
    clients.commands(engine, call, text, dialect, depth)
    if dialect in _EMBEDDED and ":memory:" in call.argv:
        return
    if "/*!" in text:
        text = _EXECUTABLE_COMMENT.sub(r" \1 ", text)
    readings = [dialect in _ESCAPING]
    if dialect is None and ("\\'" in text or "#" in text):
        readings = [False, True]
    for escapes in readings:
        found = statements(text, escapes=escapes)
        engine.charge(sum(1 + len(statement.words) // _WORDS_PER_STEP for statement in found))
        if len(found) > MAX_STATEMENTS:
            engine.report("limits.reached", call, "more statements than are looked at")
            return
        reader = _Reader(engine, call, text, dialect, depth)
        for statement in found:
            reader.judge(statement)


class _Reader:
    """Judges the statements of one text in order."""

    __slots__ = ("call", "depth", "dialect", "engine", "questions", "temporary", "text", "variables")

    def __init__(self, engine: Engine, call: Call, text: str, dialect: str | None, depth: int) -> None:
        self.engine = engine
        self.call = call
        self.text = text
        self.dialect = dialect
        self.depth = depth
        self.questions = 0
        self.temporary: set[str] = set()
        self.variables: dict[str, sql_dynamic.Text] = {}

    def judge(self, statement: Statement) -> None:
        """Judge one statement, and the statements that stand in it."""
        words = statement.words
        if _explained(words):
            self.engine.effect("read", None, self.call)
            return
        self.creates(words)
        self.nested(words)
        self.dynamic(words)
        if words[0] == "CREATE" and any(word in _BODIES for word in words[1:6]):
            self.engine.effect("write", None, self.call)
            return
        found = False
        for part in _parts(words):
            finding = _finding(part)
            if finding is not None:
                targets = _targets(part)
                found = True
                if targets and all(self.is_temporary(target) for target in targets):
                    self.engine.effect("write", targets[0], self.call)
                    continue
                self.engine.report("databases." + finding, self.call, _named(part, targets))
        for word in words:
            self.called(words, word)
        if not found:
            self.doubtful(statement)
            reads = words[0] in _READS or (words[0] == "WITH" and not _VERBS.intersection(words))
            self.engine.effect("read" if reads else "write", None, self.call)

    def called(self, words: list[str], word: str) -> None:
        """Judge a function of the server that a statement names."""
        if word in _LOSING_CALLS:
            self.engine.report("databases." + _LOSING_CALLS[word], self.call, word.lower())
        elif word in _SERVER_PROGRAM:
            self.engine.report("interpreters.server-program", self.call, word.lower())
        elif word in _SERVER_FILE:
            self.server_file(words, word)

    def doubtful(self, statement: Statement) -> None:
        """Ask the grammar about a statement that the words alone do not settle."""
        if not _in_doubt(statement.words):
            return
        self.questions += 1
        if self.questions > MAX_QUESTIONS:
            return
        self.engine.charge(1 + (statement.end - statement.start) // 16)
        for finding, targets in grammar.findings(self.text[statement.start : statement.end], self.dialect):
            if not targets or not all(self.is_temporary(target.upper()) for target in targets):
                verb = {"delete-all": "DELETE FROM", "update-all": "UPDATE"}.get(finding, finding.upper())
                self.engine.report("databases." + finding, self.call, " ".join([verb, *targets]))

    def creates(self, words: list[str]) -> None:
        """Remember temporary tables that the text itself creates."""
        for index, word in enumerate(words[:8]):
            if word in ("TEMP", "TEMPORARY") and words[0] == "CREATE" and "TABLE" in words[index : index + 2]:
                rest = [w for w in words[index + 1 :] if w not in ("TABLE", "IF", "NOT", "EXISTS")]
                self.temporary.update(_plain(name) for name in rest[:1])

    def is_temporary(self, name: str) -> bool:
        """Return whether a table ends with the session anyway."""
        plain = _plain(name)
        return plain in self.temporary or plain.startswith(("#", "@", "PG_TEMP.", "TEMP."))

    def nested(self, words: list[str]) -> None:
        """Judge the literals that are run as statements, such as the block of `DO`."""
        waiting = 0
        for index, word in enumerate(words):
            if word == "AS" and words[0] == "PREPARE":
                waiting = 8
            elif word == "DO" and index == 0:
                waiting = 4
            elif word in ("AS", "RETURNS") and words[0] == "CREATE":
                waiting = 0
            elif waiting and word[:1] == "'":
                self.inside(word[1:])
            elif waiting:
                waiting -= 1
        for index, word in enumerate(words):
            if word == "PROGRAM" and index and words[index - 1] in ("TO", "FROM") and words[0] == "COPY":
                self.engine.report(
                    "interpreters.server-program", self.call, " ".join(words[index + 1 : index + 2])[1:]
                )
                if words[index + 1 : index + 2]:
                    self.engine.run_text(words[index + 1][1:], self.call.inner([], "sql"))

    def dynamic(self, words: list[str]) -> None:
        """Judge text that a statement puts together and runs; what stays open nobody has read."""
        if words[0] == "CREATE" and any(word in _BODIES for word in words[1:6]):
            return
        sql_dynamic.assigned(words, self.variables)
        text = sql_dynamic.executed(words, self.variables, within=self.depth > 0 or "BEGIN" in words)
        if text is None:
            return
        self.engine.charge(1 + len(text.value) // 64)
        if text.value.strip():
            self.inside(text.value)
        if not text.whole:
            self.engine.report("databases.dynamic", self.call, " ".join(text.value.split())[:120])

    def inside(self, text: str) -> None:
        """Judge SQL that this text runs."""
        if self.depth >= MAX_DEPTH:
            raise LimitReached(f"more than {MAX_DEPTH} texts of SQL inside one another")
        judge(self.engine, self.call, text, self.depth + 1, self.dialect)

    def server_file(self, words: list[str], word: str) -> None:
        """Judge files of the server that a statement reads or writes."""
        at = words.index(word)
        if word in ("DUMPFILE", "OUTFILE") and words[at - 1 : at] != ["INTO"]:
            return
        if word not in ("DUMPFILE", "OUTFILE") and words[at + 1 : at + 2] != ["("]:
            return
        path = next((w[1:] for w in words[at + 1 : at + 4] if w[:1] == "'"), "")
        if not path.startswith(("/tmp/", "/var/tmp/", "/var/lib/mysql-files/")):  # noqa: S108  places that nobody minds
            self.engine.report("interpreters.server-file", self.call, path)


def _explained(words: list[str]) -> bool:
    return words[0] in ("EXPLAIN", "DESCRIBE", "DESC") and not {"ANALYZE", "ANALYSE"}.intersection(words[:8])


def _parts(words: list[str]) -> list[list[str]]:
    """Return what in a statement is one itself: in a block, a CTE, or without a semicolon between."""
    starts = [0]
    for i in range(1, len(words)):
        word = words[i]
        if word not in _VERBS:
            continue
        before, after = words[i - 1], words[i + 1] if i + 1 < len(words) else ""
        if (
            (word == "DELETE" and (after == "FROM" or before == "ANALYZE"))
            or (word == "DROP" and after in _STRONG and words[0] not in ("ALTER", "GRANT", "REVOKE"))
            or (word == "TRUNCATE" and (after == "TABLE" or before in ("BEGIN", "THEN", "ELSE", "ANALYZE")))
            or (
                word == "UPDATE"
                and before not in ("DO", "FOR", "ON", "THEN", "OR", "KEY", ",", "BEFORE", "AFTER", "GRANT")
                and "SET" in words[i + 1 : i + 8]
            )
            or before in ("BEGIN", "ELSE", "LOOP")
        ):
            starts.append(i)
    return [
        _bracket_end(words[start : starts[number + 1] if number + 1 < len(starts) else len(words)])
        for number, start in enumerate(starts)
    ]


def _bracket_end(words: list[str]) -> list[str]:
    """Return the words up to the bracket that closes around them."""
    depth = 0
    for index, word in enumerate(words):
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
            if depth < 0:
                return words[:index]
    return words


def _finding(words: list[str]) -> str | None:  # noqa: C901  one case for each kind of statement
    if not words:
        return None
    words = words[next((i for i, word in enumerate(words) if word not in _BEFORE), len(words) - 1) :]
    first = words[0]
    if first == "DROP":
        kind = next((word for word in words[1:4] if word in _DROPPED), None)
        return None if kind is None or words[1] in ("TEMPORARY", "TEMP") else "drop"
    if first == "TRUNCATE":
        return "truncate" if words[1:2] != ["("] else None
    if first == "DELETE":
        return "delete-all" if unfiltered(words) else None
    if first == "UPDATE":
        return "update-all" if "SET" in words and unfiltered(words) else None
    if first == "ALTER":
        return _altered(words)
    if first == "MERGE":
        return "delete-all" if _merge_deletes(words) else None
    if first in ("GRANT", "REVOKE"):
        return "grant" if "ALL" in words or first == "REVOKE" or _POWERS.intersection(words) else None
    if first == "CREATE":
        if words[1:4] == ["OR", "REPLACE", "TABLE"]:
            return "drop"
        return "grant" if words[1:2] in (["USER"], ["ROLE"]) and _POWERS.intersection(words) else None
    if first == "DETACH" and "PERMANENTLY" in words:
        return "drop"
    return _SETTLED.get(first) or _SETTLED.get(" ".join(words[:2]))


def _altered(words: list[str]) -> str | None:
    if words[1:2] == ["SYSTEM"]:
        return "server"
    if words[-4:] == ["DISABLE", "ROW", "LEVEL", "SECURITY"]:
        return "grant"
    if words[1:2] in (["USER"], ["ROLE"], ["SERVER"], ["LOGIN"]) and _POWERS.intersection(words):
        return "grant"
    last = max((index for index, word in enumerate(words) if word == "WHERE"), default=-1)
    for index, word in enumerate(words):
        if word == "DROP" and words[index + 1 : index + 2] and words[index + 1] not in _NOT_LOST:
            return "alter-drop"
        if word in ("DELETE", "UPDATE") and index < last and words[index - 1 : index] != ["ON"]:
            return ("delete-all" if word == "DELETE" else "update-all") if unfiltered(words[index:]) else None
    return None


def _merge_deletes(words: list[str]) -> bool:
    for index, word in enumerate(words):
        if word == "THEN" and words[index + 1 : index + 2] == ["DELETE"]:
            clause = words[max(0, index - 6) : index]
            if "AND" not in clause:
                return True
    return False


def _in_doubt(words: list[str]) -> bool:
    """Return whether the words hold a verb that matters without settling what it does."""
    if not _VERBS.intersection(words):
        return False
    if words[0] in ("DELETE", "UPDATE"):
        at = top_level(words, "WHERE")
        return at < 0 or not {"OR", "NOT", "TRUE", "CASE", "(", "SELECT"}.isdisjoint(words[at:])
    return words[0] not in ("INSERT", "GRANT", "CREATE", "ALTER", "COMMENT", "SELECT") or "DELETE" in words


def _targets(words: list[str]) -> list[str]:
    """Return the tables or other objects that a statement names, as it writes them."""
    start = 1
    if "FROM" in words[1:3]:
        start = words.index("FROM") + 1
    while start < len(words) and (words[start] in _NOISE or words[start] in _DROPPED):
        start += 1
    names: list[str] = []
    current = ""
    for word in words[start : start + 64]:
        if word == ",":
            if current:
                names.append(current)
            current = ""
        elif word == "." or (current.endswith(".") or (not current and _NAME.match(word))):
            current += word
        else:
            break
    if current:
        names.append(current)
    return names


def _plain(name: str) -> str:
    return ".".join(_QUOTED.sub("", part) for part in name.upper().split("."))


def _named(words: list[str], targets: list[str]) -> str:
    """Return a statement's verb with what it names."""
    verb = words[0]
    if words[1:2] and (words[1] in _DROPPED or words[1] == "FROM"):
        verb += " " + words[1]
    return " ".join(
        [verb, ", ".join(name if name[:1] in '"`[' else name.lower() for name in targets)]
    ).strip()
