"""Open the guardrail that the options name, and run an operation as whoever calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from haltline.errors import ConfigurationError
from haltline.faces.caller import Need, as_caller
from haltline.faces.cli.failing import CommandFailed
from haltline.faces.cli.options import Options
from haltline.faces.cli.settings_file import settings_of
from haltline.service import Guardrail

T = TypeVar("T")


def run(options: Options, need: Need, operation: Callable[[Guardrail], Awaitable[T]]) -> T:
    """Open the database, decide who calls, and run an operation.

    Raises:
        CommandFailed: the settings cannot be used.
        HaltlineError: whatever the operation raises.
    """

    async def opened() -> T:
        try:
            guardrail = Guardrail.open(options.database, settings=settings_of(options))
        except ConfigurationError as error:
            raise CommandFailed(f"the settings cannot be used: {error}") from None
        try:  # not entered: entering tries the database first, and what fails would be waited for twice
            return await operation(await as_caller(guardrail, need))
        finally:
            await guardrail.aclose()

    return asyncio.run(opened())
