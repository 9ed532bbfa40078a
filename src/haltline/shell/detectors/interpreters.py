"""Interpreters: programs for which words, input or files are code."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from haltline.shell.call import NETWORK, PIPED, Flow
from haltline.shell.environment import Environment
from haltline.shell.marks import UNKNOWN, known, undecided
from haltline.shell.options import Grammar, parse

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_SHELL_VALUES = frozenset({"--rcfile", "--init-file", "-o", "+o", "-O", "+O"})


def shell(engine: Engine, call: Call) -> Flow:
    """`sh -c text`, `sh file`, or a shell that reads its input."""
    argv = call.argv
    i, has_code, from_input = 1, False, False
    while i < len(argv) and len(argv[i]) > 1 and argv[i][0] in "-+":
        word = argv[i]
        i += 1
        if word == "--":
            break
        if word in _SHELL_VALUES:
            i += 1
        elif word in ("--help", "--version"):
            return Flow(None, 0)
        elif not word.startswith("--"):
            has_code = has_code or "c" in word[1:]
            from_input = from_input or "s" in word[1:]
    rest = argv[i:]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if call.taints & NETWORK and (has_code or not rest):
        engine.report("interpreters.network-code", call)
    if has_code:
        return _shell_code(engine, call, rest) if rest else Flow(None, 0)
    if rest and not from_input and rest[0] not in ("-", "/dev/stdin"):
        return _script(engine, call, rest)
    return _shell_input(engine, call)


def _shell_code(engine: Engine, call: Call, rest: list[str]) -> Flow:
    text = rest[0]
    if not text.strip() or undecided(text):
        if call.appended:
            engine.report("interpreters.pipe-to-shell", call, call.argv[0])
        engine.unknown("code", "shell text that the command line does not decide", call)
        return Flow(None, call.taints)
    environment = Environment()
    environment.directory = call.environment.directory
    environment.positional = rest[2:]
    if len(rest) > 1:
        environment.assign("0", [rest[1]])
    inner = call.inner([], call.argv[0])
    if call.appended and rest[-1] == UNKNOWN:
        environment.positional = None
    return engine.run_text(text, inner, environment)


def _script(engine: Engine, call: Call, rest: list[str]) -> Flow:
    engine.own_script(rest[0], rest[1:], call)
    flow = engine.file_flow(rest[0], call)
    if flow.taints & NETWORK:
        engine.report("interpreters.network-code", call)
    if flow.text is not None and known(rest[0]):
        environment = Environment()
        environment.directory = call.environment.directory
        environment.positional = rest[1:]
        return engine.run_file(flow.text, rest[0], call.inner([], call.argv[0]), environment)
    if call.appended and rest[0] == UNKNOWN:
        engine.report("interpreters.pipe-to-shell", call, call.argv[0])
    engine.unknown("script", rest[0], call)
    return Flow(None, flow.taints | PIPED)


def _shell_input(engine: Engine, call: Call) -> Flow:
    stdin = call.stdin
    if stdin is None:
        engine.effect("execute", call.argv[0], call)
        return Flow(None, 0)
    if stdin.taints & NETWORK:
        engine.report("interpreters.network-code", call)
    elif stdin.taints & PIPED:
        engine.report("interpreters.pipe-to-shell", call, call.argv[0])
    if stdin.text is None:
        engine.unknown("script", stdin.source or "shell text that flows in", call)
        return Flow(None, stdin.taints)
    inner = call.inner([], call.argv[0])
    inner.stdin = None
    environment = Environment()
    environment.directory = call.environment.directory
    if stdin.source:
        return engine.run_file(stdin.text, stdin.source, inner, environment)
    return engine.run_text(stdin.text, inner, environment)


MAX_SCRIPT = 32 * 1024  # a longer file is as unknown as one that cannot be read
_STEPS_OF_A_CODE = 6  # a text of code costs about as much as this many commands, however short it is
_MAX_INLINE = {"inline.python:judge": 16 * 1024}  # parsing and walking a tree costs more than reading text

_CODE = {
    "python": ("-c", "inline.python:judge"),
    "pypy": ("-c", "inline.python:judge"),
    "node": ("-e --eval -p --print -pe", "inline.scripts:javascript"),
    "bun": ("-e --eval -p --print", "inline.scripts:javascript"),
    "tsx": ("-e --eval -p --print", "inline.scripts:javascript"),
    "deno": ("", "inline.scripts:javascript"),
    "perl": ("-e -E", "inline.scripts:perl"),
    "ruby": ("-e", "inline.scripts:ruby"),
    "php": ("-r -R -B -E", "inline.scripts:php"),
    "lua": ("-e", "inline.scripts:lua"),
    "Rscript": ("-e", "inline.scripts:r"),
    "R": ("-e", "inline.scripts:r"),
    "osascript": ("-e", "inline.scripts:applescript"),
    "groovy": ("-e", "inline.scripts:groovy"),
    "elixir": ("-e --eval -r", "inline.scripts:elixir"),
    "erl": ("-eval", "inline.scripts:elixir"),
    "julia": ("-e -E --eval --print", "inline.scripts:julia"),
    "tclsh": ("", "inline.scripts:tcl"),
}
_SAME = {"nodejs": "node", "ts-node": "tsx", "luajit": "lua"}
_VALUES = {
    "python": Grammar("-c -m -W -X -Q"),
    "pypy": Grammar("-c -m -W -X"),
    "node": Grammar("-e -r --eval --require --import --loader --experimental-loader -p --print -C"),
    "bun": Grammar("-e --eval -p --print --cwd"),
    "perl": Grammar("-e -E -I -M -m"),
    "ruby": Grammar("-e -I -r -C"),
    "php": Grammar("-r -R -B -E -d -c -f"),
    "lua": Grammar("-e -l"),
    "Rscript": Grammar("-e"),
    "R": Grammar("-e -f", joined=True),
    "osascript": Grammar("-e -l"),
    "tsx": Grammar("-e -r --eval --require --import -p --print --tsconfig"),
    "groovy": Grammar("-e -cp -classpath", joined=True),
    "elixir": Grammar("-e -r -pa --eval --name --sname --cookie"),
    "erl": Grammar("-eval -s -run -name -sname -pa", joined=True),
    "julia": Grammar("-e -E -L -t -p --eval --print --project"),
}


def language(engine: Engine, call: Call) -> Flow | None:
    """Python, Node and other languages: code in an option, in a file, or flowing in."""
    name = _SAME.get(call.program, call.program)
    option_names, judge = _CODE[name]
    options = parse(call.argv, _VALUES.get(name, Grammar()), first_word_ends=True)
    rest = call.argv[options.index :]
    if options.has("--version", "-V", "--help"):
        return Flow(None, 0)
    code = _inline_code(name, option_names.split(), options.given, rest)
    if code is not None:
        if call.taints & NETWORK:
            engine.report("interpreters.network-code", call)
        _judge_inline(engine, call, judge, code)
        return Flow(None, PIPED | call.taints)
    if name == "deno" and rest[:1] == ["eval"] and len(rest) > 1:
        _judge_inline(engine, call, judge, rest[1])
        return Flow(None, PIPED)
    if options.has("-m"):
        return _module(engine, call, name, options.value("-m") or "")
    if rest and rest[0] != "-":
        return _language_file(engine, call, judge, rest)
    return _language_input(engine, call, judge)


def _inline_code(
    name: str, code_options: list[str], given: list[tuple[str, str | None]], rest: list[str]
) -> str | None:
    pieces = [value for option, value in given if option in code_options and value is not None]
    if pieces:
        return "\n".join(pieces)
    for option, value in given:
        if (
            value is None
            and option in code_options
            and rest
            and name in ("node", "bun", "tsx", "perl", "ruby")
        ):
            return rest[0]
    return None


def _judge_inline(engine: Engine, call: Call, reference: str, code: str) -> None:
    """Judge code of the command line itself, of which people write less than a file holds."""
    if len(code) > _MAX_INLINE.get(reference, MAX_SCRIPT):
        engine.report("limits.reached", call, "inline code is too long")
        return
    _judge(engine, call, reference, code)


def _judge(engine: Engine, call: Call, reference: str, code: str) -> None:
    engine.charge(_STEPS_OF_A_CODE)
    module, _, function = reference.partition(":")
    getattr(import_module("haltline.shell." + module), function)(engine, call, code)


def _module(engine: Engine, call: Call, name: str, module: str) -> Flow | None:
    """`python -m pip …` is `pip …`."""
    argv = call.argv
    at = next((i for i, word in enumerate(argv) if word == module), None)
    if at is None:  # `-mpip`
        at = next((i for i, word in enumerate(argv) if word[:1] == "-" and word.endswith("m" + module)), None)
    known_module = engine.book.program(module)
    if at is not None:
        engine.own_script(module.removesuffix(".__main__"), argv[at + 1 :], call)
    if at is None or known_module is None or name not in ("python", "pypy"):
        engine.effect("execute", module, call)
        return None
    return engine.dispatch(call.inner([module, *argv[at + 1 :]], argv[0]))


def _language_file(engine: Engine, call: Call, judge: str, rest: list[str]) -> Flow:
    path = rest[0]
    flow = engine.file_flow(path, call)
    if flow.taints & NETWORK or path.startswith(("http://", "https://")):
        engine.report("interpreters.network-code", call)
    engine.own_script(path, rest[1:], call)
    base = path.rpartition("/")[2]
    known_script = engine.book.program(base)
    if known_script is not None and (known_script.has_rules or known_script.detectors):
        engine.dispatch(call.inner([base, *rest[1:]], call.argv[0]))
    mark = ("script", engine.located(path, call.environment))
    if flow.text is not None and len(flow.text) <= MAX_SCRIPT:
        if mark not in engine.active:
            engine.active.append(mark)
            try:
                _judge(engine, call, judge, flow.text)
            finally:
                engine.active.pop()
    else:
        if (call.appended and path == UNKNOWN) or "{}" in path:
            engine.report("interpreters.pipe-to-shell", call, call.argv[0])
        engine.unknown("script", path, call)
    return Flow(None, PIPED | flow.taints)


def _language_input(engine: Engine, call: Call, judge: str) -> Flow:
    stdin = call.stdin
    if stdin is None:
        engine.effect("execute", call.argv[0], call)
        return Flow(None, 0)
    if stdin.taints & NETWORK:
        engine.report("interpreters.network-code", call)
    elif stdin.taints & PIPED:
        engine.report("interpreters.pipe-to-shell", call, call.argv[0])
    if stdin.text is not None:
        _judge_inline(engine, call, judge, stdin.text)
    else:
        engine.unknown("script", stdin.source or "code that flows in", call)
    return Flow(None, PIPED | stdin.taints)


def project(engine: Engine, call: Call) -> Flow | None:
    """`make`, `npm run`, `just` and their like run what the project's files say."""
    if engine.read_file is None and not engine.files:
        return None
    from haltline.shell.inline.projects import TOOLS  # noqa: PLC0415  loaded only where it is needed

    return TOOLS[call.program](engine, call)


_AWK_STRING = re.compile(r'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)
_AWK_JOINED = re.compile(r'(?<=[\w /.-])"[ \t]{1,8}"(?=[\w /.-])')  # strings that stand together are one
_AWK_SYSTEM = re.compile(r"system\s{0,16}\(\s{0,16}\Z")
_AWK_GETLINE = re.compile(r"\s*\|\s*getline")
_AWK_PRINT = re.compile(r"(?:print|printf)\b[^|;{}]{0,300}\|\s{0,16}\Z")
_AWK_DYNAMIC = re.compile(r'system\s*\(\s*[^"\s)]|(?:print|printf)\b[^|;{}]{0,300}\|(?!\|)\s*[^"\s|]')
_AWK_BEFORE = 360  # characters before a string that tell what is done with it
_AWK_STEPS_OF_A_STRING = 2


def awk(engine: Engine, call: Call) -> Flow | None:
    """`awk` runs shell text through `system()`, pipes and `getline`."""
    options = parse(call.argv, Grammar("-F -v -f --field-separator --assign --file"))
    if options.has("-f", "--file") or not options.words:
        return None
    program = options.words[0]
    engine.effect("write" if ">" in _AWK_STRING.sub("", program) else "read", None, call)
    if "system" not in program and "|" not in program:
        return None
    from haltline.shell.scanner import ansi_c  # noqa: PLC0415  loaded only where it is needed

    program = _AWK_JOINED.sub("", program)
    for match in _AWK_STRING.finditer(program):
        engine.charge(_AWK_STEPS_OF_A_STRING)
        before = program[max(0, match.start() - _AWK_BEFORE) : match.start()]
        piped = before.rstrip().endswith("|") and _AWK_PRINT.search(before) is not None
        if piped or _AWK_SYSTEM.search(before[-64:]) or _AWK_GETLINE.match(program, match.end()):
            inner = call.inner([], "awk")
            inner.stdin = Flow(None, PIPED) if piped else Flow("")
            engine.run_text(ansi_c(match[0][1:].removesuffix('"')), inner, Environment())
    if _AWK_DYNAMIC.search(_AWK_STRING.sub('""', program)):
        engine.report("interpreters.pipe-to-shell", call, "awk")
    return None
