"""The spool: nothing that was appended is lost, whatever happens in between."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from haltline.store.spool import FileSpool, MemorySpool, Spool


@pytest.fixture(params=["file", "memory"])
def spool(request: pytest.FixtureRequest, tmp_path: Path) -> Spool:
    return MemorySpool() if request.param == "memory" else FileSpool(tmp_path / "haltline.spool")


def drained(spool: Spool) -> list[Any]:
    with spool.claim() as claim:
        events = list(claim.events)
        spool.finish(claim)
    return events


def test_events_come_back_in_order_once(spool: Spool) -> None:
    events: list[dict[str, object]] = [{"id": "1", "text": "ä✗\n"}, {"id": "2", "nested": {"a": [1, None]}}]
    for event in events:
        spool.append(event)
    assert spool.pending()
    assert drained(spool) == events
    assert not spool.pending()
    assert drained(spool) == []


def test_events_that_were_not_finished_come_back(spool: Spool) -> None:
    spool.append({"id": "1"})
    with spool.claim() as claim:
        assert list(claim.events) == [{"id": "1"}]
    assert spool.pending()
    spool.append({"id": "2"})
    assert [event["id"] for event in drained(spool) + drained(spool)] == ["1", "2"]


def test_event_that_is_appended_during_a_claim_waits_for_the_next(spool: Spool) -> None:
    spool.append({"id": "1"})
    with spool.claim() as claim:
        spool.append({"id": "2"})
        spool.finish(claim)
    assert drained(spool) == [{"id": "2"}]


@pytest.mark.parametrize("value", ["\ud800", "\x00", float("inf"), Path("/a"), {"deep": [[]]}])
def test_every_event_has_a_line(spool: Spool, value: object) -> None:
    spool.append({"value": value})
    (event,) = drained(spool)
    assert event["value"] == (str(value) if isinstance(value, Path) else value)


def test_file_and_its_leftovers_are_the_owners_alone(tmp_path: Path) -> None:
    spool = FileSpool(tmp_path / "new" / "haltline.spool")
    spool.append({"id": "1"})
    spool.path.write_bytes(spool.path.read_bytes() + b"torn")
    drained(spool)
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in spool.path.parent.iterdir()}
    assert found == {"haltline.spool.damaged": 0o600, "haltline.spool.lock": 0o600}
    assert stat.S_IMODE(spool.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b'{"id": "to', b"\xff\xfe\n", b"[1]\n", b"[" * 100_000 + b"\n"])
def test_unreadable_line_is_kept_aside_and_costs_no_other(tmp_path: Path, damage: bytes) -> None:
    spool = FileSpool(tmp_path / "haltline.spool")
    spool.append({"id": "1"})
    with spool.path.open("ab") as file:
        file.write(damage)
    spool.append({"id": "2"})
    assert drained(spool) == [{"id": "1"}, {"id": "2"}]
    assert Path(f"{spool.path}.damaged").read_bytes() == damage.rstrip(b"\n") + b"\n"


def test_damage_is_kept_once_however_often_it_is_claimed(tmp_path: Path) -> None:
    spool = FileSpool(tmp_path / "haltline.spool")
    spool.path.write_bytes(b"torn\n")
    for _ in range(3):
        with spool.claim() as claim:
            assert claim.events == ()
    assert Path(f"{spool.path}.damaged").read_bytes() == b"torn\n"


def test_only_one_of_two_claims_gets_the_events(tmp_path: Path) -> None:
    one, two = FileSpool(tmp_path / "s"), FileSpool(tmp_path / "s")
    one.append({"id": "1"})
    with one.claim() as mine, two.claim() as other:
        assert len(mine.events) == 1
        assert other.events == ()
        two.finish(other)
    assert drained(two) == [{"id": "1"}]


def test_disk_that_takes_no_line_is_an_error(tmp_path: Path) -> None:
    spool = FileSpool(tmp_path / "haltline.spool")
    spool.path.mkdir()
    with pytest.raises(OSError, match="directory"):
        spool.append({"id": "1"})


def test_line_that_was_cut_short_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = FileSpool(tmp_path / "haltline.spool")
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:5]))
    with pytest.raises(OSError, match="only 5 of"):
        spool.append({"id": "1"})
    monkeypatch.undo()
    spool.append({"id": "2"})
    assert drained(spool) == [{"id": "2"}]


def _append_many(path: Path, writer: int) -> None:
    spool = FileSpool(path)
    for n in range(25):
        spool.append({"id": f"{writer}-{n}"})


def test_nothing_is_lost_or_doubled_between_writers_and_claims(tmp_path: Path) -> None:
    path = tmp_path / "haltline.spool"
    context = multiprocessing.get_context("spawn")
    writers: list[Any] = [context.Process(target=_append_many, args=(path, n)) for n in range(2)]
    writers += [threading.Thread(target=_append_many, args=(path, n)) for n in range(2, 6)]
    for writer in writers:
        writer.start()
    seen: list[str] = []
    while any(writer.is_alive() for writer in writers):
        seen += [event["id"] for event in drained(FileSpool(path))]
    for writer in writers:
        writer.join(30)
    seen += [event["id"] for event in drained(FileSpool(path))]
    assert sorted(seen) == sorted(f"{writer}-{n}" for writer in range(6) for n in range(25))


def test_lines_are_json_that_other_tools_read(tmp_path: Path) -> None:
    spool = FileSpool(tmp_path / "haltline.spool")
    spool.append({"b": "ä", "a": 1})
    assert spool.path.read_bytes() == b'{"a":1,"b":"\\u00e4"}\n'
    assert json.loads(spool.path.read_text()) == {"a": 1, "b": "ä"}


def test_threads_that_append_at_once_share_their_writes_and_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = FileSpool(tmp_path / "haltline.spool")
    synced: list[int] = []
    sync = os.fsync
    entered, go_on = threading.Event(), threading.Event()

    def slow(descriptor: int) -> None:
        synced.append(descriptor)
        entered.set()
        assert go_on.wait(20)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    threads = [threading.Thread(target=spool.append, args=({"id": str(n)},)) for n in range(20)]
    threads[0].start()
    assert entered.wait(20)
    for thread in threads[1:]:
        thread.start()
    while len(spool._gathered) < 19:
        threads[1].join(0.001)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert len(synced) == 3  # the first line and the directory, then everything else
    assert {event["id"] for event in drained(spool)} == {str(n) for n in range(20)}
