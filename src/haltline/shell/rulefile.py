"""Users' own rule files: read, checked, and tried against their own examples before they are used."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from haltline.errors import ConfigurationError
from haltline.shell.book import Book, built_in
from haltline.shell.classification import classify
from haltline.shell.engine import Engine
from haltline.shell.own import OwnRules
from haltline.shell.ruleform import problems_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from haltline.shell.rule import Rule

MAX_BYTES = 1024 * 1024
"""Size of a rule file."""

MAX_FILES = 256
"""Files of a folder."""

_SUFFIXES = (".json", ".toml")


class Tried(NamedTuple):
    """One example of a rule, tried.

    Attributes:
        rule_id: the rule.
        expected: `deny`, `ask` or `allow`.
        command: the example.
        problem: how the outcome differs from what is expected; None when it does not.
    """

    rule_id: str
    expected: str
    command: str
    problem: str | None


def load_rules(*paths: str | Path) -> Book:
    """Return the built-in book with the rules of these files added.

    A path is a file, JSON or TOML by the end of its name, or a folder whose files with such names are read;
    `docs/shell.md` describes their form. What the built-in rules say stays as it is: rules are only added.

    Raises:
        ConfigurationError: a file cannot be read, a rule does not have the form, or an example does not get
            the decision that it is listed under. The message names file, rule and example.
    """
    book = read_rules(*paths)
    if book.own is not None:
        problems = [
            f"{book.own.sources[rule.rule_id]}: rule {rule.rule_id}: {tried.problem}"
            for rule in book.own.rules.values()
            for tried in try_examples(book, rule)
            if tried.problem is not None
        ]
        _refuse(problems)
    return book


def read_rules(*paths: str | Path) -> Book:
    """Return the same as `load_rules`, without trying the examples.

    Raises:
        ConfigurationError: as `load_rules`.
    """
    contents = [(str(path), _content(path)) for path in _files(paths)]
    if not contents:
        return built_in()
    _refuse(problems_of(contents, built_in()))
    return built_in().with_own(OwnRules(built_in(), contents))


def try_examples(book: Book, rule: Rule) -> Iterator[Tried]:
    """Yield each example of a rule with what is wrong about it.

    An example of a built-in rule gets its decision from all the rules together; one of a user's rule gets it
    from that rule, whatever others say.
    """
    own = book.own is not None and rule.rule_id in book.own.rules
    for expected, commands in rule.examples.items():
        for command in commands:
            problem = _of_own(book, rule, expected, command) if own else _of_all(book, expected, command)
            yield Tried(rule.rule_id, expected, command, problem)


def _of_all(book: Book, expected: str, command: str) -> str | None:
    verdict = classify(command, rules=book)
    found = "allow" if verdict is None else verdict[0]
    return None if found == expected else f"example `{command}` should get {expected}, but gets {found}"


def _of_own(book: Book, rule: Rule, expected: str, command: str) -> str | None:
    engine = Engine(book)
    engine.judge(command)
    found = {verdict[0] for verdict in engine.verdicts if verdict[1].rule_id == rule.rule_id}
    if expected == "allow":
        return f"example `{command}` is listed under allow, but the rule holds for it" if found else None
    if expected in found:
        return None
    got = " and ".join(sorted(found)) or "nothing"
    return f"example `{command}` should get {expected} from this rule, but gets {got}"


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ConfigurationError("; ".join(problems), tuple(problems))


def _files(paths: tuple[str | Path, ...]) -> list[Path]:
    """Return the files that paths name, each once.

    Raises:
        ConfigurationError: a folder cannot be read, or has no rule file or too many.
    """
    found: dict[str, Path] = {}
    for given in paths:
        path = _expanded(given)
        files = _of_folder(path) if path.is_dir() else [path]
        found.update((os.path.realpath(file), file) for file in files)
    return list(found.values())


def _expanded(path: str | Path) -> Path:
    try:
        expanded = Path(path).expanduser()
    except RuntimeError as problem:
        raise ConfigurationError(f"{path}: the rule file cannot be read: {problem}") from None
    if "\0" in str(expanded):
        raise ConfigurationError(f"{path!r}: no file has such a name")
    return expanded


def _of_folder(folder: Path) -> list[Path]:
    try:
        files = sorted(path for path in folder.iterdir() if path.name.lower().endswith(_SUFFIXES))
    except OSError as problem:
        raise ConfigurationError(f"{folder}: the folder cannot be read: {problem.strerror}") from None
    if not files:
        raise ConfigurationError(f"{folder}: expected rule files (*.json, *.toml), got a folder without any")
    if len(files) > MAX_FILES:
        raise ConfigurationError(f"{folder}: expected at most {MAX_FILES} rule files, got {len(files)}")
    return files


def _content(path: Path) -> Mapping[str, Any]:
    """Return what a file says.

    Raises:
        ConfigurationError: it cannot be read, is too large, or is no object in JSON or TOML.
    """
    if not path.name.lower().endswith(_SUFFIXES):
        raise ConfigurationError(f"{path}: expected a name that ends in .json or .toml")
    try:
        text = _bytes(path).decode("utf-8")
        if path.name.lower().endswith(".toml"):
            import tomllib  # noqa: PLC0415  loaded only where it is needed

            content: Any = tomllib.loads(text)
        else:
            content = json.loads(text, object_pairs_hook=_without_repeats)
    except OSError as problem:
        raise ConfigurationError(f"{path}: the rule file cannot be read: {problem.strerror}") from None
    except RecursionError:
        raise ConfigurationError(f"{path}: the rule file cannot be read: it is nested too deep") from None
    except ValueError as problem:
        raise ConfigurationError(f"{path}: the rule file cannot be read: {problem}") from None
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"{path}: a rule file is one object with a list `rules`, not {type(content).__name__}"
        )
    return content


def _bytes(path: Path) -> bytes:
    """Return the bytes of a file, which must be one: a pipe would be waited for without end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is no regular file")
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES} bytes")
    return raw


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of two equal names the last one would win in silence, and a rule be gone."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:200]!r} stands twice in one object")
    return found
