"""`haltline sessions`: list, open and close sessions."""

from __future__ import annotations

from typing import Any

import click

from haltline.domain import SessionState, utc_text
from haltline.faces.caller import Need
from haltline.faces.cli.default_group import ListingGroup
from haltline.faces.cli.failing import EXIT_CODES
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output, moment, note
from haltline.records import Session
from haltline.service import Guardrail
from haltline.service.context import SESSION_ID_PREFIX
from haltline.wire import OpenSessionOutput

_HELP = f"""\
List, open and close sessions. Without a word more, list them.

\b
Examples:
  haltline sessions --state halted --state paused
  export HALTLINE_SESSION=$(haltline sessions open --agent codex)
  haltline sessions close id:0197a3c2-5f10-7cc2-8d55-0f6a7b1c2d3e

{EXIT_CODES}"""


@click.group("sessions", cls=ListingGroup, help=_HELP)
def command() -> None:
    """List, open and close sessions."""


@command.command("list")
@click.option(
    "--state", "states", multiple=True, type=click.Choice([str(s) for s in SessionState]), help="Repeatable."
)
@click.option(
    "--limit", type=click.IntRange(1, 1_000), default=50, show_default=True, help="At most so many."
)
@click.option(
    "--offset", type=click.IntRange(0, 1_000_000_000), default=0, help="Leave out the first so many."
)
@common
@click.pass_obj
def list_command(options: Options, states: tuple[str, ...], limit: int, offset: int) -> None:
    """List sessions, the newest first."""
    wanted = frozenset(SessionState(state) for state in states) or frozenset(SessionState)

    async def look(guardrail: Guardrail) -> tuple[tuple[Session, ...], int]:
        return await guardrail.list_sessions(wanted, limit, offset)

    sessions, total = run(options, Need.READER, look)
    output = Output(options)
    if output.is_json:
        output.json({"total_count": total, "sessions": [_as_json(session) for session in sessions]})
        return
    if not sessions:
        output.line("No sessions.")
        return
    output.table(
        ("SESSION", "STATE", "OPENED", "AGENT", "NAME"),
        [
            (f"{SESSION_ID_PREFIX}{s.id}", str(s.state), moment(s.created_at), s.agent_name, s.name or "-")
            for s in sessions
        ],
        styled=1,
    )
    if offset + len(sessions) < total:
        output.line(f"{len(sessions)} of {total}; --offset {offset + len(sessions)} shows more.")
    output.next("haltline halts --session SESSION")


@command.command("open")
@click.option("--agent", required=True, help="Which agent runs in it.")
@common
@click.pass_obj
def open_command(options: Options, agent: str) -> None:
    """Open a session and print its token, which is shown once and stored as a hash.

    Standard output has the token and nothing else.
    """

    async def opened(guardrail: Guardrail) -> OpenSessionOutput:
        return await guardrail.open_session(agent)

    session = run(options, Need.ANYBODY, opened)
    output = Output(options)
    if output.is_json:
        output.json(session.model_dump(mode="json"))
        return
    output.line(session.session_token)
    note(f"Opened {SESSION_ID_PREFIX}{session.session_id}. The token is not shown again.")
    note("Next: export HALTLINE_SESSION=TOKEN where the agent runs.")


@command.command("close")
@click.argument("session", metavar="SESSION")
@common
@click.pass_obj
def close_command(options: Options, session: str) -> None:
    """Close a session for good.

    SESSION is its token or name, or id:SESSION_ID for a person. An agent can close its own session while
    nothing is open in it.
    """
    by_id = session.startswith(SESSION_ID_PREFIX)

    async def close(guardrail: Guardrail) -> None:
        await guardrail.close_session(session)

    run(options, Need.PERSON if by_id else Need.ANYBODY, close)
    output = Output(options)
    if output.is_json:
        output.json({"closed": True})
        return
    output.line("The session is closed.")


def _as_json(session: Session) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "name": session.name,
        "agent_name": session.agent_name,
        "state": session.state,
        "created_at": utc_text(session.created_at),
        "updated_at": utc_text(session.updated_at),
        "closed_at": utc_text(session.closed_at) if session.closed_at else None,
    }
