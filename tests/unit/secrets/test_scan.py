from __future__ import annotations

import string
from typing import Any

import pytest
from tests.unit.secrets import fake_tokens as tokens

from haltline.secrets import KnownValues, SecretFinding, Tier, scan

HEX = string.digits + "abcdef"


def rules(value: Any) -> list[str]:
    return [finding.rule for finding in scan(value)]


PROVEN = [
    (tokens.github("ghp"), "github-pat"),
    (tokens.github("gho"), "github-oauth"),
    (tokens.github("ghs"), "github-app"),
    (tokens.jwt(), "jwt"),
    (tokens.pem(), "private-key"),
    (tokens.pem("EC ", "\\n"), "private-key"),
]
FORMED = [
    ("github_pat_" + tokens.characters(22) + "_" + tokens.characters(59), "github-fine-grained-pat"),
    ("ghs_" + "123456_" + tokens.jwt(), "github-app"),
    ("glpat-" + tokens.characters(20), "gitlab-pat"),
    ("sk-ant-" + "api03-" + tokens.characters(95), "anthropic"),
    ("sk_live_" + tokens.characters(24), "stripe"),
    ("xoxb-" + tokens.characters(12, string.digits) + "-" + tokens.characters(24), "slack"),
    ("SG." + tokens.characters(22) + "." + tokens.characters(43), "sendgrid"),
    ("tskey-" + "auth-" + tokens.characters(16) + "-" + tokens.characters(32), "tailscale"),
    (tokens.characters(9, "123456789") + ":AA" + tokens.characters(33), "telegram-bot"),
    (tokens.characters(3) + "8Q~" + tokens.characters(34), "azure-client-secret"),
    (tokens.characters(32, HEX) + "-us" + "12", "mailchimp"),
]


@pytest.mark.parametrize(("token", "rule"), PROVEN)
def test_a_token_whose_structure_verifies_is_proof(token: str, rule: str) -> None:
    findings = scan(f"use {token} here")
    assert [(found.rule, found.tier, found.blocks) for found in findings] == [(rule, Tier.PROOF, True)]


@pytest.mark.parametrize(("token", "rule"), FORMED)
def test_a_token_of_a_documented_form_blocks(token: str, rule: str) -> None:
    findings = scan(f"use {token} here")
    assert [(found.rule, found.blocks) for found in findings] == [(rule, True)]


@pytest.mark.parametrize(("token", "rule"), PROVEN + FORMED)
def test_a_finding_spans_the_whole_token(token: str, rule: str) -> None:
    [found] = scan(f"use {token} here")
    assert (found.start, found.end) == (4, 4 + len(token)), rule


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "x" * 36,
        "AKIA" + "IOSFODNN7" + "EXAMPLE",
        "task-" + tokens.characters(48),
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:" + tokens.characters(64, HEX),
        "123e4567-e89b-42d3-a456-426614174000",
        "-----BEGIN PUBLIC KEY-----\n" + tokens.characters(120) + "\n-----END PUBLIC KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + tokens.characters(43) + " me@host",
        "MAX_TOKENS=4096",
        "api_key=api_key,",
        'password = os.environ.get("DB_PASSWORD_1")',
        '"key": "ctrl+shift+down"',
        "password=$DB_PASSWORD1",
        "token: ${{ secrets.NPM_TOKEN1 }}",
        "API_KEY=<your-api-key-1>",
        "Authorization: Bearer YOUR_API_TOKEN_1",
        "https://${USER}:${PASSWORD}@db.internal/app",
        "def login(user: str, password: str) -> Token:",
        "token_url = 'https://auth.internal/oauth2/v1'",
    ],
)
def test_what_only_looks_like_a_secret_is_clean(text: str) -> None:
    assert scan(text) == ()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("password = 'hunter2!9'", "password"),
        ("DB_PASSWORD=s3cr3tV4lue", "password"),
        ('{"api_key": "' + tokens.characters(32) + '"}', "secret-value"),
        ("Authorization: Bearer " + tokens.characters(40), "bearer-token"),
        ("Authorization: Basic ZGVwbG95OmhlbGxvMTIz", "basic-credentials"),
        ("postgres://app:w8t5Rq2x@db.internal/app", "uri-password"),
        ("curl -u deploy:w8t5Rq2x https://x.internal", "basic-password"),
        ("mysql -h db -u app -pw8t5Rq2x shop", "password"),
        ("login --password w8t5Rq2x", "password"),
    ],
)
def test_what_stands_where_secrets_stand_is_flagged_and_does_not_block(text: str, rule: str) -> None:
    assert [(found.rule, found.blocks) for found in scan(text)] == [(rule, False)]


def test_a_failed_checksum_lowers_the_tier_and_does_not_clear() -> None:
    token = tokens.github()
    wrong = token[:-1] + ("a" if token[-1] != "a" else "b")
    assert [found.tier for found in scan(wrong)] == [Tier.CONTEXT]


@pytest.mark.parametrize("header", [{"alg": "none"}, {"typ": "JWT"}])
def test_an_unsigned_token_is_clean(header: dict[str, str]) -> None:
    assert scan(tokens.jwt(header)) == ()


def test_a_public_supabase_token_is_clean() -> None:
    assert scan(tokens.jwt(claims={"role": "anon"})) == ()


def test_an_aws_id_alone_is_flagged_only() -> None:
    assert [found.blocks for found in scan(f"account {tokens.aws_id()} logged in")] == [False]


def test_an_aws_id_beside_its_secret_blocks_and_so_does_the_secret() -> None:
    findings = scan(f"{tokens.aws_id()} {tokens.characters(40)}")
    assert [(found.rule, found.blocks) for found in findings] == [
        ("aws-access-key-id", True),
        ("aws-secret-access-key", True),
    ]


def test_a_short_literal_inside_a_long_base64_blob_is_not_a_token() -> None:
    blob = tokens.characters(800) + "+AKIA" + tokens.characters(16, "ABCDEFGHJKLM234567") + "/"
    assert scan(blob + tokens.characters(800)) == ()


def test_nested_values_and_keys_are_scanned_with_their_place() -> None:
    token = tokens.github()
    findings = scan({"env": [{"GH": token}], token: 1})
    shown = [(found.path, found.in_key) for found in findings]
    assert shown[0] == (("env", 0, "GH"), False)
    assert shown[1][1]
    assert token not in repr(findings)


def test_a_key_s_name_makes_its_value_a_secret() -> None:
    assert rules({"database": {"password": "w8t5Rq2x"}}) == ["password"]


def test_bytes_are_scanned() -> None:
    assert rules(b"\xff\xfe " + tokens.github().encode()) == ["github-pat"]


def test_equal_secrets_have_equal_fingerprints() -> None:
    first, second, other = scan(f"{tokens.github()} {tokens.github()} {tokens.github(seed=8)}")
    assert first.fingerprint == second.fingerprint != other.fingerprint


def test_a_finding_never_shows_the_value() -> None:
    token = tokens.github()
    [found] = scan(token)
    assert token not in repr(found)
    assert token not in found


def test_a_finding_cannot_be_changed() -> None:
    [found] = scan(tokens.github())
    with pytest.raises(AttributeError):
        found.rule = "other"  # type: ignore[misc]
    assert isinstance(found, SecretFinding)


def test_what_is_nested_too_deeply_blocks() -> None:
    value: Any = "x"
    for _ in range(100):
        value = [value]
    assert [(found.rule, found.blocks) for found in scan(value)] == [("unscanned", True)]


def test_a_cycle_ends() -> None:
    value: list[Any] = [tokens.github()]
    value.append(value)
    assert rules(value) == ["github-pat"]


def test_an_object_without_a_text_blocks() -> None:
    class Silent:
        def __str__(self) -> str:
            raise RuntimeError

    assert rules([Silent()]) == ["unscanned"]


KNOWN = "correct-horse/battery+staple 9"


@pytest.mark.parametrize(
    "form",
    [
        KNOWN,
        KNOWN[::-1],
        KNOWN.encode().hex(),
        "correct-horse%2Fbattery%2Bstaple%209",
        "pbeerpg-ubefr/onggrel+fgncyr 9",
        "Y29ycmVjdC1ob3JzZS9iYXR0ZXJ5K3N0YXBsZSA5",
        "YWNvcnJlY3QtaG9yc2UvYmF0dGVyeStzdGFwbGUgOQ",
        "YWFjb3JyZWN0LWhvcnNlL2JhdHRlcnkrc3RhcGxlIDk",
    ],
)
def test_a_known_value_is_found_in_every_form(form: str) -> None:
    known = KnownValues([KNOWN])
    for shift in range(5):
        [found] = scan("." * shift + form + " end", known=known)
        assert (found.rule, found.tier) == ("known-value", Tier.KNOWN)


def test_known_values_from_the_environment_are_those_with_a_secret_name() -> None:
    known = KnownValues.from_environment({"DB_PASSWORD": "w8t5Rq2x77", "HOME": "/home/someone"})
    assert len(known) == 1
    assert "w8t5" not in repr(known)


def test_short_known_values_are_left_out() -> None:
    assert len(KnownValues(["abc", "1234567"])) == 0


HOSTILE = [
    "ghp_",
    "sk-",
    "AKIA",
    "eyJ",
    "-----BEGIN ",
    "password=",
    "://a:",
    "bearer ",
    "mysql -",
    "key key=",
    ":AA",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_findings_in_a_hostile_text_stay_few(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert len(scan(text)) <= 1
