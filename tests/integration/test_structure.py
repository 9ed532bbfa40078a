"""The house: floors, light imports, and a package that says what it is."""

import pathlib
import subprocess
import sys
import tomllib

import pytest

import haltline

ROOT = pathlib.Path(__file__).parents[2]
HEAVY = {
    "pydantic",
    "sqlalchemy",
    "alembic",
    "anyio",
    "click",
    "yaml",
    "mcp",
    "psycopg",
    "rapidfuzz",
    "sqlglot",
}


def test_modules_import_only_from_floors_below() -> None:
    lint = pathlib.Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "module",
    [
        "haltline",
        "haltline.shell",
        "haltline.secrets",
        "haltline.text",
        "haltline.conditions.catalogue",
        "haltline.verdict",
    ],
)
def test_importing_a_detection_floor_loads_no_heavy_package(module: str) -> None:
    code = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert set(done.stdout.split()) & HEAVY == set()


def test_the_public_names_are_there() -> None:
    for name in haltline.__all__:
        assert getattr(haltline, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Gardrail'"):
        haltline.Gardrail  # noqa: B018 - reading it is the test


def test_the_version_is_the_one_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert haltline.__version__ == project["version"]
