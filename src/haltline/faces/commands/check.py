"""`haltline check`: ask before an action. Whatever goes wrong is a halt."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import click

from haltline.blocking import Guardrail
from haltline.domain import Decision, ReasonCode
from haltline.errors import ConfigurationError, InvalidInput
from haltline.faces.cli.failing import refusal
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output
from haltline.faces.cli.request import given, merged, parse_object, read_stdin, session_option, with_session
from haltline.faces.cli.settings_file import settings_of
from haltline.secrets import redact

_HELP = """\
Ask before an action: proceed, ask, or halt.

Without --operation the request is read from standard input: a JSON object, as guardrail_check_halt_conditions
takes it; flags add to it. With --operation the flags are the whole request and standard input is not read.

Every failure is a halt: a malformed request, a database that does not answer, an unreadable setting, a
crash. So is wrong usage of this command. Act only when it exits with 0.

\b
Examples:
  haltline check --session s1 --operation "run the tests" --command "pytest -q"
  haltline check --session s1 --operation "fix the login" --file src/auth.py --read src/auth.py
  haltline check --json < request.json

\b
Exit codes: 0 proceed (also: with caution), 3 ask a person first, 2 halt, whatever the reason.
"""


@click.command("check", help=_HELP)
@session_option
@click.option("--task", help="The task it belongs to; strikes are counted by task.")
@click.option("--operation", help="What is about to be done, in words.")
@click.option("--command", "commands", multiple=True, help="A command that would run. Repeatable.")
@click.option("--file", "files", multiple=True, help="A file that would be modified. Repeatable.")
@click.option("--read", "reads", multiple=True, help="A file that was read. Repeatable.")
@click.option("--environment", help="Where it happens: dev, test, prod.")
@click.option("--attempt", type=int, help="Which attempt at the task this is.")
@click.option("--error", "errors", multiple=True, help="An earlier error. Repeatable, the oldest first.")
@click.option("--uncertainty", type=float, help="How unsure the agent is, 0 to 10.")
@click.option("--scope", help="What the action has to stay within.")
@click.option("--instruction", "instructions", multiple=True, help="What the user asked for. Repeatable.")
@click.option("--output", "outputs", multiple=True, help="Text that would be shown or sent. Repeatable.")
@click.option("--credential", "credentials", multiple=True, help="Name of a credential in use. Repeatable.")
@click.option("--modify", multiple=True, help="A file of the proposed changes. Repeatable.")
@click.option(
    "--tests/--no-tests", default=None, help="Whether tests cover the proposed changes (default: no)."
)
@click.option("--tests-pass/--tests-fail", default=None, help="Whether the tests pass; unknown by default.")
@click.option(
    "--rollback-plan/--no-rollback-plan", default=None, help="Whether they can be taken back (default: no)."
)
@click.option(
    "--workspace",
    metavar="DIR",
    help="Where relative paths start. With it, a file that does not exist yet needs no reading.",
)
@common
@click.pass_obj
def command(options: Options, /, session: str | None, workspace: str | None, **flags: Any) -> Decision:
    """Check, print the answer, and return the verdict."""
    request, problem = _request(session, flags)
    with contextlib.ExitStack() as at_end:
        answer = _answer(options, workspace, request, problem, at_end)
        output = Output(options)
        _print(output, answer)
        output.flush()
        return Decision(answer["verdict"])


def _request(session: str | None, flags: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return the request, or as much of it as could be read and what is wrong with it."""
    fields = given(session_token=session, **_fields(flags))
    if flags["operation"] is not None:
        changes = fields.get("proposed_changes")
        if changes is not None:
            # What nobody says about the changes is not assumed in their favour.
            unsaid = {"files_to_modify": [], "has_tests": False, "has_rollback_plan": False}
            fields["proposed_changes"] = {**unsaid, **changes}
        return with_session(fields), None
    try:
        return with_session(merged(parse_object(read_stdin()), fields)), None
    except InvalidInput as error:
        return with_session(fields), str(error)


def _fields(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags as the fields that they are short for."""
    context = given(
        operation=flags["operation"],
        target_files=flags["files"],
        files_read=flags["reads"],
        attempt_number=flags["attempt"],
        previous_errors=flags["errors"],
        uncertainty_score=flags["uncertainty"],
        environment=flags["environment"],
        commands=flags["commands"],
        scope_boundary=flags["scope"],
        user_instructions=flags["instructions"],
        outputs=flags["outputs"],
        credentials=flags["credentials"],
    )
    changes = given(
        files_to_modify=flags["modify"],
        has_tests=flags["tests"],
        has_rollback_plan=flags["rollback_plan"],
        tests_pass=flags["tests_pass"],
    )
    return given(task_id=flags["task"], current_context=context, proposed_changes=changes)


def _answer(
    options: Options,
    workspace: str | None,
    request: dict[str, Any],
    problem: str | None,
    at_end: contextlib.ExitStack,
) -> dict[str, Any]:
    """Return the service's answer, also to what could not be asked; a refusal where there is no service."""
    reason = ReasonCode.BAD_REQUEST
    try:
        guardrail, unusable = _opened(options, workspace)
    except InvalidInput as error:
        return refusal(ReasonCode.DATABASE_UNAVAILABLE.value, redact(str(error)))
    if unusable is not None:
        reason, problem = ReasonCode.CONFIGURATION_UNREADABLE, unusable
    at_end.callback(_let_go, guardrail)
    guardrail.prepare()
    answer = (
        guardrail.check_halt_conditions(request)
        if problem is None
        else guardrail.refuse_check(reason, problem, request.get("session_token"))
    )
    return answer.model_dump(mode="json")


def _opened(options: Options, workspace: str | None) -> tuple[Guardrail, str | None]:
    """Return a guardrail, and what is wrong with the settings or the rules: then it can only record that."""
    try:
        return Guardrail.open(options.database, settings=settings_of(options), workspace=workspace), None
    except ConfigurationError as error:
        return Guardrail.open(options.database, workspace=workspace), str(error)


def _let_go(guardrail: Guardrail) -> None:
    """Close the database after the answer was given: a database that is stuck holds up no answer.

    Nothing that happens here, not even an interrupt, makes a second answer out of one.
    """
    with contextlib.suppress(BaseException):
        guardrail.close()


def _print(output: Output, answer: Mapping[str, Any]) -> None:
    if output.is_json:
        output.json(answer)
        return
    verdict = str(answer["verdict"])
    code = f"  ({answer['reason_code']})" if answer["reason_code"] else ""
    output.line(f"{verdict.upper()}{code}", verdict)
    reasons = answer["halt_reasons"]
    output.table(
        (),
        [(reason["severity"], reason["condition_name"]) for reason in reasons],
        styled=0,
        details=[_details(reason) for reason in reasons],
    )
    for guidance in answer["guidance"]:
        output.line(f"Guidance from {guidance['by']} ({guidance['resolution']}):", "heading")
        output.block(guidance["text"])
    if answer["waived"]:
        output.line(f"Settled before, so it does not halt this time: {', '.join(answer['waived'])}")
    output.next(answer["recommended_action"])
    halts = [reason["halt_id"] for reason in reasons if reason["halt_id"]]
    if answer["event_stored"] == "nowhere":
        output.line("This halt could not be stored anywhere. Tell a person.")
    elif halts:
        output.line(f"A person reads it with `haltline show {halts[0]}` and settles it with `haltline ack`.")


def _details(reason: Mapping[str, Any]) -> list[str]:
    description = [reason["description"]]
    return [*description, f"halt {reason['halt_id']}"] if reason["halt_id"] else description
