"""What the command line answers when something fails. Only the standard library: this must always work."""

from __future__ import annotations

from typing import Any, Final

OK: Final = 0
FAILED: Final = 1
HALT: Final = 2
ASK: Final = 3
NOT_PERMITTED: Final = 4
USAGE: Final = 64

EXIT_CODES: Final = """\
Exit codes: 0 done (for check: proceed), 1 the operation failed, 2 halt, 3 ask, 4 not permitted, 64 wrong
usage.
"""


class UsageFault(Exception):
    """The command line itself is wrong: an unknown command or option, or a value of the wrong type."""


class CommandFailed(Exception):
    """A command could not do what it was asked, for a reason that is none of the service's errors."""


def refusal(reason_code: str, problem: str) -> dict[str, Any]:
    """Return the answer of a check that failed before the service was there, in the shape of its answers.

    Args:
        reason_code: one of `haltline.domain.ReasonCode`.
        problem: what went wrong, already redacted.
    """
    return {
        "should_halt": True,
        "halt_reasons": [
            {
                "halt_type": "execution",
                "condition_name": "check_failed",
                "severity": "critical",
                "description": f"Halt check failed: {problem}",
                "auto_recorded": False,
                "halt_id": None,
            }
        ],
        "highest_severity": "critical",
        "recommended_action": "HALT. The check could not be made: nothing can be allowed. Do not act.",
        "context_annotations": None,
        "verdict": "halt",
        "reason_code": reason_code,
        "guidance": [],
        "session_state": None,
        "waived": [],
        "event_stored": "nowhere",
    }
