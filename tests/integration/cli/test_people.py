"""The commands with which people read and settle, and agents record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from haltline.domain import SessionState
from haltline.records import HaltQuery

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Call, Place

ACTION = ("check", "--session", "s", "--operation", "clean up", "--command", "rm -rf /")


def ids(listed: Any) -> list[str]:
    return [halt["halt_id"] for halt in listed["halts"]]


def test_the_main_job(place: Place, call: Call) -> None:
    halted = call(*ACTION, "--json").json
    halt = ids(call("halts", "--json").json)[0]
    assert halt == halted["halt_reasons"][0]["halt_id"]

    key = place.key()
    settled = call("ack", halt, "--resolution", "resolved", "--notes", "Only ./build", "--json", key=key).json
    assert settled["session_can_resume"] is True

    again = call(*ACTION, "--json")
    assert again.code == 0
    assert [item["text"] for item in again.json["guidance"]] == ["Only ./build"]
    assert call("audit", "verify").code == 0


def test_the_guidance_is_shown_to_the_agent_as_text(place: Place, call: Call) -> None:
    call(*ACTION)
    halt = ids(call("halts", "--json").json)[0]
    call("ack", halt, "--resolution", "resolved", "--notes", "Only ./build", key=place.key())
    assert "| Only ./build" in call(*ACTION).out


def test_an_operation_of_wrong_usage_exits_with_64(call: Call) -> None:
    assert call("halts", "--severity", "dreadful").code == 64


@pytest.mark.parametrize(
    "arguments",
    [
        ("ack", "x"),
        ("ack",),
        ("ack", "x", "--resolution", "timeout"),
        ("config", "set"),
        ("keys", "create", "--kind", "root", "--name", "x"),
        ("sessions", "open"),
        ("archive", "--older-than", "-1"),
        ("nonsense",),
        (),
        ("config",),
        ("--no-such-option", "halts"),
        ("record", "--session", "s", "--description", "x"),
        ("strikes", "record"),
        ("halts", "--database", "nonsense"),
    ],
    ids=" ".join,
)
def test_wrong_usage(call: Call, arguments: tuple[str, ...]) -> None:
    ended = call(*arguments)
    assert (ended.code, ended.out) == (64, "")
    assert ended.err.startswith("haltline: ")


def test_a_halt_that_is_not_there_is_a_failure(place: Place, call: Call) -> None:
    for arguments in (("show", "nothing"), ("ack", "nothing", "--resolution", "resolved")):
        ended = call(*arguments, key=place.key())
        assert ended.code == 1
        assert "nothing" in ended.err


def test_a_halt_is_settled_once_and_the_second_is_told_who_was_first(place: Place, call: Call) -> None:
    halt, key = place.halt(), place.key(name="olga")
    assert call("ack", halt, "--resolution", "resolved", key=key).code == 0
    second = call("ack", halt, "--resolution", "dismissed", key=place.key())
    assert second.code == 1
    assert "human:olga" in second.err


def test_dismissing_a_critical_halt_needs_caution_and_notes(place: Place, call: Call) -> None:
    halt, key = place.halt(severity="critical"), place.key()
    dismiss = ("ack", halt, "--resolution", "dismissed")
    assert call(*dismiss, key=key).code == 64
    assert call(*dismiss, "--continue-with-caution", key=key).code == 64
    ended = call(*dismiss, "--continue-with-caution", "--notes", "A throwaway machine", key=key)
    assert ended.code == 0
    assert "Warning: Dismissed, not resolved" in ended.out


def test_what_is_open_lists_escalated_halts_and_no_failed_attempts(place: Place, call: Call) -> None:
    escalated, waiting, settled = place.halt(), place.halt(), place.halt()
    key = place.key()
    call("ack", escalated, "--resolution", "escalated", key=key)
    call("ack", settled, "--resolution", "resolved", key=key)
    call("strikes", "record", "--session", "s", "--task", "t", "--error", "boom")
    assert set(ids(call("halts", "--json").json)) == {escalated, waiting}
    assert len(ids(call("halts", "--all", "--json").json)) == 4


def test_halts_are_filtered_and_paged(place: Place, call: Call) -> None:
    first = place.halt("one", severity="critical")
    second = place.halt("two", halt_type="scope")
    third = place.halt("two")
    assert ids(call("halts", "--severity", "critical", "--json").json) == [first]
    assert ids(call("halts", "--type", "scope", "--json").json) == [second]
    page = call("halts", "--limit", "1", "--offset", "1", "--json").json
    assert (ids(page), page["total_count"]) == ([second], 3)
    assert ids(call("halts", "--session", "two", "--json").json) == [third, second]
    assert "1 of 3; --offset 1 shows more" in call("halts", "--limit", "1").out


def test_a_session_is_named_by_its_id_as_well(place: Place, call: Call) -> None:
    halt = place.halt("one")
    place.halt("two")
    sessions = call("sessions", "--json").json["sessions"]
    session = next(s["session_id"] for s in sessions if s["name"] == "one")
    assert ids(call("halts", "--session", f"id:{session}", "--json").json) == [halt]


def test_a_halt_is_shown_whole(place: Place, call: Call) -> None:
    call(*ACTION)
    halt = ids(call("halts", "--json").json)[0]
    shown = call("show", halt)
    for part in (
        halt,
        "destructive_command",
        "| rm -rf /",
        "| clean up",
        "halt.recorded",
        "What you can decide",
        "Needs --continue-with-caution and --notes",
        f"Next: haltline ack {halt}",
    ):
        assert part in shown.out


def test_a_settled_halt_is_shown_with_its_history(place: Place, call: Call) -> None:
    halt, key = place.halt(), place.key(name="olga")
    call("ack", halt, "--resolution", "escalated", "--notes", "Ask the owners", key=key)
    call("ack", halt, "--resolution", "resolved", "--notes", "They agree", key=key)
    shown = call("show", halt, "--json").json
    assert [(event["action"], event["actor"]) for event in shown["history"]] == [
        ("halt.recorded", "human:maria"),
        ("halt.acknowledged", "human:olga"),
        ("halt.acknowledged", "human:olga"),
    ]
    assert (shown["resolutions"], shown["resolution_notes"]) == ({}, "They agree")
    assert "halt.acknowledged as escalated: Ask the owners" in call("show", halt).out


def test_an_escalated_halt_cannot_be_escalated_again_and_show_does_not_offer_it(
    place: Place, call: Call
) -> None:
    halt, key = place.halt(), place.key()
    call("ack", halt, "--resolution", "escalated", key=key)
    assert set(call("show", halt, "--json").json["resolutions"]) == {"resolved", "dismissed"}
    assert call("ack", halt, "--resolution", "escalated", key=key).code == 1


def test_other_open_halts_of_the_session_are_counted(place: Place, call: Call) -> None:
    halt = place.halt("s")
    place.halt("s")
    place.halt("other")
    assert call("show", halt, "--json").json["other_open_halts"] == 1


def test_recording_by_flags_halts_the_session(place: Place, call: Call) -> None:
    ended = call(
        *("record", "--session", "s", "--type", "security", "--severity", "high", "--json"),
        *("--description", "A public bucket", "--file", "main.tf", "--command", "terraform apply"),
        *("--error", "denied", "--uncertainty", "2", "--attempt", "2", "--previous-error", "denied"),
        *("--condition", "data_exposure", "--task", "t", "--auto-escalate"),
    )
    assert (ended.code, ended.json["escalation_triggered"]) == (0, True)
    with place.guardrail() as guardrail:
        halt = guardrail.find_halt(ended.json["halt_id"])
        (session,), _ = guardrail.list_sessions()
    assert (halt.attempt_count, halt.previous_error, halt.condition_name) == (2, "denied", "data_exposure")
    assert halt.context == {
        "file_paths": ["main.tf"],
        "commands": ["terraform apply"],
        "error_messages": ["denied"],
        "uncertainty_score": 2.0,
        "attempt_number": 2,
    }
    assert session.state is SessionState.HALTED


def test_recording_takes_a_request_on_standard_input(call: Call) -> None:
    raw = b'{"halt_type": "scope", "severity": "medium", "description": "Leaves the scope"}'
    ended = call("record", "--session", "s", stdin=raw)
    assert ended.code == 0
    assert re.search(r"Recorded halt [0-9a-f-]{36}", ended.out)


@pytest.mark.parametrize("raw", [b"", b"[", b"\xff", b'{"severity": "dreadful"}'])
def test_recording_what_cannot_be_read_is_wrong_usage(place: Place, call: Call, raw: bytes) -> None:
    assert call("record", "--session", "s", stdin=raw).code == 64
    with place.guardrail() as guardrail:
        assert guardrail.list_halts(HaltQuery(include_acknowledged=True)).halts == ()


def test_a_halt_that_the_database_cannot_take_is_said_to_be_in_the_spool(place: Place, call: Call) -> None:
    place.path.write_bytes(b"no database " * 1_000)
    ended = call(
        *("record", "--session", "s", "--type", "scope", "--severity", "high", "--description", "Leaves it")
    )
    assert ended.code == 0
    assert "in the spool" in ended.out


def test_three_strikes(call: Call) -> None:
    strike = ("strikes", "record", "--session", "s", "--task", "t", "--error", "E: boom", "--json")
    answers = [call(*strike) for _ in range(3)]
    assert [answer.code for answer in answers] == [0, 0, 2]
    assert [answer.json["recommended_action"] for answer in answers[:2]] == ["retry", "try_alternative"]
    assert call("show", answers[2].json["halt_id"]).code == 0


def test_strikes_are_listed_and_reset_by_a_person(place: Place, call: Call) -> None:
    call("strikes", "record", "--session", "s", "--task", "t", "--error", "boom", "--attempt", "2")
    (listed,) = call("strikes", "--session", "s", "--json").json
    assert (listed["task_id"], listed["attempts"]) == ("t", 2)
    assert call("strikes", "reset", "--session", "s", "--task", "t", key=place.key()).code == 0
    (listed,) = call("strikes", "list", "--session", "s", "--json").json
    assert (listed["attempts"], listed["reset_by"]) == (0, "human:maria")
    assert "human:maria" in call("strikes", "--session", "s").out


def test_an_opened_session_has_a_token_alone_on_standard_output(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = call("sessions", "open", "--agent", "codex")
    assert re.fullmatch(r"hls_[\w-]{43}\n", opened.out)
    monkeypatch.setenv("HALTLINE_SESSION", opened.out.strip())
    assert call("check", "--operation", "run the tests").code == 0
    assert "codex" in call("sessions").out


def test_a_token_is_never_listed(call: Call) -> None:
    token = call("sessions", "open", "--agent", "codex").out.strip()
    assert token not in call("sessions").out + call("sessions", "--json").out


def test_sessions_are_filtered_by_state(place: Place, call: Call) -> None:
    place.halt("stopped")
    call("check", "--session", "running", "--operation", "x")
    listed = call("sessions", "--state", "halted", "--json").json
    assert [session["name"] for session in listed["sessions"]] == ["stopped"]


def test_a_closed_session_stays_closed(call: Call) -> None:
    call("check", "--session", "s", "--operation", "x")
    assert call("sessions", "close", "s").code == 0
    ended = call("check", "--json", "--session", "s", "--operation", "x")
    assert (ended.code, ended.json["reason_code"]) == (2, "invalid_session")


def test_a_person_closes_a_halted_session_by_its_id(place: Place, call: Call) -> None:
    place.halt("s")
    (session,) = call("sessions", "--json").json["sessions"]
    assert call("sessions", "close", f"id:{session['session_id']}", key=place.key()).code == 0
    assert call("sessions", "--json").json["sessions"][0]["state"] == "closed"


@pytest.mark.parametrize("command", ["halts", "sessions"])
def test_an_empty_list_says_so(call: Call, command: str) -> None:
    assert call(command).out.startswith("No ")


def test_a_session_without_failed_attempts_says_so(call: Call) -> None:
    call("check", "--session", "s", "--operation", "x")
    assert call("strikes", "--session", "s").out == "No failed attempts.\n"
