"""The second opinion on SQL: `sqlglot`, when it is installed, asked about one short statement at a time.

It is loaded at the first question. What it cannot parse, or is too long for it, yields nothing: the words
have already been judged (`haltline.shell.inline.sql`).
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

MAX_LENGTH = 2048  # measured: a statement of this length takes about 10 ms, and time grows with length

_unset = object()
_module: Any = _unset
_parsing: set[int] = set()


class _Quiet(logging.Filter):
    """Keeps the parser's remarks, which hold the statement, out of every log."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread not in _parsing


def load() -> ModuleType | None:
    """Return `sqlglot`, or None where it is not installed."""
    global _module  # noqa: PLW0603  loaded once
    if _module is _unset:
        try:
            import sqlglot  # noqa: PLC0415  loaded only where it is needed
        except ImportError:
            _module = None
        else:
            logging.getLogger("sqlglot").addFilter(_Quiet())
            _module = sqlglot
    found: ModuleType | None = _module
    return found


def forget() -> None:
    """Look for `sqlglot` anew at the next question."""
    global _module  # noqa: PLW0603  loaded once
    _module = _unset


def findings(text: str, dialect: str | None) -> list[tuple[str, list[str]]]:
    """Return what a statement would lose, as rule names with the tables; nothing where it has no answer."""
    if len(text) > MAX_LENGTH:
        return []
    sqlglot = load()
    if sqlglot is None:
        return []
    me = threading.get_ident()
    _parsing.add(me)
    try:
        trees = sqlglot.parse(text, read=dialect)
        return [found for tree in trees if tree is not None for found in _lost(sqlglot, tree, dialect)]
    except Exception:  # noqa: BLE001  a third party's parser on hostile text: the words are judged without it
        return []
    finally:
        _parsing.discard(me)


def _lost(sqlglot: ModuleType, tree: Any, dialect: str | None) -> list[tuple[str, list[str]]]:
    expressions = sqlglot.exp
    result: list[tuple[str, list[str]]] = []
    kinds = (expressions.Delete, expressions.Update, expressions.Drop, expressions.TruncateTable)
    for node in tree.find_all(*kinds):
        if isinstance(node, (expressions.Delete, expressions.Update)):
            where = node.args.get("where")
            if where is not None and not _always(expressions, where.this):
                continue
            if where is None and (node.args.get("limit") or node.find(expressions.Join)):
                continue
            name = "delete-all" if isinstance(node, expressions.Delete) else "update-all"
            result.append((name, _tables(expressions, node.args.get("this"), dialect)))
        elif isinstance(node, expressions.Drop):
            if not node.args.get("temporary"):
                inside = node.find_ancestor(expressions.Alter) is not None
                result.append(("alter-drop" if inside else "drop", _tables(expressions, node, dialect)))
        elif isinstance(node, expressions.TruncateTable):
            result.append(("truncate", _tables(expressions, node, dialect)))
    return result


def _tables(expressions: Any, node: Any, dialect: str | None) -> list[str]:
    return (
        [] if node is None else [table.sql(dialect=dialect) for table in node.find_all(expressions.Table)][:8]
    )


def _always(expressions: Any, condition: Any) -> bool:
    """Return whether a condition holds for every row, by the parser's own simplification."""
    from sqlglot.optimizer.simplify import simplify  # noqa: PLC0415  loaded only where it is needed

    if _is_true(expressions, condition):
        return True
    return _is_true(expressions, simplify(condition.copy()))


def _is_true(expressions: Any, node: Any) -> bool:
    node = node.unnest()
    if isinstance(node, expressions.Or):
        return _is_true(expressions, node.left) or _is_true(expressions, node.right)
    if isinstance(node, expressions.And):
        return _is_true(expressions, node.left) and _is_true(expressions, node.right)
    if isinstance(node, (expressions.EQ, expressions.GTE, expressions.LTE)):
        return bool(node.left == node.right)
    if isinstance(node, expressions.Literal):
        return not node.is_string and str(node.this).strip("0.") != ""
    return isinstance(node, expressions.Boolean) and bool(node.this)
