"""Wrappers: commands whose words are, or hold, another command; their options are data."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from haltline.shell.call import PIPED, SECRET, Flow
from haltline.shell.environment import Environment
from haltline.shell.marks import UNKNOWN, known
from haltline.shell.options import Grammar, Options, parse
from haltline.shell.scanner import ansi_c
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

MAX_ITEMS = 64
_SETTING = re.compile(r"[^=\s-][^=\s]*=")
_NUMBERED = re.compile(r"-\d+\Z")
_grammars: dict[str, Grammar] = {}


def prefix(engine: Engine, call: Call) -> Flow | None:
    """Judge what a wrapper runs: the rest of its words, an option's text, or both."""
    name = call.argv[0].rpartition("/")[2]
    program = engine.book.program(name)
    if program is None:
        return None
    spec = engine.book.wrappers[program.name]
    mode = spec.get("mode", "words")
    return _MODES[mode](engine, call, program.name, spec)


def _grammar(name: str, spec: Mapping[str, Any]) -> Grammar:
    grammar = _grammars.get(name)
    if grammar is None:
        grammar = _grammars[name] = Grammar(
            spec.get("values", ""),
            spec.get("flags", ""),
            greedy=spec.get("greedy", False),
            joined=spec.get("joined", False),
        )
    return grammar


def _words(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:  # noqa: C901  a step for each thing before the command
    """`sudo -u x command …`: options, settings and a number of own words come before the command."""
    argv = call.argv
    index = 1
    subcommands = spec.get("after", "").split()
    if subcommands:
        found = _after(argv, subcommands, spec)
        if found is None:
            return _direct(engine, call, name, spec) if spec.get("direct") else None
        index = found
    options = parse(argv, _grammar(name, spec), index, first_word_ends=True)
    index = options.index
    flow = None
    for text in options.all_values(*spec.get("text", "").split()):
        flow = engine.run_text(text, call.inner([], name), _fresh(call))
    if spec.get("settings"):
        while index < len(argv) and (_SETTING.match(argv[index]) or argv[index] == "-"):
            setting, _, value = argv[index].partition("=")
            call.settings.append((setting, value))
            index += 1
    if spec.get("skip", 0) and argv[index : index + 1] == ["--"]:
        index += 1
    index += spec.get("skip", 0)
    if spec.get("separator") and "--" in argv[index:]:
        index = argv.index("--", index) + 1
    elif spec.get("separator") == "required":
        return flow
    if index >= len(argv):
        return Flow(None, PIPED | SECRET) if name == "env" and flow is None else flow
    if argv[index] == "--":
        index += 1
    rest = argv[index:]
    if spec.get("join") or (spec.get("join_one") and len(rest) == 1):
        return engine.run_text(" ".join(rest), call.inner([], name), _fresh(call))
    return engine.dispatch(call.inner(rest, name)) if rest else flow


_OWN_COMMANDS = word_set(
    "rm ln link unlink env list ls exec create set test start why patch install add remove up update pack"
)


def _direct(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`pnpm tool …`, `yarn tool …`: a word that is none of their own commands names a program."""
    options = parse(call.argv, Grammar(spec.get("global", "")), first_word_ends=True)
    rest = call.argv[options.index :]
    program = engine.book.program(rest[0]) if rest and rest[0] not in _OWN_COMMANDS else None
    own = engine.book.own is not None and bool(rest) and engine.book.own.speak_of(rest[0])
    if not own and (program is None or not (program.has_rules or program.detectors)):
        return None
    return engine.dispatch(call.inner(rest, name))


def _after(argv: list[str], subcommands: list[str], spec: Mapping[str, Any]) -> int | None:
    """Return the offset after `docker … exec` or the like, or None when the command is not that one."""
    options = parse(argv, Grammar(spec.get("global", "")), 1, first_word_ends=True)
    index = options.index
    for subcommand in subcommands:
        choices = subcommand.split("/")
        if len(choices) > 1:
            words = choices
        else:
            words = subcommand.split("+")
            if argv[index : index + len(words)] == words:
                return index + len(words)
            continue
        if argv[index : index + 1] and argv[index] in words:
            return index + 1
    return None


def _fresh(call: Call) -> Environment:
    environment = Environment()
    environment.directory = call.environment.directory
    return environment


def _xargs(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`xargs command …`: the words of its input follow the command's own, or replace a mark in them."""
    argv = call.argv
    options = parse(argv, _grammar(name, spec), first_word_ends=True)
    rest = argv[options.index :] or ["echo"]
    replace: str | None = options.value("-I", "-J", "--replace") or (
        "{}" if options.has("-i", "--replace") else None
    )
    for word in argv[1 : options.index]:
        if word.startswith("-i") and len(word) > 2:  # noqa: PLR2004  a mark is attached
            replace = word[2:]
    from_file = options.has("-a", "--arg-file")
    text = call.stdin.text if call.stdin is not None and not from_file else None
    inner = call.inner(rest, name)
    inner.stdin = Flow("", 0)
    if call.stdin is not None:
        inner.taints |= call.stdin.taints
    if replace is not None and _is_code(rest, replace):
        engine.report("interpreters.pipe-to-shell", call, name)
    if text is None or not known(text):
        inner.appended = True
        inner.argv = [word.replace(replace, UNKNOWN) for word in rest] if replace else [*rest, UNKNOWN]
        return engine.dispatch(inner)
    if replace is None:
        inner.argv = rest + _items(text, options)
        return engine.dispatch(inner)
    for line in text.splitlines()[:MAX_ITEMS]:
        one = call.inner([word.replace(replace, line) for word in rest], name)
        one.stdin = Flow("", 0)
        engine.dispatch(one)
    return Flow()


def _items(text: str, options: Options) -> list[str]:
    """Return the words that `xargs` reads: separated by blanks, or by the delimiter that it was given."""
    delimiter = options.value("-d", "--delimiter")
    if options.has("-0", "--null"):
        delimiter = "\0"
    if delimiter is None:
        return text.split()[:MAX_ITEMS]
    return [item for item in text.split(ansi_c(delimiter) or "\n") if item][:MAX_ITEMS]


def _is_code(words: list[str], mark: str) -> bool:
    """Return whether a shell would take the replaced mark for its whole code."""
    return any(
        word == mark and before.startswith("-") and before.endswith("c")
        for before, word in pairwise(words[1:])
    )


def _parallel(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`parallel command ::: arguments`, with arguments or whole commands from its input as well."""
    argv = call.argv
    options = parse(argv, _grammar(name, spec), first_word_ends=True)
    rest = argv[options.index :]
    arguments: list[str] | None = None
    for mark in (":::", ":::+", "::::"):
        if mark in rest:
            at = rest.index(mark)
            arguments = rest[at + 1 :] if mark != "::::" else None
            rest = rest[:at]
            break
    else:
        text = call.stdin.text if call.stdin is not None else None
        if text is not None and known(text):
            arguments = text.splitlines()
        if not rest:
            engine.report("interpreters.pipe-to-shell", call, name)
    inner = call.inner([], name)
    if call.stdin is not None and _is_code(rest, "{}"):
        engine.report("interpreters.pipe-to-shell", call, name)
    if arguments is None:
        inner.appended = True
        arguments = [UNKNOWN]
    for argument in arguments[:MAX_ITEMS]:
        words = (
            [w.replace("{}", argument) for w in rest] if any("{}" in w for w in rest) else [*rest, argument]
        )
        if len(words) == 1 or (len(rest) == 1 and " " in rest[0]):
            engine.run_text(" ".join(words), inner, Environment())
            continue
        one = inner.inner(words, name)
        one.via = inner.via
        engine.dispatch(one)
    return Flow()


_REACHES_OUT = ("-v", "--volume", "--mount", "--volumes-from", "--privileged", "--device")


def _container(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`docker exec` and `docker run`: in a new container without mounts, its own files are no loss."""
    before = len(engine.verdicts)
    flow = _words(engine, call, name, spec)
    if "run" in call.argv[1:4] and not parse(call.argv, _grammar(name, spec)).has(*_REACHES_OUT):
        engine.verdicts[before:] = [
            verdict
            for verdict in engine.verdicts[before:]
            if not verdict[1].rule_id.startswith("filesystem.")
        ]
    return flow


def _texts(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`concurrently "a" "b"`: every argument is a command."""
    for word in parse(call.argv, _grammar(name, spec)).words:
        engine.run_text(word, call.inner([], name), _fresh(call))
    return Flow()


def _debugger(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`gdb -ex '!command'` and `gdb --args command`."""
    options = parse(
        call.argv,
        Grammar("-ex -x -o -p -iex -eval-command --eval-command --command -O -S --one-line", joined=True),
    )
    for text in options.all_values(
        "-ex", "-iex", "-eval-command", "--eval-command", "-o", "-O", "--one-line"
    ):
        for prefix_word in ("!", "shell ", "platform shell "):
            if text.startswith(prefix_word):
                engine.run_text(text[len(prefix_word) :], call.inner([], name), _fresh(call))
    if options.has("--args", "-args"):
        engine.dispatch(call.inner(options.words, name))
    return None


_EDITOR_COMMAND = re.compile(
    r"^[:+]*\s*(?:silent!?\s+)?(?:!|r(?:ead)?\s*!|call\s+system\(['\"])\s*(.+)", re.DOTALL
)


def _editor(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`vim -c ':!command'`, `less +'!command'`: editors and pagers with a command of their own."""
    argv = call.argv
    for index, word in enumerate(argv[1:], 1):
        text = (
            word[1:]
            if word.startswith("+")
            else argv[index + 1]
            if word in ("-c", "--cmd") and index + 1 < len(argv)
            else ""
        )
        match = _EDITOR_COMMAND.match(text) if text else None
        if match is not None:
            engine.run_text(match[1], call.inner([], name), _fresh(call))
    return None


def _pager(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`man -P command`."""
    for text in parse(call.argv, Grammar("-P --pager -H --html")).all_values("-P", "--pager", "-H", "--html"):
        engine.run_text(text, call.inner([], name), _fresh(call))
    engine.effect("read", name, call)
    return None


_SCHEDULE = re.compile(r"^\s*(?:@\w+|(?:[-0-9*/,A-Za-z]+\s+){5})(.+)$", re.MULTILINE)


def _scheduled(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`at` and `crontab -`: the input is run later."""
    text = call.stdin.text if call.stdin is not None else None
    if text is None:
        return None
    if name == "crontab":
        text = "\n".join(match[1] for match in _SCHEDULE.finditer(text))
    inner = call.inner([], name)
    inner.stdin = None
    engine.run_text(text, inner, _fresh(call))
    return None


_RECIPE = re.compile(r"^(?:\t|[^\t\n:=]+:[^=\n;]*;)[ \t@+-]*(.+)$", re.MULTILINE)


def _make(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`make -f -`: the recipes of a makefile that flows in; `--eval` gives makefile text as well."""
    options = parse(call.argv, Grammar("-f -C -j -I -o -W -E --file --makefile --directory --eval"))
    texts = options.all_values("-E", "--eval")
    if (
        options.value("-f", "--file", "--makefile") in ("-", "/dev/stdin")
        and call.stdin is not None
        and call.stdin.text
    ):
        texts.append(call.stdin.text)
    for text in texts:
        for match in _RECIPE.finditer(text):
            engine.run_text(match[1].replace("$$", "$"), call.inner([], name), _fresh(call))
    return None


def _ansible(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`ansible hosts -m shell -a command`."""
    options = parse(
        call.argv,
        Grammar("-i -m -a -u -l -f -e --inventory --module-name --args --user --limit --extra-vars"),
    )
    module = options.value("-m", "--module-name") or "command"
    text = options.value("-a", "--args")
    if text is not None and module.rpartition(".")[2] in ("shell", "command", "raw", "script", "win_shell"):
        engine.run_text(text, call.inner([], name), Environment())
    return None


def _options(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """A program of its own that runs the value of one of its options."""
    for text in parse(call.argv, _grammar(name, spec)).all_values(*spec["text"].split()):
        engine.run_text(text, call.inner([], name), _fresh(call))
    return None


_MODES = {
    "options": _options,
    "words": _words,
    "xargs": _xargs,
    "parallel": _parallel,
    "container": _container,
    "texts": _texts,
    "debugger": _debugger,
    "editor": _editor,
    "pager": _pager,
    "scheduled": _scheduled,
    "make": _make,
    "ansible": _ansible,
}
