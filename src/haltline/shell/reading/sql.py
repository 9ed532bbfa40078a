"""Whether SQL provably only reads: statements, functions and client commands on closed lists.

Sources: the PostgreSQL manual, "Functions and Operators", "EXPLAIN" and psql(1) "Meta-Commands"; the MySQL
reference, "Functions and Operators"; sqlite.org, "Built-In Scalar SQL Functions", "Pragma Statements" and
"Command Line Shell For SQLite". A function that users define may do anything, so that only those of the
vendors that compute from their arguments, or tell of the server, are taken for reads.
"""

from __future__ import annotations

import re

from haltline.shell.inline.sql_statements import statements
from haltline.shell.marks import known
from haltline.shell.vocabulary import word_set

# Dialects read these each in their own way: comments, escapes, dollar quotes, brackets.
_READ_DIFFERENTLY = re.compile(r"--|/\*|[#$\\\[]")
_LISTS = re.compile(r"\\(?:d[A-Za-z]*[S+]*|l\+?|z|conninfo|sf\+?|x|timing)(?:[ \t]+[\w.*?]+)?;?")
_SHELL_LINE = re.compile(
    r"\.(?:tables|schema|fullschema|indexes|indices|databases|dbinfo|dump|headers?|mode|width|show|stats|timer"
    r"|nullvalue|separator)(?:[ \t]+[\w.%*-]+)*[ \t]*"
)
_PRAGMA = re.compile(
    r"PRAGMA(?: \w+ \.)? (?:(?:USER_VERSION|SCHEMA_VERSION|APPLICATION_ID|JOURNAL_MODE|ENCODING|PAGE_COUNT"
    r"|PAGE_SIZE|FREELIST_COUNT|DATABASE_LIST|COMPILE_OPTIONS|FOREIGN_KEYS|SYNCHRONOUS|CACHE_SIZE|AUTO_VACUUM"
    r"|COLLATION_LIST|FUNCTION_LIST|MODULE_LIST|PRAGMA_LIST|TABLE_LIST|INTEGRITY_CHECK|QUICK_CHECK"
    r"|FOREIGN_KEY_CHECK)"
    r"|(?:TABLE_INFO|TABLE_XINFO|TABLE_LIST|INDEX_LIST|INDEX_INFO|INDEX_XINFO|FOREIGN_KEY_LIST"
    r"|FOREIGN_KEY_CHECK|INTEGRITY_CHECK|QUICK_CHECK) \( [^ ()]+ \))"
)
_FIRST = word_set("SELECT WITH VALUES TABLE SHOW EXPLAIN DESCRIBE DESC USE (")
_REFUSED = word_set(
    "INTO INSERT UPDATE DELETE MERGE UPSERT DROP TRUNCATE ALTER CREATE COPY CALL EXEC EXECUTE DO GRANT "
    "REVOKE SET RESET VACUUM ATTACH DETACH LOAD INSTALL PROCEDURE LOCK OUTFILE DUMPFILE IMPORT EXPORT "
    "HANDLER NOTIFY LISTEN REINDEX CLUSTER REFRESH ANALYZE ANALYSE"
)
_RUNS = word_set("ANALYZE ANALYSE EXECUTE")
_LOCKS = word_set("UPDATE SHARE NO KEY")
_BEFORE_BRACKET = word_set(
    "( , = < > + - * / % || SELECT DISTINCT ALL FROM JOIN LATERAL ON USING WHERE AND OR NOT IN ANY SOME "
    "EXISTS BY HAVING UNION INTERSECT EXCEPT AS MATERIALIZED OVER FILTER GROUP WITHIN CASE WHEN THEN ELSE "
    "END LIKE ILIKE BETWEEN IS VALUES LIMIT OFFSET CAST ROW ARRAY INTERVAL ROLLUP CUBE SETS EXPLAIN "
    "PARTITION <= >= <> != -> CHAR VARCHAR CHARACTER VARYING NUMERIC DECIMAL TIMESTAMP TIME BIT FLOAT KEY "
    "INDEX"
)
_PURE = word_set(
    "COUNT SUM AVG MIN MAX TOTAL GROUP_CONCAT STRING_AGG ARRAY_AGG JSON_AGG JSONB_AGG JSON_OBJECT_AGG "
    "JSONB_OBJECT_AGG BOOL_AND BOOL_OR EVERY BIT_AND BIT_OR STDDEV STDDEV_POP STDDEV_SAMP VARIANCE "
    "VAR_POP VAR_SAMP CORR PERCENTILE_CONT PERCENTILE_DISC MODE MEDIAN ANY_VALUE JSON_ARRAYAGG "
    "JSON_OBJECTAGG ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD FIRST_VALUE "
    "LAST_VALUE NTH_VALUE COALESCE NULLIF IFNULL IIF IF ISNULL NVL GREATEST LEAST CONVERT TRY_CAST TYPEOF "
    "PG_TYPEOF LENGTH CHAR_LENGTH CHARACTER_LENGTH OCTET_LENGTH BIT_LENGTH LOWER UPPER INITCAP TRIM LTRIM "
    "RTRIM BTRIM SUBSTR SUBSTRING LEFT RIGHT POSITION STRPOS INSTR LOCATE REPLACE REVERSE REPEAT LPAD "
    "RPAD SPLIT_PART CONCAT CONCAT_WS FORMAT PRINTF QUOTE QUOTE_LITERAL QUOTE_IDENT ASCII CHR UNICODE HEX "
    "UNHEX MD5 SHA1 SHA2 SHA256 ENCODE DECODE TRANSLATE STARTS_WITH OVERLAY REGEXP_REPLACE REGEXP_MATCH "
    "REGEXP_MATCHES REGEXP_LIKE REGEXP_SUBSTR REGEXP_INSTR REGEXP_COUNT REGEXP_SPLIT_TO_TABLE "
    "REGEXP_SPLIT_TO_ARRAY SUBSTRING_INDEX FIND_IN_SET FIELD ELT GLOB STRING_TO_ARRAY ARRAY_TO_STRING "
    "ARRAY_LENGTH CARDINALITY UNNEST ARRAY_POSITION GENERATE_SERIES ABS CEIL CEILING FLOOR ROUND TRUNC "
    "MOD POWER POW SQRT EXP LN LOG LOG10 LOG2 SIGN PI SIN COS TAN ASIN ACOS ATAN ATAN2 DEGREES RADIANS "
    "RANDOM RAND DIV WIDTH_BUCKET NOW DATE DATETIME STRFTIME JULIANDAY UNIXEPOCH TIMEDIFF CURRENT_DATE "
    "CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP CLOCK_TIMESTAMP STATEMENT_TIMESTAMP AGE "
    "EXTRACT DATE_PART DATE_TRUNC DATE_FORMAT DATE_ADD DATE_SUB DATEDIFF TIMESTAMPDIFF TIMESTAMPADD YEAR "
    "MONTH DAY HOUR MINUTE SECOND WEEK QUARTER DAYOFWEEK DAYOFYEAR DAYNAME MONTHNAME LAST_DAY STR_TO_DATE "
    "UNIX_TIMESTAMP FROM_UNIXTIME CURDATE CURTIME SYSDATE UTC_TIMESTAMP MAKE_DATE MAKE_INTERVAL "
    "MAKE_TIMESTAMP TO_CHAR TO_DATE TO_NUMBER TO_TIMESTAMP TO_JSON TO_JSONB ROW_TO_JSON JSON JSONB "
    "JSON_EXTRACT JSON_VALUE JSON_QUERY JSON_OBJECT JSON_ARRAY JSON_EACH JSON_TREE JSON_TYPE JSON_VALID "
    "JSON_LENGTH JSON_KEYS JSON_CONTAINS JSON_UNQUOTE JSON_ARRAY_LENGTH JSONB_ARRAY_LENGTH "
    "JSON_ARRAY_ELEMENTS JSONB_ARRAY_ELEMENTS JSONB_ARRAY_ELEMENTS_TEXT JSONB_EACH JSONB_EACH_TEXT "
    "JSONB_OBJECT_KEYS JSON_OBJECT_KEYS JSONB_BUILD_OBJECT JSON_BUILD_OBJECT JSONB_PRETTY JSONB_TYPEOF "
    "JSONB_EXTRACT_PATH_TEXT VERSION SQLITE_VERSION CURRENT_DATABASE CURRENT_SCHEMA CURRENT_SCHEMAS "
    "CURRENT_USER SESSION_USER USER DATABASE SCHEMA CONNECTION_ID CURRENT_SETTING INET_SERVER_ADDR "
    "INET_SERVER_PORT PG_BACKEND_PID PG_DATABASE_SIZE PG_TABLE_SIZE PG_INDEXES_SIZE PG_RELATION_SIZE "
    "PG_TOTAL_RELATION_SIZE PG_SIZE_PRETTY PG_TABLESPACE_SIZE PG_COLUMN_SIZE PG_GET_INDEXDEF "
    "PG_GET_CONSTRAINTDEF PG_GET_VIEWDEF PG_GET_FUNCTIONDEF PG_GET_EXPR PG_GET_USERBYID PG_GET_TRIGGERDEF "
    "PG_GET_SERIAL_SEQUENCE PG_POSTMASTER_START_TIME PG_IS_IN_RECOVERY PG_CURRENT_WAL_LSN PG_WAL_LSN_DIFF "
    "PG_LAST_WAL_REPLAY_LSN PG_LAST_XACT_REPLAY_TIMESTAMP PG_BLOCKING_PIDS PG_LOCK_STATUS "
    "PG_STAT_GET_ACTIVITY TO_REGCLASS OBJ_DESCRIPTION COL_DESCRIPTION FORMAT_TYPE HAS_TABLE_PRIVILEGE "
    "HAS_SCHEMA_PRIVILEGE HAS_DATABASE_PRIVILEGE PG_SLEEP SLEEP PRAGMA_TABLE_INFO PRAGMA_INDEX_LIST "
    "PRAGMA_INDEX_INFO PRAGMA_FOREIGN_KEY_LIST PRAGMA_TABLE_LIST"
)
_NAME = re.compile(r"[A-Z_@\"`]|[^\x00-\x7f]")


def sql_reads(text: str, dialect: str | None) -> bool:
    """Return whether a text of SQL, with the commands of its client, provably only reads."""
    if not known(text):
        return False
    if dialect == "postgres" and _LISTS.fullmatch(text.strip()) is not None:
        return True
    lines = text.split("\n")
    if any(line.lstrip(" \t")[:1] in (".", "!", ":") for line in lines):
        if dialect != "sqlite" or not all(map(_is_read_line, lines)):
            return False
        text = "\n".join(line for line in lines if not line.lstrip().startswith("."))
    if _READ_DIFFERENTLY.search(text) is not None or ("`" in text and dialect == "postgres"):
        return False
    return all(_statement(statement.words) for statement in statements(text, escapes=False))


def _is_read_line(line: str) -> bool:
    return line.lstrip()[:1] != "." or _SHELL_LINE.fullmatch(line) is not None


def _statement(words: list[str]) -> bool:
    first = words[0]
    if first == "PRAGMA":
        return _PRAGMA.fullmatch(" ".join(words)) is not None
    if first not in _FIRST:
        return False
    if first in ("EXPLAIN", "DESCRIBE", "DESC"):  # what it explains does not run
        return _RUNS.isdisjoint(words) and _calls_pure(words)
    if first == "SHOW":
        return _RUNS.isdisjoint(words) and "(" not in words
    if not _REFUSED.isdisjoint(words):
        return False
    if any(word == "FOR" and not _LOCKS.isdisjoint(words[at + 1 : at + 2]) for at, word in enumerate(words)):
        return False
    return _calls_pure(words)


def _calls_pure(words: list[str]) -> bool:
    """Return whether every function that is called computes only; the name of a schema makes it another."""
    for at, word in enumerate(words):
        if word != "(" or at == 0:
            continue
        name = words[at - 1]
        if name in _BEFORE_BRACKET or not _NAME.match(name):
            continue
        if name not in _PURE or words[at - 2 : at - 1] == ["."]:
            return False
    return True
