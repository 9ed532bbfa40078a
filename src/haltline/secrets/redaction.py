"""Puts sentinels in the place of secrets.

Redaction repeats until a scan of the result finds nothing, so redacting twice is redacting once. A text that
still shows something new after five rounds is replaced whole: rather too much is masked than too little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from haltline.secrets.fingerprints import sentinel, sentinel_spans
from haltline.secrets.model import UNSCANNED
from haltline.secrets.scanner import (
    MAXIMUM_DEPTH,
    as_text,
    command_hits,
    foreign_text,
    is_plain,
    key_text,
    kinds,
    leaf_hits,
    masked,
    split_parts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from haltline.secrets.known import KnownValues
    from haltline.secrets.model import Hit

_ROUNDS = 5
# A shorter value is masked where it was found; masking it everywhere would blank ordinary text.
MINIMUM_REPEATED = 6


def redact(value: Any, *, known: KnownValues | None = None) -> Any:
    """Return the same shape with every secret replaced by a sentinel such as `«secret:github-app:3f9a1c»`.

    Keys are redacted too, and every occurrence of a value of six characters and more that was found anywhere
    in the object. Idempotent. Never raises and never changes the argument; an object that JSON does not know
    comes back as its redacted text if that holds a secret, and what is nested deeper than 64 levels or inside
    itself comes back as one sentinel.

    Args:
        value: a text, bytes, or nested mappings and sequences.
        known: secrets that this process holds, to be recognised in any form.
    """
    for _ in range(_ROUNDS):
        current = _Round(known)
        redacted = current.rebuild(value)
        current.found.update(split_parts(value))
        if not current.found:
            return redacted
        value = _Round(known, repeated=current.found).rebuild(redacted)
    final = _Round(known, whole=True)
    return final.rebuild(value)


def _whole_text(text: str) -> str:
    return sentinel(UNSCANNED, text)


class _Round:
    """One pass over an object.

    Without `repeated`, masks what a scan finds and collects the values found. With it, masks further
    occurrences of those values instead.
    """

    __slots__ = ("_done", "_known", "_open", "_repeated", "_whole", "found")

    def __init__(
        self, known: KnownValues | None, *, repeated: dict[str, str] | None = None, whole: bool = False
    ) -> None:
        self._known = known
        self._whole = whole
        self._repeated = sorted(repeated.items(), key=lambda pair: -len(pair[0])) if repeated else []
        self._done: dict[int, Any] = {}
        self._open: set[int] = set()
        self.found: dict[str, str] = {}

    def rebuild(self, value: Any, name: str = "", depth: int = 0, more: Sequence[Hit] = ()) -> Any:
        if isinstance(value, str):
            return self._same_or(value, value, name, str, more)
        if isinstance(value, bytes | bytearray):
            return self._same_or(value, as_text(value), name, _as_bytes)
        if is_plain(value):
            return value
        if isinstance(value, Mapping | Sequence | AbstractSet):
            return self._container(value, name, depth)
        text = foreign_text(value)
        return _whole_text("") if text is None else self._same_or(value, text, name, str)

    def _same_or(
        self, value: Any, text: str, name: str, convert: Callable[[str], Any], more: Sequence[Hit] = ()
    ) -> Any:
        clean = self._text(text, name, more)
        return value if clean == text else convert(clean)

    def _text(self, text: str, name: str, more: Sequence[Hit]) -> str:
        if self._repeated:
            return self._without_repeated(text)
        hits = leaf_hits(text, name, self._known, more)
        if not hits:
            return text
        if self._whole:
            return _whole_text(text)
        for hit in hits:
            self.found[hit.value] = hit.rule
            self.found[text[hit.start : hit.end]] = hit.rule
        return masked(text, hits)

    def _without_repeated(self, text: str) -> str:
        for value, rule in self._repeated:
            if len(value) < MINIMUM_REPEATED or value not in text:
                continue
            parts = []
            begin = 0
            for start, end in [*sentinel_spans(text, kinds()), (len(text), len(text))]:
                parts.append(text[begin:start].replace(value, sentinel(rule, value)))
                parts.append(text[start:end])
                begin = end
            text = "".join(parts)
        return text

    def _container(self, value: Any, name: str, depth: int) -> Any:
        identity = id(value)
        if identity in self._done:
            return self._done[identity]
        if identity in self._open or depth >= MAXIMUM_DEPTH:
            return _whole_text("")
        self._open.add(identity)
        result: Any
        if isinstance(value, Mapping):
            result = self._mapping(value, depth)
        else:
            words = {} if self._repeated else command_hits(value)
            items = (
                self.rebuild(item, name, depth + 1, words.get(index, ())) for index, item in enumerate(value)
            )
            kind = next((kind for kind in (tuple, frozenset, set) if isinstance(value, kind)), list)
            result = kind(items)
        self._open.discard(identity)
        self._done[identity] = result
        return result

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key, child in value.items():
            clean = self.rebuild(key, "", depth + 1)
            distinct = clean
            number = 2
            while distinct in result:
                distinct = f"{key_text(clean)}#{number}"
                number += 1
            result[distinct] = self.rebuild(child, key_text(key), depth + 1)
        return result


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
