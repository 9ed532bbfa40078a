"""Execution: strikes, repeated and chained and unknown errors, going round in circles."""

from __future__ import annotations

import string
import zlib
from typing import Any

import pytest
from tests.unit.conditions.judging import CRITICAL, HIGH, MEDIUM, facts, found, judge, said

from haltline.conditions.facts import ToolCall

OF_NULL = "TypeError: Cannot read property 'x' of null"
OF_UNDEFINED = "TypeError: Cannot read property 'x' of undefined"
NO_FLASK = "ModuleNotFoundError: No module named 'flask'"
NO_SPACE = "OSError: [Errno 28] No space left on device"

NO_CONFIG = "Error: cannot read settings from config.json"
NO_LOADER = "TypeError: loadSettings() failed: config.json is missing"
NO_SERVER = "ReferenceError: startServer() needs loadSettings() first"


class TestThreeStrikes:
    NAME = "three_strikes"

    def test_says_literally_what_the_specification_says(self) -> None:
        of = facts(
            operation="fix null pointer exception",
            task_id="task_fix_bug_42",
            declared_attempts=3,
            errors=(OF_NULL, OF_UNDEFINED),
        )
        assert said(self.NAME, of) == (HIGH, "Task has failed 3 times. Context may be contaminated.")

    @pytest.mark.parametrize(
        ("declared", "recorded", "triggers"),
        [
            (None, 0, False),
            (2, 0, False),
            (3, 0, True),
            (4, 0, True),
            (None, 2, False),
            (None, 3, True),
            (0, 3, True),
            (1, 7, True),
            (3, 1, True),
            (2, 2, False),
        ],
    )
    def test_triggers_at_the_greater_count(self, declared: int | None, recorded: int, triggers: bool) -> None:
        of = facts(declared_attempts=declared, recorded_attempts=recorded)
        assert (judge(self.NAME, of) is not None) is triggers

    @pytest.mark.parametrize(("limit", "attempts"), [(1, 1), (5, 5), (1000, 1000)])
    def test_the_limit_is_configuration(self, limit: int, attempts: int) -> None:
        found(self.NAME, facts(recorded_attempts=attempts), max_attempts=limit)
        assert judge(self.NAME, facts(recorded_attempts=attempts - 1), max_attempts=limit) is None

    def test_speaks_of_one_failure_in_the_singular(self) -> None:
        finding = found(self.NAME, facts(recorded_attempts=1), max_attempts=1)
        assert finding.description == "Task has failed 1 time. Context may be contaminated."

    @pytest.mark.parametrize(
        ("declared", "recorded", "waivable"), [(3, 0, True), (3, 2, True), (None, 3, False), (5, 3, False)]
    )
    def test_a_recorded_count_cannot_be_waived_only_reset(
        self, declared: int | None, recorded: int, waivable: bool
    ) -> None:
        of = facts(declared_attempts=declared, recorded_attempts=recorded)
        assert found(self.NAME, of).waivable is waivable

    def test_the_settlement_binds_the_task_and_the_count(self) -> None:
        one = found(self.NAME, facts(task_id="a", declared_attempts=3)).evidence_digest
        assert found(self.NAME, facts("ls", task_id="a", declared_attempts=3)).evidence_digest == one
        assert found(self.NAME, facts(task_id="a", declared_attempts=4)).evidence_digest != one
        assert found(self.NAME, facts(task_id="b", declared_attempts=3)).evidence_digest != one
        assert found(self.NAME, facts(task_id=None, declared_attempts=3)).evidence_digest != one


class TestRepeatedErrors:
    NAME = "repeated_errors"

    def test_says_literally_what_the_specification_says(self) -> None:
        of = facts(declared_attempts=3, errors=(OF_NULL, OF_UNDEFINED))
        assert said(self.NAME, of) == (
            MEDIUM,
            "Similar errors across attempts suggest fundamental misunderstanding",
        )

    @pytest.mark.parametrize(
        ("errors", "similar"),
        [
            pytest.param((), (), id="none"),
            pytest.param((OF_NULL,), (), id="one"),
            pytest.param((NO_FLASK, NO_SPACE), (), id="two different"),
            pytest.param((OF_NULL, OF_NULL), (OF_NULL, OF_NULL), id="the same twice"),
            pytest.param((OF_NULL, OF_UNDEFINED), (OF_NULL, OF_UNDEFINED), id="nearly the same"),
            pytest.param(
                (OF_NULL, NO_FLASK, OF_UNDEFINED), (OF_NULL, OF_UNDEFINED), id="with another between"
            ),
            pytest.param(
                ("timeout after 31 s at 12:00:01", "timeout after 12 s at 13:30:59"),
                ("timeout after 31 s at 12:00:01", "timeout after 12 s at 13:30:59"),
                id="numbers and times differ",
            ),
        ],
    )
    def test_triggers_on_similar_errors(self, errors: tuple[str, ...], similar: tuple[str, ...]) -> None:
        finding = judge(self.NAME, facts(errors=errors))
        assert tuple(finding.annotations["similar_previous_errors"] if finding else ()) == similar

    @pytest.mark.parametrize(("threshold", "triggers"), [(0.0, True), (0.5, True), (1.0, False)])
    def test_the_threshold_is_configuration(self, threshold: float, triggers: bool) -> None:
        finding = judge(self.NAME, facts(errors=(OF_NULL, OF_UNDEFINED)), similarity_threshold=threshold)
        assert (finding is not None) is triggers

    def test_only_the_latest_ten_errors_are_compared(self) -> None:
        different = tuple(f"{word * 9}: {word * 7}" for word in "abcdefghij")
        assert judge(self.NAME, facts(errors=(OF_NULL, *different, OF_NULL))) is None
        assert judge(self.NAME, facts(errors=(OF_NULL, *different[:8], OF_NULL))) is not None

    def test_declared_errors_do_not_crowd_recorded_ones_out(self) -> None:
        junk = tuple(f"{word * 9}: {word * 7}" for word in "abcdefghijklmnopqrstuvwxyz")
        recorded = (OF_NULL, OF_UNDEFINED)
        found(self.NAME, facts(errors=(*recorded, *junk), recorded_errors=recorded))

    def test_the_settlement_holds_for_the_same_errors_of_the_same_task(self) -> None:
        one = found(self.NAME, facts(task_id="a", errors=("line 1 failed", "line 2 failed"))).evidence_digest
        assert (
            found(self.NAME, facts(task_id="a", errors=("line 8 failed", "line 9 failed"))).evidence_digest
            == one
        )
        assert found(self.NAME, facts(task_id="a", errors=(OF_NULL, OF_NULL))).evidence_digest != one
        assert (
            found(self.NAME, facts(task_id="b", errors=("line 1 failed", "line 2 failed"))).evidence_digest
            != one
        )


class TestCascadingFailures:
    NAME = "cascading_failures"
    CHAIN = (NO_CONFIG, NO_LOADER, NO_SERVER)

    def test_triggers_on_a_chain(self) -> None:
        assert said(self.NAME, facts(errors=self.CHAIN)) == (
            HIGH,
            "3 failures in a row, each naming something of the one before",
        )

    @pytest.mark.parametrize(
        "errors",
        [
            pytest.param((), id="none"),
            pytest.param(CHAIN[:2], id="too short"),
            pytest.param((NO_CONFIG, NO_CONFIG, NO_CONFIG), id="the same is no consequence of itself"),
            pytest.param((NO_CONFIG, NO_SPACE, NO_LOADER, NO_SERVER), id="interrupted"),
            pytest.param((*CHAIN, NO_SPACE), id="over"),
            pytest.param((NO_CONFIG, NO_SPACE, NO_FLASK), id="unrelated"),
        ],
    )
    def test_does_not_trigger(self, errors: tuple[str, ...]) -> None:
        assert judge(self.NAME, facts(errors=errors)) is None

    def test_a_declared_error_does_not_end_a_recorded_chain(self) -> None:
        found(self.NAME, facts(errors=(*self.CHAIN, NO_SPACE), recorded_errors=self.CHAIN))

    def test_a_declared_error_may_make_a_recorded_chain_longer(self) -> None:
        found(self.NAME, facts(errors=self.CHAIN, recorded_errors=self.CHAIN[:2]))

    @pytest.mark.parametrize(("length", "triggers"), [(2, True), (3, True), (4, False)])
    def test_the_length_is_configuration(self, length: int, triggers: bool) -> None:
        finding = judge(self.NAME, facts(errors=self.CHAIN), max_chain_length=length)
        assert (finding is not None) is triggers

    def test_the_settlement_binds_the_chain_and_the_task(self) -> None:
        one = found(self.NAME, facts(errors=self.CHAIN)).evidence_digest
        assert found(self.NAME, facts(errors=self.CHAIN, task_id="b")).evidence_digest != one


class TestUnknownErrors:
    NAME = "unknown_errors"
    ODD = "the frobnicator went sideways"

    @pytest.mark.parametrize("errors", [(ODD,), (NO_SPACE, ODD), (ODD, NO_SPACE)])
    def test_triggers(self, errors: tuple[str, ...]) -> None:
        assert said(self.NAME, facts(errors=errors)) == (
            MEDIUM,
            f"An error of no known kind: {self.ODD}",
        )

    def test_a_recorded_error_is_not_crowded_out(self) -> None:
        found(self.NAME, facts(errors=(self.ODD, *[NO_SPACE] * 30), recorded_errors=(self.ODD,)))

    @pytest.mark.parametrize("errors", [(), (NO_SPACE,), (OF_NULL, NO_FLASK), (ODD, *[NO_SPACE] * 10)])
    def test_does_not_trigger(self, errors: tuple[str, ...]) -> None:
        assert judge(self.NAME, facts(errors=errors)) is None

    def test_a_long_error_is_quoted_in_part(self) -> None:
        finding = found(self.NAME, facts(errors=("odd " * 5000,)))
        assert len(finding.description) < 1000
        assert finding.description.endswith("(20,000 characters)")


class TestNoProgress:
    NAME = "no_progress"

    @pytest.mark.parametrize(
        ("responses", "triggers"),
        [
            ((), False),
            (("done",) * 4, False),
            (("done",) * 5, True),
            (("done",) * 9, True),
            (("other", *["done"] * 5), True),
            (("done",) * 4 + ("other",), False),
            (("done", "done ", " done", "done\n", "done\t"), True),
            (("done",) * 2 + ("Done",) * 3, False),
            (("",) * 5, True),
        ],
    )
    def test_triggers_on_equal_responses(self, responses: tuple[str, ...], triggers: bool) -> None:
        finding = judge(self.NAME, facts(recent_responses=responses))
        assert (finding is not None) is triggers
        if finding:
            assert (finding.severity, finding.description) == (
                HIGH,
                "The last 5 responses are the same: no progress",
            )

    @pytest.mark.parametrize(("window", "count", "triggers"), [(2, 2, True), (2, 1, False), (7, 6, False)])
    def test_the_window_is_configuration(self, window: int, count: int, triggers: bool) -> None:
        finding = judge(self.NAME, facts(recent_responses=("done",) * count), window=window)
        assert (finding is not None) is triggers


def calls(*given: tuple[str, Any, bool]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(tool, arguments, failed) for tool, arguments, failed in given)


FAILED = ("read", {"path": "a"}, True)
WORKED = ("read", {"path": "a"}, False)
OTHER = ("write", {"path": "a"}, False)


class TestRepeatedFailure:
    NAME = "repeated_failure"

    @pytest.mark.parametrize(
        ("recent", "failures"),
        [
            pytest.param((), 0, id="no calls"),
            pytest.param((FAILED, FAILED), 0, id="two"),
            pytest.param((FAILED, FAILED, FAILED), 3, id="three"),
            pytest.param((FAILED,) * 5, 5, id="five"),
            pytest.param((FAILED, WORKED, FAILED, FAILED), 0, id="a success between"),
            pytest.param((FAILED, FAILED, FAILED, WORKED), 0, id="a success after"),
            pytest.param((FAILED, OTHER, FAILED, OTHER, FAILED), 3, id="other calls between"),
            pytest.param((FAILED, FAILED, FAILED, OTHER), 0, id="the last call is another"),
            pytest.param((FAILED, FAILED, ("read", {"path": "b"}, True)), 0, id="other arguments"),
            pytest.param((FAILED, FAILED, ("load", {"path": "a"}, True)), 0, id="another tool"),
        ],
    )
    def test_counts_failures_of_the_last_call(
        self, recent: tuple[tuple[str, Any, bool], ...], failures: int
    ) -> None:
        finding = judge(self.NAME, facts(recent_calls=calls(*recent)))
        if failures == 0:
            assert finding is None
            return
        assert finding is not None
        assert (finding.severity, finding.description) == (
            HIGH,
            f"The tool read has failed {failures} times in a row with the same arguments",
        )

    def test_the_order_of_arguments_does_not_matter(self) -> None:
        one, other = {"a": 1, "b": [2]}, {"b": [2], "a": 1}
        recent = calls(("read", one, True), ("read", other, True), ("read", one, True))
        found(self.NAME, facts(recent_calls=recent))

    def test_the_threshold_is_configuration_and_one_failure_singular(self) -> None:
        finding = found(self.NAME, facts(recent_calls=calls(FAILED)), threshold=1)
        assert finding.description == "The tool read has failed 1 time in a row with the same arguments"

    def test_arguments_that_json_cannot_express_are_a_failed_check(self) -> None:
        finding = judge(self.NAME, facts(recent_calls=calls(("read", float("nan"), True))))
        assert finding is not None
        assert (finding.severity, finding.reason_code) == (CRITICAL, "check_failed")

    def test_one_more_failure_is_other_evidence(self) -> None:
        three = found(self.NAME, facts(recent_calls=calls(*[FAILED] * 3))).evidence_digest
        assert found(self.NAME, facts(recent_calls=calls(*[FAILED] * 4))).evidence_digest != three


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("repeated_errors", ("TypeError: no user {} 12", "TypeError: no user {} 13")),
        ("unknown_errors", ("weird {} here",)),
        (
            "cascading_failures",
            (f"{NO_CONFIG} {{}}", f"{NO_LOADER} {{}}", f"{NO_SERVER} {{}}"),
        ),
    ],
)
def test_no_part_of_a_secret_stays_in_the_evidence_when_its_digits_are_masked(
    name: str, errors: tuple[str, ...]
) -> None:
    token = "ghp" + "_" + "PTGuZeJFEBZj4SzwDOhiXRxL7GQN0s"
    token += _checksum(token[4:])
    finding = found(name, facts(errors=tuple(error.format(token) for error in errors)))
    assert "ghp_" not in str(finding.evidence)
    assert "PTGuZeJFEBZj" not in str(finding.evidence)


def _checksum(body: str) -> str:
    """Return the six digits of base 62 that end a token of GitHub."""
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    left, text = zlib.crc32(body.encode()), ""
    while left:
        left, digit = divmod(left, 62)
        text = digits[digit] + text
    return text.rjust(6, "0")
