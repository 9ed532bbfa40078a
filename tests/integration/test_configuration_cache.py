"""The cached configuration: another process's change is seen after 60 s and not before, one's own at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests.integration import processes
from tests.integration.test_concurrency import in_processes

from haltline import Guardrail, Settings
from haltline.records import ConditionRow

if TYPE_CHECKING:
    from tests.conftest import Database

pytestmark = pytest.mark.anyio

HUMAN = processes.person("ada")
DOUBTFUL = {"operation": "rename a variable", "uncertainty_score": 6}
"""A medium finding with the default threshold of 7, a high one with a threshold of 6."""

Opening = Callable[..., Guardrail]


class Seconds:
    """A monotonic clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
async def opened(durable: Database, seconds: Seconds) -> AsyncIterator[Opening]:
    guardrails: list[Guardrail] = []

    def open_one(**given: Any) -> Guardrail:
        guardrails.append(Guardrail.open(durable.url, monotonic=seconds, **given))
        return guardrails[-1]

    yield open_one
    for guardrail in guardrails:
        await guardrail.aclose()


async def halts(guardrail: Guardrail, token: str = "s") -> bool:
    """Whether a doubtful action halts, by the configuration that this guardrail knows."""
    result = await guardrail.check_halt_conditions(session_token=token, current_context=DOUBTFUL)
    assert result.reason_code is None
    return result.should_halt


CHANGE = {"condition_name": "uncertainty_scale", "threshold": {"threshold": 6}}


async def test_change_of_another_process_is_seen_after_sixty_seconds_and_not_before(
    durable: Database, opened: Opening, seconds: Seconds
) -> None:
    guardrail = opened()
    await guardrail.acting_as(HUMAN).health()
    assert await halts(guardrail) is False
    assert await in_processes("configure", durable, 1, CHANGE) == [None]
    seconds.now += 59.999
    assert await halts(guardrail) is False
    seconds.now += 0.001
    assert await halts(guardrail) is True


async def test_change_of_another_guardrail_is_seen_after_sixty_seconds_as_well(
    opened: Opening, seconds: Seconds
) -> None:
    guardrail, other = opened(), opened()
    assert await halts(guardrail) is False
    await other.acting_as(HUMAN).update_halt_config(CHANGE)
    assert await halts(guardrail) is False
    seconds.now += 60
    assert await halts(guardrail) is True


async def test_own_change_is_seen_at_once_by_every_principal(opened: Opening) -> None:
    guardrail = opened()
    assert await halts(guardrail) is False
    await guardrail.acting_as(HUMAN).update_halt_config(CHANGE)
    assert await halts(guardrail) is True
    await guardrail.acting_as(HUMAN).update_halt_config(
        condition_name="uncertainty_scale", threshold={"threshold": 7}
    )
    assert await halts(guardrail, "t") is False


async def test_copy_is_as_old_as_its_reading_and_not_as_its_last_use(
    opened: Opening, seconds: Seconds
) -> None:
    guardrail, other = opened(), opened()
    assert await halts(guardrail) is False
    await other.acting_as(HUMAN).update_halt_config(CHANGE)
    for _ in range(3):
        seconds.now += 19
        assert await halts(guardrail) is False
    seconds.now += 3
    assert await halts(guardrail) is True


async def test_own_change_during_a_reading_is_not_hidden_by_what_was_read_before(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    guardrail = opened()
    await guardrail.acting_as(HUMAN).health()
    store = guardrail._context.store
    read = store.condition_rows
    was_read, go_on = anyio.Event(), anyio.Event()

    async def slow() -> tuple[ConditionRow, ...]:
        rows = await read()
        was_read.set()
        await go_on.wait()
        return rows

    monkeypatch.setattr(store, "condition_rows", slow)
    async with anyio.create_task_group() as group:
        group.start_soon(guardrail.prepare)
        with anyio.fail_after(10):
            await was_read.wait()
        monkeypatch.setattr(store, "condition_rows", read)
        await guardrail.acting_as(HUMAN).update_halt_config(CHANGE)
        go_on.set()
    assert await halts(guardrail) is True


async def test_refused_change_changes_nothing(opened: Opening) -> None:
    guardrail = opened()
    with pytest.raises(Exception, match="threshold"):
        await guardrail.acting_as(HUMAN).update_halt_config(
            condition_name="uncertainty_scale", threshold={"threshold": 60}
        )
    assert await halts(guardrail) is False


async def test_cache_of_no_time_reads_every_time(opened: Opening) -> None:
    guardrail, other = opened(settings=Settings(configuration_seconds=0)), opened()
    assert await halts(guardrail) is False
    await other.acting_as(HUMAN).update_halt_config(CHANGE)
    assert await halts(guardrail) is True


async def test_version_tells_configurations_apart(opened: Opening) -> None:
    guardrail = opened()
    before = (await guardrail.acting_as(HUMAN).configuration()).version
    assert (await guardrail.acting_as(HUMAN).configuration()).version == before
    await guardrail.acting_as(HUMAN).update_halt_config(CHANGE)
    assert (await guardrail.acting_as(HUMAN).configuration()).version != before
