"""Programs that carry a command inside a text of their own: editors, debuggers, schedulers, transports."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from haltline.shell.call import Flow
from haltline.shell.environment import Environment
from haltline.shell.options import Grammar, parse
from haltline.shell.paths import entered
from haltline.shell.scanner import ansi_c

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

_grammars: dict[str, Grammar] = {}


def grammar(name: str, spec: Mapping[str, Any]) -> Grammar:
    """Return how a wrapper's own options are read."""
    key = name + " " + spec.get("values", "")
    found = _grammars.get(key)
    if found is None:
        found = _grammars[key] = Grammar(
            spec.get("values", ""),
            spec.get("flags", ""),
            greedy=spec.get("greedy", False),
            joined=spec.get("joined", False),
        )
    return found


def fresh(call: Call) -> Environment:
    """Return the state of a new shell in the same directory."""
    environment = Environment()
    environment.directory = call.environment.directory
    return environment


def moved(call: Call, target: str | None) -> Call:
    """Return the command as it stands in the directory that an option names; itself without one."""
    if target is None:
        return call
    other = call.inner(call.argv, "")
    other.via, other.depth = call.via, call.depth
    other.environment = call.environment.copy()
    other.environment.directory = entered(call.environment.directory, target)
    return other


def texts(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`concurrently "a" "b"`: every argument is a command."""
    for word in parse(call.argv, grammar(name, spec)).words:
        engine.run_text(word, call.inner([], name), fresh(call))
    return Flow()


_DEBUGGER = Grammar("-ex -x -o -p -iex -eval-command --eval-command --command -O -S --one-line", joined=True)


def debugger(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`gdb -ex '!command'` and `gdb --args command`."""
    options = parse(call.argv, _DEBUGGER)
    for text in options.all_values(
        "-ex", "-iex", "-eval-command", "--eval-command", "-o", "-O", "--one-line"
    ):
        for prefix_word in ("!", "shell ", "platform shell "):
            if text.startswith(prefix_word):
                engine.run_text(text[len(prefix_word) :], call.inner([], name), fresh(call))
    if options.has("--args", "-args"):
        engine.dispatch(call.inner(options.words, name))
    return None


_EDITOR_COMMAND = re.compile(
    r"^[:+]*\s*(?:silent!?\s+)?(?:!|r(?:ead)?\s*!|call\s+system\(['\"])\s*(.+)", re.DOTALL
)


def editor(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`vim -c ':!command'`, `less +'!command'`: editors and pagers with a command of their own."""
    argv = call.argv
    texts: list[str] = []
    for word, following in pairwise([*argv[1:], ""]):
        if word.startswith("+"):
            texts.append(word[1:])
        elif word == "--cmd" or re.fullmatch("-[a-zA-Z]*c", word):
            texts.append(following)
    if name == "ex" and call.stdin is not None and call.stdin.text is not None:
        texts += call.stdin.text.splitlines()
    for text in texts:
        match = _EDITOR_COMMAND.match(text)
        if match is not None:
            engine.run_text(match[1], call.inner([], name), fresh(call))
    return None


_EMACS_COMMAND = re.compile(
    r"\((?:async-)?(?:shell-command(?:-to-string)?|call-process-shell-command)\s+\"((?:[^\"\\]|\\.)*)\""
)
_EMACS_PROCESS = re.compile(r"\((?:call-process|start-process)\s([^()]*)\)")
_EMACS_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")


_EMACS = Grammar("-f -l -L --eval --execute --funcall --load --directory", joined=True)


def emacs(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`emacs --batch --eval '(shell-command "…")'`."""
    given = parse(call.argv, _EMACS)
    for code in given.all_values("-eval", "--eval", "--execute"):
        for match in _EMACS_COMMAND.finditer(code):
            engine.run_text(re.sub(r"\\(.)", r"\1", match[1]), call.inner([], name), fresh(call))
        for match in _EMACS_PROCESS.finditer(code):
            words = _EMACS_STRING.findall(match[1])
            if words:
                engine.dispatch(call.inner(words, name))
    return None


_ESCAPE = re.compile(r"^\s*(?:[rw] ?)?!(.+)$", re.MULTILINE)


def escapes(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`ed`, `ftp`: a line of the input that begins with `!` is run by a shell."""
    settings(engine, call, name, spec)
    given = parse(call.argv, grammar(name, spec))
    texts = given.all_values(*spec.get("script", "").split())
    if call.stdin is not None and call.stdin.text is not None:
        texts.append(call.stdin.text)
    for text in texts:
        for match in _ESCAPE.finditer(text):
            engine.run_text(match[1], call.inner([], name), fresh(call))
    return None


_ENTER = frozenset({"Enter", "KPEnter", "C-m", "C-j", "Return"})
_KEY = re.compile(r"(?:[CMS]-.|F\d+|Escape|Tab|Space|BSpace|Up|Down|Left|Right|Home|End)\Z")


def keys(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`tmux send-keys -t pane 'command' Enter`: typed into whatever runs there, mostly a shell."""
    given = parse(call.argv, grammar(name, spec))
    typed = " ".join("\n" if word in _ENTER else word for word in given.words[1:] if not _KEY.match(word))
    _typed(engine, call, name, typed)
    return None


def _typed(engine: Engine, call: Call, name: str, text: str) -> None:
    """Judge text that is typed somewhere: it need not be a whole command."""
    before, error = len(engine.verdicts), engine.error
    engine.run_text(text, call.inner([], name), fresh(call))
    engine.error = error
    engine.verdicts[before:] = [v for v in engine.verdicts[before:] if v[1].rule_id != "limits.not-parsed"]


def screen(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`screen -dm command`, `screen -X stuff 'text'`."""
    argv = call.argv
    given = parse(argv, grammar(name, spec), first_word_ends=True)
    rest = argv[given.index :]
    if given.has("-X"):
        if rest[:1] == ["stuff"]:
            _typed(engine, call, name, ansi_c(" ".join(rest[1:])))
            return None
        if rest[:1] not in (["exec"], ["screen"]):
            return None
        rest = rest[1:]
    return engine.dispatch(call.inner(rest, name)) if rest else None


_EXPECT_COMMAND = re.compile(r"(?:^|[\s;\[{])(?:spawn|exec|system)\s+([^;\]\n}]+)")
_EXPECT_SENT = re.compile(r"\bsend\s+(?:--\s+)?\"((?:[^\"\\]|\\.)*)\"")


def expect(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`expect -c 'spawn command'`, `tclsh <<< 'exec command'`: Tcl text that starts programs."""
    texts = parse(call.argv, grammar(name, spec)).all_values("-c")
    if call.stdin is not None and call.stdin.text is not None:
        texts.append(call.stdin.text)
    for text in texts:
        for match in _EXPECT_COMMAND.finditer(text):
            engine.run_text(match[1], call.inner([], name), fresh(call))
        for match in _EXPECT_SENT.finditer(text):
            _typed(engine, call, name, ansi_c(match[1]))
    return None


def settings(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`ssh -o ProxyCommand=…`, `apt -o DPkg::Pre-Invoke::=…`: settings whose value is run."""
    given = parse(call.argv, grammar(name, spec), first_word_ends=spec.get("mode") == "ssh")
    runs = re.compile(spec["runs"])
    for value in given.all_values(*spec["setting"].split()):
        for match in runs.finditer(value):
            engine.run_text(match[1], call.inner([], name), fresh(call))
    for text in given.all_values(*spec.get("text", "").split()):
        engine.run_text(text, call.inner([], name), fresh(call))
    return None


_PAGER = Grammar("-P --pager -H --html")


def pager(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`man -P command`."""
    for text in parse(call.argv, _PAGER).all_values("-P", "--pager", "-H", "--html"):
        engine.run_text(text, call.inner([], name), fresh(call))
    engine.effect("read", name, call)
    return None


_SCHEDULE = re.compile(r"^\s*(?:@\w+|(?:[-0-9*/,A-Za-z]+\s+){5})(.+)$", re.MULTILINE)


def scheduled(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`at` and `crontab -`: the input is run later."""
    text = call.stdin.text if call.stdin is not None else None
    if text is None:
        return None
    if name == "crontab":
        text = "\n".join(match[1] for match in _SCHEDULE.finditer(text))
    inner = call.inner([], name)
    inner.stdin = None
    engine.run_text(text, inner, fresh(call))
    return None


_RECIPE = re.compile(r"^(?:\t|[^\t\n:=]+:[^=\n;]*;)[ \t@+-]*(.+)$", re.MULTILINE)
_MAKE_SHELL = re.compile(r"\$\(shell\s+((?:[^()]|\([^()]*\))+)\)|!=\s*(.+)")
_MAKE_SETTING = re.compile(r"(\w+)[:?!+]*=(.*)", re.DOTALL)


_MAKE = Grammar(
    "-f -C -j -l -I -o -W -E --file --makefile --directory --eval --include-dir --old-file --what-if"
)


def make(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`make -f -`: the recipes of a makefile that flows in; `--eval` and settings are makefile text too."""
    given = parse(call.argv, _MAKE)
    call = moved(call, given.value("-C", "--directory"))
    texts = given.all_values("-E", "--eval")
    values = [match[2] for match in map(_MAKE_SETTING.fullmatch, given.words) if match is not None]
    for word in given.words:
        if word.startswith("SHELL="):
            engine.run_text(word[6:], call.inner([], name), fresh(call))
    from_input = given.value("-f", "--file", "--makefile") in ("-", "/dev/stdin")
    if from_input and call.stdin is not None and call.stdin.text:
        texts.append(call.stdin.text)
    for text in texts:
        for match in _RECIPE.finditer(text):
            engine.run_text(match[1].replace("$$", "$"), call.inner([], name), fresh(call))
    for text in texts + values:
        for match in _MAKE_SHELL.finditer(text):
            engine.run_text(match[1] or match[2], call.inner([], name), fresh(call))
    return None


_ANSIBLE = Grammar("-i -m -a -u -l -f -e --inventory --module-name --args --user --limit --extra-vars")


def ansible(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`ansible hosts -m shell -a command`."""
    options = parse(call.argv, _ANSIBLE)
    module = options.value("-m", "--module-name") or "command"
    text = options.value("-a", "--args")
    if text is not None and module.rpartition(".")[2] in ("shell", "command", "raw", "script", "win_shell"):
        engine.run_text(text, call.inner([], name), Environment())
    return None


def salt(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """`salt target cmd.run command`: the execution module's functions that start programs."""
    words = parse(call.argv, grammar(name, spec)).words
    at = next((i for i, word in enumerate(words) if word.startswith("cmd.")), len(words))
    for text in words[at + 1 : at + 2]:
        engine.run_text(text.removeprefix("cmd="), call.inner([], name), Environment())
    return None


_COMMANDS = re.compile(r"[\"']?commands[\"']?\s*[=:]\s*(\[.*\]|[^\[].*)", re.DOTALL)
_LISTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([^\s\[\],"\'][^\[\],"\']*)')


def systems_manager(engine: Engine, call: Call, name: str, _spec: Mapping[str, Any]) -> Flow | None:
    """`aws ssm send-command --parameters commands=[…]`, as JSON or in the short spelling."""
    found = map(_COMMANDS.search, call.argv if "send-command" in call.argv else ())
    for match in filter(None, found):
        for double, single, bare in _LISTED.findall(match[1]):
            text = re.sub(r"\\(.)", r"\1", double) or single or bare
            engine.run_text(text, call.inner([], name), Environment())
    return None


def option_texts(engine: Engine, call: Call, name: str, spec: Mapping[str, Any]) -> Flow | None:
    """A program of its own that runs the value of one of its options."""
    for text in parse(call.argv, grammar(name, spec)).all_values(*spec["text"].split()):
        engine.run_text(text, call.inner([], name), fresh(call))
    return None
