"""Measure how fast secrets are found: `python bench/secret_scan.py`.

Prints medians for tool calls, throughput for large texts, the slowest hostile text and its growth, and the
cost of importing. Processor time, so that other work on the machine counts less.
"""

from __future__ import annotations

import base64
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from haltline.secrets import scan
from haltline.secrets.formats import FORMATS
from haltline.secrets.keynames import FRAGMENTS
from haltline.secrets.validators import base62_checksum

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 100_000
RANDOM = random.Random(7)  # noqa: S311 - texts for measuring need no secrecy
LIBRARY = Path(random.__file__).parent
CODE = "".join(path.read_text(encoding="utf-8") for path in sorted(LIBRARY.glob("*.py"))[:12])[:SIZE]
BASE64 = base64.b64encode(RANDOM.randbytes(SIZE * 3 // 4)).decode()
ENTROPY = "".join(
    RANDOM.choice("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") for _ in range(30)
)
TOKEN = f"ghp_{ENTROPY}{base62_checksum(ENTROPY)}"
CALL = {
    "name": "write_file",
    "arguments": {"path": "src/app/main.py", "content": CODE[2_000:2_420], "mode": "w"},
}
HIT = {
    "name": "fetch",
    "arguments": {"url": "https://api.internal/v1", "header": TOKEN, "body": CODE[2_000:2_380]},
}


def seconds(work: Callable[[], object], repeat: int) -> float:
    """Return the median processor time of some work."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


def many(value: object, count: int = 200) -> Callable[[], object]:
    """Return work that scans a value many times, for clocks that are too coarse for one."""
    return lambda: [scan(value) for _ in range(count)]


def hostile() -> tuple[float, float, str]:
    """Return the time of the slowest hostile text, how it grew from half its size, and its piece."""
    pieces = {literal for form in FORMATS for literal in form.literals} | {f"{name}=" for name in FRAGMENTS}
    slowest = (0.0, 0.0, "")
    for piece in sorted(pieces):
        whole = seconds(lambda piece=piece: scan(piece * (SIZE // len(piece))), 1)  # type: ignore[misc]
        if whole > slowest[0]:
            half = seconds(lambda piece=piece: scan(piece * (SIZE // 2 // len(piece))), 3)  # type: ignore[misc]
            slowest = (whole, whole / max(half, 1e-9), piece)
    return slowest


def import_seconds(module: str) -> float:
    """Return what importing a module adds to starting Python."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(7)]
    return min(float(run.stdout) for run in runs)


def main() -> None:
    """Print all figures."""
    scan(CODE)
    print(f"clean tool call of 500 bytes  {seconds(many(CALL), 15) / 200 * 1e6:8.1f} µs")
    print(f"clean text of 500 bytes       {seconds(many(CODE[4_000:4_500]), 15) / 200 * 1e6:8.1f} µs")
    print(f"tool call with a token        {seconds(many(HIT), 15) / 200 * 1e6:8.1f} µs")
    print(f"100 KB of code                {SIZE / seconds(lambda: scan(CODE), 9) / 1e6:8.1f} MB/s")
    print(f"100 KB of base64              {SIZE / seconds(lambda: scan(BASE64), 9) / 1e6:8.1f} MB/s")
    slowest, growth, piece = hostile()
    print(f"slowest hostile 100 KB        {slowest * 1e3:8.1f} ms  ({piece!r}; {growth:.1f} x half the size)")
    print(f"import haltline.secrets       {import_seconds('haltline.secrets') * 1e3:8.1f} ms")
    print(f"import of the scanner         {import_seconds('haltline.secrets.scanner') * 1e3:8.1f} ms")


if __name__ == "__main__":
    main()
