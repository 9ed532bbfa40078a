"""Patterns of users' rules: what could take long is refused, and what is taken does what it says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltline.shell.patterns import bounded


@pytest.mark.parametrize(
    "pattern",
    [
        "prod",
        "^prod-.*-db$",
        "(?i)prod",
        "a.*b",
        r"(?:\d{1,3}\.){3}\d{1,3}",
        "(?:foo|bar)*x",
        "^(?:dev|prod)-[a-z]+$",
        "(?i:x)y?",
        "(?!test)prod",
    ],
)  # fmt: skip
def test_an_ordinary_pattern_is_taken(pattern: str) -> None:
    taken = re.compile(bounded(pattern))
    for text in ("", "prod", "a prod-1-db b", "PROD", "acb", "10.0.0.1", "foobarx", "dev-a", "xy"):
        assert bool(taken.search(text)) == bool(re.search(pattern, text)), text


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(a+)+b", "a repetition inside another one"),
        ("(a*)*b", "a repetition inside another one"),
        ("(a?a)*b", "a repetition inside another one"),
        ("((x+y?){2,})z", "a repetition inside another one"),
        ("(?=(a+)+)b", "a repetition inside another one"),
        ("(?>(a+)+)b", "a repetition inside another one"),
        ("(?:a|ab|b)*c", "alternatives that may begin alike"),
        ("(?:.|a)*b", "alternatives that may begin alike"),
        ("(?:a|)*b", "alternatives that may begin alike"),
        ("a.*b.*c", "too many open repetitions"),
        ("^a.*b.*c.*d", "too many open repetitions"),
        ("(?:.*a){5}", "too many open repetitions"),
        ("a?" * 20, "too many optional parts"),
        ("(?:a{0,3}){9}", "too many optional parts"),
        ("(?:a{100}){100}", "needs more than 256 characters"),
        (r"(a)\1", "refers back to a group"),
        (r"(a)?(?(1)b|c)", "refers back to a group"),
        ("(", "is no regular expression"),
        ("a)(b", "is no regular expression"),
        ("[[a]", "is no regular expression"),
        ("(?m)^a", "a flag that is not taken"),
        ("(?x) a # b", "a flag that is not taken"),
        ("a" * 1_001, "has more than 1000 characters"),
    ],
)
def test_a_pattern_that_could_take_long_is_refused_with_the_reason(pattern: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        bounded(pattern)


@pytest.mark.parametrize(("pattern", "longest"), [("prod", 8_192), ("^a.*b", 8_192), ("a+b", 1_024)])
def test_a_word_too_long_to_try_counts_as_one_that_matches(pattern: str, longest: int) -> None:
    taken = re.compile(bounded(pattern))
    assert taken.search("q" * longest) is None
    assert taken.search("q" * (longest + 1)) is not None


@given(st.text(alphabet="ab.*+?|()[]{}^$\\1,2", max_size=24))
def test_whatever_is_taken_compiles_and_agrees_with_itself(pattern: str) -> None:
    try:
        taken = bounded(pattern)
    except ValueError:
        return
    for text in ("", "a", "ab", "b" * 20, "a.b"):
        assert bool(re.search(taken, text)) == bool(re.search(pattern, text))
