"""Measure `haltline.shell`: a warm `classify`, hostile text, and the cost of the import.

    python bench/shell.py [FILE.jsonl]

FILE holds one object with a `command` on each line; without it the examples of the built-in rules are used.
Times are the best of several runs, because other work on the machine only ever adds.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from haltline.shell import classify
from haltline.shell.book import built_in
from haltline.shell.scanner import MAX_LENGTH

RUNS = 7
LONG = 100_000
SLOWEST = 5

# What is repeated until the text is long enough, between what stands before and after it.
HOSTILE = {
    "arithmetic": ("", "$((", ""),
    "arithmetic commands": ("", "((", ""),
    "subshells": ("", "( ", ""),
    "substitutions in quotes": ("", '"$(', ""),
    "quotes side by side": ("", "''a", ""),
    "quotes in quotes": ("", "\"'", ""),
    "escaped quotes": ("", "\\\"'", ""),
    "parameters in parameters": ("", "${a:-", ""),
    "backquotes": ("", "`", ""),
    "pairs of backquotes": ("", "`a`", ""),
    "process substitutions": ("", "<(", ""),
    "here-documents on a line": ("", "<<A ", ""),
    "here-documents": ("", "cat <<A\nx\nA\n", ""),
    "one here-document": ("bash <<A\n", "rm -rf /; ", "\nA\n"),
    "commands": ("", "a;", ""),
    "deletions": ("", "rm -rf /;", ""),
    "lines": ("", "rm a\n", ""),
    "pipes": ("", "cat a | grep b | ", "sh"),
    "quoted pipes": ("", "ls 'a' | ", "sh"),
    "redirections": ("", ">a ", ""),
    "dollar signs": ("", "$", ""),
    "assignments": ("", "x=1\n", "$x"),
    "growing variables": ("", "x=$x$x;", ""),
    "patterns": ("", "*a", ""),
    "brace choices": ("", "{a,b}", ""),
    "brace nests": ("", "{a,", ""),
    "groups": ("", "{ ", ""),
    "loops": ("", "for i in a b; do echo $i; done\n", ""),
    "conditions": ("", "if a; then ", ""),
    "case nests": ("", "case x in a) ", ""),
    "cases": ("", "case x in a) b;; esac;", ""),
    "functions": ("", "f(){ a; };f;", ""),
    "tests": ("", "[[ a ", ""),
    "arrays": ("", "a=(", ""),
    "wrappers": ("", "sudo ", ""),
    "evaluations": ("", "eval ", ""),
    "shells": ("", "sh -c 'a';", ""),
    "aliases": ("", "alias a='b';", ""),
    "traps": ("", "trap 'a' 0;", ""),
    "finds": ("", "find . -exec ", ""),
    "continued lines": ("", "\\\n", ""),
    "blanks": ("ls", " ", "'"),
    "one path": ("rm -rf ", "/a/..", ""),
    "one word": ("rm ", "a", ""),
    "invisible characters": ("", "\u200b", ""),
    "Base64": ("echo ", "cm0g", " | base64 -d | sh"),
    "PowerShell": ('powershell -c "', "Remove-Item x;", '"'),
    "PowerShell blocks": ('powershell -c "', "{", '"'),
    "PowerShell evaluations": ("", "iex ", ""),
    "encoded PowerShell": ("", "powershell -enc AAAA;", ""),
    "Python": ("python -c '", 'import os;os.system("a");', "'"),
    "Python brackets": ("python -c '", "(", "'"),
    "Python lists": ("python -c '", "[1,", "'"),
    "Python sums": ("python -c '", "1+", "1'"),
    "Python names": ("python -c '", "x=x+x;", "'"),
    "JavaScript": ("node -e '", "fs.rmSync(x);", "'"),
    "JavaScript templates": ("node -e '", "`${", "'"),
    "SQL": ('psql -c "', "DROP TABLE x;", '"'),
    "SQL brackets": ('psql -c "', "(", '"'),
    "SQL comments": ('psql -c "', "/*", '"'),
    "Perl": ("perl -e '", 'system("a");', "'"),
    "Ruby backquotes": ("ruby -e '", "`a`;", "'"),
    "JavaScript escapes": ("node -e '", '"\\', "'"),
    "JavaScript calls": ("node -e '", "rm(", "'"),
    "JavaScript processes": ("node -e '", "exec(", "'"),
    "JavaScript patterns": ("node -e '", "(/[", "'"),
    "JavaScript strings": ("node -e '", '"', "'"),
    "Perl strings": ("perl -e '", '"a",', "'"),
    "Ruby interpolations": ("ruby -e '", '"#{', "'"),
    "PHP calls": ("php -r '", "exec(", "'"),
    "Lua sums": ("lua -e '", 'x="a"..', "'"),
    "Python loops": ("python -c '", "[x for x in ", "'"),
    "Python statements": ("python -c '", "a=b;", "'"),
    "SQL conditions": ("psql -c 'delete from a where ", "(", "'"),
    "SQL choices": ("psql -c 'delete from a where b", " or b", "'"),
    "SQL alterations": ("psql -c 'alter table a ", "delete ", "'"),
    "SQL deletions": ("mysql -e '", "DELETE FROM a;", "'"),
    "MySQL brackets": ("mysql -e 'drop ", "[a", "'"),
    "SQL comments that run": ("mysql -e 'drop ", "/*!", "'"),
    "sed lines": ("sed '", "\n", "'"),
    "AWK escapes": ("awk 'system ", '\\"', "'"),
    "AWK pipes": ("awk '", 'print|"a"|', "'"),
    "AWK": ("awk '", 'system("a");', "'"),
}


def best(command: str, runs: int = RUNS) -> float:
    """Return the shortest time of a warm classify, in seconds."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        classify(command)
        times.append(time.perf_counter() - started)
    return min(times)


def hostile(length: int) -> list[tuple[float, str]]:
    """Return the time of each kind of hostile text of about a length, in seconds, the slowest first."""
    times = []
    for kind, (before, piece, after) in HOSTILE.items():
        text = before + piece * ((length - len(before) - len(after)) // len(piece)) + after
        times.append((best(text, 3), kind))
    return sorted(times, reverse=True)


def import_cost(statement: str) -> float:
    """Return what a statement adds to the start of Python, in milliseconds, with the bytecode at hand."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-c", code]
        runs = [
            float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
            for _ in range(RUNS + 1)  # the first writes the bytecode
        ]
    return min(runs) * 1e3


def commands() -> list[str]:
    """Return the commands to measure."""
    if len(sys.argv) > 1:
        lines = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["command"] for line in lines]
    rules = built_in().rules.values()
    return [command for rule in rules for group in rule.examples.values() for command in group]


def main() -> None:
    """Print the figures."""
    texts = commands()
    times = sorted(best(text) for text in texts)
    print(f"classify over {len(texts)} commands")
    print(f"  median           {statistics.median(times) * 1e6:8.1f} µs")
    print(f"  95th percentile  {times[int(len(times) * 0.95)] * 1e6:8.1f} µs")
    for length in (MAX_LENGTH, LONG):
        print(f"{length} characters of hostile text, the slowest of {len(HOSTILE)} kinds")
        for seconds, kind in hostile(length)[:SLOWEST]:
            print(f"  {kind:24} {seconds * 1e3:8.1f} ms")
    for statement in ("import re", "import haltline.shell", "from haltline.shell import classify"):
        print(f"{statement}\n  once             {import_cost(statement):8.1f} ms")


if __name__ == "__main__":
    main()
