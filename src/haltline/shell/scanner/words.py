"""One word: its plain runs, quotes, expansions and patterns."""

from __future__ import annotations

import re

from haltline.shell.scanner.cursor import Incomplete, LimitReached, Parts
from haltline.shell.scanner.expansions import Expansions
from haltline.shell.syntax import Arithmetic, Literal, Script, Substitution, Word

_PLAIN = re.compile(r"[^ \t\r\n'\"\\$`<>&|;()]+(?=[ \t\r\n;&|)]|[<>](?!\()|\Z)")
# One quoted text that is a whole word: two of three words with quotes.
_WHOLLY_QUOTED = re.compile(r"(?:'([^']*+)'|\"([^\"\\$`]*+)\")(?=[ \t\r\n;&|)]|[<>](?!\()|\Z)")
_RUN = re.compile(r"[^ \t\r\n'\"\\$`<>&|;()]+")


class Words(Expansions):
    """The part of the scanner that reads words."""

    __slots__ = ()

    def word(self, i: int, depth: int) -> Word:
        """Read one word."""
        plain = _PLAIN.match(self.text, i)
        if plain is not None:
            return Word(plain.group(), self.base + i, self.base + plain.end())
        wholly = _WHOLLY_QUOTED.match(self.text, i)
        if wholly is not None:
            word = Word(wholly[wholly.lastindex or 0], self.base + i, self.base + wholly.end())
            word.quoted = True
            return word
        parts: Parts = []
        texts: list[str] = []
        word = Word("", self.base + i, self.base + i)
        try:
            end = self.pieces(parts, texts, i, depth)
        except (Incomplete, LimitReached):
            word.parts = parts
            self.result.salvaged.append(word)
            raise
        word.text = "".join(texts)
        word.end = self.base + end
        if len(parts) == 1 and isinstance(parts[0], Literal):
            word.quoted = parts[0].quoted
        elif parts:
            word.parts = parts
            word.quoted = any(part.quoted for part in parts if not isinstance(part, Arithmetic))
        return word

    def pieces(self, parts: Parts, texts: list[str], i: int, depth: int) -> int:  # noqa: C901, PLR0912  one case for each quoting character
        """Read a word's pieces; return the offset after it."""
        text, length = self.text, self.length
        while i < length:
            run = _RUN.match(text, i)
            if run is not None:
                self.literal(parts, texts, run.group(), quoted=False)
                i = run.end()
                if i >= length:
                    return i
            c = text[i]
            if c in " \t\r\n;&|)":
                return i
            if c == "'":
                end = text.find("'", i + 1)
                if end < 0:
                    raise Incomplete("the text ends inside '…'")
                self.literal(parts, texts, text[i + 1 : end], quoted=True)
                i = end + 1
            elif c == '"':
                i = self.quoted(parts, texts, i + 1, depth)
            elif c == "\\":
                if not text.startswith("\n", i + 1):
                    self.literal(parts, texts, text[i + 1 : i + 2] or "\\", quoted=True)
                i = min(i + 2, length)
            elif c == "$":
                following = text[i + 1 : i + 2]
                if following == "'":
                    i = self.ansi(parts, texts, i + 2)
                elif following == '"':
                    i = self.quoted(parts, texts, i + 2, depth)
                else:
                    i = self.dollar(parts, texts, i, depth, quoted=False)
            elif c == "`":
                i = self.backquote(parts, texts, i, depth, quoted=False)
            elif c in "<>":
                if not text.startswith("(", i + 1):
                    return i
                script = Script()
                parts.append(Substitution(script, quoted=False, direction=c))
                end = self.script(script, i + 2, depth + 1, ")")
                texts.append(text[i:end])
                i = end
            else:
                end = self.inner_parenthesis(parts, i, depth)
                if end == i:
                    return i
                texts.append(text[i:end])
                i = end
        return i

    def inner_parenthesis(self, parts: Parts, i: int, depth: int) -> int:
        """Read `(` inside a word: a pattern such as `!(x)`, or a declared array; else stay at `i`."""
        before = self.text[i - 1] if parts else ""
        last = parts[-1] if parts else None
        if not isinstance(last, Literal) or last.quoted or before not in "?*+@!=":
            return i
        if before == "=":
            items: list[Word] = []
            end = self.array(items, i + 1, depth)
            for item in items:
                if item.parts is not None:
                    parts.extend(item.parts)
            return end
        parts.append(Literal("(", quoted=False))
        return self.bracketed(parts, i + 1, depth + 1, "(", ")")
