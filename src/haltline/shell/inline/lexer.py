"""Strings and comments of scripting languages, set apart from the code around them in one linear pass.

Each language's lexical rules are data; where two readings are possible (a slash may divide or begin a
pattern) the one that its preceding character suggests is taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haltline.shell.scanner import ansi_c

if TYPE_CHECKING:
    from collections.abc import Callable

FILLER = "\x01"  # stands in the code for what a string holds
_STEPS_OF_A_STRING = 2

# A string that begins always matches, to the end of the text at worst: even behind a backslash that ends it.
_SINGLE = r"'(?:[^'\\]|\\(?:.|\Z))*+(?:'|\Z)"
_DOUBLE = r'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)'
_BACK = r"`(?:[^`\\]|\\(?:.|\Z))*+(?:`|\Z)"
_TRIPLE = r'"""(?:[^\\]|\\(?:.|\Z))*?(?:"""|\Z)' + "|" + r"'''(?:[^\\]|\\(?:.|\Z))*?(?:'''|\Z)"
_C_COMMENT = r"/\*.*?(?:\*/|\Z)|//[^\n]*"
_HASH = r"(?<![$&\\])#(?!\{)[^\n]*"
_REGEX = r"(?<=[(,=:\[!&|?{};~\n])[ \t]{0,4}/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.){0,40}\])+/[a-z]*"

_BRACKETED = (
    r"\{[^}]*(?:\}|\Z)|\([^)]*(?:\)|\Z)|\[[^\]]*(?:\]|\Z)|<[^>]*(?:>|\Z)|\|[^|]*(?:\||\Z)|![^!]*(?:!|\Z)"
)
_SLASHED = r"/[^/]*(?:/|\Z)|#[^#]*(?:#|\Z)|~[^~]*(?:~|\Z)"

_LEXICAL: dict[str, tuple[str, str]] = {
    # language: (strings, what is neither string nor code)
    "javascript": (f"{_SINGLE}|{_DOUBLE}|{_BACK}", f"{_C_COMMENT}|{_REGEX}"),
    "perl": (
        rf"(?<![\w$@%&>-])q[qwx]?(?:[ \t]{{0,4}}(?:{_BRACKETED})|(?:{_SLASHED}))|{_SINGLE}|{_DOUBLE}|{_BACK}",
        (
            rf"{_HASH}|{_REGEX}|(?<![\w$@%&>-])(?:m|qr)[/|!#][^/|!#\n]*[/|!#]"
            r"|(?<![\w$@%&>-])(?:s|tr|y)/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/(?!\w*e)[a-z]*"
        ),
    ),
    "ruby": (
        rf"(?<!\w)%[qQwWxiI]?(?:{_BRACKETED})|{_SINGLE}|{_DOUBLE}|{_BACK}",
        f"{_HASH}|{_REGEX}",
    ),
    "php": (f"{_SINGLE}|{_DOUBLE}|{_BACK}", f"{_C_COMMENT}|{_HASH}"),
    "lua": (rf"\[\[.*?(?:\]\]|\Z)|{_SINGLE}|{_DOUBLE}", r"--\[\[.*?(?:\]\]|\Z)|--[^\n]*"),
    "r": (f"{_SINGLE}|{_DOUBLE}", _HASH),
    "applescript": (_DOUBLE, r"--[^\n]*|\(\*.*?(?:\*\)|\Z)"),
    "groovy": (f"{_TRIPLE}|{_SINGLE}|{_DOUBLE}", _C_COMMENT),
    "elixir": (f"{_TRIPLE}|{_SINGLE}|{_DOUBLE}", _HASH),
    "julia": (f"{_TRIPLE}|{_DOUBLE}|{_BACK}", _HASH),
    "tcl": (_DOUBLE, r"(?:^|(?<=[;\n]))[ \t]{0,8}#[^\n]*"),
}
_compiled: dict[str, re.Pattern[str]] = {}

_INTERPOLATED = {
    "javascript": ("`", re.compile(r"\$\{([^{}]*)\}")),
    "perl": (
        '"`',
        re.compile(r"[$@](?:\{\s*(\w+)\s*\}|(\w+)(?:->)?(?:\[[^\]\s]{0,40}\]|\{[^}\s]{0,40}\})?)"),
    ),
    "ruby": ('"`', re.compile(r"#\{([^{}]*)\}")),
    "elixir": ('"', re.compile(r"#\{([^{}]*)\}")),
    "php": ('"`', re.compile(r"\{?\$(\w+)(?:\[[^\]\s]{0,40}\])?\}?")),
    "groovy": ('"', re.compile(r"\$\{([^{}]*)\}|\$(\w+)")),
    "julia": ('"`', re.compile(r"\$\(([^()]*)\)|\$(\w+)")),
    "tcl": ('"', re.compile(r"\$\{?(\w+)\}?")),
}


class Text:
    """One string of a script.

    Attributes:
        start: where it begins.
        end: where it ends.
        kind: `text`, `words` (a quoted list) or `command` (what a shell runs).
        value: what it holds, with escapes resolved.
        quote: the character that opens it.
    """

    __slots__ = ("end", "kind", "quote", "start", "value")

    def __init__(self, start: int, end: int, kind: str, value: str, quote: str) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.value = value
        self.quote = quote


class Source:
    """A script with its strings and comments told apart.

    Attributes:
        code: the text of the same length in which strings are filled and comments blank.
        texts: each string by the place where it begins.
        language: its language.
    """

    __slots__ = ("code", "language", "texts")

    def __init__(self, code: str, texts: dict[int, Text], language: str) -> None:
        self.code = code
        self.texts = texts
        self.language = language


def lexed(text: str, language: str, charge: Callable[[int], None]) -> Source:
    """Return a script with its strings and comments told apart; each is `charge`d to the budget of steps."""
    pattern = _compiled.get(language)
    if pattern is None:
        strings, others = _LEXICAL[language]
        pattern = _compiled[language] = re.compile(f"(?P<other>{others})|(?P<string>{strings})", re.DOTALL)
    pieces: list[str] = []
    texts: dict[int, Text] = {}
    position = 0
    for match in pattern.finditer(text):
        charge(_STEPS_OF_A_STRING)
        start, end = match.span()
        pieces.append(text[position:start])
        lexeme = match[0]
        if match["string"] is None:
            pieces.append("\n" * lexeme.count("\n") + " " * (len(lexeme) - lexeme.count("\n")))
        else:
            texts[start] = _text(lexeme, start, end, language)
            pieces.append('"' + FILLER * max(0, len(lexeme) - 2) + ('"' if len(lexeme) > 1 else ""))
        position = end
    pieces.append(text[position:])
    return Source("".join(pieces), texts, language)


_OPENER = re.compile(r"(?:%([qQwWxiI]?)|q([qwx]?)[ \t]*)?(\[\[|\"\"\"|'''|.)", re.DOTALL)
_KINDS = {"w": "words", "W": "words", "i": "words", "I": "words", "x": "command"}
_COMMAND_BACKTICK = frozenset({"perl", "ruby", "php", "julia"})


def _text(lexeme: str, start: int, end: int, language: str) -> Text:
    match = _OPENER.match(lexeme)
    opener = match[3] if match is not None else lexeme[:1]
    letter = ((match[1] or match[2]) if match is not None else None) or ""
    begin = match.end() if match is not None else 1
    value = lexeme[begin : max(begin, len(lexeme) - len(opener))]
    quote = opener[0]
    if match is not None and (match[1] is not None or match[2] is not None):
        quote = (
            '"' if letter in ("q", "Q", "x", "W", "") and not (letter == "q" and language == "ruby") else "'"
        )
        if language == "perl" and letter == "":
            quote = "'"
    kind = _KINDS.get(letter, "text")
    if quote == "`" and language in _COMMAND_BACKTICK:
        kind = "command"
    raw = (quote == "'" and language in ("perl", "ruby", "php")) or opener == "[["
    return Text(
        start,
        end,
        kind,
        re.sub(r"\\(['\\])", r"\1", value) if raw else ansi_c(value.replace('\\"', '"')),
        quote,
    )


def interpolations(text: Text, language: str) -> list[tuple[int, int, str]]:
    """Return where a string holds code: begin, end, and the code."""
    quotes, pattern = _INTERPOLATED.get(language, ("", None))
    if pattern is None or text.quote not in quotes:
        return []
    return [
        (match.start(), match.end(), next((group for group in match.groups() if group), ""))
        for match in pattern.finditer(text.value)
    ]


def filled(text: Text, language: str, name: Callable[[str], str | None], unknown: str) -> str:
    """Return a string's value with what it interpolates filled in, or marked as unknown."""
    pieces: list[str] = []
    position = 0
    for begin, end, code in interpolations(text, language):
        pieces.append(text.value[position:begin])
        inner = code.strip()
        if len(inner) > 1 and inner[0] in "'\"" and inner[-1] == inner[0] and inner.count(inner[0]) == 2:  # noqa: PLR2004  the quotes around it
            value: str | None = inner[1:-1]
        else:
            value = name(inner.lstrip("$@"))
        pieces.append(unknown if value is None else value)
        position = end
    pieces.append(text.value[position:])
    return "".join(pieces)
