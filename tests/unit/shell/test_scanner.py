from __future__ import annotations

import pytest
from fuzz.oracle import argvs, in_parts

from haltline.shell.scanner import MAX_LENGTH, scan
from haltline.shell.syntax import Compound, Simple, Word

# Spans


def test_spans_point_at_the_source() -> None:
    text = "ls -la; cat 'a b' | grep x"
    nodes = [node for _, node in scan(text).script.items]

    assert [text[node.start : node.end] for node in nodes] == ["ls -la", "cat 'a b'", "grep x"]
    assert isinstance(nodes[1], Simple)
    assert [text[word.start : word.end] for word in nodes[1].words] == ["cat", "'a b'"]


def test_spans_of_compound_commands_reach_to_their_end() -> None:
    text = "x; ( a; b ) > out; y"
    node = scan(text).script.items[1][1]

    assert isinstance(node, Compound)
    assert text[node.start : node.end] == "( a; b ) > out"


def test_here_documents_keep_their_body_and_quoting() -> None:
    found = scan("cat <<'A' <<B\n$x\nA\n$y\nB\n").script.items[0][1]

    assert [
        (r.literal, r.body.text if isinstance(r.body, Word) and r.literal else None)
        for r in found.redirections
    ] == [
        (True, "$x\n"),
        (False, None),
    ]


# Limits


def test_a_long_text_is_not_read() -> None:
    found = scan("a" * (MAX_LENGTH + 1))

    assert found.limit is not None
    assert not found.script.items


@pytest.mark.parametrize(
    "text", ["(" * 200, "$(" * 200, "{ " * 200, '"$(' * 200, "if " * 200, "`" * 3001, "f() " * 3000]
)
def test_deep_text_is_given_up_and_says_so(text: str) -> None:
    found = scan(text)

    assert found.limit is not None or found.error is not None


def test_what_was_read_before_an_error_is_kept() -> None:
    found = scan("rm -rf / 'open")

    assert found.error is not None
    assert argvs("rm -rf / 'open") == [["rm", "-rf", "/"]]


def test_a_cut_word_keeps_the_commands_inside() -> None:
    found = scan('echo "$(rm -rf / ')

    assert found.error is not None
    assert [list(in_parts(word.parts or [])) for word in found.salvaged] == [[["rm", "-rf", "/"]]]
