"""Shell text to syntax tree in one pass, in time that grows with the length of the text.

The grammar is Bash's, as its manual gives it (sections "Shell Syntax" and "Shell Commands"). The scanner
never refuses: `scan` returns what it has read until the text ended or stopped making sense, and says what was
wrong, so that a command before the error is still judged.
"""

from __future__ import annotations

import re

from haltline.shell.syntax import (
    Arithmetic,
    Assignment,
    Compound,
    Literal,
    Parameter,
    Redirection,
    Script,
    Simple,
    Substitution,
    Word,
)

MAX_LENGTH = 64 * 1024
MAX_DEPTH = 40
MAX_COMMANDS = 4000

Parts = list[Literal | Parameter | Substitution | Arithmetic]

_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_PLAIN = re.compile(r"[^ \t\r\n'\"\\$`<>&|;()]+(?=[ \t\r\n;&|)<>]|\Z)")
# A further word that is neither quoted nor a redirection: nine of ten words, for one match each.
_NEXT_PLAIN = re.compile(
    r"[ \t]+([^ \t\r\n'\"\\$`<>&|;(){}#0-9][^ \t\r\n'\"\\$`<>&|;()]*)(?=[ \t\r\n;&|)]|\Z)"
)
_RUN = re.compile(r"[^ \t\r\n'\"\\$`<>&|;()]+")
_IN_QUOTES = re.compile(r'[^"\\$`]+')
_IN_HERE_DOCUMENT = re.compile(r"[^\\$`]+")
_IN_BRACES = re.compile(r"[^}'\"\\$`]+")
_IN_ARITHMETIC = re.compile(r"[^$`\\()\]'\"]+")
_REDIRECTION = re.compile(r"([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|(&>>|&>)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]\s]*\])?(\+?)=")
_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|time|coproc|\[\[|\{|\}|!)"
    r"(?=[ \t\r\n;&|()<>]|\Z)"
)
_KEYWORD_INITIALS = frozenset("itefwusdc[{}!")
_CLOSERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_PARAMETER = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|([0-9*@#?$!-]))")
_BRACED = re.compile(r"\$\{(!?)(#?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:\[[^\]$`]*\])?")
_OPERATOR = re.compile(r":[-=+?]|[-=+?]|##?|%%?|//?[#%]?|\^\^?|,,?|@[A-Za-z]|:")
_DEFAULTING = frozenset({":-", "-", ":=", "=", ":+", "+", ":?", "?"})
_PARENTHESES = re.compile(r"[ \t]*\([ \t\r\n]*\)")
_TIME_OPTION = re.compile(r"[ \t]+(?:-p|--)(?=[ \t\r\n;&|]|\Z)")
_COPROC_NAME = re.compile(r"[ \t]+[A-Za-z_][A-Za-z0-9_]*[ \t]+(?=[{(])")
_SPACE = re.compile(r"(?:[ \t\r\n]|\\\n)+")
_TEST_NOISE = re.compile(r"[ \t\r\n<>&|()!]+")
_IN = re.compile(r"[ \t\r\n]*in(?=[ \t\r\n;])")
_PATTERN_PARENTHESIS = re.compile(r"\\.|[()]", re.DOTALL)
_IN_BACKQUOTES = re.compile(r"[^`\\]+")
_ESAC = re.compile(r"esac(?=[ \t\r\n;&|()<>]|\Z)")
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
_MERGE_BELOW = 256  # longer literals are not grown piece by piece, which would take quadratic time


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


def scan(text: str, base: int = 0) -> Scan:
    """Return the syntax tree of a shell text; offsets in it count from `base`."""
    result = Scan()
    if len(text) > MAX_LENGTH:
        result.limit = f"longer than {MAX_LENGTH} characters"
        return result
    scanner = _Scanner(text, base, result)
    try:
        scanner.script(result.script, 0, 0)
    except Incomplete as problem:
        result.error = result.error or str(problem)
    except LimitReached as problem:
        result.limit = str(problem)
    except RecursionError:
        result.limit = "nested deeper than the interpreter's stack"
    return result


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


class _Scanner:
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
        if self.result.error is None:
            self.result.error = message

    # Lists and commands

    def script(  # noqa: C901, PLR0912, PLR0915  one loop over the list's operators shares its state
        self, into: Script, i: int, depth: int, close: str = "", stops: frozenset[str] = frozenset()
    ) -> int:
        """Read a list into `into`; return the offset of the stop word, or after the closing parenthesis."""
        if depth > MAX_DEPTH:
            raise LimitReached(f"nested deeper than {MAX_DEPTH}")
        text, length = self.text, self.length
        connector = ";"
        while True:
            blank = _BLANK.match(text, i)
            if blank is not None:
                i = blank.end()
            if i >= length:
                if close or stops:
                    raise Incomplete(f"the text ends before {close or ' or '.join(sorted(stops))}")
                return i
            c = text[i]
            if c == "\n":
                i = self.newline(i)
                connector = ";"
            elif c == "#":
                i = self.line_end(i)
            elif c == ";":
                connector = ";"
                if text.startswith(";;", i) or text.startswith(";&", i):
                    if ";;" in stops:
                        return i
                    self.problem("unexpected ;;")
                    i += 1
                i += 1
            elif c == "&" and not text.startswith("&>", i):
                if text.startswith("&&", i):
                    connector = "&&"
                    i += 1
                else:
                    connector = "&"
                i += 1
                if not into.items:
                    self.problem("unexpected &")
            elif c == "|":
                width = 2 if text.startswith(("||", "|&"), i) else 1
                connector = text[i : i + width]
                i += width
                if not into.items:
                    self.problem("unexpected |")
            elif c == ")":
                i += 1
                if close:
                    return i
                self.problem("unexpected )")
            else:
                keyword = _KEYWORD.match(text, i) if c in _KEYWORD_INITIALS else None
                if keyword is not None and keyword[0] in _CLOSERS:
                    if keyword[0] in stops:
                        return i
                    self.problem(f"unexpected {keyword[0]}")
                    i = keyword.end()
                    continue
                i = self.command(into, connector, i, depth, keyword)
                connector = ";"

    def command(self, into: Script, connector: str, i: int, depth: int, keyword: re.Match[str] | None) -> int:
        self.count()
        if keyword is not None:
            word = keyword[0]
            if word in ("!", "time"):
                if word == "!" and connector in ("|", "|&"):
                    self.problem("unexpected ! in a pipeline")
                return self.prefixed(into, connector, keyword.end(), depth)
            node = Compound(_KINDS[word], self.base + i)
            into.items.append((connector, node))
            i = getattr(self, "read_" + node.kind)(node, keyword.end(), depth + 1)
            return self.compound_end(node, i, depth)
        if self.text[i] == "(":
            return self.parenthesis(into, connector, i, depth)
        return self.simple(into, connector, i, depth)

    def count(self) -> None:
        self.commands += 1
        if self.commands > MAX_COMMANDS:
            raise LimitReached(f"more than {MAX_COMMANDS} commands")

    def prefixed(self, into: Script, connector: str, i: int, depth: int) -> int:
        """Read what follows the reserved words `!` and `time`, which leave the command what it is."""
        text = self.text
        option = _TIME_OPTION.match(text, i)
        while option is not None:
            i = option.end()
            option = _TIME_OPTION.match(text, i)
        i = self.skip(_BLANK, i)
        if i >= self.length or text[i] in "\n;&|)#":
            return i
        keyword = _KEYWORD.match(text, i)
        if keyword is not None and keyword[0] in _CLOSERS:
            return i
        return self.command(into, connector, i, depth, keyword)

    def parenthesis(self, into: Script, connector: str, i: int, depth: int) -> int:
        if self.text.startswith("((", i) and i not in self.not_arithmetic:
            node = Compound("arithmetic", self.base + i)
            word = Word("", self.base + i, self.base + i)
            word.parts = []
            node.words.append(word)
            end = self.try_arithmetic(word.parts, i, i + 2, depth)
            if end is not None:
                into.items.append((connector, node))
                return self.compound_end(node, end, depth)
        node = Compound("subshell", self.base + i)
        into.items.append((connector, node))
        body = Script()
        node.scripts.append(body)
        return self.compound_end(node, self.script(body, i + 1, depth + 1, ")"), depth)

    def compound_end(self, node: Compound, i: int, depth: int) -> int:
        while True:
            i = self.skip(_BLANK, i)
            match = self.redirection_at(i)
            if match is None:
                node.end = self.base + i
                return i
            i = self.redirection(node.redirections, match, depth)

    def simple(self, into: Script, connector: str, i: int, depth: int) -> int:  # noqa: C901, PLR0912  the hottest loop
        text, length = self.text, self.length
        node = Simple(self.base + i)
        into.items.append((connector, node))
        words = node.words
        while True:
            if words:
                plain = _NEXT_PLAIN.match(text, i)
                while plain is not None:
                    i = plain.end()
                    words.append(Word(plain[1], self.base + plain.start(1), self.base + i))
                    plain = _NEXT_PLAIN.match(text, i)
                node.end = words[-1].end
            blank = _BLANK.match(text, i)
            if blank is not None:
                i = blank.end()
            if i >= length:
                return i
            c = text[i]
            if c in "<>&{0123456789":
                match = self.redirection_at(i)
                if match is not None:
                    i = self.redirection(node.redirections, match, depth)
                    node.end = self.base + i
                    continue
            if c in "\n;&|)#":
                return i
            if c == "(":
                if len(words) == 1 and not node.assignments:
                    match = _PARENTHESES.match(text, i)
                    if match is not None:
                        return self.function(into, connector, words[0].text, match.end(), depth)
                self.problem("unexpected (")
                return i
            if not words:
                match = _ASSIGNMENT.match(text, i)
                if match is not None:
                    i = self.assignment(node, match, depth)
                    node.end = self.base + i
                    continue
            word = self.word(i, depth)
            words.append(word)
            node.end = word.end
            i = word.end - self.base

    def assignment(self, node: Simple, match: re.Match[str], depth: int) -> int:
        i = match.end()
        start = self.base + i
        assignment = Assignment(match[1], Word("", start, start), bool(match[2]))
        node.assignments.append(assignment)
        if i < self.length and self.text[i] == "(":
            assignment.items = []
            return self.array(assignment.items, i + 1, depth)
        assignment.value = self.word(i, depth)
        return assignment.value.end - self.base

    def array(self, items: list[Word], i: int, depth: int) -> int:
        text = self.text
        while True:
            i = self.skip(_BLANK, i)
            if i >= self.length:
                raise Incomplete("the text ends inside an array")
            c = text[i]
            if c == ")":
                return i + 1
            if c == "\n":
                i = self.newline(i)
            elif c == "#":
                i = self.line_end(i)
            elif c in ";&|(" or (c in "<>" and not text.startswith("(", i + 1)):
                self.problem(f"unexpected {c} in an array")
                i += 1
            else:
                word = self.word(i, depth)
                items.append(word)
                i = word.end - self.base

    def function(self, into: Script, connector: str, name: str, i: int, depth: int) -> int:
        _, simple = into.items.pop()
        node = Compound("function", simple.start)
        node.name = name
        into.items.append((connector, node))
        return self.function_body(node, i, depth + 1)

    # Compound commands: each reads from after its keyword to after its end

    def read_function(self, node: Compound, i: int, depth: int) -> int:
        i = self.skip(_BLANK, i)
        if i >= self.length:
            raise Incomplete("the text ends before a function's name")
        word = self.word(i, depth)
        node.name = word.text
        i = word.end - self.base
        match = _PARENTHESES.match(self.text, i)
        return self.function_body(node, match.end() if match else i, depth)

    def function_body(self, node: Compound, i: int, depth: int) -> int:
        body = Script()
        node.scripts.append(body)
        i = self.one_command(body, i, depth)
        node.end = self.base + i
        return i

    def one_command(self, into: Script, i: int, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise LimitReached(f"nested deeper than {MAX_DEPTH}")
        while True:
            i = self.skip(_BLANK, i)
            if i >= self.length:
                raise Incomplete("the text ends before a command")
            if self.text[i] != "\n":
                break
            i = self.newline(i)
        keyword = _KEYWORD.match(self.text, i)
        if self.text[i] in ";&|)" or (keyword is not None and keyword[0] in _CLOSERS):
            self.problem("a command is missing")
            return i
        return self.command(into, ";", i, depth, keyword)

    def read_coproc(self, node: Compound, i: int, depth: int) -> int:
        match = _COPROC_NAME.match(self.text, i)
        body = Script()
        node.scripts.append(body)
        return self.one_command(body, match.end() if match else i, depth)

    def read_group(self, node: Compound, i: int, depth: int) -> int:
        return self.body(node, i, depth, frozenset({"}"}))[0]

    def read_if(self, node: Compound, i: int, depth: int) -> int:
        i, _ = self.body(node, i, depth, frozenset({"then"}))
        while True:
            i, keyword = self.body(node, i, depth, frozenset({"elif", "else", "fi"}))
            if keyword == "fi":
                return i
            if keyword == "elif":
                i, _ = self.body(node, i, depth, frozenset({"then"}))

    def read_while(self, node: Compound, i: int, depth: int) -> int:
        i, _ = self.body(node, i, depth, frozenset({"do"}))
        return self.body(node, i, depth, frozenset({"done"}))[0]

    def read_for(self, node: Compound, i: int, depth: int) -> int:
        i = self.skip(_BLANK, i)
        if self.text.startswith("((", i):
            word = Word("", self.base + i, self.base + i)
            word.parts = []
            node.words.append(word)
            i = self.arithmetic(word.parts, i + 2, depth, "))")
        else:
            i = self.for_words(node, i, depth)
        i = self.skip(_BLANK, i)
        if self.text.startswith(";", i):
            i += 1
        i = self.skip_lines(i)
        if self.text.startswith("{", i):
            return self.body(node, i + 1, depth, frozenset({"}"}))[0]
        keyword = _KEYWORD.match(self.text, i)
        if keyword is None or keyword[0] != "do":
            raise Incomplete("do is missing")
        return self.body(node, keyword.end(), depth, frozenset({"done"}))[0]

    def for_words(self, node: Compound, i: int, depth: int) -> int:
        if i >= self.length:
            raise Incomplete("the text ends before a loop's variable")
        if self.text[i] in "\n;&|()<>":
            raise Incomplete("a loop's variable is missing")
        word = self.word(i, depth)
        node.name = word.text
        i = word.end - self.base
        match = _IN.match(self.text, i)
        if match is None:
            return i
        i = match.end()
        while True:
            i = self.skip(_BLANK, i)
            if i >= self.length or self.text[i] in "\n;&|)":
                return i
            if self.text[i] in "(<>" and not self.text.startswith(("<(", ">("), i):
                self.problem(f"unexpected {self.text[i]}")
                i += 1
                continue
            word = self.word(i, depth)
            node.words.append(word)
            i = word.end - self.base

    def read_case(self, node: Compound, i: int, depth: int) -> int:
        i = self.skip(_BLANK, i)
        if i >= self.length or self.text[i] in "\n;&|()<>":
            raise Incomplete("a case's word is missing")
        word = self.word(i, depth)
        node.words.append(word)
        match = _IN.match(self.text, word.end - self.base)
        if match is None:
            raise Incomplete("in is missing")
        i = match.end()
        if self.text.startswith(";", i):
            raise Incomplete("unexpected ; after in")
        while True:
            i = self.skip_lines(i)
            match = _ESAC.match(self.text, i)
            if match is not None:
                return match.end()
            i = self.case_patterns(node, i, depth)
            body = Script()
            node.scripts.append(body)
            i = self.script(body, i, depth, "", frozenset({"esac", ";;"}))
            if self.text.startswith(";", i):
                i += 3 if self.text.startswith(";;&", i) else 2

    def case_patterns(self, node: Compound, i: int, depth: int) -> int:
        text = self.text
        if text.startswith("(", i):
            i += 1
        while True:
            i = self.skip_lines(i)
            if i >= self.length:
                raise Incomplete("the text ends inside a case")
            c = text[i]
            if c == ")":
                return i + 1
            if c in "|;&(<>":
                if c != "|":
                    self.problem(f"unexpected {c} in a pattern")
                i += 1
                continue
            word = self.word(i, depth)
            node.words.append(word)
            i = word.end - self.base

    def read_test(self, node: Compound, i: int, depth: int) -> int:
        while True:
            i = self.skip(_TEST_NOISE, i)
            if i >= self.length:
                raise Incomplete("the text ends inside [[")
            if self.text[i] in ";#":
                i += 1
                continue
            word = self.word(i, depth)
            i = word.end - self.base
            if word.text == "]]" and not word.quoted:
                return i
            node.words.append(word)

    def body(self, node: Compound, i: int, depth: int, stops: frozenset[str]) -> tuple[int, str]:
        script = Script()
        node.scripts.append(script)
        i = self.script(script, i, depth, "", stops)
        keyword = _KEYWORD.match(self.text, i)
        word = keyword[0] if keyword is not None else ""
        return i + len(word), word

    # Words

    def word(self, i: int, depth: int) -> Word:
        plain = _PLAIN.match(self.text, i)
        if plain is not None:
            return Word(plain.group(), self.base + i, self.base + plain.end())
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
        level = 0
        for match in _PATTERN_PARENTHESIS.finditer(self.text, i):
            level += {"(": 1, ")": -1}.get(match[0], 0)
            if level == 0 and match[0] == ")":
                end = match.end()
                parts.append(Literal(self.text[i:end], quoted=False))
                return end
        raise Incomplete("the text ends inside a pattern")

    @staticmethod
    def literal(parts: Parts, texts: list[str], text: str, *, quoted: bool) -> None:
        texts.append(text)
        last = parts[-1] if parts else None
        if isinstance(last, Literal) and last.quoted == quoted and len(last.text) < _MERGE_BELOW:
            last.text += text
        else:
            parts.append(Literal(text, quoted))

    def ansi(self, parts: Parts, texts: list[str], i: int) -> int:
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
        texts.append(text[i:end])
        return end

    def try_arithmetic(self, parts: Parts, key: int, i: int, depth: int) -> int | None:
        """Read `…))`, or return None when the text is a subshell after all.

        A place that failed is remembered: it is tried as arithmetic once, however often the scanner returns.
        """
        result = self.result
        salvaged, error, pending = len(result.salvaged), result.error, len(self.pending)
        try:
            return self.arithmetic(parts, i, depth + 1, "))")
        except Incomplete:
            self.not_arithmetic.add(key)
            parts.clear()
            del result.salvaged[salvaged:]
            del self.pending[pending:]
            result.error = error
            return None

    def arithmetic(self, parts: Parts, i: int, depth: int, close: str) -> int:  # noqa: C901, PLR0912  one case for each character that matters
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
        scanner = _Scanner("".join(inner), self.base + i + 1, self.result, self.commands)
        scanner.script(script, 0, depth + 1)
        self.commands = scanner.commands
        texts.append(text[i : end + 1])
        return end + 1

    # Redirections and lines

    def redirection_at(self, i: int) -> re.Match[str] | None:
        match = _REDIRECTION.match(self.text, i)
        if match is None or (match[0] in ("<", ">") and self.text.startswith("(", match.end())):
            return None
        return match

    def redirection(self, into: list[Redirection], match: re.Match[str], depth: int) -> int:
        operator = match[2] or match[3]
        i = self.skip(_BLANK, match.end())
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
        i += 1
        if not self.pending:
            return i
        pending, self.pending = self.pending, []
        for redirection, strip, depth in pending:
            i = self.here_document_body(redirection, i, depth + 1, strip=strip)
        return i

    def here_document_body(self, redirection: Redirection, i: int, depth: int, *, strip: bool) -> int:
        start, lines = i, []
        delimiter = redirection.target.text
        while i < self.length:
            end = self.line_end(i)
            line = self.text[i:end]
            i = min(end + 1, self.length)
            if strip:
                line = line.lstrip("\t")
            if line.rstrip("\r") == delimiter:
                break
            lines.append(line + "\n")
        text = "".join(lines)
        body = Word(text, self.base + start, self.base + i)
        redirection.body = body
        if redirection.literal or not ("$" in text or "`" in text or "\\" in text):
            body.quoted = True
            return i
        body.parts = []
        scanner = _Scanner(text, self.base + start, self.result, self.commands)
        scanner.here_document(body.parts, [], depth)
        self.commands = scanner.commands
        return i

    def line_end(self, i: int) -> int:
        end = self.text.find("\n", i)
        return self.length if end < 0 else end

    def skip(self, pattern: re.Pattern[str], i: int) -> int:
        match = pattern.match(self.text, i)
        return i if match is None else match.end()

    def skip_lines(self, i: int) -> int:
        while True:
            i = self.skip(_BLANK, i)
            if self.text.startswith("\n", i):
                i = self.newline(i)
            elif self.text.startswith("#", i):
                i = self.line_end(i)
            else:
                return i


_KINDS = {
    "if": "if",
    "while": "while",
    "until": "while",
    "for": "for",
    "select": "for",
    "case": "case",
    "function": "function",
    "coproc": "coproc",
    "[[": "test",
    "{": "group",
}
