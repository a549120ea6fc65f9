"""Invented numbers with right check digits, and secrets put together from parts.

Sources: GB 11643 (resident ID), GB 32100 and GB 11714 (company code), ISO/IEC 7812 (cards).
Secrets never stand in the source as one literal: code hosts would block the push.
"""

from __future__ import annotations

import base64
import hashlib
import string
import zlib

ALNUM = string.ascii_uppercase + string.ascii_lowercase + string.digits
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CODE_ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"
_CODE_WEIGHTS = (1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28)
_ORG_WEIGHTS = (3, 7, 9, 10, 5, 8, 4, 2)


def resident_id(body: str) -> str:
    """18 characters from 17 digits: region, birth date, serial."""
    total = sum(int(digit) * weight for digit, weight in zip(body, _ID_WEIGHTS, strict=True))
    return body + "10X98765432"[total % 11]


def card(body: str) -> str:
    """A card number: the body and its Luhn digit."""
    total = 0
    for position, digit in enumerate(reversed(body)):
        doubled = int(digit) * (2 if position % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return body + str(-total % 10)


def company_code(region: str, organisation: str) -> str:
    """18 characters: `91`, six digits of region, eight of organisation, both check characters."""
    pairs = zip(organisation, _ORG_WEIGHTS, strict=True)
    check = -sum(_ORG_VALUES[char] * weight for char, weight in pairs) % 11
    body = "91" + region + organisation + "0123456789X"[check]
    total = sum(
        _CODE_ALPHABET.index(char) * weight
        for char, weight in zip(body, _CODE_WEIGHTS, strict=True)
    )
    return body + _CODE_ALPHABET[-total % 31]


_ORG_VALUES = {
    char: position for position, char in enumerate(string.digits + string.ascii_uppercase)
}


def token(label: str, length: int, alphabet: str = ALNUM) -> str:
    """Random-looking characters, always the same for one label."""
    stream = b"".join(
        hashlib.sha256(f"{label}/{block}".encode()).digest() for block in range(length // 32 + 1)
    )
    return "".join(alphabet[byte % len(alphabet)] for byte in stream[:length])


def checked_token(prefix: str, label: str) -> str:
    """A token whose last six characters are the base-62 CRC-32 of the thirty before them."""
    body = token(label, 30)
    number, tail = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        tail = _BASE62[rest] + tail
    return prefix + "_" + body + tail


def cloud_key(label: str) -> str:
    """The access-key id of a cloud account."""
    return "AK" + "IA" + token(label, 16, string.ascii_uppercase + "234567")


def model_key(label: str) -> str:
    """A key for a language-model service."""
    return "sk" + "-ant" + "-api03-" + token(label, 93, ALNUM + "-_") + "AA"


def payment_key(label: str) -> str:
    """A live key of a payment service."""
    return "sk" + "_live" + "_" + token(label, 24)


def chat_token(label: str) -> str:
    """A bot token of a chat service."""
    digits = string.digits
    head = f"{token(label + 'a', 12, digits)}-{token(label + 'b', 13, digits)}"
    return "xo" + "xb-" + head + "-" + token(label, 24)


def web_token(label: str, subject: str) -> str:
    """A JSON web token with a plausible head and body."""
    head = _web64(b'{"alg":"HS256","typ":"JWT"}')
    body = _web64(f'{{"sub":"{subject}","iat":1731900000}}'.encode())
    return f"{head}.{body}.{token(label, 43, ALNUM + '-_')}"


def password(label: str) -> str:
    """A password with letters, digits and marks."""
    return token(label, 5) + "#" + token(label + "x", 4) + "7!"


def full_width(text: str) -> str:
    """ASCII letters, digits and marks as their full-width forms."""
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def _web64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
