"""Whether commands provably only read: every program, option and argument must be on a closed list.

`programs.json` holds what the manuals of the vendors say reads and nothing else; what it lacks is not proved.
It only ever takes away: a command that has another effect, a verdict or an unknown part reads nothing anyway.

* `any`: programs of which no option writes, runs or sends anything.
* `wrappers`: programs that run the rest of their words, with the options that change nothing else.
* `options`: programs with the options that only read; `git` the same by subcommand, `""` before it.
  `-n=` takes a value, `-U?` may have one attached; of a group of letters that goes for the last, and `#`
  stands for digits.
* `suffixes`: how further options end that take a value, where a cloud has thousands of them.
* `joined`: programs of `options` whose `-name` is one option and not four letters.
* `most`: how many arguments may follow; `words`: what they must look like, joined by line breaks.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from haltline.shell.environment import HARMLESS_VARIABLES
from haltline.shell.marks import known
from haltline.shell.options import Options
from haltline.shell.reading.scripts import awk_reads, sed_reads
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haltline.shell.call import Call
    from haltline.shell.engine import Engine
    from haltline.shell.environment import Environment

_PYTHONS = frozenset({"python", "pypy"})
_SEDS = frozenset({"sed", "gsed"})
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
_FINDS = frozenset({"find", "gfind"})
_NAMING = word_set("export declare local readonly typeset read mapfile readarray getopts unset let")
# A name that is attached to an option (`read -aPATH`), and the option that makes one name stand for another.
_ATTACHED = re.compile(r"-[a-z]*[A-Z_]{2}")
_REFERS = re.compile(r"-[A-Za-z]*n")
_DECLARING = word_set("declare local typeset")
_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[|\+?=|\Z)")
# Wrappers with the option that makes them print what they would run.
_PRINTS = {"command": "-v"}
_FILE_PATTERN = frozenset("*?[")

# Variables that change how output looks, and those whose name no program knows: programs' own are capitals.
_HARMLESS_VARIABLE = re.compile(
    rf"(?:{HARMLESS_VARIABLES}"
    r"|\d+|REPLY|MAPFILE|OPTARG|OPTIND|IFS|_|(?!npm_|\w*_proxy\Z)(?=\w*[a-z])[A-Za-z_]\w*)\Z"
)


# What sets a variable that runs something where no assignment is seen: in arithmetic, as a descriptor, by the
# name in another variable; and what expands a value as a prompt, with the commands in it.
_RUNS = (
    r"(?:PATH|ENV|BASH_ENV|SHELL|LD_\w+|LESS\w*|EDITOR|VISUAL|BROWSER"
    r"|GIT_(?!PAGER\b|TERMINAL_PROMPT\b|OPTIONAL_LOCKS\b)\w+)"
)
_ASSIGNS = r"\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
_SETS = re.compile(
    rf"(?<![\w$]){_RUNS}(?:\[[^\]]{{0,64}}\])?{_ASSIGNS}|(?:\+\+|--)\s*{_RUNS}\b|\{{{_RUNS}\}}[<>]"
    r"|\$\{!(?!\w+\[[@*]\]\})|@P\}"
)
_SETS_NAMED = re.compile(rf"\$\{{?\w+\}}?{_ASSIGNS}")


class Given(NamedTuple):
    """The arguments and options that a command line gives.

    Attributes:
        words: the arguments that are not options.
        options: each option with its value, or None.
    """

    words: list[str]
    options: list[tuple[str, str | None]]


class Reader:
    """What of a program only reads.

    Attributes:
        options: each option that may stand, with `=` where it takes a value and `?` where one is attached;
            None where every option may.
        digits: a number may stand for an option.
        joined: `-name` is one option.
        wraps: what follows is a command of its own.
        most: how many arguments may follow, or None.
        words: what they must look like, joined by line breaks, or None.
        suffixes: how further options end that take a value.
    """

    __slots__ = ("digits", "joined", "most", "options", "suffixes", "words", "wraps")

    def __init__(self, options: str | None, *, joined: bool = False, wraps: bool = False) -> None:
        self.options = None if options is None else _arities(options, joined=joined)
        self.digits = self.options is not None and "-#" in self.options
        self.joined = joined
        self.wraps = wraps
        self.most: int | None = None
        self.words: re.Pattern[str] | None = None
        self.suffixes: tuple[str, ...] = ()

    def given(self, words: Sequence[str]) -> Given | None:
        """Return what the words after a program's name give, or None when not all of it is known to read."""
        if self.options is None:
            return Given(list(words), [])
        given = Given([], [])
        index = 0
        while index < len(words):
            word = words[index]
            if self.wraps and (word[:1] != "-" or word == "-"):
                break
            index += 1
            if not known(word) or word[:1] in _FILE_PATTERN:  # it may turn out to be an option
                return None
            if word == "--":
                given.words.extend(words[index:])
                return given if all(map(known, words[index:])) else None
            if word[:1] != "-" or word == "-":
                given.words.append(word)
                continue
            following = words[index] if index < len(words) else None
            used = self._option(word, following, given)
            if used < 0:
                return None
            index += used
        return given

    def _option(self, word: str, following: str | None, given: Given) -> int:
        """Take one word of options; return how many further words it uses, or -1 when it is not listed."""
        if word[1] == "-" or self.joined:
            name, equals, value = word.partition("=")
            arity = self._arity(name)
            if arity is None or (equals and not arity):
                return -1
            if equals or arity != "=":
                given.options.append((name, value if equals else None))
                return 0
            given.options.append((name, following))
            return -1 if following is None or not known(following) else 1
        for position, letter in enumerate(word[1:], 2):
            if self.digits and letter.isdigit():
                continue
            arity = self._arity("-" + letter)
            if arity is None:
                return -1
            rest = word[position:]
            if not arity:
                given.options.append(("-" + letter, None))
                continue
            if rest or arity == "?":
                given.options.append(("-" + letter, rest or None))
                return 0
            given.options.append(("-" + letter, following))
            return -1 if following is None or not known(following) else 1
        return 0

    def _arity(self, name: str) -> str | None:
        if self.options is None:
            return None
        found = self.options.get(name)
        if found is None and self.joined and name[:2] == "--":
            found = self.options.get(name[1:])
        if found is None and name == "--help" and not self.wraps:
            return ""
        return "=" if found is None and self.suffixes and name.endswith(self.suffixes) else found

    def allows(self, words: list[str]) -> bool:
        """Return whether a program that gets these arguments only reads."""
        if self.most is not None and len(words) > self.most:
            return False
        return self.words is None or self.words.fullmatch("\n".join(words)) is not None


def _arities(text: str, *, joined: bool) -> dict[str, str]:
    arities: dict[str, str] = {}
    for token in text.split():
        mark = token[-1] if token[-1] in "=?" else ""
        name = token.removesuffix(mark) if mark else token
        if joined or name[:2] == "--":
            arities[name] = mark
            continue
        arities.update(("-" + letter, "") for letter in name[1:])
        arities["-" + name[-1]] = mark
    return arities


@cache
def readers() -> Mapping[str, Reader]:
    """Return what is known of each program; Git's subcommands as `git-name`, its own options as `git`."""
    import json  # noqa: PLC0415  loaded only where it is needed
    from pathlib import Path  # noqa: PLC0415  likewise

    raw: dict[str, Any] = json.loads(Path(__file__).with_name("programs.json").read_text(encoding="utf-8"))
    joined = frozenset(raw["joined"].split())
    found = {name: Reader(None) for name in raw["any"].split()}
    for names, options in raw["wrappers"].items():
        found.update((name, Reader(options, wraps=True)) for name in names.split())
    for names, options in raw["options"].items():
        found.update((name, Reader(options, joined=name in joined)) for name in names.split())
    for names, options in raw["git"].items():
        if names:
            found.update(("git-" + name, Reader(options)) for name in names.split())
        else:
            found["git"] = Reader(options, wraps=True)
    for key in ("most", "words"):
        for names, value in raw[key].items():
            for name in names.split():
                setattr(found[name], key, re.compile(value) if key == "words" else value)
    for names, suffixes in raw["suffixes"].items():
        for name in names.split():
            found[name].suffixes = tuple(suffixes.split())
    return found


def proved(engine: Engine, text: str) -> bool:
    """Return whether everything that a text would run is known to only read."""
    if _SETS.search(text) is not None or ("((" in text and _SETS_NAMED.search(text) is not None):
        return False
    if any(engine.book.known(name) for name, _, _ in engine.defined):
        return False
    started = _started(engine.calls)
    return all(_reads(engine, call, started) and _keeps_settings(call.environment) for call in engine.calls)


def _started(calls: list[Call]) -> set[Call]:
    """Return the commands that run another one."""
    started: set[Call] = set()
    for call in calls:
        outer = call.outer
        while outer is not None and outer not in started:
            started.add(outer)
            outer = outer.outer
    return started


def _keeps_settings(environment: Environment) -> bool:
    """Return whether no variable was set that programs heed."""
    return all(map(_HARMLESS_VARIABLE.match, environment.variables))


def _reads(engine: Engine, call: Call, started: set[Call]) -> bool:
    argv = call.argv
    program = engine.book.program(argv[0].rpartition("/")[2])
    if program is None:
        return False
    if len(argv) == 2 and argv[1] in ("--help", "--version"):  # noqa: PLR2004  the program and its option
        return True
    name, words = program.name, argv[1:]
    if name == "git":
        own = readers()["git"].given(words)
        if own is None:
            return False
        at = _first_word(readers()["git"], words)
        if at >= len(words):
            return True
        name, words = "git-" + words[at], words[at + 1 :]
    return _listed(engine, name, words, call, started)


def _first_word(reader: Reader, words: list[str]) -> int:
    """Return where the options of a program end whose words are a command of its own."""
    index = 0
    while index < len(words) and words[index][:1] == "-":
        index += 2 if reader.options is not None and reader.options.get(words[index]) == "=" else 1
    return index


def _listed(engine: Engine, name: str, words: list[str], call: Call, started: set[Call]) -> bool:
    reader = readers().get(name)
    if reader is None:
        return False
    if reader.wraps:
        given = reader.given(words)
        return given is not None and (call in started or _PRINTS.get(name, "") in dict(given.options))
    if name in _FINDS:
        runs = len(words)
        words = _without_runs(words)
        if len(words) != runs and call not in started:
            return False
    if call.appended and (reader.options is not None or reader.most is not None):
        return False
    given = reader.given(words)
    if given is None or not reader.allows(given.words) or not _subcommand_reads(engine, name, given):
        return False
    if name in _AWKS:
        return awk_reads(given.words, given.options)
    if name in _SEDS:
        return sed_reads(given.words, given.options)
    if name in _PYTHONS:
        from haltline.shell.reading.python import python_reads  # noqa: PLC0415  loaded only where it is needed

        return python_reads(given.options)
    return _names_nothing(name, words)


def _subcommand_reads(engine: Engine, name: str, given: Given) -> bool:
    """Return whether a program that reads with some of its subcommands or options is given one of those."""
    program = engine.book.program(name)
    if program is None or not program.readers or program.reads:
        return True
    options = Options()  # by the list of options: `railway -s list up` names a service and goes up
    options.words, options.given = given.words, given.options
    return any(reader.holds(options, frozenset()) >= 0 for reader in program.readers)


def _without_runs(words: list[str]) -> list[str]:
    """Return the words of `find` without the commands of `-exec`, which are judged by themselves."""
    kept: list[str] = []
    inside = False
    for index, word in enumerate(words):
        if inside:
            inside = word != ";" and not (word == "+" and words[index - 1] == "{}")
        elif word in ("-exec", "-execdir"):
            inside = True
        else:
            kept.append(word)
    return kept


def _names_nothing(name: str, words: list[str]) -> bool:
    """Return whether a builtin sets or forgets no variable that programs heed."""
    if name not in _NAMING and not (name == "printf" and words[:1] and words[0].startswith("-v")):
        return True
    if not all(map(known, words)):
        return False
    if any(map(_ATTACHED.match, words)) or (name in _DECLARING and any(map(_REFERS.match, words))):
        return False
    names = (words[0][2:], *words[1:2]) if name == "printf" else words
    found = (_NAME.match(word) for word in names)
    return all(_HARMLESS_VARIABLE.match(match[1]) for match in found if match is not None)
