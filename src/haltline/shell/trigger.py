"""What must occur in a plain command for a rule or detector to hold: the cheap test before the real one."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    # Names of which one is there, with the longest literal part of each, or with None where they are options.
    Need = tuple[Sequence[str], Sequence[str] | None]


class Trigger:
    """What must occur in a plain command for a rule or detector to have anything to say.

    Only detectors bring patterns: compiling one for each program took longer than everything else that is
    done when a program is first seen (7 ms for `aws`). It is filled in place, because joining a trigger for
    each condition took three times as long.

    Attributes:
        words: whole words, one of which is enough.
        starts: beginnings of words, one of which is enough.
        letters: letters of which one among the short options is enough.
        fragments: parts of words, one of which is enough.
        patterns: regular expressions, one of which is enough.
    """

    __slots__ = ("fragments", "letters", "patterns", "starts", "words")

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.starts: tuple[str, ...] = ()
        self.letters: set[str] = set()
        self.fragments: tuple[str, ...] = ()
        self.patterns: tuple[re.Pattern[str], ...] = ()

    def add(self, needs: Iterable[Need]) -> None:
        """Let what conditions need be enough."""
        starts, fragments = set(self.starts), set(self.fragments)
        for names, literals in needs:
            if literals is None:
                self._add_options(names, starts)
            elif literals is names:
                self.words.update(names)
            else:
                for name, literal in zip(names, literals, strict=True):
                    if name == literal:
                        self.words.add(name)
                    else:
                        (starts if name.startswith(literal) else fragments).add(literal)
        self.starts, self.fragments = tuple(starts), tuple(fragments)

    def _add_options(self, names: Sequence[str], starts: set[str]) -> None:
        """Let options be enough in every spelling: in a cluster of letters, or abbreviated."""
        for name in names:
            if len(name) == 2:  # noqa: PLR2004  a dash and a letter
                self.words.add("-" + name)  # `--a` means what `-a` means
                self.letters.add(name[1])
            elif len(name) > 2:  # noqa: PLR2004  a dash and letters
                starts.add(name[:5])
                if name[1] != "-":
                    starts.add(("-" + name)[:5])

    def add_pattern(self, pattern: str) -> None:
        """Let a match of a regular expression be enough."""
        self.patterns += (re.compile(pattern),)

    def occurs(self, text: str) -> bool:
        """Return whether the text of a plain command contains it."""
        words = text.split()
        if not self.words.isdisjoint(words):
            return True
        starts, letters = self.starts, self.letters
        if starts or letters:
            for word in words:
                if word.startswith(starts):
                    return True
                if word[0] == "-" and word[1:2] != "-" and not letters.isdisjoint(word):
                    return True
        return any(fragment in text for fragment in self.fragments) or any(
            pattern.search(text) is not None for pattern in self.patterns
        )
