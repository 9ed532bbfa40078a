"""Everything that a condition may look at, as values.

Nothing here reads a file or a database: what must be read is gathered first and handed in. Facts that the
agent declares and facts that Haltline has seen are separate fields, so that a condition can let the seen ones
win.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from haltline.conditions.commands import UNDECIDED, Analysed, ReadScript, analyse, bound, changed_files
from haltline.domain import digest
from haltline.secrets import redact

if TYPE_CHECKING:
    from haltline.shell import Analysis
    from haltline.shell.book import Book


_NOBODYS_FILES = ("/dev/", "/tmp/", "/var/tmp/", "/proc/self/")  # noqa: S108 - paths that are left out


# fmt: off
_PLAIN_READERS = frozenset({
    "basename", "cat", "cmp", "cut", "date", "df", "diff", "dirname", "du", "echo", "egrep",
    "fgrep", "grep", "head", "id", "ls", "md5sum", "nl", "pwd", "readlink", "realpath", "sha1sum",
    "sha256sum", "stat", "tac", "tail", "test", "tr", "true", "uname", "uniq", "wc", "which",
})
# fmt: on
"""Programs that read what their arguments name, run nothing, and heed no file that an agent could write."""


def _is_plain(analysis: Analysis) -> bool:
    return all(c.resolved and c.argv and c.argv[0] in _PLAIN_READERS for c in analysis.commands)


def normalise_path(path: str, workspace: str | None = None) -> str:
    """Return one spelling of a path: no backslashes, dots or doubled slashes, absolute in a workspace."""
    text = path.replace("\\", "/")
    if workspace is not None:
        text = posixpath.join(workspace, text)
    normal = posixpath.normpath(text)
    return normal[1:] if normal.startswith("//") else normal


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool that the agent made, and whether it failed."""

    tool: str
    arguments: Any
    failed: bool


@dataclass(frozen=True, slots=True)
class ProposedChanges:
    """What the action would change.

    Attributes:
        files_to_modify: paths, as the agent wrote them.
        has_tests: whether tests cover the change.
        has_rollback_plan: whether the change can be taken back.
        tests_pass: whether the tests pass; None when nobody ran them.
        contents: the text that would be written, by path.
        dependents: files that use a file to be modified, by that file's path.
    """

    files_to_modify: tuple[str, ...] = ()
    has_tests: bool = True
    has_rollback_plan: bool = True
    tests_pass: bool | None = None
    contents: Mapping[str, str] = field(default_factory=dict)
    dependents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Action:
    """What the agent is about to do."""

    operation: str
    target_files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    environment: str | None = None
    changes: ProposedChanges | None = None
    tool_arguments: Any = None

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Every path that the action names, once, in the order in which they were named."""
        proposed = self.changes.files_to_modify if self.changes else ()
        return tuple(dict.fromkeys((*self.target_files, *proposed)))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The action in JSON values, redacted: as people see it and as its digest binds it."""
        summary: dict[str, Any] = {"operation": self.operation}
        if self.paths:
            summary["file_paths"] = list(self.paths)
        if self.commands:
            summary["commands"] = list(self.commands)
        if self.environment is not None:
            summary["environment"] = self.environment
        if self.changes and self.changes.contents:
            summary["contents"] = {
                path: digest(redact(text)) for path, text in sorted(self.changes.contents.items())
            }
        if self.tool_arguments is not None:
            summary["tool_arguments"] = self.tool_arguments
        # Nothing that is stored, a digest included, may help to guess a secret.
        shown: dict[str, Any] = redact(summary)
        return shown

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the action: what an acknowledgement binds to."""
        return digest(self.summary)


class NotAnalysed(Exception):
    """The analysis of the commands did not end in time."""


@dataclass(frozen=True)
class Facts:
    """The action, what the agent declares around it, and what Haltline has recorded itself.

    Attributes:
        action: what is about to be done.
        task_id: the task it belongs to.
        files_read: paths read in this session: from the ledger where an adapter keeps one, declared
            otherwise.
        absent_files: paths of the action that provably do not exist yet.
        directories: paths of the action that provably are directories.
        real_paths: where paths with `..` lead: after a symbolic link that is not where they seem to lead.
        declared_attempts: the agent's own count; None when it gave none.
        recorded_attempts: failures of the task that Haltline has recorded since the last reset.
        errors: recorded and declared errors of the task, the oldest first.
        recorded_errors: those of them that Haltline has recorded itself, with which `errors` begins.
        uncertainty: the agent's score from 0 to 10.
        scope_boundary: what the action has to stay within.
        instructions: what the user told the agent, in order.
        outputs: text that would be shown or sent.
        credentials: names (never values) of the credentials in use.
        services: for each environment the services (hosts, DSNs) that its configuration names.
        recent_responses: the agent's latest texts, the oldest first.
        recent_calls: its latest tool calls, the oldest first.
        workspace: the directory that relative paths start from.
        home: the home directory of whoever runs the commands, if known.
        read_script: returns the text of a script in the workspace that a command runs, or None.
        rules: the shell rules, users' own among them; None for the built-in ones.
        analysis_failed: the analysis of the commands did not end in time.
    """

    action: Action
    task_id: str | None = None
    files_read: tuple[str, ...] = ()
    absent_files: frozenset[str] = frozenset()
    directories: frozenset[str] = frozenset()
    real_paths: Mapping[str, str] = field(default_factory=dict)
    declared_attempts: int | None = None
    recorded_attempts: int = 0
    errors: tuple[str, ...] = ()
    recorded_errors: tuple[str, ...] = ()
    uncertainty: float | None = None
    scope_boundary: str | None = None
    instructions: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    credentials: tuple[str, ...] = ()
    services: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recent_responses: tuple[str, ...] = ()
    recent_calls: tuple[ToolCall, ...] = ()
    workspace: str | None = None
    home: str | None = None
    read_script: ReadScript | None = field(default=None, compare=False, repr=False)
    rules: Book | None = None
    analysis_failed: bool = False

    @property
    def attempts(self) -> int:
        """How often the task has failed: the greater of what the agent says and what was recorded."""
        return max(self.declared_attempts or 0, self.recorded_attempts)

    @property
    def analyses(self) -> tuple[Analysis, ...]:
        """What the commands of the action would do, analysed once however many conditions ask.

        Of several commands the last analysis is that of all of them in one shell.

        Raises:
            NotAnalysed: the analysis did not end in time; it is not begun again.
        """
        return self._analysed.analyses

    @property
    def _analysed(self) -> Analysed:
        # Kept by hand: before Python 3.12 a `cached_property` holds one lock for all objects while it
        # computes, so that one analysis that hangs would hang every check.
        if not self.action.commands:
            return Analysed()
        if self.analysis_failed:
            raise NotAnalysed("the commands could not be analysed in time")
        known: Analysed | None = self.__dict__.get("_known")
        if known is None:
            known = analyse(
                self.action.commands,
                cwd=self.workspace,
                home=self.home,
                read_script=self.read_script,
                path_key=self.path_key,
                rules=self.rules,
            )
            self.__dict__["_known"] = known
        return known

    @property
    def binding(self) -> dict[str, object]:
        """The evidence that a settlement of what commands do is bound to: the action and its scripts."""
        return bound(self.action.digest, dict(self._analysed.scripts))

    @property
    def is_analysed(self) -> bool:
        """Whether `analyses` is at hand; where it is not, asking for it may take long."""
        return not self.action.commands or ("_known" in self.__dict__ and not self.analysis_failed)

    @property
    def only_reads(self) -> bool:
        """Whether the action has commands and all of them provably only read; a blank one proves nothing.

        The shell analysis calls more commands reads than these: Git, Go or kubectl only read as well, but a
        file that the agent wrote before can make them run something. What passes in a halt is plain.
        """
        analyses = self.analyses
        return bool(analyses) and all(a.only_reads and a.commands and _is_plain(a) for a in analyses)

    @property
    def modified_files(self) -> tuple[str, ...]:
        """Every file that the action changes, as written: those it names, and those its commands change.

        Devices and temporary files are left out, and what a command leaves open: nobody can read those first.
        So are directories that commands change. Where nobody can look, a deletion that goes into directories
        is taken for that of one.
        """
        changed = changed_files(self.analyses, self.is_directory, can_look=self.workspace is not None)
        own = (path for path in changed if UNDECIDED not in path and not self._is_nobodys(path))
        return tuple(dict.fromkeys((*self.action.paths, *own)))

    def is_directory(self, path: str) -> bool:
        """Whether a path of a command surely is a directory: by how it is written, or by the file system."""
        return path.endswith(("/", "/.", "/..")) or path in {".", "..", "~"} or path in self.directories

    def _is_nobodys(self, path: str) -> bool:
        key = self.path_key(path)
        if self.workspace is not None and key.startswith(f"{self.workspace}/"):
            return False
        return key.startswith(_NOBODYS_FILES)

    def knowing(
        self,
        *,
        absent_files: frozenset[str],
        real_paths: Mapping[str, str],
        directories: frozenset[str] = frozenset(),
    ) -> Facts:
        """Return the same facts, their analyses kept, with what was looked up of the files."""
        known = copy(self)
        object.__setattr__(known, "absent_files", absent_files)
        object.__setattr__(known, "real_paths", real_paths)
        object.__setattr__(known, "directories", directories)
        return known

    def without_analyses(self) -> Facts:
        """Return the same facts, of which nobody tries to analyse the commands again."""
        known = copy(self)
        object.__setattr__(known, "analysis_failed", True)
        return known

    def path_key(self, path: str) -> str:
        """Return the spelling under which a path is compared with other paths."""
        if self.home is not None and (path == "~" or path.startswith("~/")):
            path = f"{self.home}{path[1:]}"
        return self.real_paths.get(path) or normalise_path(path, self.workspace)
