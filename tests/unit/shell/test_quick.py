from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltline.shell.book import built_in
from haltline.shell.engine import Engine
from haltline.shell.quick import plain_words

NAMES = sorted(name for name in built_in().names() if name.isascii() and " " not in name)
NAMES += ["git " + name.removeprefix("git-") for name in NAMES if name.startswith("git-")]
WORDS = sorted(
    {
        word
        for rule in built_in().rules.values()
        for commands in rule.examples.values()
        for command in commands
        for word in command.split(" ")
        if word.isascii()
    }
)

for name in [name for name in NAMES if " " not in name] * 32:  # until each has its trigger
    built_in().trigger(name)


def verdicts(command: str) -> list[str]:
    engine = Engine(built_in())
    engine.judge(command)
    return [verdict[1].rule_id for verdict in engine.verdicts]


def by_words(words: list[str]) -> list[str]:
    engine = Engine(built_in())
    engine.judge_words(words, 0)
    return [verdict[1].rule_id for verdict in engine.verdicts]


@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(WORDS), max_size=5)),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([" ; ", " && ", " | ", " "]),
)
@settings(max_examples=400, deadline=None)
def test_the_short_way_lets_nothing_pass_that_the_whole_analysis_finds(
    parts: list[tuple[str, list[str]]], joint: str
) -> None:
    command = joint.join(" ".join([name, *words]) for name, words in parts)

    words = plain_words(command, built_in())

    if words is not None:
        assert verdicts(command) == (by_words(words) if words else [])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.lists(
                st.tuples(
                    st.sampled_from(WORDS),
                    st.sampled_from(["{}", "'{}'", '"{}"', "'{} x'", "-'{}'", "{} 2>&1"]),
                ),
                max_size=4,
            ),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([" ; ", "&&", " | ", " || ", " 2>/dev/null | "]),
)
@settings(max_examples=400, deadline=None)
def test_the_short_way_lets_nothing_pass_that_stands_in_quotes_or_beside_them(
    parts: list[tuple[str, list[tuple[str, str]]]], joint: str
) -> None:
    command = joint.join(" ".join([name, *(form.format(word) for word, form in w)]) for name, w in parts)

    words = plain_words(command, built_in())

    if words is not None:
        assert verdicts(command) == (by_words(words) if words else [])


@pytest.mark.parametrize(
    "command",
    [
        command
        for rule in built_in().rules.values()
        for d in ("deny", "ask")
        for command in rule.examples.get(d, ())
    ],
)
def test_the_short_way_is_not_taken_by_what_a_rule_is_for(command: str) -> None:
    assert plain_words(command, built_in()) != []


@pytest.mark.parametrize(
    "command",
    [
        *("ls -la", "git status", "aws s3 ls", "kubectl get pods -n x | grep y", "cat a.txt"),
        *("git log --oneline -5 | head", "git diff --stat main", "git status && git show x"),
        *("grep 'a b' x | head -5", 'ls "a b" 2>&1 | wc -l', "ls 2>/dev/null; pwd"),
    ],
)
def test_everyday_commands_take_the_short_way(command: str) -> None:
    assert plain_words(command, built_in()) == []
