"""Change a row of the configuration (specification, guardrail_update_halt_config)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from haltline.conditions.catalogue import CATALOGUE, default_config
from haltline.conditions.configuration import parse_row, parse_threshold
from haltline.domain import Principal, canonical_json
from haltline.errors import InvalidInput, NotFound
from haltline.records import AuditEvent, Changes, ConditionRow
from haltline.service.context import ServiceContext
from haltline.service.translation import stored_values_of
from haltline.wire import UpdateHaltConfigInput, UpdateHaltConfigOutput


async def update(
    context: ServiceContext, principal: Principal, request: UpdateHaltConfigInput
) -> UpdateHaltConfigOutput:
    """Change what the request names and leave the rest; the change is in the audit log.

    Raises:
        NotFound: there is no such condition.
        InvalidInput: nothing is to be changed, or a value does not fit the condition.
        StoreError: the database failed.
    """
    condition = CATALOGUE.get(request.condition_name)
    if condition is None:
        raise NotFound(
            f"condition_name: no condition {request.condition_name}; known are {', '.join(CATALOGUE)}"
        )
    wanted = request.model_dump(exclude_none=True, exclude={"condition_name"})
    if not wanted:
        raise InvalidInput(
            "nothing to change: name at least one of enabled, severity, threshold, auto_escalate"
        )
    if "threshold" in wanted:
        wanted["threshold"] = canonical_json(parse_threshold(condition, wanted["threshold"]))

    def transition(row: ConditionRow | None, now: datetime) -> Changes:
        current = row or _default_row(context.new_id(), request.condition_name, now)
        changed = replace(_repaired(current, now), **wanted, updated_at=now)
        parse_row(changed)
        payload = {"before": stored_values_of(current), "after": stored_values_of(changed)}
        event = AuditEvent(str(principal), "config.updated", request.condition_name, None, payload)
        return Changes(condition=changed, audit=(event,))

    try:
        with context.operation_deadline():
            await context.start()
            changes = await context.store.change_condition(request.condition_name, transition)
    finally:  # also when no answer came in time: the change may have been made
        context.configuration.forget()
    payload = changes.audit[0].payload
    return UpdateHaltConfigOutput(
        updated=True, previous_values=_readable(payload["before"]), current_values=_readable(payload["after"])
    )


def _repaired(row: ConditionRow, now: datetime) -> ConditionRow:
    """Return a row with sense in what no request can change."""
    created_at: Any = row.created_at
    return replace(
        row,
        halt_type=CATALOGUE[row.condition_name].halt_type,
        created_at=created_at if isinstance(created_at, datetime) else now,
    )


def _readable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored values with the threshold as an object where it is one."""
    text = values["threshold"]
    try:
        threshold = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        threshold = text
    return {**values, "threshold": threshold}


def _default_row(row_id: str, condition_name: str, now: datetime) -> ConditionRow:
    """Return the row of a condition whose stored row is missing."""
    config = default_config(CATALOGUE[condition_name])
    return ConditionRow(
        id=row_id,
        condition_name=condition_name,
        halt_type=config.halt_type,
        enabled=config.enabled,
        severity=config.severity,
        threshold=canonical_json(dict(config.threshold)),
        auto_escalate=config.auto_escalate,
        escalate_after_minutes=config.escalate_after_minutes,
        created_at=now,
        updated_at=now,
    )
