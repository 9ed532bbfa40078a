"""What stands inside quotes and after `$`: quoted text, parameters, arithmetic, substitutions."""

from __future__ import annotations

import re

from haltline.shell.scanner.ansi import ansi_c
from haltline.shell.scanner.cursor import MAX_DEPTH, Cursor, Incomplete, LimitReached, Parts
from haltline.shell.syntax import Arithmetic, Literal, Parameter, Script, Substitution, Word

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Callable

_IN_QUOTES = re.compile(r'[^"\\$`]+')
_IN_HERE_DOCUMENT = re.compile(r"[^\\$`]+")
_IN_BRACES = re.compile(r"[^}'\"\\$`]+")
_IN_BRACKETS = re.compile(r"[^\[\]()'\"\\$`]+")
_IN_ARITHMETIC = re.compile(r"[^$`\\()\]'\"]+")
_IN_BACKQUOTES = re.compile(r"[^`\\]+")
_PARAMETER = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|([0-9*@#?$!-]))")
_BRACED = re.compile(r"\$\{(!?)(#?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:\[([^\]$`]*)\])?")
_OPERATOR = re.compile(r":[-=+?]|[-=+?]|##?|%%?|//?[#%]?|\^\^?|,,?|@[A-Za-z]|:")
_DEFAULTING = frozenset({":-", "-", ":=", "=", ":+", "+", ":?", "?"})
_MERGE_BELOW = 256  # longer literals are not grown piece by piece, which would take quadratic time


class Expansions(Cursor):
    """The part of the scanner that reads quotes and expansions."""

    __slots__ = ()

    @staticmethod
    def literal(parts: Parts, texts: list[str], text: str, *, quoted: bool) -> None:
        """Add literal text, to the last piece where it is quoted alike."""
        texts.append(text)
        last = parts[-1] if parts else None
        if isinstance(last, Literal) and last.quoted == quoted and len(last.text) < _MERGE_BELOW:
            last.text += text
        else:
            parts.append(Literal(text, quoted))

    def ansi(self, parts: Parts, texts: list[str], i: int) -> int:
        """Read from after `$'` to after the closing `'`."""
        text, end = self.text, i
        while True:
            quote = text.find("'", end)
            if quote < 0:
                raise Incomplete("the text ends inside $'…'")
            backslash = text.find("\\", end, quote)
            if backslash < 0:
                break
            end = backslash + 2
        self.literal(parts, texts, ansi_c(text[i:quote]), quoted=True)
        return quote + 1

    def quoted(self, parts: Parts, texts: list[str], i: int, depth: int) -> int:
        """Read from after `"` to after the closing one."""
        text, length = self.text, self.length
        start = len(parts)
        while i < length:
            run = _IN_QUOTES.match(text, i)
            if run is not None:
                self.literal(parts, texts, run.group(), quoted=True)
                i = run.end()
                continue
            c = text[i]
            if c == '"':
                if len(parts) == start:
                    self.literal(parts, texts, "", quoted=True)
                return i + 1
            if c == "\\":
                i = self.escaped(parts, texts, i, '"\\$`')
            elif c == "$":
                i = self.dollar(parts, texts, i, depth, quoted=True)
            else:
                i = self.backquote(parts, texts, i, depth, quoted=True)
        raise Incomplete('the text ends inside "…"')

    def here_document(self, parts: Parts, texts: list[str], depth: int) -> None:
        """Read the whole text as a here-document's body."""
        text, length, i = self.text, self.length, 0
        while i < length:
            run = _IN_HERE_DOCUMENT.match(text, i)
            if run is not None:
                self.literal(parts, texts, run.group(), quoted=True)
                i = run.end()
                continue
            c = text[i]
            if c == "\\":
                i = self.escaped(parts, texts, i, "\\$`")
            elif c == "$":
                i = self.dollar(parts, texts, i, depth, quoted=True)
            else:
                i = self.backquote(parts, texts, i, depth, quoted=True)

    def escaped(self, parts: Parts, texts: list[str], i: int, special: str) -> int:
        """Read a backslash inside quotes, where only the `special` characters lose it."""
        following = self.text[i + 1 : i + 2]
        if following == "\n":
            return i + 2
        if following and following in special:
            self.literal(parts, texts, following, quoted=True)
        else:
            self.literal(parts, texts, "\\" + following, quoted=True)
        return min(i + 2, self.length)

    # Expansions

    def dollar(self, parts: Parts, texts: list[str], i: int, depth: int, *, quoted: bool) -> int:
        """Read from `$`: a substitution, arithmetic, a parameter, or the character itself."""
        text = self.text
        following = text[i + 1 : i + 2]
        if following == "(":
            end = None
            if text.startswith("$((", i) and i not in self.not_arithmetic:
                arithmetic = Arithmetic()
                end = self.try_arithmetic(arithmetic.parts, i, i + 3, depth)
                if end is not None:
                    parts.append(arithmetic)
            if end is None:
                script = Script()
                parts.append(Substitution(script, quoted))
                end = self.script(script, i + 2, depth + 1, ")")
        elif following == "{":
            end = self.braced(parts, i, depth, quoted=quoted)
        elif following == "[":
            arithmetic = Arithmetic()
            parts.append(arithmetic)
            end = self.arithmetic(arithmetic.parts, i + 2, depth + 1, "]")
        else:
            match = _PARAMETER.match(text, i)
            if match is None:
                self.literal(parts, texts, "$", quoted=quoted)
                return i + 1
            parts.append(Parameter(match[1] or match[2], quoted))
            end = match.end()
        if isinstance(parts[-1], Arithmetic):
            parts[-1].text = text[i:end]
        texts.append(text[i:end])
        return end

    def try_arithmetic(self, parts: Parts, key: int, i: int, depth: int) -> int | None:
        """Read `…))`, or return None when the text is a subshell after all."""
        return self.attempt(parts, key, lambda: self.arithmetic(parts, i, depth + 1, "))"))

    def try_subscript(self, parts: Parts, i: int, depth: int) -> int | None:
        """Read `…]` after `name[`, or return None when no bracket closes it."""
        if i in self.not_arithmetic:
            return None
        return self.attempt(parts, i, lambda: self.bracketed(parts, i, depth + 1, "[", "]"))

    def attempt(self, parts: Parts, key: int, read: Callable[[], int]) -> int | None:
        """Read what may turn out to be something else, or return None and leave no trace.

        A place that failed is remembered: it is tried once, however often the scanner returns.
        """
        result = self.result
        salvaged, error, pending = len(result.salvaged), result.error, len(self.pending)
        try:
            return read()
        except Incomplete:
            self.not_arithmetic.add(key)
            parts.clear()
            del result.salvaged[salvaged:]
            del self.pending[pending:]
            result.error = error
            return None

    def bracketed(self, parts: Parts, i: int, depth: int, opening: str, closing: str) -> int:  # noqa: C901  one case for each quoting character
        """Read from after a bracket to after the one that closes it: a subscript, or a pattern's choices."""
        if depth > MAX_DEPTH:
            raise LimitReached(f"nested deeper than {MAX_DEPTH}")
        text, length, level = self.text, self.length, 1
        texts: list[str] = []
        while i < length:
            self.arithmetic_left -= 1
            if self.arithmetic_left < 0:
                raise LimitReached("too much that may be a subscript or a pattern")
            run = _IN_BRACKETS.match(text, i)
            if run is not None:
                self.literal(parts, texts, run[0], quoted=False)
                i = run.end()
                continue
            c = text[i]
            if c == "\\":
                self.literal(parts, texts, text[i : i + 2], quoted=False)
                i = min(i + 2, length)
            elif c == "'":
                end = text.find("'", i + 1)
                if end < 0:
                    raise Incomplete("the text ends inside '…'")
                self.literal(parts, texts, text[i + 1 : end], quoted=True)
                i = end + 1
            elif c == '"':
                i = self.quoted(parts, texts, i + 1, depth)
            elif c == "$":
                i = self.dollar(parts, texts, i, depth, quoted=False)
            elif c == "`":
                i = self.backquote(parts, texts, i, depth, quoted=False)
            else:
                level += (c == opening) - (c == closing)
                self.literal(parts, texts, c, quoted=False)
                i += 1
                if level == 0:
                    return i
        raise Incomplete(f"the text ends before {closing}")

    def arithmetic(self, parts: Parts, i: int, depth: int, close: str) -> int:  # noqa: C901, PLR0912  one case for each character that matters
        """Read arithmetic to after `close`."""
        if depth > MAX_DEPTH:
            raise LimitReached(f"nested deeper than {MAX_DEPTH}")
        text, length, level = self.text, self.length, 0
        texts: list[str] = []
        while True:
            start, i = i, self.skip(_IN_ARITHMETIC, i)
            self.arithmetic_left -= 1 + (i - start) // 16
            if self.arithmetic_left < 0:
                raise LimitReached("too much that may be arithmetic")
            if i >= length:
                raise Incomplete(f"the text ends before {close}")
            c = text[i]
            if c == "$":
                i = self.dollar(parts, texts, i, depth, quoted=True)
            elif c == "`":
                i = self.backquote(parts, texts, i, depth, quoted=True)
            elif c == '"':
                i = self.quoted(parts, texts, i + 1, depth)
            elif c == "\\":
                i += 2
            elif c == "(":
                level += 1
                i += 1
            elif c in "]'":
                i += 1
                if close == c and level == 0:
                    return i
            elif level:
                level -= 1
                i += 1
            elif text.startswith(close, i):
                return i + len(close)
            else:
                raise Incomplete("not arithmetic")

    def braced(self, parts: Parts, i: int, depth: int, *, quoted: bool) -> int:
        """Read from `${` to after `}`."""
        if depth > MAX_DEPTH:
            raise LimitReached(f"nested deeper than {MAX_DEPTH}")
        text = self.text
        head = _BRACED.match(text, i)
        if head is None:
            parameter = Parameter("", quoted)
            i += 2
        else:
            parameter = Parameter(head[3], quoted)
            parameter.indirect = bool(head[1])
            parameter.elements = head[4] == "@"
            parameter.subscript = head[4]
            parameter.operator = head[2]
            i = head.end()
        parts.append(parameter)
        if text.startswith("}", i):
            return i + 1
        operator = _OPERATOR.match(text, i)
        if operator is not None:
            parameter.operator = operator[0]
            i = operator.end()
        argument = Word("", self.base + i, self.base + i)
        argument.parts = []
        parameter.argument = argument
        return self.braced_argument(
            argument, i, depth + 1, plain_apostrophe=quoted and parameter.operator in _DEFAULTING
        )

    def braced_argument(self, word: Word, i: int, depth: int, *, plain_apostrophe: bool) -> int:
        """Read what follows the operator in `${…}`, to after `}`."""
        text, length = self.text, self.length
        parts: Parts = []
        word.parts = parts
        texts: list[str] = []
        while i < length:
            run = _IN_BRACES.match(text, i)
            if run is not None:
                self.literal(parts, texts, run.group(), quoted=False)
                i = run.end()
                continue
            c = text[i]
            if c == "}":
                word.text = "".join(texts)
                word.end = self.base + i
                return i + 1
            if c == "\\":
                self.literal(parts, texts, text[i + 1 : i + 2], quoted=True)
                i += 2
            elif c == "'":
                end = -1 if plain_apostrophe else text.find("'", i + 1)
                if end < 0:
                    self.literal(parts, texts, "'", quoted=True)
                    i += 1
                else:
                    self.literal(parts, texts, text[i + 1 : end], quoted=True)
                    i = end + 1
            elif c == '"':
                i = self.quoted(parts, texts, i + 1, depth)
            elif c == "$":
                i = self.dollar(parts, texts, i, depth, quoted=False)
            else:
                i = self.backquote(parts, texts, i, depth, quoted=False)
        raise Incomplete("the text ends inside ${…}")

    def backquote(self, parts: Parts, texts: list[str], i: int, depth: int, *, quoted: bool) -> int:
        """Read from a backquote to after the one that closes it."""
        text, end = self.text, i + 1
        inner: list[str] = []
        while True:
            match = _IN_BACKQUOTES.match(text, end)
            if match is not None:
                inner.append(match[0])
                end = match.end()
            if end >= self.length:
                raise Incomplete("the text ends inside `…`")
            if text[end] == "`":
                break
            following = text[end + 1 : end + 2]
            inner.append(following if following and following in "`\\$" else text[end : end + 2])
            end += 2
        script = Script()
        parts.append(Substitution(script, quoted))
        self.count()
        scanner = type(self)("".join(inner), self.base + i + 1, self.result, self.commands)
        scanner.script(script, 0, depth + 1)
        self.commands = scanner.commands
        texts.append(text[i : end + 1])
        return end + 1
