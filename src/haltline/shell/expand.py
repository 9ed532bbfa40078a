"""Expansion of words as Bash does it, as far as the text alone decides (Bash manual, "Shell Expansions").

What the text does not decide becomes a mark (`haltline.shell.marks`), never a guess.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import pairwise

from haltline.shell.environment import MAX_ALTERNATIVES, MAX_VALUE
from haltline.shell.marks import HOME, PRESENT, SECRET_VALUE, UNKNOWN, known
from haltline.shell.scanner import LimitReached, ansi_c, scan
from haltline.shell.syntax import Arithmetic, Literal, Parameter, Substitution, Word

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from haltline.shell.engine import Engine
    from haltline.shell.environment import Environment

MAX_FIELDS = 2048
MAX_RANGE = 32  # numbers of a longer range are not told apart
WORDS_IN_A_STEP = 2
SEARCHED_IN_A_STEP = 128  # characters
MAX_PATTERN_VALUE = 256
MANY_PARTS = 64  # a word of more pieces counts as work of its own

_PROTECT = str.maketrans("{},", "\x0e\x0f\x10")
_UNPROTECT = str.maketrans("\x0e\x0f\x10", "{},")
_TILDE = re.compile(r"~(?=/|\Z)|~([A-Za-z_][A-Za-z0-9_.-]*)")
_RANGE = re.compile(r"(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.-?\d{1,4})?\Z")
_DIGITS = re.compile(r"-?\d+\Z")
_USE_DEFAULT = frozenset({":-", "-", ":=", "="})
_CASES = {"^^": str.upper, ",,": str.lower, "@U": str.upper, "@L": str.lower, "@E": ansi_c}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ELEMENT = re.compile(r"\[([^\]]*)\]=(.*)", re.DOTALL)
_NUMERIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_NAMING = frozenset({"-v", "-R"})


def fields(engine: Engine, word: Word, environment: Environment) -> list[str]:
    """Return the fields that a word becomes: none, one or several."""
    parts = word.parts
    if parts is None:
        return [word.text] if word.quoted else plain_fields(engine, word.text)
    if len(parts) > MANY_PARTS:
        engine.charge(len(parts) // 2)
    return _Build(engine, environment).fields(parts)


def plain_fields(engine: Engine, text: str) -> list[str]:
    """Return the fields that an unquoted literal becomes."""
    if not text:
        return []
    if text[0] == "~":
        text = tilde(text)
    return braces(engine, text) if "{" in text else [text]


def text(engine: Engine, word: Word, environment: Environment) -> str:
    """Return what a word becomes where Bash does not split it, as in an assignment or redirection."""
    parts = word.parts
    if parts is None:
        return word.text if word.quoted or word.text[:1] != "~" else tilde(word.text)
    if len(parts) > MANY_PARTS:
        engine.charge(len(parts) // 2)
    build = _Build(engine, environment)
    return bounded("".join(build.unsplit(part, first=index == 0) for index, part in enumerate(parts)))


def bounded(value: str) -> str:
    """Return a value; raise `LimitReached` when it is longer than is looked at: nothing is cut off unseen."""
    if len(value) > MAX_VALUE:
        raise LimitReached(f"a value longer than {MAX_VALUE} characters")
    return value


def prompt(engine: Engine, value: str, environment: Environment) -> str:
    """Return what a value becomes when Bash expands it once more: `${x@P}`, a subscript in arithmetic."""
    turn = ("prompt", value)
    if turn in engine.active:
        return UNKNOWN
    engine.charge(1 + len(value) // SEARCHED_IN_A_STEP)
    end = "E"
    while end in value:
        end += "E"
    body = scan(f": <<{end}\n{value}\n{end}\n").script.items[0][1].redirections[0].body
    if body is None:
        return value
    engine.active.append(turn)
    try:
        return text(engine, body, environment).removesuffix("\n")
    finally:
        engine.active.pop()


def subscripts(engine: Engine, value: str, environment: Environment) -> None:
    """Judge what a text runs where Bash takes it for arithmetic or the name of an element."""
    opened = value.find("[")
    if opened >= 0 and ("$(" in value[opened:] or "`" in value[opened:]):
        prompt(engine, value, environment)


def evaluated(engine: Engine, expression: str, environment: Environment) -> None:
    """Judge what arithmetic runs: the values of its variables are arithmetic again (Bash manual, 6.5)."""
    seen: set[str] = set()
    waiting = [expression] if environment.variables else []
    while waiting:
        expression = waiting.pop()
        engine.charge(len(expression) // SEARCHED_IN_A_STEP)
        for name in _IDENTIFIER.findall(expression):
            if name in seen or name not in environment.variables:
                continue
            seen.add(name)
            for value in environment.variables[name]:
                subscripts(engine, value, environment)
                waiting.append(value)


def operands(engine: Engine, values: list[str], environment: Environment) -> None:
    """Judge the words of a test: `-v` takes a name, `-eq` and its like take arithmetic."""
    for before, word, after in zip(["", *values], values, [*values[1:], ""], strict=False):
        if word in _NUMERIC or word in _NAMING:
            for operand in (before, after) if word in _NUMERIC else (after,):
                subscripts(engine, operand, environment)
                evaluated(engine, operand, environment)


def elements(values: list[str]) -> dict[str, str]:
    """Return the elements of an array by their subscripts: `[name]=value` brings its own."""
    result: dict[str, str] = {}
    for index, value in enumerate(values):
        match = _ELEMENT.match(value)
        result[match[1] if match is not None else str(index)] = match[2] if match is not None else value
    return result


def tilde(value: str) -> str:
    """Replace a leading `~` by the home mark and `~user` by that user's home."""
    match = _TILDE.match(value)
    if match is None:
        return value
    if match[1] is None:
        return HOME + value[1:]
    home = "/root" if match[1] == "root" else "/home/" + match[1]
    return home + value[match.end() :]


class _Build:
    """The fields of one word under construction."""

    __slots__ = ("current", "engine", "environment", "live_braces", "result")

    def __init__(self, engine: Engine, environment: Environment) -> None:
        self.engine = engine
        self.environment = environment
        self.result: list[str] = []
        self.current: str | None = None
        self.live_braces = False

    def fields(self, parts: list[Literal | Parameter | Substitution | Arithmetic]) -> list[str]:
        self.live_braces = any(
            isinstance(part, Literal) and not part.quoted and "{" in part.text for part in parts
        )
        for index, part in enumerate(parts):
            self.add(part, first=index == 0)
            if len(self.result) > MAX_FIELDS:
                raise LimitReached(f"a word that becomes more than {MAX_FIELDS}")
        if self.current is not None:
            self.result.append(self.current)
        if not self.live_braces:
            return self.result
        expanded = [piece for one in self.result for piece in braces(self.engine, one)]
        return [one.translate(_UNPROTECT) for one in expanded]

    def add(self, part: Literal | Parameter | Substitution | Arithmetic, *, first: bool) -> None:
        if isinstance(part, Literal):
            value = part.text
            if not part.quoted:
                self.append(tilde(value) if first else value)
            else:
                self.append(self.protected(value))
            return
        if isinstance(part, Parameter) and part.name in ("@", "*") and not part.operator:
            self.all_positional(part)
            return
        if isinstance(part, Parameter) and part.elements and part.name in self.environment.arrays:
            found = self.slice(part)
            if found is not None:
                for index, value in enumerate(found):
                    if index:
                        self.flush()
                    self.append(self.protected(value)) if part.quoted else self.split(self.protected(value))
                return
        value = self.value(part)
        several = isinstance(part, Parameter) and part.elements
        if isinstance(part, Arithmetic) or (part.quoted and not several):
            self.append(self.protected(value))
        else:
            self.split(self.protected(value))

    def protected(self, value: str) -> str:
        return value.translate(_PROTECT) if self.live_braces else value

    def append(self, value: str) -> None:
        self.current = value if self.current is None else bounded(self.current + value)

    def split(self, value: str) -> None:
        separators = self.environment.values("IFS")[-1]
        if not value:
            return
        if separators == " \t\n" or not known(separators):
            pieces = value.split() if value.strip(" \t\n") else []
            opens, closes = value[0] in " \t\n", value[-1] in " \t\n"
        elif separators:
            pieces = [piece for piece in re.split("[" + re.escape(separators) + "]", value) if piece]
            opens, closes = value[0] in separators, value[-1] in separators
        else:
            self.append(value)
            return
        if opens:
            self.flush()
        for index, piece in enumerate(pieces):
            if index:
                self.flush()
            self.append(piece)
        if closes:
            self.flush()

    def flush(self) -> None:
        if self.current is not None:
            self.result.append(self.current)
            self.current = None

    def all_positional(self, part: Parameter) -> None:
        values = self.environment.positional
        if values is None:
            self.append(UNKNOWN)
            return
        self.engine.charge(len(values) // WORDS_IN_A_STEP)
        for index, value in enumerate(values):
            if index:
                self.flush()
            self.append(value) if part.quoted else self.split(value)

    def slice(self, part: Parameter) -> list[str] | None:
        """Return the elements of `${name[@]}` or `${name[@]:from:count}`; None for any other operator."""
        found = list(self.environment.arrays[part.name].values())
        self.engine.charge(len(found) // WORDS_IN_A_STEP)
        if part.argument is None:
            return found if not part.operator else None
        numbers = text(self.engine, part.argument, self.environment).replace(" ", "").split(":")
        if part.operator != ":" or not all(_DIGITS.match(number) for number in numbers):
            return None
        found = found[int(numbers[0]) :]
        return found[: int(numbers[1])] if len(numbers) > 1 else found

    def element(self, name: str, subscript: str | None) -> str:
        """Return one element of an array, or all of them joined."""
        found = self.environment.arrays[name]
        if subscript in ("@", "*"):
            return " ".join(found.values())
        key = "0" if subscript is None else subscript.strip("\"'")
        if key not in found and key in self.environment.variables:
            key = self.plain_value(key)
        if key[:1] == "-" and key[1:].isdigit():
            key = str(len(found) - int(key[1:]))
        if key in found:
            return found[key]
        if subscript is None or key.isdigit():
            return ""
        return self.engine.choose(f"{name}[{key}]", list(dict.fromkeys(found.values()))[:MAX_ALTERNATIVES])

    def unsplit(self, part: Literal | Parameter | Substitution | Arithmetic, *, first: bool) -> str:
        if isinstance(part, Literal):
            return tilde(part.text) if first and not part.quoted else part.text
        return self.value(part)

    def value(self, part: Parameter | Substitution | Arithmetic) -> str:
        if isinstance(part, Parameter):
            return self.parameter(part)
        if isinstance(part, Substitution):
            return self.engine.substitute(part, self.environment)
        for inner in part.parts:
            if not isinstance(inner, Literal):
                subscripts(self.engine, self.value(inner), self.environment)
        evaluated(self.engine, part.text, self.environment)
        return PRESENT

    def parameter(self, part: Parameter) -> str:
        if self.environment.arrays and part.name in self.environment.arrays:
            subscript = part.subscript
            if subscript is None and part.argument is not None and not part.operator:
                subscript = text(self.engine, part.argument, self.environment)
                if subscript[:1] == "[" and subscript[-1:] == "]":
                    return self.element(part.name, subscript[1:-1])
            if subscript is not None:
                evaluated(self.engine, subscript, self.environment)
            value = self.element(part.name, subscript)
        else:
            value = self.plain_value(part.name)
        if part.indirect:
            value = self.plain_value(value) if known(value) else UNKNOWN
        operator = part.operator
        if not operator and part.argument is None:
            return value
        if part.argument is None:
            return PRESENT
        return self.with_operator(part, value, operator, part.argument)

    def with_operator(self, part: Parameter, value: str, operator: str, argument: Word) -> str:
        if operator in _USE_DEFAULT:
            default = text(self.engine, argument, self.environment)
            if value not in (UNKNOWN, "") or (value == "" and operator[0] != ":"):
                return value
            if operator.endswith("="):
                self.environment.assign(part.name, [default])
            return default
        given = text(self.engine, argument, self.environment)
        if operator == ":":  # where the part begins and how long it is are arithmetic
            subscripts(self.engine, given, self.environment)
            evaluated(self.engine, given, self.environment)
        if operator in (":+", "+"):
            return "" if value == "" else given
        if operator in (":?", "?"):
            return PRESENT if value in (UNKNOWN, UNKNOWN + SECRET_VALUE) else value
        if operator == "@P" and value != UNKNOWN:
            return prompt(self.engine, value, self.environment)
        if not known(value) or not known(given):
            return UNKNOWN
        self.engine.charge(len(value))
        return _transform(value, operator, given)

    def plain_value(self, name: str) -> str:
        if name.isdigit():
            return self.positional(int(name))
        if name in ("@", "*"):
            values = self.environment.positional
            return UNKNOWN if values is None else " ".join(values)
        if name in ("#", "?", "$", "!", "-"):
            return PRESENT
        return self.engine.choose(name, self.environment.values(name))

    def positional(self, index: int) -> str:
        values = self.environment.positional
        if index == 0:
            return self.environment.variables.get("0", [PRESENT])[-1]
        if values is None:
            return UNKNOWN
        return values[index - 1] if index <= len(values) else ""


def _transform(value: str, operator: str, given: str) -> str:
    """Apply a substring, removal, replacement or case operator to a known value."""
    if operator == ":":
        numbers = given.replace(" ", "").split(":")
        if not all(_DIGITS.match(number) for number in numbers):
            return UNKNOWN
        start = int(numbers[0])
        rest = value[start:]
        return rest[: int(numbers[1])] if len(numbers) > 1 else rest
    if not operator:  # a bad substitution, such as `${a b}`
        return UNKNOWN
    if operator in ("#", "##", "%", "%%"):
        return _remove(value, operator, given)
    if operator[0] == "/":
        return _replace(value, operator, given)
    if operator in _CASES and not given:
        return _CASES[operator](value)
    if operator in ("^", ",") and not given and value:
        return (value[0].upper() if operator == "^" else value[0].lower()) + value[1:]
    return UNKNOWN


def _remove(value: str, operator: str, pattern: str) -> str:
    if len(value) > MAX_PATTERN_VALUE:
        return UNKNOWN
    lengths = range(len(value) + 1)
    for length in lengths if len(operator) == 1 else reversed(lengths):
        piece = value[:length] if operator[0] == "#" else value[len(value) - length :]
        if fnmatchcase(piece, pattern):
            return value[length:] if operator[0] == "#" else value[: len(value) - length]
    return value


def _replace(value: str, operator: str, given: str) -> str:
    pattern, _, replacement = given.partition("/")
    if not pattern or any(c in pattern for c in "*?["):
        return UNKNOWN
    if operator.endswith("#"):
        return replacement + value[len(pattern) :] if value.startswith(pattern) else value
    if operator.endswith("%"):
        return value[: -len(pattern)] + replacement if value.endswith(pattern) else value
    if len(value) + len(replacement) * value.count(pattern) > MAX_VALUE:
        raise LimitReached(f"a value longer than {MAX_VALUE} characters")
    return value.replace(pattern, replacement, -1 if operator == "//" else 1)


def braces(engine: Engine, value: str) -> list[str]:
    """Return the fields of brace expansion; raise `LimitReached` when they are more than `MAX_FIELDS`."""
    if "," not in value and ".." not in value:
        return [value]
    done: list[str] = []
    waiting = [value]
    while waiting:
        if len(done) + len(waiting) > MAX_FIELDS:
            raise LimitReached(f"a word that becomes more than {MAX_FIELDS}")
        current = waiting.pop(0)
        engine.charge(1 + len(current) // SEARCHED_IN_A_STEP)
        group = _first_group(current)
        if group is None:
            done.append(current)
            continue
        start, end, choices = group
        waiting[:0] = [current[:start] + choice + current[end:] for choice in choices]
    return done


def _first_group(value: str) -> tuple[int, int, list[str]] | None:
    """Return start, end and choices of the first brace group with a comma or a range, or None."""
    opened: list[tuple[int, list[int]]] = []
    best: tuple[int, int, list[str]] | None = None
    for i, c in enumerate(value):
        if c == "{" and not (i and value[i - 1] == "$"):
            opened.append((i, []))
        elif c == "," and opened:
            opened[-1][1].append(i)
        elif c == "}" and opened:
            start, commas = opened.pop()
            choices = _choices(value, start, i, commas)
            if choices and (best is None or start < best[0]):
                best = (start, i + 1, choices)
            if best is not None and not opened:
                return best
    return best


def _choices(value: str, start: int, end: int, commas: list[int]) -> list[str]:
    if commas:
        bounds = [start, *commas, end]
        return [value[a + 1 : b] for a, b in pairwise(bounds)]
    match = _RANGE.match(value[start + 1 : end])
    if match is None:
        return []
    first, last = match[1], match[2]
    if first.isalpha() and last.isalpha():
        codes = (ord(first), ord(last))
        return [chr(code) for code in range(min(codes), max(codes) + 1)]
    if first.isalpha() or last.isalpha():
        return []
    low, high = sorted((int(first), int(last)))
    if high - low >= MAX_RANGE:
        return [str(low), UNKNOWN, str(high)]
    return [str(number) for number in range(low, high + 1)]
