"""What the text itself has set so far: variables, functions, aliases, positional parameters, directory."""

from __future__ import annotations

import re

from haltline.shell.marks import HOME, OWN_KEY, SECRET_VALUE, TEMPORARY_HINT, UNKNOWN
from haltline.shell.scanner import LimitReached
from haltline.shell.vocabulary import word_set

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from haltline.shell.syntax import Script

MAX_ALTERNATIVES = 8
MAX_VALUE = 64 * 1024

TEMPORARY = "/tmp/haltline-tmpdir"  # noqa: S108  stands for $TMPDIR, never opened
_INHERITED = {
    "HOME": [HOME],
    "TMPDIR": [TEMPORARY],
    "TMP": [TEMPORARY],
    "TEMP": [TEMPORARY],
    "RUNNER_TEMP": [TEMPORARY],
    "XDG_CONFIG_HOME": [HOME + "/.config"],
    "XDG_DATA_HOME": [HOME + "/.local/share"],
    "XDG_CACHE_HOME": [HOME + "/.cache"],
    "SHELL": ["/bin/sh"],
    "BASH": ["/bin/bash"],
    "PWD": ["."],
    "IFS": [" \t\n"],
    "HALTLINE_DATABASE": [
        HOME + "/.local/share/haltline/haltline.db"
    ],  # wherever they are, they are Haltline's
    "HALTLINE_CONFIG": [HOME + "/.config/haltline/haltline.yaml"],
    "HALTLINE_KEY": [UNKNOWN + OWN_KEY],
}
# Variables whose value other programs run as a command.
RUN_BY_NAME = word_set(
    "PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_SEQUENCE_EDITOR "
    "GIT_ASKPASS SSH_ASKPASS BROWSER PROMPT_COMMAND PSQL_PAGER LESSOPEN LESSCLOSE FZF_DEFAULT_COMMAND"
)
# Variables that change how output looks and whose account is asked, not what a program runs or writes.
HARMLESS_VARIABLES = (
    r"LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|COLORTERM|LS_COLORS|CI"
    r"|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|AWS_PROFILE|AWS_(?:DEFAULT_)?REGION"
)
_NOTHING = [UNKNOWN]
_NOTHING_TEMPORARY = [UNKNOWN + TEMPORARY_HINT]
_NOTHING_SECRET = [UNKNOWN + SECRET_VALUE]
_SECRET_NAME = re.compile(r"key|token|secret|passw|pwd|cred|auth|private|dsn|database_url", re.IGNORECASE)
_TEMPORARY_NAME = re.compile(r"te?mp|scratch|work_?dir", re.IGNORECASE)


class Environment:
    """One shell's state; a subshell works on a copy.

    Attributes:
        variables: name to its possible values; several where branches or a loop assign different ones.
        arrays: name to the elements by subscript, where all of them are decided.
        functions: name to body.
        aliases: name to text.
        positional: `$1` and on, or None when the caller's are in force.
        directory: where `cd` has led in this text, or None while nothing was changed.
        credentials: a file of credentials that cannot be read has been sourced: its variables are not known.
        uncertain: greater than zero inside a branch or loop, where an assignment adds a possible value.
    """

    __slots__ = (
        "aliases",
        "arrays",
        "credentials",
        "directory",
        "functions",
        "positional",
        "uncertain",
        "variables",
    )

    def __init__(self) -> None:
        self.variables: dict[str, list[str]] = {}
        self.arrays: dict[str, dict[str, str]] = {}
        self.functions: dict[str, Script] = {}
        self.aliases: dict[str, str] = {}
        self.positional: list[str] | None = None
        self.directory: str | None = None
        self.credentials = False
        self.uncertain = 0

    def copy(self) -> Environment:
        """Return the state that a subshell starts from."""
        other = Environment()
        if self.variables:
            other.variables = dict(self.variables)
        if self.arrays:
            other.arrays = dict(self.arrays)
        if self.functions:
            other.functions = dict(self.functions)
        if self.aliases:
            other.aliases = dict(self.aliases)
        other.positional = self.positional
        other.directory = self.directory
        other.credentials = self.credentials
        other.uncertain = self.uncertain
        return other

    def values(self, name: str) -> list[str]:
        """Return the possible values of a variable; a single unknown mark when nobody assigned it here."""
        found = self.variables.get(name)
        if found is None:
            if name == "PWD" and self.directory is not None:
                return [self.directory]
            inherited = _INHERITED.get(name)
            if inherited is None:
                if self.credentials and _SECRET_NAME.search(name):
                    return _NOTHING_SECRET
                return _NOTHING_TEMPORARY if _TEMPORARY_NAME.search(name) else _NOTHING
            return inherited
        return found

    def assign(self, name: str, values: list[str], *, append: bool = False) -> None:
        """Set a variable, or in a branch add to what it may be."""
        if self.arrays:
            self.arrays.pop(name, None)
        old = self.variables.get(name)
        if append:
            before = old if old is not None else [""]
            values = [a + b for a in before for b in values]
            if max(map(len, values)) > MAX_VALUE:
                raise LimitReached(f"a value longer than {MAX_VALUE} characters")
        if self.uncertain and old is not None:
            values = list(dict.fromkeys(old + values))
        if len(values) > MAX_ALTERNATIVES:
            values = [*values[: MAX_ALTERNATIVES - 1], UNKNOWN]
        self.variables[name] = values

    def assign_elements(self, name: str, elements: dict[str, str], *, append: bool = False) -> None:
        """Set an array; where it may be one of several, its elements are no longer told apart."""
        before = self.arrays.get(name, {}) if append else {}
        apart = not (self.uncertain and name in self.variables) and (bool(before) or not append)
        if before:
            shift = len(before)
            elements = before | {str(int(k) + shift) if k.isdigit() else k: v for k, v in elements.items()}
        self.assign(name, [" ".join(elements.values())], append=append and not before)
        if apart and elements:
            self.arrays[name] = elements

    def assign_element(self, name: str, subscript: str, value: str) -> None:
        """Set one element of an array."""
        elements = {**self.arrays.get(name, {}), subscript: value}
        known_before = name in self.arrays or name not in self.variables
        self.assign(name, [" ".join(elements.values())], append=not known_before)
        if known_before and not self.uncertain:
            self.arrays[name] = elements
