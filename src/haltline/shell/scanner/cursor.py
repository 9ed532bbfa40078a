"""What every part of the scanner shares: the text, the place in it, the limits, and what was found wrong."""

from __future__ import annotations

import re
from abc import abstractmethod

from haltline.shell.syntax import Arithmetic, Literal, Parameter, Redirection, Script, Substitution, Word

MAX_LENGTH = 64 * 1024
MAX_DEPTH = 40
MAX_COMMANDS = 4000

Parts = list[Literal | Parameter | Substitution | Arithmetic]

BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|time|coproc|\[\[|\{|\}|!)"
    r"(?=[ \t\r\n;&|()<>]|\Z)"
)
CLOSERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
PARENTHESES = re.compile(r"[ \t]*\([ \t\r\n]*\)")


class Incomplete(Exception):
    """The text ended, or a construct stopped making sense, before it was closed."""


class LimitReached(Exception):
    """The text is longer, deeper or has more commands than is looked at."""


class Scan:
    """What `scan` found.

    Attributes:
        script: the tree, as far as the text could be read.
        error: what was wrong with the text, or None.
        limit: which limit was reached, or None.
        salvaged: words that were cut short; the commands inside them are still to be judged.
    """

    __slots__ = ("error", "limit", "salvaged", "script")

    def __init__(self) -> None:
        self.script = Script()
        self.error: str | None = None
        self.limit: str | None = None
        self.salvaged: list[Word] = []


class Cursor:
    """A text that is being read; offsets in the tree count from `base`."""

    __slots__ = (
        "arithmetic_left",
        "base",
        "commands",
        "length",
        "not_arithmetic",
        "pending",
        "result",
        "text",
    )

    def __init__(self, text: str, base: int, result: Scan, commands: int = 0) -> None:
        self.text = text
        self.length = len(text)
        self.base = base
        self.result = result
        self.commands = commands
        self.pending: list[tuple[Redirection, bool, int]] = []
        self.not_arithmetic: set[int] = set()
        self.arithmetic_left = 2 * self.length + 1000

    def problem(self, message: str) -> None:
        """Note what is wrong with the text; the first thing noted stays."""
        if self.result.error is None:
            self.result.error = message

    def count(self) -> None:
        """Count one more command."""
        self.commands += 1
        if self.commands > MAX_COMMANDS:
            raise LimitReached(f"more than {MAX_COMMANDS} commands")

    def line_end(self, i: int) -> int:
        """Return the offset of the next line break, or of the end of the text."""
        end = self.text.find("\n", i)
        return self.length if end < 0 else end

    def skip(self, pattern: re.Pattern[str], i: int) -> int:
        """Return the offset after a match of the pattern, or `i` where there is none."""
        match = pattern.match(self.text, i)
        return i if match is None else match.end()

    @abstractmethod
    def script(
        self, into: Script, i: int, depth: int, close: str = "", stops: frozenset[str] = frozenset()
    ) -> int:
        """Read a list into `into`; return the offset of the stop word, or after the closing parenthesis."""

    @abstractmethod
    def command(self, into: Script, connector: str, i: int, depth: int, keyword: re.Match[str] | None) -> int:
        """Read one command; `keyword` is the reserved word that it begins with."""

    @abstractmethod
    def array(self, items: list[Word], i: int, depth: int) -> int:
        """Read the words of an array, from after `(` to after `)`."""
