"""`haltline show`: one halt, whole, for the person who has to decide."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from haltline.conditions.catalogue import CATALOGUE
from haltline.faces.caller import Need
from haltline.faces.cli.consequences import consequences
from haltline.faces.cli.failing import EXIT_CODES
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output, moment
from haltline.records import AuditEntry, Halt, HaltQuery
from haltline.service import Guardrail
from haltline.service.context import SESSION_ID_PREFIX
from haltline.service.translation import event_of

_HELP = f"""\
Show one halt whole: the action, what was found, its history, and what each way of settling it does.

\b
Example:
  haltline show 0197a3c2-5f10-7cc2-8d55-0f6a7b1c2d3e

{EXIT_CODES}"""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A halt, what happened to it, and how many others of its session are open."""

    halt: Halt
    history: tuple[AuditEntry, ...]
    others: int


@click.command("show", help=_HELP)
@click.argument("halt_id", metavar="HALT")
@common
@click.pass_obj
def command(options: Options, halt_id: str) -> None:
    """Show a halt."""

    async def look(guardrail: Guardrail) -> _Seen:
        halt = await guardrail.find_halt(halt_id)
        page = await guardrail.list_halts(HaltQuery(session_id=halt.session_id, open_only=True, limit=1))
        history = [entry async for entry in guardrail.audit_entries() if entry.subject == halt.id]
        return _Seen(halt, tuple(history), page.total_count - halt.is_open)

    seen = run(options, Need.READER, look)
    output = Output(options)
    if output.is_json:
        output.json(_as_json(seen))
    else:
        _print(output, seen)


def _as_json(seen: _Seen) -> dict[str, Any]:
    halt = seen.halt
    return {
        **event_of(halt).model_dump(mode="json"),
        "open": halt.is_open,
        "action_digest": halt.action_digest,
        "evidence_digest": halt.evidence_digest,
        "auto_recorded": halt.auto_recorded,
        "auto_escalate": halt.auto_escalate,
        "history": [
            {"at": e.at, "actor": e.actor, "action": e.action, "payload": json.loads(e.payload)}
            for e in seen.history
        ],
        "resolutions": dict(consequences(halt)),
        "other_open_halts": seen.others,
    }


def _print(output: Output, seen: _Seen) -> None:
    halt = seen.halt
    output.line(f"Halt {halt.id}", "heading")
    output.fields(_facts(halt))
    _section(output, "What was found")
    output.block(halt.description)
    _advice(output, halt)
    _context(output, halt.context or {})
    if halt.previous_error:
        _section(output, "Previous error")
        output.block(halt.previous_error)
    _section(output, "History")
    output.table((), [("", entry.at, entry.actor, _event(entry)) for entry in seen.history])
    _decision(output, seen)


def _facts(halt: Halt) -> list[tuple[str, str]]:
    facts = [
        ("severity", str(halt.severity)),
        (
            "state",
            "open" if halt.is_open and halt.resolution is None else str(halt.resolution or "stops nothing"),
        ),
        ("condition", f"{halt.reported_name or 'none'} ({halt.halt_type})"),
        ("session", f"{SESSION_ID_PREFIX}{halt.session_id}"),
        ("task", halt.task_id or "none"),
        ("recorded", f"{moment(halt.triggered_at)}, {'by a check' if halt.auto_recorded else 'by hand'}"),
    ]
    if halt.attempt_count is not None:
        facts.append(("attempts", str(halt.attempt_count)))
    if halt.escalate_at is not None and halt.is_open and halt.resolution is None:
        facts.append(("escalates", moment(halt.escalate_at)))
    if halt.acknowledged:
        facts.append(
            ("settled", f"{halt.resolution} by {halt.acknowledged_by} at {moment(halt.acknowledged_at)}")
        )
    if halt.resolution_notes:
        facts.append(("notes", halt.resolution_notes))
    return facts


def _advice(output: Output, halt: Halt) -> None:
    condition = CATALOGUE.get(halt.condition_name or "")
    if condition is not None:
        output.line()
        output.line(f"  {condition.name} triggers when: {condition.summary}")
        output.line(f"  What to do: {condition.advice}")


def _context(output: Output, context: Mapping[str, Any]) -> None:
    action = {name: value for name, value in context.items() if name != "evidence"}
    for title, values in (("The action", action), ("Evidence", context.get("evidence") or {})):
        if values:
            _section(output, title)
            _values(output, values)


def _values(output: Output, values: Mapping[str, Any]) -> None:
    """Print every value whole, each line of it marked as its own."""
    for name, value in values.items():
        if value in (None, [], {}, ""):
            continue
        output.line(f"  {name}")
        for item in value if isinstance(value, list) else [value]:
            output.block(
                item if isinstance(item, str) else json.dumps(item, indent=2, ensure_ascii=False), indent=4
            )


def _event(entry: AuditEntry) -> str:
    payload = json.loads(entry.payload)
    if entry.action == "halt.acknowledged":
        notes = f": {payload['resolution_notes']}" if payload.get("resolution_notes") else ""
        return f"{entry.action} as {payload['resolution']}{notes}"
    return entry.action


def _decision(output: Output, seen: _Seen) -> None:
    choices = consequences(seen.halt)
    if not choices:
        output.line()
        output.line(
            "This halt stops nothing any more." if seen.halt.acknowledged else "This halt stops nothing."
        )
        return
    _section(output, "What you can decide")
    output.table((), [("", name, text) for name, text in choices])
    if seen.others:
        output.line(f"  {seen.others} more open in this session; it resumes when all are settled.")
    output.next(f'haltline ack {seen.halt.id} --resolution resolved --notes "what the agent should know"')


def _section(output: Output, title: str) -> None:
    output.line()
    output.line(title, "heading")
