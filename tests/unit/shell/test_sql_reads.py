"""SQL that provably only reads, and what looks like it."""

from __future__ import annotations

import pytest

from haltline.shell.inline.sql_reads import only_reads

READS = [
    "select 1",
    "SELECT count(*) FROM users WHERE name = 'a;b(c)'",
    'select "into" from "for update"',
    "select * from t where a in (1, 2) and (b or c) order by d limit 5;",
    "select date_trunc('day', at), sum(x) over (partition by y) from t group by 1",
    "with a as (select 1), b as materialized (select 2) select * from a join b using (id)",
    "with recursive a as (select 1 union all select 2) select * from a",
    "explain select 1",
    "explain delete from t",
    "explain query plan update t set a=1",
    "explain analyze select count(*) from t",
    "explain (analyze, buffers) select * from t",
    "show tables",
    "describe t",
    "values (1), (2)",
    "pragma table_info(users)",
    "pragma table_info('users')",
    "pragma user_version",
    "select 1 -- into x",
    "select 1 /* into x */",
    "select 1; select 2;",
    "select * from t\\G",
    "\\dt",
    "\\d+ users",
    ".tables",
    ".schema users",
    "select 'it''s'",
]
NOT_KNOWN_TO_ONLY_READ = [
    "",
    "select 1 into x",
    "select * from t for update",
    "explain analyze delete from t where id=1",
    "explain (analyze) update t set a=1",
    "EXPLAIN ANALYSE insert into t values (1)",
    "select lo_unlink(1)",
    "select pg_terminate_backend(1)",
    "select setval('s', 1)",
    "select nextval ('s')",
    "select public.purge()",
    'select "purge"()',
    "select [purge](1)",
    "select purge\n(1)",
    "select purge/**/(1)",
    "select writefile('a', 'b')",
    "select load_extension('x')",
    "select * from dblink('x', 'y')",
    "select 1 into outfile '/tmp/x'",
    "with x as (delete from t returning *) select * from x",
    "with x as (select 1) delete from t",
    "select 1; drop table t",
    "select 1; ; delete from t",
    "pragma user_version=3",
    "pragma user_version(3)",
    "pragma journal_mode(delete)",
    "pragma optimize",
    "pragma wal_checkpoint",
    "select 'a\\' into outfile '/x",
    "select '\\'; drop table t; -- '",
    "select $$ a $$",
    "select /*! into outfile 'x' */ 1",
    "select 1 # '\n; drop table t -- '",
    "select '1; drop table t",
    "\\! ls",
    "\\copy t to 'f'",
    "\\o f",
    "\\dt `ls`",
    ".shell ls",
    ".output f",
    ".read f",
    ".tables\n.shell ls",
    "call purge",
    "copy t to program 'x'",
    "select 5--1 into outfile '/x'",
    "select 1 --\ninto x",
    "select ''' ' ''' ; drop table t; select ''' ' '''",
]


@pytest.mark.parametrize("text", READS)
def test_statements_that_read(text: str) -> None:
    assert only_reads(text)


@pytest.mark.parametrize("text", NOT_KNOWN_TO_ONLY_READ)
def test_statements_that_may_change_something(text: str) -> None:
    assert not only_reads(text)
