"""Secrets in diffs: what is added goes out, what is removed was out already."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from haltline.secrets.patterns import compiled
from haltline.secrets.scanner import scan

if TYPE_CHECKING:
    from haltline.secrets.known import KnownValues
    from haltline.secrets.model import SecretFinding

_FILE = r"\+\+\+ (?:b/)?([^\t\n]+)"
_HUNK = r"@@ -[0-9]+(?:,[0-9]+)? \+([0-9]+)(?:,[0-9]+)? @@"


class DiffFinding(NamedTuple):
    """A secret in a line of a diff.

    Attributes:
        finding: the secret; its positions count characters of the line without its mark.
        file: the file after the change, empty when the diff names none.
        line: number of an added line in the file after the change; 0 for a removed one.
        added: true for an added line, false for a removed one.
    """

    finding: SecretFinding
    file: str
    line: int
    added: bool

    @property
    def blocks(self) -> bool:
        """True when an added line holds a finding that blocks; removed lines only inform."""
        return self.added and self.finding.blocks


def scan_diff(diff: str, *, known: KnownValues | None = None) -> tuple[DiffFinding, ...]:
    """Return the secrets in the added and removed lines of a unified diff; unchanged lines are passed over.

    Runs of added lines are scanned together, so keys of several lines are found.

    Args:
        diff: unified format, of `git diff` or `diff -u`.
        known: secrets that this process holds.
    """
    findings: list[DiffFinding] = []
    file, number = "", 0
    run: list[str] = []
    start = 0
    for line in [*re.split(r"\r?\n", diff), " "]:
        if line.startswith("+") and not line.startswith("+++ "):
            start = start if run else number
            run.append(line[1:])
            number += 1
            continue
        findings.extend(_of_run(run, file, start, known))
        run = []
        if line.startswith("+++ "):
            named = compiled(_FILE).match(line)
            file = named[1] if named else ""
        elif line.startswith("@@ "):
            hunk = compiled(_HUNK).match(line)
            number = int(hunk[1]) if hunk else number
        elif line.startswith("-") and not line.startswith("--- "):
            findings.extend(DiffFinding(found, file, 0, added=False) for found in scan(line[1:], known=known))
        else:
            number += 1
    return tuple(findings)


def _of_run(run: list[str], file: str, start: int, known: KnownValues | None) -> list[DiffFinding]:
    text = "\n".join(run)
    return [
        DiffFinding(found, file, start + text.count("\n", 0, found.start), added=True)
        for found in scan(text, known=known)
    ]
