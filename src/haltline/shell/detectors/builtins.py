"""Commands of the shell itself, and small tools whose output the text decides."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from haltline.shell import expand, scanner
from haltline.shell.call import NETWORK, PIPED, SECRET, SYSTEM_DATA, Flow
from haltline.shell.detectors.filesystem import written
from haltline.shell.detectors.selfprotect import OWN_PROCESS
from haltline.shell.environment import TEMPORARY
from haltline.shell.judging.settings import judge_setting
from haltline.shell.judging.simple import assign
from haltline.shell.marks import HOME, PRESENT, UNKNOWN, known, undecided
from haltline.shell.options import PLAIN, Grammar, Options, parse
from haltline.shell.paths import entered
from haltline.shell.syntax import Simple

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_PROGRAM = re.compile(r"[A-Za-z0-9_.+-]+\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_FORMAT = re.compile(r"%(?:%|[-+ #0]*[0-9.]*([bqsdiouxXcfeg]))")
_ECHO_OPTION = re.compile(r"-[neE]+\Z")
_HEXADECIMAL = re.compile(r"[^0-9a-fA-F]+")
_INPUT = frozenset({"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_FEEDING = frozenset({"xargs", "parallel", "find", "fd"})
MAX_OUTPUT = 32 * 1024


def echo(engine: Engine, call: Call) -> Flow:
    """`echo` writes its arguments."""
    words = call.argv[1:]
    escapes, newline = False, "\n"
    while words and _ECHO_OPTION.match(words[0]):
        option = words.pop(0)
        escapes = escapes or "e" in option
        if "n" in option:
            newline = ""
    text = " ".join(words)
    engine.effect("read", None, call)
    return Flow((scanner.ansi_c(text) if escapes else text) + newline, call.taints)


def working_directory(engine: Engine, call: Call) -> Flow:
    """`pwd` writes where the shell is, as `$PWD` does."""
    engine.effect("read", None, call)
    return Flow(call.environment.values("PWD")[-1] + "\n", 0)


def printf(engine: Engine, call: Call) -> Flow:
    """`printf` writes its format with the arguments filled in, again and again while some are left."""
    argv = call.argv[1:]
    if argv[:1] == ["-v"]:
        name, argv = argv[1:2], argv[2:]
        for word in name:
            expand.subscripts(engine, word, call.environment)
        if name and argv:
            call.environment.assign(name[0], [_formatted(argv)])
            judge_setting(engine, call, name[0], _formatted(argv))
        return Flow("", 0)
    if argv[:1] == ["--"]:
        argv = argv[1:]
    engine.effect("read", None, call)
    return Flow(_formatted(argv) if argv else "", call.taints)


def _formatted(argv: list[str]) -> str:
    template, arguments = argv[0], argv[1:]
    result: list[str] = []
    size = 0
    while size < MAX_OUTPUT:
        left = len(arguments)

        def fill(match: re.Match[str], arguments: list[str] = arguments) -> str:
            if match[0] == "%%":
                return "%"
            value = arguments.pop(0) if arguments else ""
            return scanner.ansi_c(value) if match[1] == "b" else value

        pieces = _FORMAT.split(template)
        piece = _FORMAT.sub(fill, scanner.ansi_c(template)) if pieces else template
        result.append(piece)
        size += len(piece) + 1
        if not arguments or len(arguments) == left:
            break
    return "".join(result)


def cat(engine: Engine, call: Call) -> Flow:
    """`cat` writes what flows in, or the files that it names."""
    names = [word for word in call.argv[1:] if word == "-" or not word.startswith("-")]
    engine.effect("read", " ".join(names) or None, call)
    if not names:
        return call.stdin if call.stdin is not None else Flow(None, 0)
    flows = [(call.stdin or Flow()) if name == "-" else engine.file_flow(name, call) for name in names]
    if len(names) == 1 and names[0].endswith(".pid") and "haltline" in names[0]:
        return Flow(OWN_PROCESS + "\n", PIPED)
    texts = [flow.text for flow in flows]
    taints = call.taints | PIPED | SYSTEM_DATA
    for flow in flows:
        taints |= flow.taints
    return Flow("".join(text or "" for text in texts) if None not in texts else None, taints)


def passing(_engine: Engine, call: Call) -> Flow | None:
    """Filters pass the taints of what flows in; `tee` and `tac` its text as well."""
    if call.stdin is None:
        return None
    name = call.program
    text = call.stdin.text
    if text is not None:
        if name == "rev":
            text = "\n".join(line[::-1] for line in text.split("\n"))
        elif name == "tr":
            text = _translated(call.argv[1:], text)
        elif name not in ("tee", "pv", "head", "tail", "sort", "uniq", "column"):
            text = None
    return Flow(text, call.stdin.taints | PIPED)


def _translated(argv: list[str], text: str) -> str | None:
    if argv[:1] == ["-d"] and len(argv) == 2:  # noqa: PLR2004  the words of one call
        return text.translate({ord(c): None for c in argv[1]}) if "[" not in argv[1] else None
    if len(argv) != 2 or len(argv[0]) != len(argv[1]) or "[" in argv[0]:  # noqa: PLR2004  the words of one call
        sets = [_range(word) for word in argv]
        if len(sets) == 2 and sets[0] and len(sets[0]) == len(sets[1]):  # noqa: PLR2004  the words of one call
            return text.translate(str.maketrans(sets[0], sets[1]))
        return None
    return (
        text.translate(str.maketrans(_range(argv[0]), _range(argv[1])))
        if len(_range(argv[0])) == len(_range(argv[1]))
        else None
    )


def _range(word: str) -> str:
    return re.sub(r"([ -~])-([ -~])", _between, word.strip("[]"))


def _between(match: re.Match[str]) -> str:
    return "".join(chr(code) for code in range(ord(match[1]), ord(match[2]) + 1))


_DECODE = Grammar("-w -i -o -c -l -s --wrap --output --input")


def decode(engine: Engine, call: Call) -> Flow | None:
    """`base64 -d` and `xxd -r -p`: what comes out is known when what goes in is."""
    name = call.program
    options = parse(call.argv, _DECODE)
    decoding = options.has("-d", "-D", "--decode") if name != "xxd" else options.has("-r", "-revert")
    _writes_out(engine, call, name, options)
    if not decoding:
        return None
    source = engine.file_flow(options.words[0], call) if options.words else call.stdin
    if source is None:
        return None
    taints = source.taints | PIPED
    if source.text is None or not known(source.text):
        return Flow(None, taints)
    try:
        if name == "xxd":
            raw = bytes.fromhex(_HEXADECIMAL.sub("", source.text))
        elif name == "base32":
            raw = base64.b32decode(source.text.strip())
        else:
            compact = "".join(source.text.split())
            raw = base64.b64decode(compact + "=" * (-len(compact) % 4))
    except (binascii.Error, ValueError):
        return Flow(None, taints)
    return Flow(raw.decode("utf-8", "replace"), taints)


def _writes_out(engine: Engine, call: Call, name: str, options: Options) -> None:
    """Record the file that a coder writes to, where it is given one."""
    target = options.value("-o", "--output")
    if name == "xxd" and len(options.words) > 1:
        target = options.words[1]
    if target is None:
        engine.effect("read", None, call)
    else:
        written(engine, call, target, overwrites=True)


def change_directory(engine: Engine, call: Call) -> Flow:
    """`cd` decides where later relative paths lead."""
    words = [word for word in call.argv[1:] if word == "-" or not word.startswith("-")]
    environment = call.environment
    engine.effect("read", words[0] if words else None, call)
    target = words[0] if words else HOME
    leaves = target == "-" or call.argv[0] == "popd"
    environment.directory = PRESENT if leaves else entered(environment.directory, target)
    return Flow("", 0)


def evaluate(engine: Engine, call: Call) -> Flow:
    """`eval` runs its words as shell text, in the same shell."""
    text = " ".join(call.argv[1:])
    if call.taints & NETWORK:
        engine.report("interpreters.network-code", call)
    if undecided(text):
        if call.appended or not _FEEDING.isdisjoint(call.via):
            engine.report("interpreters.pipe-to-shell", call, "eval")
        engine.unknown("code", "eval of text that the command line does not decide", call)
        return Flow(None, call.taints)
    return engine.run_text(text, call.inner([], "eval"), call.environment)


def source(engine: Engine, call: Call) -> Flow:
    """`source` runs a file's text in the same shell."""
    if len(call.argv) < 2:  # noqa: PLR2004  the words of one call
        return Flow("", 0)
    flow = engine.file_flow(call.argv[1], call)
    if call.argv[1] in _INPUT and call.stdin is not None:
        flow = call.stdin
    if flow.taints & NETWORK:
        engine.report("interpreters.network-code", call)
    if flow.text is not None:
        return engine.run_file(flow.text, call.argv[1], call.inner([], call.argv[0]), call.environment)
    if flow.taints & SECRET:
        call.environment.credentials = True
    engine.unknown("script", call.argv[1], call)
    return Flow(None, flow.taints)


def trap(engine: Engine, call: Call) -> Flow:
    """`trap` runs its text later, in the same shell."""
    words = [word for word in call.argv[1:] if word not in ("--", "-p", "-l")]
    if len(words) > 1 and words[0] not in ("-", ""):
        engine.run_text(words[0], call.inner([], "trap"), call.environment)
    engine.effect("read", None, call)
    return Flow("", 0)


def declare(engine: Engine, call: Call) -> Flow:
    """`export NAME=value` and its like assign."""
    for word in call.argv[1:]:
        name, equals, value = word.partition("=")
        expand.subscripts(engine, name, call.environment)
        if value[:1] == "(" and _declared(engine, word, call):
            continue
        if equals and _NAME.match(name.rstrip("+")):
            call.environment.assign(name.rstrip("+"), [value], append=name.endswith("+"))
            judge_setting(engine, call, name.rstrip("+"), value)
            if any(word[:1] == "-" and "i" in word for word in call.argv[1:]):
                expand.subscripts(engine, value, call.environment)
                expand.evaluated(engine, value, call.environment)
    engine.effect("read", None, call)
    return Flow("", 0)


def _declared(engine: Engine, word: str, call: Call) -> bool:
    """Keep the array of `declare name=(…)`; return whether the word is one."""
    items = scanner.scan(word).script.items
    node = items[0][1] if len(items) == 1 else None
    if not isinstance(node, Simple) or len(node.assignments) != 1 or node.assignments[0].items is None:
        return False
    assign(engine, node.assignments[0], call, keep=True)
    return True


def alias(engine: Engine, call: Call) -> Flow:
    """`alias name=text` gives a command another name."""
    for word in call.argv[1:]:
        name, equals, value = word.partition("=")
        if equals:
            call.environment.aliases[name] = value
            if name == "haltline":
                engine.report("haltline.change", call, word)
    engine.effect("read", None, call)
    return Flow(None, 0)


_READ = Grammar("-d -n -N -p -t -u -a -i")
_MAPFILE = Grammar("-d -n -O -s -u -C -c")


def read(engine: Engine, call: Call) -> Flow:
    """`read` sets variables from what flows in."""
    options = parse(call.argv, _READ if call.argv[0] == "read" else _MAPFILE)
    callback = options.value("-C") if call.argv[0] != "read" else None
    if callback is not None:
        engine.run_text(callback, call.inner([], call.argv[0]), call.environment)
    text = call.stdin.text if call.stdin is not None else None
    engine.effect("read", None, call)
    names = options.words or ["REPLY"]
    for name in names:
        expand.subscripts(engine, name, call.environment)
        judge_setting(engine, call, name, UNKNOWN)
    array = options.value("-a") if call.argv[0] == "read" else (options.words or ["MAPFILE"])[0]
    if array is not None and text is not None and known(text):
        values = text.split("\n", 1)[0].split() if call.argv[0] == "read" else text.splitlines()
        call.environment.assign_elements(array, {str(i): value for i, value in enumerate(values)})
        return Flow("", 0)
    if text is not None and known(text) and text:
        line = text.split("\n", 1)[0]
        values = line.split(None, len(names) - 1) if len(names) > 1 else [line.strip()]
        for index, name in enumerate(names):
            call.environment.assign(name, [values[index] if index < len(values) else ""])
        return Flow("", 0)
    for name in names:
        call.environment.assign(name, [UNKNOWN])
    return Flow("", 0)


_BOUND = Grammar("-C -F -x -W -P -S -X -G -A -o -f -m -q -u -r")


def bound(engine: Engine, call: Call) -> Flow:
    """`complete -C command`, `bind -x '"key": command'`: run when a person types."""
    options = parse(call.argv, _BOUND)
    for text in options.all_values("-C") if call.argv[0] in ("complete", "compgen") else ():
        engine.run_text(text, call.inner([], call.argv[0]), call.environment)
    for text in options.all_values("-x") if call.argv[0] == "bind" else ():
        engine.run_text(text.partition(":")[2], call.inner([], "bind"), call.environment)
    if call.argv[0] != "bind":
        engine.effect("read", None, call)
    return Flow("", 0)


_LOAD = Grammar("-f")


def load(engine: Engine, call: Call) -> Flow:
    """`enable -f file name` loads a builtin from a shared object."""
    library = parse(call.argv, _LOAD).value("-f")
    if library is not None:
        engine.report("interpreters.preload", call, library)
    engine.effect("read", None, call)
    return Flow("", 0)


def set_positional(engine: Engine, call: Call) -> Flow:
    """`set -- words` sets the positional parameters; alone it prints every variable."""
    if len(call.argv) == 1:
        engine.effect("read", None, call)
        return Flow(None, PIPED | SECRET)
    if "--" in call.argv:
        call.environment.positional = call.argv[call.argv.index("--") + 1 :]
    engine.effect("read", None, call)
    return Flow("", 0)


def arithmetic(engine: Engine, call: Call) -> Flow | None:
    """`let` evaluates its words, and `test` the operands of `-v` and `-eq`."""
    if call.argv[0] == "let":
        for word in call.argv[1:]:
            expand.subscripts(engine, word, call.environment)
            expand.evaluated(engine, word, call.environment)
    else:
        expand.operands(engine, call.argv[1:], call.environment)
    return None


def unset(engine: Engine, call: Call) -> Flow:
    """`unset` forgets variables and functions."""
    for name in call.argv[1:]:
        expand.subscripts(engine, name, call.environment)
        call.environment.variables.pop(name, None)
        call.environment.arrays.pop(name, None)
        if name.startswith("HALTLINE_"):
            engine.report("haltline.change", call, name)
        if call.argv[1] == "-f":
            call.environment.functions.pop(name, None)
    engine.effect("read", None, call)
    return Flow("", 0)


def which(engine: Engine, call: Call) -> Flow:
    """`which name`, `type -p name`: the path of a program, under which it can be run or lost."""
    engine.effect("read", None, call)
    names = [word for word in call.argv[1:] if not word.startswith("-")]
    short = call.argv[0] != "type" or not {"-p", "-P"}.isdisjoint(call.argv)
    if not short or not names or not all(_PROGRAM.match(name) for name in names):
        return Flow(None, PIPED)
    return Flow("".join(f"/usr/bin/{name}\n" for name in names), 0)


def make_temporary(engine: Engine, call: Call) -> Flow:
    """`mktemp` writes the name of a new temporary file or directory."""
    engine.effect("write", TEMPORARY, call)
    return Flow(TEMPORARY + "/made-here\n", 0)


def download(engine: Engine, call: Call) -> Flow:
    """`curl` and `wget` bring content from the network, to their output or to a file."""
    curl = call.program == "curl"
    program = engine.book.program("curl" if curl else "wget")
    options = parse(call.argv, program.grammar if program is not None else PLAIN)
    engine.effect("network_in", options.words[0] if options.words else None, call)
    flow = Flow(None, NETWORK | PIPED)
    targets = options.all_values("-o", "--output") if curl else options.all_values("-O", "--output-document")
    if (curl and options.has("-O", "--remote-name")) or (not curl and not targets):
        targets.extend(url.rstrip("/").rpartition("/")[2] for url in options.words)
    for target in targets:
        if target != "-":
            written(engine, call, target, overwrites=True)
            engine.files[engine.located(target, call.environment)] = flow
    return flow
