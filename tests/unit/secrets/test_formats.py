from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.secrets import fake_tokens as tokens
from tests.unit.secrets.templates import TEMPLATES

from haltline.secrets import scan
from haltline.secrets.formats import FORMATS
from haltline.secrets.validators import VALIDATORS

if TYPE_CHECKING:
    from collections.abc import Callable

MADE: dict[str, Callable[[int], str]] = {
    "atlassian": lambda seed: tokens.with_crc32("ATATT3{a60}=", seed),
    "discord-bot": tokens.discord,
    "github-app": lambda seed: tokens.github("ghs", seed),
    "github-oauth": lambda seed: tokens.github("gho", seed),
    "github-pat": lambda seed: tokens.github("ghp", seed),
    "gitlab-routable": tokens.gitlab_routable,
    "grafana-api-key": tokens.grafana_api_key,
    "grafana-service-account": lambda seed: tokens.with_crc32("glsa_{a32}_", seed),
    "jwt": lambda seed: tokens.jwt(seed=seed),
    "kerberos-hash": lambda seed: tokens.filled("$krb5asrep$23$user@corp.internal:{h32}${h64}", seed),
    "npm": lambda seed: tokens.github("npm", seed),
    "private-key": lambda seed: tokens.pem(seed=seed),
    "putty-key": tokens.putty,
    "pypi": tokens.pypi,
}
KINDS = [form.kind for form in FORMATS]
# A word that runs into a token hides no token whose literal stands inside or begins with a sign.
WHOLE_WORDS = [
    form.kind for form in FORMATS if not form.lead and form.literals[0][0].isalnum() and not form.group
]


def positive(kind: str, seed: int) -> str:
    return MADE[kind](seed) if kind in MADE else tokens.filled(TEMPLATES[kind], seed)


def test_there_are_enough_formats_and_each_is_named_once() -> None:
    assert len(KINDS) >= 150
    assert len(set(KINDS)) == len(KINDS)


@pytest.mark.parametrize("form", FORMATS, ids=KINDS)
def test_a_format_is_documented_and_bounded(form: object) -> None:
    [fields] = [known for known in FORMATS if known is form]
    assert fields.source.startswith("https://")
    assert not fields.validator or fields.validator in VALIDATORS
    assert not set(fields.kind) - set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert "*" not in fields.body.replace(r"\*", "").replace("!@#$%^&*", "")


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_a_token_is_found_alone_and_in_a_call(kind: str, seed: int) -> None:
    token = positive(kind, seed)
    for text in (token, f'curl -H "X-Key: {token}" https://api.internal/v1'):
        assert kind in {found.rule for found in scan(text)}, text


@pytest.mark.parametrize("kind", WHOLE_WORDS)
def test_a_literal_in_the_middle_of_a_word_is_no_token(kind: str) -> None:
    assert kind not in {found.rule for found in scan("x" + positive(kind, 7))}


@pytest.mark.parametrize("kind", sorted(TEMPLATES))
def test_a_crossed_out_token_is_clean(kind: str) -> None:
    assert scan(tokens.crossed_out(TEMPLATES[kind])) == ()


@pytest.mark.parametrize("kind", sorted(set(TEMPLATES) & set(WHOLE_WORDS)))
def test_the_beginning_of_a_token_does_not_block(kind: str) -> None:
    literal = TEMPLATES[kind].split("{")[0]
    assert not [found for found in scan(literal + "a1B2") if found.blocks]
