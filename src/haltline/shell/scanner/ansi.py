"""The escapes of `$'…'` (Bash manual, "ANSI-C Quoting")."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}
_UNICODE_LIMIT = 0x10FFFF


def ansi_c(text: str) -> str:
    r"""Return the text of `$'…'` with its escapes (`\n`, `\x41`, `\u00e9`, `\101`, …) replaced."""
    return _ANSI.sub(_ansi_character, text)


def _ansi_character(match: re.Match[str]) -> str:
    escape = match[1]
    first = escape[0]
    if first in "xuU" and len(escape) > 1:
        code = int(escape[1:], 16)
        return chr(code) if code <= _UNICODE_LIMIT else ""
    if first in "01234567":
        return chr(int(escape, 8) & 255)
    if first == "c" and len(escape) > 1:
        return chr(ord(escape[1]) & 31)
    return _ANSI_LETTERS.get(first, first if first in "\\'\"?" else "\\" + first)
