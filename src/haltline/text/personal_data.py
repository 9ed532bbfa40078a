"""Finds personal data that proves itself by a checksum: payment cards and bank accounts."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import NamedTuple


class PersonalDataKind(StrEnum):
    """What kind of personal data was found."""

    PAYMENT_CARD = "payment_card"
    IBAN = "iban"


class PersonalDataFinding(NamedTuple):
    """Where personal data stands in a text; the data itself is not kept."""

    kind: PersonalDataKind
    start: int
    end: int


# Issuer prefixes (as ranges) and lengths, ISO/IEC 7812; schemes' public numbering rules.
_ISSUERS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("4", "4", (13, 16, 19)),
    ("51", "55", (16,)),
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),
    ("37", "37", (15,)),
    ("6011", "6011", (16, 19)),
    ("644", "649", (16, 19)),
    ("65", "65", (16, 19)),
    ("3528", "3589", (16, 19)),
    ("300", "305", (14,)),
    ("36", "36", (14,)),
    ("38", "39", (14,)),
    ("62", "62", (16, 17, 18, 19)),
    ("50", "50", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("56", "58", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("6304", "6304", (16, 18, 19)),
    ("6759", "6763", (12, 13, 14, 15, 16, 17, 18, 19)),
)

# Length of an IBAN by country: SWIFT IBAN registry.
_REGISTRY = """
AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22 DK:18
DO:28 EE:20 EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:21 HU:28 IE:22 IL:23
IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 LU:20 LV:21 LY:25 MC:27 MD:24 ME:22 MK:19
MR:27 MT:31 MU:30 NL:18 NO:15 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24 SC:31 SD:18 SE:24 SI:19
SK:24 SM:27 ST:25 SV:28 TL:23 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20
"""
_IBAN_LENGTHS = {pair[:2]: int(pair[3:]) for pair in _REGISTRY.split()}
_CARD = r"(?<![0-9A-Za-z.,_+\-/#])[0-9](?:[ \-]?[0-9]){11,18}(?![0-9A-Za-z_]|[.,\-][0-9])"
_IBAN = r"(?<![0-9A-Za-z_])[A-Z]{2}[0-9]{2}(?: ?[0-9A-Z]){11,30}(?![0-9A-Za-z_])"
_MODULUS = 97
_MINIMUM_DISTINCT_DIGITS = 2


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def find_personal_data(text: str) -> tuple[PersonalDataFinding, ...]:
    """Return the payment cards and IBANs of a text, in order.

    A card has an issuer's prefix and length and passes the Luhn check (ISO/IEC 7812-1); an IBAN has its
    country's length and passes modulus 97 (ISO 13616). Digits may be grouped by single blanks or hyphens.
    """
    findings = [
        PersonalDataFinding(PersonalDataKind.PAYMENT_CARD, *match.span())
        for match in _compiled(_CARD).finditer(text)
        if _is_card(match[0])
    ]
    for match in _compiled(_IBAN).finditer(text):
        length = _iban_length(match[0])
        if length:
            findings.append(PersonalDataFinding(PersonalDataKind.IBAN, match.start(), match.start() + length))
    return tuple(sorted(findings, key=lambda finding: finding.start))


def _is_card(written: str) -> bool:
    digits = written.replace(" ", "").replace("-", "")
    if len(set(digits)) < _MINIMUM_DISTINCT_DIGITS:
        return False
    known = any(
        first <= digits[: len(first)] <= last and len(digits) in lengths for first, last, lengths in _ISSUERS
    )
    return known and luhn(digits)


def luhn(digits: str) -> bool:
    """True when the last digit is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - the sum of the two digits of a number up to 18
    return total % 10 == 0


def _iban_length(written: str) -> int:
    """Return how many characters of a match are an IBAN, 0 when none are; words may follow one."""
    wanted = _IBAN_LENGTHS.get(written[:2], 0)
    compact = ""
    for count, character in enumerate(written, 1):
        if character != " ":
            compact += character
        if len(compact) == wanted:
            rest = written[count : count + 1]
            return count if rest in {"", " "} and _mod97(compact) == 1 else 0
    return 0


def _mod97(iban: str) -> int:
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % _MODULUS
