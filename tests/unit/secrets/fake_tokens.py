"""Makes fake tokens of the right form and checksum; none is written out, so none can be taken for live."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import zlib

from haltline.secrets.validators import base62_checksum, in_base

BASE62 = string.digits + string.ascii_letters
ALPHABETS = {
    "a": BASE62,
    "d": "123456789",
    "e": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "h": string.digits + "abcdef",
    "H": string.digits + "ABCDEF",
    "l": string.digits + string.ascii_lowercase,
    "L": string.ascii_letters,
    "q": string.ascii_uppercase + "234567",
    "u": string.digits + string.ascii_uppercase,
}
_PLACE = re.compile(r"\{([A-Za-z])([0-9]+)\}")


def characters(count: int, alphabet: str = BASE62, seed: int = 7) -> str:
    """Return reproducible random text that holds a digit, a capital and a small letter where it can."""
    source = random.Random(f"{seed}/{count}/{alphabet}")  # noqa: S311 - fakes need no secrecy
    while True:
        text = "".join(source.choice(alphabet) for _ in range(count))
        wanted = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
        if count < 10 or all(set(text) & set(kind) or not set(alphabet) & set(kind) for kind in wanted):
            return text


def github(prefix: str = "ghp", seed: int = 7) -> str:
    entropy = characters(30, seed=seed)
    return f"{prefix}_{entropy}{base62_checksum(entropy)}"


def base64url(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt(header: dict[str, str] | None = None, claims: dict[str, str] | None = None, seed: int = 7) -> str:
    head = base64url(header or {"alg": "HS256", "typ": "JWT"})
    return f"{head}.{base64url(claims or {'sub': 'deploy'})}.{characters(43, seed=seed)}"


def pem(kind: str = "RSA ", separator: str = "\n", seed: int = 7) -> str:
    body = base64.b64encode(b"\x30\x82" + characters(300, seed=seed).encode()).decode()
    lines = [body[i : i + 64] for i in range(0, len(body), 64)]
    begin, end = "-" * 5 + "BEGIN ", "-" * 5 + "END "
    return separator.join([f"{begin}{kind}PRIVATE KEY-----", *lines, f"{end}{kind}PRIVATE KEY-----"])


def aws_id() -> str:
    return "AKIA" + characters(16, string.ascii_uppercase + "234567")


def filled(template: str, seed: int = 7) -> str:
    """Return a template with random characters in its places."""
    places = iter(range(seed * 100, seed * 100 + 100))
    return _PLACE.sub(lambda place: characters(int(place[2]), ALPHABETS[place[1]], next(places)), template)


def crossed_out(template: str) -> str:
    """Return a template with crosses in its places, as documentation writes it."""
    return _PLACE.sub(lambda place: "x" * int(place[2]), template)


def gitlab_routable(seed: int = 7) -> str:
    body = f"glpat-{characters(40, seed=seed)}.01.0z"
    return body + in_base(zlib.crc32(body.encode()), ALPHABETS["l"], 7)


def with_crc32(template: str, seed: int = 7) -> str:
    """Return a filled template with the CRC32 of itself behind it, in hexadecimal."""
    body = filled(template, seed)
    return f"{body}{zlib.crc32(body.encode()):08X}"


def discord(seed: int = 7) -> str:
    identifier = base64.b64encode(characters(18, "123456789", seed).encode()).decode()
    return filled(f"{identifier}.{{a6}}.{{a27}}", seed)


def grafana_api_key(seed: int = 7) -> str:
    value = {"k": characters(32, seed=seed), "n": "deploy", "id": 1}
    return base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode()


def pypi(seed: int = 7) -> str:
    macaroon = b"\x02\x01\x08pypi.org\x02$" + characters(60, seed=seed).encode()
    return "pypi-" + base64.urlsafe_b64encode(macaroon).decode().rstrip("=")


def putty(seed: int = 7) -> str:
    lines = "\n".join(characters(64, seed=seed + line) for line in range(3))
    return f"PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: x\nPrivate-Lines: 3\n{lines}"
