"""`haltline mcp`: the operations as tools of an MCP server."""

from __future__ import annotations

import click

from haltline.errors import ConfigurationError
from haltline.faces.cli.failing import EXIT_CODES, CommandFailed
from haltline.faces.cli.options import Options, common
from haltline.faces.cli.settings_file import settings_of

_HELP = f"""\
Serve the operations over MCP, on standard input and output.

The caller is an agent: it can check, record and read, and settles nothing unless the settings say so
(agents_may_settle).

\b
Example, in an MCP client's configuration:
  {{"mcpServers": {{"haltline": {{"command": "haltline", "args": ["mcp"]}}}}}}

{EXIT_CODES}"""


@click.command("mcp", help=_HELP)
@click.option(
    "--workspace",
    metavar="DIR",
    help="Where relative paths start. With it, a file that does not exist yet needs no reading.",
)
@common
@click.pass_obj
def command(options: Options, workspace: str | None) -> None:
    """Serve until the client hangs up."""
    try:
        settings = settings_of(options)
    except ConfigurationError as error:
        raise CommandFailed(f"the settings cannot be used: {error}") from None
    try:
        from haltline.faces.mcp import main  # noqa: PLC0415 - an extra that not everybody installs
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "haltline":
            raise
        raise CommandFailed(
            f"the package {error.name} is missing; install it with: pip install 'haltline[mcp]'"
        ) from None
    try:
        main(options.database, settings, workspace)
    except ConfigurationError as error:
        raise CommandFailed(f"the settings cannot be used: {error}") from None
