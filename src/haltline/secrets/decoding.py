"""Undoes the encodings that a secret may travel in, within bounds.

Runs of sixteen to twenty-four characters and more, at most three layers; all that is decoded together at most
64 KiB or twice the input, whichever is more; inflating at most 256 KiB and a hundredfold. Beyond a bound
nothing is decoded: a small input must not cost more than a large one.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from haltline.secrets.patterns import compiled
from haltline.secrets.validators import decode_base64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from haltline.secrets.words import LongWords

MAXIMUM_LAYERS = 3
_MINIMUM_BUDGET = 65_536
_MAXIMUM_INFLATED = 262_144
_MAXIMUM_RATIO = 100
_SHORTEST = 12
_FURTHEST = 256
# Characters for each word, blanks included, below which a text may be spaced out.
_SPACED_OUT = 4

# Possessive runs (`{16,}+`): what does not end as wanted is given up at once, so that no run is read twice.
_ALPHABET_RUN = r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{16,}+={0,6}"
_SHORTEST_RUN = 24
_PLAIN_RUN = r"[A-Za-z0-9+/]{24,}"
_LINE_ENDS = ("\n", "\r\n", "\\n", "\\r\\n")
_WRAPPED = r"[A-Za-z0-9+/_\-]{16,}+(?:(?:\r?\n|\\r\\n|\\n)[ \t>]{0,8}+[A-Za-z0-9+/_\-]{2,}+){1,4000}+={0,2}"
_LINE_END = r"(?:\r?\n|\\r\\n|\\n)[ \t>]*"
_PERCENT = r"[A-Za-z0-9%_.~+\-]{16,}"
_PERCENT_CODE = r"%([0-9A-Fa-f]{2})"
_ESCAPED = (
    r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"
    r"|\\u\{[0-9A-Fa-f]{1,6}\}|\\[0-7]{3}|[A-Za-z0-9_.\-]){16,}"
)
_ESCAPE_CODE = r"\\x([0-9A-Fa-f]{2})|\\u\{?([0-9A-Fa-f]{1,6})\}?|\\([0-7]{3})"
_ENTITIES = r"(?:&#[0-9]{1,7};|&#[xX][0-9A-Fa-f]{1,6};|[A-Za-z0-9_.\-]){16,}"
_ENTITY_CODE = r"&#(?:[xX]([0-9A-Fa-f]{1,6})|([0-9]{1,7}));"
_SPACED = r"(?<!\S)(?:[A-Za-z0-9_.+/=\-][ \t]){15,}[A-Za-z0-9_.+/=\-](?!\S)"
# Zero-width characters, direction marks, word joiner, byte-order mark, soft hyphen, vowel separator.
_INVISIBLE = r"[\u200b-\u200f\u2060\ufeff\u00ad\u180e]"
_WITH_INVISIBLE = rf"(?:[A-Za-z0-9_.+/=\-]{_INVISIBLE}{{0,4}}){{16,}}"
_WIDE = r"(?:[\x20-\x7e]\x00){16,}"
_BASE32_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_HEX_ONLY = r"(?:[0-9a-fA-F]{2})+"
_BASE32_ONLY = r"[A-Z2-7]+=*"
_GZIP, _ZLIB = b"\x1f\x8b", b"\x78"


class Layer(NamedTuple):
    """A part of a text with one encoding undone."""

    start: int
    end: int
    text: str
    encoding: str


class Budget:
    """How much may still be decoded for one input, in characters."""

    __slots__ = ("left",)

    def __init__(self, size: int) -> None:
        self.left = max(_MINIMUM_BUDGET, 2 * size)

    def take(self, size: int) -> bool:
        """True when so much may still be decoded; it is then used up."""
        if size > self.left:
            return False
        self.left -= size
        return True


def is_spaced_out(text: str) -> bool:
    """True when the characters of a text may stand apart: hardly three of them for each blank."""
    return text.count(" ") * (_SPACED_OUT - 1) > len(text)


def find_layers(words: LongWords) -> Iterator[Layer]:
    """Yield the encoded parts of a text, decoded; a part that decodes to no text is passed over."""
    text, joined = words.text, words.joined
    yield from _alphabet_runs(words)
    if "%" in joined:
        yield from _coded(text, _PERCENT, _PERCENT_CODE, "percent", _from_hexadecimal)
    if "\\" in joined:
        yield from _coded(text, _ESCAPED, _ESCAPE_CODE, "escape", _from_escape)
    if "&#" in joined:
        yield from _coded(text, _ENTITIES, _ENTITY_CODE, "entity", _from_entity)
    if "\x00" in text or not text.isascii() or is_spaced_out(text):
        yield from _interspersed(words)


def _interspersed(words: LongWords) -> Iterator[Layer]:
    """Yield runs whose characters stand apart: by NULs (UTF-16), invisible characters or blanks."""
    text = words.text
    if "\x00" in text:
        for match in compiled(_WIDE).finditer(text):
            yield Layer(*match.span(), match[0].replace("\x00", ""), "utf-16")
    if not text.isascii():
        for match in compiled(_WITH_INVISIBLE).finditer(text):
            visible = compiled(_INVISIBLE).sub("", match[0])
            if len(visible) < len(match[0]):
                yield Layer(*match.span(), visible, "invisible")
    if is_spaced_out(text) and len(text) < _SPACED_OUT * len(words.words):
        for match in compiled(_SPACED).finditer(text):
            yield Layer(*match.span(), re.sub(r"[ \t]", "", match[0]), "spaced")


def _alphabet_runs(words: LongWords) -> Iterator[Layer]:
    """Yield hexadecimal, base32 and base64, in one piece or broken into lines."""
    joined = words.joined
    wrapped_end = 0
    for match in compiled(_ALPHABET_RUN).finditer(joined):
        start, end = match.span()
        if end - start >= _SHORTEST_RUN:
            yield from _one_run(words, match)
        if joined.startswith((" ", "\\n", "\\r"), end):
            place = words.place(start)
            if place < wrapped_end or not words.text.startswith(_LINE_ENDS, place + end - start):
                continue
            lines = compiled(_WRAPPED).match(words.text, place)
            if lines is not None:
                wrapped_end = lines.end()
                yield from _unwrapped(lines)


def _one_run(words: LongWords, match: re.Match[str]) -> Iterator[Layer]:
    decoded = decode_run(match[0])
    if decoded is not None:
        start = words.place(match.start())
        yield Layer(start, start + len(match[0]), *decoded)
    elif "_" in match[0] or "-" in match[0]:
        # An underscore or hyphen may belong to what stands before base64, and not to base64url.
        for part in compiled(_PLAIN_RUN).finditer(match[0]):
            decoded = decode_run(part[0])
            if decoded is not None:
                start = words.place(match.start()) + part.start()
                yield Layer(start, start + len(part[0]), *decoded)


def _unwrapped(lines: re.Match[str]) -> Iterator[Layer]:
    """Yield base64 that was broken into lines, with real line ends or written ones."""
    decoded = decode_run(re.sub(_LINE_END, "", lines[0]))
    if decoded is not None:
        yield Layer(*lines.span(), *decoded)


def decode_run(run: str) -> tuple[str, str] | None:
    """Return what a run of hexadecimal, base32 or base64 digits stands for, and which it was."""
    if compiled(_HEX_ONLY).fullmatch(run):
        text = _as_text(bytes.fromhex(run))
        if text is not None:
            return text, "hex"
    if compiled(_BASE32_ONLY).fullmatch(run):
        data = _decode_base32(run.rstrip("="))
        text = _as_text(data) if data else None
        if text is not None:
            return text, "base32"
    data = decode_base64(run)
    text = _as_text(data) if data else None
    return None if text is None else (text, "base64")


def _decode_base32(run: str) -> bytes | None:
    number = 0
    for digit in run[:4096]:
        number = number << 5 | _BASE32_DIGITS.index(digit)
    bits = len(run[:4096]) * 5
    return (number >> bits % 8).to_bytes(bits // 8, "big")


def _as_text(data: bytes) -> str | None:
    """Return decoded bytes as text, inflated or narrowed where needed; None when they are no text."""
    if data.startswith((_GZIP, _ZLIB)):
        data = _inflate(data) or data
    if len(data) < _SHORTEST:
        return None
    if data.isascii():
        text = data.decode("ascii")
        return text.replace("\x00", "") if "\x00" in text else text
    if not any(data[1:64:2]):
        return data.decode("utf-16-le", "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _inflate(data: bytes) -> bytes | None:
    limit = min(_MAXIMUM_INFLATED, _MAXIMUM_RATIO * len(data))
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress(data, limit)
    except zlib.error:
        return None


def inflated(data: bytes) -> str | None:
    """Return the text that bytes compress (gzip or zlib), or None."""
    if not data.startswith((_GZIP, _ZLIB)):
        return None
    plain = _inflate(data)
    return None if plain is None else plain.decode("utf-8", "replace")


def _coded(
    text: str, run: str, code: str, encoding: str, decode: Callable[[re.Match[str]], str]
) -> Iterator[Layer]:
    """Yield the runs of a text that hold at least one code, with all of them decoded."""
    end = 0
    for found in compiled(code).finditer(text):
        if found.start() < end:
            continue
        start = found.start()
        while start > max(end, found.start() - _FURTHEST) and (
            text[start - 1].isalnum() or text[start - 1] in "_.-"
        ):
            start -= 1
        match = compiled(run).match(text, start)
        if match is not None:
            end = match.end()
            yield Layer(start, end, compiled(code).sub(decode, match[0]), encoding)


def _from_hexadecimal(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _from_escape(match: re.Match[str]) -> str:
    if match[3]:
        return chr(int(match[3], 8))
    number = int(match[1] or match[2], 16)
    return chr(number) if number <= 0x10FFFF else ""  # noqa: PLR2004 - Unicode's last code point


def _from_entity(match: re.Match[str]) -> str:
    number = int(match[1], 16) if match[1] else int(match[2])
    return chr(number) if number <= 0x10FFFF else ""  # noqa: PLR2004 - Unicode's last code point
