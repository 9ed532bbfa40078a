"""`haltline demo`: the main job, with real calls, on a temporary SQLite database."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from haltline.domain import Principal, PrincipalKind
from haltline.errors import NotPermitted
from haltline.faces.caller import user_name
from haltline.faces.cli.failing import EXIT_CODES, CommandFailed
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output
from haltline.records import HaltQuery
from haltline.service import Guardrail

_HELP = f"""\
Show the main job on a temporary SQLite database, with real calls.

An agent's check halts; the halt is in the database; the agent cannot settle it; a person does, with
guidance; the agent's next check proceeds and carries the guidance; three failures halt; the audit log is
verified. Your own database and settings are neither read nor changed, whatever --database and --config say.

{EXIT_CODES}"""

_SESSION = "demo"
_TASK = "fix-login"
_ERROR = "TypeError: Cannot read property 'x' of null"
_GUIDANCE = "I know src/auth.js. Keep the name of the session cookie; Git is the way back."
_ACTION: dict[str, Any] = {
    "session_token": _SESSION,
    "current_context": {
        "operation": "modify authentication logic",
        "target_files": ["src/auth.js"],
        "files_read": ["src/app.js"],
        "attempt_number": 1,
    },
    "proposed_changes": {"files_to_modify": ["src/auth.js"], "has_tests": False, "has_rollback_plan": False},
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what happens, whether it came out as it has to, what to show, and the service's answer."""

    title: str
    holds: bool
    lines: tuple[str, ...]
    answer: Any


@click.command("demo", help=_HELP)
@common
@click.pass_obj
def command(options: Options) -> None:
    """Run the demonstration."""
    output = Output(options)

    def show(number: int, step: Step) -> None:
        if not output.is_json:
            _print(output, number, step)

    with tempfile.TemporaryDirectory(prefix="haltline-demo-") as folder:
        steps = asyncio.run(_play(f"sqlite:///{Path(folder) / 'haltline.db'}", show))
    if output.is_json:
        output.json([{"title": step.title, "holds": step.holds, "answer": step.answer} for step in steps])
    failed = [step.title for step in steps if not step.holds]
    if failed:
        raise CommandFailed(f"the demonstration did not come out as it has to: {'; '.join(failed)}")
    if not output.is_json:
        output.next("haltline check --help; haltline doctor says where your own database is")


def _print(output: Output, number: int, step: Step) -> None:
    output.line(f"{number}. {step.title}", "heading")
    for line in step.lines:
        output.line(f"   {line}")
    if not step.holds:
        output.line("   This is not as it has to be.", "weak")
    output.line()


async def _play(url: str, show: Callable[[int, Step], None]) -> list[Step]:
    steps: list[Step] = []

    def done(step: Step) -> None:
        steps.append(step)
        show(len(steps), step)

    async with Guardrail.open(url) as agent:
        done(await _first_check(agent))
    async with Guardrail.open(url) as agent:  # anew: what is known from here on comes from the file
        play = _Play(agent, agent.acting_as(Principal(PrincipalKind.HUMAN, user_name())))
        for step in (play.database, play.agent_settles, play.person_settles, play.next_check):
            done(await step())
        for attempt in ("retry", "try_alternative", "HALT"):
            done(await play.failure(attempt))
        done(await play.audit())
    return steps


async def _first_check(agent: Guardrail) -> Step:
    answer = await agent.check_halt_conditions(_ACTION)
    reasons = tuple(f"{reason.severity}: {reason.description}" for reason in answer.halt_reasons)
    return Step(
        "An agent asks before it edits a file that it has not read",
        answer.should_halt and all(reason.auto_recorded for reason in answer.halt_reasons),
        (f"Verdict: {answer.verdict}", *reasons, f"The agent is told: {answer.recommended_action}"),
        answer.model_dump(mode="json"),
    )


@dataclass(slots=True)
class _Play:
    """The steps after the first check, in order: an agent and a person over one database."""

    agent: Guardrail
    person: Guardrail
    halt_ids: list[str] = field(default_factory=list)

    async def database(self) -> Step:
        page = await self.person.list_halts(HaltQuery(open_only=True))
        self.halt_ids = [halt.id for halt in page.halts]
        return Step(
            "The halts are in the database, and outlive the process",
            bool(page.halts),
            tuple(f"{halt.id}  {halt.severity}  {halt.condition_name}" for halt in page.halts),
            self.halt_ids,
        )

    async def agent_settles(self) -> Step:
        title = "The agent tries to settle its own halt"
        try:
            await self.agent.acknowledge_halt(
                session_token=_SESSION, halt_id=self.halt_ids[0], resolution="resolved"
            )
        except NotPermitted as refused:
            return Step(title, holds=True, lines=(f"Refused: {refused}",), answer=str(refused))
        return Step(title, holds=False, lines=("It could.",), answer=None)

    async def person_settles(self) -> Step:
        settled = [
            await self.person.acknowledge_halt(
                session_token=_SESSION, halt_id=halt_id, resolution="resolved", resolution_notes=_GUIDANCE
            )
            for halt_id in self.halt_ids
        ]
        return Step(
            f"A person ({self.person.principal}) settles them, with guidance",
            settled[-1].session_can_resume,
            (f"Notes: {_GUIDANCE}", f"The session is {settled[-1].session_state}."),
            [item.model_dump(mode="json") for item in settled],
        )

    async def next_check(self) -> Step:
        answer = await self.agent.check_halt_conditions(_ACTION)
        guidance = tuple(f"Guidance from {item.by}: {item.text}" for item in answer.guidance)
        return Step(
            "The agent asks again, for the same action",
            not answer.should_halt and bool(guidance),
            (f"Verdict: {answer.verdict}; settled before: {', '.join(answer.waived)}", *guidance[:1]),
            answer.model_dump(mode="json"),
        )

    async def failure(self, expected: str) -> Step:
        answer = await self.agent.record_attempt(session_token=_SESSION, task_id=_TASK, error=_ERROR)
        return Step(
            f"The agent fails at a task: strike {answer.attempt_count}",
            answer.recommended_action.startswith(expected) and answer.should_halt is (expected == "HALT"),
            (f"It is told: {answer.recommended_action}",),
            answer.model_dump(mode="json"),
        )

    async def audit(self) -> Step:
        report = await self.person.verify_audit()
        return Step(
            "The audit log is verified",
            not report.problems,
            (f"{report.entries} entries and {report.halts} halts hold; head {report.head}", *report.problems),
            {"entries": report.entries, "halts": report.halts, "head": report.head},
        )
