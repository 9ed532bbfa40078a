"""Python code on a command line, read with `ast`: the calls that delete, run, or send."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from haltline.shell.environment import Environment
from haltline.shell.marks import HOME, UNKNOWN, without_marks
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from haltline.shell.call import Call
    from haltline.shell.engine import Engine

MAX_LENGTH = 32 * 1024
MAX_NODES = 8_000

_SHELL = word_set(
    "os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput pty.spawn "
    "asyncio.create_subprocess_shell"
)
_RUN = word_set(
    "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen "
    "asyncio.create_subprocess_exec"
)
_EXEC = word_set("os.execv os.execvp os.execl os.execlp os.spawnl os.spawnv os.posix_spawn")
_TREE = word_set("shutil.rmtree distutils.dir_util.remove_tree send2trash.send2trash")
_ONE = word_set("os.remove os.unlink os.rmdir os.removedirs")
_EVALUATE = word_set("eval exec compile __import__")
_LISTING = ("glob", "listdir", "walk(", "iterdir", "scandir")
_FETCH = ("urlopen", "requests.get", "httpx.get")


def judge(engine: Engine, call: Call, code: str) -> None:
    """Report what a Python text would do."""
    if len(code) > MAX_LENGTH:
        engine.report("limits.reached", call, "inline code is too long")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code.replace("\0", "_").replace(HOME, "~"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _unparsed(engine, call, code)
        return
    visitor = _Visitor(engine, call, code)
    for nodes, node in enumerate(ast.walk(tree)):
        if nodes > MAX_NODES:
            engine.report("limits.reached", call, "inline code is too large")
            return
        visitor.visit_one(node)
    if "socket" in code and (
        "dup2" in code or "pty.spawn" in code or "/bin/sh" in code or "/bin/bash" in code
    ):
        engine.report("machine.reverse-shell", call)
    if not visitor.found:
        engine.effect("execute", "python", call)


def _unparsed(engine: Engine, call: Call, code: str) -> None:
    engine.unknown("code", "Python that does not parse", call)
    for name in (*_SHELL, *_RUN, *_TREE, *_ONE):
        if name in code:
            engine.report(
                "interpreters.inline-delete" if name in _TREE or name in _ONE else "interpreters.inline-run",
                call,
                name,
            )
            return


class _Visitor:
    __slots__ = ("call", "engine", "found", "lists", "names", "strings")

    def __init__(self, engine: Engine, call: Call, code: str) -> None:
        self.engine = engine
        self.call = call
        self.lists = any(name in code for name in _LISTING)
        self.names: dict[str, str] = {}
        self.strings: dict[str, str] = {}
        self.found = False

    def visit_one(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is not None:
                    self.names[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
        elif (
            isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        ):
            value = self.string(node.value)
            if value is not None:
                self.strings[node.targets[0].id] = value
            elif isinstance(node.value, (ast.Name, ast.Attribute)):
                self.names[node.targets[0].id] = self.dotted(node.value)
        elif isinstance(node, ast.Call):
            self.visit_call(node)

    def visit_call(self, node: ast.Call) -> None:
        name = self.dotted(node.func)
        first = (
            node.args[0]
            if node.args
            else next((k.value for k in node.keywords if k.arg in ("path", "args", "cmd")), None)
        )
        if name in _SHELL:
            self.run_text(self.string(first))
        elif name in _RUN or name in _EXEC or name.startswith(("os.exec", "os.spawn")):
            self.run_arguments(node, first)
        elif name in _TREE:
            self.delete(self.path(first), recursive=True)
        elif name in _ONE:
            self.delete(self.path(first), recursive=False)
        elif name.endswith((".unlink", ".rmdir", ".rmtree")) and isinstance(node.func, ast.Attribute):
            target = first if name.endswith(".rmtree") and first is not None else node.func.value
            self.delete(self.path(target), recursive=name.endswith(".rmtree"))
        elif name in _EVALUATE and first is not None:
            self.evaluate(node)
        elif name in ("open", "io.open", "codecs.open") or name.endswith(
            (".write_text", ".write_bytes", ".open", ".read_text", ".read_bytes")
        ):
            self.open(node, name, first)
        elif name.endswith((".execute", ".executescript", ".executemany")):
            text = self.string(first)
            if text is not None:
                from haltline.shell.inline import sql  # noqa: PLC0415  loaded only where it is needed

                sql.judge(self.engine, self.call, text)

    def evaluate(self, node: ast.Call) -> None:
        text = self.string(node.args[0])
        if text is not None and self.dotted(node.func) != "__import__":
            judge(self.engine, self.call.inner([], "python"), text)
            return
        source = ast.dump(node)
        if any(name.rpartition(".")[2] in source for name in _FETCH) and (
            "urlopen" in source or "requests" in source or "httpx" in source
        ):
            self.engine.report("interpreters.network-code", self.call)
            self.found = True

    def open(self, node: ast.Call, name: str, first: ast.expr | None) -> None:
        from haltline.shell.detectors.credentials import is_credential  # noqa: PLC0415  loaded only where it is needed
        from haltline.shell.detectors.filesystem import written  # noqa: PLC0415  loaded only where it is needed

        method = name.rpartition(".")[2]
        is_path_method = isinstance(node.func, ast.Attribute) and name not in ("io.open", "codecs.open")
        path = (
            self.path(node.func.value)
            if is_path_method and isinstance(node.func, ast.Attribute)
            else self.path(first)
        )
        mode_argument = (
            node.args[0] if is_path_method and node.args else (node.args[1] if len(node.args) > 1 else None)
        )
        mode = (
            "r"
            if method.startswith("read")
            else "w"
            if method.startswith("write")
            else self.string(mode_argument) or "r"
        )
        if path is None:
            return
        self.found = True
        if any(c in mode for c in "wax+"):
            written(self.engine, self.call, path, overwrites="w" in mode)
            return
        self.engine.effect("read", path, self.call)
        if is_credential(path):
            self.engine.report("credentials.read", self.call, path)

    def run_text(self, text: str | None) -> None:
        self.found = True
        if text is None:
            self.engine.unknown("code", "a shell text that Python computes", self.call)
            self.engine.effect("execute", None, self.call)
            return
        self.engine.run_text(without_marks(text), self.call.inner([], "python"), Environment())

    def run_arguments(self, node: ast.Call, first: ast.expr | None) -> None:
        text = self.string(first)
        if text is not None and not isinstance(first, (ast.List, ast.Tuple)):
            values = [self.string(argument) for argument in node.args]
            if len(values) > 1 and all(value is not None for value in values):
                self.found = True
                self.engine.dispatch(
                    self.call.inner([value or "" for value in values[1:]] or [text], "python")
                )
                return
            self.run_text(text)
            return
        if isinstance(first, (ast.List, ast.Tuple)):
            argv = [self.string(element) for element in first.elts]
            self.found = True
            if argv and argv[0] is not None:
                inner = self.call.inner([UNKNOWN if word is None else word for word in argv], "python")
                inner.stdin = None
                self.engine.dispatch(inner)
                return
        self.run_text(None)

    def delete(self, path: str | None, *, recursive: bool) -> None:
        from haltline.shell.detectors.filesystem import deleted  # noqa: PLC0415  loaded only where it is needed

        self.found = True
        target = UNKNOWN if path is None else path
        self.engine.effect("delete", path, self.call, recursive=recursive, reversible=False)
        call = self.call
        if path is None and self.lists:
            call = call.inner(call.argv, "python")
            call.appended = True
        deleted(self.engine, call, target, recursive=recursive, force=True)

    def dotted(self, node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return self.dotted(node.value) + "." + node.attr
        if isinstance(node, ast.Call):
            name = self.dotted(node.func)
            if name in ("__import__", "importlib.import_module") and node.args:
                return self.string(node.args[0]) or ""
            if name == "getattr" and len(node.args) > 1:
                return self.dotted(node.args[0]) + "." + (self.string(node.args[1]) or "")
            return name + "()"
        return ""

    def string(self, node: ast.AST | None) -> str | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes):
            return node.value.decode("utf-8", "replace")
        if isinstance(node, ast.Name):
            return self.strings.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.string(node.left), self.string(node.right)
            return (
                None if left is None or right is None or len(left) + len(right) > MAX_LENGTH else left + right
            )
        if isinstance(node, ast.JoinedStr):
            pieces = [
                self.string(v.value) if isinstance(v, ast.FormattedValue) else self.string(v)
                for v in node.values
            ]
            return "".join(UNKNOWN if piece is None else piece for piece in pieces)
        if isinstance(node, ast.Call):
            return self.computed(node)
        return None

    def computed(self, node: ast.Call) -> str | None:
        name = self.dotted(node.func)
        values = [self.string(argument) for argument in node.args]
        if (
            name in ("os.path.expanduser", "Path.expanduser", "pathlib.Path", "Path", "str")
            and values
            and values[0] is not None
        ):
            return values[0]
        if name.endswith("Path.home") or name == "Path.home":
            return "~"
        if name in ("os.getenv", "os.environ.get") and values[:1] == ["HOME"]:
            return "~"
        if (
            name.endswith(".join")
            and isinstance(node.func, ast.Attribute)
            and name != "os.path.join"
            and node.args
            and isinstance(node.args[0], (ast.List, ast.Tuple))
        ):
            pieces = [self.string(element) for element in node.args[0].elts]
            glue = self.string(node.func.value)
            return None if glue is None or None in pieces else glue.join(piece or "" for piece in pieces)
        if name == "os.path.join" and values and None not in values:
            return "/".join(value or "" for value in values)
        if name.endswith("b64decode") and values and values[0] is not None:
            import base64  # noqa: PLC0415  loaded only where it is needed

            try:
                return base64.b64decode(values[0] + "=" * (-len(values[0]) % 4)).decode("utf-8", "replace")
            except ValueError:
                return None
        if name.endswith((".decode()", ".decode", ".strip")) and isinstance(node.func, ast.Attribute):
            return self.string(node.func.value)
        return None

    def path(self, node: ast.AST | None) -> str | None:
        """Return a path argument with a leading `~` made the home mark."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            left, right = self.path(node.left), self.string(node.right)
            return None if left is None else left.rstrip("/") + "/" + (UNKNOWN if right is None else right)
        if isinstance(node, ast.Subscript) and self.dotted(node.value) == "os.environ":
            return HOME if self.string(node.slice) == "HOME" else None
        text = self.string(node)
        if text is None:
            return None
        return HOME + text[1:] if text == "~" or text.startswith("~/") else text
