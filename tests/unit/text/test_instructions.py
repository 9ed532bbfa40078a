from __future__ import annotations

import pytest

from haltline.text.instructions import MAXIMUM_CLAUSES, Quantity, conflicts, parse

CONFLICTING = [
    ("Do not push", "Push to main", "push"),
    ("Do not edit src/auth", "Edit src/auth/login.py", "edit"),
    ("Don't use pandas", "Use pandas to load the file", "use"),
    ("Run the tests", "Never run the tests", "run"),
    ("Never delete the backups.", "Delete the backups.", "delete"),
    ("Use tabs", "Indent with 4 spaces", "indentation"),
    ("Only use the standard library", "Use pandas to read it", "dependencies"),
    ("Ask me before deleting anything", "Do not ask me anything", "asking"),
    ("Write tests", "Skip the tests", "tests"),
    ("Keep it backwards compatible", "Remove the legacy API", "compatibility"),
    ("Use Python 3.8", "Use Python 3.12", "python"),
    ("Keep lines at most 80 characters", "Allow lines of 120 characters", "characters"),
    ("Make minimal changes", "Rewrite the whole module", "extent"),
]
COMPATIBLE = [
    ("Never commit generated files", "Add build to .gitignore"),
    ("Never commit generated files", "Commit the fix"),
    ("Never push to main", "Push the feature branch"),
    ("Use tabs in the Makefile", "Use spaces"),
    ("Never touch production unless I say so", "Touch production"),
    ("Do not push until the tests pass", "Push to main"),
    ("Do not modify tests", "Add tests for the parser"),
    ("Don't use tabs", "Use spaces"),
    ("Do not deploy on Fridays", "Deploy the service"),
    ("Use Python 3.8 or later", "Use Python 3.12"),
    ("Wait at most 30 seconds for the server", "Cache results for 60 seconds"),
    ("Do not edit src/auth", "Edit src/db/models.py"),
    ("Do not use eval", "Use ast.literal_eval"),
    ("Ask me before deleting files", "Do not ask me about formatting unless it is unclear"),
    ("Delete the temporary files", "Do not delete the backups"),
]


@pytest.mark.parametrize(("earlier", "later", "slot"), CONFLICTING)
def test_a_contradiction_is_reported_with_both_sentences(earlier: str, later: str, slot: str) -> None:
    [found] = conflicts([earlier, later])
    assert found.slot == slot
    assert (found.earlier, found.later) == (earlier.rstrip("."), later.rstrip("."))


@pytest.mark.parametrize(("earlier", "later"), COMPATIBLE)
def test_neighbours_that_can_both_be_followed_are_not_flagged(earlier: str, later: str) -> None:
    assert conflicts([earlier, later]) == ()
    assert conflicts([later, earlier]) == ()


def test_order_decides_which_is_the_later() -> None:
    [found] = conflicts(["Push to main", "Fix the parser", "Do not push"])
    assert (found.earlier_index, found.later_index) == (0, 2)
    assert found.later == "Do not push"


def test_a_clause_has_typed_slots() -> None:
    [slot] = parse("Never push generated files to main until I say so")
    assert (slot.positive, slot.verb, slot.condition) == (False, "push", "until i say so")
    assert slot.object == {"generated"}
    assert slot.scope == {"main"}


def test_numbers_become_intervals() -> None:
    [slot] = parse("Keep lines at most 80 characters")
    assert slot.quantities == (Quantity("characters", 0, 80),)


def test_an_instruction_has_a_slot_for_each_clause() -> None:
    assert [slot.positive for slot in parse("Use tabs. Never push; run the tests, but do not deploy")] == [
        True,
        False,
        True,
        False,
    ]


def test_repeats_and_empties_do_not_conflict() -> None:
    assert conflicts(["Use tabs", "Use tabs", "", "   "]) == ()


@pytest.mark.parametrize("piece", ["not ", "a/", "push ", "; ", "use 4 spaces ", "in in ", "python 3."])
def test_a_hostile_instruction_is_read_in_part(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert len(parse(text)) <= MAXIMUM_CLAUSES
    assert len(conflicts([text, text])) <= 1
