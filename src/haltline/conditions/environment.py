"""Environment: test and production kept apart, and each with its own credentials and services."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from itertools import combinations

from haltline.conditions.condition import Condition, ConditionConfig, finding, listed, quoted
from haltline.conditions.facts import Facts
from haltline.conditions.scope import PRODUCTION
from haltline.domain import Finding, HaltType, Severity
from haltline.text.environments import environment_of, environments_in

STAGING = "staging"

_TEST_RUNNERS = frozenset(
    {"pytest", "tox", "nox", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "playwright", "cypress"}
)
_LAUNCHERS = frozenset({"python", "python3", "py", "npx", "bunx", "pipx", "uvx", "php", "ruby", "node"})
"""Programs that start another one which their words name: `python -m pytest`, `npx jest`."""

_TASK_RUNNERS = frozenset(
    {
        *("npm", "yarn", "pnpm", "bun", "deno", "composer", "artisan", "go", "cargo", "mvn", "gradle"),
        *("gradlew", "dotnet", "make", "just", "task", "mix", "rails", "rake", "bundle", "sbt", "bazel"),
        *("swift", "manage.py", "django-admin", "invoke", "nx", "turbo", "poetry", "uv", "pdm", "hatch"),
    }
)
_TASKS = frozenset(
    {
        *("test", "tests", "test:unit", "test:integration", "test:e2e", "e2e", "spec"),
        *("seed", "seeds", "db:seed", "db:fixtures:load", "db:setup", "loaddata", "fixtures"),
    }
)
"""Words that make a task runner run tests or load fixtures: `npm run test`, `rails db:seed`."""


def _declared(facts: Facts) -> str | None:
    """Return the canonical name of the declared environment, or as written when nobody knows it.

    A blank one declares nothing.
    """
    written = facts.action.environment
    if written is None:
        return None
    return environment_of(written) or written.strip().lower() or None


def _tagged(facts: Facts) -> dict[str, str]:
    """Return the environments that the action's targets belong to, each with what says so.

    A path tells production and staging apart from the rest; `tests/` names no environment.
    """
    tags: dict[str, str] = {}
    for path in facts.action.paths:
        for environment in environments_in(path) & {PRODUCTION, STAGING}:
            tags.setdefault(environment, path)
    for analysis in facts.analyses:
        for effect in analysis.effects:
            if effect.environment:
                tags.setdefault(effect.environment, effect.target or analysis.text)
    return tags


def test_production_mix(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find targets tagged with another environment than the declared one, production on one side."""
    declared = _declared(facts)
    tags = _tagged(facts)
    problem = _mix(declared, tags) or _unsaid(declared, facts)
    if problem is None:
        return None
    # The digest of the action costs more than the rest of this check: only a finding pays for it.
    evidence = {"environment": declared, "touches": tags, "action": facts.action.digest}
    return finding(config, problem, evidence)


def _mix(declared: str | None, tags: Mapping[str, str]) -> str | None:
    strange = tuple(
        f"{environment} ({source})"
        for environment, source in sorted(tags.items())
        if declared is not None and environment != declared and PRODUCTION in {environment, declared}
    )
    if strange:
        return f"The environment is declared as {declared}, but the action touches {listed(strange)}"
    if declared is None and PRODUCTION in tags and len(tags) > 1:
        return f"The action touches several environments at once: {listed(tuple(sorted(tags)))}"
    return None


def _unsaid(declared: str | None, facts: Facts) -> str | None:
    if declared is None and _changes_infrastructure(facts):
        return "Changes infrastructure without saying in which environment"
    return None


def _changes_infrastructure(facts: Facts) -> bool:
    """Whether a command changes something remote whose environment nothing tells."""
    return any(
        effect.kind == "remote_change" and effect.environment is None
        for analysis in facts.analyses
        for effect in analysis.effects
    )


def credential_confusion(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find credentials that belong to another environment than the action."""
    declared = _declared(facts)
    if declared is None:
        return None
    strange = tuple(
        f"{name} ({environment})"
        for name in facts.credentials
        for environment in sorted(environments_in(name))
        if environment != declared
    )
    if not strange:
        return None
    return finding(
        config,
        f"Credentials of another environment than {declared}: {listed(strange)}",
        {"environment": declared, "credentials": sorted(strange), "action": facts.action.digest},
    )


def shared_instances(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find services that two environments both use."""
    names: dict[str, set[str]] = {}
    for name, services in facts.services.items():
        names.setdefault(environment_of(name) or name.strip().lower(), set()).update(services)
    shared = tuple(
        f"{service} ({first}, {second})"
        for first, second in combinations(sorted(names), 2)
        for service in sorted(names[first] & names[second])
    )
    if not shared:
        return None
    return finding(config, f"Environments share the same service: {listed(shared)}", {"shared": list(shared)})


def production_test_data(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find tests or fixtures that would run against a store of production."""
    declared = _declared(facts)
    for analysis in facts.analyses:
        tags = {*environments_in(analysis.text), *(effect.environment for effect in analysis.effects)}
        if PRODUCTION in {declared, *tags} and any(
            _runs_tests(command.argv) for command in analysis.commands
        ):
            return finding(
                config,
                f"Tests or fixtures would run against production: {quoted(analysis.text)}",
                {"environment": declared, "action": facts.action.digest},
            )
    return None


def _runs_tests(argv: tuple[str, ...]) -> bool:
    """Whether a command runs tests or loads fixtures, by its program and what that is told to do."""
    names = [posixpath.basename(word) for word in argv]
    if not names:
        return False
    program, words = names[0], set(names[1:])
    if program in _LAUNCHERS:
        return bool(words & _TEST_RUNNERS or (words & _TASK_RUNNERS and words & _TASKS))
    return program in _TEST_RUNNERS or (program in _TASK_RUNNERS and bool(words & _TASKS))


CONDITIONS = (
    Condition(
        name="test_production_mix",
        halt_type=HaltType.ENVIRONMENT,
        severity=Severity.CRITICAL,
        summary="The declared environment and that of the action's targets differ, or cannot be told.",
        advice="Name the environment, and use only hosts, files and profiles that belong to it.",
        check=test_production_mix,
    ),
    Condition(
        name="credential_confusion",
        halt_type=HaltType.ENVIRONMENT,
        severity=Severity.HIGH,
        summary="A credential belongs to another environment than the action.",
        advice="Use the credential of the environment you work in.",
        check=credential_confusion,
    ),
    Condition(
        name="shared_instances",
        halt_type=HaltType.ENVIRONMENT,
        severity=Severity.MEDIUM,
        summary="The configurations of two environments name the same service.",
        advice="Ask a person which environment the service belongs to before changing it.",
        check=shared_instances,
    ),
    Condition(
        name="production_test_data",
        halt_type=HaltType.ENVIRONMENT,
        severity=Severity.HIGH,
        summary="Tests or fixtures run against a store of production.",
        advice="Point the tests at a store of their own.",
        check=production_test_data,
    ),
)
