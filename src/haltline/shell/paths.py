"""Where a path leads: the one table that decides how bad it is to lose what lies there.

The zones and their order follow the reference's section on paths: roots, system directories and homes are
catastrophic; the working directory, patterns in it, repositories and things under home need a question; a
named relative directory and temporary places need none.
"""

from __future__ import annotations

import re
from enum import StrEnum

from haltline.shell.marks import HOME, PRESENT, SECRET_VALUE, TEMPORARY_HINT, UNKNOWN
from haltline.shell.vocabulary import word_set


class Zone(StrEnum):
    """What kind of place a path names."""

    ROOT = "root"  # the file system, a drive, or everything at its top
    SYSTEM = "system"  # a directory of the operating system, or something in it
    HOMES = "homes"  # somebody's whole home directory, or all of them
    HOME = "home"  # something in a home directory
    DEVICE = "device"  # a disk, partition or memory device
    REPOSITORY = "repository"  # a version control directory
    HERE = "here"  # the working directory or a parent of it
    PATTERN = "pattern"  # whatever in the working directory matches a pattern
    OUTSIDE = "outside"  # elsewhere, by an absolute path or through the parent directory
    TEMPORARY_ROOT = "temporary-root"  # a whole shared temporary directory
    TEMPORARY = "temporary"  # something in a temporary directory
    NAMED = "named"  # a name in or below the working directory
    SINK = "sink"  # /dev/null, a terminal, a descriptor
    NOWHERE = "nowhere"  # the empty path
    UNKNOWN = "unknown"  # the path depends on what nobody assigned


_SYSTEM_DEEP = word_set(
    "bin boot dev etc lib lib32 lib64 libx32 proc sbin sys System Library usr cores Network efi"
)
_SYSTEM_SHALLOW = word_set("var opt srv mnt media run snap nix private Applications Volumes")
_SHALLOW_DEPTH = 1
_USER_SOFTWARE = frozenset({"local", "src", "games", "share"})
_VAR_STATE = word_set("lib log db spool mail backups")
_HOMES = frozenset({"home", "Users"})
_TEMPORARY_ROOTS = (
    ("tmp",),
    ("var", "tmp"),
    ("private", "tmp"),
    ("private", "var", "tmp"),
    ("dev", "shm"),
    ("var", "folders"),
    ("private", "var", "folders"),
    ("run", "user"),
)
_SINKS = word_set("null zero full tty stdin stdout stderr random urandom ptmx console fd pts tcp udp shm")
_REPOSITORIES = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|\Z|(?=[^\\/]))")
_DRIVE_ROOTS = frozenset(
    ["", "*", "*.*", "users", "windows", "program files", "program files (x86)", "programdata", "system32"]
)
_GLOB = re.compile(r"[*?\[]")
_BROAD = re.compile(r"\.?[*?]+(?:\.[*?]+)?\Z|\.\[!?\^?\.\]\*?\Z|\.\.\?\*\Z")


def zone(path: str, directory: str | None = None, home: str | None = None, cwd: str | None = None) -> Zone:  # noqa: C901  decisions in the order of the reference
    """Return the kind of place that a path names.

    Args:
        path: the path after expansion; it may hold marks and file patterns.
        directory: where `cd` has led in the same text, if anywhere.
        home: the home directory of whoever runs the command, if known.
        cwd: the working directory that the text starts in, if known.
    """
    if not path:
        return Zone.NOWHERE
    if _DRIVE.match(path):
        return _drive(path)
    if UNKNOWN in path:
        emptied = path.replace(UNKNOWN, "").replace(TEMPORARY_HINT, "").replace(SECRET_VALUE, "")
        if emptied:
            found = zone(emptied, directory, home, cwd)
            if found in (Zone.ROOT, Zone.HOMES, Zone.DEVICE) or (
                found is Zone.SYSTEM and emptied.strip("/").count("/") == 0
            ):
                return found
        if path[0] == UNKNOWN:
            return Zone.TEMPORARY if path[1:2] == TEMPORARY_HINT else Zone.UNKNOWN
    if path[0] == PRESENT:
        return Zone.UNKNOWN
    full = path
    if directory is not None and path[0] not in "/" + HOME:
        full = directory.rstrip("/") + "/" + path if directory not in ("", ".") else path
        if full[0] in PRESENT + UNKNOWN:
            return Zone.PATTERN if _GLOB.search(path) else Zone.UNKNOWN
    if full[0] == HOME:
        return _in_home(_components(full[1:]))
    if full[0] == "/":
        return _absolute(full, home, cwd)
    return _relative(full)


def entered(directory: str | None, target: str) -> str:
    """Return the directory that a change to `target` leads to, as `Environment.directory` keeps it."""
    if target[:1] in ("/", HOME):
        return target
    if target == "~" or target.startswith("~/"):
        return HOME + target[1:]
    if target[:1] == UNKNOWN:
        return PRESENT
    return target if directory is None else directory.rstrip("/") + "/" + target


def absolute_parts(path: str) -> list[str]:
    """Return the components of an absolute path with `.`, `..` and doubled slashes resolved."""
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if parts:
                parts.pop()
        else:
            parts.append(part)
    return parts


def _components(path: str) -> list[str]:
    """Return the components of a relative path; leading `..` are kept."""
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return parts


def _drive(path: str) -> Zone:
    rest = re.sub(r"\\", "/", path[2:]).strip("/").lower()
    first, _, deeper = rest.partition("/")
    if first in _DRIVE_ROOTS and (first == "windows" or not deeper):
        return Zone.ROOT if first != "users" else Zone.HOMES
    if first == "users":
        return Zone.HOMES if "/" not in deeper else Zone.HOME
    return Zone.OUTSIDE


def _in_home(parts: list[str]) -> Zone:
    if not parts or _BROAD.match(parts[0]):
        return Zone.HOMES
    if parts[0] == "..":
        return Zone.HOMES
    if any(part in _REPOSITORIES for part in parts[-1:]):
        return Zone.REPOSITORY
    return Zone.HOME


def _relative(path: str) -> Zone:
    parts = _components(path)
    if not parts:
        return Zone.HERE
    if parts[-1] == "..":
        return Zone.HERE
    if parts[0] == "..":
        return Zone.OUTSIDE
    if parts[-1] in _REPOSITORIES or (
        len(parts) > 1 and parts[-2] in _REPOSITORIES and _GLOB.search(parts[-1])
    ):
        return Zone.REPOSITORY
    if _GLOB.search(parts[0]) and (len(parts) == 1 or _BROAD.match(parts[0])):
        return Zone.HERE if _BROAD.match(parts[0]) else Zone.PATTERN
    return Zone.NAMED


def _absolute(path: str, home: str | None, cwd: str | None) -> Zone:  # noqa: C901  decisions in the order of the reference
    parts = absolute_parts(path)
    if not parts or _GLOB.search(parts[0]):
        return Zone.ROOT
    inside_cwd = cwd is not None and _inside(parts, cwd)
    if home is not None:
        root = absolute_parts(home)
        if root and parts[: len(root)] == root and not inside_cwd:
            return _in_home(parts[len(root) :])
    first = parts[0]
    if first in _HOMES:
        if len(parts) == 1 or (len(parts) == 2 and not inside_cwd):  # noqa: PLR2004  the depth of the path
            return Zone.HOMES
        return (
            _relative("/".join(parts[len(absolute_parts(cwd or "")) :]))
            if inside_cwd
            else _in_home(parts[2:])
        )
    if first == "root":
        return _in_home(parts[1:])
    for root_parts in _TEMPORARY_ROOTS:
        size = len(root_parts)
        if tuple(parts[:size]) == root_parts:
            rest = parts[size:]
            return Zone.TEMPORARY_ROOT if not rest or _BROAD.match(rest[0]) else Zone.TEMPORARY
    if first == "dev":
        return _device(parts)
    if inside_cwd and cwd is not None:
        return _relative("/".join(parts[len(absolute_parts(cwd)) :]))
    return _system(parts)


def _inside(parts: list[str], cwd: str) -> bool:
    base = absolute_parts(cwd)
    return bool(base) and parts[: len(base)] == base


def _device(parts: list[str]) -> Zone:
    if len(parts) == 1:
        return Zone.SYSTEM
    if parts[1] in _SINKS or parts[1].startswith("tty"):
        return Zone.SINK
    return Zone.DEVICE


def _system(parts: list[str]) -> Zone:
    first, depth = parts[0], len(parts)
    if first in _SYSTEM_DEEP:
        if first == "usr" and depth > 2 and parts[1] in _USER_SOFTWARE:  # noqa: PLR2004  the depth of the path
            return Zone.OUTSIDE
        return Zone.SYSTEM
    if first in _SYSTEM_SHALLOW:
        if depth == _SHALLOW_DEPTH or (depth == 2 and _BROAD.match(parts[1])):  # noqa: PLR2004  the depth of the path
            return Zone.SYSTEM
        if first == "var" and parts[1] in _VAR_STATE and (depth == 2 or parts[1] == "lib"):  # noqa: PLR2004  the depth of the path
            return Zone.SYSTEM
        return Zone.OUTSIDE
    return Zone.OUTSIDE
