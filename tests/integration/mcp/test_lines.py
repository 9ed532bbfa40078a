"""From bytes to messages: any cut of a stream gives the same lines, any line a message or a refusal."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCNotification, JSONRPCRequest

from haltline.faces.mcp.lines import MAX_LINE_BYTES, Line, Lines, Refusal, understood

LIMIT = 64


def call(**members: Any) -> dict[str, Any]:
    params = {"name": "guardrail_check_halt_conditions", "arguments": {"session_token": "s"}}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params, **members}


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def lines_of(chunks: list[bytes], limit: int = LIMIT) -> list[Line]:
    lines = Lines(limit)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return [*found, *lines.end()]


@given(st.lists(st.binary(max_size=40)), st.lists(st.integers(0, 400)))
def test_any_cut_of_the_stream_gives_the_same_lines(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"\n".join(parts)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    chunks = [stream[start:end] for start, end in pairwise(edges)]
    assert lines_of(chunks) == lines_of([stream])


@given(st.lists(st.binary(max_size=LIMIT)))
def test_lines_within_the_limit_come_whole_and_blank_ones_not_at_all(parts: list[bytes]) -> None:
    stream = b"\n".join(parts)
    assert lines_of([stream]) == [Line(line) for line in stream.split(b"\n") if line.strip()]


def test_of_a_line_that_is_too_long_only_the_ends_are_kept() -> None:
    lines = Lines(10_000)
    chunks = [b"{head", *([b"x" * 5_000] * 100), b"tail}\nnext\n"]
    found: list[Line] = []
    for chunk in chunks:
        found += lines.feed(chunk)
        assert len(lines._kept) <= 10_000 + 5_000
    cut, following = found
    assert cut.head.startswith(b"{head")
    assert cut.tail is not None
    assert cut.tail.endswith(b"tail}")
    assert len(cut.head) + len(cut.tail) < 10_000
    assert following == Line(b"next")


@given(st.binary(max_size=300))
def test_no_bytes_are_too_odd_to_be_refused(data: bytes) -> None:
    assert isinstance(understood(Line(data)), Refusal | JSONRPCRequest | JSONRPCNotification)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["jsonrpc", "id", "method", "params"]),
)
def test_no_value_of_a_member_is_too_odd_to_be_refused(value: Any, member: str) -> None:
    message = understood(Line(json.dumps(call(**{member: value})).encode()))
    assert isinstance(message, Refusal | JSONRPCRequest | JSONRPCNotification)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (json.dumps(call(params=[1])).encode(), "params"),
        (json.dumps(call(jsonrpc="1.0")).encode(), "jsonrpc"),
        (json.dumps(call(params={"name": "x", "arguments": [1]})).encode(), "arguments"),
        (json.dumps(call(params={"name": "x", "arguments": ""})).encode(), "arguments"),
        (json.dumps(call(params={"name": 3})).encode(), "name"),
        (json.dumps(call(params={})).encode(), "name"),
        (json.dumps(call(params=None)).encode(), "name"),
        (json.dumps(call(params={"name": "x", "arguments": {"a": "\ud800"}})).encode(), "hex escape"),
        (json.dumps(call(x=0)).replace('"x": 0', '"x": ' + deep(300)).encode(), "recursion limit"),
        (json.dumps(call(x=0)).replace('"x": 0', '"x": ' + deep(50_000)).encode(), "recursion limit"),
        (json.dumps(call(x=0)).replace('"x": 0', '"x": ' + "9" * 5_000).encode(), "number out of range"),
        (json.dumps(call(x="Y")).encode().replace(b"Y", b"\xff\xfe"), "unicode"),
        (json.dumps(call()).encode()[:-1], "EOF"),
    ],
)
def test_a_call_that_cannot_be_served_names_its_request_and_its_problem(line: bytes, problem: str) -> None:
    refusal = understood(Line(line))
    assert isinstance(refusal, Refusal)
    assert (refusal.request_id, refusal.is_call) == (7, True)
    assert problem in refusal.problem


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"x": "',
        b'{"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"x": "',
        b'{"id":7,"jsonrpc":"2.0","method":"tools/call","params":{"x": "',
    ],
)
def test_the_id_is_found_at_the_beginning_of_a_line_that_is_too_long(line: bytes) -> None:
    refusal = understood(Line(line, b'xxx"}}'))
    assert isinstance(refusal, Refusal)
    assert (refusal.request_id, refusal.is_call) == (7, True)
    assert str(MAX_LINE_BYTES) in refusal.problem


@pytest.mark.parametrize(
    "tail", [b'x"}},"jsonrpc":"2.0","id":7}', b'x"}}, "id": 7, "jsonrpc": "2.0"}', b'x"}},"id":7}']
)
def test_the_id_is_found_at_the_end_of_a_line_that_is_too_long(tail: bytes) -> None:
    refusal = understood(Line(b'{"method":"tools/call","params":{"x":"', tail))
    assert isinstance(refusal, Refusal)
    assert (refusal.request_id, refusal.is_call) == (7, True)


@pytest.mark.parametrize("tail", [b'x"},"id":7}}', b'x","id":7}}}', b"xxx"])
def test_an_id_inside_the_parameters_is_not_taken_for_that_of_the_request(tail: bytes) -> None:
    refusal = understood(Line(b'{"method":"tools/call","params":{"x":"', tail))
    assert isinstance(refusal, Refusal)
    assert refusal.request_id is None


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=12))
def test_a_problem_does_not_repeat_what_came(value: str) -> None:
    for message in (
        call(params=value),
        call(params={"name": [value]}),
        call(params={"name": "n", "arguments": value}),
    ):
        refusal = understood(Line(json.dumps(message).encode()))
        assert isinstance(refusal, Refusal)
        assert value not in refusal.problem


def test_the_session_of_a_line_that_only_a_lenient_parser_takes_is_kept() -> None:
    arguments = {"session_token": "sess_1", "current_context": {"operation": "\udc80"}}
    params = {"name": "guardrail_check_halt_conditions", "arguments": arguments}
    refusal = understood(Line(json.dumps(call(params=params)).encode()))
    assert isinstance(refusal, Refusal)
    assert (refusal.session_token, refusal.tool) == ("sess_1", "guardrail_check_halt_conditions")


@pytest.mark.parametrize("request_id", [None, 1.5, True, [7], {"a": 1}])
def test_a_call_without_a_usable_id_is_refused(request_id: Any) -> None:
    refusal = understood(Line(json.dumps(call(id=request_id)).encode()))
    assert isinstance(refusal, Refusal)
    assert refusal.request_id is None
