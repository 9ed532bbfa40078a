"""What the commands of an action would do, together and with the scripts that they run."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from haltline.domain import digest
from haltline.secrets import redact

if TYPE_CHECKING:
    from haltline.shell import Analysis, Effect
    from haltline.shell.book import Book

ReadScript = Callable[[str], str | None]

UNDECIDED = "…"
"""What stands in the target of an effect for what the text of a command does not decide."""

_FILE_EFFECTS = frozenset({"write", "overwrite", "delete"})
_RULES_OF_FILES = frozenset({"filesystem.shred"})
"""Rules that alone report the file they are about; of every other the detector reports it as well."""

# fmt: off
_KEEPS_CONTENT = frozenset({
    "chmod", "chown", "chgrp", "setfacl", "chattr", "xattr", "mkdir", "mkfifo", "mknod", "rmdir", "touch",
})
# fmt: on
"""Programs that make something new or change who may use it; what a file holds stays as it is."""

_INTO_DIRECTORIES = frozenset({"cp", "mv", "install"})
_PATTERN = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Analysed:
    """What an action's commands would do.

    Attributes:
        analyses: of each command; then of all of them as one text, where there are several.
        scripts: the scripts that were read for it, by path, each with the digest of its redacted text.
    """

    analyses: tuple[Analysis, ...] = ()
    scripts: tuple[tuple[str, str], ...] = ()


def analyse(
    commands: tuple[str, ...],
    *,
    cwd: str | None,
    home: str | None,
    read_script: ReadScript | None,
    path_key: Callable[[str], str],
    rules: Book | None = None,
) -> Analysed:
    """Return what commands would do, each by itself and all in one shell: nobody knows which it will be.

    A `cd`, a variable or a function of one command may hold in the next. Scripts are read only where a first
    look has left something unknown. That look stands wherever something in the action could change a script
    between the check and its run: what is read then adds to what is known, and takes nothing unknown away.
    """
    from haltline.shell import analyze  # noqa: PLC0415 - most checks carry no command

    texts = commands if len(commands) == 1 else (*commands, "\n".join(commands))
    blind = tuple(analyze(text, cwd=cwd, home=home, rules=rules) for text in texts)
    if read_script is None or not any(analysis.unknown for analysis in blind):
        return Analysed(blind)
    scripts: dict[str, str] = {}

    def reader(path: str) -> str | None:
        text = read_script(path)
        if text is not None:
            scripts[path] = digest(redact(text))
        return text

    read = tuple(
        analyze(analysis.text, cwd=cwd, home=home, read_file=reader, rules=rules)
        if analysis.unknown
        else analysis
        for analysis in blind
    )
    if _may_change(read, {path_key(path) for path in scripts}, path_key):
        read = tuple(_with_unknowns(after, before) for after, before in zip(read, blind, strict=True))
    return Analysed(read, tuple(sorted(scripts.items())))


def _with_unknowns(after: Analysis, before: Analysis) -> Analysis:
    unknown = tuple(dict.fromkeys((*after.unknown, *before.unknown)))
    return replace(after, unknown=unknown, only_reads=after.only_reads and not unknown)


def _may_change(analyses: Iterable[Analysis], scripts: set[str], path_key: Callable[[str], str]) -> bool:
    """Whether a command could change one of the scripts: it names it, or does not say what it writes."""
    if not scripts:
        return False
    for effect in (effect for analysis in analyses for effect in analysis.effects):
        if effect.kind == "network_in":
            return True
        if effect.kind not in _FILE_EFFECTS or program_of(effect) in _KEEPS_CONTENT:
            continue
        path = effect.path
        if path is None or UNDECIDED in path or not _PATTERN.isdisjoint(path):
            return True
        key = path_key(path)
        if any(script == key or script.startswith(f"{key.rstrip('/')}/") or key == "." for script in scripts):
            return True
    return False


def program_of(effect: Effect) -> str:
    """Return the name of the program that has an effect, or an empty text."""
    return posixpath.basename(effect.command[0]) if effect.command else ""


def file_effects(analyses: Iterable[Analysis]) -> Iterator[Effect]:
    """Yield the effects whose target is a file or directory that is written, overwritten or deleted."""
    for analysis in analyses:
        for effect in analysis.effects:
            of_a_file = effect.rule_id is None or effect.rule_id in _RULES_OF_FILES
            if effect.kind in _FILE_EFFECTS and of_a_file and effect.path:
                yield effect


def changed_files(
    analyses: Iterable[Analysis], is_directory: Callable[[str], bool], *, can_look: bool
) -> Iterator[str]:
    """Yield the files whose content commands would change, as written, from where `cd` has led.

    A directory is none: what is copied or moved into it takes the place of what has its name there. Where
    nobody can look, a deletion that goes into directories is taken for that of one: `rm -rf build`.
    """
    for effect in file_effects(analyses):
        if program_of(effect) in _KEEPS_CONTENT or (program_of(effect) == "ln" and effect.kind == "write"):
            continue
        path = effect.path or ""
        if effect.kind == "delete" and effect.recursive and not can_look:
            continue
        if not is_directory(path):
            yield path
        elif program_of(effect) in _INTO_DIRECTORIES and effect.kind == "overwrite":
            yield from (f"{path.rstrip('/')}/{name}" for name in _names_of_sources(effect))


def _names_of_sources(effect: Effect) -> Iterator[str]:
    """Yield the names under which `cp`, `mv` and `install` put what they are given into a directory."""
    for word in effect.command[1:]:
        name = posixpath.basename(word.rstrip("/"))
        if name and name not in {".", ".."} and not word.startswith("-") and word != effect.target:
            yield name


def bound(action_digest: str, scripts: Mapping[str, str]) -> dict[str, object]:
    """Return the evidence that binds a settlement to an action and to the scripts as they were read."""
    return {"action": action_digest, **({"scripts": dict(scripts)} if scripts else {})}
