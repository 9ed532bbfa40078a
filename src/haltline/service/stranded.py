"""Answer a check where no event loop does: it is stuck, stopped, or in another process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any

from haltline import lifecycle
from haltline.domain import Principal, ReasonCode, utc_text
from haltline.errors import text_of
from haltline.secrets import redact
from haltline.service import spooling
from haltline.service.answers import failure, unanswered
from haltline.service.checking import named
from haltline.service.context import ServiceContext, Stored
from haltline.wire import MAX_DESCRIPTION, CheckHaltConditionsOutput

logger = logging.getLogger(__name__)


def answer_stranded(
    context: ServiceContext,
    principal: Principal,
    reason: ReasonCode,
    problem: str,
    request: Any,
    fields: Mapping[str, Any],
    seconds: float,
) -> CheckHaltConditionsOutput:
    """Answer with a critical halt, and write the event to the spool if that succeeds within a time."""
    try:
        token, task_id = named(request, fields, "session_token"), named(request, fields, "task_id")
        description = redact(f"Halt check failed: {problem}")[:MAX_DESCRIPTION]
        halt = lifecycle.failed_check_halt(context.new_id(), reason, description, task_id=redact(task_id))
        token_hash = context.token_hash(token) if token else None
        opens = context.named(token, principal)
        event = spooling.event_of((halt,), token_hash, opens, utc_text(context.clock()))
        stored = _spooled(context, event, seconds)
        return failure(halt, reason, None, stored, halt.id)
    except Exception as error:  # noqa: BLE001 - the last resort: even the failure could not be reported
        logger.critical("halt could not be stored anywhere: %s", redact(text_of(error)))
        return unanswered(reason, redact(problem))


def _spooled(context: ServiceContext, event: Mapping[str, Any], seconds: float) -> Stored:
    """Write to the spool in a thread of its own: those of the spool may be stuck, or gone after a fork."""
    done = threading.Event()

    def append() -> None:
        try:
            context.spool.append(event)
        except OSError as error:
            logger.warning("the spool did not take a halt: %s", error)
        else:
            done.set()

    threading.Thread(target=append, name="haltline-stranded", daemon=True).start()
    if done.wait(seconds):
        return "spool"
    logger.critical("halt could not be stored anywhere: %s", event)
    context.unstored.append(event)
    return "nowhere"
