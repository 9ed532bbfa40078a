"""Programs of `sed` and `awk` that only read: what is not on the list may write or run something.

Sources: the manual of GNU sed, "sed scripts"; the manual of gawk, "I/O", "Functions" and "Redirection".
"""

from __future__ import annotations

import re

from haltline.shell.vocabulary import word_set

_Options = list[tuple[str, str | None]]

_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n\[]|\\.|\[[^\]/\\\n]*\])*/[IM]*)"
_SED_COMMAND = re.compile(
    rf"[\s;{{}}]*(?:{_ADDRESS}(?:,[ ]*(?:{_ADDRESS}|[+~]\d+))?)?[ ]*!?[ ]*"
    r"(?:(?P<plain>[pPdDnNhHgGx=lzF]|[qQ] ?\d*|[btT] ?\w*|:\w+)[ ]*(?=[;}\n]|\Z)|\{"
    r"|(?P<text>[aic])[ \\][^\n\\]*(?=\n|\Z)"
    r"|(?P<change>[sy])(?P<mark>[^\w\s\\;{}\[\]*.^$+?()]))|[\s;{}]+\Z"
)
_SED_FLAGS = re.compile(r"[gpiImM0-9]*[ ]*(?=[;}\n]|\Z)")

# What may stand before a bracket in a program of awk: its own words, and functions that only compute.
_AWK_CALLS = word_set(
    "if while for in print printf return case switch and or not length substr index split sub gsub gensub "
    "match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper strftime systime mktime "
    "patsplit strtonum compl lshift rshift xor typeof isarray delete else do exit"
)
_AWK_CALLED = re.compile(r"(?<!\w)([A-Za-z_]\w*+)\s*+\(")
_AWK_REFUSED = re.compile(r"[>@]|(?<!\|)\|(?:\|\|)*(?!\|)|\bgetline\b|\bfunction\b|\bfunc\b|\\[\r\n]")


def awk_reads(words: list[str], options: _Options) -> bool:
    """Return whether a program of awk only reads, and prints."""
    given = [value for name, value in options if name in ("-e", "--source") and value is not None]
    return all(_awk(program) for program in given or words[:1]) and bool(given or words)


def _awk(program: str) -> bool:
    if _AWK_REFUSED.search(program) is not None:
        return False
    return all(match[1] in _AWK_CALLS for match in _AWK_CALLED.finditer(program))


def sed_reads(words: list[str], options: _Options) -> bool:
    """Return whether every script of a `sed` command only prints what it makes of its input."""
    given = [value for name, value in options if name in ("-e", "--expression") and value is not None]
    scripts = given or words[:1]
    return bool(scripts) and all(map(_sed, scripts))


def _sed(script: str) -> bool:
    at = 0
    while at < len(script):
        match = _SED_COMMAND.match(script, at)
        if match is None or match.end() == at:
            return False
        at = match.end()
        if match["change"]:
            for _ in range(2):
                at = _after(script, at, match["mark"])
                if at < 0:
                    return False
            flags = _SED_FLAGS.match(script, at)
            if flags is None:
                return False
            at = flags.end()
    return True


def _after(script: str, at: int, mark: str) -> int:
    """Return where the text goes on after the next mark that is not escaped; -1 where that is not certain.

    Implementations differ in whether a mark ends a pattern in brackets, and after a line break.
    """
    start = at
    while at < len(script) and script[at] != mark:
        at += 2 if script[at] == "\\" else 1
    part = script[start:at]
    if at >= len(script) or "\n" in part or part.rfind("[") > part.rfind("]"):
        return -1
    return at + 1
