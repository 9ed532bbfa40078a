"""What holds for every text, however broken: the fuzzer and the property tests try the same laws.

`hold` raises an `AssertionError` that names the law. Work is counted in calls, as seen by `sys.setprofile`:
seconds would depend on the machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from haltline.shell import (
    Analysis,
    command_prefix,
    has_command_substitution,
    has_redirection,
    lex,
    segments,
    split_segments,
    strip_wrapper,
)
from haltline.shell.analysis import analyze
from haltline.shell.classification import classify
from haltline.shell.scanner import scan

# Calls that the whole analysis of a text may take. The most that an engine's budget of steps and the length
# limit allow was measured with `tests/unit/shell/test_growth.py`; this is twice that.
MAX_CALLS = 1_000_000


def hold(text: str, script: str | None) -> None:
    """Raise AssertionError unless every law holds for a text that may read `script` from any path."""
    verdict = classify(text)
    assert verdict is None or (verdict[0] in {"deny", "ask"} and verdict[1]), (
        "a verdict is a decision and why"
    )
    assert classify(text) == verdict, "the same text gets the same verdict"

    analysis = analyze(text)
    assert analysis.decision == (verdict and verdict[0]), "classify and analyze decide alike"
    assert not (analysis.only_reads and verdict), "what only reads has no verdict"
    describes(analysis, text)
    describes(analyze(text, cwd="/srv/shop", home="/home/carol", read_file=lambda _: script), text)
    helpers(text)


def affordable(text: str, script: str | None) -> None:
    """Raise AssertionError when the whole analysis of a text takes more than `MAX_CALLS` calls."""
    calls = calls_of(lambda: analyze(text, read_file=lambda _: script))
    assert calls <= MAX_CALLS, f"{calls} calls"


def describes(analysis: Analysis, text: str) -> None:
    """Raise AssertionError unless an analysis is well-formed and speaks of the text it was given."""
    assert analysis.text == text, "an analysis keeps its text"
    spans = [command.span for command in analysis.commands]
    spans += [effect.span for effect in analysis.effects]
    spans += [verdict.span for verdict in analysis.verdicts]
    spans += [unknown.span for unknown in analysis.unknown]
    for start, end in spans:
        assert 0 <= start <= end <= len(text), "a span lies inside the text"
    for command in analysis.commands:
        assert command.argv, "a command has a name"
        assert all(isinstance(word, str) for word in (*command.argv, *command.via)), "words are text"


def helpers(text: str) -> None:
    """Raise AssertionError unless the helpers on command text keep their promises."""
    found = scan(text)
    words = lex(text)
    if found.error is not None or found.limit is not None:
        assert words is None, "lex knows no words of what cannot be parsed"
    assert words is None or all(isinstance(word, str) for word in words), "words are text"
    assert all(segment and segment in text for segment in split_segments(text)), (
        "segments are parts of the text"
    )
    assert all(isinstance(segment, str) for segment in segments(text)), "segments are text"
    assert isinstance(strip_wrapper(text), str), "a stripped command is text"
    assert isinstance(command_prefix(text), str), "a prefix is text"
    assert isinstance(has_redirection(text), bool), "a redirection is there or not"
    assert isinstance(has_command_substitution(text), bool), "a substitution is there or not"


def calls_of(work: Callable[[], object]) -> int:
    """Return how many calls of Python functions the work takes."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls
