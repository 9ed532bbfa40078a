"""The blocking facade: the same operations, for code without an event loop."""

from __future__ import annotations

import gc
import inspect
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from haltline import Guardrail as AsyncGuardrail
from haltline import Principal, PrincipalKind, Settings
from haltline.blocking import Guardrail
from haltline.domain import SessionState
from haltline.errors import Halted, InvalidInput, NotPermitted
from haltline.records import HaltQuery

HUMAN = Principal(PrincipalKind.HUMAN, "ada")
QUIET = {"operation": "look around"}
LOUD = {"operation": "delete the old branches", "uncertainty_score": 9}


@pytest.fixture
def guardrail(tmp_path: Path) -> Iterator[Guardrail]:
    with Guardrail.open(f"sqlite:///{tmp_path / 'haltline.db'}") as opened:
        opened.prepare()
        yield opened


def test_main_job_from_halt_to_guidance(guardrail: Guardrail) -> None:
    token = guardrail.open_session("coder").session_token
    assert guardrail.enforce_halt_conditions(session_token=token, current_context=QUIET).should_halt is False
    with pytest.raises(Halted) as halted:
        guardrail.enforce_halt_conditions(session_token=token, current_context=LOUD)
    halt_id = halted.value.result.halt_reasons[0].halt_id
    assert guardrail.get_session_halts(session_token=token).unacknowledged_count == 1
    settled = guardrail.acting_as(HUMAN).acknowledge_halt(
        session_token=token, halt_id=halt_id, resolution="resolved", resolution_notes="keep main"
    )
    assert settled.session_state is SessionState.ACTIVE
    passed = guardrail.check_halt_conditions(session_token=token, current_context=LOUD)
    assert (passed.should_halt, [guidance.text for guidance in passed.guidance]) == (False, ["keep main"])


def test_people_see_and_configure_everything(guardrail: Guardrail) -> None:
    guardrail.check_halt_conditions(session_token="s", current_context=LOUD)
    human = guardrail.acting_as(HUMAN)
    (halt,) = human.list_halts(HaltQuery()).halts
    assert human.find_halt(halt.id) == halt
    assert human.list_sessions()[1] == 1
    guardrail.record_attempt(session_token="s", error="boom")
    assert [strikes.attempts for strikes in guardrail.list_strikes("s")] == [1]
    human.reset_attempts("s")
    human.record_reads("s", {"a.py": None})
    assert human.update_halt_config(condition_name="three_strikes", enabled=False).updated is True
    assert guardrail.acting_as(HUMAN).configuration().conditions["three_strikes"].enabled is False
    assert human.escalate() == 0
    assert human.archive() == 0
    assert human.verify_audit().problems == ()
    assert "halt.recorded" in {entry.action for entry in human.audit_entries()}
    assert guardrail.acting_as(HUMAN).health().facts["store"] == "sqlite"
    assert guardrail.acting_as(HUMAN).replay_spool() == 0
    human.close_session("s")


def test_keys(guardrail: Guardrail) -> None:
    human = guardrail.acting_as(HUMAN)
    key, made = human.create_key(PrincipalKind.SERVICE, "console")
    assert guardrail.authenticate(key).principal == Principal(PrincipalKind.SERVICE, "console")
    assert [known.id for known in human.list_keys()] == [made.id]
    human.revoke_key(made.id)
    with pytest.raises(NotPermitted):
        guardrail.authenticate(key)


def test_errors_come_through(guardrail: Guardrail) -> None:
    with pytest.raises(InvalidInput, match="severity"):
        guardrail.record_halt(session_token="s", halt_type="scope", severity="dire", description="x")
    with pytest.raises(NotPermitted):
        guardrail.update_halt_config(condition_name="three_strikes", enabled=False)


def test_it_offers_what_the_asynchronous_guardrail_offers() -> None:
    def public(kind: type[object]) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}

    only_asynchronous = {"aclose", "refuse_stranded_check"}
    assert public(AsyncGuardrail) - only_asynchronous == public(Guardrail) - {"close", "principal"}


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    for _ in range(3):
        with Guardrail.open(f"sqlite:///{tmp_path / 'haltline.db'}") as guardrail:
            guardrail.prepare()
            guardrail.check_halt_conditions(session_token="s", current_context=QUIET)
    gc.collect()  # an event loop that was not closed complains here
    ours = set(threading.enumerate()) - before
    for thread in ours:
        thread.join(10)
    assert [thread.name for thread in ours if thread.is_alive()] == []


def test_settings_and_principal_are_kept(tmp_path: Path) -> None:
    settings = Settings(unknown_sessions="reject")
    url = f"sqlite:///{tmp_path / 'haltline.db'}"
    with Guardrail.open(url, settings=settings, principal=HUMAN, workspace=tmp_path) as guardrail:
        guardrail.prepare()
        assert guardrail.principal == HUMAN
        result = guardrail.check_halt_conditions(session_token="nobody", current_context=QUIET)
        assert result.reason_code == "invalid_session"
