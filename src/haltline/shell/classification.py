"""The verdict on one command: the strictest rule that holds for anything it would run."""

from __future__ import annotations

from haltline.shell.book import built_in
from haltline.shell.marks import display
from haltline.shell.quick import plain_words

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from typing import Literal

    from haltline.shell.book import Book
    from haltline.shell.engine import Verdict


def classify(command: str, *, rules: Book | None = None) -> tuple[Literal["deny", "ask"], str] | None:
    """Return the strictest verdict on a command line with its reason, or None when no rule has an opinion.

    `deny` is catastrophic and is to be blocked; `ask` is risky and needs a person (guardrails specification,
    "Command safety is structural, not textual"). Never raises. `rules` is a book from `load_rules`, in place
    of the built-in one.
    """
    book = rules or built_in()
    words = plain_words(command, book) if book.own is None else None
    if words is not None and not words:
        return None
    from haltline.shell.engine import Engine  # noqa: PLC0415  most commands need no engine

    engine = Engine(book)
    if words is None:
        engine.judge(command)
    else:
        engine.judge_words(words, len(command))
    if not engine.verdicts:
        return None
    verdict = strictest(engine.verdicts)
    return ("deny" if verdict[0] == "deny" else "ask", sentence(verdict))


def strictest(verdicts: list[Verdict]) -> Verdict:
    """Return the first `deny`, else the first verdict."""
    for verdict in verdicts:
        if verdict[0] == "deny":
            return verdict
    return verdicts[0]


def sentence(verdict: Verdict) -> str:
    """Return a verdict's reason with what it is about."""
    _, rule, _, _, _, target, _ = verdict
    return f"{rule.reason}: {display(target[:200])}" if target else rule.reason
