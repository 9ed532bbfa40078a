"""The page of the conditions says of each what the catalogue says, and its examples do what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from haltline.conditions.catalogue import CATALOGUE, default_config
from haltline.conditions.evaluate import evaluate
from haltline.records import SessionView
from haltline.service.translation import facts_of
from haltline.wire import CheckHaltConditionsInput, parse

PAGE = (Path(__file__).parents[3] / "docs" / "conditions.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))
EXAMPLES = [
    pytest.param(name, kind, json.loads(request), id=f"{name}-{kind}")
    for name, text in SECTIONS.items()
    for kind, request in re.findall(r"^```json (\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
]


def test_every_condition_has_its_section_in_the_order_of_the_catalogue() -> None:
    assert list(SECTIONS) == list(CATALOGUE)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_section_has_type_severity_summary_and_advice(name: str) -> None:
    condition = CATALOGUE[name]
    text = SECTIONS[name]
    assert f"Type `{condition.halt_type}`, severity **{condition.severity}**." in text
    assert condition.summary in text
    assert condition.advice in text


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_section_has_every_field_of_the_threshold(name: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (.*) \|$", SECTIONS[name], re.MULTILINE)
    fields = CATALOGUE[name].threshold.items()
    assert rows == [(key, json.dumps(field.default), field.meaning) for key, field in fields]


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_section_has_an_example_that_passes_and_one_that_halts(name: str) -> None:
    kinds = {"passes"} if name == "secrets_exposure" else {"halts", "passes"}
    assert set(re.findall(r"^```json (\w+)$", SECTIONS[name], re.MULTILINE)) == kinds


@pytest.mark.parametrize(("name", "kind", "request_"), EXAMPLES)
def test_the_example_does_what_the_page_says(name: str, kind: str, request_: dict[str, Any]) -> None:
    parsed = parse(CheckHaltConditionsInput, {"session_token": "s", **request_}, {})
    found = evaluate(facts_of(parsed, SessionView(None), None), default_config(CATALOGUE[name]))
    assert (found is not None) is (kind == "halts")
    assert found is None or found.reason_code is None
