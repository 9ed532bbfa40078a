from __future__ import annotations

import pytest

from haltline.text.personal_data import PersonalDataKind, find_personal_data, luhn


def completed(digits: str) -> str:
    """Return a card number with its check digit."""
    return next(digits + check for check in "0123456789" if luhn(digits + check))


@pytest.mark.parametrize(
    "number",
    [
        completed("411111111111111"),
        completed("37828224631000"),
        completed("555555555555444"),
        " ".join(["4111", "1111", "1111", completed("411111111111111")[12:]]),
    ],
)
def test_a_payment_card_is_found_with_its_span(number: str) -> None:
    [found] = find_personal_data(f"card {number} please")
    assert (found.kind, found.start, found.end) == (PersonalDataKind.PAYMENT_CARD, 5, 5 + len(number))


@pytest.mark.parametrize("iban", ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"])
def test_an_iban_is_found_with_its_span(iban: str) -> None:
    [found] = find_personal_data(f"to {iban} today")
    assert (found.kind, found.start, found.end) == (PersonalDataKind.IBAN, 3, 3 + len(iban))


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111112",
        "1234567890123452",
        "0000000000000000",
        "1700000000000",
        "id-4111111111111111-x",
        "3.4111111111111111",
        "DE89370400440532013001",
        "XX89370400440532013000",
        "ISBN 978-3-16-148410-0",
    ],
)
def test_other_numbers_are_not_personal_data(text: str) -> None:
    assert find_personal_data(text) == ()


def test_a_finding_does_not_hold_the_number() -> None:
    number = completed("411111111111111")
    assert number not in repr(find_personal_data(number))


@pytest.mark.parametrize("piece", ["4", "4 ", "DE89", "1-", "GB82 "])
def test_a_hostile_text_has_few_findings(piece: str) -> None:
    assert len(find_personal_data(piece * (100_000 // len(piece)))) < 10
