"""Findings and rules to a verdict: the table of severities, what is recorded, what the agent is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltline.domain import Decision, Finding, HaltType, ReasonCode, SessionState, Severity
from haltline.verdict import Verdict, VerdictRules, decide, failure_action, standing_halt

LOW, MEDIUM, HIGH, CRITICAL = Severity
RULES = VerdictRules()

ASK = "Ask the user before doing this; they may allow it."
CAUTION = "Proceed with caution and note what was found."
ESCALATE = "HALT and escalate to user. Recommend fresh session."
HALT_ACTION = {
    MEDIUM: "HALT and ask the user. Several smaller problems together stop this action.",
    HIGH: "HALT and ask the user. This needs their explicit approval. Wait; do not try another way.",
    CRITICAL: (
        "HALT immediately. A person must settle this before any further work. Wait; do not try another way."
    ),
}


def found(
    severity: Severity,
    name: str = "out_of_scope",
    halt_type: HaltType = HaltType.SCOPE,
    reason_code: ReasonCode | None = None,
) -> Finding:
    return Finding(name, halt_type, severity, "something", reason_code=reason_code)


def strikes(severity: Severity = HIGH) -> Finding:
    return found(severity, "three_strikes", HaltType.EXECUTION)


def repeated(severity: Severity = MEDIUM) -> Finding:
    return found(severity, "repeated_errors", HaltType.EXECUTION)


@pytest.mark.parametrize(
    ("severities", "decision", "should_halt", "highest"),
    [
        pytest.param((), Decision.PROCEED, False, LOW, id="nothing found"),
        pytest.param((LOW,), Decision.CAUTION, False, LOW, id="one low"),
        pytest.param((LOW,) * 20, Decision.CAUTION, False, LOW, id="many lows never add up"),
        pytest.param((MEDIUM,), Decision.ASK, False, MEDIUM, id="one medium"),
        pytest.param((LOW, MEDIUM, LOW), Decision.ASK, False, MEDIUM, id="one medium among lows"),
        pytest.param((MEDIUM, MEDIUM), Decision.HALT, True, MEDIUM, id="two mediums"),
        pytest.param((MEDIUM, LOW, MEDIUM, MEDIUM), Decision.HALT, True, MEDIUM, id="three mediums"),
        pytest.param((HIGH,), Decision.HALT, True, HIGH, id="one high"),
        pytest.param((CRITICAL,), Decision.HALT, True, CRITICAL, id="one critical"),
        pytest.param((LOW, CRITICAL, MEDIUM), Decision.HALT, True, CRITICAL, id="the strictest decides"),
        pytest.param((CRITICAL, HIGH), Decision.HALT, True, CRITICAL, id="in any order"),
    ],
)
def test_the_strictest_finding_decides(
    severities: tuple[Severity, ...], decision: Decision, should_halt: bool, highest: Severity
) -> None:
    verdict = decide(tuple(found(severity) for severity in severities), RULES)
    assert (verdict.decision, verdict.should_halt, verdict.highest_severity) == (
        decision,
        should_halt,
        highest,
    )


@pytest.mark.parametrize(
    ("wanted", "mediums", "should_halt"),
    [
        (1, 0, False),
        (1, 1, True),
        (2, 1, False),
        (2, 2, True),
        (3, 2, False),
        (3, 3, True),
        (3, 4, True),
    ],
)
def test_the_number_of_mediums_that_halt_is_configuration(
    wanted: int, mediums: int, should_halt: bool
) -> None:
    rules = VerdictRules(medium_findings_to_halt=wanted)
    verdict = decide((found(MEDIUM),) * mediums, rules)
    assert verdict.should_halt is should_halt
    assert len(verdict.to_record) == (mediums if should_halt else 0)


@pytest.mark.parametrize("nonsense", [0, -1])
def test_a_number_of_mediums_below_one_counts_as_one(nonsense: int) -> None:
    rules = VerdictRules(medium_findings_to_halt=nonsense)
    assert decide((found(LOW),), rules).decision is Decision.CAUTION
    assert decide((found(MEDIUM),), rules).decision is Decision.HALT


@pytest.mark.parametrize(
    ("severities", "auto_record_high", "recorded"),
    [
        pytest.param((), True, (), id="nothing"),
        pytest.param((LOW,), True, (), id="a low is never recorded"),
        pytest.param((MEDIUM,), True, (), id="one medium does not halt, so it is not recorded"),
        pytest.param((MEDIUM, MEDIUM), True, (MEDIUM, MEDIUM), id="two mediums"),
        pytest.param((HIGH,), True, (HIGH,), id="a high"),
        pytest.param((HIGH,), False, (), id="a high, switched off"),
        pytest.param((CRITICAL,), False, (CRITICAL,), id="a critical cannot be switched off"),
        pytest.param((CRITICAL, HIGH), False, (CRITICAL,), id="a critical beside a high that is off"),
        pytest.param((HIGH, MEDIUM), True, (HIGH,), id="one medium beside a high"),
        pytest.param((HIGH, MEDIUM, MEDIUM), True, (HIGH, MEDIUM, MEDIUM), id="two mediums beside a high"),
        pytest.param((HIGH, MEDIUM, MEDIUM), False, (MEDIUM, MEDIUM), id="two mediums beside a high, off"),
        pytest.param((LOW, CRITICAL, LOW), True, (CRITICAL,), id="lows beside a critical"),
    ],
)
def test_what_a_halt_records(
    severities: tuple[Severity, ...], auto_record_high: bool, recorded: tuple[Severity, ...]
) -> None:
    findings = tuple(found(severity, f"condition_{n}") for n, severity in enumerate(severities))
    verdict = decide(findings, VerdictRules(auto_record_high=auto_record_high))
    assert tuple(item.severity for item in verdict.to_record) == recorded
    assert verdict.to_record == tuple(item for item in findings if item in verdict.to_record)


@pytest.mark.parametrize(
    ("findings", "attempts", "action"),
    [
        pytest.param((), 0, "Proceed.", id="nothing"),
        pytest.param((found(LOW),), 0, CAUTION, id="a low"),
        pytest.param((found(MEDIUM),), 0, ASK, id="a medium"),
        pytest.param((found(MEDIUM), found(MEDIUM)), 0, HALT_ACTION[MEDIUM], id="two mediums"),
        pytest.param((found(HIGH),), 0, HALT_ACTION[HIGH], id="a high"),
        pytest.param((found(CRITICAL),), 0, HALT_ACTION[CRITICAL], id="a critical"),
        pytest.param((), 1, "retry", id="first failure"),
        pytest.param((), 2, "try_alternative", id="second failure"),
        pytest.param((), 4, "try_alternative", id="fourth failure, below a raised limit"),
        pytest.param((repeated(LOW),), 1, "retry", id="first failure with a low execution finding"),
        pytest.param((repeated(),), 2, "try_alternative", id="second failure with similar errors"),
        pytest.param((found(MEDIUM),), 2, ASK, id="a question of another kind outweighs a retry"),
        pytest.param((found(LOW),), 1, CAUTION, id="so does a caution of another kind"),
        pytest.param((repeated(), found(MEDIUM)), 2, HALT_ACTION[MEDIUM], id="two mediums after failures"),
        pytest.param((strikes(),), 3, ESCALATE, id="three strikes"),
        pytest.param((strikes(), repeated()), 3, ESCALATE, id="three strikes with repeated errors"),
        pytest.param((found(HIGH), strikes()), 3, ESCALATE, id="three strikes beside another high"),
        pytest.param((found(CRITICAL), strikes()), 3, HALT_ACTION[CRITICAL], id="a critical beside them"),
        pytest.param((found(HIGH),), 1, HALT_ACTION[HIGH], id="a halt outweighs a retry"),
        pytest.param(
            (strikes(MEDIUM), repeated()), 3, HALT_ACTION[MEDIUM], id="three strikes configured as medium"
        ),
    ],
)
def test_the_agent_is_told_what_to_do(findings: tuple[Finding, ...], attempts: int, action: str) -> None:
    assert decide(findings, RULES, attempts).recommended_action == action


@pytest.mark.parametrize("reason", ReasonCode)
def test_a_failed_check_halts_and_says_that_nothing_can_be_allowed(reason: ReasonCode) -> None:
    verdict = decide((found(LOW), found(CRITICAL, reason_code=reason), strikes()), RULES, attempts=1)
    assert verdict.should_halt
    assert verdict.reason_code is reason
    assert verdict.recommended_action == failure_action(reason)
    assert verdict.recommended_action.startswith("HALT. ")


def test_the_first_failure_names_the_reason() -> None:
    findings = (
        found(CRITICAL),
        found(CRITICAL, reason_code=ReasonCode.CONFIGURATION_UNREADABLE),
        found(CRITICAL, reason_code=ReasonCode.CHECK_FAILED),
    )
    assert decide(findings, RULES).reason_code is ReasonCode.CONFIGURATION_UNREADABLE


def test_a_check_that_worked_has_no_reason_code() -> None:
    assert decide((found(CRITICAL),), RULES).reason_code is None


@pytest.mark.parametrize("state", [SessionState.HALTED, SessionState.PAUSED])
def test_a_session_that_stands_still_is_told_to_wait(state: SessionState) -> None:
    action = standing_halt(state)
    assert action.startswith(f"HALT. The session is {state}")
    assert "Wait; do not" in action


def test_a_paused_session_is_told_that_silence_is_not_consent() -> None:
    assert "Silence is not consent" in standing_halt(SessionState.PAUSED)


severities = st.lists(st.sampled_from(Severity), max_size=8)
rule_sets = st.builds(
    VerdictRules, medium_findings_to_halt=st.integers(-1, 5), auto_record_high=st.booleans()
)


def _verdicts(of: list[Severity], rules: VerdictRules, attempts: int) -> Iterator[Verdict]:
    findings = tuple(found(severity, f"condition_{n}") for n, severity in enumerate(of))
    yield decide(findings, rules, attempts)
    for position in range(len(findings) + 1):
        for severity in Severity:
            more = (*findings[:position], found(severity, "another"), *findings[position:])
            yield decide(more, rules, attempts)


@given(severities, rule_sets, st.integers(0, 5))
def test_one_more_finding_never_makes_a_verdict_milder(
    of: list[Severity], rules: VerdictRules, attempts: int
) -> None:
    order = list(Decision)
    first, *others = _verdicts(of, rules, attempts)
    for other in others:
        assert order.index(other.decision) >= order.index(first.decision)
        assert other.highest_severity.rank >= first.highest_severity.rank
        assert all(item in other.to_record for item in first.to_record)


@given(severities, rule_sets, st.integers(0, 5))
def test_nothing_is_recorded_without_a_halt_and_every_critical_with_one(
    of: list[Severity], rules: VerdictRules, attempts: int
) -> None:
    for verdict in _verdicts(of, rules, attempts):
        criticals = [item for item in verdict.to_record if item.severity is CRITICAL]
        assert verdict.should_halt or not verdict.to_record
        assert bool(criticals) == (verdict.highest_severity is CRITICAL)
        assert all(item.severity is not LOW for item in verdict.to_record)
        assert verdict.should_halt == verdict.recommended_action.startswith("HALT")


def about(*causes: str) -> Finding:
    return Finding("out_of_scope", HaltType.SCOPE, MEDIUM, "something", causes=frozenset(causes))


@pytest.mark.parametrize(
    ("findings", "decision"),
    [
        ((about("a"), about("a")), Decision.ASK),
        ((about("a", "b"), about("b")), Decision.ASK),
        ((about("a"), about("a"), about("a")), Decision.ASK),
        ((about("a"), about("b")), Decision.HALT),
        ((about("a"), about("a", "b")), Decision.HALT),
        ((about("a"), about()), Decision.HALT),
        ((about(), about()), Decision.HALT),
        ((about("a", "b"), about("a"), about("c")), Decision.HALT),
    ],
)
def test_a_finding_whose_causes_an_earlier_one_has_is_the_same_problem(
    findings: tuple[Finding, ...], decision: Decision
) -> None:
    verdict = decide(findings, RULES)
    assert verdict.decision is decision
    assert verdict.to_record == (findings if decision is Decision.HALT else ())
