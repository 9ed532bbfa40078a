"""Settle a halt (specification, guardrail_acknowledge_halt; DESIGN §6)."""

from __future__ import annotations

import re

from haltline import lifecycle
from haltline.domain import Principal, PrincipalKind, Resolution, SessionState, utc_text
from haltline.errors import NotFound, NotPermitted
from haltline.records import Halt
from haltline.secrets import redact
from haltline.service.context import ServiceContext
from haltline.wire import AcknowledgeHaltInput, AcknowledgeHaltOutput

_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def plain_id(halt_id: object) -> str | None:
    """Return a halt's id when it may be shown as it came, else None.

    The id comes from an agent and stands in a command that a person copies into a terminal: nothing that a
    shell or a terminal would act on, and no secret, gets there.
    """
    if isinstance(halt_id, str) and _PLAIN_ID.fullmatch(halt_id) and redact(halt_id) == halt_id:
        return halt_id
    return None


def settling_command(halt_id: object) -> str:
    """Return the command with which a person settles a halt."""
    return f"haltline ack {plain_id(halt_id) or 'HALT_ID'} --resolution resolved"


async def acknowledge(
    context: ServiceContext, principal: Principal, request: AcknowledgeHaltInput
) -> AcknowledgeHaltOutput:
    """Settle a halt as the principal; see `Guardrail.acknowledge_halt` for the errors."""
    _require_own_name(principal, request.acknowledged_by)
    resolution = Resolution(request.resolution)
    lookup = context.lookup(request.session_token, principal, halt_id=request.halt_id)
    transition = lifecycle.acknowledge(
        request.halt_id,
        resolution,
        principal,
        notes=request.resolution_notes,
        continue_with_caution=bool(request.continue_with_caution),
        new_id=context.new_id,
    )
    with context.operation_deadline():
        await context.start()
        if principal.kind is PrincipalKind.AGENT:
            await _require_agents_right(context, principal, request.halt_id)
        changes = await context.store.change(lookup, transition)
    halt = changes.settled_halts[0]
    state = changes.session.state if changes.session else None
    return AcknowledgeHaltOutput(
        confirmed=True,
        halt_id=halt.id,
        acknowledged_at=utc_text(halt.acknowledged_at or halt.updated_at),
        session_can_resume=state is SessionState.ACTIVE,
        warnings=_warnings(halt, state),
        session_state=state,
    )


def _require_own_name(principal: Principal, named: str | None) -> None:
    if named is not None and named not in {principal.name, str(principal)}:
        raise NotPermitted(
            f"acknowledged_by comes from the credential, which is {principal}; the request names another. "
            "Leave the field out, or call with that person's credential."
        )


async def _require_agents_right(context: ServiceContext, principal: Principal, halt_id: str) -> None:
    """Refuse an agent unless somebody gave agents the right to settle halts of this severity."""
    granted = context.settings.agents_may_settle
    halt = await context.store.find_halt(halt_id) if granted else None
    if halt is not None and halt.severity in granted:
        return
    if granted and halt is None:
        raise NotFound(f"there is no halt {halt_id}")
    raise NotPermitted(
        f"{principal} may not settle halts. A person does, with `{settling_command(halt_id)}` in a terminal. "
        "Wait; do not try another way."
    )


def _warnings(halt: Halt, state: SessionState | None) -> list[str] | None:
    warnings = []
    if halt.resolution is Resolution.DISMISSED:
        warnings.append(f"Dismissed, not resolved: the risk stands ({halt.description})")
    if state is SessionState.HALTED:
        warnings.append("Other halts of this session are still open.")
    if state is SessionState.PAUSED:
        warnings.append("The session is paused until a human settles what was escalated.")
    return warnings or None
