"""Compound commands: what begins with a reserved word, and functions."""

from __future__ import annotations

import re

from haltline.shell.scanner.cursor import (
    BLANK,
    CLOSERS,
    KEYWORD,
    MAX_DEPTH,
    PARENTHESES,
    Incomplete,
    LimitReached,
)
from haltline.shell.scanner.redirections import Redirections
from haltline.shell.syntax import Compound, Script, Word

_COPROC_NAME = re.compile(r"[ \t]+[A-Za-z_][A-Za-z0-9_]*[ \t]+(?=[{(])")
_TEST_NOISE = re.compile(r"[ \t\r\n<>&|()!]+")
_IN = re.compile(r"[ \t\r\n]*in(?=[ \t\r\n;(])")
_ESAC = re.compile(r"esac(?=[ \t\r\n;&|()<>]|\Z)")


class Compounds(Redirections):
    """The part of the scanner that reads compound commands, each from after its keyword to after its end."""

    __slots__ = ()

    def read_function(self, node: Compound, i: int, depth: int) -> int:
        """Read from after `function`."""
        i = self.skip(BLANK, i)
        if i >= self.length:
            raise Incomplete("the text ends before a function's name")
        word = self.word(i, depth)
        node.name = word.text
        i = word.end - self.base
        match = PARENTHESES.match(self.text, i)
        return self.function_body(node, match.end() if match else i, depth)

    def function_body(self, node: Compound, i: int, depth: int) -> int:
        """Read a function's body, from after its name."""
        body = Script()
        node.scripts.append(body)
        i = self.one_command(body, i, depth)
        node.end = self.base + i
        return i

    def one_command(self, into: Script, i: int, depth: int) -> int:
        """Read the one command that is a body."""
        if depth > MAX_DEPTH:
            raise LimitReached(f"nested deeper than {MAX_DEPTH}")
        while True:
            i = self.skip(BLANK, i)
            if i >= self.length:
                raise Incomplete("the text ends before a command")
            if self.text[i] != "\n":
                break
            i = self.newline(i)
        keyword = KEYWORD.match(self.text, i)
        if self.text[i] in ";&|)" or (keyword is not None and keyword[0] in CLOSERS):
            self.problem("a command is missing")
            return i
        return self.command(into, ";", i, depth, keyword)

    def read_coproc(self, node: Compound, i: int, depth: int) -> int:
        """Read from after `coproc`."""
        match = _COPROC_NAME.match(self.text, i)
        body = Script()
        node.scripts.append(body)
        return self.one_command(body, match.end() if match else i, depth)

    def read_group(self, node: Compound, i: int, depth: int) -> int:
        """Read from after `{` to after `}`."""
        return self.body(node, i, depth, frozenset({"}"}))[0]

    def read_if(self, node: Compound, i: int, depth: int) -> int:
        """Read from after `if` to after `fi`."""
        i, _ = self.body(node, i, depth, frozenset({"then"}))
        while True:
            i, keyword = self.body(node, i, depth, frozenset({"elif", "else", "fi"}))
            if keyword == "fi":
                return i
            if keyword == "elif":
                i, _ = self.body(node, i, depth, frozenset({"then"}))

    def read_while(self, node: Compound, i: int, depth: int) -> int:
        """Read from after `while` or `until` to after `done`."""
        i, _ = self.body(node, i, depth, frozenset({"do"}))
        return self.body(node, i, depth, frozenset({"done"}))[0]

    def read_for(self, node: Compound, i: int, depth: int) -> int:
        """Read from after `for` or `select` to after `done`."""
        i = self.skip(BLANK, i)
        if self.text.startswith("((", i):
            word = Word("", self.base + i, self.base + i)
            word.parts = []
            node.words.append(word)
            start = i
            i = self.arithmetic(word.parts, i + 2, depth, "))")
            word.text = self.text[start:i]
        else:
            i = self.for_words(node, i, depth)
        i = self.skip(BLANK, i)
        if self.text.startswith(";", i):
            i += 1
        i = self.skip_lines(i)
        if self.text.startswith("{", i):
            return self.body(node, i + 1, depth, frozenset({"}"}))[0]
        keyword = KEYWORD.match(self.text, i)
        if keyword is None or keyword[0] != "do":
            raise Incomplete("do is missing")
        return self.body(node, keyword.end(), depth, frozenset({"done"}))[0]

    def for_words(self, node: Compound, i: int, depth: int) -> int:
        """Read a loop's variable and the words it runs over."""
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
            i = self.skip(BLANK, i)
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
        """Read from after `case` to after `esac`."""
        i = self.skip(BLANK, i)
        if i >= self.length or (self.text[i] in "\n;&|()<>" and not self.text.startswith(("<(", ">("), i)):
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
        """Read the patterns of one branch, to after `)`."""
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
        """Read from after `[[` to after `]]`."""
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
        """Read a list to one of the stop words; return the offset after it, and the word."""
        script = Script()
        node.scripts.append(script)
        i = self.script(script, i, depth, "", stops)
        keyword = KEYWORD.match(self.text, i)
        word = keyword[0] if keyword is not None else ""
        if not script.items:
            self.problem(f"a command is missing before {word}")
        return i + len(word), word
