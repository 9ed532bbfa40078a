"""Compares what an action touches with the boundary that somebody set for it.

A boundary is read in one of two ways. As a list, one entry a line or comma, when every entry has a form of
this grammar:

    src/auth/**          a gitignore-style pattern; `!src/auth/legacy/` takes out
    host:api.internal    a host, `host:*.internal` all below it; `!host:` takes out
    verb:read            a verb: read, write, delete, execute, network; `!verb:delete` takes out

Otherwise as prose: the paths and hosts that it contains are allowed ("Only modify files under src/auth and
tests/auth"), those after "not", "except" or "without" in the same clause are taken out ("but not
src/auth/legacy"). What it says in words alone cannot be compared, and `Outside.comparable` says so.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from haltline.errors import InvalidInput
from haltline.text.globs import PathPattern, matches, parse_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VERBS = frozenset({"read", "write", "delete", "execute", "network"})
MAXIMUM_BOUNDARY = 20_000
# Linux refuses longer paths; what nothing can open is outside.
MAXIMUM_PATH = 4_096

_ENTRY = r"!?(?:host:[A-Za-z0-9*_.\-:]{1,253}|verb:[a-z]{2,20}|[^\s,:]{1,1024})"
_PATH_LIKE = r"[^\s,;'\"`()<>]{1,1024}"
_HOST = r"(?:https?://)?((?:[A-Za-z0-9_*](?:[A-Za-z0-9_\-]{0,62})\.){1,8}(?:[A-Za-z]{2,24}))(?::[0-9]{1,5})?(?:/\S{0,500})?"
_TAKES_OUT = frozenset(
    {"not", "except", "excluding", "without", "never", "no", "don't", "but-not", "outside", "avoid"}
)
_CLAUSE_ENDS = frozenset({"only", "allowed", "modify", "edit", "change", "touch", "may", "can"})
_BARE_FILES = frozenset(
    {"dockerfile", "makefile", "readme", "license", "jenkinsfile", "procfile", "vagrantfile"}
)
_TOP_LEVEL_DOMAINS = frozenset(
    {
        "com",
        "org",
        "net",
        "io",
        "dev",
        "internal",
        "local",
        "cloud",
        "app",
        "ai",
        "co",
        "corp",
        "example",
        "test",
    }
)


class Boundary(NamedTuple):
    """A boundary in a form that can be compared; an empty part was not spoken of."""

    paths: tuple[PathPattern, ...] = ()
    hosts: tuple[str, ...] = ()
    excluded_hosts: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset()
    excluded_verbs: frozenset[str] = frozenset()


class Outside(NamedTuple):
    """What lies outside a boundary.

    Attributes:
        paths: the paths outside, as given.
        hosts: the hosts outside, as given.
        verbs: the verbs outside.
        comparable: true when the boundary spoke of at least one kind of thing that the action has.
    """

    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    comparable: bool = False

    @property
    def anything(self) -> bool:
        """True when something lies outside."""
        return bool(self.paths or self.hosts or self.verbs)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def normalise_path(path: str, root: str = "") -> tuple[str, ...] | None:
    """Return a path's components below the root, without `.` and `..`; None when it lies outside the root.

    Args:
        path: relative to the root, or absolute.
        root: absolute path of the working directory; without one, absolute paths keep all their components.
    """
    slashed = path.replace("\\", "/")
    if root and slashed.startswith("/"):
        base = root.replace("\\", "/").rstrip("/") + "/"
        collapsed = "/" + "/".join(_collapse(slashed) or ()) + "/"
        if not collapsed.startswith(base):
            return None
        slashed = collapsed[len(base) :]
    return _collapse(slashed)


def _collapse(path: str) -> tuple[str, ...] | None:
    parts: list[str] = []
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        elif not path.startswith("/"):
            return None
    return tuple(parts)


def scope_patterns(boundary: str) -> Boundary:
    """Return a boundary's patterns, hosts and verbs; see the module's text for the two ways it is read.

    Raises:
        InvalidInput: the boundary is longer than 20,000 characters; a cut could lose what it takes out.
    """
    if len(boundary) > MAXIMUM_BOUNDARY:
        raise InvalidInput(
            f"scope_boundary: expected at most {MAXIMUM_BOUNDARY:,} characters, got {len(boundary):,}. "
            "State it as patterns, one a line."
        )
    entries = [entry.strip() for entry in re.split(r"[\n,]", boundary) if entry.strip()]
    entries = [entry for entry in entries if not entry.startswith("#")]
    if entries and all(_is_entry(entry) for entry in entries):
        return _from_entries(entries)
    return _from_prose(boundary)


def _is_entry(entry: str) -> bool:
    if not _compiled(_ENTRY).fullmatch(entry):
        return False
    body = entry.removeprefix("!")
    if body.startswith("verb:"):
        return body[5:] in VERBS
    return body.startswith("host:") or _is_path(body) or (entry.startswith("!") and bool(body))


def _from_entries(entries: Sequence[str]) -> Boundary:
    paths: list[PathPattern] = []
    hosts: tuple[list[str], list[str]] = ([], [])
    verbs: tuple[set[str], set[str]] = (set(), set())
    for entry in entries:
        taken_out = entry.startswith("!")
        body = entry.removeprefix("!")
        if body.startswith("host:"):
            hosts[taken_out].append(body[5:].lower())
        elif body.startswith("verb:"):
            verbs[taken_out].add(body[5:])
        else:
            paths.append(parse_pattern(entry))
    return Boundary(
        tuple(dict.fromkeys(paths)),
        tuple(hosts[0]),
        tuple(hosts[1]),
        frozenset(verbs[0]),
        frozenset(verbs[1]),
    )


def _from_prose(text: str) -> Boundary:
    paths: list[PathPattern] = []
    hosts: tuple[list[str], list[str]] = ([], [])
    for sentence in re.split(r"(?<=[.!?;])\s+|\n", text):
        taken_out = False
        for match in _compiled(_PATH_LIKE).finditer(sentence):
            word = match[0].rstrip(".:!?")
            lowered = word.lower()
            if lowered in _TAKES_OUT:
                taken_out = True
            elif lowered in _CLAUSE_ENDS and not _after_negation(sentence, match.start()):
                taken_out = False
            host = _compiled(_HOST).fullmatch(word)
            if host and _is_host(word, host[1]):
                hosts[taken_out].append(host[1].lower())
            elif _is_path(word):
                paths.append(_prose_pattern(word, taken_out=taken_out))
    return Boundary(tuple(dict.fromkeys(paths)), tuple(hosts[0]), tuple(hosts[1]))


def _prose_pattern(word: str, *, taken_out: bool) -> PathPattern:
    """Return the pattern that a path in prose means.

    "Work in src/" means the folder at the top, while gitignore's `src/` means any folder of that name.
    """
    if taken_out:
        return parse_pattern(f"!{word}")
    pattern = parse_pattern(word)
    return pattern._replace(anchored=True) if "/" in word else pattern


def _after_negation(sentence: str, position: int) -> bool:
    words = sentence[max(0, position - 40) : position].lower().split()
    return bool(words) and words[-1] in _TAKES_OUT


def _is_host(word: str, name: str) -> bool:
    return "://" in word or name.rsplit(".", 1)[-1].lower() in _TOP_LEVEL_DOMAINS


def _is_path(word: str) -> bool:
    """True for what can only be meant as a path: it has a slash, a glob, or a file's ending."""
    if "://" in word or word in {"/", "and/or", "n/a", "w/o", "i.e", "e.g", "*"}:
        return word == "*"
    if "/" in word or "*" in word or word.startswith("."):
        return True
    stem, dot, ending = word.rpartition(".")
    if dot and stem and ending.isalnum() and not ending.isdigit() and len(ending) <= 10:  # noqa: PLR2004 - longest file ending in use
        return True
    return word.lower() in _BARE_FILES


def outside(
    boundary: str,
    paths: Iterable[str] = (),
    hosts: Iterable[str] = (),
    verbs: Iterable[str] = (),
    *,
    root: str = "",
) -> Outside:
    """Return which of an action's paths, hosts and verbs lie outside a boundary.

    The last pattern that matches a path decides, as in gitignore. A boundary that only takes out allows all
    the rest. A path that leaves the root by `..` is outside whenever the boundary speaks of paths.

    Args:
        boundary: see the module's text.
        paths: relative to the root, or absolute.
        hosts: names or addresses, without scheme and port.
        verbs: of `VERBS`.
        root: absolute path of the working directory.

    Raises:
        InvalidInput: the boundary is longer than 20,000 characters.
    """
    limits = scope_patterns(boundary)
    paths, hosts, verbs = tuple(paths), tuple(hosts), tuple(verbs)
    speaks_of_hosts = bool(limits.hosts or limits.excluded_hosts)
    speaks_of_verbs = bool(limits.verbs or limits.excluded_verbs)
    return Outside(
        tuple(path for path in paths if limits.paths and not _path_inside(limits.paths, path, root)),
        tuple(host for host in hosts if speaks_of_hosts and not _host_inside(limits, host)),
        tuple(verb for verb in verbs if speaks_of_verbs and not _verb_inside(limits, verb)),
        bool((limits.paths and paths) or (speaks_of_hosts and hosts) or (speaks_of_verbs and verbs)),
    )


def _path_inside(patterns: tuple[PathPattern, ...], path: str, root: str) -> bool:
    parts = normalise_path(path, root) if len(path) <= MAXIMUM_PATH else None
    if parts is None:
        return False
    inside = all(pattern.negated for pattern in patterns)
    for pattern in patterns:
        absolute = _below(pattern, root)
        if absolute is not None and matches(absolute, parts):
            inside = not pattern.negated
    return inside


def _below(pattern: PathPattern, root: str) -> PathPattern | None:
    """Return a pattern relative to the root: boundaries may be written with absolute paths, too."""
    base = tuple(part for part in root.replace("\\", "/").split("/") if part)
    if base and pattern.parts[: len(base)] == base:
        return pattern._replace(parts=pattern.parts[len(base) :], anchored=True)
    return pattern


def _host_inside(limits: Boundary, host: str) -> bool:
    name = host.lower().rstrip(".")
    if any(_host_matches(pattern, name) for pattern in limits.excluded_hosts):
        return False
    return not limits.hosts or any(_host_matches(pattern, name) for pattern in limits.hosts)


def _host_matches(pattern: str, host: str) -> bool:
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern


def _verb_inside(limits: Boundary, verb: str) -> bool:
    return verb not in limits.excluded_verbs and (not limits.verbs or verb in limits.verbs)
