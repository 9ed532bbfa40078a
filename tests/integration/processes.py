"""Does one job in several processes at the same time: `python processes.py JOB URL COUNT [JSON]`.

Prints, for each process, a line of JSON with what its job returned. All of them have the database open before
any of them begins.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from haltline import Guardrail, HaltlineError, Principal, PrincipalKind, Settings
from haltline.errors import AlreadySettled
from haltline.store import open_store

QUIET = {"operation": "look around"}
SETTINGS = Settings(deadline_seconds=5, operation_deadline_seconds=25)
"""Processes that outnumber the processors wait for their turn; what is tested is that nothing is lost."""


def loud(operation: str) -> dict[str, Any]:
    """Return a context with a critical finding of its own."""
    return {"operation": operation, "uncertainty_score": 9}


def person(name: str) -> Principal:
    """Return a human."""
    return Principal(PrincipalKind.HUMAN, name)


async def acknowledge(guardrail: Guardrail, number: int, halt: dict[str, str]) -> dict[str, str]:
    """Settle one halt as a person of this process's own."""
    human = guardrail.acting_as(person(f"person{number}"))
    try:
        settled = await human.acknowledge_halt(**halt, resolution="resolved")
    except AlreadySettled as error:
        at = error.settled_at.isoformat(timespec="microseconds").replace("+00:00", "Z")
        return {"lost_to": error.settled_by, "at": at, "resolution": error.resolution}
    return {"won": str(human.principal), "at": settled.acknowledged_at}


async def write(guardrail: Guardrail, number: int, arguments: dict[str, Any]) -> dict[str, Any]:
    """Record, check, fail and settle, in turns over several sessions; return what was told to be stored."""
    human = guardrail.acting_as(person(f"person{number}"))
    told: dict[str, list[str]] = {}
    attempts: dict[str, int] = {}
    settled: list[str] = []
    for turn in range(arguments["turns"]):
        token = f"s{(number + turn) % arguments['sessions']}"
        name = f"writer {number}, turn {turn}"
        recorded = await guardrail.record_halt(
            session_token=token, halt_type="scope", severity="high", description=name
        )
        checked = await guardrail.check_halt_conditions(session_token=token, current_context=loud(name))
        failed = await guardrail.record_attempt(session_token=token, task_id="task", error=name)
        attempts[token] = attempts.get(token, 0) + 1
        await human.acknowledge_halt(
            session_token=token, halt_id=recorded.halt_id, resolution="resolved", resolution_notes=name
        )
        settled.append(recorded.halt_id)
        listed = [reason.halt_id for reason in checked.halt_reasons]  # its own, and all that are open
        stored = [halt for halt in (recorded.halt_id, *listed, failed.halt_id) if halt is not None]
        told.setdefault(token, []).extend(stored)
    return {"told": told, "attempts": attempts, "settled": settled}


async def record(guardrail: Guardrail, number: int, arguments: dict[str, Any]) -> list[str]:
    """Record halts in one session."""
    return [
        (
            await guardrail.record_halt(
                session_token="s",
                halt_type="scope",
                severity="high",
                description=f"process {number}, halt {turn}",
            )
        ).halt_id
        for turn in range(arguments["turns"])
    ]


async def sweep(guardrail: Guardrail, number: int, _: dict[str, Any]) -> int:
    """Run one sweep; return how many halts it claimed."""
    service = guardrail.acting_as(Principal(PrincipalKind.SERVICE, f"sweeper{number}"))
    return await service.escalate()


async def configure(guardrail: Guardrail, number: int, values: dict[str, Any]) -> None:
    """Change a row of the configuration."""
    await guardrail.acting_as(person(f"person{number}")).update_halt_config(**values)


JOBS: dict[str, Callable[[Guardrail, int, Any], Awaitable[Any]]] = {
    job.__name__: job for job in (acknowledge, write, record, sweep, configure)
}


async def run(job: str, url: str, number: int, arguments: Any, begin: Callable[[], None]) -> Any:
    """Do a job in this process, once everybody is there."""
    async with Guardrail.open(url, settings=SETTINGS) as guardrail:
        await guardrail.acting_as(person("starter")).health()
        begin()
        try:
            return await JOBS[job](guardrail, number, arguments)
        except HaltlineError as error:
            return {"error": f"{type(error).__name__}: {error}"}


async def warm() -> None:
    """Import and compile once what every process needs."""
    async with Guardrail.open("memory:") as guardrail:
        await guardrail.prepare()
        await guardrail.check_halt_conditions(session_token="s", current_context=loud("warm up"))


def child(job: str, url: str, number: int, arguments: Any, ready: int, go: int) -> Any:
    """Do a job in this process: say that it is ready, and wait for the others."""

    def begin() -> None:
        os.write(ready, b".")
        os.read(go, 1)  # ends when the parent closes its end

    return anyio.run(run, job, url, number, arguments, begin)


def main() -> None:
    """Fork, let all begin at once, and print what they return."""
    job, url, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    arguments = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    anyio.run(warm)
    open_store(url)
    ready_read, ready_write = os.pipe()
    go_read, go_write = os.pipe()
    results: list[int] = []
    for number in range(count):
        result_read, result_write = os.pipe()
        if os.fork() == 0:
            os.close(go_write)
            os.close(result_read)
            told = child(job, url, number, arguments, ready_write, go_read)
            with os.fdopen(result_write, "w", encoding="utf-8") as file:
                json.dump(told, file)
            os._exit(0)
        os.close(result_write)
        results.append(result_read)
    for _ in range(count):
        os.read(ready_read, 1)
    os.close(go_write)
    for result in results:
        with os.fdopen(result, encoding="utf-8") as file:
            sys.stdout.write(file.read() + "\n")


if __name__ == "__main__":
    main()
