"""Run the conditions beside the event loop, so that one that hangs holds nobody up but itself."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from haltline.conditions.condition import ConditionConfig
from haltline.conditions.evaluate import evaluate, late_check
from haltline.conditions.facts import Facts
from haltline.domain import Finding
from haltline.service.scripts import script_reader
from haltline.store.worker import Lanes

_LEAST_SHARE_SECONDS = 0.02

_NOT_A_PATH_ITSELF = re.compile(r"^~|[$*?{%]|://")
"""What whoever opens the file may replace first: home directories, variables, patterns, addresses. That no
file has such a name says nothing about the file that is meant."""


class _Batch:
    """Conditions that one thread runs in order; what is done and what is running can be seen from outside."""

    def __init__(self, facts: Facts, configs: Sequence[ConditionConfig], *, gathers: bool) -> None:
        self.facts = facts
        self.configs = configs
        self.gathers = gathers
        self.gathered = not gathers
        self.findings: list[Finding] = []
        self.done = 0
        self.abandoned = False

    def run(self) -> None:
        """Gather what must be looked up, then run the conditions until all are done or nobody waits."""
        if self.gathers:
            self.facts = _gathered(self.facts)
            self.gathered = True
        for config in self.configs:
            found = evaluate(self.facts, config)
            if self.abandoned:
                return
            if found is not None:
                self.findings.append(found)
            self.done += 1


async def run_conditions(
    lanes: Lanes, facts: Facts, configs: Sequence[ConditionConfig], seconds: float
) -> tuple[Facts, tuple[Finding, ...]]:
    """Return the facts as gathered, and the findings of the conditions in their order, within a time.

    They run in one thread, one after another, since each takes microseconds. One that does not return is
    interrupted and reported as a failed check; the others go on in another thread with half of the remaining
    time. Files are looked up and commands analysed once, before: where that does not return, nothing is known
    of them, and the conditions that need the analysis say that there is none.
    """
    ends = anyio.current_time() + seconds
    findings: list[Finding] = []
    waiting = [config for config in configs if config.enabled]
    gathers = True
    while waiting:
        left = ends - anyio.current_time()
        if left <= 0:
            return facts, (*findings, late_check(waiting[0], seconds, len(waiting) - 1))
        batch = _Batch(facts, waiting, gathers=gathers)
        gathers = False
        with anyio.move_on_after(max(left / 2, min(left, _LEAST_SHARE_SECONDS))):
            await lanes.run_abandonable(batch.run)
        batch.abandoned = True
        if not batch.gathered:
            facts = facts.without_analyses()
            continue
        done, facts = batch.done, batch.facts
        findings += batch.findings
        if done < len(waiting):
            findings.append(late_check(waiting[done], seconds))
        waiting = waiting[done + 1 :]
    return facts, tuple(findings)


def _gathered(facts: Facts) -> Facts:
    """Return the facts with what the commands would do, and what the file system says of the files.

    The scripts that commands run are read for that. Which files provably do not exist yet: a path whose
    folder cannot be looked into is not proved absent, and a dangling symbolic link exists. Which are
    directories. And where paths with `..` lead. All of it needs a workspace: without one nobody knows where a
    relative path starts. Commands that cannot be analysed prove nothing; the conditions that need the
    analysis report that.
    """
    if facts.workspace is None:
        _modified(facts)
        return facts
    facts = replace(facts, home=_home(), read_script=script_reader(facts.workspace))
    modified = _modified(facts)
    climbing = {path for path in (*modified, *facts.files_read) if ".." in path}
    real_paths = {path: _real_path(facts, path) for path in climbing}
    facts = facts.knowing(absent_files=frozenset(), real_paths=real_paths)
    directories = frozenset(path for path in modified if _is_directory(facts, path))
    facts = facts.knowing(absent_files=frozenset(), real_paths=real_paths, directories=directories)
    absent = frozenset(path for path in _modified(facts) if _is_absent(facts, path))
    return facts.knowing(absent_files=absent, real_paths=real_paths, directories=directories)


def _modified(facts: Facts) -> tuple[str, ...]:
    try:
        return facts.modified_files
    except Exception:  # noqa: BLE001 - the conditions ask for the analysis again, and say what was wrong
        return facts.action.paths


def _home() -> str | None:
    try:
        return str(Path.home())
    except RuntimeError:
        return None


def _is_directory(facts: Facts, path: str) -> bool:
    if path in facts.action.paths:  # what the agent itself calls a file to be modified
        return False
    try:
        return Path(facts.path_key(path)).is_dir()
    except (OSError, ValueError):
        return False


def _real_path(facts: Facts, path: str) -> str:
    return os.path.realpath(Path(facts.workspace or "", path.replace("\\", "/")))


def _is_absent(facts: Facts, path: str) -> bool:
    if _NOT_A_PATH_ITSELF.search(path):
        return False
    try:
        os.lstat(facts.path_key(path))
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False
