"""`haltline doctor`: where everything is, and what is weak."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from haltline.errors import ConfigurationError, HaltlineError, NotPermitted
from haltline.faces.caller import Need
from haltline.faces.cli.failing import EXIT_CODES, FAILED, OK, CommandFailed
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output, moment
from haltline.faces.cli.settings_file import settings_file, settings_of
from haltline.records import HaltQuery
from haltline.secrets import redact
from haltline.service import Guardrail
from haltline.settings import Settings
from haltline.store import open_store, spool_beside
from haltline.store.spool import FileSpool

_HELP = f"""\
Say where everything is, and what is weak: database, spool, settings, configuration, audit log, clock.

Exits with 1 when something is weak, and says for each what to do. It changes nothing, except that a database
that does not exist yet is made.

\b
Example:
  haltline doctor --json

{EXIT_CODES}"""

_CLOCK_TOLERANCE = timedelta(minutes=5)
_MOST_HALTS = 1_000


@dataclass(frozen=True, slots=True)
class Note:
    """What was found in one place; `weak` says what is wrong and what to do, or is None."""

    place: str
    fact: str
    weak: str | None = None


@click.command("doctor", help=_HELP)
@common
@click.pass_obj
def command(options: Options) -> int:
    """Look at everything, and say what is weak."""
    notes = [*_of_settings(options), *_of_spool(options), *_of_database(options)]
    output = Output(options)
    if output.is_json:
        output.json(
            {
                "healthy": not any(note.weak for note in notes),
                "notes": [{"place": n.place, "fact": n.fact, "weak": n.weak} for n in notes],
            }
        )
    else:
        _print(output, notes)
    return FAILED if any(note.weak for note in notes) else OK


def _print(output: Output, notes: list[Note]) -> None:
    output.table((), [(note.place, "weak" if note.weak else "ok", note.fact) for note in notes], styled=1)
    weak = [note for note in notes if note.weak]
    output.line()
    if not weak:
        output.line("Nothing is weak.", "ok")
    for note in weak:
        output.line(f"{note.place}: {note.weak}", "weak")


def _of_settings(options: Options) -> Iterator[Note]:
    path = settings_file(options)
    try:
        settings = settings_of(options)
    except ConfigurationError as error:
        yield Note(
            "settings", str(path), f"{redact(str(error))}. Repair the file: until then every check halts."
        )
        return
    yield Note("settings", f"{path or 'none, so the defaults'}", _exposed(path))
    granted = ", ".join(sorted(settings.agents_may_settle)) or "none"
    yield Note("settings", f"agents may settle: {granted}; unknown sessions: {settings.unknown_sessions}")
    yield from _of_rules(settings)


def _of_rules(settings: Settings) -> Iterator[Note]:
    """Say which rules of somebody's own are in force."""
    if not settings.shell_rules:
        return
    from haltline.shell import load_rules  # noqa: PLC0415 - only where there are such files

    try:
        own = load_rules(*settings.shell_rules).own
    except ConfigurationError as error:
        yield Note(
            "rules", "do not hold", f"{redact(str(error))}. Repair the file: until then every check halts."
        )
        return
    sources = list(own.sources.values()) if own is not None else []
    for source in dict.fromkeys(sources):
        yield Note("rules", f"{source}: {sources.count(source)} rules", _exposed(Path(source)))


def _exposed(path: Path | None) -> str | None:
    """Return what is weak about a file that others may write: they decide then what halts."""
    if path is None or os.name == "nt" or not stat.S_IMODE(path.stat().st_mode) & 0o022:
        return None
    return f"others may write {path}, and so switch Haltline's rules: chmod 644 it."


def _of_spool(options: Options) -> Iterator[Note]:
    try:
        open_store(options.database)  # says clearly when the URL is of no known form; opens nothing yet
        spool = spool_beside(options.database)
    except HaltlineError as error:
        yield Note("spool", "unknown", redact(str(error)))
        return
    if not isinstance(spool, FileSpool):
        yield Note(
            "spool", "in memory", "The database is in memory: nothing outlives a process. Name a file."
        )
        return
    waits = (
        f"Events wait in {spool.path} for the database; the next check or `haltline doctor` hands them over."
    )
    yield Note("spool", str(spool.path), waits if spool.pending() else None)
    damaged = spool.path.with_name(spool.path.name + ".damaged")
    if damaged.exists():
        yield Note(
            "spool", str(damaged), f"Lines of {damaged} could not be read. Look at them, then move it away."
        )


def _of_database(options: Options) -> list[Note]:
    try:
        return run(options, Need.READER, _look)
    except NotPermitted:
        raise
    except CommandFailed:
        return [Note("database", "not looked at, because the settings cannot be used")]
    except HaltlineError as error:
        return [Note("database", "no answer", f"{redact(str(error))}. Until then every check halts.")]


async def _look(guardrail: Guardrail) -> list[Note]:
    replayed = await guardrail.replay_spool()
    notes = [Note("spool", f"handed {replayed} events to the database")] if replayed else []
    health = await guardrail.health()
    notes += [Note("database", f"{name}: {value}") for name, value in health.facts.items()]
    notes += [Note("database", "see below", warning) for warning in health.warnings]
    return [
        *notes,
        *await _of_configuration(guardrail),
        *await _of_halts(guardrail),
        *await _of_audit(guardrail),
    ]


async def _of_configuration(guardrail: Guardrail) -> list[Note]:
    configuration = await guardrail.configuration()
    off = [name for name, config in configuration.conditions.items() if not config.enabled]
    known = len(configuration.conditions) + len(configuration.broken)
    notes = [Note("configuration", f"{known} conditions, switched off: {', '.join(off) or 'none'}")]
    return notes + [
        Note(
            "configuration",
            name,
            f"{redact(why)}. It halts every check until `haltline config set {name}` gives it values that "
            "hold; a row of a condition that this version does not know needs a newer Haltline.",
        )
        for name, why in configuration.broken.items()
    ]


async def _of_halts(guardrail: Guardrail) -> list[Note]:
    page = await guardrail.list_halts(HaltQuery(open_only=True, limit=_MOST_HALTS))
    now = datetime.now(UTC)
    overdue = [
        h for h in page.halts if h.resolution is None and h.escalate_at is not None and h.escalate_at < now
    ]
    late = f"{len(overdue)} halts are overdue: run `haltline escalate` from a timer, every minute."
    notes = [Note("halts", f"open: {page.total_count}", late if overdue else None)]
    newest = await guardrail.list_halts(HaltQuery(include_acknowledged=True, limit=1))
    ahead = bool(newest.halts) and newest.halts[0].triggered_at > now + _CLOCK_TOLERANCE
    wrong = (
        f"The newest halt is of {moment(newest.halts[0].triggered_at)}, in the future: set the clock."
        if ahead
        else None
    )
    return [*notes, Note("clock", f"{moment(now)} (UTC)", wrong)]


async def _of_audit(guardrail: Guardrail) -> list[Note]:
    report = await guardrail.verify_audit()
    notes = [Note("audit", f"{report.entries} entries, head {report.head}")]
    advice = "Keep the file as it is and find out who wrote to it."
    return notes + [Note("audit", "does not hold", f"{problem}. {advice}") for problem in report.problems]
