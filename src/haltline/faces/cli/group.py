"""The root command: imports a command's module when it is called, and hands its result back."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

import click

from haltline import __version__
from haltline.faces.cli.failing import EXIT_CODES, UsageFault
from haltline.faces.cli.options import common
from haltline.faces.cli.table import COMMANDS

_HELP = """\
Haltline stops AI agents before they do harm, and keeps them stopped until a person decides.

An agent (or the runtime around it) asks `haltline check` before it acts. A halt is a row in the database;
a person reads it with `haltline halts` and `haltline show`, and settles it with `haltline ack`.

\b
Try it:
  haltline demo
  echo '{"session_token": "s1", "current_context":
         {"operation": "clean up", "commands": ["rm -rf /"]}}' | haltline check
  haltline halts
"""

_EPILOG = f"""\
{EXIT_CODES} Environment: HALTLINE_DATABASE (the database), HALTLINE_CONFIG (the settings file),
HALTLINE_SESSION (the session of an agent's commands), HALTLINE_KEY (who you are, where there is no
terminal), NO_COLOR.
"""


class LazyGroup(click.Group):
    """A group over the table of commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names, in the order in which one needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - likewise
        """Import a command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        return cast("click.Command", getattr(import_module(entry.module), entry.attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - likewise
        """Write the overview from the table, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


def root() -> click.Group:
    """Return the root command."""
    group = LazyGroup(
        name="haltline",
        help=_HELP,
        epilog=_EPILOG,
        no_args_is_help=True,
        context_settings={"max_content_width": 100},
        params=[
            click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version)
        ],
    )
    return cast("click.Group", common(group))


def run(arguments: Sequence[str]) -> Any:
    """Run a command and return what it returns; 0 when it printed help.

    Not click's own `main`: that one answers completion requests from the environment before anything else,
    and ends the process by itself.

    Raises:
        UsageFault: the command line is wrong.
    """
    group = root()
    try:
        with group.make_context("haltline", list(arguments)) as context:
            return group.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        raise UsageFault(f"expected a command\n\n{error.format_message()}") from None
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "haltline"
        raise UsageFault(f"{error.format_message()} See `{path} --help`.") from None


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"haltline {__version__}")
        context.exit()
