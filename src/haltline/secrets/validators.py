"""Offline checks of tokens: checksums and inner structure.

Each takes a whole token and returns the tier to report it in, or None when it is certainly not a secret.
A checksum that fails lowers the tier to context: a typing error or a newer form must not clear a value.
"""

from __future__ import annotations

import binascii
import re
import zlib
from typing import TYPE_CHECKING, Any

from haltline.secrets.model import Tier

if TYPE_CHECKING:
    from collections.abc import Callable

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_CLASSIC_LENGTH = 40
_CRC_HEX_LENGTH = 8
_GITLAB_CRC_LENGTH = 7
_JWT_PARTS = 3
_JWE_PARTS = 5
_MINIMUM_PEM_CHARACTERS = 100
_BASE64_URL = bytes.maketrans(b"-_", b"+/")


def in_base(number: int, alphabet: str, width: int) -> str:
    """Return a number in the base of an alphabet, padded on the left to a width."""
    digits = ""
    while number:
        number, remainder = divmod(number, len(alphabet))
        digits = alphabet[remainder] + digits
    return digits.rjust(width, alphabet[0])


def base62_checksum(entropy: str) -> str:
    """Return the six checksum characters of GitHub and npm tokens for their first thirty characters.

    Source: https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
    """
    return in_base(zlib.crc32(entropy.encode()), _BASE62, 6)


def decode_base64(text: str) -> bytes | None:
    """Return what base64 text stands for, in either alphabet, padded or not; None when it is not base64."""
    raw = text.rstrip("=").encode("ascii", "ignore").translate(_BASE64_URL)
    try:
        return binascii.a2b_base64(raw + b"=" * (-len(raw) % 4))
    except binascii.Error:
        return None


def _json_object(part: str) -> dict[str, Any] | None:
    data = decode_base64(part)
    if data is None or not data.lstrip().startswith(b"{"):
        return None
    import json  # noqa: PLC0415 - imported only once something that looks like a JWT was met

    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _github(token: str) -> Tier:
    if len(token) != _CLASSIC_LENGTH:
        return Tier.FORMAT
    return Tier.PROOF if base62_checksum(token[4:34]) == token[34:] else Tier.CONTEXT


def _crc32_hex(token: str) -> Tier:
    """Grafana (`glsa_…_crc`) writes the checksum in little-endian order, others in big-endian order."""
    body, checksum = token[:-_CRC_HEX_LENGTH], token[-_CRC_HEX_LENGTH:].lower()
    for covered in (body, body[:-1]):
        crc = zlib.crc32(covered.encode())
        if checksum in (f"{crc:08x}", crc.to_bytes(4, "little").hex()):
            return Tier.PROOF
    return Tier.CONTEXT


def _gitlab_routable(token: str) -> Tier:
    body, checksum = token[:-_GITLAB_CRC_LENGTH], token[-_GITLAB_CRC_LENGTH:]
    proven = in_base(zlib.crc32(body.encode()), _BASE36, _GITLAB_CRC_LENGTH) == checksum
    return Tier.PROOF if proven else Tier.FORMAT


def _jwt(token: str) -> Tier | None:
    """RFC 7519: three parts of which two are JSON objects, or five (JWE, RFC 7516) of which the first is.

    `alg: none` protects nothing, and Supabase's `role: anon` token is public by design.
    """
    parts = token.split(".")
    header = _json_object(parts[0])
    if header is None:
        return None
    if len(parts) == _JWE_PARTS:
        return Tier.PROOF if "enc" in header else None
    if len(parts) != _JWT_PARTS or not isinstance(header.get("alg"), str):
        return None
    if header["alg"].lower() == "none" or not parts[2]:
        return None
    claims = _json_object(parts[1])
    if claims is None:
        return Tier.CONTEXT
    return None if claims.get("role") == "anon" else Tier.PROOF


def _discord(token: str) -> Tier:
    """The first part is the base64 of the bot's decimal identifier."""
    identifier = decode_base64(token.split(".", 1)[0])
    return Tier.PROOF if identifier is not None and identifier.isdigit() else Tier.CONTEXT


def _grafana_legacy(token: str) -> Tier | None:
    """Base64 of an object with the key `k`, the name `n` and the organisation `id`."""
    value = _json_object(token)
    return Tier.PROOF if value is not None and {"k", "n", "id"} <= value.keys() else None


def _openai(token: str) -> Tier:
    return Tier.PROOF if "T3BlbkFJ" in token else Tier.CONTEXT


def _pypi(token: str) -> Tier:
    """A macaroon (version 2) whose location is pypi.org or test.pypi.org."""
    data = decode_base64(token[len("pypi-") :])
    return Tier.PROOF if data is not None and b"pypi.org" in data[:24] else Tier.CONTEXT


def _pem(token: str) -> Tier | None:
    """At least a hundred base64 characters that begin as the armour says: DER, or OpenSSH's magic."""
    body = token.split("-----", 2)[-1].rsplit("-----END", 1)[0]
    # Keys travel with real line ends, with escaped ones, and as arrays or concatenations of literals.
    body = re.sub(r"\\[rn]|[\s\"'+,\\]", "", body)
    if "PGP" in token[:40] or "ENCRYPTED" in body[:60]:
        return Tier.FORMAT if len(body) >= _MINIMUM_PEM_CHARACTERS else None
    runs = re.findall(r"[A-Za-z0-9+/=]{20,}", body)
    longest = max(runs, key=len, default="")
    if len(longest) < _MINIMUM_PEM_CHARACTERS:
        return None
    data = decode_base64(longest[:64])
    magic = data is not None and (data[:1] == b"\x30" or data.startswith(b"openssh-key-v1"))
    return Tier.PROOF if magic else Tier.FORMAT


def _telegram(token: str) -> Tier | None:
    return Tier.FORMAT if not token.startswith("0") else None


def _letters_and_digits(token: str) -> Tier | None:
    """For short prefixes: a random body of this length always has letters and digits; a name has not."""
    has_digit = any(character.isdigit() for character in token)
    return Tier.FORMAT if has_digit and any(character.isalpha() for character in token) else None


def _mixed(token: str) -> Tier | None:
    """For short prefixes and wide alphabets: capitals, small letters and digits must all occur."""
    body = token[3:]
    has = (any(map(str.isupper, body)), any(map(str.islower, body)), any(map(str.isdigit, body)))
    return Tier.FORMAT if all(has) else None


VALIDATORS: dict[str, Callable[[str], Tier | None]] = {
    "crc32-hex": _crc32_hex,
    "discord": _discord,
    "github": _github,
    "gitlab-routable": _gitlab_routable,
    "jwt": _jwt,
    "grafana-legacy": _grafana_legacy,
    "letters-and-digits": _letters_and_digits,
    "mixed": _mixed,
    "openai": _openai,
    "pem": _pem,
    "pypi": _pypi,
    "telegram": _telegram,
}
