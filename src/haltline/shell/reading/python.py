"""Python in an option that only reads: every part of its syntax tree is on a list.

Nothing is imported but `sys`: `import json` runs the `json.py` of the working directory, if there is one
(Python documentation, "The initialization of the sys.path module search path").
"""

from __future__ import annotations

import ast
import builtins
from typing import TypeGuard

from haltline.shell.vocabulary import word_set

MAX_CODE = 4096
_PLAIN = (
    ast.Module, ast.Expr, ast.Assign, ast.Name, ast.Load, ast.Store, ast.Constant, ast.List, ast.Tuple,
    ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
    ast.Subscript, ast.Slice, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop, ast.BoolOp, ast.boolop,
    ast.Compare, ast.cmpop, ast.IfExp, ast.If, ast.For, ast.With,
    ast.withitem, ast.JoinedStr, ast.FormattedValue, ast.keyword, ast.Pass, ast.alias,
)  # fmt: skip
_FUNCTIONS = word_set(
    "print len open sorted reversed sum min max abs round str int float bool repr list dict set tuple "
    "range enumerate zip any all ord chr hex bin"
)
_METHODS = word_set(
    "read readline readlines split rsplit splitlines strip lstrip rstrip lower upper title startswith "
    "endswith join count find index get items keys values append add isdigit isalpha encode decode "
    "zfill ljust rjust"
)
_OPENED_WITH = word_set("encoding errors newline buffering")
_READING = frozenset({"r", "rb", "rt"})


def python_reads(options: list[tuple[str, str | None]]) -> bool:
    """Return whether the code that Python is given only reads and prints."""
    code = dict(options).get("-c")
    if code is None or len(code) > MAX_CODE:
        return False
    try:
        tree = ast.parse(code)
        return all(map(_reads, ast.walk(tree)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _reads(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return all(alias.name == "sys" and alias.asname is None for alias in node.names)
    if isinstance(node, ast.Attribute):
        return node.attr in _METHODS or (_is_name(node.value, "sys") and node.attr in ("stdin", "argv"))
    if isinstance(node, ast.Name):
        if node.id in _FUNCTIONS:
            return isinstance(node.ctx, ast.Load)
        return node.id[:1] != "_" and not hasattr(builtins, node.id)  # `sorted(texts, key=exec)`
    if not isinstance(node, ast.Call):
        return isinstance(node, _PLAIN)
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in _METHODS
    if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS:
        return False
    return node.func.id != "open" or _opens_to_read(node)


def _is_name(node: ast.expr, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name


def _opens_to_read(call: ast.Call) -> bool:
    """Return whether a file is opened in a mode that is written there, and only reads."""
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    if any(isinstance(argument, ast.Starred) for argument in call.args) or len(call.args) > 2:  # noqa: PLR2004  a path and a mode
        return False
    if any(keyword.arg != "mode" and keyword.arg not in _OPENED_WITH for keyword in call.keywords):
        return False
    return all(isinstance(mode, ast.Constant) and mode.value in _READING for mode in modes)
