"""Read a YAML file that people write: a mapping, without aliases and without a name that stands twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from haltline.errors import ConfigurationError

MAX_BYTES = 1024 * 1024


class _StrictLoader(yaml.SafeLoader):
    """The safe loader, without two things that let a file mean something else than a person reads in it.

    An alias can make a small file expand without end; of two equal names the last one would win in silence.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not accepted")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key!r} stands twice", key_node.start_mark
                )
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"expected a name, got {type(key).__name__}", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_mapping(path: Path) -> dict[str, Any]:
    """Return what a file says; an empty file says nothing.

    Raises:
        ConfigurationError: the file cannot be read, is too large or no YAML mapping; the message names it.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ConfigurationError(f"{path}: more than {MAX_BYTES} bytes")
        value = yaml.load(raw.decode("utf-8"), Loader=_StrictLoader)  # noqa: S506 - a subclass of the safe loader
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read ({error.strerror or type(error).__name__})"
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: expected UTF-8, byte {error.start} is not") from None
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: not the YAML that is expected: {_in_one_line(error)}") from None
    except (RecursionError, ValueError) as error:
        raise ConfigurationError(f"{path}: cannot be read as YAML ({type(error).__name__})") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigurationError(f"{path}: expected names with values, got {type(value).__name__}")
    return value


def _in_one_line(error: yaml.YAMLError) -> str:
    """Return what is wrong and where, without the lines that YAML quotes: they may hold a secret."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return f"{problem} in line {mark.line + 1}" if mark is not None else str(problem)
