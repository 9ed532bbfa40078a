"""JavaScript, Perl, Ruby, PHP and others: the calls that run, delete, overwrite or send, by their names.

Strings and comments are told apart first, so that naming such a call is not taken for making it. An argument
that literals decide is judged as the shell, or as the command that does the same, would be; one that is
computed is unknown.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from haltline.shell.environment import Environment
from haltline.shell.inline.expressions import MAX_ALTERNATIVES, Expressions, Value
from haltline.shell.inline.lexer import interpolations, lexed
from haltline.shell.inline.script_names import ALIAS, BOUND, CALLS, EACH, LOOPS, calls_of
from haltline.shell.marks import HOME, UNKNOWN, known, without_marks
from haltline.shell.scanner import LimitReached

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine
    from haltline.shell.inline.lexer import Source

MAX_LENGTH = 32 * 1024
MAX_DEPTH = 6
_CHARACTERS_PER_STEP = 64
_STEPS_OF_A_DELETION = 4
_SEARCHED_PER_STEP = 256  # characters of a whole script that one more pattern runs over

_TREES = re.compile(
    r"rm_r|rmtree|tree|rimraf|empty|rm_rf|remove_dir|remove_entry|removeSync|trash|deleteDir|dir_delete|fse?\.remove|deleteSync"
)
_RECURSIVE = re.compile(r"recursive\s*[:=]+>?\s*(?:true|TRUE|1|!0)|:recursive|recurse")
_BEFORE_EXEC = re.compile(
    r"(?:child_process|\bcp|proc|childProcess|require\(\"[^\"]*\"\)|shell|shelljs|sh|execa|\))\s*\??\.\s*\Z"
)
_METHOD = re.compile(r"\??\.\s*\Z|->\s*\Z|::\s*\Z")
_SPECIFIC = re.compile(r"[A-Z._]|Sync")
_CONNECTS = re.compile(
    r"\bsocket\b|TCPSocket|fsockopen|net\.(?:Socket|connect|createConnection)|IO::Socket|\bSocket\b|new net",
    re.IGNORECASE,
)
_SHELL_PATH = re.compile(r"/bin/(?:ba|z|da|k)?sh\b|cmd\.exe|powershell")
_ENVIRONMENT = re.compile(
    r"process\.env(?!\s*(?:\.\w|\[|\?\.))|\bENV\b(?:\.to_h|\.to_a|\.inspect)|\bENV\b\s*[,)]|%ENV|\$_ENV\b(?!\[)|getenv\(\s*\)|Sys\.getenv\(\s*\)"
)
_FETCHES = re.compile(
    r"\bfetch\s*\(|https?\.get\s*\(|URI\.open|open-uri|LWP|Net::HTTP|\bcurl_exec\b|file_get_contents\s*\(\s*\"|axios|source\(\"|socket\.http|\bHTTParty\b"
)
_REQUIRES_HTTP = re.compile(r"(?:require|import)\s*\(?\s*['\"`](?:node:)?https?['\"`]")
_EVALUATES = re.compile(
    r"(?<![\w.$])(?:eval|Function|instance_eval|loadstring|load|Code\.eval_string)\b|\bvm\.run\w+|\beval\s*\("
)
_BRACKETED = re.compile(
    r"(?:\?\.)?\[\s*((?:'[\w:]{1,40}'|\"[\w:]{1,40}\"|`[\w:]{1,40}`)(?:\s*\+\s*(?:'[\w:]{0,40}'|\"[\w:]{0,40}\"|`[\w:]{0,40}`)){0,8})\s*\]"
)
_TAGGED = re.compile(r"(?<![\w])(?:\$|Bun\.\$|zx\.\$|sh|run)\s*(?=\")")
_EXECUTED = re.compile(r"\s*\.\s*(?:execute|waitForProcessOutput)\s*\(")
_EXECUTED_LIST = re.compile(r"\]" + _EXECUTED.pattern)
_TCL = re.compile(r"(?:^|[;\[{\n])\s*(exec|file\s+delete)\s+([^\n;\]}]*)")


def javascript(engine: Engine, call: Call, code: str) -> None:
    """Report what a JavaScript or TypeScript text would do."""
    judge(engine, call, members(code), "javascript")


def members(code: str) -> str:
    """Return JavaScript in which a member that a literal names is a name: `x["a" + "b"]` as `x.ab`."""
    return _BRACKETED.sub(_member, code)


def perl(engine: Engine, call: Call, code: str) -> None:
    """Report what a Perl text would do."""
    judge(engine, call, code, "perl")


def ruby(engine: Engine, call: Call, code: str) -> None:
    """Report what a Ruby text would do."""
    judge(engine, call, code, "ruby")


def php(engine: Engine, call: Call, code: str) -> None:
    """Report what a PHP text would do."""
    judge(engine, call, code, "php")


def lua(engine: Engine, call: Call, code: str) -> None:
    """Report what a Lua text would do."""
    judge(engine, call, code, "lua")


def r(engine: Engine, call: Call, code: str) -> None:
    """Report what an R text would do."""
    judge(engine, call, code, "r")


def applescript(engine: Engine, call: Call, code: str) -> None:
    """Report what an AppleScript text, or JavaScript for Automation, would do."""
    judge(engine, call, code, "applescript")


def groovy(engine: Engine, call: Call, code: str) -> None:
    """Report what a Groovy text would do."""
    judge(engine, call, code, "groovy")


def elixir(engine: Engine, call: Call, code: str) -> None:
    """Report what an Elixir or Erlang text would do."""
    judge(engine, call, code, "elixir")


def julia(engine: Engine, call: Call, code: str) -> None:
    """Report what a Julia text would do."""
    judge(engine, call, code, "julia")


def tcl(engine: Engine, call: Call, code: str) -> None:
    """Report what a Tcl text would do."""
    engine.effect("execute", "tcl", call)
    if len(code) > MAX_LENGTH:
        engine.report("limits.reached", call, "inline code is too long")
        return
    for match in _TCL.finditer(code):
        words = match[2].replace("{", " ").replace("}", " ")
        text = f"rm -r {words.replace('-force', '-f')}" if match[1].startswith("file") else words
        engine.run_text(text, call.inner([], "tcl"), Environment())


def _member(match: re.Match[str]) -> str:
    """Write `["name"]` as `.name`, with the length kept where it can be."""
    return "." + re.sub(r"['\"`+\s]", "", match[1])


def judge(engine: Engine, call: Call, code: str, language: str, depth: int = 0) -> None:
    """Report what a script would do."""
    engine.effect("execute", language, call)
    if len(code) > MAX_LENGTH:
        engine.report("limits.reached", call, "inline code is too long")
        return
    engine.charge(1 + len(code) // 64)
    source = lexed(code, language, engine.charge)
    if _CONNECTS.search(source.code) and (_SHELL_PATH.search(code) is not None):
        engine.report("machine.reverse-shell", call)
    if (_FETCHES.search(source.code) or _REQUIRES_HTTP.search(code)) and _EVALUATES.search(source.code):
        engine.report("interpreters.network-code", call)
    _Judge(engine, call, code, source, depth).run()


class _Judge:
    """Judges one script, in the order in which it stands."""

    __slots__ = ("call", "depth", "engine", "expressions", "processes", "raw", "source")

    def __init__(self, engine: Engine, call: Call, raw: str, source: Source, depth: int) -> None:
        self.engine = engine
        self.call = call
        self.raw = raw
        self.processes = "child_process" in raw
        self.source = source
        self.depth = depth
        self.expressions = Expressions(source, engine.charge)

    def run(self) -> None:
        """Bind names, then judge calls and command strings."""
        self.bind()
        language, code = self.source.language, self.source.code
        pattern = calls_of(language)
        if pattern is not None:
            for match in pattern.finditer(code):
                self.found(match.lastgroup or "", match)
        for match in ALIAS.finditer(code):
            self.alias(match[1] or match[3] or match[6], match[2] or match[4] or match[5])
        if language == "javascript":
            self.tagged()
        if language == "groovy":
            self.executed_lists()
        for text in self.source.texts.values():
            self.engine.charge(1 + len(text.value) // _CHARACTERS_PER_STEP)
            if text.kind == "command" or (language == "groovy" and _EXECUTED.match(code, text.end)):
                self.run_text(self.expressions.literal(text))
            for _, _, inner in interpolations(text, language):
                if "(" in inner or "`" in inner:
                    self.inside(inner)

    def inside(self, code: str) -> None:
        """Judge code that stands in a text of this script."""
        if self.depth >= MAX_DEPTH:
            raise LimitReached(f"more than {MAX_DEPTH} texts of code inside one another")
        judge(self.engine, self.call, code, self.source.language, self.depth + 1)

    def tagged(self) -> None:
        """Judge the template of JavaScript that a shell runs: $`command`."""
        for match in _TAGGED.finditer(self.source.code):
            text = self.source.texts.get(match.end())
            if text is not None and text.quote == "`":
                self.run_text(self.expressions.literal(text))

    def executed_lists(self) -> None:
        """Judge the lists of Groovy that are run: ["rm", "x"].execute()."""
        code = self.source.code
        for match in _EXECUTED_LIST.finditer(code):
            self.engine.charge(1)
            start = code.rfind("[", max(0, match.start() - 400), match.start())
            if start >= 0:
                self.dispatch(self.expressions.bracket(start, 0)[0])

    def alias(self, name: str, alias: str) -> None:
        """Judge the calls of a function under the other name that the script gives it."""
        kind = next((k for k, names in CALLS[self.source.language].items() if name in names.split("|")), None)
        if kind is None or name == alias:
            return
        self.engine.charge(1 + len(self.source.code) // 256)
        calls = re.compile(rf"(?<![\w$.]){re.escape(alias)}(?=\s*\()")
        for match in calls.finditer(self.source.code):
            self.engine.charge(1)
            values, end = self.expressions.arguments(match.end())
            getattr(self, "do_" + kind)(name, values, self.source.code[match.end() : end + 80], match)

    def bind(self) -> None:
        """Remember what names are assigned, and what loops run over."""
        expressions, code = self.expressions, self.source.code
        pattern = BOUND.get(self.source.language)
        for match in pattern.finditer(code) if pattern is not None else ():
            self.engine.charge(2)
            value, _ = expressions.expression(match.end(), 0)
            if isinstance(value, list) or value:
                expressions.bind(match[1], value)
                if match[1][0] == "@":
                    expressions.bind("$" + match[1][1:], value)
        loop = LOOPS.get(self.source.language)
        for match in loop.finditer(code) if loop is not None else ():
            self.engine.charge(1)
            value, _ = expressions.expression(match.end(), 0)
            for item in value if isinstance(value, list) else []:
                expressions.bind(match[1], item)
        for match in EACH.finditer(code):
            self.engine.charge(1)
            start = max(code.rfind(c, max(0, match.start() - 400), match.start()) for c in "\n;{=")
            value, _ = expressions.expression(start + 1, 0)
            name = match[1] or match[2] or match[3]
            for item in value if isinstance(value, list) else []:
                if name is not None:
                    expressions.bind(name, item)

    def found(self, kind: str, match: re.Match[str]) -> None:
        """Judge one call."""
        code = self.source.code
        name = match[0]
        before = code[max(0, match.start() - 60) : match.start()]
        self.engine.charge(2)
        if self.other_method(kind, name, before):
            return
        values, end = self.expressions.arguments(match.end())
        region = code[match.end() : min(len(code), end + 80)]
        for turn in count():
            turned = self.turn(match.end(), values, turn)
            if turned is None:
                break
            getattr(self, "do_" + kind)(name, turned, region, match)

    def turn(self, position: int, values: list[Value], turn: int) -> list[Value] | None:
        """Return the arguments for one of the values that the first one's name may have."""
        if turn == 0:
            return values
        code = self.source.code
        self.engine.charge(1)
        match = re.compile(r"[\s(]*([$@]?\w+)\s*[,);\n]").match(code, position)
        alternatives = self.expressions.names.get(match[1], []) if match is not None else []
        if match is not None and turn >= len(alternatives) and match[1] in self.expressions.cut:
            raise LimitReached(f"more than {MAX_ALTERNATIVES} values of a name")
        return [alternatives[-1 - turn], *values[1:]] if turn < len(alternatives) else None

    def other_method(self, kind: str, name: str, before: str) -> bool:
        """Return whether a call of this name belongs to something else: `regex.exec`, `list.delete`."""
        if not _METHOD.search(before):
            return self.source.language == "javascript" and name == "exec" and not self.processes
        if self.source.language != "javascript":
            return (kind not in ("file", "send") and before.rstrip().endswith("->")) or (
                before.endswith(".")
                and "." not in name
                and self.source.language in ("ruby", "elixir", "lua", "r", "julia", "php")
                and not re.search(r"(?:Kernel|FileUtils|Process)\.\Z", before)
            )
        if name == "exec":
            self.engine.charge(1 + len(self.raw) // _SEARCHED_PER_STEP)
            holder = re.search(r"([\w$]+)\s*\??\.\s*\Z", before)
            if holder is not None and re.search(
                rf"\b{re.escape(holder[1])}\s*=\s*(?:await\s+)?(?:require|import)\s*\(\s*['\"`](?:node:)?(?:child_process|shelljs)|import\s+(?:\*\s+as\s+)?{re.escape(holder[1])}\s+from",
                self.raw,
            ):
                return False
            return not _BEFORE_EXEC.search(before) or (not self.processes and "shell" not in self.raw)
        return kind == "evaluate"

    # What calls do

    def do_shell(self, _name: str, values: list[Value], _region: str, _match: re.Match[str]) -> None:
        """A text for the shell; several words where no shell comes between."""
        if self.source.language in ("php", "javascript", "applescript") or len(values) < 2:  # noqa: PLR2004  one text
            self.run_text(values[0] if values else None)
            return
        words = [value for value in values if not (isinstance(value, str) and value.endswith(":"))]
        texts = [value for value in words if isinstance(value, str)]
        if self.source.language in ("perl", "ruby") and len(texts) > 1:
            self.dispatch(words)
        else:
            self.run_text(values[0])

    def do_list(self, name: str, values: list[Value], region: str, _match: re.Match[str]) -> None:
        """A program and its words."""
        if not values:
            return
        first = values[0]
        if isinstance(first, list):
            self.dispatch(first)
            return
        arguments = next((value for value in values[1:] if isinstance(value, list)), None)
        if arguments is None:
            inner = re.search(r"\b(?:args|cmd)\s*:\s*\[", region)
            if inner is not None:
                arguments, _ = self.expressions.bracket(_match.end() + inner.end() - 1, 0)
        if first is None and arguments is not None and name == "Deno.run":
            self.dispatch(arguments)
        elif isinstance(first, str) and (arguments is None or re.search(r"shell\s*:\s*true", region)):
            words = [word if isinstance(word, str) else UNKNOWN for word in arguments or []]
            self.run_text(" ".join([first, *words]))
        else:
            self.dispatch([first, *(arguments or [])])

    def do_delete(self, name: str, values: list[Value], region: str, match: re.Match[str]) -> None:
        """Files or directories that are deleted."""
        recursive = _TREES.search(name) is not None or _RECURSIVE.search(region) is not None
        targets = values if self.source.language in ("perl", "ruby") else values[:1]
        if match[0] == "rmdir" and self.source.language == "perl":
            recursive = False
        for value in targets or [None]:
            for item in value if isinstance(value, list) else [value]:
                self.delete(item if isinstance(item, str) else None, recursive=recursive)

    def do_file(self, name: str, _values: list[Value], _region: str, match: re.Match[str]) -> None:
        """`new File(path).deleteDir()`: what the method belongs to is deleted."""
        code = self.source.code
        start = code.rfind("File(", max(0, match.start() - 200), match.start())
        if start >= 0:
            values, _ = self.expressions.bracket(start + 4, 0)
            target = values[0] if values and isinstance(values[0], str) else None
            self.delete(target, recursive=name == "deleteDir")

    def do_write(self, _name: str, values: list[Value], _region: str, _match: re.Match[str]) -> None:
        """A file that is overwritten."""
        self.write(values, overwrites=True)

    def do_append(self, _name: str, values: list[Value], _region: str, _match: re.Match[str]) -> None:
        """A file that is added to."""
        self.write(values, overwrites=False)

    def do_read(self, _name: str, values: list[Value], _region: str, _match: re.Match[str]) -> None:
        """A file that is read."""
        self.read(values[0] if values else None)

    def do_open(self, _name: str, values: list[Value], _region: str, _match: re.Match[str]) -> None:
        """A file opened for reading or writing; in Perl, perhaps a command."""
        texts = [value for value in values if isinstance(value, str)]
        if self.source.language == "perl":
            self.perl_open(texts)
            return
        if not texts or not isinstance(values[0], str):
            return
        mode = values[1] if len(values) > 1 and isinstance(values[1], str) else "r"
        if any(c in mode for c in "wax+"):
            self.write(values, overwrites="w" in mode)
        else:
            self.read(values[0])

    def perl_open(self, texts: list[str]) -> None:
        """`open(F, ">", path)`, `open(F, "|-", command)`, `open(F, "command|")`."""
        mode, rest = (texts[0].strip(), texts[1:]) if texts else ("", [])
        if mode in ("|-", "-|"):
            if len(rest) > 1:
                self.dispatch(list(rest))
            elif rest:
                self.run_text(rest[0])
        elif mode.startswith("|") or mode.endswith("|"):
            self.run_text(mode.strip("|"))
        elif mode.startswith((">", "+<", "+>")):
            target = mode.lstrip("+<> ") if not rest or mode.lstrip("+<>")[:1].strip(": utf8") else rest[0]
            self.write([target or (rest[0] if rest else None)], overwrites=not mode.startswith(">>"))
        else:
            self.read(rest[0] if rest else mode.lstrip("< "))

    def do_move(self, _name: str, values: list[Value], _region: str, _match: re.Match[str]) -> None:
        """A file that is moved."""
        if len(values) > 1:
            self.dispatch(["mv", *values[:2]])

    def do_copy(self, _name: str, values: list[Value], _region: str, _match: re.Match[str]) -> None:
        """A file that is copied over another."""
        if len(values) > 1:
            self.dispatch(["cp", *values[:2]])

    def do_mode(self, name: str, values: list[Value], region: str, _match: re.Match[str]) -> None:
        """Rights that are changed: the path comes first."""
        number = re.search(r",\s*0?o?([0-7]{3,4})\b", region)
        mode = number[1] if number is not None else values[1] if len(values) > 1 else None
        if values and isinstance(values[0], str):
            self.dispatch(["chown" if "chown" in name else "chmod", mode, values[0]])

    def do_modes(self, name: str, values: list[Value], region: str, _match: re.Match[str]) -> None:
        """Rights that are changed: the mode comes first."""
        number = re.match(r"\s*\(?\s*0?o?([0-7]{3,4})\b", region)
        mode = number[1] if number is not None else None
        paths = [
            item
            for value in values
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, str)
        ]
        if paths:
            options = ["-R"] if name.endswith("_R") else []
            self.dispatch(["chown" if "chown" in name else "chmod", *options, mode, *paths])

    def do_evaluate(self, _name: str, values: list[Value], _region: str, _match: re.Match[str]) -> None:
        """Code in a text."""
        value = values[-1] if values and _name == "Function" else values[0] if values else None
        if isinstance(value, str) and known(value):
            self.inside(value)
        elif values:
            self.engine.unknown("code", "a text that the code computes and evaluates", self.call)

    def do_send(self, name: str, _values: list[Value], region: str, match: re.Match[str]) -> None:
        """A request that carries credentials away."""
        from haltline.shell.detectors.credentials import is_credential  # noqa: PLC0415  loaded only where it is needed

        stop = match.end() + len(region)
        self.engine.charge(1 + len(self.source.texts) // 64)
        holds = any(
            is_credential(text.value)
            for start, text in self.source.texts.items()
            if match.end() <= start < stop
        )
        if holds or _ENVIRONMENT.search(region):
            self.engine.report("credentials.send", self.call, name)

    def do_method(self, name: str, values: list[Value], region: str, match: re.Match[str]) -> None:
        """A method that is called by its name: `Kernel.send(:system, …)`."""
        self.do_shell(name, values, region, match)

    # What is judged

    def run_text(self, value: Value) -> None:
        """Judge a text that a shell runs, or words without one."""
        if isinstance(value, list):
            self.dispatch(value)
        elif not value:
            self.engine.unknown("code", "a shell text that the code computes", self.call)
        else:
            text = value.replace(UNKNOWN, '"$HALTLINE_UNKNOWN"').replace(HOME, "~")
            inner = self.call.inner([], self.source.language)
            inner.stdin = None
            self.engine.run_text(without_marks(text), inner, Environment())

    def dispatch(self, words: list[Value]) -> None:
        """Judge a command that is run without a shell."""
        argv = [path(word) if isinstance(word, str) else UNKNOWN for word in words]
        if not argv or not known(argv[0]):
            self.engine.unknown("code", "a command that the code computes", self.call)
            return
        inner = self.call.inner(argv, self.source.language)
        inner.stdin = None
        self.engine.dispatch(inner)

    def delete(self, value: str | None, *, recursive: bool) -> None:
        """Judge the deletion of a path."""
        from haltline.shell.detectors.filesystem import deleted  # noqa: PLC0415  loaded only where it is needed

        self.engine.charge(_STEPS_OF_A_DELETION)
        target = UNKNOWN if value is None else path(value)
        self.engine.effect("delete", value, self.call, recursive=recursive, reversible=False)
        deleted(self.engine, self.call, target, recursive=recursive, force=True)

    def write(self, values: list[Value], *, overwrites: bool) -> None:
        """Judge a write to a path."""
        from haltline.shell.detectors.filesystem import written  # noqa: PLC0415  loaded only where it is needed

        if values and isinstance(values[0], str):
            written(self.engine, self.call, path(values[0]), overwrites=overwrites)

    def read(self, value: Value) -> None:
        """Judge the reading of a path."""
        from haltline.shell.detectors.credentials import is_credential  # noqa: PLC0415  loaded only where it is needed

        if not isinstance(value, str):
            return
        self.engine.effect("read", value, self.call)
        if is_credential(path(value)):
            self.engine.report("credentials.read", self.call, value)


def path(text: str) -> str:
    """Return a path with a leading `~` made the home mark."""
    return HOME + text[1:] if text == "~" or text.startswith("~/") else text
