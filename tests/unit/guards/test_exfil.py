"""The exfiltration guard, without any framework."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.secrets.fake_tokens import characters, github

from haltline.guards.exfil import check_arguments, is_strict

TOKEN = github()
OWN = "own" + characters(20)


@pytest.mark.parametrize(
    ("value", "strict"),
    [
        (None, True),
        ("1", True),
        ("true", True),
        ("", True),
        ("nonsense", True),
        ("off", True),
        ("0", False),
        ("false", False),
        ("no", False),
        (" NO ", False),
        ("False", False),
    ],
)
def test_only_the_three_words_of_the_specification_make_it_lax(value: str | None, strict: bool) -> None:
    assert is_strict({} if value is None else {"EXFIL_GUARD_STRICT": value}) is strict


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"body": f"token is {TOKEN}"}, "body"),
        ({"body": {"items": ["a", {"text": TOKEN}]}}, "body.items.1.text"),
        ({TOKEN: "a"}, None),
        ({"body": '{"inner": "' + TOKEN + '"}'}, "body"),
        ({"body": ["x", TOKEN.encode().hex()]}, "body.1"),
        ({"body": TOKEN.encode()}, "body"),
    ],
)
def test_a_secret_anywhere_in_the_arguments_blocks_and_is_not_shown(
    arguments: Any, place: str | None
) -> None:
    found = check_arguments("send", arguments)

    assert found is not None
    assert found.blocks
    assert TOKEN not in repr(found)
    assert "send" in found.message
    assert place is None or f" in {place}" in found.message


@pytest.mark.parametrize("arguments", [{}, {"a": 1, "b": None}, {"text": "nothing to see"}, None])
def test_nothing_found_is_none(arguments: Any) -> None:
    assert check_arguments("send", arguments) is None


def test_what_only_its_name_gives_away_does_not_block() -> None:
    found = check_arguments("send", {"text": "--password " + "hunter" + "2pw"})

    assert found is not None
    assert not found.blocks


@pytest.mark.parametrize("form", [OWN, OWN[::-1], OWN.encode().hex()])
def test_a_secret_of_this_process_blocks_in_any_form(form: str) -> None:
    assert check_arguments("send", {"text": f"see {form}."}) is None

    found = check_arguments("send", {"text": f"see {form}."}, {"SERVICE_TOKEN": OWN, "PATH": "/bin"})

    assert found is not None
    assert found.blocks
    assert OWN not in found.message


def test_the_path_of_a_credential_file_is_no_secret() -> None:
    path = "/home/user/service-key.json"

    assert check_arguments("read", {"path": path}, {"GOOGLE_APPLICATION_CREDENTIALS": path}) is None


def test_many_findings_are_counted() -> None:
    found = check_arguments("send", {"items": [github(seed=seed) for seed in range(9)]})

    assert found is not None
    assert "4 more" in found.message


def test_a_tool_that_is_named_by_a_secret_is_not_shown() -> None:
    found = check_arguments(TOKEN, {"text": TOKEN})

    assert found is not None
    assert TOKEN not in found.message
