"""One command by its program: what the rule book knows of it, or what is to be said when it does not."""

from __future__ import annotations

import re
import unicodedata
from fnmatch import fnmatchcase

from haltline.shell.call import NETWORK, PIPED, Call, Flow
from haltline.shell.marks import display, known
from haltline.shell.options import parse
from haltline.shell.vocabulary import word_set

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Sequence

    from haltline.shell.book import Program
    from haltline.shell.engine import Engine

MAX_CANDIDATES = 16
MAX_PATTERN = 32

_GLOB_NAME = re.compile(r"[*?\[]")
_PATTERN_DIRECTORIES = frozenset({"", "/", "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/"})
_INVISIBLE = frozenset({"Cf", "Cc", "Co", "Cn"})
_SHEBANG = re.compile(r"#![ \t]*(\S+)([^\n]*)")


_AWS_HELP_WORDS = 3  # `aws s3 rm help`
_FIRST_IS_WRITTEN = word_set("patch zip sponge")
_SECOND_IS_WRITTEN = word_set("7z 7za 7zz")
_COPIES = word_set("scp sftp rsync")
_ASKS_A_SERVER = word_set("dig nslookup host drill")


def _written(name: str, words: list[str]) -> list[str]:
    """Return the arguments of a writing program that it writes: those that it only reads are left out."""
    if name in _FIRST_IS_WRITTEN:
        return words[:1]
    if name in _SECOND_IS_WRITTEN:
        return words[1:2]
    return words


def _hosts(name: str, words: list[str]) -> list[str]:
    """Return the arguments of a network program that say with which host it speaks."""
    if name in _COPIES:
        return [word for word in words if ":" in word.split("/", 1)[0] or "://" in word]
    if name in _ASKS_A_SERVER:
        return [word.removeprefix("@") for word in words if word[:1] == "@"] or words[:1]
    addresses = [word for word in words if "://" in word]
    return addresses or [word for word in words[:1] if known(word)]


def default_effects(engine: Engine, program: Program, call: Call, *, found: bool) -> None:
    """Record what a program does by its nature, where nothing more exact was found."""
    kind = program.effect
    if kind == "privilege":
        if len(call.argv) == 2 and asks_for_help(call.argv, []):  # noqa: PLR2004  `sudo --help`
            kind = "read"
        engine.effect(kind, program.name, call)
    elif found:
        return
    elif kind == "write" and not program.name.startswith("git-"):
        targets: list[str | None] = [*_written(program.name, parse(call.argv, program.grammar).words)]
        for target in targets or [None]:
            engine.effect("write", target, call)
    elif kind == "network_out":
        for host in _hosts(program.name, parse(call.argv, program.grammar).words) or [program.name]:
            engine.effect("network_out", display(host), call)
    else:  # a program's name is no file that it writes
        engine.effect(kind or "execute", None if kind == "write" else program.name, call)


def _is_aws_help(program: Program, words: list[str]) -> bool:
    """Return whether `help` stands where a service or its operation ends; further on it is a file's name."""
    return program.name == "aws" and words[-1:] == ["help"] and len(words) <= _AWS_HELP_WORDS


def apply_rules(engine: Engine, program: Program, call: Call) -> None:
    """Report the declared rules that hold for a command."""
    spec = engine.book.wrappers.get(program.name)
    wrapper = spec is not None and "after" not in spec and "mode" not in spec
    options = parse(call.argv, program.grammar, first_word_ends=wrapper)
    if wrapper:
        options.words = call.argv[options.index :]
    elif asks_for_help(call.argv, options.words) or _is_aws_help(program, options.words):
        engine.effect("read", program.name, call)
        return
    for rule, used in program.matches(options):
        engine.report(rule.rule_id, call, " ".join(options.words[used:]))
    if engine.collecting and any(reader.holds(options, frozenset()) >= 0 for reader in program.readers):
        engine.effect("read", program.name, call)


def unlisted(engine: Engine, call: Call, name: str, base: str) -> Flow:
    """Judge a command whose name the book does not have."""
    if not known(name):
        if call.taints & NETWORK:
            engine.report("interpreters.network-code", call)
        engine.unknown("command", "the name of the command is not decided by the text", call)
        return Flow(None, call.taints)
    if not base.isascii():
        plain = visible(base)
        if plain != base:
            engine.report("disguise.invisible", call)
            return engine.run_text(plain + " " + quote(call.argv[1:]), call, call.environment)
    if _GLOB_NAME.search(base) and base not in ("[", "[["):
        return by_pattern(engine, call, name, base)
    if "/" in name:
        script = engine.file_flow(name, call)
        if script.text is not None or script.taints:
            return run_script_file(engine, script, call)
    engine.effect("execute", base, call)
    engine.unknown("program", base, call)
    return Flow(None, PIPED | call.taints | (call.stdin.taints if call.stdin is not None else 0))


def run_script_file(engine: Engine, script: Flow, call: Call) -> Flow:
    """Judge a file that the same text has written and now runs."""
    if script.taints & NETWORK:
        engine.report("interpreters.network-code", call)
    if script.text is None:
        engine.unknown("script", call.argv[0], call)
        return Flow(None, script.taints)
    inner = call.inner([_interpreter(script.text), call.argv[0], *call.argv[1:]], call.argv[0])
    return engine.dispatch(inner)


def _interpreter(text: str) -> str:
    """Return the program that a script's first line names: `env`'s options and settings are not it."""
    match = _SHEBANG.match(text)
    if match is None:
        return "sh"
    name = match[1].rpartition("/")[2]
    if name != "env":
        return name
    words = match[2].replace("--split-string=", " ").replace("-S", " ").split()
    named = [word for word in words if word[:1] != "-" and "=" not in word]
    return named[0].rpartition("/")[2] if named else "sh"


def by_pattern(engine: Engine, call: Call, name: str, base: str) -> Flow:
    """Judge a command that is named by a file pattern: every program it may be."""
    directory = name[: len(name) - len(base)]
    if directory in _PATTERN_DIRECTORIES:
        engine.report("disguise.pattern", call)
        engine.charge(MAX_CANDIDATES)
        names = engine.book.names() if len(base) <= MAX_PATTERN else set()
        candidates = sorted(names)
        if engine.book.own is not None:  # after the others: no file may push them over the limit
            candidates += sorted(engine.book.own.programs.keys() - names)
        matching = [candidate for candidate in candidates if fnmatchcase(candidate, base)]
        for candidate in matching[:MAX_CANDIDATES]:
            engine.dispatch(call.inner([candidate, *call.argv[1:]], name))
    else:
        engine.unknown("program", name, call)
    return Flow(None, PIPED)


def asks_for_help(argv: list[str], words: list[str]) -> bool:
    """Return whether a command only prints its help or version."""
    last = argv[-1]
    if last in ("--help", "--version") or "--help" in argv:
        return True
    return (last == "-h" and len(argv) <= 3 and argv[0] != "shutdown") or words[:1] == ["help"]  # noqa: PLR2004  `git restore -h`


def quote(argv: Sequence[str]) -> str:
    """Return words as shell text that is read back as the same words."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in argv)


def visible(text: str) -> str:
    """Return a text without characters that cannot be seen, and with look-alikes of ASCII made ASCII."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(c for c in plain if unicodedata.category(c) not in _INVISIBLE)
