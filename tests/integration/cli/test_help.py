"""Help: every command teaches, and the overview loads none of them."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import haltline
from haltline.faces.cli.group import root
from haltline.faces.cli.table import COMMANDS

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Call, Place

ROOT = Path(__file__).parents[3]
SUBCOMMANDS = [
    *((name,) for name in COMMANDS),
    *(("sessions", name) for name in ("list", "open", "close")),
    *(("strikes", name) for name in ("list", "record", "reset")),
    *(("config", name) for name in ("get", "set", "export", "import")),
    *(("rules", name) for name in ("list", "show", "test")),
    *(("keys", name) for name in ("create", "list", "revoke")),
    *(("audit", name) for name in ("verify", "export")),
]
HEAVY = (
    "pydantic",
    "sqlalchemy",
    "alembic",
    "anyio",
    "yaml",
    "asyncio",
    "haltline.service",
    "haltline.store",
)


@pytest.mark.parametrize("path", SUBCOMMANDS, ids=" ".join)
def test_every_command_has_help(call: Call, path: tuple[str, ...]) -> None:
    ended = call(*path, "--help")
    assert ended.code == 0
    assert ended.out.startswith(f"Usage: haltline {' '.join(path)}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_overview_tells_its_exit_codes(call: Call, name: str) -> None:
    assert "Exit codes" in call(name, "--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_overview_names_every_command(call: Call, name: str) -> None:
    assert f"\n  {name} " in call("--help").out


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_the_overview_loads_no_command_and_no_database(place: Place, arguments: tuple[str, ...]) -> None:
    code = f"""
import sys
from haltline.faces.cli import main
code = main({list(arguments)!r})
loaded = [name for name in {HEAVY!r} if name in sys.modules]
loaded += [name for name in sys.modules if name.startswith("haltline.faces.commands.")]
sys.exit(f"loaded: {{loaded}}" if loaded else code)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=place.environment, capture_output=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def examples(text: str) -> list[list[str]]:
    """Return the words of every line of a text that calls haltline, up to a redirection."""
    calls = re.findall(r"^(?:\s+|.*(?:\$|\||=\S+|\*) +|.*\$\()haltline ([^<>|)\n]*)", text, re.MULTILINE)
    return [shlex.split(call) for call in calls if "`" not in call]


def assert_understood(command: click.Command, words: list[str]) -> None:
    """Parse a call without making it."""
    if not isinstance(command, click.Group):
        command.make_context("haltline", list(words))
        return
    name, *rest = words if words and not words[0].startswith("-") else ["list", *words]
    found = command.get_command(click.Context(command), name)
    assert found is not None, words
    assert_understood(found, rest)


@pytest.mark.parametrize("words", examples((ROOT / "docs" / "cli.md").read_text("utf-8")), ids=" ".join)
def test_an_example_of_the_documentation_is_understood(words: list[str]) -> None:
    assert_understood(root(), words)


@pytest.mark.parametrize("path", [(), *SUBCOMMANDS], ids=" ".join)
def test_the_examples_of_a_help_text_are_understood(call: Call, path: tuple[str, ...]) -> None:
    for words in examples(call(*path, "--help").out):
        assert_understood(root(), words)


def test_the_version_is_the_packages(call: Call) -> None:
    assert call("--version").out == f"haltline {haltline.__version__}\n"


def test_no_command_at_all_shows_help_and_is_no_success(call: Call) -> None:
    ended = call()
    assert (ended.code, ended.out) == (64, "")
    assert "Commands:" in ended.err


def test_the_console_script_is_the_command_line() -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]["haltline"]
    module, _, function = named.partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_the_demonstration_comes_out_as_it_has_to(place: Place) -> None:
    ended = place.process("demo")
    assert ended.code == 0, ended.err
    for part in (
        "Verdict: halt",
        "Refused:",
        "Guidance from human:",
        "Verdict: proceed",
        "strike 3",
        "It is told: try_alternative",
        "entries",
    ):
        assert part in ended.out
    assert not place.path.exists(), "the demonstration touches no database but its own"


def test_the_demonstration_as_json(call: Call) -> None:
    steps = call("demo", "--json").json
    assert len(steps) == 9
    assert all(step["holds"] for step in steps)


def test_a_demonstration_that_does_not_come_out_fails(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("haltline.faces.commands.demo._GUIDANCE", "")
    ended = call("demo")
    assert ended.code == 1
    assert "This is not as it has to be." in ended.out


def test_mcp_without_its_extra_says_what_to_install(place: Place) -> None:
    code = """
import sys
sys.modules["mcp"] = None
from haltline.faces.cli import main
sys.exit(main(["mcp"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=place.environment, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert b"pip install 'haltline[mcp]'" in done.stderr


def test_mcp_serves_until_its_input_ends(place: Place) -> None:
    request = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",'
        b' "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}\n'
    )
    ended = place.process("mcp", stdin=request)
    assert ended.code == 0, ended.err
    assert ended.json["result"]["serverInfo"]["name"] == "haltline"
