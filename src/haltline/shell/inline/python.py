"""Python code on a command line, read with `ast`: the calls that delete, overwrite, run, or send.

Statements are read in the order in which they stand. A name that a branch or loop sets keeps every value
that it may have, and a call is judged for each. A function is judged where it is defined, and again where it
is called with arguments that are known. Calls that do what a command does are judged as that command.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from haltline.shell.call import NETWORK, SECRET, Flow
from haltline.shell.environment import Environment
from haltline.shell.inline.python_names import (
    DATABASE_LOSS,
    EQUIVALENTS,
    EVALUATE,
    LISTING,
    METHODS,
    MODE,
    ONE,
    OPEN,
    RUN,
    SEND,
    SHELL,
    TREE,
)
from haltline.shell.inline.python_syntax import parsed
from haltline.shell.inline.python_texts import Value, path_of
from haltline.shell.inline.values import MAX_ALTERNATIVES, Values
from haltline.shell.marks import HOME, UNKNOWN, known, without_marks
from haltline.shell.scanner import LimitReached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

MAX_LENGTH = 32 * 1024
MAX_DEPTH = 12  # functions and evaluated texts inside one another


def judge(engine: Engine, call: Call, code: str) -> None:
    """Report what a Python text would do."""
    if len(code) > MAX_LENGTH:
        engine.report("limits.reached", call, "inline code is too long")
        return
    tree = parsed(code)
    if tree is None:
        _unparsed(engine, call, code)
        return
    engine.charge(1 + len(code) // 64)
    inner = call.inner(call.argv, call.argv[0] if call.argv else "python")
    inner.via, inner.depth = call.via, call.depth
    inner.environment = call.environment.copy()
    visitor = _Visitor(engine, inner, code)
    visitor.block(tree.body)
    if _reverse_shell(code):
        engine.report("machine.reverse-shell", call)
    if not visitor.found:
        engine.effect("execute", "python", call)


def _reverse_shell(code: str) -> bool:
    if "socket" in code and "pty.spawn" in code:
        return True
    return (
        "socket" in code
        and ".connect" in code
        and any(
            name in code
            for name in ("dup2", "pty.spawn", "/bin/sh", "/bin/bash", "subprocess", "os.popen", "cmd.exe")
        )
        and any(name in code for name in ("recv", "dup2", "fileno", "makefile"))
    )


_CALLED = re.compile(
    r"\b(?:(system|popen|execv\w*|execl\w*|spawn\w*|Popen|check_call|check_output|getoutput)"
    r"|(rmtree|unlink|removedirs|remove_tree))\b|\bos\s*\.\s*(remove|rmdir)\b|\bsubprocess\s*\.\s*(run|call)\b"
)


def _unparsed(engine: Engine, call: Call, code: str) -> None:
    engine.unknown("code", "Python that does not parse", call)
    match = _CALLED.search(code)
    if match is not None:
        deletes = match[2] or match[3]
        engine.report("interpreters.inline-delete" if deletes else "interpreters.inline-run", call, match[0])


class _Visitor:
    __slots__ = ("active", "call", "cut", "engine", "found", "lists", "values")

    def __init__(self, engine: Engine, call: Call, code: str) -> None:
        self.engine = engine
        self.call = call
        self.lists = any(name in code for name in LISTING)
        self.values = Values(engine.charge)
        self.active: list[str] = []
        self.found = False
        self.cut = False

    # Statements

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Read statements in order."""
        for statement in statements:
            self.statement(statement)

    def branch(self, *blocks: Sequence[ast.AST]) -> None:
        """Read statements that may run or not, or many times."""
        self.values.uncertain += 1
        for block in blocks:
            for node in block:
                self.statement(node)
        self.values.uncertain -= 1

    def statement(self, node: ast.AST) -> None:  # noqa: C901, PLR0912  one case for each kind of statement
        """Read one statement, and what it holds."""
        self.values.count()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imports(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.values.functions[node.name] = node
            self.later(node)
        elif isinstance(node, ast.Assign):
            self.expression(node.value)
            for target in node.targets:
                self.values.assign(target, node.value)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.expression(node.value)
                self.values.assign(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self.expression(node.value)
            if isinstance(node.target, ast.Name):
                name = ast.Name(node.target.id, ast.Load())
                self.values.assign(node.target, ast.BinOp(name, node.op, node.value))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.expression(node.iter)
            self.values.iterate(node.target, node.iter)
            self.branch(node.body, node.orelse)
        elif isinstance(node, (ast.While, ast.If)):
            self.expression(node.test)
            self.branch(node.body, node.orelse)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self.expression(item.context_expr)
                if item.optional_vars is not None:
                    self.values.assign(item.optional_vars, item.context_expr)
            self.block(node.body)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            self.branch(node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody)
        elif isinstance(node, ast.ClassDef):
            self.branch(node.body)
        elif isinstance(node, ast.Match):
            self.branch(*(case.body for case in node.cases))
        else:
            self.expression(node)

    def imports(self, node: ast.Import | ast.ImportFrom) -> None:
        """Remember what a name stands for."""
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                name = f"{node.module or ''}.{alias.name}"
                if alias.name == "*":
                    self.star(node.module or "")
                self.values.modules[alias.asname or alias.name] = name
            elif alias.asname is not None:
                self.values.modules[alias.asname] = alias.name

    def star(self, module: str) -> None:
        """`from os import *` brings every name that is judged."""
        for name in (*SHELL, *RUN, *TREE, *ONE, *EQUIVALENTS):
            holder, _, member = name.rpartition(".")
            if holder == module and member != "open":
                self.values.modules[member] = name

    def later(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Read a function's body once with its parameters unknown."""
        for argument in _parameters(node.args):
            self.values.bind(argument.arg, [None])
        self.branch(node.decorator_list, node.body)

    def expression(self, node: ast.AST) -> None:  # noqa: C901  one case for each form
        """Read every call that an expression holds, the inner ones first."""
        self.values.count()
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            for generator in node.generators:
                self.expression(generator.iter)
                self.values.iterate(generator.target, generator.iter)
                for condition in generator.ifs:
                    self.expression(condition)
            for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
                self.expression(part)
            return
        if isinstance(node, ast.NamedExpr):
            self.expression(node.value)
            self.values.assign(node.target, node.value)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif not isinstance(child, (ast.expr_context, ast.operator)):
                self.expression(child)
        if isinstance(node, ast.Call):
            turns = self.values.alternatives(node)
            outer, cut = self.values.choice, self.cut
            is_cut = self.values.is_cut(node)
            for turn in range(turns):
                self.values.choice, self.cut = turn, is_cut
                self.visit_call(node)
            self.values.choice, self.cut = outer, cut

    def whole(self) -> None:
        """Raise `LimitReached` at the last value that is looked at, when the call acts on more."""
        if self.cut and self.values.choice >= MAX_ALTERNATIVES - 1:
            raise LimitReached(f"more than {MAX_ALTERNATIVES} values of a name")

    # Calls

    def visit_call(self, node: ast.Call) -> None:  # noqa: C901, PLR0912  one case for each kind of call
        """Judge one call."""
        values = self.values
        name = values.dotted(node.func)
        first = _argument(node, 0, "path", "args", "cmd", "command", "src", "filename", "file", "name")
        if name in SHELL or name.endswith((".exec_command", ".create_subprocess_shell")):
            self.run_text(values.value(first) if first is not None else "")
        elif name.endswith((".system", ".popen")) and isinstance(first, ast.expr):
            self.run_text(values.value(first))
        elif name in RUN:
            self.run_arguments(node, first)
        elif name.startswith(("os.exec", "os.spawn", "os.posix_spawn", "posix.exec", "posix.spawn")):
            self.replace_process(name, node)
        elif name.startswith("sh.") and values.modules.get(name[3:], "").startswith("sh."):
            self.dispatch([name[3:], *(values.value(argument) for argument in node.args)])
        elif name in TREE or (name.endswith(".rmtree") and first is not None):
            self.delete(self.value(first), recursive=True)
        elif name in ONE:
            self.delete(self.value(first), recursive=False)
        elif name.endswith((".unlink", ".rmdir", ".rmtree")) and isinstance(node.func, ast.Attribute):
            self.delete(values.value(node.func.value), recursive=name.endswith(".rmtree"))
        elif name in EVALUATE and first is not None:
            self.evaluate(name, first)
        elif name in OPEN or name in ("os.open", "posix.open"):
            self.open(node, name, values.value(first) if first is not None else None)
        elif name.endswith((".write_text", ".write_bytes", ".open", ".read_text", ".read_bytes", ".touch")):
            self.open(
                node, name, values.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
            )
        elif name.endswith(
            (".execute", ".executescript", ".executemany", ".exec_driver_sql", ".sql", ".raw")
        ):
            self.statements(values.value(first) if first is not None else None)
        elif name in EQUIVALENTS:
            self.equivalent(name, EQUIVALENTS[name], node)
        elif name.endswith(("call_command", "execute_from_command_line")):
            words = [values.value(argument) for argument in node.args]
            words = words[0][1:] if len(words) == 1 and isinstance(words[0], list) else words
            self.dispatch(["manage.py", *words])
        else:
            self.other(name, node)

    def other(self, name: str, node: ast.Call) -> None:
        """Judge calls that are told by how their name ends, and functions of the text itself."""
        function = node.func if isinstance(node.func, ast.Lambda) else self.values.functions.get(name)
        if function is not None and name not in self.active and len(self.active) < MAX_DEPTH:
            self.enter(name, function, node)
            return
        if name == "print" and any(self.values.taint(argument) & SECRET for argument in node.args):
            if any(self.values.dotted(inner) == "os.environ" for a in node.args for inner in ast.walk(a)):
                self.engine.report("credentials.environment", self.call)
            return
        if SEND.search(name) and any(
            self.values.taint(argument) & SECRET
            for argument in (*node.args, *(k.value for k in node.keywords))
        ):
            self.found = True
            self.engine.report("credentials.send", self.call, name)
            return
        for ending, rule in DATABASE_LOSS.items():
            if name.endswith(ending):
                self.found = True
                self.engine.report("databases." + rule, self.call, name)
                return
        if name.endswith((".delete_many", ".update_many")) and node.args and _is_empty(node.args[0]):
            self.found = True
            self.engine.report("databases.document-loss", self.call, name)
        suffix = "." + name.rpartition(".")[2]
        if suffix in METHODS and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            holder = self.values.value(node.func.value)
            if isinstance(holder, str) and (
                "/" in holder or HOME in holder or "Path" in ast.dump(node.func)[:2000]
            ):
                self.equivalent(suffix, METHODS[suffix], node)

    def enter(
        self, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, node: ast.Call
    ) -> None:
        """Read a function's body with the arguments of a call."""
        self.whole()
        self.engine.charge(1)
        parameters = _parameters(function.args)
        given: dict[str, ast.expr] = dict(zip((p.arg for p in parameters), node.args, strict=False))
        given.update({k.arg: k.value for k in node.keywords if k.arg is not None})
        bound = {key: (self.values.value(source), self.values.taint(source)) for key, source in given.items()}
        for parameter in parameters:
            value, taint = bound.get(parameter.arg, (None, 0))
            self.values.names[parameter.arg] = [value]
            self.values.taints[parameter.arg] = taint
        if function.args.vararg is not None:
            rest = [self.values.value(argument) for argument in node.args[len(parameters) :]]
            self.values.names[function.args.vararg.arg] = [rest]
        self.active.append(name)
        outer, self.values.choice = self.values.choice, 0
        if isinstance(function, ast.Lambda):
            self.expression(function.body)
        else:
            self.block(function.body)
        self.values.choice = outer
        self.active.pop()

    def value(self, node: ast.expr | None) -> Value:
        """Return the value of an argument that may be missing."""
        return None if node is None else self.values.value(node)

    def evaluate(self, name: str, first: ast.expr) -> None:
        """`exec` and `eval` of a text that is known, of one from the network, or of one that nobody knows."""
        self.whole()
        if name == "runpy.run_path":
            path = self.values.text(first)
            self.dispatch(["python3", path or UNKNOWN])
            return
        text = self.values.text(first)
        if text is not None and known(text) and len(self.active) < MAX_DEPTH:
            inner = self.call.inner([], "python")
            self.engine.descend(MAX_DEPTH)
            self.engine.depth += 1
            try:
                judge(self.engine, inner, text)
            finally:
                self.engine.depth -= 1
        elif self.values.taint(first) & NETWORK:
            self.engine.report("interpreters.network-code", self.call)
            self.found = True
        elif not isinstance(first, ast.Call) or not name.endswith("exec"):
            self.engine.unknown("code", "a text that Python computes and evaluates", self.call)

    def open(self, node: ast.Call, name: str, value: Value) -> None:
        """Judge a file opened for reading or writing."""
        from haltline.shell.detectors.credentials import is_credential  # noqa: PLC0415  loaded only where it is needed
        from haltline.shell.detectors.filesystem import written  # noqa: PLC0415  loaded only where it is needed

        path = path_of(value)
        method = name.rpartition(".")[2]
        position = 0 if isinstance(node.func, ast.Attribute) and name not in OPEN and name != "os.open" else 1
        if name == "os.open":
            flags = ast.dump(node.args[1]) if len(node.args) > 1 else ""
            mode = "w" if "O_TRUNC" in flags or "O_WRONLY" in flags or "O_RDWR" in flags else "r"
        elif method.startswith(("read", "write", "touch")):
            mode = "a" if method == "touch" else method[0]
        else:
            given = _argument(node, position, "mode")
            mode = "r" if given is None else self.values.text(given) or ""
        if path is None:
            return
        self.found = True
        if not mode:  # not known: it may be opened for writing
            self.engine.effect("write", path, self.call)
        elif any(c in mode for c in "wax+"):
            self.whole()
            written(self.engine, self.call, path, overwrites="w" in mode)
            return
        self.engine.effect("read", path, self.call)
        if is_credential(path):
            self.engine.report("credentials.read", self.call, path)

    def statements(self, value: Value) -> None:
        """Judge SQL that is given to a database."""
        self.whole()
        if isinstance(value, str):
            from haltline.shell.inline import sql  # noqa: PLC0415  loaded only where it is needed

            sql.judge(self.engine, self.call, value)

    def equivalent(self, name: str, pattern: str, node: ast.Call) -> None:
        """Judge a call as the command that does the same."""
        words: list[Value] = []
        for word in pattern.split():
            value: Value = word
            if word == "@":
                value = self.values.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
            elif word.isdigit():
                argument = _argument(node, int(word), *(("src", "path"), ("dst", "mode"))[int(word)])
                value = None if argument is None else self.values.value(argument)
                if isinstance(value, int):
                    value = format(value, "o") if name in MODE else str(value)
            words.append(value)
        if any(
            isinstance(word, str) and known(word)
            for word in words[1:]
            if word not in ("-s", "-r", "-9", "--")
        ):
            self.dispatch(words)

    # What is run

    def dispatch(self, words: Sequence[Value]) -> None:
        """Judge a command that is run without a shell."""
        self.whole()
        self.found = True
        argv = [_word(word) for word in words]
        inner = self.call.inner(argv, "python")
        inner.stdin = None
        self.engine.dispatch(inner)

    def run_text(self, value: Value) -> None:
        """Judge a text that a shell runs."""
        self.whole()
        self.found = True
        if isinstance(value, list):
            self.dispatch(value)
            return
        if not isinstance(value, str):
            self.engine.unknown("code", "a shell text that Python computes", self.call)
            self.engine.effect("execute", None, self.call)
            return
        environment = Environment()
        environment.directory = self.call.environment.directory
        text = value.replace(UNKNOWN, '"$HALTLINE_UNKNOWN"') if UNKNOWN in value else value
        inner = self.call.inner([], "python")
        inner.stdin = None
        self.engine.run_text(without_marks(text.replace(HOME, "~")), inner, environment)

    def run_arguments(self, node: ast.Call, first: ast.expr | None) -> None:
        """`subprocess.run` and its like: a list of words, or a text."""
        value = self.value(first)
        outer = self.call.environment.directory
        directory = next((self.values.text(k.value) for k in node.keywords if k.arg == "cwd"), None)
        if directory is not None:
            self.call.environment.directory = path_of(directory)
        if isinstance(value, str) and len(node.args) > 1 and self.values.dotted(node.func).endswith("_exec"):
            self.dispatch([value, *(self.values.value(argument) for argument in node.args[1:])])
        elif isinstance(value, list) and value:
            self.with_input(node, value)
        else:
            self.run_text(value)
        self.call.environment.directory = outer

    def with_input(self, node: ast.Call, words: list[Value]) -> None:
        """Run words with the text that `input=` gives them."""
        self.whole()
        text = next((self.values.text(k.value) for k in node.keywords if k.arg == "input"), None)
        self.found = True
        inner = self.call.inner([_word(word) for word in words], "python")
        inner.stdin = None if text is None else Flow(text)
        self.engine.dispatch(inner)

    def replace_process(self, name: str, node: ast.Call) -> None:
        """`os.execvp(file, words)`, `os.execl(file, word, …)`, `os.spawnv(mode, file, words)`."""
        arguments = node.args[1:] if name.partition(".")[2].startswith("spawn") else node.args
        if not arguments:
            return
        path = self.values.value(arguments[0])
        rest = self.values.value(arguments[1]) if len(arguments) > 1 else None
        if not isinstance(rest, list):
            rest = [self.values.value(argument) for argument in arguments[1:]]
        self.dispatch([path, *rest[1:]])

    def delete(self, value: Value, *, recursive: bool) -> None:
        """Judge the deletion of a path, or of everything that a pattern finds."""
        self.whole()
        from haltline.shell.detectors.filesystem import deleted  # noqa: PLC0415  loaded only where it is needed

        self.found = True
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else None
        path = path_of(value)
        target = UNKNOWN if path is None else path
        self.engine.effect("delete", path, self.call, recursive=recursive, reversible=False)
        call = self.call
        if path is None and self.lists:
            call = call.inner(call.argv, "python")
            call.appended = True
        deleted(self.engine, call, target, recursive=recursive, force=True)


def _word(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else UNKNOWN


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _argument(node: ast.Call, position: int, *keywords: str) -> ast.expr | None:
    if len(node.args) > position:
        return node.args[position]
    return next((k.value for k in node.keywords if k.arg in keywords), None)


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and not node.keys
