"""Python text as a syntax tree, Python 2 included."""

from __future__ import annotations

import ast
import re
import warnings

from haltline.shell.marks import HOME

_PRINT = re.compile(r"^([ \t]*)(print|exec)[ \t]+(?![=(.,])(?:>>[^,\n]+,)?([^\n;#]+)", re.MULTILINE)
_PRINT_LATER = re.compile(r"([;:][ \t]*)(print|exec)[ \t]+(?![=(.,])([^\n;#]+)")
_EXCEPT = re.compile(r"(except[ \t]+[\w., ()]+?)[ \t]*,[ \t]*(\w+)[ \t]*:")


def parsed(code: str) -> ast.Module | None:
    """Return the syntax tree; Python 2 is brought to Python 3 where that is a matter of spelling."""
    code = code.replace("\0", "_").replace(HOME, "~")
    tree = _parse(code)
    if tree is not None:
        return tree
    newer = _PRINT.sub(r"\1\2(\3)", code)
    newer = _EXCEPT.sub(r"\1 as \2:", _PRINT_LATER.sub(r"\1\2(\3)", newer))
    return _parse(newer) if newer != code else None


def _parse(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
