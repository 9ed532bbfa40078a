"""A group that lists when nothing else is said: `haltline sessions` is `haltline sessions list`."""

from __future__ import annotations

import click


class ListingGroup(click.Group):
    """A group whose command without a name is `list`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` where no command stands."""
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)
