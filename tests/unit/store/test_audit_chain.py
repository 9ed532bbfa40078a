"""The audit chain: whatever is changed in it shows, and says where."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltline.records import AuditEntry, AuditEvent
from haltline.store import audit

NOW = datetime(2026, 3, 1, tzinfo=UTC)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
events = st.builds(
    AuditEvent,
    actor=st.text(),
    action=st.text(),
    subject=st.text(),
    session_id=st.none() | st.text(),
    payload=st.dictionaries(st.text(), json_values, max_size=3),
)


def chain(length: int) -> tuple[AuditEntry, ...]:
    made = [AuditEvent("human:ada", "tested", f"s{n}", None, {"n": n}) for n in range(length)]
    return audit.append(audit.GENESIS, made, NOW)


@given(st.lists(events, max_size=6), st.integers(0, 6))
def test_what_was_appended_verifies_in_one_piece_and_in_two(made: list[AuditEvent], cut: int) -> None:
    entries = audit.append(audit.GENESIS, made, NOW)
    whole = audit.verify(entries)
    assert whole.broken is None
    assert whole.head.sequence == len(made)
    first = audit.verify(entries[:cut])
    assert audit.verify(entries[cut:], first.head) == whole


@given(st.lists(events, min_size=1, max_size=4), st.lists(events, min_size=1, max_size=4))
def test_chain_that_is_continued_is_the_chain_that_is_appended_at_once(
    one: list[AuditEvent], two: list[AuditEvent]
) -> None:
    first = audit.append(audit.GENESIS, one, NOW)
    head = audit.AuditHead(first[-1].sequence, first[-1].hash)
    assert first + audit.append(head, two, NOW) == audit.append(audit.GENESIS, one + two, NOW)


@pytest.mark.parametrize("name", [field.name for field in fields(AuditEntry) if field.name != "sequence"])
@pytest.mark.parametrize("position", [0, 2, 4])
def test_changed_field_breaks_the_chain_where_it_is(name: str, position: int) -> None:
    entries = list(chain(5))
    entries[position] = replace(entries[position], **{name: "forged"})  # type: ignore[arg-type]  # any field but the number
    verdict = audit.verify(entries)
    assert verdict.broken is not None
    assert verdict.broken.sequence == position + 1
    assert verdict.head.sequence == position


@pytest.mark.parametrize(
    ("change", "sequence", "problem"),
    [
        (lambda e: [*e[:2], *e[3:]], 4, "missing or out of order"),
        (lambda e: e[1:], 2, "missing or out of order"),
        (lambda e: [e[0], e[2], e[1], e[3]], 3, "missing or out of order"),
        (lambda e: [e[0], replace(e[1], previous_hash="f" * 64)], 2, "the past was rewritten"),
        (lambda e: [e[0], replace(e[1], payload='{"n":9}')], 2, "changed after it was written"),
    ],
)
def test_break_says_what_is_wrong(
    change: Callable[[list[AuditEntry]], list[AuditEntry]], sequence: int, problem: str
) -> None:
    verdict = audit.verify(change(list(chain(4))))
    assert verdict.broken is not None
    assert verdict.broken.sequence == sequence
    assert problem in verdict.broken.problem


def test_rewritten_chain_has_another_head() -> None:
    kept = audit.verify(chain(3)).head
    forged = audit.append(audit.GENESIS, [AuditEvent("x", "tested", "s", None, {})] * 3, NOW)
    assert audit.verify(forged).broken is None
    assert audit.verify(forged).head != kept


def test_hash_is_over_the_canonical_json_of_the_other_fields() -> None:
    (entry,) = audit.append(audit.GENESIS, [AuditEvent("a", "b", "c", None, {"z": 1, "ä": 2})], NOW)
    assert entry.payload == '{"z":1,"ä":2}'
    assert entry.at == "2026-03-01T00:00:00.000000Z"
    hashed = (
        '{"action":"b","actor":"a","at":"2026-03-01T00:00:00.000000Z","payload":"{\\"z\\":1,\\"ä\\":2}",'
        f'"previous_hash":"{"0" * 64}","sequence":1,"session_id":null,"subject":"c"}}'
    )
    assert entry.hash == hashlib.sha256(hashed.encode()).hexdigest()
