"""Which numbers can be what they look like: checksums, lengths and first digits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anonymization.text import identity_numbers
from anonymization.text.detect.rules import (
    CHECKS,
    bank_card,
    iban,
    ip_address,
    luhn,
    own_mail,
    phone,
)
from anonymization.text.identity_numbers import credit_code, resident_id, social_security


def card(start: str, size: int) -> str:
    """A number that begins so, has so many digits and passes Luhn."""
    body = (start + "1234567890123456789")[: size - 1]
    doubled = [int(d) * (2 - i % 2) for i, d in enumerate(reversed(body))]
    return body + str(-sum(d - 9 if d > 9 else d for d in doubled) % 10)


ISSUED: dict[str, set[int]] = {
    "4": {13, 16, 19}, "51": {16, 17, 18, 19}, "62": {16, 17, 18, 19}, "2221": {16, 17, 18, 19},
    "2720": {16, 17, 18, 19}, "2220": set(), "2721": set(), "34": {15}, "37": {15},
    "30": {14, 16}, "36": {14, 16}, "38": {14, 16}, "39": {14, 16}, "35": {16, 17, 18, 19},
    "60": {16, 17, 18, 19}, "63": {16, 17, 18, 19}, "69": {16, 17, 18, 19}, "31": set(), "9": set(),
}  # fmt: skip


@pytest.mark.parametrize("start", ISSUED)
def test_a_card_has_the_length_of_its_issuer(start: str) -> None:
    numbers = {size: card(start, size) for size in range(13, 20)}
    assert all(map(luhn, numbers.values()))
    assert {size for size, number in numbers.items() if bank_card(number)} == ISSUED[start]


def test_a_number_of_two_digits_alone_is_no_card() -> None:
    assert luhn("4444444444444422") and not bank_card("4444444444444422")
    assert luhn("4111 1111 1111 1111") and not bank_card("4111 1111 1111 1111")
    assert luhn("4000 0012 3456 7899") and bank_card("4000 0012 3456 7899")


@pytest.mark.parametrize(
    ("check", "value", "passes"),
    [
        (resident_id, "11010519491231002X", True),
        (resident_id, "11010519491231002x", True),
        (resident_id, "110105194912310021", False),
        (resident_id, "11010519491331002X", False),  # no thirteenth month
        (resident_id, "110105188001010010", False),
        (credit_code, "91350100M000100Y43", True),
        (credit_code, "91350100m000100y43", True),
        (credit_code, "91350100M000100Y44", False),
        (credit_code, "91350100I000100Y43", False),
        (iban, "GB82 WEST 1234 5698 7654 32", True),
        (iban, "gb82west12345698765432", True),
        (iban, "GB83 WEST 1234 5698 7654 32", False),
        (ip_address, "81.2.69.142", True),
        (ip_address, "81.2.69.0/24", True),
        (ip_address, "2a02:26f0:34::1", True),
        (ip_address, "10.1.2.256", False),
        (social_security, "078-05-1120", True),
        (social_security, "666-05-1120", False),
        (social_security, "000-05-1120", False),
        (social_security, "078-00-1120", False),
        (social_security, "078-05-0000", False),
        (phone, "555-2671", True),
        (phone, "555-267", False),
        (phone, "+12 345678901234 5", True),
        (phone, "+12 345678901234 56", False),
        (phone, "111-2111", False),
        (phone, "111-2311", True),
        (phone, "415-555-2671 x1234567", True),
        (phone, "55526 x71", False),
        (phone, "2024-03-05", False),
        (phone, "123-456-7890", False),
        (phone, "(111) 222-3333", False),
        (phone, "123-456-7891", True),
        (phone, "090-1234-5678", True),
        (phone, "20240305 12", False),
        (phone, "2019-2024", False),
        (own_mail, "ada@acme.com", True),
        (own_mail, "No-Reply@acme.com", False),
        (own_mail, "git@acme.com", False),
        (own_mail, "first.last@acme.com", False),
        (own_mail, "student_name@acme.com", False),
        (own_mail, "firstly.lasting@acme.com", True),
    ],
)  # fmt: skip
def test_what_passes(check: Callable[[str], bool], value: str, passes: bool) -> None:
    assert check(value) is passes
    assert {**CHECKS, **identity_numbers.CHECKS}[check.__name__] is check


def test_a_birth_before_1880_is_none() -> None:
    def with_check(body: str) -> str:
        weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
        total = sum(int(d) * w for d, w in zip(body, weights, strict=True))
        return body + "10X98765432"[total % 11]

    years = {year: resident_id(with_check(f"110105{year}0101001")) for year in (1879, 1880, 1990)}
    assert years == {1879: False, 1880: True, 1990: True}


@pytest.mark.parametrize(
    ("check", "valid"),
    [
        (identity_numbers.my_number, "6429 0157 8330"),
        (identity_numbers.corporate_number, "8010401073198"),
        (identity_numbers.korean_resident, "870314-2339461"),
        (identity_numbers.CHECKS["korean_business"], "129-81-47299"),
        (identity_numbers.nir, "2 87 03 75 114 204 27"),
        (identity_numbers.siret, "416 762 903 00027"),
        (identity_numbers.siren, "410 762 983"),
        (identity_numbers.french_vat, "FR00417629034"),
        (identity_numbers.CHECKS["steuer_id"], "47 061 862 959"),
        (identity_numbers.CHECKS["german_vat"], "DE287417958"),
        (identity_numbers.CHECKS["german_insurance"], "53140387E603"),
        (identity_numbers.CHECKS["aadhaar"], "7218 4068 5931"),
        (identity_numbers.snils, "147-268-306 78"),
        (identity_numbers.inn, "506162490755"),
    ],
)
def test_another_last_digit_is_refused(check: Callable[[str], bool], valid: str) -> None:
    assert check(valid)
    others = {valid[:-1] + str(digit) for digit in range(10)} - {valid}
    assert not any(map(check, others))


def test_numbers_printed_by_their_issuers_are_valid() -> None:
    """Examples in the documentation of the registers."""
    assert identity_numbers.nir("255081416802538")
    assert identity_numbers.siret("73282932000074")
    assert identity_numbers.CHECKS["steuer_id"]("86095742719")
    assert identity_numbers.gstin("27AAPFU0939F1ZV")
    assert identity_numbers.snils("112-233-445 95")
    assert identity_numbers.CHECKS["german_insurance"]("65170839J003")
