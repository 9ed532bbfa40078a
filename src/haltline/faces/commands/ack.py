"""`haltline ack`: a person settles a halt."""

from __future__ import annotations

import click

from haltline.domain import SessionState
from haltline.faces.caller import Need
from haltline.faces.cli.failing import EXIT_CODES
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output
from haltline.service import Guardrail
from haltline.service.context import SESSION_ID_PREFIX
from haltline.wire import AcknowledgeHaltOutput

_HELP = f"""\
Settle a halt, as a person.

A person is somebody at a terminal, or the owner of the key in HALTLINE_KEY. An agent cannot settle its own
halts. Read the halt first: `haltline show HALT` says what each resolution does. The notes are handed to the
agent, once, with its next check.

\b
Examples:
  haltline ack HALT --resolution resolved --notes "I read the file; keep the cookie's name"
  haltline ack HALT --resolution dismissed --continue-with-caution --notes "A throwaway database"
  haltline ack HALT --resolution escalated --notes "Ask the team that owns it"

{EXIT_CODES}"""


@click.command("ack", help=_HELP)
@click.argument("halt_id", metavar="HALT")
@click.option(
    "--resolution",
    required=True,
    type=click.Choice(["resolved", "escalated", "dismissed"]),
    help="resolved: solved, go on. escalated: somebody else decides. dismissed: go on, the risk is taken.",
)
@click.option("--notes", help="Why, and what the agent should know.")
@click.option(
    "--continue-with-caution", is_flag=True, help="Take the risk: needed to dismiss a critical halt."
)
@common
@click.pass_obj
def command(
    options: Options, halt_id: str, resolution: str, notes: str | None, continue_with_caution: bool
) -> None:
    """Settle a halt."""

    async def settle(guardrail: Guardrail) -> AcknowledgeHaltOutput:
        halt = await guardrail.find_halt(halt_id)
        return await guardrail.acknowledge_halt(
            session_token=f"{SESSION_ID_PREFIX}{halt.session_id}",
            halt_id=halt.id,
            resolution=resolution,
            resolution_notes=notes,
            continue_with_caution=continue_with_caution,
        )

    settled = run(options, Need.PERSON, settle)
    output = Output(options)
    if output.is_json:
        output.json(settled.model_dump(mode="json"))
        return
    output.line(f"Halt {settled.halt_id} is {resolution}; the session is {settled.session_state}.")
    for warning in settled.warnings or ():
        output.line(f"Warning: {warning}")
    output.next(_next(settled, has_notes=bool(notes)))


def _next(settled: AcknowledgeHaltOutput, *, has_notes: bool) -> str:
    if settled.session_can_resume:
        return f"tell the agent to go on{'; it gets your notes with its next check' if has_notes else ''}"
    if settled.session_state == SessionState.CLOSED:
        return "nothing; the session is closed"
    return "haltline halts"
