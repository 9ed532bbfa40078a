"""What must occur in a plain command for a rule or detector to hold: the cheap test before the real one."""

from __future__ import annotations

import re
from itertools import chain

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Trigger:
    """What must occur in a plain command for a rule or detector to have anything to say.

    Only detectors bring patterns: compiling one for each program took longer than everything else that is
    done when a program is first seen (7 ms for `aws`, now 0.4).

    Attributes:
        words: whole words, one of which is enough.
        starts: beginnings of words, one of which is enough.
        letters: letters of which one among the short options is enough.
        fragments: parts of words, one of which is enough.
        patterns: regular expressions, one of which is enough.
    """

    __slots__ = ("fragments", "letters", "patterns", "starts", "words")

    def __init__(
        self,
        words: Iterable[str] = (),
        starts: Iterable[str] = (),
        letters: Iterable[str] = (),
        fragments: Iterable[str] = (),
        patterns: Iterable[str] = (),
    ) -> None:
        self.words = frozenset(words)
        self.starts = tuple(frozenset(starts))
        self.letters = frozenset(letters)
        self.fragments = tuple(frozenset(fragments))
        self.patterns = tuple(re.compile(pattern) for pattern in sorted(frozenset(patterns)))

    @classmethod
    def of_words(cls, names: Sequence[str], literals: Sequence[str]) -> Trigger:
        """Return the trigger of word patterns, each with its longest literal part."""
        pairs = list(zip(names, literals, strict=True))
        return cls(
            words=[name for name, literal in pairs if name == literal],
            starts=[literal for name, literal in pairs if name != literal and name.startswith(literal)],
            fragments=[literal for name, literal in pairs if not name.startswith(literal)],
        )

    @classmethod
    def of_options(cls, names: Sequence[str]) -> Trigger:
        """Return the trigger of options in every spelling: in a cluster of letters, or abbreviated."""
        long = [name for name in names if len(name) > 2]  # noqa: PLR2004  dashes and letters
        long += ["-" + name for name in long if name[1] != "-"]
        short = [name for name in names if len(name) == 2]  # noqa: PLR2004  dashes and letters
        return cls(
            words=["-" + name for name in short],  # `--a` means what `-a` means
            starts=[name[:5] for name in long],
            letters=[name[1] for name in short],
        )

    @classmethod
    def any_of(cls, triggers: Sequence[Trigger]) -> Trigger:
        """Return the trigger that holds when one of the given holds."""
        if len(triggers) == 1:
            return triggers[0]
        return cls(
            chain.from_iterable(trigger.words for trigger in triggers),
            chain.from_iterable(trigger.starts for trigger in triggers),
            chain.from_iterable(trigger.letters for trigger in triggers),
            chain.from_iterable(trigger.fragments for trigger in triggers),
            (pattern.pattern for trigger in triggers for pattern in trigger.patterns),
        )

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
