"""Reads the words of command lines that stand anywhere in a text.

Not a shell: it only has to know which words belong to one simple command. A command ends at a line end, `;`,
`|`, `&`, a closing bracket, or the quote that closes the text around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from haltline.secrets.patterns import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_WORDS = 1000
_LONGEST_TEXT = 8192
_QUOTES = "\"'`"

# Parts of a word; possessive, so nothing is read twice. A quote inside a word opens something only when more
# follows at once: otherwise it closes what stands around the command.
_OPENS = r"(?![\s,;)\]}\"']|\Z)"
_QUOTED = (
    r"\"{0}(?:[^\"\\\n]|\\.){{0,1024}}+\"|'{0}[^'\n]{{0,1024}}+'"
    r"|\\\"{0}[^\"\\\n]{{0,1024}}+\\\"|`[^`\n]{{0,256}}+`"
)
_PLAIN = (
    r"[^\s\"'`\\$;|&<>(){}]++|\$\([^()\n]{0,256}+\)|\$?\{\{[^}\n]{0,256}+\}\}|\$\{[^}\n]{0,256}+\}"
    r"|<[A-Za-z][^<>\n]{0,64}+>|[${}]|\\[^\n\"]"
)
_WORD = rf"(?:{_QUOTED.format('')}|{_PLAIN})(?:{_QUOTED.format(_OPENS)}|{_PLAIN})*+"
_BLANKS = r"(?:[ \t]|\\\r?\n)++"
_REDIRECTION = r"[0-9&]?(?:(<<<)|<<-?|>>|>\||[<>]&?)(?![A-Za-z][^<>\n]{0,64}>)[ \t]*+"
_LIST_ITEM = r"\\?[\"'],\s{0,16}\\?([\"'])((?:(?!\1)[^\\\n]|\\[^\"'\n]){0,4096}+)(?=\\?\1)"


class Word(NamedTuple):
    """One word of a command.

    Attributes:
        start: where `value` begins in the text.
        value: the word as written, without quotes that enclose all of it.
        literal: true when nothing in it is filled in by the shell, as between single quotes.
    """

    start: int
    value: str
    literal: bool = False


class CommandLine(NamedTuple):
    """One simple command.

    Attributes:
        words: its words, from the program on.
        here_strings: what stands behind `<<<`.
        nested: where words stand that may hold commands themselves.
        end: where it ends.
    """

    words: Sequence[Word]
    here_strings: Sequence[Word]
    nested: Sequence[tuple[int, int]]
    end: int


def read_command(text: str, start: int, limit: int) -> CommandLine:
    """Return the command whose program's name begins at `start`, and ends before `limit` at the latest."""
    quote = text[start - 1] if start and text[start - 1] in _QUOTES else ""
    if quote:
        escaped = text[max(0, start - 2)] == "\\"
        closes = compiled(rf"\\{quote}" if escaped else rf"(?<!\\){quote}")
        found = closes.search(text, start, min(limit, start + _LONGEST_TEXT))
        closing = found.start() if found else -1
        if closing >= 0 and compiled(r"[\w.\-]++").fullmatch(text, start, closing):
            behind = closing + escaped + 1
            if text.startswith(",", behind):
                return _read_list(text, start, closing, limit)
            return _read_words(text, start, closing, behind, limit)
        limit = closing if closing >= 0 else limit
    return _read_words(text, start, start, start, limit)


def _read_list(text: str, start: int, end: int, limit: int) -> CommandLine:
    """Read `'program', 'word', …`, as programs print the words of a command."""
    words = [Word(start, text[start:end], literal=True)]
    item = compiled(_LIST_ITEM)
    while len(words) < MOST_WORDS and (match := item.match(text, end, limit)):
        words.append(Word(match.start(2), match[2], literal=True))
        end = match.end()
    return CommandLine(words, (), [(word.start, word.start + len(word.value)) for word in words[1:]], end)


def _read_words(text: str, start: int, program_end: int, at: int, limit: int) -> CommandLine:
    words = [Word(start, text[start:program_end])] if program_end > start else []
    here_strings: list[Word] = []
    nested = []
    word, blanks, redirection = compiled(_WORD), compiled(_BLANKS), compiled(_REDIRECTION)
    end = at
    while len(words) < MOST_WORDS:
        blank = blanks.match(text, at, limit)
        if words and blank is None:
            break
        at = blank.end() if blank else at
        redirected = redirection.match(text, at, limit)
        match = word.match(text, redirected.end() if redirected else at, limit)
        if match is None:
            break
        at = end = match.end()
        read = _unquoted(match.start(), match[0])
        if redirected is None:
            words.append(read)
        elif redirected[1]:
            here_strings.append(read)
        if " " in read.value:
            nested.append((read.start, read.start + len(read.value)))
    return CommandLine(words, here_strings, nested, max(end, start + 1))


def _unquoted(start: int, raw: str) -> Word:
    """Return a word without the quotes around it."""
    begin, value = bare(raw)
    return Word(start + begin, value, literal=begin == 1 and raw[0] == "'")


def bare(raw: str) -> tuple[int, str]:
    """Return how much of a text's beginning is its opening quote, and the text without its quotes."""
    for opening in ('\\"', "\\'", '"', "'"):
        if raw.startswith(opening):
            rest = raw[len(opening) :]
            return len(opening), rest.removesuffix(opening)
    return 0, raw
