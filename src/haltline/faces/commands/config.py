"""`haltline config`: read and change what the conditions do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from haltline.conditions.catalogue import CATALOGUE
from haltline.conditions.condition import ConditionConfig
from haltline.conditions.configuration import Configuration
from haltline.domain import Severity
from haltline.errors import InvalidInput, NotFound
from haltline.faces.caller import Need, at_terminal
from haltline.faces.cli.config_file import Change, as_yaml, read_changes, values_of
from haltline.faces.cli.failing import EXIT_CODES, FAILED, OK, CommandFailed
from haltline.faces.cli.opening import run
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.output import Output, note
from haltline.faces.cli.request import given
from haltline.service import Guardrail
from haltline.wire import UpdateHaltConfigOutput

_HELP = f"""\
Read and change what the conditions do: severity, thresholds, escalation.

The configuration is in the database; every process sees a change within 60 seconds.

\b
Examples:
  haltline config get three_strikes
  haltline config set three_strikes --threshold max_attempts=5
  haltline config export > conditions.yaml
  haltline config import conditions.yaml

{EXIT_CODES}"""


@click.group("config", help=_HELP)
def command() -> None:
    """Read and change what the conditions do."""


async def _read(guardrail: Guardrail) -> Configuration:
    return await guardrail.configuration()


@command.command("get")
@click.argument("name", required=False)
@common
@click.pass_obj
def get_command(options: Options, name: str | None) -> None:
    """Show what every condition does, or one of them with its thresholds explained."""
    if name is not None and name not in CATALOGUE:
        raise NotFound(f"there is no condition {name}; known are {', '.join(CATALOGUE)}")
    configuration = run(options, Need.READER, _read)
    output = Output(options)
    if output.is_json:
        output.json(_as_json(configuration, name))
    elif name is not None:
        _print_one(output, name, configuration)
    else:
        _print_all(output, configuration)


@command.command("set")
@click.argument("name")
@click.option(
    "--severity", type=click.Choice([str(item) for item in Severity]), help="How serious a finding is."
)
@click.option("--threshold", "thresholds", multiple=True, metavar="KEY=VALUE", help="Repeatable.")
@click.option("--enable/--disable", "enabled", default=None, help="Whether it is checked at all.")
@click.option("--auto-escalate/--no-auto-escalate", default=None, help="Whether its halts escalate at once.")
@click.option("--escalate-after", type=int, metavar="MINUTES", help="When an unanswered halt escalates.")
@common
@click.pass_obj
def set_command(options: Options, /, name: str, thresholds: tuple[str, ...], **flags: Any) -> None:
    """Change a condition; what is not named stays as it is."""
    changed = dict(_assignment(text) for text in thresholds)
    request = given(
        condition_name=name,
        severity=flags["severity"],
        enabled=flags["enabled"],
        auto_escalate=flags["auto_escalate"],
        escalate_after_minutes=flags["escalate_after"],
    )

    async def change(guardrail: Guardrail) -> UpdateHaltConfigOutput:
        if changed:
            current = (await guardrail.configuration()).conditions.get(name)
            request["threshold"] = {**(current.threshold if current else {}), **changed}
        return await guardrail.update_halt_config(request)

    updated = run(options, Need.PERSON, change)
    output = Output(options)
    if output.is_json:
        output.json(updated.model_dump(mode="json"))
        return
    before, after = updated.previous_values, updated.current_values
    for field, value in after.items():
        if before[field] != value:
            output.line(f"{name}: {field}: {json.dumps(before[field])} -> {json.dumps(value)}")
    if before == after:
        output.line(f"{name} is as it was.")


@command.command("export")
@common
@click.pass_obj
def export_command(options: Options) -> int:
    """Write the configuration to standard output, as YAML (or JSON with --json)."""
    configuration = run(options, Need.READER, _read)
    if options.json:
        Output(options).json(_as_json(configuration, None))
    else:
        click.echo(as_yaml(configuration), nl=False)
    for name, why in configuration.broken.items():
        note(f"{name} makes no sense and is not in the file: {why}")
    return FAILED if configuration.broken else OK


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show the difference and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
@click.pass_obj
def import_command(options: Options, file: Path, dry_run: bool, yes: bool) -> None:
    """Read a YAML file as `config export` writes it, show the difference, and change what differs.

    Every value is checked before the first is changed. Conditions and fields that the file does not name
    stay as they are. Without a terminal to ask on, --yes is needed.
    """
    output = Output(options)

    async def change(guardrail: Guardrail) -> list[Change]:
        changes = read_changes(file, await guardrail.configuration())
        if not output.is_json:
            _print_changes(output, changes)
        if changes and not dry_run and (yes or _agreed()):
            await _apply(guardrail, changes)
        return changes

    changes = run(options, Need.READER if dry_run else Need.PERSON, change)
    if output.is_json:
        output.json({"applied": not dry_run, "changes": [item.request() for item in changes]})
    elif changes:
        output.line(
            "Nothing was changed: this was a dry run." if dry_run else f"Changed conditions: {len(changes)}."
        )


def _agreed() -> bool:
    """Ask, where somebody can answer.

    Raises:
        CommandFailed: nobody can be asked, or they said no; nothing was changed.
    """
    if not at_terminal():
        raise CommandFailed("there is no terminal to ask on; with --yes it is done without asking")
    if not click.confirm("Change this?", err=True):
        raise CommandFailed("nothing was changed")
    return True


async def _apply(guardrail: Guardrail, changes: list[Change]) -> None:
    done: list[str] = []
    for change in changes:
        try:
            await guardrail.update_halt_config(change.request())
        except Exception as error:
            if not done:
                raise
            raise CommandFailed(
                f"{change.condition_name} could not be changed ({error}); changed before it: "
                f"{', '.join(done)}. Run the import again: it does the rest."
            ) from error
        done.append(change.condition_name)


def _assignment(text: str) -> tuple[str, Any]:
    """Return KEY=VALUE, the value as JSON where it is JSON."""
    key, separator, value = text.partition("=")
    if not (key and separator):
        raise InvalidInput(f"--threshold: expected KEY=VALUE, got {text!r}")
    try:
        return key, json.loads(value)
    except (ValueError, RecursionError):
        return key, value


def _print_changes(output: Output, changes: list[Change]) -> None:
    if not changes:
        output.line("Nothing differs.")
    for change in changes:
        output.line(change.condition_name, "heading")
        for line in change.lines():
            output.line(f"  {line}")


def _as_json(configuration: Configuration, name: str | None) -> dict[str, Any]:
    return {
        "conditions": {
            key: {"halt_type": config.halt_type, **values_of(config)}
            for key, config in configuration.conditions.items()
            if name in (None, key)
        },
        "broken": {key: why for key, why in configuration.broken.items() if name in (None, key)},
    }


def _print_all(output: Output, configuration: Configuration) -> None:
    rows = [
        (
            name,
            str(config.severity),
            "on" if config.enabled else "OFF",
            _escalation(config),
            _threshold(config),
        )
        for name, config in configuration.conditions.items()
    ]
    output.table(("CONDITION", "SEVERITY", "STATE", "ESCALATES", "THRESHOLD"), rows, styled=1)
    for name, why in configuration.broken.items():
        output.line(f"{name} makes no sense and halts: {why}", "weak")
    output.next("haltline config get CONDITION")


def _print_one(output: Output, name: str, configuration: Configuration) -> None:
    condition = CATALOGUE[name]
    output.line(name, "heading")
    output.fields(
        [("halt type", condition.halt_type), ("triggers", condition.summary), ("advice", condition.advice)]
    )
    config = configuration.conditions.get(name)
    if config is None:
        output.line(f"Its row makes no sense, so it halts: {configuration.broken[name]}", "weak")
        output.next(
            f"haltline config set {name} --severity {condition.severity}, and --threshold for each value"
        )
        return
    state = "on" if config.enabled else "OFF"
    output.fields([("severity", str(config.severity)), ("state", state), ("escalates", _escalation(config))])
    for key, field in condition.threshold.items():
        bounds = "" if field.minimum is None else f", {field.minimum} to {field.maximum}"
        now = json.dumps(config.threshold[key])
        default = json.dumps(field.default)
        output.fields([(key, f"{now} (default {default}{bounds}): {field.meaning}")])
    output.next(f"haltline config set {name} --severity … --threshold KEY=VALUE")


def _escalation(config: ConditionConfig) -> str:
    if config.auto_escalate:
        return "at once"
    return "never" if config.escalate_after_minutes is None else f"after {config.escalate_after_minutes} min"


def _threshold(config: ConditionConfig) -> str:
    return " ".join(f"{key}={json.dumps(value)}" for key, value in config.threshold.items()) or "-"
