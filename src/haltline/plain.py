"""Copies of foreign values that hold nothing but JSON's own types, or why there can be none.

A request comes from whoever embeds Haltline, and its objects may do anything when they are touched: say
another thing when asked twice, never end, raise. So each is read once, with the methods of the built-in types
wherever it is one, and everything after that sees the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel

MAX_NESTING = 32
"""Most levels of objects and lists inside one another."""

MAX_VALUES = 50_000
"""Most values in one request, those inside others included."""

MAX_NUMBER_BITS = 1024
"""Longest whole number; what is longer has no use, and takes long to write down."""


class NotPlain(ValueError):
    """A value has no plain copy.

    Attributes:
        problem: what is wrong.
        place: the keys that lead to it, the outermost first.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self._inside_out: list[str] = []

    def inside(self, key: str) -> NotPlain:
        """Return the same, seen from one level further out."""
        self._inside_out.append(key)
        return self

    @property
    def place(self) -> tuple[str, ...]:
        """The keys that lead to it, the outermost first."""
        return tuple(reversed(self._inside_out))


def plain(value: Any) -> Any:
    """Return a copy made of dict, list, tuple, str, int, float, bool and None.

    Mappings and models become dicts.

    Raises:
        NotPlain: it is too deep or too large, holds text that is no Unicode or has a NUL character, a number
            without a text, a key that is no text, or something that JSON does not know.
        BaseException: whatever the value itself raises when it is read.
    """
    return _Copier().copy(value, 0)


class _Copier:
    def __init__(self) -> None:
        self._left = MAX_VALUES

    def copy(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise NotPlain(f"holds more than {MAX_VALUES} values")
        if depth > MAX_NESTING:
            raise NotPlain(f"nested deeper than {MAX_NESTING} levels")
        kind = type(value)  # isinstance would ask the value itself, too
        if value is None or kind is bool:
            return value
        for scalar, read in _SCALARS:
            if issubclass(kind, scalar):
                return read(value)
        return self._copy_of_many(kind, value, depth)

    def _copy_of_many(self, kind: type[Any], value: Any, depth: int) -> Any:
        if issubclass(kind, list):
            return self._items(list.__iter__(value), depth)
        if issubclass(kind, tuple):
            return tuple(self._items(tuple.__iter__(value), depth))
        if issubclass(kind, dict):
            return self._fields(dict.items(value), depth)
        if issubclass(kind, BaseModel):
            return self._fields(object.__getattribute__(value, "__dict__").items(), depth)
        if issubclass(kind, Mapping):
            return self._fields(((key, value[key]) for key in value), depth)
        raise NotPlain(f"expected a JSON value, got {kind.__name__}")

    def _items(self, items: Iterable[Any], depth: int) -> list[Any]:
        copied: list[Any] = []
        for number, item in enumerate(items):
            try:
                copied.append(self.copy(item, depth + 1))
            except NotPlain as error:
                raise error.inside(str(number))  # noqa: B904 - the same error, with one more key
        return copied

    def _fields(self, fields: Iterable[tuple[Any, Any]], depth: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for key, item in fields:
            if not issubclass(type(key), str):
                raise NotPlain(f"expected text as a key, got {type(key).__name__}")
            name = _text(key)
            try:
                copied[name] = self.copy(item, depth + 1)
            except NotPlain as error:
                raise error.inside(name)  # noqa: B904 - the same error, with one more key
        return copied


def _text(value: str) -> str:
    text = str.__str__(value)
    if "\x00" in text:
        raise NotPlain("contains a NUL character, which no database here stores")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise NotPlain("is not valid Unicode text (a lone surrogate)") from None
    return text


def _whole_number(value: int) -> int:
    number = int.__index__(value)
    if number.bit_length() > MAX_NUMBER_BITS:
        raise NotPlain(f"expected a number of at most {MAX_NUMBER_BITS} bits, got {number.bit_length()}")
    return number


def _number(value: float) -> float:
    number = float.__float__(value)
    if not abs(number) < float("inf"):
        raise NotPlain("expected a finite number")
    return number


_SCALARS: tuple[tuple[type[Any], Callable[[Any], Any]], ...] = (
    (str, _text),
    (int, _whole_number),
    (float, _number),
)
