"""A reader of project files that is safe to hand to `analyze`: regular, small, and inside one directory."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BYTES = 64 * 1024
MAX_FILES = 32


def workspace_reader(workspace: str) -> Callable[[str], str | None]:
    """Return a `read_file` for one analysis of a command that would run in `workspace`.

    It reads at most 32 regular files of at most 64 KiB each, in UTF-8, whose real place lies in the
    workspace: links and `..` that lead out, devices and pipes yield None. The file is opened once, without
    waiting, and judged by its descriptor, so that nothing can be put in its place between the look and the
    reading.
    """
    root = os.path.realpath(workspace)
    left = MAX_FILES

    def read(path: str) -> str | None:
        nonlocal left
        if left <= 0 or "\0" in path:
            return None
        left -= 1
        return _read(os.path.realpath(os.path.join(root, path)), root)  # noqa: PTH118  pathlib is slow to import

    return read


def _read(real: str, root: str) -> str | None:
    if not real.startswith(root.rstrip("/") + "/"):
        return None
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_CLOEXEC", 0)
    )
    try:
        descriptor = os.open(real, flags)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            return None
        content = b""
        while len(content) <= MAX_BYTES:
            piece = os.read(descriptor, MAX_BYTES + 1 - len(content))
            if not piece:
                break
            content += piece
        return None if len(content) > MAX_BYTES else content.decode("utf-8")
    except (OSError, ValueError):
        return None
    finally:
        os.close(descriptor)
