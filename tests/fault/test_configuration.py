"""Configuration that makes no sense: its condition halts, the others still report, nothing vanishes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.fault import faults

from haltline import Guardrail, Settings
from haltline.conditions.catalogue import CATALOGUE
from haltline.domain import ReasonCode
from haltline.errors import ConfigurationError

if TYPE_CHECKING:
    from tests.conftest import Database

pytestmark = pytest.mark.anyio

Open = Callable[..., Guardrail]
UNREADABLE = ReasonCode.CONFIGURATION_UNREADABLE
ROW = "UPDATE halt_conditions_config SET {} WHERE condition_name = 'three_strikes'"

SENSELESS = {
    "threshold that is no object": "threshold = '[3]'",
    "threshold that is a number": "threshold = '3'",
    "unknown name in the threshold": """threshold = '{"max_attemps": 3}'""",
    "text for a number": """threshold = '{"max_attempts": "3"}'""",
    "true for a number": """threshold = '{"max_attempts": true}'""",
    "null for a number": """threshold = '{"max_attempts": null}'""",
    "fraction for a whole number": """threshold = '{"max_attempts": 2.5}'""",
    "below the bounds": """threshold = '{"max_attempts": 0}'""",
    "above the bounds": """threshold = '{"max_attempts": 1000000000}'""",
    "another halt type": "halt_type = 'security'",
    "escalation in the past": "escalate_after_minutes = -5",
    "escalation at once": "escalate_after_minutes = 0",
    "escalation after the end of time": "escalate_after_minutes = 2000000000",
}
SENSELESS_ON_SQLITE = {
    "no JSON": "threshold = '{max_attempts: 3'",
    "blob": "threshold = x'7b7d'",
    "number that JSON does not have": """threshold = '{"max_attempts": NaN}'""",
    "nested very deep": "threshold = replace(hex(zeroblob(50000)), '0', '[')",
    "unknown severity": "severity = 'catastrophic'",
    "no severity": "severity = ''",
    "unknown halt type": "halt_type = 'nonsense'",
    "text for enabled": "enabled = 'perhaps'",
    "number for enabled": "enabled = 7",
    "text for minutes": "escalate_after_minutes = 'soon'",
    "text for auto_escalate": "auto_escalate = 'maybe'",
    "text for a time": "updated_at = 'yesterday'",
    "number for a time": "created_at = 5",
}


async def spoilt(database: Database, *statements: str) -> None:
    await (await database.store()).close()
    with database.raw() as connection:
        if database.kind == "sqlite":
            connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            connection.exec_driver_sql(statement)
        connection.commit()


async def assert_halts(guardrail: Guardrail, answer: faults.Answer, names: list[str]) -> None:
    """Require that the named conditions halt for their configuration, and that another one still reports."""
    result = await answer.failed(guardrail, UNREADABLE, stored="database", current_context=faults.LOUD)
    found = [r.condition_name for r in result.halt_reasons if "configuration unreadable" in r.description]
    assert found == names
    assert "uncertainty_scale" in {reason.condition_name for reason in result.halt_reasons}
    await faults.assert_stored(guardrail, {"s": faults.told_ids(result)})


@pytest.mark.parametrize("change", SENSELESS.values(), ids=SENSELESS)
async def test_senseless_row_makes_its_condition_halt(
    durable: Database, opened: Open, answer: faults.Answer, change: str
) -> None:
    await spoilt(durable, ROW.format(change))
    guardrail = opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    await assert_halts(guardrail, answer, ["three_strikes"])


@pytest.mark.parametrize("durable", ["sqlite"], indirect=True)
@pytest.mark.parametrize("change", SENSELESS_ON_SQLITE.values(), ids=SENSELESS_ON_SQLITE)
async def test_row_that_only_sqlite_can_hold_makes_its_condition_halt(
    durable: Database, opened: Open, answer: faults.Answer, change: str
) -> None:
    await spoilt(durable, ROW.format(change))
    guardrail = opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    await assert_halts(guardrail, answer, ["three_strikes"])


@pytest.mark.parametrize("durable", ["sqlite"], indirect=True)
@pytest.mark.parametrize("change", SENSELESS_ON_SQLITE.values(), ids=SENSELESS_ON_SQLITE)
async def test_row_that_only_sqlite_can_hold_can_be_repaired(
    durable: Database, opened: Open, answer: faults.Answer, change: str
) -> None:
    await spoilt(durable, ROW.format(change))
    guardrail = opened(durable.url)
    whole = {"enabled": True, "severity": "high", "threshold": {"max_attempts": 4}, "auto_escalate": False}
    await guardrail.acting_as(faults.HUMAN).update_halt_config(
        condition_name="three_strikes", escalate_after_minutes=30, **whole
    )
    result = await answer(guardrail, session_token="s", current_context=faults.QUIET)
    assert (result.should_halt, result.reason_code) == (False, None)


@pytest.mark.parametrize("durable", ["sqlite"], indirect=True)
async def test_text_that_is_no_unicode_makes_the_configuration_unreadable(
    durable: Database, opened: Open, answer: faults.Answer
) -> None:
    await spoilt(durable, ROW.format("threshold = CAST(x'ff00fe' AS TEXT)"))
    guardrail = opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    await answer.failed(guardrail, UNREADABLE, stored="database")


@pytest.mark.parametrize("durable", ["postgresql"], indirect=True)
async def test_severity_that_somebody_added_to_postgresql_makes_its_condition_halt(
    durable: Database, opened: Open, answer: faults.Answer
) -> None:
    await spoilt(durable, "ALTER TYPE severity_level ADD VALUE 'catastrophic'")
    await spoilt(durable, ROW.format("severity = 'catastrophic'"))
    guardrail = opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    await assert_halts(guardrail, answer, ["three_strikes"])


async def test_rows_of_every_condition_may_be_senseless(
    durable: Database, opened: Open, answer: faults.Answer
) -> None:
    await spoilt(durable, "UPDATE halt_conditions_config SET threshold = '[]'")
    guardrail = opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    result = await answer.failed(guardrail, UNREADABLE, stored="database")
    assert {reason.condition_name for reason in result.halt_reasons} == set(CATALOGUE)


async def test_row_of_an_unknown_condition_does_not_vanish(
    durable: Database, opened: Open, answer: faults.Answer
) -> None:
    await spoilt(
        durable,
        "UPDATE halt_conditions_config SET condition_name = 'of_another_version'"
        " WHERE condition_name = 'three_strikes'",
    )
    guardrail = opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    await assert_halts(guardrail, answer, ["of_another_version"])


async def test_missing_rows_switch_nothing_off(
    durable: Database, opened: Open, answer: faults.Answer
) -> None:
    await spoilt(durable, "DELETE FROM halt_conditions_config")
    guardrail = opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    result = await answer(guardrail, session_token="s", current_context=faults.LOUD)
    assert (result.should_halt, result.reason_code) == (True, None)
    strikes = await guardrail.record_attempt(session_token="t", attempt_number=3)
    assert strikes.should_halt is True


@pytest.mark.parametrize(
    "statements",
    [
        ("DROP TABLE halt_conditions_config",),
        ("ALTER TABLE halt_conditions_config RENAME COLUMN threshold TO limits",),
    ],
    ids=["table dropped", "column renamed"],
)
async def test_configuration_that_is_gone_halts(
    durable: Database, opened: Open, answer: faults.Answer, statements: tuple[str, ...]
) -> None:
    await spoilt(durable, *statements)
    guardrail = opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    result = await answer.failed(guardrail, UNREADABLE, stored="database")
    await faults.assert_stored(guardrail, {"s": faults.told_ids(result)})


async def test_configuration_that_goes_while_it_is_cached_halts_when_it_is_read_again(
    durable: Database, opened: Open, answer: faults.Answer
) -> None:
    now = [1000.0]
    await durable.store()
    guardrail = opened(durable.url, monotonic=lambda: now[0])
    passed = await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    assert passed.should_halt is False
    with durable.raw() as connection:
        connection.exec_driver_sql("DROP TABLE halt_conditions_config")
        connection.commit()
    now[0] += 60
    await answer.failed(guardrail, UNREADABLE, stored="database")


async def test_senseless_row_counts_for_strikes_too(durable: Database, opened: Open) -> None:
    await spoilt(durable, ROW.format("threshold = '[]'"))
    result = await opened(durable.url).record_attempt(session_token="s")
    assert (result.should_halt, result.severity) == (True, "critical")


async def test_senseless_row_can_be_repaired(durable: Database, opened: Open, answer: faults.Answer) -> None:
    await spoilt(durable, ROW.format("threshold = '[]'"))
    guardrail = opened(durable.url)
    human = guardrail.acting_as(faults.HUMAN)
    await human.update_halt_config(condition_name="three_strikes", threshold={"max_attempts": 4})
    result = await answer(guardrail, session_token="s", current_context=faults.QUIET)
    assert (result.should_halt, result.reason_code) == (False, None)


SENSELESS_SETTINGS = [
    {"deadline_seconds": 0},
    {"deadline_seconds": -1.0},
    {"deadline_seconds": float("nan")},
    {"deadline_seconds": float("inf")},
    {"deadline_seconds": "1"},
    {"operation_deadline_seconds": 0},
    {"operation_deadline_seconds": float("nan")},
    {"unknown_sessions": "whatever"},
    {"medium_findings_to_halt": 0},
    {"medium_findings_to_halt": 2.5},
    {"medium_findings_to_halt": True},
    {"allow_reads_while_halted": "yes"},
    {"auto_record_high": 1},
    {"agents_may_settle": ["everything"]},
    {"agents_may_settle": "low"},
    {"configuration_seconds": float("nan")},
    {"configuration_seconds": float("inf")},
    {"configuration_seconds": -1.0},
    {"fail_open": True},
]


@pytest.mark.parametrize("values", SENSELESS_SETTINGS, ids=str)
def test_senseless_settings_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(values))):
        Settings.from_mapping(values)
