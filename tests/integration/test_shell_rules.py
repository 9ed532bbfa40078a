"""Shell rules of one's own: in every condition that reads commands, and never left out in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from haltline import Guardrail, Settings, blocking
from haltline.errors import ConfigurationError

pytestmark = pytest.mark.anyio

RULES: list[dict[str, Any]] = [
    {
        "id": "acme.wipe",
        "decision": "deny",
        "effect": "delete",
        "reason": "would wipe the customers",
        "advice": "Ask the release captain.",
        "when": [{"programs": "acme", "words": "wipe"}, {"programs": "git-frob"}],
        "examples": {"deny": ["acme wipe", "git frob"], "allow": ["acme list"]},
    },
    {
        "id": "acme.admin",
        "decision": "ask",
        "effect": "privilege",
        "reason": "would become an administrator",
        "advice": "Do it as yourself.",
        "when": [{"programs": "acme", "words": "admin"}],
        "examples": {"ask": ["acme admin"], "allow": ["acme list"]},
    },
    {
        "id": "acme.payroll",
        "decision": "ask",
        "effect": "read",
        "reason": "would read the payroll",
        "advice": "Leave it.",
        "when": [{"programs": "cat", "argument": "payroll"}],
        "examples": {"ask": ["cat payroll.csv"], "allow": ["cat notes.txt"]},
    },
]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"rules": RULES}), encoding="utf-8")
    return path


def settings(path: Path) -> Settings:
    return Settings(deadline_seconds=30, shell_rules=(str(path),))


def asking(command: str) -> dict[str, Any]:
    return {"session_token": "s", "current_context": {"operation": "work", "commands": [command]}}


@pytest.mark.parametrize(
    ("command", "condition", "severity"),
    [
        ("acme wipe", "destructive_command", "critical"),
        ("sudo sh -c 'acme wipe'", "destructive_command", "critical"),
        ("acme admin", "privilege_escalation", "critical"),
        ("./acme wipe", "destructive_command", "critical"),
        ("python -m acme wipe", "destructive_command", "critical"),
        ("python tools/acme.py wipe", "destructive_command", "critical"),
        ("./acme.sh wipe", "destructive_command", "critical"),
        ("bash ./acme wipe", "destructive_command", "critical"),
        ("git -C shop frob", "destructive_command", "critical"),
        ("git -c a.b=c --no-pager frob", "destructive_command", "critical"),
        ("cat payroll.csv", "destructive_command", "medium"),
    ],
)
async def test_conditions_use_the_rules(rules: Path, command: str, condition: str, severity: str) -> None:
    async with Guardrail.open("memory:", settings=settings(rules)) as guardrail:
        answer = await guardrail.check_halt_conditions(asking(command))
    found = {reason.condition_name: reason.severity for reason in answer.halt_reasons}
    assert found[condition] == severity


async def test_without_them_nothing_is_said(rules: Path) -> None:
    async with Guardrail.open("memory:", settings=Settings(deadline_seconds=30)) as guardrail:
        answer = await guardrail.check_halt_conditions(asking("cat payroll.csv"))
    assert answer.halt_reasons == []


async def test_what_a_rule_objects_to_is_no_read_that_passes_in_a_halt(rules: Path) -> None:
    async with Guardrail.open("memory:", settings=settings(rules)) as guardrail:
        await guardrail.record_halt(session_token="s", halt_type="scope", severity="high", description="Stop")
        assert not (await guardrail.check_halt_conditions(asking("cat notes.txt"))).should_halt
        assert (await guardrail.check_halt_conditions(asking("cat payroll.csv"))).should_halt


async def test_what_the_built_in_rules_deny_stays_denied(rules: Path) -> None:
    async with Guardrail.open("memory:", settings=settings(rules)) as guardrail:
        answer = await guardrail.check_halt_conditions(asking("rm -rf /"))
    assert answer.halt_reasons[0].condition_name == "destructive_command"
    assert answer.should_halt


def test_the_blocking_guardrail_uses_the_rules(rules: Path) -> None:
    with blocking.Guardrail.open("memory:", settings=settings(rules)) as guardrail:
        assert guardrail.check_halt_conditions(asking("acme wipe")).should_halt


@pytest.mark.parametrize("opening", [Guardrail.open, blocking.Guardrail.open])
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (None, "cannot be read"),
        ({"decision": "allow"}, "rule acme.wipe: `decision` must be deny or ask"),
        ({"examples": {"deny": ["acme"], "allow": ["ls"]}}, "rule acme.wipe: example `acme` should get deny"),
    ],
)
def test_a_file_that_does_not_hold_keeps_a_guardrail_from_being_opened(
    rules: Path, opening: Any, change: dict[str, Any] | None, problem: str
) -> None:
    if change is None:
        rules.unlink()
    else:
        rules.write_text(json.dumps({"rules": [{**RULES[0], **change}]}), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        opening("memory:", settings=settings(rules))
    assert str(rules) in str(caught.value)
    assert problem in str(caught.value)


async def test_a_change_of_the_file_holds_for_what_is_opened_after_it(rules: Path) -> None:
    async with Guardrail.open("memory:", settings=settings(rules)) as guardrail:
        rules.unlink()
        assert (await guardrail.check_halt_conditions(asking("acme wipe"))).should_halt
    with pytest.raises(ConfigurationError):
        Guardrail.open("memory:", settings=settings(rules))


async def test_a_rule_makes_no_finding_milder(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    rule = {
        **RULES[2],
        "when": [{"programs": "echo"}],
        "examples": {"ask": ["echo x"], "allow": ["cat x"]},
    }
    path.write_text(json.dumps({"rules": [rule]}), encoding="utf-8")
    command = 'echo x > logs/"$DAY".txt'
    severities = []
    for given in (Settings(deadline_seconds=30), settings(path)):
        async with Guardrail.open("memory:", settings=given) as guardrail:
            answer = await guardrail.check_halt_conditions(asking(command))
        severities.append({reason.condition_name: reason.severity for reason in answer.halt_reasons})
    without, with_rule = severities
    assert without == {name: with_rule[name] for name in without}
    assert "destructive_command" in with_rule
