"""Environment: test and production apart, each with its own credentials and services."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conditions.judging import CRITICAL, HIGH, MEDIUM, facts, found, judge, said

from haltline.conditions.facts import Facts

WITHOUT = "Changes infrastructure without saying in which environment"


def declared(environment: str, what: str) -> str:
    return f"The environment is declared as {environment}, but the action touches production ({what})"


class TestTestProductionMix:
    NAME = "test_production_mix"

    @pytest.mark.parametrize(
        ("of", "description"),
        [
            pytest.param(
                facts("kubectl --context prod delete pod x", environment="staging"),
                declared("staging", "pod x"),
                id="production, declared as staging",
            ),
            pytest.param(
                facts("kubectl --context staging delete pod x", environment="prod"),
                "The environment is declared as production, but the action touches staging (pod x)",
                id="staging, declared as production",
            ),
            pytest.param(
                facts(target_files=(".env.production",), environment="dev"),
                declared("development", ".env.production"),
                id="a file of production",
            ),
            pytest.param(
                facts(target_files=(".env.production",), environment="Sandkasten"),
                declared("sandkasten", ".env.production"),
                id="an environment that nobody knows",
            ),
            pytest.param(
                facts("kubectl --context staging delete pod x", "kubectl --context prod delete pod x"),
                "The action touches several environments at once: production, staging",
                id="both at once",
            ),
            pytest.param(facts("terraform apply -auto-approve"), WITHOUT, id="no environment"),
            pytest.param(
                facts("terraform apply -auto-approve", environment=" \t"), WITHOUT, id="a blank one"
            ),
            pytest.param(facts("kubectl delete pod x"), WITHOUT, id="no context"),
        ],
    )
    def test_triggers(self, of: Facts, description: str) -> None:
        assert said(self.NAME, of) == (CRITICAL, description)

    @pytest.mark.parametrize(
        "of",
        [
            pytest.param(facts(), id="nothing"),
            pytest.param(facts(environment="prod"), id="declared only"),
            pytest.param(facts("rm a"), id="a local change"),
            pytest.param(
                facts("kubectl --context prod delete pod x", environment="production"), id="the same"
            ),
            pytest.param(facts("kubectl --context staging delete pod x"), id="one, not declared"),
            pytest.param(facts("kubectl --context prod delete pod x"), id="production alone, not declared"),
            pytest.param(
                facts("kubectl --context dev delete pod x", environment="staging"), id="neither is production"
            ),
            pytest.param(
                facts(target_files=(".env.test", "docker-compose.dev.yml"), environment="prod"),
                id="files of test and development",
            ),
            pytest.param(facts("terraform apply -auto-approve", environment="dev"), id="declared"),
            pytest.param(
                facts(target_files=("tests/test_a.py",), environment="prod"), id="a folder named tests"
            ),
            pytest.param(
                facts(target_files=("src/product.py",), environment="dev"), id="a word that begins so"
            ),
        ],
    )
    def test_does_not_trigger(self, of: Facts) -> None:
        assert judge(self.NAME, of) is None

    def test_the_settlement_binds_the_action(self) -> None:
        one = found(self.NAME, facts("kubectl delete pod x"))
        assert found(self.NAME, facts("kubectl delete pod y")).evidence_digest != one.evidence_digest


class TestCredentialConfusion:
    NAME = "credential_confusion"

    @pytest.mark.parametrize(
        ("environment", "credentials", "listed"),
        [
            ("test", ("PROD_DATABASE_URL",), "PROD_DATABASE_URL (production)"),
            ("test", ("sk_live_key",), "sk_live_key (production)"),
            ("prod", ("sk_test_key",), "sk_test_key (test)"),
            ("staging", ("STAGING_KEY", "PROD_KEY"), "PROD_KEY (production)"),
            ("dev", (".env.production",), ".env.production (production)"),
        ],
    )
    def test_triggers(self, environment: str, credentials: tuple[str, ...], listed: str) -> None:
        severity, description = said(self.NAME, facts(environment=environment, credentials=credentials))
        assert severity is HIGH
        assert description.endswith(f": {listed}")
        assert description.startswith("Credentials of another environment than ")

    @pytest.mark.parametrize(
        ("environment", "credentials"),
        [
            (None, ("PROD_KEY",)),
            (" ", ("PROD_KEY",)),
            ("prod", ("PROD_KEY", "sk_live_key")),
            ("test", ("API_KEY",)),
            ("test", ()),
        ],
    )
    def test_does_not_trigger(self, environment: str | None, credentials: tuple[str, ...]) -> None:
        assert judge(self.NAME, facts(environment=environment, credentials=credentials)) is None


class TestSharedInstances:
    NAME = "shared_instances"

    @pytest.mark.parametrize(
        ("services", "listed"),
        [
            ({"test": ("db1", "cache"), "prod": ("db1",)}, "db1 (production, test)"),
            ({"dev": ("a",), "staging": ("a",)}, "a (development, staging)"),
            ({"prod": ("db1",), "production": ("x",), "test": ("db1",)}, "db1 (production, test)"),
            ({"production": ("x",), "prod": ("db1",), "test": ("db1",)}, "db1 (production, test)"),
            ({"blue": ("a",), "green": ("a",)}, "a (blue, green)"),
        ],
    )
    def test_triggers(self, services: dict[str, tuple[str, ...]], listed: str) -> None:
        assert said(self.NAME, facts(services=services)) == (
            MEDIUM,
            f"Environments share the same service: {listed}",
        )

    @pytest.mark.parametrize(
        "services",
        [
            {},
            {"prod": ("db1",)},
            {"prod": ("db1",), "test": ("db2",)},
            {"prod": ("db1",), "production": ("db1",)},
            {"prod": (), "test": ()},
        ],
    )
    def test_does_not_trigger(self, services: dict[str, tuple[str, ...]]) -> None:
        assert judge(self.NAME, facts(services=services)) is None

    def test_a_password_in_an_address_is_not_repeated(self) -> None:
        address = "postgres://app:" + "Tr0ub4dor-and-3" + "@db1.internal/app"
        finding = found(self.NAME, facts(services={"prod": (address,), "test": (address,)}))
        assert "Tr0ub4dor" not in str(finding)


class TestProductionTestData:
    NAME = "production_test_data"
    DSN = "DATABASE_URL=postgres://prod-db.internal/app"

    @pytest.mark.parametrize(
        ("command", "given"),
        [
            ("pytest", {"environment": "prod"}),
            ("python -m pytest -x", {"environment": "prod"}),
            ("python3 manage.py test", {"environment": "live"}),
            ("npm run test", {"environment": "production"}),
            ("go test ./...", {"environment": "production"}),
            ("make test", {"environment": "production"}),
            ("npx jest", {"environment": "production"}),
            ("poetry run pytest", {"environment": "production"}),
            ("bundle exec rspec", {"environment": "production"}),
            ("rails db:seed", {"environment": "production"}),
            ("cd app && timeout 60 pytest", {"environment": "production"}),
            (f"{DSN} pytest", {}),
            (f"{DSN} python manage.py loaddata users.json", {}),
            ("/opt/venv/bin/pytest --profile production", {}),
        ],
    )
    def test_triggers(self, command: str, given: dict[str, Any]) -> None:
        assert said(self.NAME, facts(command, **given)) == (
            HIGH,
            f"Tests or fixtures would run against production: {command}",
        )

    @pytest.mark.parametrize(
        ("command", "given"),
        [
            ("pytest", {}),
            ("pytest", {"environment": "test"}),
            ("DATABASE_URL=postgres://test-db.internal/app pytest", {}),
            ("cat test", {"environment": "prod"}),
            ("ls tests", {"environment": "prod"}),
            ("git commit -m test", {"environment": "prod"}),
            ("grep pytest requirements.txt", {"environment": "prod"}),
            ("pip install pytest", {"environment": "prod"}),
            ("cat majestic.log equinox.log", {"environment": "prod"}),
            ("npm run build", {"environment": "prod"}),
            ("", {"environment": "prod"}),
        ],
    )
    def test_does_not_trigger(self, command: str, given: dict[str, Any]) -> None:
        assert judge(self.NAME, facts(command, **given)) is None
