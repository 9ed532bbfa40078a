"""Database clients: the statements that they get in an option, as a word, from a file or their input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.call import PIPED, Flow
from haltline.shell.detectors.selfprotect import own_file
from haltline.shell.inline import sql
from haltline.shell.inline.clients import NAMED_LOSS
from haltline.shell.inline.sql_reads import only_reads
from haltline.shell.marks import known
from haltline.shell.options import Grammar, Options, parse

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_TEXT_OPTIONS = (
    "-c",
    "--command",
    "-e",
    "--execute",
    "-q",
    "--query",
    "-Q",
    "--eval",
    "--sql",
    "--statement",
)
_FILE_OPTIONS = ("-f", "--file", "--queries-file", "-i", "--input-file", "-init")
_CLIENT = Grammar(
    "-c -e -q -Q -f -d -h -p -U -u -P -H -i -D -n -s -S -a -w -o -L -v -k -b --command --execute "
    "--query --file --dbname "
    "--host --port --username --user --password --database --queries-file --format --set --variable "
    "--separator --sql "
    "--statement --input-file --init-file --url --project_id --location --account --warehouse --role"
)
_PSQL = Grammar(
    "-c -d -f -h -p -U -v -P -F -R -T -L -o --command --dbname --file --host --port --username --set "
    "--variable --pset --field-separator --record-separator --table-attr --log-file --output"
)
_CLICKHOUSE = Grammar(
    "-q -h -u -d -f --query --host --port --user --password --database --format --queries-file --config-file"
)
_BQ = Grammar(
    "-q -n --project_id --location --format --dataset_id --max_rows --destination_table --parameter --label"
)
_PSCALE = Grammar(
    "--org --query --role --dbname --keyspace --config --service-token --service-token-id --format"
)
_SQLCMD = Grammar("-S -U -P -d -Q -q -i -o -v -h -s -w -l -t -a -H -K -m -G -f -y -Y -c -V -M -D -C")
_SQLPLUS = Grammar("-m -r -c", joined=True)
_STATEMENT_WORDS = frozenset({"bq", "turso", "cockroach", "wrangler", "libsql", "dolt"})
_CHANGES_NOTHING = {
    "sqlite3": ("-readonly", "-safe"),
    "sqlite": ("-readonly",),
    "duckdb": ("-readonly", "-safe"),
    "bq": ("--dry_run",),
}
_OUTPUT = {  # options that name a file which the client writes
    "psql": ("-o", "--output", "-L", "--log-file"),
    "usql": ("-o", "--out"),
    "mysql": ("--tee",),
    "mariadb": ("--tee",),
    "sqlcmd": ("-o",),
}
_DOTTED = re.compile(r"^\s*\.", re.MULTILINE)  # commands of the client itself, which no option holds back
_STANDARD_INPUT = frozenset({"-", "/dev/stdin"})
_POSTGRES = frozenset({"psql", "pgcli", "usql", "vsql"})
_MYSQL_NAMES = frozenset({"mysql", "mariadb", "mycli", "mysqlsh"})
_JOINED = frozenset({"sqlite3", "sqlite", "duckdb", "influx"})
_MYSQL = Grammar(
    "-e -u -h -P -D -S --execute --user --host --port --database --socket --defaults-file "
    "--init-command --tee"
)
_SQLITE = Grammar(
    "-cmd -init -execute -database -host -port -username -password -separator -nullvalue -newline "
    "-maxsize -mmap -pagecache -lookaside -heap -vfs -A -c -s -f",
    joined=True,
)


def client(engine: Engine, call: Call) -> Flow | None:
    """Judge the SQL that a client is given."""
    name = call.program
    embedded = name in _JOINED
    argv = call.argv
    if name in _MYSQL_NAMES:  # a password stands attached to -p, and is no cluster of letters
        argv = [word for word in argv if word[:2] != "-p"]
    options = parse(argv, _grammar(name, embedded=embedded))
    texts = _texts(name, options, embedded=embedded)
    _output(engine, call, name, options)
    given = [*texts, call.stdin.text] if call.stdin is not None else texts
    harmless = options.has(*_CHANGES_NOTHING.get(name, ()))
    if harmless and not any(text is None or _DOTTED.search(text) for text in given):
        engine.unproved |= call.stdin is not None or not all(map(only_reads, texts))
        engine.effect("read", None, call)
        return Flow(None, PIPED)
    if embedded and options.words and not all(_READING.match(text) for text in texts):
        own_file(engine, call, options.words[0])
    for text in texts:
        sql.judge(engine, call, text)
    files = _files(name, options)
    if call.stdin is not None and not _STANDARD_INPUT.isdisjoint(files):
        _input(engine, call, call.stdin)
    for path in files:
        _file(engine, call, path, engine.file_flow(path, call))
    if not texts and not files and call.stdin is not None:
        _input(engine, call, call.stdin)
    seen = texts or (not files and call.stdin is not None and call.stdin.text is not None)
    engine.effect("read" if seen else "execute", None, call)
    return Flow(None, PIPED)


# Commands that hand what they are given to the database of an application: the words that open it.
_CONSOLES = {
    "heroku": frozenset({"pg:psql"}),
    "wp": frozenset({"db"}),
    "drush": frozenset({"sql-query", "sql:query", "sqlq", "sql-cli", "sql:cli", "sqlc"}),
    "manage.py": frozenset({"dbshell"}),
    "django-admin": frozenset({"dbshell"}),
    "rails": frozenset({"dbconsole", "db"}),
    "artisan": frozenset({"db"}),
    "fly": frozenset({"postgres", "pg", "mpg"}),
    "neonctl": frozenset({"psql", "connection-string", "cs"}),
    "railway": frozenset({"connect"}),
    "gcloud": frozenset({"sql"}),
    "supabase": frozenset({"db"}),
}
_CONSOLE = Grammar(
    "-a -r -c -p --app --remote --command --credential --project --database --config --query -q"
)


def console(engine: Engine, call: Call) -> None:
    """Judge the SQL that an application's or a platform's own command passes on to a database."""
    options = parse(call.argv, _CONSOLE)
    at = next((i for i, word in enumerate(options.words) if word in _CONSOLES[call.program]), None)
    if at is None:
        return
    rest = options.words[at + 1 :]
    texts = options.all_values("-c", "--command", "-q", "--query")
    for text in [*texts, *(word for word in rest if " " in word)]:
        sql.judge(engine, call, text)
    if not texts and call.stdin is not None:
        _input(engine, call, call.stdin)


def _files(name: str, options: Options) -> list[str]:
    """Return the files of statements in a client's words."""
    if name in ("wrangler", "pscale"):
        return options.all_values("--file")
    if name == "sqlplus":
        return [word[1:] for word in options.words if word[:1] == "@" and len(word) > 1]
    return options.all_values(*_FILE_OPTIONS)


def _output(engine: Engine, call: Call, name: str, options: Options) -> None:
    """Judge where a client's output goes: into a file, or to a pager."""
    if name in _MYSQL_NAMES:
        for pager in options.all_values("--pager"):
            engine.run_text(pager, call.inner([], name))
    for path in options.all_values(*_OUTPUT.get(name, ())):
        engine.effect("write", path, call)


def _texts(name: str, options: Options, *, embedded: bool) -> list[str]:
    """Return the statements in a client's words."""
    if name in _POSTGRES:
        return options.all_values("-c", "--command")
    if name in _MYSQL_NAMES:
        return options.all_values("-e", "--execute", "--sql", "--init-command")
    if name == "pscale" and options.words[:1] not in (["sql"], ["shell"]):
        return []
    texts = options.all_values(*_TEXT_OPTIONS, "-cmd", "-execute")
    if embedded and name != "influx":
        texts.extend(options.words[1:])
    elif name in _STATEMENT_WORDS:
        texts.extend(word for word in options.words if " " in word)
    return texts


_GRAMMARS = {"bq": _BQ, "pscale": _PSCALE, "sqlcmd": _SQLCMD, "sqlplus": _SQLPLUS}


def _grammar(name: str, *, embedded: bool) -> Grammar:
    if embedded:
        return _SQLITE
    if name in _POSTGRES:
        return _PSQL
    if name in _MYSQL_NAMES:
        return _MYSQL
    if name in _GRAMMARS:
        return _GRAMMARS[name]
    return _CLICKHOUSE if name.startswith("clickhouse") else _CLIENT


def _file(engine: Engine, call: Call, path: str, flow: Flow) -> None:
    if flow.text is not None and known(path):
        sql.judge(engine, call, flow.text)
        return
    if NAMED_LOSS.search(path):
        engine.report("databases.script", call, path)
    engine.unknown("script", path, call)


_READING = re.compile(
    r"\s*(?:select|explain|pragma\s+\w+\s*(?:;|\Z)|\.(?:schema|tables|indexes|dump|headers|mode))\b",
    re.IGNORECASE,
)


def _input(engine: Engine, call: Call, stdin: Flow) -> None:
    if stdin.text is not None:
        sql.judge(engine, call, stdin.text)
        return
    if stdin.source and NAMED_LOSS.search(stdin.source):
        engine.report("databases.script", call, stdin.source)
    engine.unknown("code", "SQL that flows in", call)
