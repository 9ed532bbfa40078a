"""Execution: failing again and again, in a chain, for unknown reasons, or going round in circles."""

from __future__ import annotations

from haltline.conditions.condition import Condition, ConditionConfig, ThresholdField, finding, quoted, times
from haltline.conditions.facts import Facts
from haltline.domain import Finding, HaltType, Severity, canonical_json
from haltline.secrets import redact
from haltline.text.errors import classify_error, mask_volatile, names_in, similarity

_COMPARED_ERRORS = 10
"""The latest errors of a task that are compared, of recorded and of declared ones: enough, and bounded."""


def _latest(facts: Facts) -> tuple[str, ...]:
    """Return the errors to compare; declared ones, however many, do not crowd recorded ones out."""
    recorded = facts.recorded_errors
    return (*recorded[-_COMPARED_ERRORS:], *facts.errors[len(recorded) :][-_COMPARED_ERRORS:])


def _masked(errors: tuple[str, ...]) -> list[str]:
    """Return errors as evidence shows them; redacted first, for a mask inside a secret hides it from that."""
    return sorted({mask_volatile(redact(error)) for error in errors})


def three_strikes(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find a task that has failed too often, by the agent's count or by the recorded one.

    A count that Haltline has recorded itself cannot be waived: settling the halt resets it.
    """
    limit = config.threshold["max_attempts"]
    if facts.attempts < limit:
        return None
    return finding(
        config,
        f"Task has failed {times(facts.attempts)}. Context may be contaminated.",
        {"task_id": facts.task_id, "attempts": facts.attempts},
        waivable=facts.recorded_attempts < limit,
    )


def repeated_errors(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find two errors of the task that are the same once their volatile parts are masked."""
    errors = _latest(facts)
    similar = {
        index
        for later in range(1, len(errors))
        for earlier in range(later)
        if similarity(errors[earlier], errors[later]) >= config.threshold["similarity_threshold"]
        for index in (earlier, later)
    }
    if not similar:
        return None
    repeated = tuple(errors[index] for index in sorted(similar))
    return finding(
        config,
        "Similar errors across attempts suggest fundamental misunderstanding",
        {"task_id": facts.task_id, "errors": _masked(repeated)},
        annotations={"similar_previous_errors": repeated},
        causes=repeated,
    )


def cascading_failures(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find a chain of different errors, each of which names something of the one before.

    A declared error may make a recorded chain longer, and does not end it.
    """
    chain = max(_chain(_latest(facts)), _chain(facts.recorded_errors[-_COMPARED_ERRORS:]), key=len)
    if len(chain) < config.threshold["max_chain_length"]:
        return None
    return finding(
        config,
        f"{len(chain)} failures in a row, each naming something of the one before",
        {"task_id": facts.task_id, "chain": [mask_volatile(redact(error)) for error in chain]},
    )


def _chain(errors: tuple[str, ...]) -> list[str]:
    """Return the chain that errors end with."""
    chain: list[str] = []
    for error in errors:
        if chain and not _caused_by(error, chain[-1]):
            chain = []
        chain.append(error)
    return chain


def _caused_by(error: str, previous: str) -> bool:
    """Whether an error is another one than the previous and names something that the previous one named."""
    if mask_volatile(error) == mask_volatile(previous):
        return False
    return bool(names_in(error) & names_in(previous))


def unknown_errors(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find errors that belong to no known class."""
    unknown = tuple(error for error in _latest(facts) if classify_error(error) == "unknown")
    if not unknown:
        return None
    return finding(
        config,
        f"An error of no known kind: {quoted(unknown[-1])}",
        {"task_id": facts.task_id, "errors": _masked(unknown)},
        causes=unknown,
    )


def no_progress(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find an agent that has given the same response as often as the window is long."""
    window = config.threshold["window"]
    latest = facts.recent_responses[-window:]
    if len(latest) < window or len({" ".join(text.split()) for text in latest}) > 1:
        return None
    return finding(config, f"The last {window} responses are the same: no progress", {"response": latest[-1]})


def repeated_failure(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find a tool that failed several times in a row with the same arguments."""
    threshold = config.threshold["threshold"]
    if not facts.recent_calls:
        return None
    last = facts.recent_calls[-1]
    signature = canonical_json([last.tool, last.arguments])
    failures = 0
    for call in reversed(facts.recent_calls):
        if canonical_json([call.tool, call.arguments]) != signature:
            continue
        if not call.failed:
            break
        failures += 1
    if failures < threshold:
        return None
    return finding(
        config,
        f"The tool {last.tool} has failed {times(failures)} in a row with the same arguments",
        {"tool": last.tool, "arguments": last.arguments, "failures": failures},
    )


CONDITIONS = (
    Condition(
        name="three_strikes",
        halt_type=HaltType.EXECUTION,
        severity=Severity.HIGH,
        summary="The task has failed three times, by the agent's count or by the recorded one.",
        advice="Stop. A person looks at the attempts and resets the count; a fresh session often helps.",
        check=three_strikes,
        threshold={
            "max_attempts": ThresholdField(
                3, "failed attempts at a task before it halts", minimum=1, maximum=1000
            )
        },
        single_use_waiver=True,
    ),
    Condition(
        name="repeated_errors",
        halt_type=HaltType.EXECUTION,
        severity=Severity.MEDIUM,
        summary="Two errors of the task are the same once numbers, paths and times are masked.",
        advice="Question the assumption behind the attempts instead of trying once more.",
        check=repeated_errors,
        threshold={
            "similarity_threshold": ThresholdField(
                0.8, "similarity from 0 to 1 at which two errors are the same", minimum=0.0, maximum=1.0
            )
        },
    ),
    Condition(
        name="cascading_failures",
        halt_type=HaltType.EXECUTION,
        severity=Severity.HIGH,
        summary="Several failures in a row, each naming something of the one before.",
        advice="Go back to the first failure; the later ones may be its consequences.",
        check=cascading_failures,
        single_use_waiver=True,
        threshold={
            "max_chain_length": ThresholdField(
                3, "failures in a chain before it halts", minimum=2, maximum=1000
            )
        },
    ),
    Condition(
        name="unknown_errors",
        halt_type=HaltType.EXECUTION,
        severity=Severity.MEDIUM,
        summary="An error belongs to no known class.",
        advice="Show the error to a person before working around it.",
        check=unknown_errors,
    ),
    Condition(
        name="no_progress",
        halt_type=HaltType.EXECUTION,
        severity=Severity.HIGH,
        summary="The agent has given the same response several times in a row.",
        advice="Stop and ask the user; repeating the same words will not help.",
        check=no_progress,
        single_use_waiver=True,
        threshold={
            "window": ThresholdField(5, "equal responses in a row before it halts", minimum=2, maximum=1000)
        },
    ),
    Condition(
        name="repeated_failure",
        halt_type=HaltType.EXECUTION,
        severity=Severity.HIGH,
        summary="A tool has failed several times in a row with the same arguments.",
        advice="Stop calling it this way; find out why it fails.",
        check=repeated_failure,
        single_use_waiver=True,
        threshold={
            "threshold": ThresholdField(
                3, "equal failures in a row before it halts", minimum=1, maximum=1000
            ),
            "stale_after_minutes": ThresholdField(
                10, "minutes after which a failure no longer counts", minimum=1, maximum=10_000
            ),
        },
    ),
)
