"""Scripts of the workspace: which files are read for the analysis, and which never."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from haltline.conditions.facts import Action, Facts
from haltline.service.running import _gathered
from haltline.service.scripts import MAX_SCRIPT_BYTES, MAX_SCRIPTS, script_reader


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    inside = tmp_path.resolve() / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "a.sh").write_text("ls")
    (inside / "sub" / "b.sh").write_text("pwd")
    (inside / "link.sh").symlink_to("sub/b.sh")
    (inside / "way").symlink_to("sub")
    (inside.parent / "secret.sh").write_text("secret")
    (inside / "out.sh").symlink_to(inside.parent / "secret.sh")
    (inside / "up").symlink_to(inside.parent)
    (inside / "binary").write_bytes(b"\x7fELF\0\1")
    (inside / "latin").write_bytes(b"caf\xe9")
    (inside / "long.sh").write_text("#" * (MAX_SCRIPT_BYTES + 1))
    (inside / "whole.sh").write_text("#" * MAX_SCRIPT_BYTES)
    return inside


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.sh", "ls"),
        ("./a.sh", "ls"),
        ("sub/b.sh", "pwd"),
        ("sub/../a.sh", "ls"),
        ("link.sh", "pwd"),
        ("way/b.sh", "pwd"),
        ("whole.sh", "#" * MAX_SCRIPT_BYTES),
        ("missing.sh", None),
        ("sub", None),
        (".", None),
        ("", None),
        ("../secret.sh", None),
        ("/etc/passwd", None),
        ("out.sh", None),
        ("up/secret.sh", None),
        ("binary", None),
        ("latin", None),
        ("long.sh", None),
        ("~/a.sh", None),
        ("a\0b", None),
        ("/dev/zero", None),
        ("a.sh/x", None),
    ],
)
def test_text_inside_the_workspace_is_read_and_nothing_else(
    workspace: Path, path: str, text: str | None
) -> None:
    assert script_reader(str(workspace))(path) == text


def test_an_absolute_path_inside_is_read(workspace: Path) -> None:
    assert script_reader(str(workspace))(f"{workspace}/a.sh") == "ls"


def test_a_fifo_is_not_waited_for(workspace: Path) -> None:
    os.mkfifo(workspace / "fifo.sh")
    assert script_reader(str(workspace))("fifo.sh") is None


def test_a_link_put_in_the_way_after_the_look_is_not_followed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "realpath", lambda path, **_: path)
    assert script_reader(str(workspace))("out.sh") is None
    assert script_reader(str(workspace))("up/secret.sh") is None
    assert script_reader(str(workspace))("a.sh") == "ls"


def test_a_script_is_read_once_in_a_check(workspace: Path) -> None:
    read = script_reader(str(workspace))
    first = read("a.sh")
    (workspace / "a.sh").write_text("rm -rf /")
    assert (first, read("a.sh")) == ("ls", "ls")


def test_only_so_many_scripts_are_read(workspace: Path) -> None:
    read = script_reader(str(workspace))
    for number in range(MAX_SCRIPTS):
        read(f"{number}.sh")
    assert read("a.sh") is None


def test_no_file_stays_open(workspace: Path) -> None:
    read = script_reader(str(workspace))
    before = len(list(Path("/dev/fd").iterdir()))
    for path in ("a.sh", "sub/b.sh", "sub/missing.sh", "sub/b.sh/x", "out.sh", "long.sh"):
        read(path)
    assert len(list(Path("/dev/fd").iterdir())) == before


@pytest.mark.parametrize(
    ("commands", "modified", "absent", "unknown"),
    [
        (("bash a.sh",), (), set(), 0),
        (("bash missing.sh",), (), set(), 1),
        (("cp a.sh sub",), ("sub/a.sh",), {"sub/a.sh"}, 0),
        (("cp b.sh sub",), ("sub/b.sh",), set(), 0),
        (("rm -rf sub",), (), set(), 0),
        (("rm -rf a.sh",), ("a.sh",), set(), 0),
        (("echo x > new.sh",), ("new.sh",), {"new.sh"}, 0),
        (("cd sub", "echo x > b.sh"), ("b.sh", "sub/b.sh"), {"b.sh"}, 0),
        (("mv sub lib",), ("lib",), {"lib"}, 0),
    ],
)
def test_the_workspace_says_what_is_a_directory_what_is_new_and_what_a_script_does(
    workspace: Path, commands: tuple[str, ...], modified: tuple[str, ...], absent: set[str], unknown: int
) -> None:
    known = _gathered(Facts(Action("work", commands=commands), workspace=str(workspace)))
    assert known.modified_files == modified
    assert set(known.absent_files) == absent
    assert sum(len(analysis.unknown) for analysis in known.analyses) == unknown


def test_without_a_workspace_nothing_is_read() -> None:
    known = _gathered(Facts(Action("work", commands=("bash /etc/profile",))))
    assert known.read_script is None
    assert [part.kind for part in known.analyses[0].unknown] == ["script"]
