from __future__ import annotations

import base64
import gzip
import zlib
from urllib.parse import quote

import pytest
from tests.unit.secrets import fake_tokens as tokens

from haltline.secrets import KnownValues, redact, scan

TOKEN = tokens.github()
RAW = TOKEN.encode()


def wrapped(text: str, width: int, joint: str) -> str:
    return joint.join(text[start : start + width] for start in range(0, len(text), width))


ENCODED = {
    "base64": base64.b64encode(RAW).decode(),
    "base64 unpadded": base64.urlsafe_b64encode(RAW).decode().rstrip("="),
    "base64 in lines": wrapped(base64.b64encode(RAW * 2).decode(), 20, "\n"),
    "base64 in written lines": wrapped(base64.b64encode(RAW * 2).decode(), 20, "\\n"),
    "base64 twice": base64.b64encode(base64.b64encode(RAW)).decode(),
    "base32": base64.b32encode(RAW).decode(),
    "hexadecimal": RAW.hex(),
    "percent": "".join(f"%{byte:02X}" for byte in RAW),
    "percent in part": quote(f"x={TOKEN}&y", safe=""),
    "escapes": "".join(f"\\x{byte:02x}" for byte in RAW),
    "octal escapes": "".join(f"\\{byte:03o}" for byte in RAW),
    "unicode escapes": "".join(f"\\u{byte:04x}" for byte in RAW),
    "entities": "".join(f"&#{byte};" for byte in RAW),
    "gzip": base64.b64encode(gzip.compress(RAW, mtime=0)).decode(),
    "zlib": base64.b64encode(zlib.compress(RAW)).decode(),
    "utf-16": base64.b64encode(TOKEN.encode("utf-16-le")).decode(),
    "zero width": "\u200b".join(TOKEN),
    "soft hyphens": TOKEN[:20] + "\u00ad" + TOKEN[20:],
    "blanks": " ".join(TOKEN),
    "literals": f'"{TOKEN[:22]}" + "{TOKEN[22:]}"',
    "array": f"['{TOKEN[:22]}', '{TOKEN[22:]}'].join('')",
    "variables": f"A={TOKEN[:22]}; B={TOKEN[22:]}; curl -H $A$B",
    "text of an object": f'{{"a": "{TOKEN[:22]}", "b": "{TOKEN[22:]}"}}',
}


@pytest.mark.parametrize("form", ENCODED)
def test_an_encoded_token_is_found_and_says_how(form: str) -> None:
    findings = [found for found in scan(f"echo {ENCODED[form]} | send") if found.rule == "github-pat"]
    assert findings
    assert all(found.decoded for found in findings)
    assert all(found.blocks for found in findings)


@pytest.mark.parametrize("form", ENCODED)
def test_an_encoded_token_is_masked(form: str) -> None:
    clean = redact(f"echo {ENCODED[form]} | send")
    assert not scan(clean)
    assert ENCODED[form] not in clean


def test_four_layers_are_not_undone() -> None:
    text = TOKEN
    for _ in range(4):
        text = base64.b64encode(text.encode()).decode()
    assert scan(text) == ()


def test_context_does_not_count_in_decoded_text() -> None:
    assert scan(base64.b64encode(b"password = 'w8t5Rq2x!'").decode()) == ()


def test_a_known_value_is_found_below_two_layers() -> None:
    known = KnownValues(["correct-horse/battery"])
    twice = base64.b64encode(base64.b64encode(b"say correct-horse/battery now")).decode()
    assert [found.rule for found in scan(twice, known=known)] == ["known-value"]


def test_an_inflating_bomb_is_not_inflated() -> None:
    bomb = base64.b64encode(zlib.compress(b"a" * 10_000_000)).decode()
    assert scan(bomb) == ()


def test_a_token_split_over_neighbouring_values_is_found_in_each() -> None:
    value = {"name": "x", "first": TOKEN[:22], "second": TOKEN[22:], "last": "y"}
    assert [(found.rule, found.path, found.decoded) for found in scan(value)] == [
        ("github-pat", ("first",), ("split",)),
        ("github-pat", ("second",), ("split",)),
    ]


def test_a_token_split_over_neighbouring_values_is_masked() -> None:
    clean = redact([TOKEN[:22], TOKEN[22:]])
    assert TOKEN[:22] not in clean
    assert TOKEN[22:] not in clean
