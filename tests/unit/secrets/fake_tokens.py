"""Makes fake tokens of the right form and checksum; none is written out, so none can be taken for live."""

from __future__ import annotations

import base64
import json
import random
import string

from haltline.secrets.validators import base62_checksum

BASE62 = string.digits + string.ascii_letters


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


def jwt(header: dict[str, str] | None = None, claims: dict[str, str] | None = None) -> str:
    head = base64url(header or {"alg": "HS256", "typ": "JWT"})
    return f"{head}.{base64url(claims or {'sub': 'deploy'})}.{characters(43)}"


def pem(kind: str = "RSA ", separator: str = "\n") -> str:
    body = base64.b64encode(b"\x30\x82" + bytes(range(256)) + b"\x00" * 40).decode()
    lines = [body[i : i + 64] for i in range(0, len(body), 64)]
    begin, end = "-" * 5 + "BEGIN ", "-" * 5 + "END "
    return separator.join([f"{begin}{kind}PRIVATE KEY-----", *lines, f"{end}{kind}PRIVATE KEY-----"])


def aws_id() -> str:
    return "AKIA" + characters(16, string.ascii_uppercase + "234567")
