"""Redirections, and the here-documents that begin at the end of their line."""

from __future__ import annotations

import re

from haltline.shell.scanner.cursor import BLANK
from haltline.shell.scanner.words import Words
from haltline.shell.syntax import Redirection, Word

_REDIRECTION = re.compile(r"([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|(&>>|&>)")


class Redirections(Words):
    """The part of the scanner that reads redirections and line ends."""

    __slots__ = ()

    def redirection_at(self, i: int) -> re.Match[str] | None:
        """Match a redirection operator; `<(` and `>(` are none."""
        match = _REDIRECTION.match(self.text, i)
        if match is None or (match[2] in ("<", ">") and self.text.startswith("(", match.end())):
            return None
        return match

    def redirection(self, into: list[Redirection], match: re.Match[str], depth: int) -> int:
        """Read a redirection whose operator has been matched."""
        operator = match[2] or match[3]
        i = self.skip(BLANK, match.end())
        start = self.base + i
        redirection = Redirection(operator, (match[1] or "").strip("{}"), Word("", start, start))
        into.append(redirection)
        if i >= self.length or (self.text[i] in "\n;&|()<>" and not self.text.startswith(("<(", ">("), i)):
            self.problem("a redirection without its target")
            return i
        redirection.target = self.word(i, depth)
        if operator in ("<<", "<<-"):
            redirection.literal = redirection.target.quoted
            self.pending.append((redirection, operator == "<<-", depth))
        return redirection.target.end - self.base

    def newline(self, i: int) -> int:
        """Read a line break, and the here-documents that begin after it."""
        i += 1
        if not self.pending:
            return i
        pending, self.pending = self.pending, []
        for redirection, strip, depth in pending:
            i = self.here_document_body(redirection, i, depth + 1, strip=strip)
        return i

    def here_document_body(self, redirection: Redirection, i: int, depth: int, *, strip: bool) -> int:
        """Read the lines of a here-document; return the offset after its delimiter."""
        start, lines, continued = i, [], False
        delimiter = redirection.target.text
        while i < self.length:
            end = self.line_end(i)
            line = self.text[i:end]
            i = min(end + 1, self.length)
            if strip and not continued:
                line = line.lstrip("\t")
            if not continued and line.rstrip("\r") == delimiter:
                break
            continued = not redirection.literal and (len(line) - len(line.rstrip("\\"))) % 2 == 1
            lines.append(line + "\n")
        text = "".join(lines)
        body = Word(text, self.base + start, self.base + i)
        redirection.body = body
        if redirection.literal or not ("$" in text or "`" in text or "\\" in text):
            body.quoted = True
            return i
        body.parts = []
        scanner = type(self)(text, self.base + start, self.result, self.commands)
        scanner.here_document(body.parts, [], depth)
        self.commands = scanner.commands
        return i

    def skip_lines(self, i: int) -> int:
        """Return the offset of what follows blanks, line breaks and comments."""
        while True:
            i = self.skip(BLANK, i)
            if self.text.startswith("\n", i):
                i = self.newline(i)
            elif self.text.startswith("#", i):
                i = self.line_end(i)
            else:
                return i
