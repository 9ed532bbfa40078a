"""`haltline strikes`: failed attempts at tasks."""

from __future__ import annotations

import click

from haltline.domain import utc_text
from haltline.faces.caller import Need
from haltline.faces.cli.default_group import ListingGroup
from haltline.faces.cli.failing import EXIT_CODES, HALT, OK
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output, moment
from haltline.faces.cli.request import given, session_named, session_option
from haltline.records import Strikes
from haltline.service import Guardrail
from haltline.service.context import SESSION_ID_PREFIX
from haltline.wire import RecordAttemptOutput

_HELP = f"""\
List, record and reset failed attempts. Without a word more, list those of a session.

\b
Examples:
  haltline strikes --session s1
  haltline strikes record --session s1 --task fix-42 --error "TypeError: x is undefined"
  haltline strikes reset --session id:0197a3c2-5f10-7cc2-8d55-0f6a7b1c2d3e --task fix-42

{EXIT_CODES}"""


@click.group("strikes", cls=ListingGroup, help=_HELP)
def command() -> None:
    """List, record and reset failed attempts."""


@command.command("list")
@session_option
@common
@click.pass_obj
def list_command(options: Options, session: str | None) -> None:
    """List the failed attempts of a session, by task.

    SESSION is a token or a name, or id:SESSION_ID as `haltline sessions` lists it.
    """
    named = session_named(session)

    async def look(guardrail: Guardrail) -> tuple[Strikes, ...]:
        return await guardrail.list_strikes(named)

    by_id = named.startswith(SESSION_ID_PREFIX)
    strikes = run(options, Need.READER if by_id else Need.AGENT, look)
    output = Output(options)
    if output.is_json:
        output.json([_as_json(item) for item in strikes])
        return
    if not strikes:
        output.line("No failed attempts.")
        return
    output.table(
        ("TASK", "ATTEMPTS", "LAST", "RESET", "BY"),
        [
            (
                s.task_id or "(none)",
                str(s.attempts),
                moment(s.updated_at),
                moment(s.reset_at),
                s.reset_by or "-",
            )
            for s in strikes
        ],
    )
    output.next("haltline strikes reset --session SESSION --task TASK, when a person says try again")


@command.command("record")
@session_option
@click.option("--task", help="The task that failed.")
@click.option("--error", help="What went wrong.")
@click.option("--attempt", type=int, help="The agent's own count; it can only raise Haltline's.")
@common
@click.pass_obj
def record_command(
    options: Options, session: str | None, task: str | None, error: str | None, attempt: int | None
) -> int:
    """Count a failed attempt: retry, then try_alternative, then a halt (exit code 2)."""
    request = given(session_token=session_named(session), task_id=task, error=error, attempt_number=attempt)

    async def record(guardrail: Guardrail) -> RecordAttemptOutput:
        return await guardrail.record_attempt(request)

    recorded = run(options, Need.AGENT, record)
    output = Output(options)
    if output.is_json:
        output.json(recorded.model_dump(mode="json"))
    else:
        output.line(f"Failed attempts at this task: {recorded.attempt_count}")
        output.next(recorded.recommended_action)
        if recorded.halt_id:
            output.line(f"A person reads it with `haltline show {recorded.halt_id}`.")
    return HALT if recorded.should_halt else OK


@command.command("reset")
@session_option
@click.option("--task", help="The task; work without a task when there is none.")
@common
@click.pass_obj
def reset_command(options: Options, session: str | None, task: str | None) -> None:
    """Start a task's count again, because a person says try again. An open halt stays open."""
    named = session_named(session)

    async def reset(guardrail: Guardrail) -> None:
        await guardrail.reset_attempts(named, task)

    run(options, Need.PERSON, reset)
    output = Output(options)
    if output.is_json:
        output.json({"reset": True, "task_id": task})
        return
    output.line("The count starts again.")
    output.next("haltline halts, if the third strike halted the session")


def _as_json(strikes: Strikes) -> dict[str, object]:
    return {
        "task_id": strikes.task_id or None,
        "attempts": strikes.attempts,
        "updated_at": utc_text(strikes.updated_at),
        "reset_at": utc_text(strikes.reset_at) if strikes.reset_at else None,
        "reset_by": strikes.reset_by,
    }
