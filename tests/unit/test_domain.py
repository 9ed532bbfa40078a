"""The vocabulary: one text for one value, and times that sort."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltline.domain import Principal, PrincipalKind, Severity, canonical_json, digest, parse_utc, utc_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
moments = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(9000, 1, 1)).map(  # noqa: DTZ001 - UTC is put on
    lambda moment: moment.replace(tzinfo=UTC)
)


def test_severities_are_ordered() -> None:
    assert [severity.rank for severity in Severity] == [0, 1, 2, 3]
    assert list(Severity) == ["low", "medium", "high", "critical"]


@given(json_values)
def test_canonical_json_says_the_same_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(), json_values))
def test_the_order_of_keys_does_not_matter(value: dict[str, Any]) -> None:
    backwards = dict(reversed(value.items()))
    assert canonical_json(backwards) == canonical_json(value)
    assert digest(backwards) == digest(value)


@given(json_values, json_values)
def test_only_equal_values_have_one_digest(one: Any, other: Any) -> None:
    assert (digest(one) == digest(other)) is (canonical_json(one) == canonical_json(other))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_has_no_json_text_has_no_digest(value: Any) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        digest(value)


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), {(1, 2): 3}])
def test_what_json_does_not_know_has_no_digest(value: Any) -> None:
    with pytest.raises(TypeError):
        digest(value)


def test_a_digest_is_sha_256_in_lower_case() -> None:
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert len(digest("\ud800")) == 64


@given(moments)
def test_a_moment_comes_back(moment: datetime) -> None:
    assert parse_utc(utc_text(moment)) == moment


@given(moments, moments)
def test_moments_sort_as_text(one: datetime, other: datetime) -> None:
    assert (utc_text(one) < utc_text(other)) is (one < other)


def test_a_moment_elsewhere_is_told_in_utc() -> None:
    east = datetime(2026, 3, 1, 14, 30, tzinfo=timezone(timedelta(hours=2)))
    assert utc_text(east) == "2026-03-01T12:30:00.000000Z"


@pytest.mark.parametrize("kind", PrincipalKind)
def test_a_principal_is_told_by_kind_and_name(kind: PrincipalKind) -> None:
    assert str(Principal(kind, "maria")) == f"{kind}:maria"
