"""Identity numbers of people and companies: which digits and letters make a valid one.

Each check is given the number without separators. Detection asks them whether a number is real,
and surrogates are drawn until they pass the same check.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache, partial
from typing import Any

ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
ID_CHECK = "10X98765432"
CODE_ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"  # GB 32100: without I, O, S, V, Z
_BASE_36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SEPARATORS = re.compile(r"[\s./-]")


def _plain(value: str) -> str:
    return _SEPARATORS.sub("", value).upper()


def _digits(value: str) -> list[int]:
    return [int(char) for char in value if char.isdecimal()]


def _weighted(numbers: Sequence[int], weights: Sequence[int]) -> int:
    return sum(number * weight for number, weight in zip(numbers, weights, strict=False))


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _luhn(numbers: Sequence[int]) -> bool:
    total = 0
    for index, number in enumerate(reversed(numbers)):
        doubled = number * (1 + index % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def resident_id(value: str) -> bool:
    """Chinese resident identity card, GB 11643: 17 digits with a birth date and a check digit."""
    try:
        born = date(int(value[6:10]), int(value[10:12]), int(value[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(value, ID_WEIGHTS, strict=False))
    return born.year >= 1880 and ID_CHECK[total % 11] == value[17].upper()


def credit_code(value: str) -> bool:
    """Unified social credit code, GB 32100: 17 characters and a check character, mod 31."""
    value = value.upper()
    if any(char not in CODE_ALPHABET for char in value):
        return False
    total = sum(CODE_ALPHABET.index(char) * pow(3, i, 31) for i, char in enumerate(value[:17]))
    return (31 - total % 31) % 31 == CODE_ALPHABET.index(value[17])


def my_number(value: str) -> bool:
    """Japanese individual number: 11 digits and a check digit, mod 11."""
    digits = _digits(value)
    if len(digits) != 12 or len(set(digits)) == 1:
        return False
    rest = _weighted(digits[10::-1], (2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6)) % 11
    return digits[11] == (0 if rest <= 1 else 11 - rest)


def corporate_number(value: str) -> bool:
    """Japanese corporate number: a check digit and 12 digits, mod 9."""
    digits = _digits(value)
    if len(digits) != 13:
        return False
    return digits[0] == 9 - _weighted(digits[:0:-1], (1, 2) * 6) % 9


def korean_resident(value: str) -> bool:
    """Korean resident registration number: birth date, century and sex, and a check digit."""
    digits = _digits(value)
    if not korean_resident_form(value):
        return False
    weights = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
    return digits[12] == (11 - _weighted(digits, weights) % 11) % 10


def korean_resident_form(value: str) -> bool:
    """The same without the check digit: numbers given out since October 2020 have none."""
    digits = _digits(value)
    if len(digits) != 13 or not 1 <= digits[6] <= 8:
        return False
    century = 1900 if digits[6] in {1, 2, 5, 6} else 2000
    text = "".join(map(str, digits))
    return _is_date(century + int(text[:2]), int(text[2:4]), int(text[4:6]))


def nir(value: str) -> bool:
    """French social security number: 13 characters and a key, mod 97; Corsica has letters."""
    plain = _plain(value)
    if len(plain) != 15:
        return False
    number = plain[:13].replace("2A", "19").replace("2B", "18")
    if not (number + plain[13:]).isdecimal():
        return False
    return int(plain[13:]) == 97 - int(number) % 97


def siret(value: str) -> bool:
    """French establishment number: 14 digits, Luhn; those of the post office add up to fives."""
    digits = _digits(value)
    if len(digits) != 14 or len(set(digits)) <= 2:
        return False
    is_post = digits[:9] == [3, 5, 6, 0, 0, 0, 0, 0, 0]
    return _luhn(digits) or (is_post and sum(digits) % 5 == 0)


def siren(value: str) -> bool:
    """French company number: nine digits, Luhn."""
    digits = _digits(value)
    return len(digits) == 9 and len(set(digits)) > 2 and _luhn(digits)


def french_vat(value: str) -> bool:
    """French VAT number: FR, a key and a company number."""
    plain = _plain(value)[2:]
    if len(plain) != 11 or not plain.isdecimal():
        return False
    return int(plain[:2]) == (12 + 3 * (int(plain[2:]) % 97)) % 97


def gstin(value: str) -> bool:
    """Indian goods and services tax number: state, PAN, entity, Z and a check character."""
    plain = _plain(value)
    if len(plain) != 15 or any(char not in _BASE_36 for char in plain):
        return False
    total = 0
    for index, char in enumerate(plain[:14]):
        product = _BASE_36.index(char) * (1 + index % 2)
        total += product // 36 + product % 36
    return plain[14] == _BASE_36[-total % 36]


def snils(value: str) -> bool:
    """Russian pension insurance number: nine digits and two check digits."""
    digits = _digits(value)
    if len(digits) != 11:
        return False
    rest = _weighted(digits, range(9, 0, -1)) % 101
    return digits[9] * 10 + digits[10] == (0 if rest == 100 else rest)


def inn(value: str) -> bool:
    """Russian tax number: 10 digits of a company, or 12 of a person."""
    digits = _digits(value)
    weights = (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)
    if len(digits) == 10:
        return digits[9] == _weighted(digits[:9], weights[2:]) % 11 % 10
    if len(digits) != 12:
        return False
    first = _weighted(digits[:10], weights[1:]) % 11 % 10
    return digits[10] == first and digits[11] == _weighted(digits[:11], weights) % 11 % 10


# Numbers that Presidio's recognizers check, by their names there.
_OF_PRESIDIO = {
    "korean_business": "KrBrnRecognizer",
    "steuer_id": "DeTaxIdRecognizer",
    "german_vat": "DeVatIdRecognizer",
    "german_insurance": "DeSocialSecurityRecognizer",
    "aadhaar": "InAadhaarRecognizer",
}


@cache
def _recognizer(name: str) -> Any:
    from presidio_analyzer import predefined_recognizers  # takes a second, and few texts need it

    return getattr(predefined_recognizers, name)()


def _passes(name: str, value: str) -> bool:
    plain = _plain(value)
    if name == "german_vat" and plain[2:3] == "0":
        return False
    return _recognizer(_OF_PRESIDIO[name]).validate_result(plain) is True


def social_security(value: str) -> bool:
    """A US social security number that could be in use: none of its parts is zero."""
    digits = "".join(map(str, _digits(value)))
    return digits[:3] not in {"000", "666"} and digits[3:5] != "00" and digits[5:] != "0000"


_CHECKED: dict[str, Callable[[str], bool]] = {name: partial(_passes, name) for name in _OF_PRESIDIO}
CHECKS: Mapping[str, Callable[[str], bool]] = _CHECKED | {
    check.__name__: check
    for check in (
        *(resident_id, credit_code, social_security, my_number, corporate_number),
        *(korean_resident, korean_resident_form, nir, siret, siren, french_vat, gstin, snils, inn),
    )
}
# Forms of numbers whose surrogates are drawn until the check holds: (form, check).
DRAWN_FORMS: Sequence[tuple[re.Pattern[str], Callable[[str], bool]]] = tuple(
    (re.compile(form), check)
    for form, check in (
        (r"[12]\d{2}(?:0[1-9]|1[0-2])(?:\d{2}|2[AB])\d{8}", nir),
        (r"\d{13}", corporate_number),
        (r"\d{13}", korean_resident),
        (r"\d{14}", siret),
        (r"FR\d{11}", french_vat),
        (r"DE\d{9}", _CHECKED["german_vat"]),
        (r"\d{8}[A-Z]\d{3}", _CHECKED["german_insurance"]),
        (r"\d{2}[A-Z]{5}\d{4}[A-Z][A-Z\d]Z[A-Z\d]", gstin),
        (r"\d{12}", my_number),
        (r"\d{12}", _CHECKED["aadhaar"]),
        (r"\d{12}", inn),
        (r"\d{11}", _CHECKED["steuer_id"]),
        (r"\d{11}", snils),
        (r"\d{10}", _CHECKED["korean_business"]),
        (r"\d{10}", inn),
        (r"\d{9}", siren),
    )
)
