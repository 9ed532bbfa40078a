"""Every error that Haltline raises on purpose.

    HaltlineError
    ├── InvalidInput            a request or a value does not have the stated form
    │   └── ConfigurationError  a configuration file, row or rule does not hold
    ├── NotPermitted            the principal may not do this
    ├── NotFound                no such session, halt, condition or key
    ├── Conflict                the thing is not in the state that the request assumes
    │   └── AlreadySettled      somebody else settled the halt first; says who and when
    ├── StoreError              the database failed
    │   ├── StoreUnavailable    it did not answer, or not in time
    │   ├── StoreCorrupt        what it holds cannot be what Haltline wrote
    │   └── ImmutableRecord     it refused to change a record that must not change
    └── Halted                  `enforce_halt_conditions` says stop; carries the check's result

Each message says what was expected, what came, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime


class HaltlineError(Exception):
    """Base of everything that Haltline raises on purpose."""


class InvalidInput(HaltlineError):
    """A request or value does not have the stated form.

    Attributes:
        problems: one sentence for each field that is wrong, beginning with the field's name.
    """

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems or (message,)


class ConfigurationError(InvalidInput):
    """A configuration file, a configuration row or a rule does not hold."""


class NotPermitted(HaltlineError):
    """The principal may not do this; the message names who may."""


class NotFound(HaltlineError):
    """There is no such session, halt, condition or key."""


class Conflict(HaltlineError):
    """The thing is not in the state that the request assumes."""


class AlreadySettled(Conflict):
    """Somebody settled this halt before.

    Attributes:
        halt_id: the halt.
        settled_by: the principal who won.
        settled_at: when, in UTC.
        resolution: how.
    """

    def __init__(self, halt_id: str, settled_by: str, settled_at: datetime, resolution: str) -> None:
        super().__init__(
            f"Halt {halt_id} was already settled as {resolution} by {settled_by} at "
            f"{settled_at.isoformat()}. "
            "A halt is acknowledged once; read it with get_session_halts before deciding again."
        )
        self.halt_id = halt_id
        self.settled_by = settled_by
        self.settled_at = settled_at
        self.resolution = resolution


class StoreError(HaltlineError):
    """The database failed."""


class StoreUnavailable(StoreError):
    """The database could not be reached, or did not answer in time."""


class StoreCorrupt(StoreError):
    """What the database holds cannot be what Haltline wrote."""


class ImmutableRecord(StoreError):
    """The database refused to change a record that must not change."""


class Halted(HaltlineError):
    """The session is halted: do not act.

    Attributes:
        result: the whole output of the check.
    """

    def __init__(self, result: Any) -> None:
        reasons = "; ".join(reason.description for reason in result.halt_reasons)
        super().__init__(f"{result.recommended_action} ({reasons})")
        self.result = result


class Interrupted(BaseException):
    """Raised inside a computation that nobody waits for any more; only what runs computations catches it."""


_MOST_TEXT = 16_000


def text_of(error: BaseException) -> str:
    """Return an exception's type and text, as text that every database stores, even when it has none.

    What is longer than 16,000 characters is cut.
    """
    try:
        text = str(error)[:_MOST_TEXT]
    except BaseException:  # noqa: BLE001 - its own class may raise anything here, and must not decide anything
        text = "its text cannot be had"
    plain = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return f"{type(error).__name__}: {plain}"
