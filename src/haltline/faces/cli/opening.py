"""Open the guardrail that the options name, and run an operation as whoever calls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from haltline.errors import ConfigurationError
from haltline.faces.caller import Need, as_caller
from haltline.faces.cli.failing import CommandFailed
from haltline.faces.cli.options import Options
from haltline.service import Guardrail
from haltline.settings import Settings

T = TypeVar("T")

CONFIG_VARIABLE = "HALTLINE_CONFIG"


def settings_file(options: Options) -> Path | None:
    """Return the settings file: the one that was named, or that of the user if there is one.

    One that was named need not exist: reading it fails then.
    """
    named = options.config or os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    from platformdirs import user_config_path  # noqa: PLC0415 - only when no file was named

    usual = user_config_path("haltline", appauthor=False) / "haltline.yaml"
    return usual if os.path.lexists(usual) else None


def settings_of(options: Options) -> Settings:
    """Return the settings.

    Raises:
        ConfigurationError: the file cannot be read or does not hold; the message names it.
    """
    path = settings_file(options)
    if path is None:
        return Settings()
    from haltline.faces.cli.yaml_file import read_mapping  # noqa: PLC0415 - only when there is a file

    values = read_mapping(path)
    try:
        return Settings.from_mapping(values)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def run(options: Options, need: Need, operation: Callable[[Guardrail], Awaitable[T]]) -> T:
    """Open the database, decide who calls, and run an operation.

    Raises:
        CommandFailed: the settings cannot be read.
        HaltlineError: whatever the operation raises.
    """
    try:
        settings = settings_of(options)
    except ConfigurationError as error:
        raise CommandFailed(f"the settings cannot be used: {error}") from None

    async def opened() -> T:
        guardrail = Guardrail.open(options.database, settings=settings)
        try:  # not entered: entering tries the database first, and what fails would be waited for twice
            return await operation(await as_caller(guardrail, need))
        finally:
            await guardrail.aclose()

    return asyncio.run(opened())
