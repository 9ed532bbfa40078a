"""`haltline record`: stop a session now, by hand or from another guardrail."""

from __future__ import annotations

from typing import Any

import click

from haltline.domain import HaltType, Severity
from haltline.errors import InvalidInput
from haltline.faces.caller import Need
from haltline.faces.cli.failing import EXIT_CODES
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output
from haltline.faces.cli.request import given, merged, parse_object, read_stdin, session_option, with_session
from haltline.service import Guardrail
from haltline.wire import RecordHaltOutput

_HELP = f"""\
Stop a session now, by hand or from another guardrail.

Without --description the request is read from standard input: a JSON object, as guardrail_record_halt takes
it; flags add to it. A halt of any severity but low stops the session until a person settles it. Where the
database cannot take it, it waits in the spool.

\b
Example:
  haltline record --session s1 --type security --severity high --description "The diff adds a public bucket"

{EXIT_CODES}"""


@click.command("record", help=_HELP)
@session_option
@click.option("--task", help="The task it belongs to.")
@click.option(
    "--type", "halt_type", type=click.Choice([str(item) for item in HaltType]), help="Its category."
)
@click.option("--severity", type=click.Choice([str(item) for item in Severity]), help="How serious it is.")
@click.option("--condition", help="The condition that triggered, if it is one.")
@click.option("--description", help="Why the session has to stop.")
@click.option("--file", "files", multiple=True, help="A file that it is about. Repeatable.")
@click.option("--command", "commands", multiple=True, help="A command that it is about. Repeatable.")
@click.option("--error", "errors", multiple=True, help="An error message. Repeatable.")
@click.option("--uncertainty", type=float, help="How unsure the agent is, 0 to 10.")
@click.option("--attempt", type=int, help="Which attempt at the task this is.")
@click.option("--previous-error", help="The error of the attempt before.")
@click.option("--auto-escalate", is_flag=True, default=None, help="Escalate at once.")
@common
@click.pass_obj
def command(options: Options, /, **flags: Any) -> None:
    """Record a halt."""
    request = _request(flags)

    async def record(guardrail: Guardrail) -> RecordHaltOutput:
        return await guardrail.record_halt(request)

    recorded = run(options, Need.AGENT, record)
    output = Output(options)
    if output.is_json:
        output.json(recorded.model_dump(mode="json"))
        return
    where = "" if recorded.event_stored == "database" else " (in the spool: the database did not answer)"
    output.line(f"Recorded halt {recorded.halt_id}{where}")
    if recorded.requires_acknowledgment:
        output.next(f"stop and wait; a person settles it with `haltline ack {recorded.halt_id}`")


def _request(flags: dict[str, Any]) -> dict[str, Any]:
    context = given(
        file_paths=flags["files"],
        commands=flags["commands"],
        error_messages=flags["errors"],
        uncertainty_score=flags["uncertainty"],
        attempt_number=flags["attempt"],
    )
    fields = given(
        session_token=flags["session"],
        task_id=flags["task"],
        halt_type=flags["halt_type"],
        severity=flags["severity"],
        condition_name=flags["condition"],
        description=flags["description"],
        context=context,
        attempt_count=flags["attempt"],
        previous_error=flags["previous_error"],
        auto_escalate=flags["auto_escalate"],
    )
    if flags["description"] is not None:
        return with_session(fields)
    try:
        return with_session(merged(parse_object(read_stdin()), fields))
    except InvalidInput as error:
        raise InvalidInput(f"{error}; nothing was recorded") from None
