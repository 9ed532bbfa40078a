"""A text with places in it marked: in colour, and by a line of marks below, which needs none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from haltline.faces.cli.output import Output, visible, width

Span = tuple[int, int]
Cell = tuple[str, str | None]
"""A character as it is shown, and the style of the mark under it."""

MARKS = {"deny": "^", "ask": "~"}
"""What stands under a marked place; the first style wins where places overlap."""

_NARROWEST = 24
_TAB = "    "


def print_marked(output: Output, text: str, places: Sequence[tuple[Span, str]]) -> None:
    """Print a text whole, with places in it marked; lines are numbered when there are several.

    Args:
        output: where to.
        text: what to print.
        places: each place as offsets, with its style: one of `MARKS`.
    """
    lines = text.split("\n")
    digits = len(str(len(lines))) if len(lines) > 1 else 0
    room = None if output.columns is None else max(_NARROWEST, output.columns - digits - 4)
    begin = 0
    for number, line in enumerate(lines, 1):
        cells = _cells(line, begin, places)
        begin += len(line) + 1
        label = f"{number:>{digits}}" if digits else ""
        for part in _parts(cells, room):
            output.raw(f" {label:>{digits}} | {_colored(output, part)}")
            marks = "".join(MARKS.get(style or "", " ") * width(shown) for shown, style in part).rstrip()
            if marks:
                output.raw(f" {'':>{digits}} | {marks}")
            label = ""


def _cells(line: str, begin: int, places: Sequence[tuple[Span, str]]) -> list[Cell]:
    """Return the characters of a line, each with its style; blanks at the ends of a place are not marked."""
    styles: list[str | None] = [None] * len(line)
    for style in reversed(MARKS):
        for (start, end), kind in places:
            if kind != style:
                continue
            first, last = max(start - begin, 0), min(end - begin, len(line))
            if first < last and (inside := line[first:last].strip()):
                first += line[first:last].index(inside)
                styles[first : first + len(inside)] = [style] * len(inside)
    return [(_shown(character), style) for character, style in zip(line, styles, strict=True)]


def _shown(character: str) -> str:
    return _TAB if character == "\t" else visible(character)


def _parts(cells: list[Cell], room: int | None) -> Iterator[list[Cell]]:
    """Yield a line in parts that a terminal shows without breaking them."""
    part: list[Cell] = []
    used = 0
    for cell in cells:
        taken = width(cell[0])
        if room is not None and part and used + taken > room:
            yield part
            part, used = [], 0
        part.append(cell)
        used += taken
    yield part


def _colored(output: Output, part: list[Cell]) -> str:
    return "".join(
        output.style("".join(shown for shown, _ in run), style)
        for style, run in groupby(part, key=lambda cell: cell[1])
    )
