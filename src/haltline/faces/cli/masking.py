"""A command masked for printing: no secret of it is shown, and places in it are still found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haltline.secrets import redact, scan
from haltline.secrets.fingerprints import sentinel
from haltline.secrets.redaction import MINIMUM_REPEATED

Span = tuple[int, int]


class Masked:
    """A text without its secrets.

    Attributes:
        text: what may be printed.
    """

    def __init__(self, original: str) -> None:
        secrets = _secrets(original)
        self._replaced: list[tuple[int, int, int, int]] = []
        self._values = sorted({(original[s:e], mark) for s, e, mark in secrets}, key=lambda p: -len(p[0]))
        parts: list[str] = []
        begin = length = 0
        for start, end, mark in secrets:
            parts += (original[begin:start], mark)
            length += start - begin
            self._replaced.append((start, end, length, length + len(mark)))
            length += len(mark)
            begin = end
        self.text = "".join((*parts, original[begin:]))
        clean = str(redact(self.text))
        self._whole = clean != self.text
        if self._whole:  # something is only found now: rather no place is known than a secret shown
            self.text = clean

    def span(self, span: Span) -> Span:
        """Return where a place of the original text is in the masked one."""
        if self._whole:
            return (0, len(self.text))
        return (self._offset(span[0], after=False), self._offset(span[1], after=True))

    def values(self, value: Any) -> Any:
        """Return nested values in which neither the secrets of the text nor others are left."""
        return redact(self._without(value))

    def _offset(self, at: int, *, after: bool) -> int:
        moved = 0
        for start, end, place, behind in self._replaced:
            if at <= start:
                break
            if at < end:
                return behind if after else place
            moved = behind - end
        return at + moved

    def _without(self, value: Any) -> Any:
        if isinstance(value, str):
            for secret, mark in self._values:
                if len(secret) >= MINIMUM_REPEATED or value == secret:
                    value = value.replace(secret, mark)
            return value
        if isinstance(value, Mapping):
            return {key: self._without(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._without(item) for item in value]
        return value


def _secrets(text: str) -> list[tuple[int, int, str]]:
    """Return where secrets stand, every occurrence of each, in order, and what stands in their place."""
    places: dict[Span, str] = {}
    for found in scan(text):
        value = text[found.start : found.end]
        places.setdefault((found.start, found.end), sentinel(found.rule, value))
        at = text.find(value) if len(value) >= MINIMUM_REPEATED else -1
        while at >= 0:
            places.setdefault((at, at + len(value)), sentinel(found.rule, value))
            at = text.find(value, at + len(value))
    kept: list[tuple[int, int, str]] = []
    for (start, end), mark in sorted(places.items()):
        if kept and start < kept[-1][1]:  # of two that overlap, both are masked as one
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]), kept[-1][2])
            continue
        kept.append((start, end, mark))
    return kept
