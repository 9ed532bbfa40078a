"""Where code is too long or too involved to read, the answer is a question, never silence."""

from __future__ import annotations

import shlex

import pytest

from haltline.shell import analyze
from haltline.shell.engine import MAX_STEPS
from haltline.shell.inline import expressions, projects, python, scripts, sql, sql_conditions, values
from haltline.shell.inline.lexer import lexed

DANGER = "rm -rf /"


def rules(command: str, files: dict[str, str] | None = None) -> set[str]:
    """Return the rules that a command meets."""
    given = files or {}
    found = analyze(command, read_file=given.get)
    return {verdict.rule_id for verdict in found.verdicts}


def nested_sql(levels: int) -> str:
    """Return a DROP inside so many EXECUTE statements."""
    text = "DROP TABLE users"
    for _ in range(levels):
        text = "EXECUTE '" + text.replace("'", "''") + "'"
    return text


def many(count: int) -> list[str]:
    """Return so many harmless commands of the shell."""
    return [f"echo {number}" for number in range(count)]


def makefile(targets: int) -> str:
    """Return a makefile whose first target needs all others, the last of which is dangerous."""
    names = [f"t{number}" for number in range(targets)]
    rules_ = "".join(f"{name}:\n\techo {name}\n" for name in names)
    return f"all: {' '.join(names)} last\n{rules_}last:\n\t{DANGER}\n"


OVER = {
    "SQL inside SQL": f"psql -c {shlex.quote(nested_sql(sql.MAX_DEPTH + 1))}",
    "conditions inside one another": (
        "psql -c 'DELETE FROM users WHERE "
        + "(" * (sql_conditions.MAX_CONDITIONS + 2)
        + "id"
        + ")" * (sql_conditions.MAX_CONDITIONS + 2)
        + "'"
    ),
    "values of a Python name": "python3 -c "
    + shlex.quote(f"import os\nfor c in {[*many(values.MAX_ALTERNATIVES), DANGER]}:\n    os.system(c)"),
    "values of a Python argument": "python3 -c "
    + shlex.quote(
        "import os\ndef run(c):\n    os.system(c)\n"
        f"for c in {[*many(values.MAX_ALTERNATIVES), DANGER]}:\n    run(c)"
    ),
    "values of a script's name": "node -e "
    + shlex.quote(
        "const cp = require('child_process'); "
        f"for (const c of {[DANGER, *many(expressions.MAX_ALTERNATIVES)]}) cp.execSync(c)"
    ),
    "a long JavaScript": f"node -e '{'a();' * (scripts.MAX_LENGTH // 4 + 1)}'",
    "a long Python": f"python3 -c '{'a();' * (python.MAX_LENGTH // 4 + 1)}'",
    "a Python longer than people write inline": "python3 <<'X'\n" + "a()\n" * 4200 + "X\n",
    "AWK with strings without number": f"awk '{{ system(x) }} {chr(34) * 14_000}'",
    "a long Tcl": f"tclsh <<'X'\n{'set a b;' * (scripts.MAX_LENGTH // 8 + 1)}\nX\n",
}


@pytest.mark.parametrize("command", OVER.values(), ids=OVER)
def test_more_than_is_looked_at_is_asked_about(command: str) -> None:
    assert "limits.reached" in rules(command)


WITHIN = {
    "17 values of a Python name": "python3 -c "
    + shlex.quote(f"import os\nfor c in {[*many(17), DANGER]}:\n    os.system(c)"),
    "9 values of a script's name": "node -e "
    + shlex.quote(
        f"const cp = require('child_process'); for (const c of {[DANGER, *many(12)]}) cp.execSync(c)"
    ),
    "65 arguments": "perl -e " + shlex.quote("unlink(" + "'a', " * 70 + "'/etc/passwd')"),
    "an argument behind 5,000 characters": "perl -e " + shlex.quote(f"unlink('{'a' * 5000}', '/etc/passwd')"),
    "ORs that are always true": "psql -c 'DELETE FROM users WHERE "  # noqa: S608  text to judge; no database runs it
    + " OR ".join(f"id = {number}" for number in range(40))
    + " OR 1 = 1'",
}


@pytest.mark.parametrize("command", WITHIN.values(), ids=WITHIN)
def test_what_stands_behind_many_others_is_judged(command: str) -> None:
    found = rules(command)
    assert found
    assert "limits.reached" not in found


HARMLESS = {
    "a list that nothing runs": "python3 -c " + shlex.quote(f"for c in {many(200)}:\n    print(c)"),
    "a long text that is written": "node -e "
    + shlex.quote(f"require('fs').writeFileSync('a.html', '{'<p>' * 3000}')"),
    "conditions that name rows": "psql -c 'DELETE FROM users WHERE "  # noqa: S608  text to judge; no database runs it
    + " OR ".join(f"id = {number}" for number in range(40))
    + "'",
}


@pytest.mark.parametrize("command", HARMLESS.values(), ids=HARMLESS)
def test_much_that_is_harmless_is_not_asked_about(command: str) -> None:
    assert not rules(command)


def test_a_makefile_is_read_behind_two_thousand_lines() -> None:
    assert rules("make", {"Makefile": "# note\n" * 2500 + f"all:\n\t{DANGER}\n"}) == rules(DANGER)


def test_a_justfile_is_read_behind_two_thousand_lines() -> None:
    assert rules("just", {"justfile": "# note\n" * 2500 + f"all:\n    {DANGER}\n"}) == rules(DANGER)


def test_a_target_behind_sixty_four_others_is_judged() -> None:
    assert rules(DANGER) <= rules("make", {"Makefile": makefile(80)})


def test_more_targets_than_are_looked_at_are_asked_about() -> None:
    assert "limits.reached" in rules("make", {"Makefile": makefile(projects.MAX_TARGETS)})


def test_a_line_of_a_makefile_that_grows_too_long_is_asked_about() -> None:
    long = f"A = {'x ' * projects.MAX_EXPANDED}\nall:\n\techo $(A); {DANGER}\n"
    assert "limits.reached" in rules("make", {"Makefile": long})


@pytest.mark.parametrize("command", ["python3 big", "node big", "perl big", "ruby big"])
def test_a_file_too_long_to_read_is_unknown(command: str) -> None:
    found = analyze(command, read_file={"big": "a\n" * 20_000}.get)
    assert ("script", "big") in {(one.kind, one.what) for one in found.unknown}


@pytest.mark.parametrize("piece", ['"', "`", '"\\', "'\\", '"a" + ', "/*", "(/[", '"""'])
def test_strings_are_told_apart_in_steps_that_grow_with_the_text(piece: str) -> None:
    """An opener without its end is one string to the end of the text, not one try for each opener."""

    def steps(repeats: int) -> int:
        spent: list[int] = []
        lexed(piece * repeats, "javascript", spent.append)
        return sum(spent)

    assert steps(2000) <= 2 * steps(1000) + 8


@pytest.mark.parametrize("piece", ['"\\', "'\\", "`\\"])
def test_a_string_that_ends_in_a_backslash_is_one_string(piece: str) -> None:
    assert len(lexed(piece * 100, "javascript", lambda _: None).texts) == 1


def test_strings_without_number_meet_the_budget() -> None:
    command = "node -e '" + '"";' * (MAX_STEPS // 2 + 1) + "'"
    assert len(command) < scripts.MAX_LENGTH
    assert "limits.reached" in rules(command)


def test_a_comment_that_mysql_runs_is_judged_without_its_end() -> None:
    assert "databases.drop" in rules("mysql -e '/*! DROP TABLE users'")


def test_a_command_of_sed_is_found_behind_empty_lines() -> None:
    script = "1" + "\n" * 500 + f" e {DANGER}"
    assert rules(DANGER) <= rules(f"sed '{script}' a.txt")
