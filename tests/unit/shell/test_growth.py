"""Work grows with the length of a text, whatever it holds, and what is too much is asked about.

Work is counted, never timed: characters that the scanner looks at, and calls of functions, of Python's and of
C's, that the whole analysis makes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fuzz.laws import MAX_CALLS

from haltline.shell import classify
from haltline.shell.scanner import MAX_LENGTH, scan

ROOT = Path(__file__).parents[3]

HOSTILE = {
    "arithmetic": "$((",
    "arithmetic and word": "$((a) ",
    "arithmetic brackets": "$[",
    "arithmetic subscripts": "((a[",
    "substitutions": "$(",
    "double quotes": '"$(',
    "quoted words": '"a" ',
    "backquotes": "`",
    "escaped backquotes": "\\`",
    "backslashes": "\\",
    "parentheses": "((",
    "subshells": "( ",
    "groups": "{ ",
    "defaults": "${a:-",
    "quoted defaults": '"${a:-',
    "removals": "${a##*",
    "escapes": "\\a",
    "quotes": "''a",
    "ANSI-C quotes": "$'\\x41'",
    "open ANSI-C quotes": "$'\\",
    "empty quotes": '""',
    "here-documents": "<<A ",
    "here-document lines": "<<A\n",
    "tabbed here-documents": "<<-'A'\n\t",
    "patterns": "a@(b)",
    "open patterns": "a@(",
    "pattern substitutions": "@($(a)",
    "arrays": "a=(b ",
    "subscripts": "a[",
    "subscript substitutions": "a[$(",
    "cases": "case a in b) ",
    "open cases": "case x in (",
    "conditions": "if a; then ",
    "loops": "while a; do ",
    "iterations": "for a in b; do ",
    "commands": "a;",
    "pipes": "a|",
    "both": "a&&",
    "branch ends": ";;",
    "background": "&",
    "functions": "f(){ ",
    "tests": "[[ a ",
    "open tests": "[[ (",
    "redirections": "2>&1 ",
    "process substitutions": "<(",
    "assignments": "a=b ",
    "doublings": "a=$a$a;",
    "appendings": "a+=$a;",
    "comments": "#a\n",
    "dollars": "$",
    "single": "'",
    "newlines": "\n",
    "continuations": "\\\n",
    "time": "time ",
    "negations": "! ",
    "globs": "*a",
    "names by pattern": "/bin/*?a;",
    "brace expansions": "{a,b}",
    "open brace expansions": "{a,",
    "ranges": "{1..99}",
    "calls": "f(){ g;};f;",
    "self calls": "f(){ f a$1;f b;};f;",
    "aliases": "alias a='b b';a;",
    "evals": "eval ",
    "evals of quotes": 'eval "a";',
    "shells": "sh -c ",
    "wrappers": "sudo ",
    "more wrappers": "env A=b nice timeout 1 ",
    "xargs": "a|xargs ",
    "words": "abc ",
    "options": "-a --b=c ",
    "NULs": "\0",
    "surrogates": "\ud800",
    "invisible characters": "a\u200b",
    "directions": "\u202e",
    "wide letters": "\uff52",
    "printf": "$(printf %s a)",
    "conditions on values": "a=b;a=c||a=d;$a;",
    "positional": "set -- $@ a;",
    "directories": "cd ..;",
    "SQL": "psql -c 'drop table a;';",
    "Python": "python -c 'a(';",
    "JavaScript": "node -e '`${';",
    "PowerShell": "powershell -c 'a;(';",
    "awk": "awk 'BEGIN{system(\"';",
    "find": "find . -exec a {} \\; ",
    "tests of files": "[ -f a ] || ",
}


class Counting(str):
    """A text that counts how many characters are looked at."""

    __slots__ = ()
    looked = 0

    def startswith(self, *arguments: Any) -> bool:
        Counting.looked += 1
        return super().startswith(*arguments)

    def __getitem__(self, index: Any) -> str:
        Counting.looked += 1 if isinstance(index, int) else len(range(*index.indices(len(self))))
        return super().__getitem__(index)


def looked_at(text: str) -> int:
    Counting.looked = 0
    scan(Counting(text))
    return Counting.looked


def counted(
    function: str, texts: list[str], *, script: str | None = None, events: tuple[str, ...] = ("call",)
) -> list[int]:
    """Return how many calls each text takes, counted in a process of its own."""
    given = json.dumps({"function": function, "texts": texts, "script": script, "events": events})
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.counting"],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=120,
    )
    counts: list[int] = json.loads(done.stdout)
    return counts


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_scanner_looks_at_each_character_a_bounded_number_of_times(piece: str) -> None:
    small, large = 400, 3200
    short = looked_at(piece * (small // len(piece)))
    long = looked_at(piece * (large // len(piece)))

    assert long <= 3 * (large // small) * max(short, small // 4)


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_analysis_takes_twice_the_work_for_twice_the_text(piece: str) -> None:
    texts = [piece * (length // len(piece)) for length in (2000, 4000, 8000)]
    counts = counted("analyze", texts, events=("call", "c_call"))

    for half, whole in pairwise(counts):
        assert whole <= 2.6 * max(half, 2000), counts


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_longest_text_takes_bounded_work(piece: str) -> None:
    assert counted("classify", [piece * (MAX_LENGTH // len(piece))])[0] <= MAX_CALLS


@pytest.mark.parametrize(
    "text",
    [
        "a" * (MAX_LENGTH + 1),
        *("(" * 200, "$(" * 200, "{ " * 200, '"$(' * 200, "if " * 200, "`" * 3001, "f() " * 3000),
        *("a;" * 5000, "sudo " * 60 + "a", "a " * 3000, "eval " * 60 + "a", "a=bb;" + "a=$a$a;" * 20),
        *("a=bb;" + "a+=$a;" * 20, "a=b;" + "a=${a//b/bb};" * 20, "echo " + "{a,b}" * 12),
    ],
)
def test_what_is_too_long_deep_or_involved_is_asked_about(text: str) -> None:
    verdict = classify(text)

    assert verdict is not None
    assert verdict[0] == "ask"


@pytest.mark.parametrize("rest", ["; " + "( " * 200, "\n" + "a;" * 5000, "; " + "sudo " * 60 + "a"])
def test_what_is_denied_before_a_limit_stays_denied(rest: str) -> None:
    verdict = classify("rm -rf /" + rest)

    assert verdict is not None
    assert verdict[0] == "deny"


def test_a_script_that_runs_itself_ends() -> None:
    script = './x "$@" a; sh x b; . ./x'
    assert counted("analyze", ["./x"], script=script)[0] <= MAX_CALLS


@pytest.mark.parametrize(
    "text",
    [
        'f() { [ "$1" ] && "$@" || f rm -rf /; }; f',
        'f() { case $# in 0) f rm;; 1) f "$1" -rf;; 2) "$@" /;; esac; }; f',
    ],
)
def test_a_function_that_calls_itself_is_followed_to_what_it_runs(text: str) -> None:
    verdict = classify(text)

    assert verdict is not None
    assert verdict[0] == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf {" + "a," * 300 + "/}",
        "rm -rf {" + "a$x," * 300 + "/}",
        "{rm,-rf,/," + "a" * 2000 + "}",
        "x='" + "a " * 300 + "/'; rm -rf $x",
        'y=; eval "$y' + " " * 20_000 + 'rm -rf /"',
        "x='" + " " * 20_000 + "rm -rf /'; eval $x",
        "for i in " + "a " * 300 + "/; do rm -rf $i; done",
    ],
)
def test_padding_hides_nothing(text: str) -> None:
    assert classify(text) is not None


def test_a_script_that_flows_into_itself_again_and_again_is_judged_once() -> None:
    calls = counted("analyze", ["sh < x"], script="sh < x; sh < x; sh < x\n")[0]

    assert calls <= MAX_CALLS // 100
