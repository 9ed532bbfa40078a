from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from haltline.errors import ConfigurationError
from haltline.shell import analyze, classify, load_rules

RULE: dict[str, Any] = {
    "id": "acme.release",
    "decision": "ask",
    "effect": "remote_change",
    "reason": "would release to every customer",
    "advice": "Ask the release captain.",
    "when": [{"programs": "acme", "words": "release", "without": "--dry-run"}],
    "examples": {
        "ask": ["acme release v2", "sudo acme release"],
        "allow": ["acme build", "acme release --dry-run"],
    },
}


def written(tmp_path: Path, *rules: dict[str, Any], **more: Any) -> Path:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"rules": list(rules), **more}))
    return path


def test_a_rule_file_adds_to_the_built_in_rules(tmp_path: Path) -> None:
    book = load_rules(written(tmp_path, RULE))

    assert classify("acme release v3", rules=book) == ("ask", "would release to every customer: v3")
    assert classify("ls && bash -c 'acme release v3'", rules=book) is not None
    assert classify("rm -rf /", rules=book) == classify("rm -rf /")
    assert classify("acme release v3") is None
    assert analyze("acme release v3", rules=book).verdicts[0].rule_id == "acme.release"


def test_a_rule_file_may_be_toml(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(
        '[[rules]]\nid = "acme.x"\ndecision = "deny"\neffect = "delete"\nreason = "r"\nadvice = "a."\n'
        'when = [{programs = "acme", words = "wipe"}]\n'
        'examples = {deny = ["acme wipe"], allow = ["acme list"]}\n'
    )

    assert classify("acme wipe now", rules=load_rules(path)) == ("deny", "r: now")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": "forbid"}, "rule acme.release: `decision` must be deny or ask, not 'forbid'"),
        ({"reason": ""}, "rule acme.release: `reason` is missing"),
        ({"effect": "boom"}, "rule acme.release: `effect` must be one of"),
        ({"colour": "red"}, "rule acme.release: unknown key `colour`"),
        ({"id": "Release"}, "`id` must look like family.name"),
        ({"id": "git.clean"}, "rule git.clean: another rule has this id"),
        ({"when": [{"words": "x"}]}, "condition 1: `programs` must name at least one program"),
        ({"when": [{"programs": "acme", "wordz": "x"}]}, "condition 1: unknown key `wordz`"),
        ({"when": [{"programs": "acme", "argument": "("}]}, "condition 1: `(` is no regular expression"),
        ({"examples": {"ask": ["acme release"]}}, "one that it allows"),
        (
            {"examples": {"ask": ["acme build"], "allow": ["ls"]}},
            "example `acme build` should get ask from this rule, but gets nothing",
        ),
        (
            {"examples": {"ask": ["acme release"], "allow": ["acme release x"]}},
            "example `acme release x` is listed under allow",
        ),
    ],
)  # fmt: skip
def test_a_rule_that_does_not_hold_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, {**RULE, **change})

    with pytest.raises(ConfigurationError) as caught:
        load_rules(path)

    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"rules": []}', '{"rules": [1]}', '{"rulez": 1}'])
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rules.json"
    path.write_text(text)

    with pytest.raises(ConfigurationError, match=str(path)):
        load_rules(path)


def test_the_example_of_the_documentation_holds(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "shell.md").read_text(encoding="utf-8")
    path = tmp_path / "rules.toml"
    path.write_text(page.split("```toml\n")[1].split("```")[0])

    assert classify("acme --env x release v2", rules=load_rules(path)) is not None


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_rules(tmp_path / "none.json")


def test_every_problem_is_listed(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_rules(written(tmp_path, {**RULE, "decision": "x", "effect": "y"}, more=1))

    assert len(caught.value.problems) == 4
