"""Shell text to syntax tree in one pass, in time that grows with the length of the text.

The grammar is Bash's, as its manual gives it (sections "Shell Syntax" and "Shell Commands"). The scanner
never refuses: `scan` returns what it has read until the text ended or stopped making sense, and says what was
wrong, so that a command before the error is still judged.

`lists` reads lists and simple commands, `compounds` what begins with a reserved word, `redirections` those
and here-documents, `words` one word, `expansions` what stands in quotes or after `$`, `ansi` the escapes of
`$'…'`; `cursor` is what they share.
"""

from __future__ import annotations

from haltline.shell.scanner.ansi import ansi_c
from haltline.shell.scanner.cursor import MAX_COMMANDS, MAX_DEPTH, MAX_LENGTH, Incomplete, LimitReached, Scan
from haltline.shell.scanner.lists import Scanner

__all__ = ["MAX_COMMANDS", "MAX_DEPTH", "MAX_LENGTH", "Incomplete", "LimitReached", "Scan", "ansi_c", "scan"]


def scan(text: str, base: int = 0) -> Scan:
    """Return the syntax tree of a shell text; offsets in it count from `base`."""
    result = Scan()
    if len(text) > MAX_LENGTH:
        result.limit = f"longer than {MAX_LENGTH} characters"
        return result
    scanner = Scanner(text, base, result)
    try:
        scanner.script(result.script, 0, 0)
    except Incomplete as problem:
        result.error = result.error or str(problem)
    except LimitReached as problem:
        result.limit = str(problem)
    except RecursionError:
        result.limit = "nested deeper than the interpreter's stack"
    return result
