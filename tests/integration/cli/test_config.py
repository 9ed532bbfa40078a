"""`haltline config`: read, change, export and import what the conditions do."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from haltline.conditions.catalogue import CATALOGUE

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Call, Place


def condition(call: Call, name: str) -> Any:
    return call("config", "get", name, "--json").json["conditions"][name]


def break_row(place: Place, name: str) -> None:
    """Make a row senseless, as somebody with the database's password can."""
    with sqlite3.connect(place.path) as connection:
        connection.execute(
            "UPDATE halt_conditions_config SET threshold = '{\"nonsense\": 1}' WHERE condition_name = ?",
            (name,),
        )
    connection.close()


def test_every_condition_is_listed(call: Call) -> None:
    assert set(call("config", "get", "--json").json["conditions"]) == set(CATALOGUE)
    shown = call("config", "get").out
    assert all(name in shown for name in CATALOGUE)


def test_one_condition_is_explained(call: Call) -> None:
    shown = call("config", "get", "three_strikes").out
    assert "max_attempts" in shown
    assert "default 3" in shown


def test_a_condition_that_does_not_exist_is_named(call: Call) -> None:
    ended = call("config", "get", "nonsense")
    assert ended.code == 1
    assert "nonsense" in ended.err


def test_set_changes_what_is_named_and_leaves_the_rest(place: Place, call: Call) -> None:
    key = place.key()
    before = condition(call, "repeated_failure")
    changed = call(
        *("config", "set", "repeated_failure", "--severity", "critical", "--threshold", "threshold=5"),
        *("--escalate-after", "7", "--auto-escalate", "--disable"),
        key=key,
    )
    assert changed.code == 0
    assert 'repeated_failure: severity: "high" -> "critical"' in changed.out
    assert condition(call, "repeated_failure") == {
        **before,
        "severity": "critical",
        "enabled": False,
        "auto_escalate": True,
        "escalate_after_minutes": 7,
        "threshold": {**before["threshold"], "threshold": 5},
    }


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("three_strikes", "--threshold", "max_attempts=many"), id="no number"),
        pytest.param(("three_strikes", "--threshold", "max_attempts=0"), id="out of bounds"),
        pytest.param(("three_strikes", "--threshold", "unknown=1"), id="unknown value"),
        pytest.param(("three_strikes", "--threshold", "max_attempts"), id="no value"),
        pytest.param(("three_strikes", "--threshold", "max_attempts=" + "[" * 100_000), id="nested"),
        pytest.param(("three_strikes",), id="nothing to change"),
        pytest.param(("three_strikes", "--escalate-after", "0"), id="at once by minutes"),
    ],
)
def test_set_refuses_what_does_not_fit(place: Place, call: Call, arguments: tuple[str, ...]) -> None:
    before = condition(call, "three_strikes")
    ended = call("config", "set", *arguments, key=place.key())
    assert ended.code == 64
    assert condition(call, "three_strikes") == before


def test_a_change_is_in_the_audit_log_under_the_name_of_the_key(place: Place, call: Call) -> None:
    call("config", "set", "three_strikes", "--threshold", "max_attempts=5", key=place.key(name="olga"))
    with place.guardrail() as guardrail:
        changed = [entry for entry in guardrail.audit_entries() if entry.action == "config.updated"]
    assert [(entry.actor, entry.subject) for entry in changed] == [("human:olga", "three_strikes")]


def test_an_export_is_yaml_and_its_import_changes_nothing(place: Place, call: Call) -> None:
    exported = call("config", "export")
    assert exported.code == 0
    assert set(yaml.safe_load(exported.out)["conditions"]) == set(CATALOGUE)
    file = place.folder / "conditions.yaml"
    file.write_text(exported.out, "utf-8")
    ended = call("config", "import", str(file), "--yes", key=place.key())
    assert (ended.code, ended.out) == (0, "Nothing differs.\n")


def test_an_export_restores_what_it_was_made_of(place: Place, call: Call) -> None:
    key = place.key()
    file = place.folder / "conditions.yaml"
    call("config", "set", "three_strikes", "--threshold", "max_attempts=5", "--severity", "critical", key=key)
    file.write_text(call("config", "export").out, "utf-8")
    wanted = call("config", "get", "--json").json
    call("config", "set", "three_strikes", "--threshold", "max_attempts=9", "--severity", "low", key=key)
    assert call("config", "import", str(file), "--yes", key=key).code == 0
    assert call("config", "get", "--json").json == wanted


def test_an_import_shows_the_difference_before_it_changes_anything(place: Place, call: Call) -> None:
    file = place.folder / "conditions.yaml"
    file.write_text(
        "conditions: {three_strikes: {severity: critical, threshold: {max_attempts: 2}}}", "utf-8"
    )
    before = condition(call, "three_strikes")
    dry = call("config", "import", str(file), "--dry-run")
    assert dry.code == 0
    assert 'severity: "high" -> "critical"' in dry.out
    assert 'threshold: {"max_attempts": 3} -> {"max_attempts": 2}' in dry.out
    assert condition(call, "three_strikes") == before


def test_an_import_without_a_terminal_wants_to_be_told_yes(place: Place, call: Call) -> None:
    file = place.folder / "conditions.yaml"
    file.write_text("conditions: {three_strikes: {enabled: false}}", "utf-8")
    ended = call("config", "import", str(file), key=place.key())
    assert ended.code == 1
    assert "--yes" in ended.err
    assert condition(call, "three_strikes")["enabled"] is True


@pytest.mark.parametrize(("typed", "code", "enabled"), [("y\n", 0, False), ("n\n", 1, True), ("\n", 1, True)])
def test_an_import_at_a_terminal_asks(place: Place, call: Call, typed: str, code: int, enabled: bool) -> None:
    file = place.folder / "conditions.yaml"
    file.write_text("conditions: {three_strikes: {enabled: false}}", "utf-8")
    ended = place.terminal("config", "import", str(file), type_in=typed)
    assert "enabled: true -> false" in ended.out
    assert ended.code == code
    assert condition(call, "three_strikes")["enabled"] is enabled


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("nonsense: {severity: high}", id="unknown condition"),
        pytest.param("three_strikes: {severity: dreadful}", id="unknown severity"),
        pytest.param("three_strikes: {severty: low}", id="misspelt field"),
        pytest.param("three_strikes: {threshold: {max_attempts: many}}", id="wrong type"),
        pytest.param("three_strikes: {threshold: {max_attempts: .nan}}", id="no number"),
        pytest.param("three_strikes: {threshold: 3}", id="no threshold"),
        pytest.param("three_strikes: {enabled: 'yes'}", id="text for a truth value"),
        pytest.param("three_strikes: high", id="no fields"),
        pytest.param("three_strikes: {condition_name: no_rollback_plan}", id="another name inside"),
        pytest.param("three_strikes: {escalate_after_minutes: null}", id="taking away"),
        pytest.param("no_progress: {}", id="twice"),
        pytest.param("three_strikes: &a {threshold: *a}", id="alias"),
        pytest.param("three_strikes: !!python/name:os.system {}", id="object"),
        pytest.param("1: {severity: low}", id="no name"),
    ],
)
def test_one_condition_that_does_not_hold_keeps_the_others_from_changing(
    place: Place, call: Call, line: str
) -> None:
    before = call("config", "get", "--json").json
    file = place.folder / "conditions.yaml"
    file.write_text(f"conditions:\n  no_progress: {{severity: critical}}\n  {line}\n", "utf-8")
    ended = call("config", "import", str(file), "--yes", key=place.key())
    assert (ended.code, ended.out) == (64, "")
    assert str(file) in ended.err
    assert call("config", "get", "--json").json == before


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("conditions: [three_strikes]", id="a list"),
        pytest.param("conditions: {}\nsettings: {}", id="something else"),
        pytest.param("three_strikes: {severity: low}", id="without its head"),
        pytest.param("", id="empty"),
        pytest.param("x" * 1_100_000, id="too large"),
    ],
)
def test_a_file_of_another_form_is_refused(place: Place, call: Call, text: str) -> None:
    file = place.folder / "conditions.yaml"
    file.write_text(text, "utf-8")
    ended = call("config", "import", str(file), "--yes", key=place.key())
    assert (ended.code, ended.out) == (64, "")
    assert str(file) in ended.err


def test_every_problem_of_an_import_is_named_at_once(place: Place, call: Call) -> None:
    file = place.folder / "conditions.yaml"
    file.write_text("conditions: {nonsense: {}, three_strikes: {severity: dreadful}}", "utf-8")
    ended = call("config", "import", str(file), "--yes", key=place.key())
    assert "nonsense" in ended.err
    assert "three_strikes" in ended.err


def test_a_file_that_is_not_there_is_named(place: Place, call: Call) -> None:
    missing = place.folder / "missing.yaml"
    ended = call("config", "import", str(missing), "--yes", key=place.key())
    assert ended.code == 64
    assert str(missing) in ended.err


def test_a_row_that_makes_no_sense_is_shown_and_repaired(place: Place, call: Call) -> None:
    call("config", "get")
    break_row(place, "three_strikes")
    assert "three_strikes makes no sense and halts" in call("config", "get").out
    assert "makes no sense" in call("config", "get", "three_strikes").out
    repaired = call("config", "set", "three_strikes", "--threshold", "max_attempts=3", key=place.key())
    assert repaired.code == 0
    assert call("config", "get", "--json").json["broken"] == {}


def test_an_export_without_a_row_that_makes_no_sense_is_no_success(place: Place, call: Call) -> None:
    call("config", "get")
    break_row(place, "three_strikes")
    ended = call("config", "export")
    assert ended.code == 1
    assert "three_strikes" in ended.err
    assert "# three_strikes is missing here" in ended.out
    assert "three_strikes" not in yaml.safe_load(ended.out)["conditions"]


def test_another_process_sees_the_change(place: Place, call: Call) -> None:
    call("config", "set", "three_strikes", "--threshold", "max_attempts=1", key=place.key())
    ended = place.process("strikes", "record", "--session", "s", "--task", "t", "--error", "boom")
    assert ended.code == 2
