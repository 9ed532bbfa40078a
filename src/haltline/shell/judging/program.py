"""One command by its program: what the rule book knows of it, or what is to be said when it does not."""

from __future__ import annotations

import re
import unicodedata
from fnmatch import fnmatchcase

from haltline.shell.call import NETWORK, PIPED, Call, Flow
from haltline.shell.marks import known
from haltline.shell.options import parse

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
_SHEBANG = re.compile(r"#![^\n]*?([\w.+-]+)[ \t]*(?:\n|\Z)")


def default_effects(engine: Engine, program: Program, call: Call, *, found: bool) -> None:
    """Record what a program does by its nature, where nothing more exact was found."""
    kind = program.effect
    if kind == "privilege":
        engine.effect(kind, program.name, call)
    elif found:
        return
    elif kind == "write" and not program.name.startswith("git-"):
        targets: list[str | None] = [*parse(call.argv, program.grammar).words]
        for target in targets or [None]:
            engine.effect("write", target, call)
    else:  # a program's name is no file that it writes
        engine.effect(kind or "execute", None if kind == "write" else program.name, call)


def apply_rules(engine: Engine, program: Program, call: Call) -> None:
    """Report the declared rules that hold for a command."""
    spec = engine.book.wrappers.get(program.name)
    wrapper = spec is not None and "after" not in spec and "mode" not in spec
    options = parse(call.argv, program.grammar, first_word_ends=wrapper)
    if wrapper:
        options.words = call.argv[options.index :]
    elif asks_for_help(call.argv, options.words):
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
    engine.unknown("program", base, call)
    return Flow(None, PIPED | call.taints | (call.stdin.taints if call.stdin is not None else 0))


def run_script_file(engine: Engine, script: Flow, call: Call) -> Flow:
    """Judge a file that the same text has written and now runs."""
    if script.taints & NETWORK:
        engine.report("interpreters.network-code", call)
    if script.text is None:
        engine.unknown("script", call.argv[0], call)
        return Flow(None, script.taints)
    match = _SHEBANG.match(script.text)
    interpreter = match[1] if match is not None else "sh"
    inner = call.inner([interpreter, call.argv[0], *call.argv[1:]], call.argv[0])
    return engine.dispatch(inner)


def by_pattern(engine: Engine, call: Call, name: str, base: str) -> Flow:
    """Judge a command that is named by a file pattern: every program it may be."""
    directory = name[: len(name) - len(base)]
    if directory in _PATTERN_DIRECTORIES:
        engine.report("disguise.pattern", call)
        names = engine.book.names() if len(base) <= MAX_PATTERN else ()
        matching = [candidate for candidate in sorted(names) if fnmatchcase(candidate, base)]
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
