"""Code safety: changing what was not read, breaking what others use, changing without a way back."""

from __future__ import annotations

from haltline.conditions.condition import Condition, ConditionConfig, ThresholdField, finding, listed
from haltline.conditions.facts import Facts
from haltline.domain import Finding, HaltType, Severity


def modifying_unread_code(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find files that the action modifies and that were not read in this session."""
    if not config.threshold["requires_read"]:
        return None
    read = {facts.path_key(path) for path in facts.files_read}
    known = read | {facts.path_key(path) for path in facts.absent_files}
    unread = tuple(path for path in facts.modified_files if facts.path_key(path) not in known)
    if not unread:
        return None
    verb = "has" if len(unread) == 1 else "have"
    return finding(
        config,
        f"Attempting to modify {listed(unread)} which {verb} not been read",
        {"files_not_read": sorted(facts.path_key(path) for path in unread), **facts.binding},
        annotations={"files_not_read": unread},
    )


def _dependents(facts: Facts) -> dict[str, tuple[str, ...]]:
    """Return the files that use each file of the action, however its path is spelled."""
    changes = facts.action.changes
    if changes is None or not changes.dependents:
        return {}
    users: dict[str, list[str]] = {}
    for path, files in changes.dependents.items():
        users.setdefault(facts.path_key(path), []).extend(files)
    return {path: tuple(users.get(facts.path_key(path), ())) for path in facts.action.paths}


def breaking_changes(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find changes whose tests fail, or that nothing tests although other files depend on them."""
    changes = facts.action.changes
    if changes is None or not config.threshold["requires_tests_pass"]:
        return None
    if changes.tests_pass is False:
        return finding(config, "Tests fail with the proposed changes", {"action": facts.action.digest})
    used = tuple(path for path, users in _dependents(facts).items() if users)
    if changes.has_tests or not used:
        return None
    return finding(
        config,
        f"No tests cover {listed(used)}, which other files depend on",
        {"untested": sorted(used), "action": facts.action.digest},
    )


def no_rollback_plan(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find changes that are declared to have no way back."""
    changes = facts.action.changes
    if changes is None or changes.has_rollback_plan:
        return None
    return finding(config, "No rollback plan provided for changes", {"action": facts.action.digest})


def unknown_dependencies(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find files that use a file to be modified and were neither read nor named."""
    users = dict.fromkeys(user for users in _dependents(facts).values() for user in users)
    known = {facts.path_key(path) for path in (*facts.files_read, *facts.action.paths)} if users else set()
    unchecked = tuple(user for user in users if facts.path_key(user) not in known)
    if not unchecked:
        return None
    return finding(
        config,
        f"Files that depend on the change were not looked at: {listed(unchecked)}",
        {"unchecked": sorted(unchecked), "action": facts.action.digest},
    )


CONDITIONS = (
    Condition(
        name="modifying_unread_code",
        halt_type=HaltType.CODE_SAFETY,
        severity=Severity.CRITICAL,
        summary="A file to be modified, also by a command, was not read in this session.",
        advice="Read the file first, then check again. A file that does not exist yet needs no reading.",
        check=modifying_unread_code,
        threshold={
            "requires_read": ThresholdField(True, "whether files must be read before they are modified")
        },
    ),
    Condition(
        name="breaking_changes",
        halt_type=HaltType.CODE_SAFETY,
        severity=Severity.HIGH,
        summary="Tests fail with the change, or nothing tests a file that others depend on.",
        advice="Make the tests pass, or write the missing ones, before the change goes in.",
        check=breaking_changes,
        threshold={"requires_tests_pass": ThresholdField(True, "whether failing or missing tests halt")},
    ),
    Condition(
        name="no_rollback_plan",
        halt_type=HaltType.CODE_SAFETY,
        severity=Severity.HIGH,
        summary="The proposed change is declared to have no rollback plan.",
        advice="Say how the change is taken back: a commit to revert to, a backup, a migration downwards.",
        check=no_rollback_plan,
    ),
    Condition(
        name="unknown_dependencies",
        halt_type=HaltType.CODE_SAFETY,
        severity=Severity.MEDIUM,
        summary="Files that depend on the target were neither read nor named.",
        advice="Read the files that use the target, then check again.",
        check=unknown_dependencies,
    ),
)
