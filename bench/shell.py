"""Measure `haltline.shell`: a warm `classify`, hostile text, and the cost of the import.

    python bench/shell.py [FILE.jsonl]

FILE holds one object with a `command` on each line; without it the examples of the built-in rules are used.
Times are the best of several runs, because other work on the machine only ever adds.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

from haltline.shell import classify
from haltline.shell.book import built_in
from haltline.shell.scanner import MAX_LENGTH

RUNS = 7
HOSTILE = ["$((", '"$(', "((", "<<A ", "a;", "''a", "{a,b}", "eval ", "x=$x$x;", "`", "*a"]


def best(command: str) -> float:
    """Return the shortest time of a warm classify, in seconds."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        classify(command)
        times.append(time.perf_counter() - started)
    return min(times)


def import_cost(statement: str) -> float:
    """Return what a statement adds to the start of Python, in milliseconds."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(RUNS)
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
    worst = max((best(piece * (MAX_LENGTH // len(piece))), piece) for piece in HOSTILE)
    print(f"64 KiB of hostile text, the slowest of {len(HOSTILE)} kinds ({worst[1]!r})")
    print(f"  once             {worst[0] * 1e3:8.1f} ms")
    for statement in ("import haltline.shell", "from haltline.shell import classify"):
        print(f"{statement}\n  once             {import_cost(statement):8.1f} ms")


if __name__ == "__main__":
    main()
