"""`haltline halts`: what waits for a person."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from haltline.domain import HaltType, Severity, parse_utc
from haltline.faces.caller import Need
from haltline.faces.cli.failing import EXIT_CODES
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output, age
from haltline.records import HaltQuery
from haltline.service import Guardrail
from haltline.service.context import SESSION_ID_PREFIX
from haltline.service.translation import event_of
from haltline.wire import GetSessionHaltsOutput, HaltEvent

_HELP = f"""\
List the halts that wait for a person, of all sessions, the newest first.

With --session and a token or a name it is what an agent may read: the halts of its own session, as
guardrail_get_session_halts answers. `--session id:SESSION_ID` names a session as `haltline sessions` lists
it.

\b
Examples:
  haltline halts
  haltline halts --severity critical --json
  haltline halts --session id:0197a3c2-5f10-7cc2-8d55-0f6a7b1c2d3e --all

{EXIT_CODES}"""


@click.command("halts", help=_HELP)
@click.option("--session", metavar="SESSION", help="Of one session only.")
@click.option(
    "--type", "halt_type", type=click.Choice([str(item) for item in HaltType]), help="Of one type only."
)
@click.option("--severity", type=click.Choice([str(item) for item in Severity]), help="Of one severity only.")
@click.option("--all", "everything", is_flag=True, help="Settled halts and failed attempts as well.")
@click.option(
    "--limit", type=click.IntRange(1, 1_000), default=50, show_default=True, help="At most so many."
)
@click.option(
    "--offset", type=click.IntRange(0, 1_000_000_000), default=0, help="Leave out the first so many."
)
@common
@click.pass_obj
def command(
    options: Options,
    session: str | None,
    halt_type: str | None,
    severity: str | None,
    everything: bool,
    limit: int,
    offset: int,
) -> None:
    """List halts."""

    async def of_agent(guardrail: Guardrail) -> GetSessionHaltsOutput:
        return await guardrail.get_session_halts(
            session_token=session,
            include_acknowledged=everything,
            halt_type=halt_type,
            severity=severity,
            limit=limit,
            offset=offset,
        )

    async def of_people(guardrail: Guardrail) -> GetSessionHaltsOutput:
        page = await guardrail.list_halts(
            HaltQuery(
                session_id=session.removeprefix(SESSION_ID_PREFIX) if session else None,
                halt_type=HaltType(halt_type) if halt_type else None,
                severity=Severity(severity) if severity else None,
                include_acknowledged=everything,
                open_only=not everything,
                limit=limit,
                offset=offset,
            )
        )
        return GetSessionHaltsOutput(
            total_count=page.total_count,
            halts=[event_of(halt) for halt in page.halts],
            unacknowledged_count=page.unacknowledged_count,
        )

    if session is None or session.startswith(SESSION_ID_PREFIX):
        found = run(options, Need.READER, of_people)
    else:
        found = run(options, Need.AGENT, of_agent)
    _print(Output(options), found, offset)


def _print(output: Output, found: GetSessionHaltsOutput, offset: int) -> None:
    if output.is_json:
        output.json(found.model_dump(mode="json"))
        return
    if not found.halts:
        output.line("No halts.")
        return
    now = datetime.now(UTC)
    output.table(
        ("HALT", "SEVERITY", "STATE", "AGE", "CONDITION"),
        [
            (
                halt.halt_id,
                halt.severity,
                state_of(halt),
                age(parse_utc(halt.triggered_at), now),
                halt.condition_name or f"({halt.halt_type})",
            )
            for halt in found.halts
        ],
        styled=1,
        details=[[halt.description, f"session {SESSION_ID_PREFIX}{halt.session_id}"] for halt in found.halts],
    )
    shown = offset + len(found.halts)
    if shown < found.total_count:
        output.line(f"{shown - offset} of {found.total_count}; --offset {shown} shows more.")
    output.next("haltline show HALT")


def state_of(halt: HaltEvent) -> str:
    """Return where a halt stands, in one word."""
    if halt.severity == Severity.LOW:
        return "attempt"
    return halt.resolution or "open"
