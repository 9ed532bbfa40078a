"""The main job as processes, on every database that outlives them; and databases that do not answer."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from haltline.blocking import Guardrail
from haltline.domain import Principal, PrincipalKind

if TYPE_CHECKING:
    from tests.conftest import Database
    from tests.integration.cli.conftest import Call, Place

DANGEROUS = ("check", "--json", "--session", "s", "--operation", "clean up", "--command", "rm -rf /")
SAFE = ("check", "--json", "--session", "s", "--operation", "think")


def test_a_check_halts_a_person_settles_it_and_the_agent_goes_on(place: Place, durable: Database) -> None:
    place.environment["HALTLINE_DATABASE"] = durable.url
    with Guardrail.open(durable.url, principal=Principal(PrincipalKind.HUMAN, "maria")) as guardrail:
        key, _ = guardrail.create_key(PrincipalKind.HUMAN, "olga")

    halted = place.process(*DANGEROUS)
    assert halted.code == 2, halted.err
    (halt,) = place.process("halts", "--json").json["halts"]
    settled = place.process(
        *("ack", halt["halt_id"], "--resolution", "resolved", "--notes", "Only ./build"),
        environment={"HALTLINE_KEY": key},
    )
    assert settled.code == 0, settled.err

    again = place.process(*SAFE)
    assert (again.code, [item["text"] for item in again.json["guidance"]]) == (0, ["Only ./build"])
    with Guardrail.open(durable.url, principal=Principal(PrincipalKind.HUMAN, "maria")) as guardrail:
        assert guardrail.verify_audit().problems == ()


def test_a_database_that_another_process_holds_is_a_halt_that_waits_in_the_spool(
    place: Place, call: Call
) -> None:
    assert call(*SAFE).code == 0
    (place.folder / "patient.yaml").write_text("deadline_seconds: 0.3\n", "utf-8")
    with closing(sqlite3.connect(place.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        # In a process of its own: SQLite's locks do not hold between two libraries in one process.
        ended = place.process(*DANGEROUS)
        assert (ended.code, ended.json["reason_code"]) == (2, "db_unavailable")
        assert ended.json["event_stored"] == "spool"
        other.execute("ROLLBACK")
    (place.folder / "patient.yaml").write_text("deadline_seconds: 30\n", "utf-8")
    assert call(*SAFE).code == 2


@pytest.mark.parametrize(
    "url", ["postgresql://nobody@127.0.0.1:1/nothing", "postgresql://[", "postgresql://x:y:z"]
)
def test_a_server_that_is_not_there_is_a_halt(call: Call, url: str) -> None:
    ended = call(*SAFE, "--database", url)
    assert (ended.code, ended.json["should_halt"]) == (2, True)


def test_a_server_that_is_not_there_fails_every_other_command_with_a_sentence(call: Call) -> None:
    ended = call("halts", "--database", "postgresql://nobody:hunter2@127.0.0.1:1/nothing")
    assert (ended.code, ended.out) == (1, "")
    assert "internal error" not in ended.err
    assert "hunter2" not in ended.err
