"""What each way of settling a halt does: said to people before they decide."""

from __future__ import annotations

from haltline.domain import Resolution, Severity
from haltline.lifecycle import CRITICAL_WAIVER_LIFETIME
from haltline.records import Halt


def consequences(halt: Halt) -> list[tuple[str, str]]:
    """Return each resolution that is still possible, with what it does; empty when the halt is not open."""
    if not halt.is_open:
        return []
    choices = [
        (str(Resolution.RESOLVED), f"The problem is solved: the agent goes on. {_remembered(halt)}"),
        (
            str(Resolution.DISMISSED),
            f"The risk stands and you take it: the agent goes on. {_remembered(halt)}",
        ),
    ]
    if halt.severity is Severity.CRITICAL:
        name, text = choices[1]
        choices[1] = (name, f"{text} Needs --continue-with-caution and --notes that say why.")
    if halt.resolution is None:
        choices.insert(
            1,
            (
                str(Resolution.ESCALATED),
                "Somebody else decides: the session is paused until a human settles it.",
            ),
        )
    return choices


def _remembered(halt: Halt) -> str:
    """Return what a settlement is remembered for, as `haltline.lifecycle` makes the waiver."""
    if halt.condition_name is None or halt.evidence_digest is None:
        return "Nothing is remembered: the same again halts again."
    if halt.condition_name == "three_strikes":
        return "The count of failures starts again."
    minutes = int(CRITICAL_WAIVER_LIFETIME.total_seconds() // 60)
    once = "The same finding passes once" if halt.single_use else "The same finding does not halt it again"
    return f"{once}, within {minutes} minutes." if halt.severity is Severity.CRITICAL else f"{once}."
