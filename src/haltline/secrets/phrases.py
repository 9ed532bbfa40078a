"""Secrets in phrases: headers, addresses, command lines, prose; each given away by its neighbours.

Such findings never block, as all of context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from haltline.secrets.context import DUMMY_PASSWORDS, is_secret_value, positions, stands_for_a_secret
from haltline.secrets.model import Hit, Tier
from haltline.secrets.patterns import compiled
from haltline.secrets.validators import decode_base64

if TYPE_CHECKING:
    from collections.abc import Iterator

_USERINFO = r"([^\s/:@\"'<>?#]{0,100}):([^\s/@\"'<>]{3,256})@[A-Za-z0-9\[$]"
_BASIC = r"asic[ \t]{1,4}([A-Za-z0-9+/_\-]{8,512}={0,2})"
_SPOKEN_QUOTED = (
    r"(?:password|passphrase)[^\n.\"'`=]{0,24}(?:'[^'\n]{1,40}'|\"[^\"\n]{1,40}\")?[ \t]{1,3}is[: \t]{1,3}"
    r"[\"'`]([^\s\"'`]{4,64})[\"'`]"
)
_SPOKEN = (
    r"(?:password|passphrase|secret|token|api key)[ \t]{1,3}(?:is|was)[: \t]{1,3}[\"'`]?([^\s\"'`]{6,256})"
)
_DUMMY_USERS = frozenset({"user", "username", "login", "name", "foo", "usr", "u", "me"})


class Phrase(NamedTuple):
    """One way of writing a secret down.

    Attributes:
        needle: must occur in the text, in lower case.
        expression: bounded, matched anywhere in the text as it was written; its group 1 is the secret.
        rule: the rule to report.
    """

    needle: str
    expression: str
    rule: str


PHRASES = (
    Phrase(
        "bearer",
        r"(?i:bearer)[ \t]{1,4}(?:\\?[\"'])?([A-Za-z0-9._~+/=\-]{15,2000})",
        "bearer-token",
    ),
    Phrase("ssws ", r"(?i:ssws)[ \t]{1,4}([A-Za-z0-9._~+/=\-]{15,2000})", "bearer-token"),
    Phrase(
        "login ",
        r"(?i:login|username)[ \t]{1,4}\S{1,100}\s{1,8}(?i:password)[ \t]{1,4}[\"']?([^\s\"']{4,128})",
        "password",
    ),
    Phrase(
        "credential(",
        r"Credential\([ \t]{0,4}\"[^\"\n]{1,100}\",\s{0,8}\"([^\"\n]{4,128})\"",
        "password",
    ),
    Phrase(
        "directoryentry(",
        r"DirectoryEntry\((?:[ \t\n]{0,16}\"[^\"\n]{1,200}\",){2}\s{0,16}\"([^\"\n]{4,128})\"",
        "password",
    ),
    Phrase(
        "value=",
        (
            r"(?:key|name)=\"[A-Za-z_.]{0,40}(?i:password|secret|apikey"
            r"|token)\"[ \t]{1,4}value=\"([^\"\n]{4,512})\""
        ),
        "password",
    ),
    Phrase("sonar", r"(?i:sonar\.?login)[\"'=:, \t]{1,6}([a-f0-9]{40})", "secret-value"),
    Phrase("unseal", r"(?i:unseal)(?: key [0-9]:)?[ \t]{1,4}([A-Za-z0-9+/]{43,44}=?)", "secret-value"),
)


def find_phrases(text: str, lowered: str) -> Iterator[Hit]:
    """Yield the secrets that stand in such phrases.

    Args:
        text: what to search.
        lowered: the same in lower case, of the same length.
    """
    for needle, expression, rule in PHRASES:
        if needle in lowered:
            for match in compiled(expression).finditer(text):
                if not stands_for_a_secret(match[1]) and match[1].lower() not in DUMMY_PASSWORDS:
                    yield Hit(rule, Tier.CONTEXT, match.start(1), match.end(1), match[1])
    if "@" in text:
        yield from _in_addresses(text)
    if "basic " in lowered:
        yield from _basic(text, lowered)
    if (" is" in lowered or " was" in lowered) and (
        "pass" in lowered or "secret" in lowered or "token" in lowered
    ):
        yield from _spoken(text, lowered)


def _in_addresses(text: str) -> Iterator[Hit]:
    """Yield the passwords of addresses; `user:password@` is how documentation writes one."""
    for position in positions(text, "://"):
        match = compiled(_USERINFO).match(text, position + 3)
        if match is None or stands_for_a_secret(match[2]):
            continue
        if match[1].lower() in _DUMMY_USERS and match[2].lower() in DUMMY_PASSWORDS:
            continue
        yield Hit("uri-password", Tier.CONTEXT, match.start(2), match.end(2), match[2])


def _basic(text: str, lowered: str) -> Iterator[Hit]:
    for position in positions(lowered, "basic "):
        match = compiled(_BASIC).match(text, position + 1)
        pair = decode_base64(match[1]) if match else None
        if match and pair and b":" in pair and pair.isascii():
            yield Hit("basic-credentials", Tier.CONTEXT, match.start(1), match.end(1), match[1])


def _spoken(text: str, lowered: str) -> Iterator[Hit]:
    for match in compiled(_SPOKEN_QUOTED).finditer(lowered):
        start, end = match.span(1)
        if not stands_for_a_secret(text[start:end]):
            yield Hit("password", Tier.CONTEXT, start, end, text[start:end])
    for match in compiled(_SPOKEN).finditer(lowered):
        start, end = match.span(1)
        value = text[start:end].rstrip(".,;)")
        if is_secret_value("", value, "password", quoted=True):
            yield Hit("password", Tier.CONTEXT, start, start + len(value), value)
