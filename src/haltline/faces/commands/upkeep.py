"""`haltline escalate` and `haltline archive`: what a timer runs. Neither approves anything."""

from __future__ import annotations

from datetime import timedelta

import click

from haltline.faces.caller import Need
from haltline.faces.cli.failing import EXIT_CODES
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output
from haltline.service import Guardrail

_ESCALATE_HELP = f"""\
Run one sweep over the halts that nobody answered in time.

Each of them gets the resolution timeout, its session is paused, and a notification is owed. A sweep never
approves. Any number may run at once; each halt is claimed once, and an acknowledgement always wins.

\b
Example, for a crontab:
  * * * * *  haltline escalate

{EXIT_CODES}"""

_ARCHIVE_HELP = f"""\
Move settled halts that are older than a time to the archive. An open halt stays, however old it is.

The archive is a table of the same database: `haltline show` and `haltline audit verify` read it as well.

\b
Example:
  haltline archive --older-than 90

{EXIT_CODES}"""


@click.command("escalate", help=_ESCALATE_HELP)
@common
@click.pass_obj
def escalate(options: Options) -> None:
    """Run one sweep."""

    async def sweep(guardrail: Guardrail) -> int:
        return await guardrail.escalate()

    claimed = run(options, Need.READER, sweep)
    output = Output(options)
    if output.is_json:
        output.json({"timed_out": claimed})
        return
    output.line(f"Timed out: {claimed}")
    if claimed:
        output.next("haltline halts")


@click.command("archive", help=_ARCHIVE_HELP)
@click.option(
    "--older-than",
    type=click.IntRange(0, 36_500),
    default=90,
    show_default=True,
    metavar="DAYS",
    help="Days.",
)
@common
@click.pass_obj
def archive(options: Options, older_than: int) -> None:
    """Move old settled halts."""

    async def move(guardrail: Guardrail) -> int:
        return await guardrail.archive(timedelta(days=older_than))

    moved = run(options, Need.READER, move)
    output = Output(options)
    if output.is_json:
        output.json({"archived": moved})
        return
    output.line(f"Archived: {moved}")
