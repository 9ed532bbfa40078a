"""Running a condition: one that fails is a critical finding, and nothing that it says holds a secret."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.conditions.judging import CRITICAL, config, facts, judge
from tests.unit.secrets.fake_tokens import github

from haltline.conditions.catalogue import CATALOGUE
from haltline.conditions.condition import MAX_QUOTE, finding, listed, quoted, times
from haltline.conditions.evaluate import failed_check, late_check
from haltline.domain import Finding, HaltType, ReasonCode
from haltline.errors import InvalidInput

NAME = "no_progress"
TOKEN = github()

Check = Callable[..., Any]


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> Callable[[Check], None]:
    """Replace the check of one condition."""

    def replace_check(check: Check) -> None:
        monkeypatch.setitem(CATALOGUE, NAME, replace(CATALOGUE[NAME], check=check))

    return replace_check


def raising(error: BaseException) -> Check:
    def check(*_: object) -> None:
        raise error

    return check


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        KeyError("threshold"),
        RecursionError(),
        MemoryError(),
        InvalidInput("no"),
        ZeroDivisionError(),
        AssertionError(),
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no"),
        ExceptionGroup("several", [ValueError("no")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_condition_that_raises_is_a_critical_finding_that_no_waiver_covers(
    replaced: Callable[[Check], None], error: Exception
) -> None:
    replaced(raising(error))
    finding = judge(NAME, facts())
    assert finding is not None
    assert finding.description.startswith(f"Halt check failed: {type(error).__name__}: ")
    assert (finding.condition_name, finding.halt_type, finding.severity) == (NAME, "execution", CRITICAL)
    assert (finding.reason_code, finding.waivable) == (ReasonCode.CHECK_FAILED, False)


@pytest.mark.parametrize(
    "returned",
    [
        True,
        "finding",
        finding(config(NAME), "text", {"set": {1}}),
        finding(config(NAME), "text", {"number": float("nan")}),
        finding(config(NAME), "text", {1: "a", "b": 2}),  # type: ignore[dict-item]  # on purpose
    ],
)
def test_a_condition_that_returns_what_is_no_finding_is_a_failed_check(
    replaced: Callable[[Check], None], returned: object
) -> None:
    replaced(lambda *_: returned)
    found = judge(NAME, facts())
    assert found is not None
    assert found.reason_code is ReasonCode.CHECK_FAILED


def test_what_a_failing_condition_says_is_redacted_everywhere(
    replaced: Callable[[Check], None], caplog: pytest.LogCaptureFixture
) -> None:
    replaced(raising(ValueError(f"cannot use {TOKEN}")))
    with caplog.at_level(logging.DEBUG):
        found = judge(NAME, facts())
    assert "no_progress failed: ValueError: cannot use «secret:" in caplog.text
    assert TOKEN not in str(found) + caplog.text


def test_what_a_finding_says_is_redacted_everywhere(replaced: Callable[[Check], None]) -> None:
    replaced(
        lambda _, config: finding(
            config, f"found {TOKEN}", {TOKEN: [TOKEN]}, annotations={"files_not_read": (TOKEN,)}
        )
    )
    found = judge(NAME, facts())
    assert found is not None
    assert "«secret:" in found.description
    assert TOKEN not in str(found)


def test_what_is_no_unicode_or_nul_is_replaced(replaced: Callable[[Check], None]) -> None:
    replaced(
        lambda _, config: finding(
            config, "a\x00b\ud800c", {"\ud800": ["\x00", 1]}, annotations={"files_not_read": ("\udfff",)}
        )
    )
    found = judge(NAME, facts())
    assert found is not None
    assert found.description == "a\ufffdb?c"
    assert found.evidence == {"?": ["\ufffd", 1]}
    assert found.annotations == {"files_not_read": ["?"]}


def test_a_command_that_spells_out_what_is_no_unicode_is_judged() -> None:
    found = judge("unknown_commands", facts(r"""python3 -c 'open("\ud800" + input(), "w")' > "$A" """))
    assert found is not None
    assert found.reason_code is None
    found.description.encode()


def test_a_late_condition_is_a_critical_finding_that_says_how_long_it_was_waited_for() -> None:
    found = late_check(config("data_exposure"), 0.48)
    assert found.description == "Halt check failed: data_exposure did not answer in 480 ms"
    assert (found.severity, found.reason_code, found.waivable) == (
        CRITICAL,
        ReasonCode.DEADLINE_EXCEEDED,
        False,
    )


def test_a_very_long_problem_is_described_in_part_and_kept_whole() -> None:
    found = failed_check(NAME, HaltType.EXECUTION, "x" * 10_000)
    assert len(found.description) < 1000
    assert found.evidence["problem"] == "x" * 10_000


def a_finding(**fields: Any) -> Finding:
    given: dict[str, Any] = {
        "condition_name": NAME,
        "halt_type": HaltType.EXECUTION,
        "severity": CRITICAL,
        "description": "words",
        "evidence": {"a": 1},
    }
    return Finding(**{**given, **fields})


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"description": "other words"}, True),
        ({"severity": "low"}, True),
        ({"annotations": {"files_not_read": ["a"]}}, True),
        ({"evidence": {"a": 2}}, False),
        ({"evidence": {"a": "1"}}, False),
        ({"evidence": {"a": [1]}}, False),
        ({"evidence": {"a": 1, "b": None}}, False),
        ({"evidence": {}}, False),
        ({"condition_name": "other"}, False),
    ],
)
def test_a_finding_is_recognised_by_its_condition_and_evidence(fields: dict[str, Any], same: bool) -> None:
    assert (a_finding(**fields).evidence_digest == a_finding().evidence_digest) is same


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b"), "a, b"),
        (("a", "b", "c", "d", "e"), "a, b, c, d, e"),
        (("a", "b", "c", "d", "e", "f"), "a, b, c, d, e and 1 more"),
        (tuple("abcdefgh"), "a, b, c, d, e and 3 more"),
    ],
)
def test_things_are_listed_as_a_person_would(items: tuple[str, ...], text: str) -> None:
    assert listed(items) == text


def test_a_text_is_quoted_whole_up_to_the_limit_and_then_says_that_it_is_not() -> None:
    assert quoted("x" * MAX_QUOTE) == "x" * MAX_QUOTE
    assert quoted("x" * (MAX_QUOTE + 1)) == "x" * MAX_QUOTE + f"… ({MAX_QUOTE + 1} characters)"


@pytest.mark.parametrize("cut", range(1, len(TOKEN), 3))
def test_a_secret_is_not_cut_in_half(cut: int) -> None:
    text = ("word " * MAX_QUOTE)[: MAX_QUOTE - cut - 1] + f" {TOKEN} and more"
    assert TOKEN[:6] not in quoted(text)


@pytest.mark.parametrize(("count", "text"), [(0, "0 times"), (1, "1 time"), (2, "2 times")])
def test_one_time_is_no_plural(count: int, text: str) -> None:
    assert times(count) == text
