"""`haltline check`: only a check that was made and said so lets an action pass."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from haltline.errors import InvalidInput
from haltline.faces.cli import failing, request
from haltline.records import HaltQuery
from haltline.wire import CheckHaltConditionsOutput

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Call, Place

SAFE: dict[str, Any] = {"session_token": "s", "current_context": {"operation": "run the tests"}}
DANGEROUS: dict[str, Any] = {
    "session_token": "s",
    "current_context": {"operation": "clean up", "commands": ["rm -rf /"]},
}
UNREAD: dict[str, Any] = {
    "session_token": "s",
    "current_context": {"operation": "modify", "target_files": ["src/auth.js"], "files_read": ["src/app.js"]},
    "proposed_changes": {
        "files_to_modify": ["src/auth.js"],
        "has_tests": False,
        "has_rollback_plan": False,
    },
}


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("asked", "verdict", "code"),
    [
        pytest.param(SAFE, "proceed", 0, id="proceed"),
        pytest.param(DANGEROUS, "halt", 2, id="halt"),
        pytest.param(
            {"session_token": "s", "current_context": {"operation": "think", "uncertainty_score": 5.0}},
            "ask",
            3,
            id="ask",
        ),
    ],
)
def test_the_exit_code_is_the_verdict(call: Call, asked: Any, verdict: str, code: int) -> None:
    ended = call("check", "--json", stdin=as_bytes(asked))
    assert (ended.code, ended.json["verdict"]) == (code, verdict)


def test_the_answer_is_the_services_own(call: Call) -> None:
    answer = call("check", "--json", stdin=as_bytes(UNREAD)).json
    assert CheckHaltConditionsOutput.model_validate_json(json.dumps(answer)).should_halt
    assert [reason["condition_name"] for reason in answer["halt_reasons"]] == [
        "modifying_unread_code",
        "no_rollback_plan",
    ]


def test_a_halt_is_in_the_database_when_the_process_has_ended(place: Place) -> None:
    place.process("check", stdin=as_bytes(DANGEROUS))
    with place.guardrail() as guardrail:
        page = guardrail.list_halts(HaltQuery(open_only=True))
    assert [halt.condition_name for halt in page.halts] == ["destructive_command"]


def test_flags_are_the_request(call: Call) -> None:
    ended = call(
        "check",
        *("--json", "--session", "s", "--task", "t", "--operation", "modify"),
        *("--file", "src/auth.js", "--read", "src/app.js", "--modify", "src/auth.js"),
    )
    assert ended.code == 2
    assert {reason["condition_name"] for reason in ended.json["halt_reasons"]} == {
        "modifying_unread_code",
        "no_rollback_plan",
    }


def test_every_flag_reaches_the_service(call: Call) -> None:
    ended = call(
        "check",
        *("--json", "--session", "s", "--task", "t", "--operation", "look around"),
        *("--environment", "dev", "--attempt", "1", "--error", "E: boom", "--uncertainty", "1.5"),
        *("--scope", "src/", "--instruction", "look at src/a.py until it is clear", "--output", "nothing"),
        *("--credential", "DEV_KEY", "--modify", "src/a.py", "--read", "src/a.py"),
        *("--tests", "--tests-pass", "--rollback-plan", "--command", "ls src", "--workspace", "."),
    )
    assert ended.json["reason_code"] is None


def test_what_nobody_says_of_the_changes_is_not_assumed_in_their_favour(call: Call) -> None:
    ended = call("check", "--json", "--session", "s", "--operation", "modify", "--tests")
    assert [reason["condition_name"] for reason in ended.json["halt_reasons"]] == ["no_rollback_plan"]


def test_flags_add_to_a_request_on_standard_input(call: Call) -> None:
    asked = {"current_context": {"operation": "clean up"}}
    ended = call("check", "--json", "--session", "s", "--command", "rm -rf /", stdin=as_bytes(asked))
    assert ended.json["halt_reasons"][0]["condition_name"] == "destructive_command"


def test_a_flag_that_contradicts_the_request_is_a_halt(call: Call) -> None:
    ended = call("check", "--json", "--session", "other", stdin=as_bytes(SAFE))
    assert (ended.code, ended.json["reason_code"]) == (2, "bad_request")
    assert "session_token" in ended.json["halt_reasons"][0]["description"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param({"current_context": SAFE["current_context"]}, "from-there", id="a request without one"),
        pytest.param(SAFE, "s", id="a request with its own"),
    ],
)
def test_the_session_of_the_environment_is_a_default(
    place: Place, call: Call, monkeypatch: pytest.MonkeyPatch, asked: Any, expected: str
) -> None:
    monkeypatch.setenv("HALTLINE_SESSION", "from-there")
    ended = call("check", stdin=as_bytes(asked))
    with place.guardrail() as guardrail:
        sessions, _ = guardrail.list_sessions()
    assert (ended.code, [session.name for session in sessions]) == (0, [expected])


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"   \n", id="blank"),
        pytest.param(b'{"session_token": "s", ', id="cut off"),
        pytest.param(b'{"session_token": "s"} {}', id="two values"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b"null", id="null"),
        pytest.param(b'"proceed"', id="text"),
        pytest.param(b"\xff\xfe\x00", id="not UTF-8"),
        pytest.param(
            b'{"session_token": "s", "current_context": {"operation": "\xed\xa0\x80"}}', id="surrogate"
        ),
        pytest.param(
            b'{"session_token": "s", "current_context": {"operation": "\\ud800"}}', id="lone surrogate"
        ),
        pytest.param(b'{"session_token": "s", "current_context": {"operation": "a\\u0000b"}}', id="NUL"),
        pytest.param(b"[" * 200_000, id="nested without end"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="nested deep"),
        pytest.param(b'{"session_token": "a", "session_token": "b"}', id="a name twice"),
        pytest.param(
            b'{"session_token": "s", "current_context": {"operation": "x", "attempt_number": '
            + b"9" * 9_000
            + b"}}",
            id="a number without end",
        ),
        pytest.param(
            b'{"session_token": "s", "current_context": {"operation": "x", "uncertainty_score": NaN}}',
            id="NaN",
        ),
        pytest.param(as_bytes({**SAFE, "proceed": True}), id="unknown field"),
        pytest.param(as_bytes({"session_token": "s"}), id="no action"),
        pytest.param(as_bytes({"current_context": SAFE["current_context"]}), id="no session"),
        pytest.param(as_bytes({**SAFE, "current_context": []}), id="wrong type"),
        pytest.param(
            as_bytes(
                {"session_token": "s", "current_context": {"operation": "x", "commands": ["a" * 70_000]}}
            ),
            id="oversized",
        ),
        pytest.param(b'{"session_token": "' + b"s" * 9_000_000 + b'"}', id="more than is read"),
    ],
)
def test_a_request_that_cannot_be_read_is_a_critical_halt_that_is_stored(call: Call, raw: bytes) -> None:
    ended = call("check", "--json", stdin=raw)
    answer = ended.json
    assert ended.code == 2
    assert (answer["should_halt"], answer["highest_severity"]) == (True, "critical")
    assert (answer["reason_code"], answer["event_stored"]) == ("bad_request", "database")


def test_input_that_does_not_end_is_refused_in_time() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b'{"session_token": "s"')
        with pytest.raises(InvalidInput, match="did not come within"):
            request.read_stdin(reading, seconds=0.05)
    finally:
        os.close(writing)
        os.close(reading)


def test_a_request_may_begin_with_a_byte_order_mark(call: Call) -> None:
    assert call("check", stdin=b"\xef\xbb\xbf" + as_bytes(SAFE)).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["check", "--no-such-option"], id="unknown option"),
        pytest.param(["check", "--attempt", "x"], id="wrong type"),
        pytest.param(["check", "stray"], id="stray word"),
        pytest.param(["check", "--operation"], id="no value"),
        pytest.param(["--no-such-option", "check"], id="unknown option before"),
        pytest.param(
            ["--database", "memory:", "--no-such-option", "check"], id="unknown option after a value"
        ),
        pytest.param(["--no-such-option", "value", "check"], id="unknown option with a value"),
        pytest.param(["check", "--session", "s", "--operation", "x", "--help"], id="help beside a request"),
        pytest.param(["--version", "check"], id="version"),
        pytest.param(["check", "--operation", "check", "--help"], id="help after a value"),
        pytest.param(["check", "--help", "check", "--help"], id="help twice"),
    ],
)
def test_wrong_usage_of_check_is_a_halt(call: Call, arguments: list[str]) -> None:
    assert call(*arguments).code == 2


def test_wrong_usage_is_told_in_the_shape_of_an_answer(call: Call) -> None:
    ended = call("check", "--json", "--no-such-option")
    assert ended.json["should_halt"] is True
    assert ended.json["reason_code"] == "bad_request"
    assert "--no-such-option" in ended.json["halt_reasons"][0]["description"]


def test_a_refusal_has_the_shape_of_the_services_answers() -> None:
    refusal = failing.refusal("check_failed", "x")
    answer = CheckHaltConditionsOutput.model_validate_json(json.dumps(refusal))
    assert answer.model_dump(mode="json") == refusal


def test_help_alone_is_no_failure(call: Call) -> None:
    assert call("check", "--help").code == 0


def test_a_completion_request_in_the_environment_does_not_pass_for_a_verdict(place: Place) -> None:
    ended = place.process(
        "check", stdin=as_bytes(DANGEROUS), environment={"_HALTLINE_COMPLETE": "bash_source"}
    )
    assert ended.code == 2


@pytest.mark.parametrize("url", ["mysql://root:hunter2@db/x", "nonsense", "sqlite:///", "sqlite://"])
def test_an_unknown_database_is_a_halt(call: Call, url: str) -> None:
    ended = call("check", "--json", "--database", url, stdin=as_bytes(SAFE))
    assert (ended.code, ended.json["reason_code"]) == (2, "db_unavailable")
    assert "hunter2" not in ended.out + ended.err


def test_a_database_that_cannot_be_made_is_a_halt(place: Place, call: Call) -> None:
    (place.folder / "file").touch()
    url = f"sqlite:///{place.folder}/file/haltline.db"
    ended = call("check", "--json", "--database", url, stdin=as_bytes(SAFE))
    assert (ended.code, ended.json["reason_code"]) == (2, "db_unavailable")


def test_a_corrupt_database_is_a_halt_and_the_event_waits_in_the_spool(place: Place, call: Call) -> None:
    place.path.write_bytes(b"no database " * 1_000)
    ended = call("check", "--json", stdin=as_bytes(SAFE))
    assert (ended.code, ended.json["reason_code"], ended.json["event_stored"]) == (
        2,
        "db_unavailable",
        "spool",
    )


def missing(place: Place) -> str:
    return str(place.folder / "missing.yaml")


def written(text: bytes) -> Callable[[Place], str]:
    def write(place: Place) -> str:
        (place.folder / "settings.yaml").write_bytes(text)
        return str(place.folder / "settings.yaml")

    return write


UNREADABLE = [
    pytest.param(missing, id="missing"),
    pytest.param(written(b"unknown_setting: 1"), id="unknown name"),
    pytest.param(written(b"medium_findings_to_halt: many"), id="wrong type"),
    pytest.param(written(b"deadline_seconds: -1"), id="senseless value"),
    pytest.param(written(b"- a list"), id="no mapping"),
    pytest.param(written(b"{: "), id="no YAML"),
    pytest.param(written(b"\xff"), id="not UTF-8"),
    pytest.param(written(b"a: &x [1]\nb: *x"), id="alias"),
    pytest.param(written(b"deadline_seconds: 1\ndeadline_seconds: 2"), id="a name twice"),
    pytest.param(written(b"!!python/object/apply:os.system ['touch owned']"), id="object"),
    pytest.param(written(b"[" * 20_000), id="nested without end"),
]


@pytest.mark.parametrize("made", UNREADABLE)
def test_unreadable_settings_are_a_halt_that_is_stored(
    place: Place, call: Call, made: Callable[[Place], str]
) -> None:
    ended = call("check", "--json", "--config", made(place), stdin=as_bytes(SAFE))
    answer = ended.json
    assert (ended.code, answer["reason_code"], answer["event_stored"]) == (2, "config_unreadable", "database")
    assert not (place.folder / "owned").exists()


@pytest.mark.parametrize("made", UNREADABLE)
def test_unreadable_settings_fail_every_other_command_with_a_sentence(
    place: Place, call: Call, made: Callable[[Place], str]
) -> None:
    path = made(place)
    ended = call("halts", "--config", path)
    assert (ended.code, ended.out) == (1, "")
    assert path in ended.err


def test_the_settings_file_of_the_user_counts(place: Place) -> None:
    folder = place.folder / "config" / "haltline"
    folder.mkdir(parents=True)
    (folder / "haltline.yaml").write_text("unknown_sessions: reject\n", encoding="utf-8")
    del place.environment["HALTLINE_CONFIG"]
    ended = place.process("check", "--json", stdin=as_bytes(SAFE))
    assert (ended.code, ended.json["reason_code"]) == (2, "invalid_session")


def test_a_dangling_settings_file_of_the_user_is_not_taken_for_none(place: Place) -> None:
    folder = place.folder / "config" / "haltline"
    folder.mkdir(parents=True)
    (folder / "haltline.yaml").symlink_to(place.folder / "gone")
    del place.environment["HALTLINE_CONFIG"]
    ended = place.process("check", "--json", stdin=as_bytes(SAFE))
    assert (ended.code, ended.json["reason_code"]) == (2, "config_unreadable")


@pytest.mark.parametrize(
    "broken",
    [
        "click",
        "pydantic",
        "sqlalchemy",
        "yaml",
        "haltline.secrets",
        "haltline.service",
        "haltline.faces.cli.group",
    ],
)
def test_a_broken_installation_is_a_halt(place: Place, broken: str) -> None:
    code = f"""
import sys
sys.modules[{broken!r}] = None
from haltline.faces.cli import main
sys.exit(main(["check", "--json", "--config", "settings.yaml", "--session", "s", "--operation", "x"]))
"""
    (place.folder / "settings.yaml").touch()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=place.environment,
        cwd=place.folder,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["should_halt"] is True


@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt(), SystemExit(0), MemoryError()])
def test_a_crash_of_our_own_is_a_halt(
    call: Call, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("haltline.faces.commands.check.settings_of", crash)
    ended = call("check", "--json", "--session", "s", "--operation", "x")
    assert (ended.code, ended.json["reason_code"]) == (2, "check_failed")


def test_a_secret_in_a_crash_is_not_printed(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot log in with {token}")

    monkeypatch.setattr("haltline.faces.commands.check.settings_of", crash)
    ended = call("check", "--json", "--session", "s", "--operation", "x")
    assert token not in ended.out + ended.err


@pytest.mark.parametrize("arguments", [("check",), ("check", "--json")])
def test_a_verdict_that_cannot_be_printed_is_a_halt(place: Place, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = place.process(
            *arguments, stdin=as_bytes(SAFE), capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert ended.code == 2


def test_closed_standard_output_is_a_halt(place: Place) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m haltline check --session s --operation x >&-'],
        env=place.environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2


def test_an_interrupt_while_it_reads_its_request_is_a_halt(place: Place) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "haltline", "check", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=place.environment,
        cwd=place.folder,
    )
    try:
        assert process.stdin is not None
        process.stdin.write(b" " * 1_000_000)  # more than a pipe holds: when it is written, it is being read
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 2
    assert json.loads(out)["should_halt"] is True
