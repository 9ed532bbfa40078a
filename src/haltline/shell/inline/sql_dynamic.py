"""SQL that a statement puts together and runs: `EXECUTE 'drop ta' || 'ble x'`, `EXEC(@sql)`.

Literals, their concatenation, `CONCAT`, `FORMAT` and variables that the same text sets are followed. What is
left open is said to be so: text that nobody can read before it runs.

Sources: PostgreSQL "Executing Dynamic Commands" (PL/pgSQL), Transact-SQL "EXECUTE" and "sp_executesql", MySQL
"PREPARE Statement", Oracle "EXECUTE IMMEDIATE Statement".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "some_name"
"""What stands for a name or value that a function quotes: it cannot become anything else."""

MAX_PIECES = 256
MAX_TEXT = 1024  # characters of a computed text; a variable may be joined with itself again and again

_QUOTES = word_set("QUOTE_IDENT QUOTE_LITERAL QUOTE_NULLABLE QUOTENAME QUOTE")
_JOINS = word_set("CONCAT CONCAT_WS")
_ENDS = word_set("USING INTO BULK RETURNING LOOP THEN END AS GO")
_HOLE = re.compile(r"%(?:\d+\$)?-?\d*([sIL%])")
_ROUTINES = word_set("FUNCTION PROCEDURE ON AS")


class Text(NamedTuple):
    """A text that a statement computes.

    Attributes:
        value: what is known of it; a space stands where something is not.
        whole: whether all of it is known, but for names and values that are quoted.
    """

    value: str
    whole: bool


class _Pieces:
    """Reads one expression from the words of a statement."""

    def __init__(self, words: list[str], at: int, variables: Mapping[str, Text]) -> None:
        self.words = words
        self.at = at
        self.variables = variables
        self.pieces = 0

    def expression(self) -> Text:
        """Return the text of `piece || piece …`, and stand after it."""
        value, whole = "", True
        while self.at < len(self.words) and self.words[self.at] not in _ENDS:
            word = self.words[self.at]
            if word in (")", ",", ";"):
                break
            self.pieces += 1
            if self.pieces > MAX_PIECES:
                return _cut(value, whole=False)
            self.at += 1
            if word in ("|", "+", "&", "N", "E", "IMMEDIATE"):
                continue
            if word == ":" and self.words[self.at : self.at + 1] == [":"]:  # a cast, which changes no text
                self.at += 2
                continue
            piece = self.piece(word)
            value += piece.value
            whole = whole and piece.whole
        return _cut(value, whole=whole)

    def piece(self, word: str) -> Text:
        """Return the text of one piece, of which the first word is read."""
        if word[:1] == "'":
            return Text(word[1:], whole=True)
        if word == "(":
            inner = self.expression()
            self.close()
            return inner
        if self.words[self.at : self.at + 1] == ["("]:
            self.at += 1
            return self.called(word)
        return self.variables.get(word, Text(" ", whole=False))

    def called(self, name: str) -> Text:
        """Return the text that a function returns, of which the bracket is read."""
        arguments = [self.expression()]
        while self.words[self.at : self.at + 1] == [","]:
            self.at += 1
            arguments.append(self.expression())
        self.close()
        if name in _QUOTES:
            return Text(NAME, whole=True)
        if name in _JOINS:
            joint = arguments.pop(0).value if name == "CONCAT_WS" else ""
            return _cut(joint.join(a.value for a in arguments), whole=all(a.whole for a in arguments))
        if name == "FORMAT":
            return _filled(arguments)
        return Text(" ", whole=False)

    def close(self) -> None:
        """Stand after the bracket that closes, whatever stands before it."""
        depth = 1
        while self.at < len(self.words) and depth:
            depth += {"(": 1, ")": -1}.get(self.words[self.at], 0)
            self.at += 1


def _cut(value: str, *, whole: bool) -> Text:
    """Return a text of at most `MAX_TEXT` characters; what is left out is not known."""
    return Text(value[:MAX_TEXT], whole and len(value) <= MAX_TEXT)


def _filled(arguments: list[Text]) -> Text:
    """Return what `format` returns: `%I` and `%L` are quoted, `%s` is taken as it is."""
    template, given = arguments[0], arguments[1:]
    whole = template.whole

    def fill(match: re.Match[str]) -> str:
        nonlocal whole
        if match[1] == "%":
            return "%"
        argument = given.pop(0) if given else Text(" ", whole=False)
        if match[1] == "s":
            whole = whole and argument.whole
            return argument.value
        return argument.value if argument.whole and argument.value.isidentifier() else NAME

    value = _HOLE.sub(fill, template.value)
    return _cut(value, whole=whole)


def assigned(words: list[str], variables: dict[str, Text]) -> None:
    """Keep the texts that a statement assigns: `x := …`, `SET @x = …`, `DECLARE @x … = …`."""
    for index, word in enumerate(words[:64]):
        if word != "=":
            continue
        colon = words[index - 1 : index] == [":"]
        names = words[max(0, index - 6) : index - colon]
        if colon or (words[0] in ("SET", "DECLARE", "SELECT") and any(name[:1] == "@" for name in names)):
            text = _Pieces(words, index + 1, variables).expression()
            marked = [name for name in names if name[:1] == "@"] or names[-2:]
            variables.update(dict.fromkeys(marked, text))
            return


def executed(words: list[str], variables: Mapping[str, Text], *, within: bool) -> Text | None:
    """Return the text that a statement runs, or None when it runs none.

    Args:
        words: the statement.
        variables: the texts that are known by a name.
        within: the statement stands in a block, where `EXECUTE name` runs the text of a variable;
            elsewhere it runs a prepared statement or a stored procedure.
    """
    for index, word in enumerate(words):
        following = words[index + 1 : index + 2]
        if not following:
            continue
        if word == "SP_EXECUTESQL":
            return _Pieces(words, index + 1, variables).expression()
        if word == "FROM" and words[0] == "PREPARE":
            return _Pieces(words, index + 1, variables).expression()
        if word not in ("EXECUTE", "EXEC") or following[0] in _ROUTINES or words[0] in ("GRANT", "REVOKE"):
            continue
        if following[0] == "SP_EXECUTESQL" or "SP_EXECUTESQL" in words[index : index + 4]:
            continue
        runs_text = following[0] in ("(", "IMMEDIATE", "N", "E") or following[0][:1] == "'"
        if runs_text or (within and word == "EXECUTE"):
            return _Pieces(words, index + 1, variables).expression()
    return None
