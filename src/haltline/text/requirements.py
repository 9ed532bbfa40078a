"""Finds what an instruction leaves open: what to act on, where, when it is done, and up to what limit.

Not a list of vague words. The rule, for the instruction's first sentence that asks for something:

* `what` is missing when the verb has no object, or one that only points ("it", "this", "the thing", "stuff",
  "the bug", "the code"), and the instruction names nothing else: no path, identifier, quoted text, message.
* `where` is missing when `what` is missing and nothing in the instruction is a place: a path, an identifier,
  a name in capitals, quotes or backticks, a number of an issue.
* `done-when` is missing when a quality is asked for ("make … faster", "improve …", "clean up …") and the
  instruction gives neither a measure, nor a test, nor a purpose ("so that", "until", "to support").
* `limit` is missing when the verb destroys or changes without bounds ("delete", "refactor", "rewrite", "clean
  up") and its object is everything or an unbounded many ("all", "everything", "old files", "the codebase").

An instruction that follows others may point back at them; so ask about the first one of a task only.
"""

from __future__ import annotations

import re
from functools import cache

MAXIMUM_INSTRUCTION = 8_000

_LEAD = (
    r"^(?:(?:please|kindly|now|then|ok|okay|hey|hi|just|also|so|and|next|first|can you|could you"
    r"|would you|will you|i want you to|i need you to|i'd like you to|you should|let's|we need to"
    r"|we should|try to|help me(?: to)?|go ahead and)[,:]?\s+)*"
)
_QUALITY_VERBS = (
    r"improve|optimi[sz]e|enhance|speed up|clean(?: |-)?up|tidy(?: up)?|polish|modernise|modernize"
    r"|simplify|beautify"
)
_COMPARATIVE = (
    r"better|faster|nicer|cleaner|simpler|smaller|quicker|safer|more \w+|less \w+|good|great"
    r"|pretty|fast|robust|scalable|production[- ]ready"
)
_SWEEPING_VERBS = (
    r"delete|remove|refactor|rewrite|clean(?: |-)?up|purge|drop|wipe|replace|rename|migrate|tidy(?: up)?"
)
_ACTION_VERBS = (
    r"fix|do|make|handle|change|update|implement|add|write|build|create|solve|repair|finish"
    r"|continue|work on|deal with|take care of|sort out|look at|look into|check|test|run|deploy"
    r"|refactor|improve|optimi[sz]e|enhance|speed up|clean(?: |-)?up|tidy(?: up)?|polish"
    r"|moderni[sz]e|simplify|beautify|delete|remove|rewrite|purge|drop|wipe|replace|rename|migrate"
    r"|debug|adjust|edit|modify|set up|complete|move|apply"
)
_POINTER = (
    r"it|this|that|these|those|them|everything|something|things?|stuff|all|(?:the|this|that|these"
    r"|those|my|our|some|a|an|any|all|all the)\s+(?:thing|things|stuff|bug|bugs|issue|issues"
    r"|problem|problems|error|errors|code|codebase|app|application|project|program|script|file"
    r"|files|function|feature|features|change|changes|fix|test|tests|work|task|part|one|rest|mess"
    r"|needful|usual|same)|(?:bugs?|code|issues?|problems?|errors?|things)"
)
_TAIL = (
    r"(?:\s+(?:up|again|now|please|asap|work|working|happen|better|faster|nicer|cleaner|simpler"
    r"|properly|correctly|right|for me|quickly|today|soon|good|great|robust|as discussed"
    r"|like before|too|first|already|(?:more|less) \w+|a (?:bit|little)(?: \w+)?))*[.!?\s]*$"
)
_ANCHOR = (
    r"`[^`\n]+`|[\"“][^\"”\n]{2,}[\"”]|(?<![\w'])'[^'\n]{2,}'|[\w.\-]*/[\w.\-/]+"
    r"|\b[\w\-]+\.[a-z]{1,5}\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]\w+[A-Z]\w*\b"
    r"|\b[A-Z]{2,}[\w\-]*\b|#\d+|\b\w+\(\)|https?://|\b\d+\b"
)
_MEASURE = (
    r"\d|\buntil\b|\bso that\b|\bso (?:it|they|we|users?)\b|\bsuch that\b|\bto (?:support|allow"
    r"|enable|avoid|prevent|make|reduce|use|match|pass|handle|fit)\b|\bby \w+ing\b|\bpass(?:es"
    r"|ing)?\b|\bwithout\b|\binto\b|\bwith\b|\busing\b|\blike\b|\bas in\b|\bbecause\b|\bwhen\b"
)
_UNBOUNDED = (
    r"everything|all(?: of)?(?: the| our| my)?\s*(?:files?|code|data|tests?|branches|records|logs"
    r"|things|stuff|it|them)?|(?:the )?(?:whole|entire) (?:\w+)|the (?:codebase|repo|repository"
    r"|project|code)|(?:the )?(?:old|unused|unneeded|unnecessary|obsolete|stale) (?:files?|code"
    r"|data|branches|records|stuff|things|tests)"
)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


def missing_slots(instruction: str) -> tuple[str, ...]:
    """Return which of `what`, `where`, `done-when` and `limit` an instruction leaves open.

    The module's text states the rule. Empty for what is complete, and for what is no instruction at all.
    """
    text = instruction[:MAXIMUM_INSTRUCTION].replace("’", "'").strip()
    body = text[_compiled(_LEAD).match(text).end() :]  # type: ignore[union-attr]
    if not _compiled(rf"(?:{_ACTION_VERBS})\b").match(body):
        return ()
    anchored = re.search(_ANCHOR, text) is not None
    missing = []
    if not anchored and _compiled(rf"(?:{_ACTION_VERBS})(?:\s+(?:{_POINTER}))?{_TAIL}").match(body):
        missing += ["what", "where"]
    if _asks_for_quality(body) and not _compiled(_MEASURE).search(body):
        missing.append("done-when")
    if not anchored and _compiled(rf"(?:{_SWEEPING_VERBS})\s+(?:{_UNBOUNDED}){_TAIL}").match(body):
        missing.append("limit")
    return tuple(missing)


def _asks_for_quality(body: str) -> bool:
    if _compiled(rf"(?:{_QUALITY_VERBS})\b").match(body):
        return True
    return _compiled(rf"make\s+[^.\n]{{1,80}}?\s(?:{_COMPARATIVE}){_TAIL}").match(body) is not None
