"""Who settles on the command line: somebody at a terminal, or the owner of a key; never a captured shell."""

from __future__ import annotations

import pwd
from os import getuid
from typing import TYPE_CHECKING

import pytest

from haltline.domain import PrincipalKind

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Call, Place

NAMED = "01a22dc9-5635-740f-bcdb-fb68483ee952"
OF_PEOPLE = [
    ("ack", NAMED, "--resolution", "resolved"),
    ("strikes", "reset", "--session", "s"),
    ("sessions", "close", f"id:{NAMED}"),
    ("config", "set", "three_strikes", "--threshold", "max_attempts=5"),
    ("config", "import", "conditions.yaml", "--yes"),
    ("keys", "create", "--kind", "human", "--name", "eve"),
    ("keys", "list"),
    ("keys", "revoke", NAMED),
    ("audit", "export"),
]
OF_READERS = [
    ("halts",),
    ("sessions",),
    ("config", "get"),
    ("config", "export"),
    ("audit", "verify"),
    ("escalate",),
    ("archive",),
    ("doctor",),
]


@pytest.mark.parametrize("arguments", OF_PEOPLE, ids=" ".join)
def test_what_people_decide_is_refused_without_a_terminal_and_without_a_key(
    place: Place, call: Call, arguments: tuple[str, ...]
) -> None:
    (place.folder / "conditions.yaml").write_text("conditions: {three_strikes: {enabled: false}}", "utf-8")
    ended = call(*arguments)
    assert (ended.code, ended.out) == (4, "")
    assert "a person runs this command in a terminal" in ended.err.lower()


@pytest.mark.parametrize("arguments", OF_READERS, ids=" ".join)
def test_what_decides_nothing_runs_without_a_terminal(call: Call, arguments: tuple[str, ...]) -> None:
    assert call(*arguments).code == 0


def test_who_reads_without_a_terminal_cannot_settle_by_the_names_it_gets(place: Place, call: Call) -> None:
    halt = place.halt()
    assert call("show", halt).code == 0
    assert call("ack", halt, "--resolution", "resolved").code == 4
    with place.guardrail() as guardrail:
        assert guardrail.find_halt(halt).is_open


def test_the_user_of_a_terminal_settles_as_a_human(place: Place) -> None:
    halt = place.halt()
    ended = place.terminal("ack", halt, "--resolution", "resolved", "--notes", "It is fine.")
    with place.guardrail() as guardrail:
        settled = guardrail.find_halt(halt)
    assert ended.code == 0, ended.out
    assert settled.acknowledged_by == f"human:{pwd.getpwuid(getuid()).pw_name}"


def test_the_environment_does_not_say_who_the_user_is(place: Place) -> None:
    halt = place.halt()
    names = dict.fromkeys(("USER", "LOGNAME", "USERNAME", "LNAME"), "somebody-else")
    place.terminal("ack", halt, "--resolution", "resolved", environment=names)
    with place.guardrail() as guardrail:
        assert guardrail.find_halt(halt).acknowledged_by == f"human:{pwd.getpwuid(getuid()).pw_name}"


@pytest.mark.parametrize("captured", ["stdin", "stderr"])
def test_half_a_terminal_is_none(place: Place, captured: str) -> None:
    halt = place.halt()
    ended = place.half_terminal("ack", halt, "--resolution", "resolved", captured=captured)
    assert ended == 4


def test_piped_output_alone_does_not_make_a_person_an_agent(place: Place) -> None:
    halt = place.halt()
    assert place.half_terminal("ack", halt, "--resolution", "resolved", captured="stdout") == 0


def test_a_key_says_who_settles(place: Place, call: Call) -> None:
    halt = place.halt()
    ended = call("ack", halt, "--resolution", "resolved", key=place.key(name="olga"))
    with place.guardrail() as guardrail:
        assert (ended.code, guardrail.find_halt(halt).acknowledged_by) == (0, "human:olga")


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (PrincipalKind.HUMAN, 0),
        (PrincipalKind.ADMIN, 0),
        (PrincipalKind.SERVICE, 0),
        (PrincipalKind.AGENT, 4),
    ],
)
def test_a_key_has_the_rights_of_its_kind(place: Place, call: Call, kind: PrincipalKind, code: int) -> None:
    key = place.key(kind, "x")
    assert call("ack", place.halt(), "--resolution", "resolved", key=key).code == code


def test_a_service_makes_no_keys(place: Place, call: Call) -> None:
    key = place.key(PrincipalKind.SERVICE, "nightly")
    assert call("keys", "create", "--kind", "human", "--name", "eve", key=key).code == 4


@pytest.mark.parametrize(
    "arguments", [("halts",), ("keys", "list"), ("escalate",), ("doctor",)], ids=" ".join
)
def test_an_unknown_key_is_refused_and_falls_back_to_nothing(call: Call, arguments: tuple[str, ...]) -> None:
    ended = call(*arguments, key="hlk_nobody-made-this")
    assert ended.code == 4
    assert "hlk_nobody" not in ended.err


def test_an_unknown_key_is_refused_at_a_terminal_too(place: Place) -> None:
    halt = place.halt()
    ended = place.terminal("ack", halt, "--resolution", "resolved", environment={"HALTLINE_KEY": "hlk_x"})
    assert ended.code == 4


def test_a_revoked_key_is_refused(place: Place, call: Call) -> None:
    mine, theirs = place.key(), place.key(name="olga")
    listed = call("keys", "list", "--json", key=mine).json
    key_id = next(key["key_id"] for key in listed if key["name"] == "olga")
    assert call("halts", key=theirs).code == 0
    assert call("keys", "revoke", key_id, key=mine).code == 0
    assert call("halts", key=theirs).code == 4


def test_a_new_key_works_and_is_shown_alone_on_standard_output(place: Place, call: Call) -> None:
    made = call("keys", "create", "--kind", "human", "--name", "olga", key=place.key())
    assert made.out.startswith("hlk_")
    assert made.out.count("\n") == 1
    halt = place.halt()
    assert call("ack", halt, "--resolution", "resolved", key=made.out.strip()).code == 0


def test_a_list_of_keys_has_no_secrets(place: Place, call: Call) -> None:
    key = place.key(name="olga")
    for shown in (call("keys", "list", key=key), call("keys", "list", "--json", key=key)):
        assert key not in shown.out
        assert "olga" in shown.out


def test_a_check_is_an_agents_whoever_types_it(place: Place, call: Call) -> None:
    call("check", "--session", "s", "--operation", "x", "--uncertainty", "9", key=place.key())
    with place.guardrail() as guardrail:
        recorded = [entry for entry in guardrail.audit_entries() if entry.action == "halt.recorded"]
    assert [entry.actor for entry in recorded] == ["agent:agent"]


def test_an_agent_cannot_close_a_session_that_is_halted(place: Place, call: Call) -> None:
    place.halt("s")
    assert call("sessions", "close", "s").code == 4


def test_an_agent_cannot_name_a_session_by_its_id(place: Place, call: Call) -> None:
    place.halt("s")
    with place.guardrail() as guardrail:
        (session,), _ = guardrail.list_sessions()
    ended = call("check", "--json", "--session", f"id:{session.id}", "--operation", "x")
    assert (ended.code, ended.json["reason_code"]) == (2, "invalid_session")
