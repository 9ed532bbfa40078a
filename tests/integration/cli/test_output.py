"""What is printed: aligned, whole, in colour only where somebody sees it, and steering no terminal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltline.domain import Principal, PrincipalKind
from haltline.faces.cli.output import visible

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Call, Place

CLEAR = "\x1b[2J\x1b[H"
HOSTILE = f"harmless{CLEAR}\rall is well\x9b31m\u202e\u2066\u200b\nHalt x is resolved; the session is active."
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
COLOR = re.compile("\x1b\\[[0-9;]*m")


@given(st.text())
def test_no_text_steers_a_terminal(text: str) -> None:
    shown = visible(text)
    assert not STEERING.search(shown)
    assert "\n" not in shown
    assert visible(shown) == shown


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs", "M"])))
def test_a_text_without_such_characters_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


def hostile_halt(place: Place) -> str:
    """Record a halt whose every text is hostile, and return its id."""
    with place.guardrail(Principal(PrincipalKind.AGENT, "agent")) as guardrail:
        return guardrail.record_halt(
            session_token=HOSTILE.replace("\n", " "),
            task_id=HOSTILE,
            halt_type="security",
            severity="high",
            description=HOSTILE,
            context={"commands": [HOSTILE], "file_paths": [HOSTILE]},
            previous_error=HOSTILE,
        ).halt_id


def test_what_an_agent_wrote_steers_no_terminal_of_a_person(place: Place, call: Call) -> None:
    halt = hostile_halt(place)
    for arguments in (("halts",), ("show", halt), ("sessions",)):
        shown = call(*arguments)
        assert shown.code == 0
        assert not STEERING.search(shown.out)


def test_a_line_of_an_agents_text_is_marked_as_its_own(place: Place, call: Call) -> None:
    lines = call("show", hostile_halt(place)).out.splitlines()
    forged = [line for line in lines if "the session is active" in line]
    assert forged
    assert all(line.lstrip().startswith("| ") or "\\n" in line for line in forged)


def test_json_is_ascii_and_keeps_every_character(place: Place, call: Call) -> None:
    hostile_halt(place)
    shown = call("halts", "--json").out
    assert shown.isascii()
    assert not STEERING.search(shown)
    assert json.loads(shown)["halts"][0]["description"] == HOSTILE


@pytest.mark.parametrize("command", ["halts", "show", "sessions", "doctor", "config get", "check"])
def test_piped_output_has_no_colours(place: Place, call: Call, command: str) -> None:
    halt = place.halt()
    more = {"show": [halt], "check": ["--session", "s", "--operation", "x"]}.get(command, [])
    assert "\x1b" not in call(*command.split(), *more).out


def test_a_terminal_gets_colours(place: Place) -> None:
    place.halt()
    assert COLOR.search(place.terminal("halts").out)


@pytest.mark.parametrize(
    ("arguments", "environment"), [(("--no-color",), {}), ((), {"NO_COLOR": "1"})], ids=["option", "NO_COLOR"]
)
def test_a_terminal_gets_none_when_it_wants_none(
    place: Place, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    place.halt()
    assert "\x1b" not in place.terminal("halts", *arguments, environment=environment).out


def test_json_has_no_colours_on_a_terminal(place: Place) -> None:
    place.halt()
    assert "\x1b" not in place.terminal("halts", "--json").out


def test_columns_are_aligned_by_what_a_terminal_shows(call: Call) -> None:
    for name in ("plain", "漢字", "é"):
        call("sessions", "open", "--agent", name)
    lines = call("sessions").out.splitlines()
    assert [line.index("-", 70) for line in lines[1:4] if "漢字" not in line] == [
        lines[0].index("NAME"),
        lines[0].index("NAME"),
    ]
    wide = next(line for line in lines if "漢字" in line)
    assert wide.index("-", 70) == lines[0].index("NAME") - 2


def test_a_description_is_never_cut(place: Place, call: Call) -> None:
    description = "word " * 700
    halt = place.halt(description=description.strip())
    assert description.strip() in call("halts").out
    assert description.strip() in call("show", halt).out


def test_an_encoding_that_lacks_a_character_fails_nothing(place: Place) -> None:
    place.halt(description="größer als 漢字")
    ended = place.process("halts", environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert ended.code == 0
    assert "\\u6f22" in ended.out


def test_a_reader_that_has_gone_is_no_crash(place: Place) -> None:
    for _ in range(3):
        place.halt(description="x" * 3_900)
    ended = place.process_into_closed_pipe("halts")
    assert (ended.code, ended.err) == (1, "")


def test_the_json_option_stands_before_or_after_the_command(call: Call) -> None:
    assert call("--json", "halts").json == call("halts", "--json").json
