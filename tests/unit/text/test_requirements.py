from __future__ import annotations

import pytest

from haltline.text.requirements import missing_slots


@pytest.mark.parametrize(
    ("instruction", "missing"),
    [
        ("fix it", ("what", "where")),
        ("Fix the bug", ("what", "where")),
        ("do the thing", ("what", "where")),
        ("Can you handle the error?", ("what", "where")),
        ("make it better", ("what", "where", "done-when")),
        ("Please clean up the code", ("what", "where", "done-when", "limit")),
        ("Improve performance", ("done-when",)),
        ("Make the homepage load faster", ("done-when",)),
        ("Delete old files", ("limit",)),
    ],
)
def test_an_open_instruction_says_what_it_lacks(instruction: str, missing: tuple[str, ...]) -> None:
    assert missing_slots(instruction) == missing


@pytest.mark.parametrize(
    "instruction",
    [
        "Rename function foo to bar in src/a.py",
        "Fix the login bug",
        "Fix the bug in `parse_date`",
        "Fix issue #42",
        "Fix the TypeError",
        "Add a dark mode toggle to the settings page",
        "Optimise the query so that it takes less than 50 ms",
        "Update the README",
        "Write tests",
        "Delete all files in /tmp/build",
        "Make the build pass",
        "Improve the cache to support 1,000 users",
        "what does this do?",
        "thanks!",
        "",
        "Yes",
        "modify authentication logic",
        "fix null pointer exception",
    ],
)
def test_a_complete_instruction_lacks_nothing(instruction: str) -> None:
    assert missing_slots(instruction) == ()


@pytest.mark.parametrize("piece", ["please ", "fix ", "make a ", "it ", "delete all ", "a_b"])
def test_a_hostile_instruction_has_at_most_four_open_slots(piece: str) -> None:
    assert len(missing_slots(piece * (100_000 // len(piece)))) <= 4
