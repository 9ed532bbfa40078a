"""What the expressions of a Python text are worth, as far as the text decides it.

A value is a text, a whole number, a list of values, or None where nobody can tell. A file pattern stands for
the files that it finds, so that `for f in glob.glob("*")` is judged as `rm *` would be.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from haltline.shell.call import NETWORK, SECRET
from haltline.shell.environment import TEMPORARY
from haltline.shell.inline.python_texts import (
    MAX_ITEMS,
    MAX_LENGTH,
    Value,
    decoded,
    few,
    formatted,
    joined,
    joined_all,
    percent,
    spoken,
    variable,
    words,
)
from haltline.shell.marks import HOME, UNKNOWN
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Callable

_LAST_CHARACTER = 0x10FFFF

MAX_ALTERNATIVES = 64  # values of a name; what uses a name that has more is asked about
_ITEMS_PER_STEP = 64
_EVALUATIONS_PER_STEP = 16

_SAME_PATH = word_set(
    "os.path.expanduser os.path.abspath os.path.realpath os.path.normpath os.fspath os.path.expandvars str "
    "Path pathlib.Path pathlib.PurePath pathlib.PosixPath PurePath bytes bytearray io.StringIO "
    "text sqlalchemy.text sa.text sqlalchemy.sql.text sql.SQL psycopg.sql.SQL psycopg2.sql.SQL"
)
_SAME_TEXT = word_set(
    "decode encode strip rstrip lstrip expanduser resolve absolute as_posix tobytes read getvalue copy"
)
_HERE = word_set("os.getcwd pathlib.Path.cwd Path.cwd os.getcwdb")
_TEMPORARY = word_set(
    "tempfile.mkdtemp tempfile.gettempdir tempfile.TemporaryDirectory tempfile.mktemp tempfile.mkstemp "
    "tempfile.NamedTemporaryFile"
)
_FIND = word_set("glob.glob glob.iglob")
_LIST = word_set("os.listdir os.scandir")
_ORDERED = word_set("list sorted reversed set tuple iter enumerate filter")
_FETCHES = (
    *("urlopen", "requests.get", "httpx.get", "requests.request", "urlretrieve", "requests.post"),
    *(".recv", "wget.download", "http.get"),
)
_CONSTANTS = {
    "os.sep": "/",
    "os.curdir": ".",
    "os.pardir": "..",
    "os.linesep": "\n",
    "sys.executable": "python3",
}


class Values:
    """The names of a Python text and what they may be."""

    __slots__ = ("charge", "choice", "cut", "functions", "left", "modules", "names", "taints", "uncertain")

    def __init__(self, charge: Callable[[int], None]) -> None:
        self.charge = charge
        self.left = _EVALUATIONS_PER_STEP
        self.modules: dict[str, str] = {}
        self.names: dict[str, list[Value]] = {}
        self.taints: dict[str, int] = {}
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = {}
        self.choice = 0
        self.cut: set[str] = set()
        self.uncertain = 0

    def count(self) -> None:
        """Count one evaluation; many are one step of the engine's budget."""
        self.left -= 1
        if not self.left:
            self.left = _EVALUATIONS_PER_STEP
            self.charge(1)

    # Names

    def assign(self, target: ast.AST, source: ast.AST | None) -> None:
        """Bind a name to an expression."""
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
            for index, element in enumerate(target.elts):
                self.assign(element, parts[index] if index < len(parts) else source)
            return
        if not isinstance(target, ast.Name):
            return
        if source is None:
            self.bind(target.id, [None])
            return
        self.taints[target.id] = self.taint(source) | (self.uncertain and self.taints.get(target.id, 0))
        value = self.value(source)
        if isinstance(source, ast.Lambda):
            self.functions[target.id] = source
        elif value is None and isinstance(source, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            dotted = self.dotted(source)
            if dotted:
                self.modules[target.id] = dotted
        self.bind(target.id, [value])

    def bind(self, name: str, values: list[Value]) -> None:
        """Set what a name may be; in a branch or loop, add to it."""
        if not self.uncertain:
            self.cut.discard(name)
        else:
            values = [*self.names.get(name, []), *values]
        if len(values) > 1:
            different: list[Value] = []
            for value in values:
                self.count()
                if value in different:
                    continue
                if len(different) == MAX_ALTERNATIVES:
                    self.cut.add(name)
                    break
                different.append(value)
            values = different
        self.names[name] = values

    def alternatives(self, node: ast.AST) -> int:
        """Return how many turns an expression needs until each of its names had each of its values."""
        turns = 1
        for inner in ast.walk(node):
            self.count()
            if isinstance(inner, ast.Name):
                turns = max(turns, len(self.names.get(inner.id, ())))
        return turns

    def is_cut(self, node: ast.AST) -> bool:
        """Return whether an expression uses a name that has more values than are looked at."""
        return bool(self.cut) and any(
            isinstance(inner, ast.Name) and inner.id in self.cut for inner in ast.walk(node)
        )

    def iterate(self, target: ast.AST, source: ast.AST) -> None:
        """Bind a loop's name to everything that it runs over."""
        if self.dotted(source) in ("os.walk()", "walk()") and isinstance(source, ast.Call):
            top = self.text(source.args[0]) if source.args else None
            if isinstance(target, ast.Tuple) and target.elts:
                parts: tuple[Value, ...] = (top, ["*"], ["*"])
                for element, part in zip(target.elts, parts, strict=False):
                    if isinstance(element, ast.Name):
                        self.bind(element.id, [part])
            return
        value = self.value(source)
        items: list[Value] = value if isinstance(value, list) else []
        if isinstance(value, dict):
            items = list(value.values()) if self.dotted(source).endswith(".values()") else list(value)
        if isinstance(target, ast.Tuple):
            self.assign(target, None)
            if items and self.dotted(source) == "enumerate()":
                target = target.elts[-1]
        if isinstance(target, ast.Name):
            self.bind(target.id, items or [None])
            self.taints[target.id] = 0 if self.dotted(source) == "os.environ" else self.taint(source)

    # Expressions

    def dotted(self, node: ast.AST) -> str:  # noqa: C901  one case for each form
        """Return the dotted name of what an expression refers to, through imports and aliases."""
        self.count()
        if isinstance(node, ast.Name):
            return self.modules.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self.dotted(node.value)[-200:]}.{node.attr}"
        if isinstance(node, ast.Await):
            return self.dotted(node.value)
        if isinstance(node, ast.Subscript):
            key = self.text(node.slice)
            holder = self.dotted(node.value).removesuffix(".__dict__")
            if holder in ("globals()", "vars()", "locals()", "sys.modules"):
                return key or ""
            if holder == "vars()" and isinstance(node.value, ast.Call) and node.value.args:
                return f"{self.dotted(node.value.args[0])}.{key}"
            return f"{holder}.{key}" if key else ""
        if isinstance(node, ast.Call):
            name = self.dotted(node.func)
            if name in ("__import__", "importlib.import_module", "builtins.__import__") and node.args:
                return self.text(node.args[0]) or ""
            if name in ("getattr", "builtins.getattr") and len(node.args) > 1:
                return f"{self.dotted(node.args[0])}.{self.text(node.args[1]) or ''}"
            if name == "vars" and node.args:
                return self.dotted(node.args[0])
            return name + "()"
        if isinstance(node, ast.NamedExpr):
            return self.dotted(node.value)
        return ""

    def text(self, node: ast.AST | None) -> str | None:
        """Return an expression's value if it is a text."""
        value = None if node is None else self.value(node)
        return value if isinstance(value, str) else None

    def value(self, node: ast.AST) -> Value:
        """Return an expression's value, or None."""
        self.count()
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        value: Value = method(node) if method is not None else None
        return None if isinstance(value, str) and len(value) > MAX_LENGTH else value

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bytes):
            return node.value.decode("utf-8", "replace")
        return node.value if isinstance(node.value, (str, int)) else None

    def _name(self, node: ast.Name) -> Value:
        if node.id == "__file__":
            return "script.py"
        values = self.names.get(node.id)
        if values:
            return values[min(self.choice, len(values) - 1)]
        return _CONSTANTS.get(self.modules.get(node.id, ""))

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr == "parent":
            path = self.text(node.value)
            return None if path is None else path.rstrip("/").rpartition("/")[0] or path[:1].strip("~") or "."
        if node.attr in ("name", "path"):
            return self.value(node.value)
        return _CONSTANTS.get(self.dotted(node))

    def _list(self, node: ast.List) -> Value:
        items: list[Value] = []
        if len(node.elts) > MAX_ITEMS:
            return None
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.value(element.value)
                items.extend(inner if isinstance(inner, list) else [None])
            else:
                items.append(self.value(element))
        return items

    _tuple = _set = _list  # each holds its elements in `elts`

    def _dict(self, node: ast.Dict) -> Value:
        if len(node.keys) > MAX_ITEMS:
            return None
        found: dict[str, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            name = None if key is None else self.value(key)
            if isinstance(name, (str, int)):
                found[str(name)] = self.value(value)
        return found

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        return -value if isinstance(value, int) and isinstance(node.op, ast.USub) else None

    def _ifexp(self, node: ast.IfExp) -> Value:
        first, second = self.value(node.body), self.value(node.orelse)
        return second if self.choice % 2 or first is None else first

    def _boolop(self, node: ast.BoolOp) -> Value:
        return next((v for v in map(self.value, node.values) if v is not None), None)

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        return self.value(node.value)

    def _await(self, node: ast.Await) -> Value:
        return self.value(node.value)

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Div) and isinstance(left, str):
            return joined(left, right if isinstance(right, str) else UNKNOWN)
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            return percent(left, right if isinstance(right, list) else [right])
        if isinstance(node.op, ast.Mult) and isinstance(left, str) and isinstance(right, int):
            return left * right if 0 <= right * len(left) <= MAX_LENGTH else None
        if not isinstance(node.op, ast.Add):
            return None
        if isinstance(left, list) and isinstance(right, list):
            self.charge((len(left) + len(right)) // _ITEMS_PER_STEP)
            return [*left, *right] if len(left) + len(right) <= MAX_ITEMS else None
        if isinstance(left, str) or isinstance(right, str):
            return (left if isinstance(left, str) else UNKNOWN) + (
                right if isinstance(right, str) else UNKNOWN
            )
        return None

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        pieces = [
            self.value(piece.value if isinstance(piece, ast.FormattedValue) else piece)
            for piece in node.values
        ]
        return "".join(spoken(piece) for piece in pieces)

    def _subscript(self, node: ast.Subscript) -> Value:
        if self.dotted(node.value) in ("os.environ", "environ", "os.environb"):
            return variable(self.text(node.slice))
        value = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = [
                self.value(b) if b is not None else None
                for b in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            start, stop, step = (b if isinstance(b, int) else None for b in bounds)
            if step == 0 or not isinstance(value, (str, list)):
                return None
            return value[start:stop:step]
        index = self.value(node.slice)
        if isinstance(value, dict):
            return value.get(str(index))
        if isinstance(value, (str, list)) and isinstance(index, int) and -len(value) <= index < len(value):
            return value[index]
        return None

    def _call(self, node: ast.Call) -> Value:  # noqa: C901, PLR0912  one case for each function that is understood
        name = self.dotted(node.func)
        values = [self.value(argument) for argument in node.args]
        first = values[0] if values else None
        if name in _SAME_PATH or name in _ORDERED:
            if not values:
                return "." if name.endswith("Path") else None
            if len(values) > 1 and name.endswith("Path"):
                return joined_all(values)
            return first
        if name in ("os.path.join", "posixpath.join"):
            return joined_all(values)
        if name in _HERE:
            return "."
        if name in _TEMPORARY:
            return TEMPORARY + "/made-here"
        if name.endswith("Path.home"):
            return HOME
        if name in ("os.getenv", "os.environ.get", "environ.get"):
            return variable(first if isinstance(first, str) else None)
        if name in _FIND:
            return [first] if isinstance(first, str) else None
        if name in _LIST:
            return ["*"]
        if name in ("os.path.dirname", "os.path.basename") and isinstance(first, str):
            head, _, tail = first.rpartition("/")
            return (head or ("/" if first.startswith("/") else ".")) if name.endswith("dirname") else tail
        if name == "chr" and isinstance(first, int):
            return chr(first) if 0 < first <= _LAST_CHARACTER else None
        if name == "shlex.split" and isinstance(first, str):
            return words(first)
        if name == "map" and len(values) > 1 and self.dotted(node.args[0]) in ("chr", "str"):
            items = values[1] if isinstance(values[1], list) else []
            return [
                chr(item) if isinstance(item, int) and 0 < item <= _LAST_CHARACTER else item for item in items
            ]
        if name == "bytes.fromhex" or name.endswith(("unhexlify", "b16decode")):
            return decoded(first, "hex")
        if name.endswith("b64decode"):
            return decoded(first, "base64")
        if name.endswith(("zlib.decompress", "gzip.decompress")):
            return None
        if name == "codecs.decode" and len(values) > 1:
            return decoded(first, values[1])
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, values)
        return None

    def _method(self, node: ast.Call, function: ast.Attribute, values: list[Value]) -> Value:  # noqa: C901  one case for each method that is understood
        method = function.attr
        value = self.value(function.value)
        first = values[0] if values else None
        if method in ("glob", "rglob") and isinstance(value, str) and isinstance(first, str):
            return [joined(value, first)]
        if method == "iterdir" and isinstance(value, str):
            return [joined(value, "*")]
        if method == "joinpath" and isinstance(value, str):
            return joined_all([value, *values])
        if method in _SAME_TEXT or (method in ("values", "items", "keys") and isinstance(value, dict)):
            return value
        if method == "get" and isinstance(value, dict):
            return value.get(str(first))
        if method == "join" and isinstance(value, str) and isinstance(first, list):
            return value.join(spoken(item) for item in first)
        if not isinstance(value, str):
            return None
        if method == "split" and (first is None or isinstance(first, str)) and first != "":
            return few(value.split(first))
        if method == "format":
            keywords = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
            return formatted(value, values, keywords)
        if method == "replace" and len(values) > 1 and isinstance(first, str) and isinstance(values[1], str):
            grown = len(value) + value.count(first) * len(values[1])
            return value.replace(first, values[1]) if grown <= MAX_LENGTH else None
        if method in ("lower", "upper", "title", "swapcase", "casefold"):
            changed: str = getattr(value, method)()
            return changed
        return None

    # Taints

    def taint(self, node: ast.AST) -> int:  # noqa: C901  one case for each form
        """Return whether an expression holds credentials, or content from the network."""
        from haltline.shell.detectors.credentials import is_credential  # noqa: PLC0415  loaded only where it is needed

        found = 0
        narrowed: set[int] = set()
        for inner in ast.walk(node):
            self.count()
            if isinstance(inner, ast.Name):
                found |= self.taints.get(inner.id, 0)
            if isinstance(inner, ast.Subscript) or (
                isinstance(inner, ast.Attribute) and inner.attr in ("get", "setdefault", "pop", "update")
            ):
                narrowed.add(id(inner.value))
            if isinstance(inner, ast.comprehension):  # running over it yields the names alone
                narrowed.add(id(inner.iter))
            if isinstance(inner, ast.Compare):
                narrowed.update(id(side) for side in inner.comparators)
            if isinstance(inner, (ast.Attribute, ast.Name)) and id(inner) not in narrowed:
                if self.dotted(inner) in ("os.environ", "os.environb"):
                    found |= SECRET
            elif isinstance(inner, ast.Call):
                name = self.dotted(inner.func)
                if name.endswith(_FETCHES):
                    found |= NETWORK
                elif name.endswith(("open", ".read_text", ".read_bytes", "dotenv_values")):
                    path = self.text(inner.args[0]) if inner.args else None
                    if path is None and isinstance(inner.func, ast.Attribute):
                        path = self.text(inner.func.value)
                    if path is not None and is_credential(path):
                        found |= SECRET
        return found
