"""The short way for plain commands: most need no syntax tree.

A command line of plain and quoted words needs no analysis at all when, for each of its programs, the words
that any rule or detector of that program would need do not occur in it. A single plain command needs no tree:
its words are its words. Everything else takes the whole way. `tests/unit/shell/test_quick.py` compares both.

Measured over everyday commands: the median is a third, and the 95th percentile two thirds, of what they are
without it.
"""

from __future__ import annotations

import re

from haltline.shell.vocabulary import word_set

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from haltline.shell.book import Book

_WORD = r"[A-Za-z0-9_./:,@%+*?^\]\[=-]"
_QUOTED = r"'[^'\n\0-\x08]*+'|\"[^\"\\$`\n\0-\x08]*+\""
_SILENCE = r"(?:2>&1|2>/dev/null|>/dev/null)(?=[ |&;]|\Z)"
_PLAIN = re.compile(rf"{_WORD}++(?: ++{_WORD}++)*+ *\Z")
# Possessive throughout: a character belongs to one alternative only, so that no text is tried twice.
_COMMAND = rf"(?:(?<= ){_SILENCE}|(?:{_WORD}++|{_QUOTED})++| ++)++"
_LINE = re.compile(rf"{_COMMAND}(?:(?:\|\|?|&&|;){_COMMAND})*+;?\Z")
_COMMANDS = re.compile(_COMMAND)
_TOKEN = re.compile(r"(?:[^ '\"]++|'[^']*+'|\"[^\"]*+\")++")
_QUOTES = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_KEYWORDS = word_set(
    "if then elif else fi while until for select do done case esac function time coproc [[ { } !"
)
_NAME = re.compile(r"(?!/+(?:usr/local/)?etc/)[A-Za-z0-9_./:,@%+^\]-]+\Z")
MAX_LENGTH = 4096


def plain_words(command: str, book: Book) -> list[str] | None:
    """Return a plain command's words: none when no rule can hold for it; None when it is not plain."""
    if len(command) > MAX_LENGTH:
        return None
    if _PLAIN.match(command) is not None:
        words = command.split()
        if _needs_tree(words[0]):
            return None
        return words if _matters(command, words[0], book) else []
    if _LINE.match(command) is None:
        return None
    commands = _COMMANDS.findall(command)
    if len(commands) > 1:
        return [] if all(_idle(one, book) for one in commands) else None
    name = command.split(" ", 1)[0]
    if _needs_tree(name) or ">" in command or command[-1] == ";":
        return None
    if not _matters(_unquoted(command), name, book):
        return []
    return [_unquoted(token) for token in _TOKEN.findall(command)]


def _unquoted(text: str) -> str:
    """Return a text without the quotes around its parts; what is quoted holds no escapes and expansions."""
    if "'" not in text:
        return text.replace('"', "")
    if '"' not in text:
        return text.replace("'", "")
    return _QUOTES.sub(lambda match: match[match.lastindex or 0], text)


def _needs_tree(name: str) -> bool:
    return not _NAME.match(name) or name in _KEYWORDS


def _matters(text: str, name: str, book: Book) -> bool:
    if name == "git":
        name = _subcommand(text, book)
    trigger = book.trigger(name)
    if trigger is None:
        return book.known(name)
    return trigger.occurs(text)


def _subcommand(text: str, book: Book) -> str:
    """Return the program that a subcommand of Git is judged as, if it stands first; else Git itself."""
    words = text.split(None, 2)
    if len(words) > 1 and words[1][0] != "-":
        name = "git-" + words[1]
        if "/" not in name and book.known(name):
            return name
    return "git"


def _idle(command: str, book: Book) -> bool:
    """Return whether one of several commands is known, and has nothing that a rule needs."""
    words = command.split(None, 1)
    if not words or _needs_tree(words[0]):
        return False
    text = _unquoted(command)
    trigger = book.trigger(_subcommand(text, book) if words[0] == "git" else words[0])
    return trigger is not None and not trigger.occurs(text)
