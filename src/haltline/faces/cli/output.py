"""What the command line prints: tables and sentences for people, JSON for programs.

Texts come from agents. Nothing in them may steer the terminal of the person who reads them or look like
another line of Haltline's own: control and formatting characters are shown as escapes, and lines of a
longer text are marked.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from haltline.faces.cli.options import Options

_STEERING = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that move, hide or reorder what is shown."""

_GAP = "  "
_DETAIL = "    "
_NARROWEST = 24
STYLES: Mapping[str, Mapping[str, Any]] = {
    "critical": {"fg": "red", "bold": True},
    "halt": {"fg": "red", "bold": True},
    "high": {"fg": "red"},
    "medium": {"fg": "yellow"},
    "deny": {"fg": "red", "bold": True},
    "unknown": {"fg": "yellow", "bold": True},
    "ask": {"fg": "yellow", "bold": True},
    "caution": {"fg": "yellow", "bold": True},
    "proceed": {"fg": "green", "bold": True},
    "halted": {"fg": "red"},
    "paused": {"fg": "yellow"},
    "active": {"fg": "green"},
    "ok": {"fg": "green"},
    "weak": {"fg": "red", "bold": True},
    "heading": {"bold": True},
    "quiet": {"dim": True},
}


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return a text in which characters that could steer a terminal are shown as escapes.

    Args:
        text: anything.
        lines: whether line breaks stay; they become `\n` otherwise.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if unicodedata.category(character) not in _STEERING or (lines and character == "\n")
        else character.encode("unicode_escape").decode("ascii")
        for character in text.replace("\r\n", "\n")
    )


def moment(value: datetime | None) -> str:
    """Return a time for people, in UTC."""
    return "-" if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def age(then: datetime, now: datetime) -> str:
    """Return how long ago something was, for people."""
    seconds = max(0, int((now - then).total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


class Output:
    """Where a command prints.

    Attributes:
        is_json: whether programs read it.
        columns: the width of the terminal; None where there is none.
    """

    def __init__(self, options: Options) -> None:
        self.is_json = options.json
        self._colored = options.colored
        self.columns = shutil.get_terminal_size().columns if _is_terminal() else None

    def style(self, text: str, style: str | None) -> str:
        """Return a text in a style of `STYLES`, or as it is where there are no colours."""
        attributes = STYLES.get(style or "")
        return click.style(text, **attributes) if attributes and self._colored else text

    def json(self, value: Any) -> None:
        """Print a value as JSON, in ASCII: no encoding can break it and no terminal is steered by it."""
        self._write(json.dumps(value, indent=2, allow_nan=False))

    def json_line(self, value: Any) -> None:
        """Print a value as one line of JSON."""
        self._write(json.dumps(value, allow_nan=False))

    def line(self, text: str = "", style: str | None = None) -> None:
        """Print one line."""
        self._write(self.style(visible(text), style))

    def headline(self, word: str, sentence: str, style: str) -> None:
        """Print what matters most: a word in its style, and what it means."""
        indent = len(word) + len(_GAP)
        first, *more = self._wrapped(visible(sentence), indent)
        self._write(f"{self.style(word, style)}{_GAP}{first}")
        for line in more:
            self._write(" " * indent + line)

    def raw(self, text: str) -> None:
        """Print one line as it is; whoever calls has made it safe with `visible` and `style`."""
        self._write(text)

    def next(self, text: str) -> None:
        """Print what to do next."""
        self._write(self.style(f"Next: {visible(text)}", "quiet"))

    def block(self, text: str, indent: int = 2) -> None:
        """Print a text whole, each of its lines marked as its own."""
        for part in visible(text, lines=True).split("\n"):
            self._write(f"{' ' * indent}| {part}")

    def table(
        self,
        headers: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        styled: int | None = None,
        details: Sequence[Sequence[str]] = (),
    ) -> None:
        """Print aligned columns; the last one wraps on a terminal and is whole elsewhere.

        Args:
            headers: one for each column; none for a table without a head.
            rows: the cells.
            styled: the column whose words have a style of their own.
            details: for each row, the lines that stand under it.
        """
        cells = [tuple(visible(cell) for cell in row) for row in rows]
        shown = [tuple(headers), *cells] if headers else cells
        widths = [max(width(row[at]) for row in shown) for at in range(len(shown[0]))] if shown else []
        if headers:
            self._row(tuple(headers), widths, "heading", None)
        for number, row in enumerate(cells):
            self._row(row, widths, None, styled)
            for detail in details[number] if details else ():
                self._indented(detail)

    def fields(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Print names and values, aligned."""
        self.table((), [("", name, value) for name, value in pairs])

    def _row(self, row: tuple[str, ...], widths: list[int], style: str | None, styled: int | None) -> None:
        *first, last = row
        start = "".join(
            self.style(cell, style or (cell.lower() if at == styled else None))
            + " " * (widths[at] - width(cell))
            + _GAP
            for at, cell in enumerate(first)
        )
        indent = sum(widths[:-1]) + len(_GAP) * len(first)
        lines = self._wrapped(last, indent)
        self._write((start + self.style(lines[0], style)).rstrip())
        for line in lines[1:]:
            self._write(" " * indent + line)

    def _indented(self, text: str) -> None:
        for line in self._wrapped(visible(text), len(_DETAIL)):
            self._write(_DETAIL + line)

    def _wrapped(self, text: str, indent: int) -> list[str]:
        if self.columns is None or self.columns - indent < _NARROWEST:
            return [text]
        return textwrap.wrap(text, self.columns - indent, break_on_hyphens=False) or [""]

    @staticmethod
    def flush() -> None:
        """Hand over what was printed.

        Raises:
            OSError: it could not be written.
        """
        sys.stdout.flush()

    @staticmethod
    def _write(text: str) -> None:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Print a line for people on standard error, where it does not disturb what a program reads."""
    click.echo(visible(text), err=True)


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )
