"""SQL text as statements and their words: comments are left out, and a literal is never taken for a word."""

from __future__ import annotations

import re

_COMMENTS = r"--[^\n]*|/\*.*?(?:\*/|\Z)"
_LITERALS = r"|\$([A-Za-z_]*)\$.*?(?:\$\1\$|\Z)"
_NAMES = (
    r'|"(?:[^"]|"")*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[A-Za-z_][^\]\n]{0,128}+\]|[@#]{0,2}[A-Za-z_][A-Za-z0-9_$]*'
    r"|\d[\w.]*|;|\\[Gg](?![a-z])|\\;|\\[A-Za-z!?.+]+(?:(?!\\\\)[^\n])*|\\\\"
    r"|^[ \t]*\.[a-z]+[^\n]*|[<>=!]+|[^\s]"
)
_PLAIN = r"|[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)|'(?:[^']|'')*(?:'|\Z)"
_ESCAPED = r"|'(?:[^'\\]|\\.|'')*(?:'|\Z)"
_FLAGS = re.DOTALL | re.MULTILINE
_TOKENS = {
    False: re.compile(_COMMENTS + _LITERALS + _PLAIN + _NAMES, _FLAGS),
    True: re.compile(r"\#[^\n]*|" + _COMMENTS + _LITERALS + _ESCAPED + _NAMES, _FLAGS),
}


class Statement:
    """One statement.

    Attributes:
        words: its words in capitals; a literal keeps one leading quote mark, a quoted name both.
        start: where it begins in the text.
        end: where it ends.
    """

    __slots__ = ("end", "start", "words")

    def __init__(self, words: list[str], start: int, end: int) -> None:
        self.words = words
        self.start = start
        self.end = end


def statements(text: str, *, escapes: bool) -> list[Statement]:
    """Return the statements of a text; `escapes` where a backslash escapes in literals."""
    result: list[Statement] = []
    words: list[str] = []
    start = 0
    for match in _TOKENS[escapes].finditer(text):
        lexeme = match[0]
        if lexeme[:2] in ("--", "/*") or (lexeme[0] == "#" and escapes):
            continue
        first = lexeme[0]
        if _separates(lexeme):
            if words:
                result.append(Statement(words, start, match.start()))
            words = []
            continue
        if not words:
            start = match.start()
        if match[1] is not None:
            size = len(match[1]) + 2
            words.append("'" + lexeme[size:-size])
        elif first == "'" or lexeme[:2] in ("e'", "E'"):
            words.append("'" + lexeme[lexeme.index("'") + 1 :].removesuffix("'").replace("''", "'"))
        else:
            words.append(lexeme if first in '"`[' else lexeme.upper())
    if words:
        result.append(Statement(words, start, len(text)))
    return result


def _separates(lexeme: str) -> bool:
    r"""Return whether a token ends a statement: `;`, `\G`, or a command of the client."""
    if len(lexeme) == 1:
        return lexeme in ";\\"
    return lexeme[0] == "\\" or lexeme.lstrip(" \t")[:1] == "."
