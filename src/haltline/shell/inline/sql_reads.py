"""Whether SQL provably only reads: closed lists of what is known to, because any function may do anything."""

from __future__ import annotations

import re

from haltline.shell.vocabulary import word_set

# Literals and comments as all dialects read them; what one of them reads otherwise is refused.
_APART = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--(?:[ \t][^\n]*)?(?=\n|\Z)|/\*(?!!).*?\*/", re.DOTALL
)
_DOUBTFUL = re.compile(r"[\\$#]|/\*|--|'")
_TRIPLE = re.compile("'''|\"\"\"")  # BigQuery has strings in three quotes
_WORD = re.compile(r"[a-z_][a-z0-9_]*")
_CALLED = re.compile(r"([a-z0-9_.]+|[\"\])])\s*\(")
_EXPLAIN = re.compile(
    r"explain(?:\s*\([^()]*\)|\s+query\s+plan|\s+(?:verbose|extended|format\s*=\s*\w+))*\s+"
)
_ANALYSED = re.compile(r"\banaly[sz]e\b")
_PRAGMA = re.compile(r"pragma\s+(?:\w+\.)?(\w+)\s*(\(\s*\S*?\s*\))?\Z")
_ASKS_THE_CLIENT = re.compile(
    r"\\(?:d[a-zA-Z]*\+?|l\+?|z|conninfo|encoding|timing|x|\?|h)(?:[ \t]+[\w.*\"?]+)?"
    r"|\.(?:tables|schema|fullschema|indexes|indices|databases|dbinfo|show|headers?|mode|width|help)"
    r"(?:[ \t]+[\w.*%]+)*"
)

_BEGINS = word_set("select with values table show describe desc explain pragma use help")
_CHANGES = word_set(
    "insert update delete merge replace upsert into create alter drop truncate grant revoke call do "
    "execute exec copy "
    "load lock attach detach vacuum analyze analyse reindex refresh rename set reset begin commit "
    "prepare import "
    "export unload install outfile dumpfile for returning procedure handler notify listen checkpoint "
    "discard "
)
_READ_PRAGMAS = word_set(
    "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list "
    "foreign_key_check "
    "database_list collation_list function_list module_list pragma_list compile_options integrity_check "
    "quick_check "
)
_STATE_PRAGMAS = word_set(
    "user_version schema_version application_id journal_mode page_count page_size freelist_count "
    "encoding foreign_keys "
    "cache_size synchronous auto_vacuum busy_timeout data_version "
)
_KEYWORDS = word_set(
    "select distinct from where and or not in exists any all some as on using by having over union "
    "except intersect "
    "when then else case values like ilike between is join cross left right inner outer full lateral "
    "filter within "
    "group order partition rows range interval row array materialized recursive limit offset top union "
)
_FUNCTIONS = word_set(
    # aggregates and windows
    "count sum avg min max total median stddev stddev_pop stddev_samp variance var_pop var_samp "
    "string_agg array_agg "
    "group_concat listagg json_agg jsonb_agg json_object_agg jsonb_object_agg json_group_array "
    "json_group_object "
    "bool_and bool_or every percentile_cont percentile_disc mode approx_count_distinct uniq quantile "
    "any_value "
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value "
    # values
    "coalesce nullif ifnull isnull nvl iif if cast try_cast convert greatest least decode typeof "
    "pg_typeof "
    # text
    "length char_length character_length octet_length len lower upper initcap trim ltrim rtrim btrim "
    "substr substring "
    "replace translate concat concat_ws position strpos instr locate left right lpad rpad repeat "
    "reverse split_part "
    "regexp_replace regexp_matches regexp_match regexp_substr regexp_like regexp_extract format to_char "
    "to_number "
    "quote quote_literal quote_ident ascii chr char hex unhex md5 sha1 sha2 sha256 encode base64 printf "
    "glob like "
    "starts_with ends_with contains "
    # numbers
    "abs round floor ceil ceiling trunc truncate mod power pow sqrt exp ln log log10 log2 sign random "
    "rand pi "
    # time
    "now current_timestamp current_date current_time getdate sysdate date time datetime timestamp "
    "strftime julianday "
    "unixepoch date_trunc date_part extract age to_date to_timestamp date_format date_add date_sub "
    "datediff "
    "timestampdiff dateadd datepart year month day hour minute second quarter week dayofweek weekday "
    "from_unixtime "
    "unix_timestamp make_date make_interval justify_days tostartofday tostartofhour todate "
    # JSON and arrays
    "json jsonb json_extract json_extract_path json_extract_path_text jsonb_extract_path "
    "json_array_length "
    "jsonb_array_length json_each jsonb_each json_each_text jsonb_each_text json_tree json_object "
    "json_array json_type "
    "json_valid json_value json_query jsonb_pretty jsonb_typeof json_typeof json_array_elements "
    "jsonb_array_elements "
    "json_array_elements_text jsonb_array_elements_text json_object_keys jsonb_object_keys "
    "jsonb_build_object "
    "json_build_object to_json to_jsonb row_to_json jsonb_path_query jsonb_path_exists array_length "
    "array_to_string "
    "cardinality unnest generate_series generate_subscripts array_position string_to_array flatten "
    # the server, seen from within
    "version database schema user current_user session_user current_database current_schema "
    "current_setting "
    "pg_size_pretty pg_relation_size pg_total_relation_size pg_table_size pg_indexes_size "
    "pg_database_size "
    "pg_get_viewdef pg_get_functiondef pg_get_indexdef pg_get_constraintdef pg_get_userbyid "
    "obj_description "
    "col_description has_table_privilege pg_is_in_recovery pg_backend_pid pg_postmaster_start_time "
    "sqlite_version "
    "pragma_table_info pragma_index_list pragma_foreign_key_list object_id object_name db_name "
    "to_regclass "
)
_ALLOWED_BEFORE_A_BRACKET = _KEYWORDS | _FUNCTIONS


def only_reads(text: str) -> bool:
    """Return whether every statement of a text is known to only read.

    A call of a function that is not on the list is none (`lo_unlink` and anybody's own change things), nor
    is what one dialect may read otherwise than another: backslashes, `$`-quotes, executable comments.
    """
    if _asks_the_client(text):
        return True
    if _TRIPLE.search(text) is not None:
        return False
    plain = _APART.sub(_emptied, text.removesuffix("\\G")).lower()
    if _DOUBTFUL.search(plain.replace("''", "")):
        return False
    statements = [part for part in (part.strip() for part in plain.split(";")) if part]
    return bool(statements) and all(map(_statement_reads, statements))


def _asks_the_client(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all(_ASKS_THE_CLIENT.fullmatch(line.strip().removesuffix(";")) for line in lines)


def _emptied(match: re.Match[str]) -> str:
    """Return what stands for a literal or comment: an empty literal, a name of the same kind, or a blank."""
    first = match[0][0]
    if first == "'":
        return "''"
    return '"' if first in '"`' else " "


def _statement_reads(statement: str) -> bool:
    first = _WORD.match(statement.lstrip("( \t\n"))
    if first is None or first[0] not in _BEGINS:
        return False
    if first[0] == "pragma":
        return _pragma_reads(statement)
    if first[0] == "explain":
        explained = _EXPLAIN.match(statement)
        if _ANALYSED.search(statement) is None:
            return True
        rest = statement[explained.end() :] if explained is not None else statement.removeprefix("explain")
        return _statement_reads(_ANALYSED.sub("", rest, count=1).lstrip())
    if first[0] in ("show", "describe", "desc", "use", "help"):
        return "(" not in statement
    if not _CHANGES.isdisjoint(_WORD.findall(statement)):
        return False
    own = set(re.findall(r"\b([a-z_][a-z0-9_]*)\s+as\s+(?:not\s+)?(?:materialized\s+)?\(", statement))
    return all(name in _ALLOWED_BEFORE_A_BRACKET or name in own for name in _CALLED.findall(statement))


def _pragma_reads(statement: str) -> bool:
    found = _PRAGMA.match(statement)
    if found is None:
        return False
    return found[1] in _READ_PRAGMAS or (found[1] in _STATE_PRAGMAS and found[2] is None)
