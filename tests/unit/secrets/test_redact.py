from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.secrets import fake_tokens as tokens

from haltline.secrets import KnownValues, configure_fingerprint_key, redact, scan
from haltline.secrets.redaction import MINIMUM_REPEATED
from haltline.secrets.scanner import scan_text

SENTINEL = re.compile(r"«secret:github-pat:[0-9a-f]{6}»")


def test_every_occurrence_is_replaced_by_the_same_sentinel() -> None:
    token = tokens.github()
    clean = redact(f"a {token} b {token}")
    assert len(SENTINEL.findall(clean)) == 2
    assert len(set(SENTINEL.findall(clean))) == 1


def test_a_value_found_in_one_place_is_masked_in_all() -> None:
    clean = redact({"password": "w8t5Rq2x", "note": "try w8t5Rq2x then"})
    assert "w8t5" not in repr(clean)


def test_keys_are_masked_and_none_is_lost() -> None:
    first, second = tokens.github(), tokens.github(seed=8)
    clean = redact({first: 1, second: 2, "plain": 3})
    assert sorted(clean.values()) == [1, 2, 3]
    assert first not in repr(clean)


@pytest.mark.parametrize("value", ["x", b"x", 1, 1.5, None, True, [1, "a"], (1, "a"), {"a": [None]}, {1, 2}])
def test_a_clean_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    clean = redact(value)
    assert clean == value
    assert type(clean) is type(value)


def test_bytes_stay_bytes() -> None:
    clean = redact(b"\xff " + tokens.github().encode())
    assert clean.startswith(b"\xff \xc2\xabsecret:github-pat:")


def test_the_argument_is_not_changed() -> None:
    value = {"a": [tokens.github()]}
    redact(value)
    assert value == {"a": [tokens.github()]}


def test_a_forged_sentinel_does_not_hide_a_secret() -> None:
    assert redact("«secret:password=hunter2x9:3f9a1c»") != "«secret:password=hunter2x9:3f9a1c»"


def test_the_key_decides_the_fingerprint() -> None:
    configure_fingerprint_key(b"k" * 32)
    first = redact(tokens.github())
    configure_fingerprint_key(b"l" * 32)
    assert redact(tokens.github()) != first


def test_a_short_fingerprint_key_is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        configure_fingerprint_key(b"short")


def test_a_private_key_is_masked_whole() -> None:
    assert re.fullmatch(r"«secret:private-key:[0-9a-f]{6}»", redact(tokens.pem()))


def test_known_values_are_masked() -> None:
    assert "battery" not in redact("say correct-horse-battery", known=KnownValues(["correct-horse-battery"]))


def test_a_cycle_ends() -> None:
    value: list[Any] = [tokens.github()]
    value.append(value)
    assert tokens.github() not in repr(redact(value))


def test_a_shared_part_is_rebuilt_once() -> None:
    part: Any = [tokens.github()]
    for _ in range(40):
        part = [part, part]
    clean = redact(part)
    assert clean[0] is clean[1]


PIECES = st.sampled_from(
    [
        tokens.github(),
        tokens.jwt(),
        tokens.aws_id(),
        tokens.characters(40),
        "password=",
        "hunter2x9",
        "Bearer ",
        "://u:",
        "@host",
        '"',
        "'",
        ": ",
        " ",
        "\n",
        "«secret:password:3f9a1c»",
        "«secret:",
        "»",
        "secret ",
        "token is ",
        "\ud800",
        "-----BEGIN PRIVATE KEY-----",
    ]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=10).map("".join))
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers() | st.binary(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_redacting_twice_is_redacting_once(value: Any) -> None:
    once = redact(value)
    assert redact(once) == once


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_nothing_is_found_in_what_was_redacted(value: Any) -> None:
    assert scan(redact(value)) == ()


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_no_found_value_survives(text: str) -> None:
    clean = re.sub(r"«secret:[a-z0-9-]+:[0-9a-f]{6}»", "", redact(text))
    for hit in scan_text(text):
        assert len(hit.value) < MINIMUM_REPEATED or hit.value not in clean


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXTS, max_size=6))
def test_a_text_among_others_shows_what_it_shows_alone(texts: list[str]) -> None:
    together = {(found.path[0], found.rule) for found in scan(texts) if "split" not in found.decoded}
    alone = {
        (index, found.rule)
        for index, text in enumerate(texts)
        for found in scan(text)
        if "split" not in found.decoded
    }
    assert together >= alone


def test_a_spaced_out_token_among_long_texts_is_masked() -> None:
    value = ["ordinary sentences of ordinary length, over and over " * 20, " ".join(tokens.github())]
    assert scan(redact(value)) == ()
    assert redact(value)[1] != value[1]
