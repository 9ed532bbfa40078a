from __future__ import annotations

import pytest

from haltline.text.environments import environment_of, environments_in


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("prod", "production"),
        ("PRODUCTION", "production"),
        ("live", "production"),
        ("eu-prod-1", "production"),
        ("staging", "staging"),
        ("pre-prod", "staging"),
        ("preprod", "staging"),
        ("non-prod", "staging"),
        ("qa", "test"),
        ("ci", "test"),
        ("test", "test"),
        ("dev", "development"),
        ("local", "development"),
        ("product", None),
        ("reproduce", None),
        ("", None),
        ("main", None),
    ],
)
def test_a_declared_name_stands_for_an_environment(name: str, environment: str | None) -> None:
    assert environment_of(name) == environment


@pytest.mark.parametrize(
    ("text", "environments"),
    [
        ("prod-db.internal", {"production"}),
        ("PROD_DATABASE_URL", {"production"}),
        (".env.production", {"production"}),
        ("AWS_PROFILE=prod terraform apply", {"production"}),
        ("kubectl --context prod-eu get pods", {"production"}),
        ("psql postgres://app@db.staging.example.com/app", {"staging"}),
        ("sk_" + "live_", {"production"}),
        ("sk_" + "test_", {"test"}),
        ("NODE_ENV=test npm start", {"test"}),
        ("deploy/prod/values.yaml", {"production"}),
        ("cp .env.production .env.staging", {"production", "staging"}),
        ("non-prod-db", {"staging"}),
        ("fix the production code", set()),
        ("git push origin main", set()),
        ("reproduce the bug in prodigy-db", set()),
        ("product-service.internal", set()),
        ("ls tests/unit", set()),
        ("echo x > /dev/null", set()),
        ("https://web.dev/articles", set()),
    ],
)
def test_names_in_a_text_tell_its_environments(text: str, environments: set[str]) -> None:
    assert environments_in(text) == environments


def test_a_branch_counts_only_when_told_so() -> None:
    assert environments_in("git push origin main", {"main": "production"}) == {"production"}


@pytest.mark.parametrize("piece", ["prod-", "a.", "ENV=", "://", "@a", "a_b"])
def test_a_hostile_text_names_at_most_four_environments(piece: str) -> None:
    assert len(environments_in(piece * (100_000 // len(piece)))) <= 4
