"""`haltline audit`: verify and export the audit log."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

import click

from haltline.faces.caller import Need
from haltline.faces.cli.failing import EXIT_CODES, FAILED, OK, CommandFailed
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output, note
from haltline.service import Guardrail
from haltline.service.auditing import AuditReport
from haltline.store.audit import GENESIS

_HELP = f"""\
Verify and export the audit log: one hash chain over everything that ever happened.

The chain shows a changed past. That nothing was cut off its end shows only against a head that you noted
elsewhere: note what `audit verify` prints, and give it to --head later.

\b
Examples:
  haltline audit verify
  haltline audit verify --head 3fa9…
  haltline audit export --output audit.jsonl

{EXIT_CODES}"""


@click.group("audit", help=_HELP)
def command() -> None:
    """Verify and export the audit log."""


@command.command("verify")
@click.option("--head", metavar="HASH", help="A head that was noted earlier; it must still be in the chain.")
@common
@click.pass_obj
def verify_command(options: Options, head: str | None) -> int:
    """Check every link of the chain, and that every halt still reads as it was recorded.

    Exits with 1 when something does not hold.
    """

    async def verify(guardrail: Guardrail) -> tuple[AuditReport, bool]:
        report = await guardrail.verify_audit()
        return report, head is None or await _has_link(guardrail, head)

    report, has_head = run(options, Need.READER, verify)
    problems = list(report.problems)
    if not has_head:
        problems.append(f"no link has the noted hash {head}: the chain was cut off or written anew")
    output = Output(options)
    if output.is_json:
        output.json(
            {
                "holds": not problems,
                "entries": report.entries,
                "halts": report.halts,
                "head": report.head,
                "problems": problems,
            }
        )
    else:
        _print(output, report, problems)
    return FAILED if problems else OK


async def _has_link(guardrail: Guardrail, head: str) -> bool:
    if head == GENESIS.hash:
        return True
    async for entry in guardrail.audit_entries():
        if entry.hash == head:
            return True
    return False


def _print(output: Output, report: AuditReport, problems: list[str]) -> None:
    output.line(
        "The audit log holds." if not problems else "The audit log DOES NOT HOLD.",
        "ok" if not problems else "weak",
    )
    output.fields(
        [("entries", str(report.entries)), ("halts", str(report.halts)), ("head", report.head)],
    )
    for problem in problems:
        output.line(f"  {problem}", "weak")
    if problems:
        output.next("stop, keep the database file as it is, and find out who wrote to it")
    else:
        output.next("note the head where nobody who writes the database can change it")


@command.command("export")
@click.option(
    "--output", "path", type=click.Path(path_type=Path), help="A new file; standard output without it."
)
@common
@click.pass_obj
def export_command(options: Options, path: Path | None) -> None:
    """Write the chain as JSON lines, in order: everything that is needed to verify it elsewhere."""

    async def export(guardrail: Guardrail) -> int:
        count = 0
        with _target(path) as target:
            async for entry in guardrail.audit_entries():
                target.write(json.dumps(asdict(entry), sort_keys=True) + "\n")
                count += 1
        return count

    count = run(options, Need.PERSON, export)
    note(f"Exported {count} entries{f' to {path}' if path else ''}.")


@contextlib.contextmanager
def _target(path: Path | None) -> Iterator[TextIO]:
    """Open where the export goes: a new file of its owner alone, or standard output.

    Raises:
        CommandFailed: the file is there already or cannot be made.
    """
    if path is None:
        yield sys.stdout
        return
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise CommandFailed(f"{path} is there already; an export replaces no file") from None
    except OSError as error:
        raise CommandFailed(f"{path} cannot be made: {error.strerror}") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        yield file
        file.flush()
        os.fsync(descriptor)
