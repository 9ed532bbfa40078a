"""The options that every command has, before or after its name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

F = TypeVar("F", bound="Callable[..., Any] | click.Command")


@dataclass(slots=True)
class Options:
    """What the common options say.

    Attributes:
        database: the URL of the database; None for the default.
        config: the settings file; None for the default places.
        json: whether to print JSON.
        color: whether colours are allowed at all.
    """

    database: str | None = None
    config: str | None = None
    json: bool = False
    color: bool = True

    @property
    def colored(self) -> bool:
        """Whether to print colours: on a terminal, and where nobody has said no."""
        return (
            self.color and not os.environ.get("NO_COLOR") and sys.stdout is not None and sys.stdout.isatty()
        )


def common(function: F) -> F:
    """Give a command the common options; they are in the `Options` that `click.pass_obj` passes."""
    for declarations, attributes in reversed(_COMMON):
        click.option(*declarations, **attributes, expose_value=False, callback=_remember)(function)
    return function


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    options: Options = context.find_root().ensure_object(Options)
    context.obj = options
    if value in (None, False):
        return
    if parameter.name == "no_color":
        options.color = False
    else:
        setattr(options, str(parameter.name), value)


_COMMON: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (
        ("--database",),
        {
            "metavar": "URL",
            "help": "sqlite:///path or postgresql://…; else HALTLINE_DATABASE, else a file of the user.",
        },
    ),
    (
        ("--config",),
        {"metavar": "FILE", "help": "Settings (YAML); else HALTLINE_CONFIG, else haltline.yaml of the user."},
    ),
    (("--json",), {"is_flag": True, "help": "Print JSON."}),
    (("--no-color",), {"is_flag": True, "help": "Print no colours."}),
)
