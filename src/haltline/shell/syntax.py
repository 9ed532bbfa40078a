"""The syntax tree that the scanner builds: words, commands and compound commands, each with its source span.

Plain slotted classes rather than dataclasses: the tree is built for every command that an agent runs, and the
import of `haltline.shell` has a budget that `dataclasses` alone would spend.
"""

from __future__ import annotations


class Literal:
    """Text that stands for itself; when not `quoted`, its patterns, braces and tilde are live."""

    __slots__ = ("quoted", "text")

    def __init__(self, text: str, quoted: bool) -> None:
        self.text = text
        self.quoted = quoted


class Parameter:
    """`$name` or `${name<operator><argument>}`; `indirect` for `${!name}`, operator `#` for a length.

    `elements` for `${name[@]}`, which stays several words in quotes too; `subscript` for `${name[2]}`.
    """

    __slots__ = ("argument", "elements", "indirect", "name", "operator", "quoted", "subscript")

    def __init__(self, name: str, quoted: bool) -> None:
        self.name = name
        self.operator = ""
        self.argument: Word | None = None
        self.indirect = False
        self.elements = False
        self.subscript: str | None = None
        self.quoted = quoted


class Substitution:
    """`$(…)`, backticks, or a process substitution (`direction` is `<` or `>`)."""

    __slots__ = ("direction", "quoted", "script")

    def __init__(self, script: Script, quoted: bool, direction: str = "") -> None:
        self.script = script
        self.quoted = quoted
        self.direction = direction


class Arithmetic:
    """`$((…))` or `$[…]`: a number nobody computes here, its text, and the substitutions inside."""

    __slots__ = ("parts", "text")

    def __init__(self) -> None:
        self.text = ""
        self.parts: list[Literal | Parameter | Substitution | Arithmetic] = []


class Word:
    """One word after quote removal.

    Attributes:
        text: the text with quotes removed and expansions as written.
        parts: its pieces, or None when it is one literal.
        quoted: a part of it was quoted or escaped.
        start: offset of its first character in the scanned text.
        end: offset after its last character.
    """

    __slots__ = ("end", "parts", "quoted", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.parts: list[Literal | Parameter | Substitution | Arithmetic] | None = None
        self.quoted = False
        self.start = start
        self.end = end

    @property
    def dynamic(self) -> bool:
        """Whether anything in the word is expanded when it runs."""
        return self.parts is not None and any(not isinstance(part, Literal) for part in self.parts)


class Assignment:
    """`name=value`, `name+=value`, `name[subscript]=value` or `name=(…)`, the last with `items`."""

    __slots__ = ("append", "items", "name", "subscript", "value")

    def __init__(self, name: str, value: Word, append: bool) -> None:
        self.name = name
        self.value = value
        self.append = append
        self.items: list[Word] | None = None
        self.subscript: Word | None = None


class Redirection:
    """A redirection; for a here-document `body` is its text, whose expansions are live unless `literal`."""

    __slots__ = ("body", "descriptor", "literal", "operator", "target")

    def __init__(self, operator: str, descriptor: str, target: Word) -> None:
        self.operator = operator
        self.descriptor = descriptor
        self.target = target
        self.body: Word | None = None
        self.literal = False


class Simple:
    """A simple command: assignments, words, redirections.

    Attributes:
        plain: the text of the plain words that it begins with, which need no `Word` of their own.
        further: the words after them.
    """

    __slots__ = ("assignments", "end", "further", "plain", "redirections", "start")

    def __init__(self, start: int) -> None:
        self.assignments: list[Assignment] = []
        self.plain = ""
        self.further: list[Word] = []
        self.redirections: list[Redirection] = []
        self.start = start
        self.end = start

    @property
    def words(self) -> list[Word]:
        """All its words."""
        words, at = [], 0
        for text in self.plain.split():
            at = self.plain.index(text, at)
            words.append(Word(text, self.start + at, self.start + at + len(text)))
            at += len(text)
        return words + self.further


class Compound:
    """A compound command.

    Attributes:
        kind: `subshell`, `group`, `if`, `while`, `for`, `case`, `function`, `test`, `arithmetic` or `coproc`.
        name: the loop variable or the function's name.
        words: what a `for` runs over, what a `case` or `[[ ]]` looks at.
        scripts: the bodies, in source order.
    """

    __slots__ = ("end", "kind", "name", "redirections", "scripts", "start", "words")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.name = ""
        self.words: list[Word] = []
        self.scripts: list[Script] = []
        self.redirections: list[Redirection] = []
        self.start = start
        self.end = start


class Script:
    """A list of commands, each with the connector before it: `;`, `&`, `&&`, `||`, `|` or `|&`."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[tuple[str, Simple | Compound]] = []
