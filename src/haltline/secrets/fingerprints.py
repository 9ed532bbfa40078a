"""Keyed fingerprints and the sentinels that carry them."""

from __future__ import annotations

import os

from haltline.secrets.patterns import compiled

_MINIMUM_KEY_BYTES = 16
_SENTINEL = r"«secret:([a-z0-9-]{1,48}):[0-9a-f]{6}»"
_keys: list[bytes] = [os.urandom(32)]


def configure_fingerprint_key(key: bytes) -> None:
    """Set the key of all fingerprints that follow; the same key makes them comparable between processes.

    Without a call, the key is random and lives as long as the process.

    Raises:
        ValueError: the key is shorter than 16 bytes.
    """
    if len(key) < _MINIMUM_KEY_BYTES:
        raise ValueError(f"A fingerprint key needs at least {_MINIMUM_KEY_BYTES} bytes; got {len(key)}.")
    _keys[0] = bytes(key)


def fingerprint(value: str) -> str:
    """Return six hexadecimal digits of HMAC-SHA256 over a secret: comparable, not recoverable."""
    import hashlib  # noqa: PLC0415 - loading OpenSSL is worth paying for only once a secret was found
    import hmac  # noqa: PLC0415 - likewise

    return hmac.new(_keys[0], value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:6]


def sentinel(kind: str, value: str) -> str:
    """Return the text that stands in a secret's place, such as `«secret:github-app:3f9a1c»`."""
    return f"«secret:{kind}:{fingerprint(value)}»"


def sentinel_spans(text: str, kinds: frozenset[str]) -> list[tuple[int, int]]:
    """Return the spans of the sentinels in a text.

    Only those of known kinds count: otherwise a sentinel's form would be a place to hide a short secret in.
    """
    if "«secret:" not in text:
        return []
    return [match.span() for match in compiled(_SENTINEL).finditer(text) if match[1] in kinds]
