from __future__ import annotations

from pathlib import Path

from haltline.secrets import scan

ROOT = Path(__file__).parents[3]


def test_nothing_in_the_repository_looks_like_a_live_secret() -> None:
    files = [
        path
        for folder in ("src", "tests", "docs", "bench", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".json", ".yaml", ".toml", ".sql", ".html", ".js", ".css"}
    ]
    assert files
    blocking = {
        str(path.relative_to(ROOT)): found
        for path in files
        for found in scan(path.read_text(encoding="utf-8"))
        if found.blocks
    }
    assert blocking == {}
