"""Running the conditions in threads: in order, within a time, and none of them holds the others up."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.conditions.judging import CRITICAL, changes, config, facts, judge

import haltline.shell
from haltline.conditions.catalogue import CATALOGUE, default_config
from haltline.conditions.condition import ConditionConfig, finding
from haltline.conditions.facts import Facts
from haltline.domain import Finding, ReasonCode
from haltline.service.running import run_conditions
from haltline.store.worker import Lanes

pytestmark = pytest.mark.anyio

SECONDS = 30.0
"""More than any of these conditions takes, unless it is meant to hang."""

SHORT = 0.3
"""How long a condition is waited for that hangs. The tests count what is answered, and measure no time."""


@pytest.fixture
def lanes() -> Iterator[Lanes]:
    opened = Lanes("test", limit=16)
    yield opened
    opened.close(1)


@pytest.fixture
def block() -> Iterator[Callable[..., None]]:
    """Hang until the test is over."""
    over = threading.Event()

    def hang(*_arguments: object, **_options: object) -> None:
        over.wait(60)

    yield hang
    over.set()


Replace = Callable[[str, Callable[..., Any]], None]


@pytest.fixture
def replace_check(monkeypatch: pytest.MonkeyPatch) -> Replace:
    def replaced(name: str, check: Callable[..., Any]) -> None:
        monkeypatch.setitem(CATALOGUE, name, replace(CATALOGUE[name], check=check))

    return replaced


def everything() -> list[ConditionConfig]:
    return [default_config(condition) for condition in CATALOGUE.values()]


def always(_: Facts, of: ConditionConfig) -> Finding:
    return finding(of, "always", {})


async def names(
    lanes: Lanes, of: Facts, configs: list[ConditionConfig], seconds: float = SECONDS
) -> list[str]:
    _, found = await run_conditions(lanes, of, configs, seconds)
    return [item.condition_name for item in found]


async def test_nothing_to_run_finds_nothing(lanes: Lanes) -> None:
    assert await run_conditions(lanes, facts(), [], SECONDS) == (facts(), ())


async def test_every_condition_that_finds_something_reports_in_order(
    lanes: Lanes, replace_check: Replace
) -> None:
    for name in CATALOGUE:
        replace_check(name, always)
    assert await names(lanes, facts(), everything()) == list(CATALOGUE)


async def test_the_specifications_first_example_is_found_in_its_order(lanes: Lanes) -> None:
    of = facts(
        target_files=("src/auth.js",),
        files_read=("src/app.js",),
        declared_attempts=1,
        changes=changes("src/auth.js", has_tests=False, has_rollback_plan=False),
    )
    assert await names(lanes, of, everything()) == ["modifying_unread_code", "no_rollback_plan"]


async def test_a_disabled_condition_does_not_run(lanes: Lanes, replace_check: Replace) -> None:
    replace_check("no_progress", always)
    replace_check("repeated_failure", always)
    configs = [replace(config("no_progress"), enabled=False), config("repeated_failure")]
    assert await names(lanes, facts(), configs) == ["repeated_failure"]


async def test_a_condition_that_raises_is_found_and_the_others_still_report(
    lanes: Lanes, replace_check: Replace
) -> None:
    def raising(*_: object) -> None:
        raise ValueError("broken")

    for name in CATALOGUE:
        replace_check(name, raising if name == "out_of_scope" else always)
    _, found = await run_conditions(lanes, facts(), everything(), SECONDS)
    assert [item.condition_name for item in found] == list(CATALOGUE)
    (failed,) = (item for item in found if item.reason_code)
    assert (failed.condition_name, failed.severity, failed.description) == (
        "out_of_scope",
        CRITICAL,
        "Halt check failed: ValueError: broken",
    )


@pytest.mark.parametrize("position", [0, 11, 23])
async def test_a_condition_that_never_returns_is_late_and_the_others_still_report(
    lanes: Lanes, replace_check: Replace, block: Callable[..., None], position: int
) -> None:
    stuck = list(CATALOGUE)[position]
    for name in CATALOGUE:
        replace_check(name, block if name == stuck else always)
    _, found = await run_conditions(lanes, facts(), everything(), SHORT)
    assert [item.condition_name for item in found] == list(CATALOGUE)
    (late,) = (item for item in found if item.reason_code)
    assert (late.condition_name, late.severity, late.reason_code, late.waivable) == (
        stuck,
        CRITICAL,
        ReasonCode.DEADLINE_EXCEEDED,
        False,
    )
    assert late.description == f"Halt check failed: {stuck} did not answer in 300 ms"


async def test_when_all_hang_all_are_late(
    lanes: Lanes, replace_check: Replace, block: Callable[..., None]
) -> None:
    for name in CATALOGUE:
        replace_check(name, block)
    _, found = await run_conditions(lanes, facts(), everything(), SHORT)
    assert found
    assert {item.reason_code for item in found} == {ReasonCode.DEADLINE_EXCEEDED}
    rest = len(CATALOGUE) - len(found)
    assert f" and {rest} more conditions did not answer" in found[-1].description


async def test_without_time_nothing_passes(lanes: Lanes) -> None:
    _, found = await run_conditions(lanes, facts(), everything(), 0)
    (late,) = found
    assert late.reason_code is ReasonCode.DEADLINE_EXCEEDED
    assert "modifying_unread_code and 23 more conditions" in late.description


async def test_when_no_thread_is_free_nothing_passes(
    block: Callable[..., None], replace_check: Replace
) -> None:
    busy = Lanes("busy", limit=1)
    replace_check("no_progress", block)
    await run_conditions(busy, facts(), [config("no_progress")], SHORT)
    _, found = await run_conditions(busy, facts(), [config("repeated_failure")], SHORT)
    assert [item.reason_code for item in found] == [ReasonCode.DEADLINE_EXCEEDED]


async def test_a_condition_that_returns_too_late_is_not_heard_and_what_follows_it_runs_once(
    lanes: Lanes, replace_check: Replace
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    ran = []

    def slow(of: Facts, of_config: ConditionConfig) -> Finding:
        begun.set()
        go_on.wait(60)
        return always(of, of_config)

    def last(of: Facts, of_config: ConditionConfig) -> Finding:
        ran.append(of_config.condition_name)
        go_on.set()
        return always(of, of_config)

    replace_check("no_progress", slow)
    replace_check("repeated_failure", last)
    configs = [config("no_progress"), config("repeated_failure")]
    assert await names(lanes, facts(), configs, SHORT) == ["no_progress", "repeated_failure"]
    assert begun.is_set()
    lanes.close(30)
    assert ran == ["repeated_failure"]


async def test_an_analysis_that_never_returns_stops_those_that_need_it_and_no_others(
    lanes: Lanes, monkeypatch: pytest.MonkeyPatch, block: Callable[..., None]
) -> None:
    monkeypatch.setattr(haltline.shell, "analyze", block)
    of = facts("ls", recorded_attempts=3, recent_responses=("same",) * 5)
    known, found = await run_conditions(lanes, of, everything(), SHORT)
    by_name = {item.condition_name: item.reason_code for item in found}
    assert by_name["destructive_command"] is ReasonCode.DEADLINE_EXCEEDED
    assert by_name["unknown_commands"] is ReasonCode.DEADLINE_EXCEEDED
    assert by_name["three_strikes"] is None
    assert by_name["no_progress"] is None
    assert not known.is_analysed


async def test_an_analysis_that_raises_is_a_failure_of_those_that_need_it(
    lanes: Lanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raising(*_args: object, **_options: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(haltline.shell, "analyze", raising)
    _, found = await run_conditions(lanes, facts("ls", recorded_attempts=3), everything(), SECONDS)
    by_name = {item.condition_name: item.reason_code for item in found}
    assert by_name["destructive_command"] is ReasonCode.CHECK_FAILED
    assert by_name["modifying_unread_code"] is ReasonCode.CHECK_FAILED
    assert by_name["three_strikes"] is None


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with a file, a folder, and links in and out of it."""
    inside = tmp_path / "work"
    (inside / "src").mkdir(parents=True)
    (inside / "src" / "known.py").write_text("x = 1")
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere" / "known.py").write_text("y = 2")
    (inside / "link").symlink_to(tmp_path / "elsewhere" / "deep")
    (inside / "dangling").symlink_to(tmp_path / "nowhere")
    (inside / "file_link").symlink_to(tmp_path / "elsewhere" / "known.py")
    return inside


async def gathered(lanes: Lanes, of: Facts) -> Facts:
    known, _ = await run_conditions(lanes, of, [config("modifying_unread_code")], SECONDS)
    return known


@pytest.mark.parametrize(
    ("path", "absent"),
    [
        ("new.py", True),
        ("src/new.py", True),
        ("new/folder/new.py", True),
        ("src/old/../new.py", True),
        ("src\\new.py", True),
        ("src/known.py", False),
        ("./src/../src/known.py", False),
        ("src\\known.py", False),
        ("src", False),
        ("dangling", False),
        ("file_link", False),
        ("src/known.py/below", False),
        ("x" * 300, False),
        ("~/new.py", False),
        ("$HOME/new.py", False),
        ("%USERPROFILE%/new.py", False),
        ("src/*.py", False),
        ("src/know?.py", False),
        ("src/{known,new}.py", False),
        ("file:///etc/passwd", False),
    ],
)
async def test_a_file_is_new_only_when_it_provably_does_not_exist(
    lanes: Lanes, workspace: Path, path: str, absent: bool
) -> None:
    of = facts(target_files=(path,), workspace=str(workspace))
    known = await gathered(lanes, of)
    assert known.absent_files == (frozenset({path}) if absent else frozenset())
    assert (judge("modifying_unread_code", known) is None) is absent


async def test_without_a_workspace_no_file_is_new(lanes: Lanes) -> None:
    known = await gathered(lanes, facts(target_files=("surely/not/there.py",)))
    assert known.absent_files == frozenset()


@pytest.mark.parametrize(
    ("command", "halts"),
    [("echo x > new.py", False), ("echo x > src/known.py", True), ("echo x > 'src/'$NAME", False)],
)
async def test_files_that_a_command_would_make_anew_need_no_reading(
    lanes: Lanes, workspace: Path, command: str, halts: bool
) -> None:
    found = await names(lanes, facts(command, workspace=str(workspace)), [config("modifying_unread_code")])
    assert bool(found) is halts


async def test_a_path_that_climbs_out_of_a_link_leads_where_the_link_leads(
    lanes: Lanes, workspace: Path
) -> None:
    of = facts(
        target_files=("link/../known.py",),
        files_read=("known.py", "src/known.py"),
        workspace=str(workspace),
    )
    known = await gathered(lanes, of)
    assert known.path_key("link/../known.py") == str(workspace.parent / "elsewhere" / "known.py")
    assert judge("modifying_unread_code", known) is not None


@pytest.mark.parametrize("read", ["src/known.py", "src/../src/known.py", "./src/known.py"])
async def test_a_path_that_climbs_without_a_link_leads_where_it_seems_to_lead(
    lanes: Lanes, workspace: Path, read: str
) -> None:
    of = facts(target_files=("src/x/../known.py",), files_read=(read,), workspace=str(workspace))
    assert await names(lanes, of, [config("modifying_unread_code")]) == []


async def test_a_file_system_that_hangs_stops_no_condition_that_does_not_need_it(
    lanes: Lanes, monkeypatch: pytest.MonkeyPatch, block: Callable[..., None], workspace: Path
) -> None:
    monkeypatch.setattr(os, "lstat", block)
    of = facts(target_files=("new.py",), recorded_attempts=3, workspace=str(workspace))
    known, found = await run_conditions(lanes, of, everything(), SHORT)
    by_name = {item.condition_name: item.reason_code for item in found}
    assert by_name["three_strikes"] is None
    assert "modifying_unread_code" in by_name
    assert known.absent_files == frozenset()


async def test_a_folder_that_may_not_be_looked_into_proves_nothing(
    lanes: Lanes, monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "lstat", refuse)
    known = await gathered(lanes, facts(target_files=("new.py",), workspace=str(workspace)))
    assert known.absent_files == frozenset()
