"""`haltline audit`, `archive`, `escalate` and `doctor`."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from haltline.blocking import Guardrail
from haltline.domain import Principal, PrincipalKind
from haltline.records import AuditEntry
from haltline.store import audit

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Call, Place


def rewrite(place: Place, table: str, statement: str) -> None:
    """Do what only somebody who may drop triggers can do, and cover it up."""
    with closing(sqlite3.connect(place.path)) as connection:
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()


def halt_of_long_ago(place: Place, days: int, *, settled: bool) -> str:
    then = datetime.now(UTC) - timedelta(days=days)
    person = Principal(PrincipalKind.HUMAN, "maria")
    with Guardrail.open(place.url, principal=person, clock=lambda: then) as guardrail:
        halt = guardrail.record_halt(
            session_token="s", halt_type="scope", severity="high", description="Long ago"
        ).halt_id
        if settled:
            guardrail.acknowledge_halt(session_token="s", halt_id=halt, resolution="resolved")
    return halt


def weak_places(call: Call) -> list[str]:
    return [note["place"] for note in call("doctor", "--json").json["notes"] if note["weak"]]


def test_an_audit_log_that_holds(place: Place, call: Call) -> None:
    place.halt()
    ended = call("audit", "verify", "--json")
    assert (ended.code, ended.json["holds"], ended.json["halts"]) == (0, True, 1)
    assert ended.json["head"] in call("audit", "verify").out


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        pytest.param("audit_log", "UPDATE audit_log SET actor = 'human:eve' WHERE sequence = 2", id="entry"),
        pytest.param("audit_log", "DELETE FROM audit_log WHERE sequence = 1", id="cut out"),
        pytest.param("halt_events", "UPDATE halt_events SET description = 'harmless'", id="halt"),
    ],
)
def test_a_changed_past_exits_with_1(place: Place, call: Call, table: str, statement: str) -> None:
    place.halt()
    rewrite(place, table, statement)
    ended = call("audit", "verify", "--json")
    assert (ended.code, ended.json["holds"]) == (1, False)
    assert "DOES NOT HOLD" in call("audit", "verify").out
    assert "audit" in weak_places(call)


def test_a_head_that_was_noted_shows_that_the_end_was_cut_off(place: Place, call: Call) -> None:
    place.halt()
    noted = call("audit", "verify", "--json").json["head"]
    place.halt()
    later = call("audit", "verify", "--json").json["head"]
    assert call("audit", "verify", "--head", noted).code == 0
    assert call("audit", "verify", "--head", later).code == 0
    rewrite(
        place, "audit_log", "DELETE FROM audit_log WHERE sequence = (SELECT MAX(sequence) FROM audit_log)"
    )
    assert call("audit", "verify", "--head", later).code == 1


def test_an_export_is_verified_elsewhere(place: Place, call: Call) -> None:
    for _ in range(3):
        place.halt()
    ended = call("audit", "export", key=place.key())
    entries = [AuditEntry(**json.loads(line)) for line in ended.out.splitlines()]
    verdict = audit.verify(entries)
    assert verdict.broken is None
    assert verdict.head.hash == call("audit", "verify", "--json").json["head"]


def test_an_export_to_a_file_is_for_its_owner_alone_and_replaces_nothing(place: Place, call: Call) -> None:
    place.halt()
    file, key = place.folder / "audit.jsonl", place.key()
    assert call("audit", "export", "--output", str(file), key=key).code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    assert call("audit", "export", "--output", str(file), key=key).code == 1
    assert file.read_bytes() == before


def test_archiving_moves_old_settled_halts_and_leaves_open_ones(place: Place, call: Call) -> None:
    settled = halt_of_long_ago(place, 100, settled=True)
    waiting = halt_of_long_ago(place, 100, settled=False)
    assert call("archive", "--older-than", "90", "--json").json == {"archived": 1}
    assert [h["halt_id"] for h in call("halts", "--all", "--json").json["halts"]] == [waiting]
    assert call("show", settled).code == 0
    assert call("audit", "verify").code == 0


def test_archiving_leaves_what_is_younger(place: Place, call: Call) -> None:
    halt_of_long_ago(place, 80, settled=True)
    assert call("archive", "--json").json == {"archived": 0}


def test_a_sweep_times_out_what_is_overdue_and_approves_nothing(place: Place, call: Call) -> None:
    overdue = halt_of_long_ago(place, 1, settled=False)
    recent = place.halt("other")
    assert call("escalate", "--json").json == {"timed_out": 1}
    assert call("escalate", "--json").json == {"timed_out": 0}
    states = {h["halt_id"]: h["resolution"] for h in call("halts", "--json").json["halts"]}
    assert states == {overdue: "timeout", recent: None}
    assert call("check", "--session", "s", "--operation", "x").code == 2


def test_a_sweep_is_made_by_the_service_of_the_command_line(place: Place, call: Call) -> None:
    halt_of_long_ago(place, 1, settled=False)
    call("escalate")
    with place.guardrail() as guardrail:
        actors = [entry.actor for entry in guardrail.audit_entries() if entry.action == "halt.timeout"]
    assert actors == ["service:cli"]


def test_a_healthy_place(place: Place, call: Call) -> None:
    place.halt()
    ended = call("doctor", "--json")
    assert (ended.code, ended.json["healthy"]) == (0, True)
    text = call("doctor").out
    for part in ("sqlite", "journal_mode", str(place.path), "head", "Nothing is weak.", "(UTC)"):
        assert part in text


def make_row_senseless(place: Place) -> None:
    with closing(sqlite3.connect(place.path)) as connection:
        connection.execute(
            "UPDATE halt_conditions_config SET threshold = '[' WHERE condition_name = 'no_progress'"
        )
        connection.commit()


def leave_overdue_halt(place: Place) -> None:
    halt_of_long_ago(place, 1, settled=False)


def set_clock_back(place: Place) -> None:
    halt_of_long_ago(place, -1, settled=False)


def damage_spool(place: Place) -> None:
    Path(f"{place.path}.spool.damaged").write_text("?", "utf-8")


def open_to_all(place: Place) -> None:
    place.path.chmod(0o666)


def settings_for_all(place: Place) -> None:
    (place.folder / "patient.yaml").chmod(0o666)


def break_settings(place: Place) -> None:
    (place.folder / "patient.yaml").write_text("nonsense: 1", "utf-8")


def destroy_database(place: Place) -> None:
    place.path.write_bytes(b"no database " * 1_000)


def drop_triggers(place: Place) -> None:
    with closing(sqlite3.connect(place.path)) as connection:
        connection.execute("DROP TRIGGER halt_events_settled_once")
        connection.commit()


@pytest.mark.parametrize(
    ("harm", "where", "advice"),
    [
        (drop_triggers, "database", "halt_events_settled_once"),
        (make_row_senseless, "configuration", "haltline config set no_progress"),
        (leave_overdue_halt, "halts", "haltline escalate"),
        (set_clock_back, "clock", "set the clock"),
        (damage_spool, "spool", "move it away"),
        (open_to_all, "database", "chmod 600"),
        (settings_for_all, "settings", "chmod 644"),
        (break_settings, "settings", "Repair the file"),
        (destroy_database, "database", "restore it from a backup"),
    ],
)
def test_what_is_weak_is_named_with_what_to_do(
    place: Place, call: Call, harm: Any, where: str, advice: str
) -> None:
    assert call("doctor").code == 0
    harm(place)
    ended = call("doctor", "--json")
    weak = [note for note in ended.json["notes"] if note["weak"]]
    assert ended.code == 1
    assert where in [note["place"] for note in weak]
    assert any(advice in note["weak"] for note in weak)
    assert advice in call("doctor").out


def test_an_unknown_database_is_weak_too(call: Call) -> None:
    ended = call("doctor", "--database", "nonsense")
    assert ended.code == 1
    assert "database" in ended.out


def test_what_waits_in_the_spool_is_handed_over(place: Place, call: Call) -> None:
    place.path.write_bytes(b"no database " * 1_000)
    call("check", "--session", "s", "--operation", "x")
    place.path.unlink()
    assert "spool" in weak_places(call)
    assert call("halts", "--json").json["total_count"] == 1
    assert "spool" not in weak_places(call)
