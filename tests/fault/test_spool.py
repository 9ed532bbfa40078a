"""The spool under faults: held, long, spoilt, raced for. What waits in it counts before anything else."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.fault import faults

from haltline import Guardrail, Settings, lifecycle
from haltline.domain import HaltType, ReasonCode, Severity
from haltline.service import spooling

pytestmark = pytest.mark.anyio

Open = Callable[..., Guardrail]
UNAVAILABLE = ReasonCode.DATABASE_UNAVAILABLE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "haltline.db"


@pytest.fixture
async def guardrail(path: Path, opened: Open) -> Guardrail:
    made = opened(f"sqlite:///{path}")
    await made.acting_as(faults.HUMAN).health()
    return made


@pytest.fixture
def spool(path: Path) -> Path:
    return path.with_name(f"{path.name}.spool")


async def spooled(
    guardrail: Guardrail, path: Path, tokens: list[str], answer: faults.Answer, behind: bytes = b""
) -> dict[str, Any]:
    """Let a check of each session go to the spool, because the database is away."""
    away = path.with_name("away")
    path.rename(away)
    if behind:
        path.with_name(f"{path.name}.spool").write_bytes(behind)
    told = {token: await answer.failed(guardrail, UNAVAILABLE, session_token=token) for token in tokens}
    away.rename(path)
    return told


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Somebody else has the spool's lock and does not let go of it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield
    os.close(descriptor)


async def test_held_spool_with_halts_in_it_halts_every_check_until_it_is_free(
    guardrail: Guardrail, path: Path, spool: Path, answer: faults.Answer
) -> None:
    told = await spooled(guardrail, path, ["s"], answer)
    with held(spool):
        told["t"] = await answer.failed(guardrail, UNAVAILABLE, stored="nowhere", session_token="t")
    await faults.assert_recovered(guardrail, told)


async def test_claim_that_another_process_does_not_finish_halts_every_check(
    guardrail: Guardrail, path: Path, spool: Path, answer: faults.Answer
) -> None:
    told = await spooled(guardrail, path, ["s"], answer)
    with held(spool.with_name(f"{spool.name}.lock")):
        told["t"] = await answer.failed(guardrail, UNAVAILABLE, session_token="t")
    await faults.assert_recovered(guardrail, told)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take another user's place")
async def test_spool_that_cannot_be_read_halts_every_check(
    guardrail: Guardrail, path: Path, spool: Path, answer: faults.Answer
) -> None:
    told = await spooled(guardrail, path, ["s"], answer)
    for parent in list(path.parents)[:-1]:
        parent.chmod(parent.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        told["t"] = await answer.failed(guardrail, UNAVAILABLE, stored="nowhere", session_token="t")
    finally:
        os.seteuid(0)
    await faults.assert_recovered(guardrail, told)


async def test_spool_too_long_for_one_check_is_handed_over_by_several(
    guardrail: Guardrail, path: Path, spool: Path, opened: Open, answer: faults.Answer
) -> None:
    told = await spooled(guardrail, path, ["s0"], answer)
    (line,) = spool.read_text("utf-8").splitlines()
    lines, ids = [], {"s0": faults.told_ids(told["s0"])}
    for number in range(1, 400):
        event = json.loads(line)
        event["token_hash"] = guardrail._context.token_hash(f"s{number}")
        event["session"]["id"] = guardrail._context.new_id()
        event["halts"][0]["id"] = guardrail._context.new_id()
        ids[f"s{number}"] = [event["halts"][0]["id"]]
        lines.append(json.dumps(event) + "\n")
    with spool.open("a", encoding="utf-8") as file:
        file.writelines(lines)
    hasty = opened(f"sqlite:///{path}", settings=Settings(deadline_seconds=0.1))
    await hasty.acting_as(faults.HUMAN).health()
    checks = 0
    ours = {halt for halts in ids.values() for halt in halts}
    with anyio.fail_after(60):
        while ours & set(faults.spooled_ids(spool)):
            await hasty.check_halt_conditions(session_token="hasty", current_context=faults.QUIET)
            checks += 1
    assert checks > 1
    await guardrail.acting_as(faults.HUMAN).replay_spool()
    await faults.assert_stored(guardrail, ids)


SPOILT = {
    "no json": b"this is not JSON\n",
    "no text": b"\xff\xfe\x00\n",
    "list": b"[1, 2]\n",
    "nothing in it": b"{}\n",
    "no halts": b'{"at": "now", "token_hash": null, "session": null, "halts": 5}\n',
    "halts that are texts": b'{"at": "now", "token_hash": null, "session": null, "halts": ["a"]}\n',
    "another version": (
        b'{"at": "now", "token_hash": "a", "session": {}, "halts": [{"id": "1", "halt_type": "new"}]}\n'
    ),
    "NUL": (
        b'{"at": "now", "token_hash": "a", "session": {"id": "1", "name": "\\u0000", "agent_name": "a"},'
        b' "halts": [{"id": "2", "halt_type": "scope", "severity": "high", "description": "\\u0000",'
        b' "context": null}]}\n'
    ),
    "cut off": b'{"at": "now", "token_ha',
}


@pytest.mark.parametrize("damage", SPOILT.values(), ids=SPOILT)
async def test_spoilt_line_costs_neither_a_check_nor_another_line(
    guardrail: Guardrail, path: Path, spool: Path, answer: faults.Answer, damage: bytes
) -> None:
    told = await spooled(guardrail, path, ["s", "t"], answer, behind=damage)
    await faults.assert_recovered(guardrail, told)
    human = guardrail.acting_as(faults.HUMAN)
    kept = [entry.payload async for entry in human.audit_entries() if entry.action == "spool.unreadable"]
    damaged = spool.with_name(f"{spool.name}.damaged")
    assert kept or damaged.read_bytes()


async def test_two_guardrails_that_replay_at_once_double_nothing(
    guardrail: Guardrail, path: Path, opened: Open, answer: faults.Answer
) -> None:
    tokens = [f"s{number}" for number in range(20)]
    told = await spooled(guardrail, path, tokens, answer)
    others = [opened(f"sqlite:///{path}") for _ in range(3)]

    async def check(number: int, token: str) -> None:
        guard = others[number % 3]
        result = await guard.check_halt_conditions(session_token=token, current_context=faults.QUIET)
        assert result.should_halt is True

    async with anyio.create_task_group() as group:
        for number, token in enumerate(tokens):
            group.start_soon(check, number, token)
    await faults.assert_recovered(guardrail, told)


FORGED: dict[str, dict[str, Any]] = {
    "an id that another session's halt has": {},
    "a time beyond every calendar": {
        "id": "01920000-0000-7000-8000-000000000001",
        "escalate_after_minutes": 10**12,
    },
    "text for a truth value": {"id": "01920000-0000-7000-8000-000000000001", "single_use": "x"},
}


@pytest.mark.parametrize("values", FORGED.values(), ids=FORGED)
async def test_forged_line_halts_nobody_else_for_ever(
    guardrail: Guardrail, spool: Path, values: dict[str, Any]
) -> None:
    known = await guardrail.record_halt(
        session_token="s", halt_type="scope", description="Known", severity="high"
    )
    halt = lifecycle.NewHalt(known.halt_id, HaltType.SCOPE, Severity.HIGH, "Forged")
    await guardrail.check_halt_conditions(session_token="t", current_context=faults.QUIET)
    token_hash = hashlib.sha256(b"t").hexdigest()
    event = spooling.event_of((replace(halt, **values),), token_hash, None, "2026-01-01T00:00:00.000000Z")
    spool.write_text(json.dumps(event) + "\n")
    for token in ("t", "u"):
        result = await guardrail.check_halt_conditions(session_token=token, current_context=faults.QUIET)
        assert result.should_halt is False
    human = guardrail.acting_as(faults.HUMAN)
    assert "Forged" in "".join([entry.payload async for entry in human.audit_entries()])
    assert (await human.verify_audit()).problems == ()
