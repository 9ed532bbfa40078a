"""SQL is judged alike with the parser of `sqlglot` and without it."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from haltline.shell import analyze, classify
from haltline.shell.book import built_in
from haltline.shell.engine import MAX_STEPS, Engine
from haltline.shell.inline import grammar

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=["with sqlglot", "without sqlglot"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "without sqlglot":
        monkeypatch.setitem(sys.modules, "sqlglot", None)
    else:
        pytest.importorskip("sqlglot", reason="the extra [sql] is not installed")
    grammar.forget()
    yield request.param
    grammar.forget()


DESTROYS = [
    ("psql -c", "DROP TABLE a", "databases.drop"),
    ("psql -c", "drop table if exists tmp_a", "databases.drop"),
    ("psql -c", "TRUNCATE a, b", "databases.truncate"),
    ("psql -c", "DELETE FROM a", "databases.delete-all"),
    ("psql -c", "DELETE FROM a WHERE true", "databases.delete-all"),
    ("psql -c", "DELETE FROM a WHERE 1 = 1", "databases.delete-all"),
    ("psql -c", "DELETE FROM a WHERE (x = 3 OR 2 > 1)", "databases.delete-all"),
    ("psql -c", "DELETE FROM a WHERE x = x", "databases.delete-all"),
    ("psql -c", "DELETE FROM a WHERE NOT FALSE", "databases.delete-all"),
    ("psql -c", "DELETE FROM a WHERE name LIKE '%'", "databases.delete-all"),
    ("psql -c", "UPDATE a SET x = 1", "databases.update-all"),
    ("psql -c", "UPDATE a SET x = 1 WHERE 10 = 10 RETURNING x", "databases.update-all"),
    ("psql -c", "UPDATE a SET x = (SELECT y FROM b WHERE z = 1)", "databases.update-all"),
    ("psql -c", "WITH d AS (DELETE FROM a RETURNING *) SELECT * FROM d", "databases.delete-all"),
    ("psql -c", "BEGIN; DELETE FROM a; ROLLBACK", "databases.delete-all"),
    ("psql -c", "EXPLAIN ANALYZE DELETE FROM a", "databases.delete-all"),
    ("psql -c", "ALTER TABLE a DROP COLUMN x", "databases.alter-drop"),
    ("psql -c", "ALTER ROLE bob SUPERUSER", "databases.grant"),
    ("psql -c", "GRANT ALL ON a TO bob", "databases.grant"),
    ("psql -c", "DO $$ BEGIN EXECUTE 'DROP TABLE a'; END $$", "databases.drop"),
    ("psql -c", "DO 'BEGIN DELETE FROM a; END'", "databases.delete-all"),
    ("psql -c", "MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN DELETE", "databases.delete-all"),
    ("psql -c", "COPY a TO PROGRAM 'cat'", "interpreters.server-program"),
    ("psql -c", "SELECT 'drop table ' || t || ';' FROM ts \\gexec", "databases.drop"),
    ("psql -c", "SELECT '\\'; DROP TABLE a; --'", "databases.drop"),
    ("psql -c", "\\! rm -rf /", "filesystem.delete-root"),
    ("psql -c", "SELECT 1 \\g |rm -rf ~", "filesystem.delete-root"),
    ("mysql -e", "SELECT 1\\G DROP TABLE a", "databases.drop"),
    ("mysql -e", "/*!50001 DROP TABLE a */", "databases.drop"),
    ("mysql -e", "SELECT 1 INTO OUTFILE '/var/www/x.php'", "interpreters.server-file"),
    ("mysql -e", "PREPARE s FROM 'TRUNCATE a'", "databases.truncate"),
    ("sqlite3 a.db", ".shell rm -rf /", "filesystem.delete-root"),
    ("sqlite3 a.db", ".restore old.db", "databases.restore"),
    ("sqlite3 a.db", "DELETE FROM a", "databases.delete-all"),
    ("sqlcmd -Q", "IF OBJECT_ID('a') IS NOT NULL DROP TABLE a", "databases.drop"),
    ("sqlcmd -Q", "DELETE FROM a DELETE FROM b WHERE x = 1", "databases.delete-all"),
    ("sqlcmd -Q", "EXEC xp_cmdshell 'whoami'", "interpreters.server-program"),
    ("clickhouse-client -q", "ALTER TABLE a DELETE WHERE 1", "databases.delete-all"),
    ("bq query", "CREATE OR REPLACE TABLE d.a AS SELECT 1", "databases.drop"),
    ("duckdb a.db", "DROP SCHEMA main CASCADE", "databases.drop"),
    ("psql -c", "DO $$ BEGIN EXECUTE 'DRO' || 'P TABLE a'; END $$", "databases.drop"),
    ("psql -c", "DO $$ BEGIN EXECUTE ('TRUN' || ('CATE a')); END $$", "databases.truncate"),
    ("psql -c", "DO $$ BEGIN EXECUTE format('TRUNCATE %I', t); END $$", "databases.truncate"),
    (
        "psql -c",
        "DO $$ DECLARE q text := 'DROP '; BEGIN q := q || 'TABLE a'; EXECUTE q; END $$",
        "databases.drop",
    ),
    ("psql -c", "DO $$ BEGIN EXECUTE 'DROP TABLE ' || quote_ident(t); END $$", "databases.drop"),
    ("mysql -e", "SET @q = CONCAT('DROP', ' TABLE a'); PREPARE s FROM @q", "databases.drop"),
    ("mysql -e", "SET @q = CONCAT_WS(' ', 'DROP', 'TABLE a'); PREPARE s FROM @q", "databases.drop"),
    ("sqlcmd -Q", "DECLARE @q nvarchar(99) = N'DROP TA' + N'BLE a'; EXEC(@q)", "databases.drop"),
    ("sqlcmd -Q", "EXEC sp_executesql N'DROP TABLE a'", "databases.drop"),
    ("snowsql -q", "EXECUTE IMMEDIATE 'DROP TABLE a'", "databases.drop"),
]


@pytest.mark.parametrize(("client", "statement", "rule"), DESTROYS)
def test_a_statement_that_destroys_is_found_by_its_rule(client: str, statement: str, rule: str) -> None:
    verdicts = analyze(f"{client} {shlex.quote(statement)}").verdicts
    assert rule in {verdict.rule_id for verdict in verdicts}


@pytest.mark.parametrize(
    ("client", "statement"),
    [
        ("psql -c", "DO $$ BEGIN EXECUTE q; END $$"),
        ("psql -c", "DO $$ BEGIN EXECUTE 'SELECT ' || q; END $$"),
        ("psql -c", "DO $$ BEGIN EXECUTE format('SELECT %s', q); END $$"),
        ("psql -c", "DO $$ BEGIN EXECUTE replace('a', 'b', 'c'); END $$"),
        ("mysql -e", "PREPARE s FROM @q; EXECUTE s"),
        ("sqlcmd -Q", "EXEC (@q)"),
        ("sqlcmd -Q", "EXEC sp_executesql @q"),
        ("snowsql -q", "EXECUTE IMMEDIATE $q"),
    ],
)
def test_statements_that_nobody_can_read_before_they_run_are_asked_about(client: str, statement: str) -> None:
    verdicts = analyze(f"{client} {shlex.quote(statement)}").verdicts
    assert [verdict.rule_id for verdict in verdicts] == ["databases.dynamic"]


@pytest.mark.parametrize(
    ("client", "statement"),
    [
        ("psql -c", "DO $$ BEGIN EXECUTE 'SELECT 1'; END $$"),
        ("psql -c", "DO $$ BEGIN EXECUTE format('ANALYZE %I', t); END $$"),
        ("psql -c", "DO $$ BEGIN RAISE NOTICE 'DROP TABLE a'; END $$"),
        ("psql -c", "PREPARE p AS SELECT 1; EXECUTE p"),
        ("psql -c", "GRANT EXECUTE ON FUNCTION f() TO bob"),
        ("mysql -e", "PREPARE s FROM 'SELECT 1'; EXECUTE s"),
        ("sqlcmd -Q", "EXEC sp_who"),
        ("psql -c", "SELECT 'DROP TABLE a'"),
        ("psql -c", "SELECT E'it\\'s; DROP TABLE a'"),
        ("psql -c", "/* DROP TABLE a */ SELECT 1 -- DELETE FROM a"),
        ("psql -c", "DELETE FROM a WHERE x = 1 OR y = 2"),
        ("psql -c", "DELETE FROM a WHERE NOT x"),
        ("psql -c", "DELETE FROM a WHERE (SELECT true)"),
        ("psql -c", "UPDATE a SET x = true WHERE y IN (SELECT z FROM b)"),
        ("psql -c", "CREATE TEMP TABLE a (x int); TRUNCATE a; DROP TABLE a"),
        ("psql -c", "CREATE TRIGGER t BEFORE DELETE ON a EXECUTE FUNCTION f()"),
        ("psql -c", "GRANT SELECT, DELETE ON a TO bob"),
        ("psql -c", "ALTER TABLE a ALTER COLUMN x DROP DEFAULT"),
        ("psql -c", "EXPLAIN DELETE FROM a"),
        ("psql -c", "SELECT x FROM a FOR UPDATE"),
        ("psql -c", "\\echo DROP TABLE a"),
        ("mysql -e", "SELECT 'it\\'s; DROP TABLE a'"),
        ("mysql -e", "DROP TEMPORARY TABLE a"),
        ("mysql -e", "DELETE a FROM a JOIN b ON a.x = b.x"),
        ("sqlite3 :memory:", "CREATE TABLE a (x); DROP TABLE a"),
        ("sqlcmd -Q", "CREATE TABLE #a (x int); DROP TABLE #a"),
        ("sqlcmd -Q", "SELECT [drop] FROM [dbo].[table]"),
    ],
)
def test_a_statement_that_only_names_it_or_is_narrowed_is_not(client: str, statement: str) -> None:
    assert classify(f"{client} {shlex.quote(statement)}") is None


def test_the_tables_are_what_the_effect_is_about() -> None:
    (verdict,) = analyze("psql -c 'DROP TABLE IF EXISTS public.users, orders CASCADE'").verdicts
    assert verdict.reason.endswith("DROP TABLE public.users, orders")


def test_a_statement_that_cannot_be_parsed_is_judged_by_its_words() -> None:
    assert classify("psql -c 'DELETE FROM a RETURNING ((((('") is not None


def test_the_parser_says_nothing_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    for statement in (
        "DELETE FROM a WHERE (NOT x) OR ((",
        "ALTER SYSTEM SET x = 1; DROP FOO BAR",
        "MERGE WITH x",
    ):
        classify(f"psql -c {shlex.quote(statement)}")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "piece",
    [
        "DELETE FROM a WHERE x OR y;",
        "(",
        "[a",
        "DELETE FROM a WHERE (",
        "x OR ",
        "$a$ ",
        "'",
        "/*",
        "\\i x\n",
        "1; DO $$ BEGIN EXECUTE 'a' || ('b' || x); END $$;",
        "1; SET @q = CONCAT(@q, @q, 'x'); PREPARE s FROM @q;",
        "1; EXEC (((((((((",
    ],
)
def test_hostile_text_takes_steps_in_proportion_to_its_length(piece: str) -> None:
    steps = []
    for size in (4 * 1024, 16 * 1024):
        text = f"DELETE FROM a WHERE {piece * size}"[:size]  # noqa: S608  it is judged, not run
        engine = Engine(built_in())
        engine.judge(f"psql -c {shlex.quote(text)}")
        steps.append(engine.steps)
    assert steps[1] <= 5 * steps[0] + 50
    assert steps[1] <= MAX_STEPS


@pytest.mark.parametrize("statement", [case[1] for case in DESTROYS])
def test_the_words_alone_find_all_that_the_parser_finds(statement: str, parser: str) -> None:
    found = {name for name, _ in grammar.findings(statement, "postgres")}
    if parser == "without sqlglot":
        assert not found
    verdicts = {verdict.rule_id for verdict in analyze(f"usql -c {shlex.quote(statement)}").verdicts}
    assert {"databases." + name for name in found} <= verdicts
