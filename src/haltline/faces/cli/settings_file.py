"""The settings file: which one it is, and what it says. Nothing here needs the service or a database."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from haltline.errors import ConfigurationError
from haltline.faces.cli.failing import CommandFailed
from haltline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haltline.faces.cli.options import Options
    from haltline.shell.book import Book

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
    """Return the settings; paths in them start where the file lies.

    Raises:
        ConfigurationError: the file cannot be read or does not hold; the message names it.
    """
    path = settings_file(options)
    if path is None:
        return Settings()
    from haltline.faces.cli.yaml_file import read_mapping  # noqa: PLC0415 - only when there is a file

    values = read_mapping(path)
    try:
        settings = Settings.from_mapping(values)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    beside = path.absolute().parent
    rules = tuple(str(beside / os.path.expanduser(rule)) for rule in settings.shell_rules)  # noqa: PTH111 - without a home it stays as it is
    return replace(settings, shell_rules=rules)


def rule_paths(options: Options, paths: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the rule files of the settings, and then those that a command names.

    Raises:
        CommandFailed: the settings cannot be used.
    """
    try:
        return (*settings_of(options).shell_rules, *paths)
    except ConfigurationError as error:
        raise CommandFailed(f"the settings cannot be used: {error}") from None


def rules_of(options: Options, paths: Sequence[str] = ()) -> Book:
    """Return the built-in shell rules with those of the settings, and of the files that a command names.

    Raises:
        CommandFailed: the settings cannot be used.
        ConfigurationError: a rule file does not hold.
    """
    from haltline.shell import load_rules  # noqa: PLC0415 - only where rules are needed

    return load_rules(*rule_paths(options, paths))
