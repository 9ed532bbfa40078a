"""What the secret detector speaks in: tiers, findings and token formats.

Named tuples rather than dataclasses: importing `dataclasses` alone costs more than this floor may.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

PathPart = str | int


class Tier(StrEnum):
    """How sure a finding is, from the surest to the weakest.

    `PROOF`: a checksum or an inner structure verified. `KNOWN`: equal to a secret that this process holds.
    `FORMAT`: has the documented form of one vendor's tokens. `CONTEXT`: stands where secrets stand.
    """

    PROOF = "proof"
    KNOWN = "known"
    FORMAT = "format"
    CONTEXT = "context"


# The rule of what was not looked at, because it lies too deep or there is too much of it; it blocks.
UNSCANNED = "unscanned"

TIER_RANK = {tier: rank for rank, tier in enumerate(Tier)}


class SecretFinding(NamedTuple):
    """One secret that was found; it never holds the secret itself.

    Attributes:
        rule: the kind of secret, as in sentinels (`github-pat`).
        tier: how sure it is.
        start: first character of the secret (or of its encoded form) in the text at `path`.
        end: the character after its last.
        path: keys and indices that lead to the text inside the scanned object; empty for a plain text.
            A key that holds a secret appears redacted.
        in_key: true when the secret stands in the last part of `path` itself, a mapping's key.
        decoded: the encodings that were undone to find it, outermost first; empty for plain text.
        fingerprint: six hexadecimal digits of a keyed digest: equal secrets have equal fingerprints.
    """

    rule: str
    tier: Tier
    start: int
    end: int
    path: tuple[PathPart, ...] = ()
    in_key: bool = False
    decoded: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def blocks(self) -> bool:
        """True when the finding is sure enough to stop an action; context findings only inform."""
        return self.tier is not Tier.CONTEXT


class Format(NamedTuple):
    """The documented form of one vendor's tokens.

    Attributes:
        kind: its name, in findings and sentinels: lower-case letters, digits and hyphens.
        literals: fixed texts, one of which every token contains (at its start, unless `lead` is given).
        body: bounded regular expression for what follows the literal; one character-class run for each part.
        source: the vendor's page, or the page that documents the form.
        read: ISO date on which that page was read.
        lead: bounded regular expression for what precedes the literal, for tokens whose literal is inside.
        lead_limit: most characters that `lead` can match.
        validator: name of an offline check in `haltline.secrets.validators`, or empty.
        tier: the tier without a validator.
        right: what must not follow the token.
        group: number of the group in `body` that is the secret; 0 for the whole token.
    """

    kind: str
    literals: tuple[str, ...]
    body: str
    source: str
    read: str = ""
    lead: str = ""
    lead_limit: int = 0
    validator: str = ""
    tier: Tier = Tier.FORMAT
    right: str = "(?![A-Za-z0-9])"
    group: int = 0


class Hit(NamedTuple):
    """A secret inside one text, before it is placed in an object.

    Holds the value, and therefore never leaves this package.
    """

    rule: str
    tier: Tier
    start: int
    end: int
    value: str
    decoded: tuple[str, ...] = ()
