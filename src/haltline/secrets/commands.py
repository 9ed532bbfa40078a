"""Secrets that are words of a command line: `redis-cli -a …`, `docker login -p …`, `vault login …`.

Which words they are is data, in `haltline.secrets.programs`. As all of context, such findings never block.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from haltline.secrets.command_lines import CommandLine, Word, bare, read_command
from haltline.secrets.context import (
    is_name_of_a_secret,
    kind_of_name,
    positions,
    rule_of_kind,
)
from haltline.secrets.keynames import PROSE_WORDS
from haltline.secrets.model import Hit, Tier
from haltline.secrets.patterns import compiled
from haltline.secrets.placeholders import is_placeholder, is_template
from haltline.secrets.programs import PRINTERS, SECRET_READERS, SECRET_WORDS, SecretReader, SecretWord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHORTEST = 3
_ACRONYM = 4  # NET, HTTP and the like in capitals are words of prose
_DEEPEST = 3  # commands inside quoted words inside quoted words
_PIPE = r"[ \t]*+\|(?!\|)[ \t]*+"
_FIRST_WORD = r"[\w./\\-]++"
_WHOLE_TEMPLATE = r"\$?\{\{.*\}\}|\$\{?\w+\}?|<[^<>]*>|%\w+%"

# What precedes a program's name, or encloses it, between two blanks; `_GLUED` finds further names.
_BEFORE = ("", '"', "'", "`", "(", "$(", '"$(', '\\"', "/usr/bin/", "/usr/local/bin/", "/bin/", "./")
_AROUND = (('"', '"'), ("'", "'"), ('"', '",'), ("'", "',"), ('["', '",'), ("['", "',"), ("'['", "',"))
_OPTION = r" --?[A-Za-z]"
_GLUED = r"(?:[;|&]|\$\(|[(:=\[]\\?[\"'`])([A-Za-z/.][\w./\\-]*+)(?=[ \"'`\\])"


class _Given(NamedTuple):
    """A secret given to a program, in the word with the number `word`, from `start` on."""

    word: int
    start: int
    value: str
    rule: str


@cache
def _rows() -> dict[str, tuple[SecretWord, ...]]:
    """Return where each program takes secrets."""
    rows: dict[str, tuple[SecretWord, ...]] = {}
    for row in SECRET_WORDS:
        for name in row.programs.lower().split():
            rows[name] = (*rows.get(name, ()), row)
    return rows


@cache
def _readers() -> dict[str, tuple[SecretReader, ...]]:
    """Return how each program reads secrets from standard input; under an empty name, how any does."""
    readers: dict[str, tuple[SecretReader, ...]] = {}
    for reader in SECRET_READERS:
        for name in reader.programs.split() or ("",):
            readers[name] = (*readers.get(name, ()), reader)
    return readers


@cache
def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


@cache
def _names() -> frozenset[str]:
    """Return the names to look for, in lower case."""
    return frozenset((*_rows(), *filter(None, _readers()), *PRINTERS))


@cache
def _written_names() -> frozenset[str]:
    """Return the names in every way in which they usually stand between two blanks."""
    cased = {name for row in SECRET_WORDS for name in row.programs.split()}
    names = cased.union(_names(), (name.upper() for name in _names() if len(name) > _ACRONYM))
    plain = {
        before + name + behind for name in names for before in _BEFORE for behind in ("", ".exe", ".EXE")
    }
    return frozenset(plain.union(before + name + behind for name in names for before, behind in _AROUND))


def may_hold_commands(text: str, words: Sequence[str]) -> bool:
    """True when a program that takes a secret may be named in a text; quick, for most texts name none.

    Args:
        text: what to search.
        words: what stands between its blanks.
    """
    if not _written_names().isdisjoint(words):
        return True
    # A name where no blank is: in a call or compact JSON, behind `;`, `|` or `&`. Looked for in one line, or
    # beside an option: code has no end of calls.
    option = (" -" in text and compiled(_OPTION).search(text) is not None) or ',"-' in text
    if "\n" in text and not option:
        return False
    return any(program_name(name) in _names() for name in compiled(_GLUED).findall(text))


def find_in_commands(text: str, lowered: str) -> Iterator[Hit]:
    """Yield the words of command lines that are secrets.

    Args:
        text: what to search.
        lowered: the same in lower case, of the same length.
    """
    places = sorted(
        place
        for name in _names()
        if name in lowered
        for place in positions(lowered, name)
        if _stands_alone(lowered, place, place + len(name))
    )
    yield from _walk(text, places, 0, len(text), _DEEPEST)


def secret_items(items: Sequence[str]) -> Iterator[tuple[int, Hit]]:
    """Yield the items of a list that holds the words of one command which are secrets, with their index."""
    words = [Word(0, item, literal=True) for item in items]
    for given in _given(words):
        end = given.start + len(given.value)
        yield given.word, Hit(given.rule, Tier.CONTEXT, given.start, end, given.value)


def may_be_command(items: Sequence[str]) -> bool:
    """True when a list could hold the words of a command that takes a secret."""
    return not _written_names().isdisjoint(items) or any(program_name(item) in _rows() for item in items[:1])


def program_name(word: str) -> str:
    """Return the name of a program without its directory, in lower case."""
    return bare(word)[1].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")


def _stands_alone(lowered: str, start: int, end: int) -> bool:
    before = lowered[start - 1 : start]
    if before.isalnum() or (before and before in "_-.@$%+"):
        return False
    end += 4 * lowered.startswith(".exe", end)
    return end == len(lowered) or lowered[end].isspace() or lowered[end] in "\"'`\\"


def _walk(text: str, places: Sequence[int], low: int, high: int, depth: int) -> Iterator[Hit]:
    """Yield the secrets of the commands between two places; every character is read once for each depth."""
    index = bisect_left(places, low)
    while index < len(places) and places[index] < high:
        line = read_command(text, places[index], high)
        for given in (*_given(line.words), *_read_from_input(text, line, high)):
            end = given.start + len(given.value)
            yield Hit(given.rule, Tier.CONTEXT, given.start, end, given.value)
        if depth:
            for begin, end in line.nested:
                yield from _walk(text, places, begin, end, depth - 1)
        index = bisect_left(places, line.end, index + 1)


def _given(words: Sequence[Word]) -> Iterator[_Given]:
    """Yield the secrets among words; a program's words go on until the second program behind it.

    `curl -o zip -u …` still belongs to curl, and no word is read more than twice.
    """
    rows = _rows()
    values = [word.value for word in words]
    names = [program_name(value) for value in values]
    found = [(index, rows[name]) for index, name in enumerate(names) if name in rows]
    ends = [index for index, _ in found[2:]] + [len(words)] * 2
    for (index, for_program), end in zip(found, ends, strict=False):
        own = values[index + 1 : end]
        for row in for_program if own else ():
            yield from _given_in_row(row, words, own, index + 1)


def _given_in_row(
    row: SecretWord, words: Sequence[Word], values: Sequence[str], begin: int
) -> Iterator[_Given]:
    """Yield the secrets among a program's words: those with these values, from the word `begin` on."""
    if row.needs and not any(_is_flag(value, row.needs) for value in values):
        return
    if row.unless and any(_is_flag(value, row.unless) for value in values):
        return
    start = _behind(values, _split(row.within))
    if start is None:
        return
    end = begin + len(values)
    if row.assigned and not row.options:
        yield from _given_by_name(row, words, begin + start, end)
    else:
        yield from _given_in_place(row, words, begin + start, end)


def _behind(values: Sequence[str], within: Sequence[str]) -> int | None:
    """Return the place behind the last of some words that follow one another, others between them aside."""
    at = 0
    for wanted in within:
        at = next((n + 1 for n in range(at, len(values)) if _is_word(values[n], wanted)), -1)
        if at < 0:
            return None
    return at


def _is_word(value: str, wanted: str) -> bool:
    return value.lower() == wanted or (wanted.startswith("-") and _is_flag(value, wanted))


def _is_flag(value: str, flag: str) -> bool:
    """True for a flag alone, with a value or, when it is one letter, in a group."""
    if value == flag or value.startswith(f"{flag}="):
        return True
    group = compiled(r"-[A-Za-z]{2,8}").fullmatch(value)
    return group is not None and len(flag) == 2 and flag[1] in value  # noqa: PLR2004 - hyphen and letter


def _given_in_place(row: SecretWord, words: Sequence[Word], begin: int, end: int) -> Iterator[_Given]:
    """Yield the secrets given to options and in positions."""
    options, attached, valued = _split(row.options), _split(row.attached), _split(row.valued)
    prefixes = (*(f"{option}=" for option in options if option.startswith("-")), *attached)
    position = 0
    index = begin
    while index < end:
        value = words[index].value
        option = _option(value, options, attached)
        if option or value in valued:
            index += 1
            if option and index < end and not words[index].value.startswith("-"):
                yield from _accepted(row, words, index, 0, option)
        elif prefix := next((one for one in prefixes if value.startswith(one) and value != one), ""):
            yield from _accepted(row, words, index, len(prefix), prefix)
        elif not value.startswith(("-", "/", "+")):
            position += 1
            if position in row.positions:
                yield from _accepted(row, words, index, 0, "")
        index += 1


def _option(value: str, options: Sequence[str], attached: Sequence[str]) -> str:
    """Return the option that a word is, or the last one of a group of flags; empty when it is none."""
    if value in options:
        return value
    last = f"-{value[-1:]}"
    grouped = last in options and last in attached and compiled(r"-[A-Za-z]{2,8}").fullmatch(value)
    return last if grouped else ""


def _given_by_name(row: SecretWord, words: Sequence[Word], begin: int, end: int) -> Iterator[_Given]:
    """Yield the values of `NAME=VALUE`, and the words behind a secret's name."""
    for index in range(begin, end):
        value = words[index].value
        name, equals, assigned = value.partition("=")
        if value.startswith("-"):
            continue
        if equals:
            if (row.assigned == "any" or kind_of_name(name)) and not assigned.startswith("@"):
                yield from _accepted(row, words, index, len(name) + 1, name)
        elif row.assigned == "keyed" and kind_of_name(name) and index + 1 < end:
            if not words[index + 1].value.startswith("-"):
                yield from _accepted(row, words, index + 1, 0, name)
            return


def _accepted(row: SecretWord, words: Sequence[Word], index: int, offset: int, name: str) -> Iterator[_Given]:
    """Yield what a word holds from some character on, if it is a secret rather than what stands for one."""
    word = words[index]
    opening, value = bare(word.value[offset:])
    start = word.start + offset + opening
    if row.separator:
        head, separator, value = value.partition(row.separator)
        if not separator or (row.assigned and not kind_of_name(head)):
            return
        start += len(head) + len(separator)
        opening, value = bare(value)
        start += opening
        name = head if row.assigned else name
    if row.until and row.until in value:
        value = value.rpartition(row.until)[0]
    if is_given(value, literal=word.literal):
        yield _Given(index, start, value, _rule(row, name))


def _rule(row: SecretWord | SecretReader, name: str) -> str:
    if row.separator == ":":
        return "basic-password"
    return rule_of_kind(kind_of_name(name) or "password")


def is_given(value: str, *, literal: bool) -> bool:
    """True when a value in a secret's place is written out: no placeholder, and not filled in elsewhere."""
    if len(value) < _SHORTEST or is_placeholder(value) or is_name_of_a_secret(value):
        return False
    if value.lower() in PROSE_WORDS:
        return False
    if literal:
        return compiled(_WHOLE_TEMPLATE).fullmatch(value) is None
    return not is_template(value) and "`" not in value


def _read_from_input(text: str, line: CommandLine, limit: int) -> Iterator[_Given]:
    """Yield the secrets that a program reads from its standard input."""
    if line.here_strings and (reader := _reader(line.words)):
        yield from _input_of(reader, line.here_strings)
    if not line.words or program_name(line.words[0].value) not in PRINTERS:
        return
    pipe = compiled(_PIPE).match(text, line.end, limit)
    if pipe is None or not compiled(_FIRST_WORD).match(text, pipe.end(), limit):
        return
    if reader := _reader(read_command(text, pipe.end(), limit).words):
        printed = [word for word in line.words[1:] if not word.value.startswith("-")]
        is_format = len(printed) > 1 and "%" in printed[0].value
        yield from _input_of(reader, printed[is_format:])


def _reader(words: Sequence[Word]) -> SecretReader | None:
    """Return what reads a secret from standard input in a command, or None."""
    readers = _readers()
    values = [word.value for word in words]
    first: dict[str, int] = {}  # a program named again is not looked at again, so that no word is read often
    for index, value in enumerate(values):
        first.setdefault(program_name(value), index)
    first[""] = 0
    for name, index in first.items():
        for reader in readers.get(name, ()):
            if _behind(values[index + 1 :], _split(reader.words)) is not None:
                return reader
    return None


def _input_of(reader: SecretReader, words: Sequence[Word]) -> Iterator[_Given]:
    for index, word in enumerate(words):
        value = re.sub(r"(?:\\n)+\Z", "", word.value)
        head, separator, rest = value.partition(reader.separator) if reader.separator else ("", "", value)
        if is_given(rest, literal=word.literal):
            yield _Given(index, word.start + len(head) + len(separator), rest, _rule(reader, ""))
