"""Checksums and other tests that a matched value must pass. Values are given without separators."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date

from presidio_analyzer.predefined_recognizers import (
    CreditCardRecognizer,
    CryptoRecognizer,
    IbanRecognizer,
)

_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECK = "10X98765432"
_CODE_ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"  # GB 32100: without I, O, S, V, Z
_CARD = CreditCardRecognizer()
_IBAN = IbanRecognizer()
_CRYPTO = CryptoRecognizer()
_ISSUERS = ("34", "36", "37", "38", "39", "50", "62", "35", "30", "60", "64", "65", "67", "69")
_DATED = re.compile(r"(?:19|20)\d{2}(?:[-. ]?\d{2}[-. ]?\d{2}|-(?:19|20)\d{2})(?: \d{2})?")
_MACHINES = frozenset({"git", "noreply", "no-reply", "donotreply", "mailer-daemon"})
_MAESTRO = ("50", "56", "57", "58", "60", "61", "63", "64", "65", "66", "67", "68", "69")


def bank_card(value: str) -> bool:
    """Luhn, with the length and first digits of an issuer (ISO/IEC 7812)."""
    digits = _digits(value)
    return _issued(digits) and bool(_CARD.validate_result(digits))


def luhn(value: str) -> bool:
    """Luhn only, for numbers that the surrounding words call a card."""
    return bool(_CARD.validate_result(_digits(value)))


def _issued(digits: str) -> bool:
    if len(set(digits)) <= 2:
        return False
    size, two = len(digits), digits[:2]
    if digits[0] in "45" or two == "62" or "2221" <= digits[:4] <= "2720":
        return size in {13, 16, 19} if digits[0] == "4" else 16 <= size <= 19
    if two in {"34", "37"}:
        return size == 15
    if two in {"30", "36", "38", "39"}:
        return size in {14, 16}
    return two in _MAESTRO + _ISSUERS and 16 <= size <= 19


def resident_id(value: str) -> bool:
    """Chinese resident identity card, GB 11643: 17 digits with a birth date and a check digit."""
    try:
        born = date(int(value[6:10]), int(value[10:12]), int(value[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(value, _ID_WEIGHTS, strict=False))
    return born.year >= 1880 and _ID_CHECK[total % 11] == value[17].upper()


def credit_code(value: str) -> bool:
    """Unified social credit code, GB 32100: 17 characters and a check character, mod 31."""
    value = value.upper()
    if any(char not in _CODE_ALPHABET for char in value):
        return False
    total = sum(_CODE_ALPHABET.index(char) * pow(3, i, 31) for i, char in enumerate(value[:17]))
    return (31 - total % 31) % 31 == _CODE_ALPHABET.index(value[17])


def iban(value: str) -> bool:
    """Country format and mod 97 (ISO 13616)."""
    return bool(_IBAN.validate_result("".join(value.split()).upper()))


def crypto_wallet(value: str) -> bool:
    """A Bitcoin address with a valid checksum."""
    return bool(_CRYPTO.validate_result(value))


def ip_address(value: str) -> bool:
    """An address of a host; loopback, unspecified and broadcast addresses identify nobody."""
    try:
        address = ipaddress.ip_address(value.split("/")[0])
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or value.startswith("255."))


def social_security(value: str) -> bool:
    """A US social security number that could be in use: none of its parts is zero."""
    digits = _digits(value)
    return digits[:3] not in {"000", "666"} and digits[3:5] != "00" and digits[5:] != "0000"


def phone(value: str) -> bool:
    """Seven to fifteen digits (ITU-T E.164), not all the same."""
    if _DATED.fullmatch(value):
        return False
    digits = _digits(value.split("x")[0])
    return 7 <= len(digits) <= 15 and len(set(digits)) > 2


def own_mail(value: str) -> bool:
    """An e-mail address that a person reads."""
    return value.partition("@")[0].lower() not in _MACHINES


def _digits(value: str) -> str:
    return "".join(char for char in value if char.isdigit())


CHECKS: Mapping[str, Callable[[str], bool]] = {
    check.__name__: check
    for check in (
        bank_card,
        luhn,
        resident_id,
        credit_code,
        iban,
        crypto_wallet,
        ip_address,
        social_security,
        phone,
        own_mail,
    )
}
