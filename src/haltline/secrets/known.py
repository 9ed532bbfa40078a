"""Known values: the secrets that this process itself holds, matched exactly, raw and encoded.

They have no false positives and need no format. Grams make the search independent of how many there
are: every form is at least eight characters long, so one of its five-character pieces begins
at a multiple of four.
"""

from __future__ import annotations

import binascii
import codecs
from typing import TYPE_CHECKING

from haltline.secrets.context import kind_of_name
from haltline.secrets.model import Hit, Tier
from haltline.secrets.placeholders import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MINIMUM_KNOWN_LENGTH = 8
_GRAM = 5
_STEP = MINIMUM_KNOWN_LENGTH - _GRAM + 1


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _percent(data: bytes, *, everything: bool) -> str:
    """Percent-encode (RFC 3986); `urllib.parse` is slow to import for so little."""
    return "".join(chr(byte) if byte in _UNRESERVED and not everything else f"%{byte:02X}" for byte in data)


def _base64_forms(data: bytes) -> Iterable[str]:
    """Yield what base64 of the value looks like at each of the three alignments inside a longer text."""
    for shift in range(3):
        padded = binascii.b2a_base64(b"\0" * shift + data, newline=False).decode().rstrip("=")
        # The characters that also depend on the neighbours are left out at both ends.
        first = (0, 2, 3)[shift]
        last = len(padded) if (shift + len(data)) % 3 == 0 else len(padded) - 1
        yield padded[first:last]
        yield padded[first:last].replace("+", "-").replace("/", "_")


def _json_forms(value: str) -> Iterable[str]:
    import json  # noqa: PLC0415 - imported only where known values are set up

    return (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])


def _forms(value: str) -> dict[str, tuple[str, ...]]:
    """Return every text that stands for a value, with the encodings to undo."""
    data = value.encode("utf-8", "surrogatepass")
    forms: dict[str, tuple[str, ...]] = {value: ()}
    for form in _json_forms(value):
        forms.setdefault(form, ("json",))
    forms.setdefault(_percent(data, everything=False), ("percent",))
    forms.setdefault(_percent(data, everything=True), ("percent",))
    forms.setdefault(data.hex(), ("hex",))
    forms.setdefault(data.hex().upper(), ("hex",))
    forms.setdefault(value[::-1], ("reversed",))
    forms.setdefault(codecs.encode(value, "rot13"), ("rot13",))
    for form in _base64_forms(data):
        forms.setdefault(form, ("base64",))
    return {form: decoded for form, decoded in forms.items() if len(form) >= MINIMUM_KNOWN_LENGTH}


def secret_values(environment: Mapping[str, str]) -> Iterable[str]:
    """Yield the values of those variables whose names say that they hold a secret; a file's path is none."""
    return (
        value
        for name, value in environment.items()
        if kind_of_name(name) and not value.startswith(("/", "~"))
    )


class KnownValues:
    """A set of secrets to be recognised wherever they turn up. Never shows them.

    Args:
        values: the secrets. Those shorter than eight characters, and placeholders, are left out: they would
            match ordinary text.
    """

    __slots__ = ("_count", "_forms", "_grams")

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._count = 0
        self._forms: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._grams: dict[str, list[tuple[str, int]]] = {}
        for value in dict.fromkeys(values):
            if len(value) >= MINIMUM_KNOWN_LENGTH and not is_placeholder(value):
                self._add(value)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> KnownValues:
        """Return the values of those variables whose names say that they hold a secret."""
        return cls(secret_values(environment))

    def _add(self, value: str) -> None:
        self._count += 1
        for form, decoded in _forms(value).items():
            if form in self._forms:
                continue
            self._forms[form] = (value, decoded)
            for offset in range(min(len(form) - _GRAM + 1, _STEP)):
                self._grams.setdefault(form[offset : offset + _GRAM], []).append((form, offset))

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"KnownValues({self._count} values)"

    def find(self, text: str) -> list[Hit]:
        """Return where any of the values stands in a text, in any of its forms."""
        grams = self._grams
        if not grams:
            return []
        hits = []
        for position in range(0, len(text) - _GRAM + 1, _STEP):
            entries = grams.get(text[position : position + _GRAM])
            if entries is None:
                continue
            for form, offset in entries:
                start = position - offset
                if start >= 0 and text.startswith(form, start):
                    value, decoded = self._forms[form]
                    hits.append(Hit("known-value", Tier.KNOWN, start, start + len(form), value, decoded))
        return hits
