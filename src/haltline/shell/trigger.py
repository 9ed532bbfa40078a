"""What must occur in a plain command for a rule or detector to hold: the cheap test before the real one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Trigger:
    """What must occur in a plain command for a rule or detector to have anything to say.

    Attributes:
        words: whole words, one of which is enough.
        starts: beginnings of words, one of which is enough.
        others: patterns, one of which is enough.
    """

    __slots__ = ("others", "pattern", "starts", "words")

    def __init__(
        self, words: Iterable[str] = (), starts: Iterable[str] = (), others: Iterable[str] = ()
    ) -> None:
        self.words = frozenset(words)
        self.starts = frozenset(starts)
        self.others = frozenset(others)
        pieces = sorted(self.others)
        if self.starts:
            pieces.append("(?:^| )(?:" + "|".join(sorted(map(re.escape, self.starts))) + ")")
        self.pattern = re.compile("|".join(pieces)) if pieces else None

    @classmethod
    def of_words(cls, names: Sequence[str], literals: Sequence[str]) -> Trigger:
        """Return the trigger of word patterns, each with its longest literal part."""
        pairs = list(zip(names, literals, strict=True))
        return cls(
            words=[name for name, literal in pairs if name == literal],
            starts=[literal for name, literal in pairs if name != literal and name.startswith(literal)],
            others=[re.escape(literal) for name, literal in pairs if not name.startswith(literal)],
        )

    @classmethod
    def of_options(cls, names: Sequence[str]) -> Trigger:
        """Return the trigger of options in every spelling: in a cluster of letters, or abbreviated."""
        long = [name for name in names if len(name) > 2]  # noqa: PLR2004  dashes and letters
        long += ["-" + name for name in long if name[1] != "-"]
        short = [name for name in names if len(name) == 2]  # noqa: PLR2004  dashes and letters
        return cls(
            starts=[name[:5] for name in long], others=[" -[^ -]*" + re.escape(name[1:2]) for name in short]
        )

    @classmethod
    def any_of(cls, triggers: Sequence[Trigger]) -> Trigger:
        """Return the trigger that holds when one of the given holds."""
        return cls(
            (word for trigger in triggers for word in trigger.words),
            (start for trigger in triggers for start in trigger.starts),
            (other for trigger in triggers for other in trigger.others),
        )

    def occurs(self, text: str) -> bool:
        """Return whether the text of a plain command contains it."""
        return (bool(self.words) and not self.words.isdisjoint(text.split())) or (
            self.pattern is not None and self.pattern.search(text) is not None
        )
