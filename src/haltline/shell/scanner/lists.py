"""Lists of commands, and simple commands."""

from __future__ import annotations

import re

from haltline.shell.scanner.compounds import Compounds
from haltline.shell.scanner.cursor import (
    BLANK,
    CLOSERS,
    KEYWORD,
    MAX_DEPTH,
    PARENTHESES,
    Incomplete,
    LimitReached,
)
from haltline.shell.syntax import Assignment, Compound, Script, Simple, Word

# A further word that is neither quoted nor a redirection: nine of ten words, for one match each.
_NEXT_PLAIN = re.compile(
    r"[ \t]+([^ \t\r\n'\"\\$`<>&|;(){}#0-9][^ \t\r\n'\"\\$`<>&|;()]*)(?=[ \t\r\n;&|)]|\Z)"
)
# The plain words that a command begins with: one match for all of them, and no object for any (14 to 5 µs).
_PLAIN_WORDS = re.compile(
    r"[^\s'\"\\$`<>&|;()#=]++(?=[ \t\n;&|)]|\Z)"
    r"(?:[ \t]++[^\s'\"\\$`<>&|;()#][^\s'\"\\$`<>&|;()]*+(?=[ \t\n;&|)]|\Z))*+"
)
_LIST_OPERATOR = re.compile(r";;&|;[;&]?|&&|&(?!>)|\|[|&]?")
_NOTHING_FOLLOWS = re.compile(r"[\n;|)#]|&(?!>)|\Z")
_BLANK_INITIALS = frozenset(" \t\r\\")
_KEYWORD_INITIALS = frozenset("itefwusdc[{}!")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:(\+?)=|\[)")
_ASSIGNED = re.compile(r"(\+?)=")
_TIME_OPTION = re.compile(r"[ \t]+(?:-p|--)(?=[ \t\r\n;&|]|\Z)")
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


class Scanner(Compounds):
    """The whole scanner."""

    __slots__ = ()

    def script(  # noqa: C901, PLR0912  one loop over the list's operators shares its state
        self, into: Script, i: int, depth: int, close: str = "", stops: frozenset[str] = frozenset()
    ) -> int:
        """Read a list into `into`; return the offset of the stop word, or after the closing parenthesis."""
        if depth > MAX_DEPTH:
            raise LimitReached(f"nested deeper than {MAX_DEPTH}")
        text, length = self.text, self.length
        connector = ";"
        ended = False  # whether a command stands before, with no operator after it
        while True:
            blank = BLANK.match(text, i)
            if blank is not None:
                i = blank.end()
            if i >= length:
                self.complete(connector)
                if close or stops:
                    raise Incomplete(f"the text ends before {close or ' or '.join(sorted(stops))}")
                return i
            c = text[i]
            if c == "\n":
                i = self.newline(i)
                ended = False
                if connector == "&":
                    connector = ";"
            elif c == "#":
                i = self.line_end(i)
            elif c in ";&|" and (operator := _LIST_OPERATOR.match(text, i)) is not None:
                if operator[0][:2] in (";;", ";&"):
                    if ";;" in stops:
                        self.complete(connector)
                        return i
                    ended = False
                if not ended:
                    self.problem(f"unexpected {operator[0]}")
                connector = operator[0] if operator[0][:2] not in (";;", ";&") else ";"
                ended = False
                i = operator.end()
            elif c == ")":
                self.complete(connector)
                i += 1
                if close:
                    return i
                self.problem("unexpected )")
            else:
                keyword = KEYWORD.match(text, i) if c in _KEYWORD_INITIALS else None
                if keyword is not None and keyword[0] in CLOSERS:
                    if keyword[0] in stops:
                        self.complete(connector)
                        return i
                    self.problem(f"unexpected {keyword[0]}")
                    i = keyword.end()
                    continue
                if ended:
                    self.problem("an operator is missing between two commands")
                i = self.command(into, connector, i, depth, keyword)
                connector, ended = ";", True

    def complete(self, connector: str) -> None:
        """Say so when a list ends although its last operator wants another command."""
        if connector not in (";", "&"):
            self.problem(f"a command is missing after {connector}")

    def command(self, into: Script, connector: str, i: int, depth: int, keyword: re.Match[str] | None) -> int:
        """Read one command; `keyword` is the reserved word that it begins with."""
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

    def prefixed(self, into: Script, connector: str, i: int, depth: int) -> int:
        """Read what follows the reserved words `!` and `time`, which leave the command what it is."""
        text = self.text
        option = _TIME_OPTION.match(text, i)
        while option is not None:
            i = option.end()
            option = _TIME_OPTION.match(text, i)
        i = self.skip(BLANK, i)
        keyword = KEYWORD.match(text, i)
        if _NOTHING_FOLLOWS.match(text, i) is not None or (keyword is not None and keyword[0] in CLOSERS):
            into.items.append((connector, Simple(self.base + i)))
            return i
        return self.command(into, connector, i, depth, keyword)

    def parenthesis(self, into: Script, connector: str, i: int, depth: int) -> int:
        """Read `((…))` or a subshell."""
        if self.text.startswith("((", i) and i not in self.not_arithmetic:
            node = Compound("arithmetic", self.base + i)
            word = Word("", self.base + i, self.base + i)
            word.parts = []
            node.words.append(word)
            end = self.try_arithmetic(word.parts, i, i + 2, depth)
            if end is not None:
                word.text = self.text[i:end]
                into.items.append((connector, node))
                return self.compound_end(node, end, depth)
        node = Compound("subshell", self.base + i)
        into.items.append((connector, node))
        body = Script()
        node.scripts.append(body)
        i = self.script(body, i + 1, depth + 1, ")")
        if not body.items:
            self.problem("a command is missing in ( )")
        return self.compound_end(node, i, depth)

    def compound_end(self, node: Compound, i: int, depth: int) -> int:
        """Read the redirections that follow a compound command."""
        while True:
            i = self.skip(BLANK, i)
            match = self.redirection_at(i)
            if match is None:
                node.end = self.base + i
                return i
            i = self.redirection(node.redirections, match, depth)

    def simple(self, into: Script, connector: str, i: int, depth: int) -> int:  # noqa: C901, PLR0912, PLR0915  the hottest loop
        """Read a simple command."""
        text, length = self.text, self.length
        node = Simple(self.base + i)
        into.items.append((connector, node))
        plain = _PLAIN_WORDS.match(text, i)
        if plain is not None and "[" in plain[0] and _ASSIGNMENT.match(text, i) is not None:
            plain = None
        if plain is not None:
            node.plain = plain[0]
            i = plain.end()
            node.end = self.base + i
            if i == length or text[i] in "\n;|)":
                return i
        words = node.further
        while True:
            if words:
                following = _NEXT_PLAIN.match(text, i)
                while following is not None:
                    i = following.end()
                    words.append(Word(following[1], self.base + following.start(1), self.base + i))
                    following = _NEXT_PLAIN.match(text, i)
                node.end = words[-1].end
            blank = BLANK.match(text, i)
            if blank is not None:
                i = blank.end()
            if i >= length:
                return i
            c = text[i]
            if c in "<>&{0123456789":
                match = self.redirection_at(i)
                if match is not None:
                    i = self.redirection(node.redirections, match, depth)
                    if not words and plain is None:
                        node.end = self.base + i
                    continue
            if c in "\n;&|)#":
                return i
            if c == "(":
                if len(node.words) == 1 and not node.assignments:
                    match = PARENTHESES.match(text, i)
                    if match is not None:
                        return self.function(into, connector, node.words[0].text, match.end(), depth)
                self.problem("unexpected (")
                return i
            if not words and plain is None:
                match = _ASSIGNMENT.match(text, i)
                if match is not None:
                    end = self.assignment(node, match, depth)
                    if end is not None:
                        i = end
                        node.end = self.base + i
                        continue
            word = self.word(i, depth)
            words.append(word)
            node.end = word.end
            i = word.end - self.base

    def assignment(self, node: Simple, match: re.Match[str], depth: int) -> int | None:
        """Read an assignment whose name has been matched; None when `name[` begins something else."""
        name, i = match[1], match.end()
        subscript = None
        if match[2] is None:
            subscript = Word("", self.base + i, self.base + i)
            subscript.parts = []
            end = self.try_subscript(subscript.parts, i, depth)
            if end is None:
                self.problem("the text ends before ]")
                return None
            operator = _ASSIGNED.match(self.text, end)
            if operator is None:
                return None
            match, i = operator, operator.end()
        start = self.base + i
        assignment = Assignment(name, Word("", start, start), bool(match[match.re.groups]))
        assignment.subscript = subscript
        node.assignments.append(assignment)
        if i < self.length and self.text[i] == "(":
            assignment.items = []
            return self.array(assignment.items, i + 1, depth)
        assignment.value = self.word(i, depth)
        return assignment.value.end - self.base

    def array(self, items: list[Word], i: int, depth: int) -> int:
        """Read the words of an array, from after `(` to after `)`."""
        text = self.text
        while True:
            i = self.skip(BLANK, i)
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
        """Turn the simple command that was begun into a function of that name."""
        _, simple = into.items.pop()
        node = Compound("function", simple.start)
        node.name = name
        into.items.append((connector, node))
        return self.function_body(node, i, depth + 1)
