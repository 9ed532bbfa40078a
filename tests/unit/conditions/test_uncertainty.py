"""Uncertainty: the bands of the specification's scale."""

from __future__ import annotations

import pytest
from tests.unit.conditions.judging import CRITICAL, HIGH, MEDIUM, facts, found, judge, said

from haltline.domain import Severity

NAME = "uncertainty_scale"


@pytest.mark.parametrize(
    ("score", "severity", "advice"),
    [
        (10, CRITICAL, "halt immediately"),
        (9, CRITICAL, "halt immediately"),
        (8.9, HIGH, "halt and ask"),
        (8, HIGH, "halt and ask"),
        (7, HIGH, "halt and ask"),
        (6.9, MEDIUM, "proceed with caution, note uncertainty"),
        (6, MEDIUM, "proceed with caution, note uncertainty"),
        (5, MEDIUM, "proceed with caution, note uncertainty"),
    ],
)
def test_a_score_is_as_severe_as_its_band(score: float, severity: Severity, advice: str) -> None:
    assert said(NAME, facts(uncertainty=score)) == (severity, f"Uncertainty is {score:g} of 10: {advice}")


@pytest.mark.parametrize("score", [None, 0, 1, 4, 4.9])
def test_little_uncertainty_is_nothing(score: float | None) -> None:
    assert judge(NAME, facts(uncertainty=score)) is None


@pytest.mark.parametrize(
    ("threshold", "bands"),
    [
        (10, {4: None, 5: MEDIUM, 8: MEDIUM, 9: CRITICAL, 10: CRITICAL}),
        (8, {4: None, 5: MEDIUM, 7: MEDIUM, 8: HIGH, 9: CRITICAL}),
        (5, {4: None, 5: HIGH, 8: HIGH, 9: CRITICAL}),
        (3, {2: None, 3: HIGH, 4: HIGH, 5: HIGH, 9: CRITICAL}),
        (0, {0: HIGH, 9: CRITICAL}),
    ],
)
def test_the_threshold_moves_the_high_band_and_no_other(
    threshold: int, bands: dict[float, Severity | None]
) -> None:
    for score, severity in bands.items():
        finding = judge(NAME, facts(uncertainty=score), threshold=threshold)
        assert (finding.severity if finding else None) is severity, score


@pytest.mark.parametrize("configured", [Severity.LOW, MEDIUM])
def test_the_configured_severity_is_that_of_the_high_band(configured: Severity) -> None:
    assert found(NAME, facts(uncertainty=7), severity=configured).severity is configured
    assert found(NAME, facts(uncertainty=9), severity=configured).severity is CRITICAL


def test_the_settlement_binds_the_score_and_the_action() -> None:
    one = found(NAME, facts("make", uncertainty=7)).evidence_digest
    assert found(NAME, facts("make", uncertainty=8)).evidence_digest != one
    assert found(NAME, facts("make it", uncertainty=7)).evidence_digest != one
    assert found(NAME, facts("make", uncertainty=7)).evidence_digest == one
