"""Reads the scripts of a workspace that commands run: regular files inside it, bounded, and nothing else."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

MAX_SCRIPT_BYTES = 64 * 1024
"""Longest script that is read; a longer one stays unknown."""

MAX_SCRIPTS = 16
"""How many different scripts one check reads; the others stay unknown."""

_CAN_STAY_INSIDE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def script_reader(workspace: str) -> Callable[[str], str | None]:
    """Return what reads the scripts of one check, each once; it returns None for what may not be read.

    Read are regular files of at most 64 KiB that hold UTF-8 text without NUL and lie inside the workspace
    once every symbolic link is followed. A FIFO or device is never waited for, and a link that is put in
    the way meanwhile is not followed. Where the system cannot promise that (Windows), nothing is read.

    Args:
        workspace: an absolute path without symbolic links.
    """
    known: dict[str, str | None] = {}

    def read(path: str) -> str | None:
        if path in known:
            return known[path]
        if len(known) >= MAX_SCRIPTS or path.startswith("~") or not _CAN_STAY_INSIDE:
            return None
        known[path] = _read(workspace, path)
        return known[path]

    return read


def _read(workspace: str, path: str) -> str | None:
    try:
        real = os.path.realpath(os.path.join(workspace, path), strict=True)  # noqa: PTH118 - texts throughout
        inside = Path(os.path.relpath(real, workspace)).parts
        if inside[:1] in {(), (os.pardir,)}:
            return None
        content = _content(workspace, inside)
        return None if content is None or b"\0" in content else content.decode()
    except (OSError, ValueError):
        return None


def _content(workspace: str, parts: tuple[str, ...]) -> bytes | None:
    """Open a file one directory after another, following no link, and return what it holds."""
    directory = os.open(workspace, os.O_RDONLY | _DIRECTORY)
    try:
        for part in parts[:-1]:
            outer = directory
            try:
                directory = os.open(part, os.O_RDONLY | _DIRECTORY, dir_fd=outer)
            finally:
                if directory != outer:
                    os.close(outer)
        file = os.open(parts[-1], os.O_RDONLY | _FILE, dir_fd=directory)
    finally:
        os.close(directory)
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        content = opened.read(MAX_SCRIPT_BYTES + 1)
    return content if len(content) <= MAX_SCRIPT_BYTES else None
