"""Every Python snippet of the documentation runs as it stands."""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from haltline import Settings

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SNIPPETS = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}:{number}")
    for page in PAGES
    for number, code in enumerate(FENCE.findall(page.read_text(encoding="utf-8")), start=1)
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_the_snippet_runs(code: str, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "snippet.py"
    script.write_text(code, encoding="utf-8")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "HALTLINE_DATABASE": f"sqlite:///{tmp_path}/default.db",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: pathlib.Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


def test_the_settings_of_the_documentation_are_the_settings() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    values = yaml.safe_load(re.search(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1])  # type: ignore[index]
    assert Settings.from_mapping(values) == Settings()
    assert set(values) == {field.name for field in dataclasses.fields(Settings)}
