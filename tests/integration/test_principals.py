"""Who may do what: an agent checks, records and reads its own session; people and services do the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest

from haltline import Guardrail, Principal, PrincipalKind, Settings
from haltline.domain import Severity
from haltline.errors import HaltlineError, NotFound, NotPermitted
from haltline.records import HaltQuery

if TYPE_CHECKING:
    from tests.conftest import Database

pytestmark = pytest.mark.anyio

AGENT, HUMAN, ADMIN, SERVICE = (Principal(kind, "kim") for kind in PrincipalKind)
EVERYBODY = frozenset(PrincipalKind)
PRIVILEGED = EVERYBODY - {PrincipalKind.AGENT}
PEOPLE = frozenset({PrincipalKind.HUMAN, PrincipalKind.ADMIN})


class Scene:
    """A session with an open halt, and a key, for an operation to be tried on."""

    def __init__(self, guardrail: Guardrail, token: str, halt_id: str, key_id: str) -> None:
        self.guardrail = guardrail
        self.token = token
        self.halt_id = halt_id
        self.key_id = key_id


@pytest.fixture
async def scene(guardrail: Guardrail) -> Scene:
    token = (await guardrail.open_session("coder")).session_token
    halt_id = await halted(guardrail, token)
    _, key = await guardrail.acting_as(HUMAN).create_key(PrincipalKind.AGENT, "robot")
    return Scene(guardrail, token, halt_id, key.id)


async def halted(guardrail: Guardrail, token: str, severity: str = "high") -> str:
    recorded = await guardrail.record_halt(
        session_token=token, halt_type="scope", severity=severity, description="out of bounds"
    )
    return recorded.halt_id


async def read_audit(guardrail: Guardrail) -> int:
    return len([entry async for entry in guardrail.audit_entries()])


Operation = Callable[[Guardrail, Scene], Awaitable[Any]]

OPERATIONS: dict[str, tuple[frozenset[PrincipalKind], Operation]] = {
    "check": (
        EVERYBODY,
        lambda g, s: g.check_halt_conditions(session_token=s.token, current_context={"operation": "look"}),
    ),
    "record a halt": (EVERYBODY, lambda g, s: halted(g, s.token)),
    "list a session's halts": (EVERYBODY, lambda g, s: g.get_session_halts(session_token=s.token)),
    "record an attempt": (EVERYBODY, lambda g, s: g.record_attempt(session_token=s.token, error="boom")),
    "list a session's strikes": (EVERYBODY, lambda g, s: g.list_strikes(s.token)),
    "open a session": (EVERYBODY, lambda g, _: g.open_session("another")),
    "settle": (
        PRIVILEGED,
        lambda g, s: g.acknowledge_halt(session_token=s.token, halt_id=s.halt_id, resolution="resolved"),
    ),
    "escalate": (
        PRIVILEGED,
        lambda g, s: g.acknowledge_halt(session_token=s.token, halt_id=s.halt_id, resolution="escalated"),
    ),
    "dismiss": (
        PRIVILEGED,
        lambda g, s: g.acknowledge_halt(session_token=s.token, halt_id=s.halt_id, resolution="dismissed"),
    ),
    "close a halted session": (PRIVILEGED, lambda g, s: g.close_session(s.token)),
    "reset strikes": (PRIVILEGED, lambda g, s: g.reset_attempts(s.token)),
    "keep the ledger of reads": (PRIVILEGED, lambda g, s: g.record_reads(s.token, {"a.py": None})),
    "configure": (
        PRIVILEGED,
        lambda g, _: g.update_halt_config(condition_name="three_strikes", threshold={"max_attempts": 4}),
    ),
    "find a halt": (PRIVILEGED, lambda g, s: g.find_halt(s.halt_id)),
    "list all halts": (PRIVILEGED, lambda g, _: g.list_halts(HaltQuery())),
    "list sessions": (PRIVILEGED, lambda g, _: g.list_sessions()),
    "read the configuration": (PRIVILEGED, lambda g, _: g.configuration()),
    "look at the database": (PRIVILEGED, lambda g, _: g.health()),
    "replay the spool": (PRIVILEGED, lambda g, _: g.replay_spool()),
    "sweep": (PRIVILEGED, lambda g, _: g.escalate()),
    "archive": (PRIVILEGED, lambda g, _: g.archive()),
    "read the audit log": (PRIVILEGED, lambda g, _: read_audit(g)),
    "verify the audit log": (PRIVILEGED, lambda g, _: g.verify_audit()),
    "make a key": (PEOPLE, lambda g, _: g.create_key(PrincipalKind.HUMAN, "eve")),
    "revoke a key": (PEOPLE, lambda g, s: g.revoke_key(s.key_id)),
    "list keys": (PEOPLE, lambda g, _: g.list_keys()),
}


@pytest.mark.parametrize("kind", PrincipalKind)
@pytest.mark.parametrize(("allowed", "operation"), OPERATIONS.values(), ids=OPERATIONS)
async def test_operation_is_for_these_kinds_of_principal(
    scene: Scene, kind: PrincipalKind, allowed: frozenset[PrincipalKind], operation: Operation
) -> None:
    caller = scene.guardrail.acting_as(Principal(kind, "kim"))
    if kind in allowed:
        await operation(caller, scene)
        return
    before = await read_audit(scene.guardrail.acting_as(HUMAN))
    with pytest.raises(NotPermitted, match=r"may not|cannot"):
        await operation(caller, scene)
    assert await read_audit(scene.guardrail.acting_as(HUMAN)) == before  # nothing happened


async def test_who_settled_comes_from_the_credential(scene: Scene) -> None:
    human = scene.guardrail.acting_as(HUMAN)
    await human.acknowledge_halt(session_token=scene.token, halt_id=scene.halt_id, resolution="resolved")
    assert (await human.find_halt(scene.halt_id)).acknowledged_by == "human:kim"


@pytest.mark.parametrize("name", ["kim", "human:kim"])
async def test_body_may_repeat_the_credential(scene: Scene, name: str) -> None:
    settled = await scene.guardrail.acting_as(HUMAN).acknowledge_halt(
        session_token=scene.token, halt_id=scene.halt_id, resolution="resolved", acknowledged_by=name
    )
    assert settled.confirmed is True


@pytest.mark.parametrize("name", ["ada", "admin:kim", "Kim", "human:", "kim "])
@pytest.mark.parametrize("kind", [PrincipalKind.HUMAN, PrincipalKind.SERVICE, PrincipalKind.AGENT])
async def test_body_that_names_another_is_refused(scene: Scene, kind: PrincipalKind, name: str) -> None:
    with pytest.raises(NotPermitted):
        await scene.guardrail.acting_as(Principal(kind, "kim")).acknowledge_halt(
            session_token=scene.token, halt_id=scene.halt_id, resolution="resolved", acknowledged_by=name
        )
    assert (await scene.guardrail.acting_as(HUMAN).find_halt(scene.halt_id)).acknowledged is False


async def test_agent_cannot_reach_another_session_by_its_identifier(scene: Scene) -> None:
    halt = await scene.guardrail.acting_as(HUMAN).find_halt(scene.halt_id)
    named = f"id:{halt.session_id}"
    assert (await scene.guardrail.acting_as(HUMAN).get_session_halts(session_token=named)).total_count == 1
    with pytest.raises(NotFound):
        await scene.guardrail.acting_as(AGENT).get_session_halts(session_token=named)
    with pytest.raises(NotFound):
        await scene.guardrail.acting_as(AGENT).close_session(named)


async def test_halt_of_another_session_is_not_settled_by_a_token_of_this_one(scene: Scene) -> None:
    other = (await scene.guardrail.open_session()).session_token
    with pytest.raises(NotFound):
        await scene.guardrail.acting_as(HUMAN).acknowledge_halt(
            session_token=other, halt_id=scene.halt_id, resolution="resolved"
        )


@pytest.mark.parametrize("severity", ["medium", "high", "critical"])
@pytest.mark.parametrize("granted", ["medium", "high"])
async def test_agents_settle_only_the_severities_that_somebody_gave_them(
    database: Database, severity: str, granted: str
) -> None:
    settings = Settings(agents_may_settle=frozenset({Severity(granted)}))
    async with Guardrail.open(database.url, settings=settings) as guardrail:
        halt_id = await halted(guardrail, "s", severity)
        request = {"session_token": "s", "halt_id": halt_id, "resolution": "resolved"}
        if severity == granted:
            assert (await guardrail.acknowledge_halt(request)).session_can_resume is True
            halt = await guardrail.acting_as(HUMAN).find_halt(halt_id)
            assert halt.acknowledged_by == "agent:agent"
            return
        with pytest.raises(NotPermitted):
            await guardrail.acknowledge_halt(request)


async def test_agent_with_the_right_to_settle_still_settles_no_escalated_halt(database: Database) -> None:
    settings = Settings(agents_may_settle=frozenset(Severity))
    async with Guardrail.open(database.url, settings=settings) as guardrail:
        halt_id = await halted(guardrail, "s")
        request = {"session_token": "s", "halt_id": halt_id}
        await guardrail.acknowledge_halt(**request, resolution="escalated")
        with pytest.raises(NotPermitted, match="only a human"):
            await guardrail.acknowledge_halt(**request, resolution="resolved")


async def test_key_is_the_principal_that_it_was_made_for(guardrail: Guardrail) -> None:
    for kind in PrincipalKind:
        key, _ = await guardrail.acting_as(ADMIN).create_key(kind, "kim")
        assert (await guardrail.authenticate(key)).principal == Principal(kind, "kim")


async def test_revoked_key_is_nobody(guardrail: Guardrail) -> None:
    key, made = await guardrail.acting_as(HUMAN).create_key(PrincipalKind.HUMAN, "ben")
    await guardrail.acting_as(HUMAN).revoke_key(made.id)
    with pytest.raises(NotPermitted, match="revoked"):
        await guardrail.authenticate(key)
    await guardrail.acting_as(HUMAN).revoke_key(made.id)  # harmless


@pytest.mark.parametrize("key", ["", "hlk_", "hlk_" + "A" * 43, "nonsense", "\ud800"])
async def test_unknown_key_is_nobody(guardrail: Guardrail, key: str) -> None:
    with pytest.raises(NotPermitted, match="unknown"):
        await guardrail.authenticate(key)


async def test_key_is_stored_nowhere(guardrail: Guardrail) -> None:
    key, made = await guardrail.acting_as(HUMAN).create_key(PrincipalKind.HUMAN, "ben")
    human = guardrail.acting_as(HUMAN)
    entries = [entry async for entry in human.audit_entries()]
    assert key not in f"{made}{await human.list_keys()}{entries}"


async def test_default_principal_is_the_one_with_the_fewest_rights(database: Database) -> None:
    async with Guardrail.open(database.url) as guardrail:
        assert guardrail.principal.kind is PrincipalKind.AGENT
        with pytest.raises(HaltlineError):
            await guardrail.list_sessions()
