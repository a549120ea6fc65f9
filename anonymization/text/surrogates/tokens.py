"""Surrogates of secrets: the same alphabet, length and prefix, and `fake` where it can stand."""

from __future__ import annotations

import re

from numpy.random import Generator

from anonymization.text.surrogates.book import Book
from anonymization.text.surrogates.shapes import same_shape

_ARMOUR = re.compile(r"-----[A-Z ]{1,60}-----|\\[nrt]")
_PREFIX = re.compile(
    r"(?:[A-Za-z]{1,12}[0-9]?[-_.]){1,4}(?=[A-Za-z0-9])|(?:AKIA|ASIA|AKID|LTAI|AIza|eyJ|EAA|ya29)"
)
_LONG = 12
_HEX = re.compile(r"[0-9a-fA-F]+")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,20}://)")


def secret(book: Book, value: str, salt: str) -> str:
    """A secret of the same form that opens nothing. Lines that frame a private key stay."""

    def draw(rng: Generator, _: int) -> str:
        told, place = [], 0
        for match in _ARMOUR.finditer(value):
            told += [same_shape(value[place : match.start()], rng), match.group()]
            place = match.end()
        if told:
            return "".join(told) + same_shape(value[place:], rng)
        return _token(value, rng)

    return book.token("secret", value, draw, salt)


def _token(value: str, rng: Generator) -> str:
    lead = _SCHEME.match(value) or _PREFIX.match(value)
    start = lead.end() if lead and len(value) - lead.end() >= _LONG else 0
    body = same_shape(value[start:], rng)
    if len(body) >= _LONG and body[:4].isalnum():
        body = _mark(body) + body[4:]
    return value[:start] + body


def _mark(body: str) -> str:
    word = "fade" if _HEX.fullmatch(body) else "fake"
    if body[:_LONG].isdigit():
        return body[:4]
    return word.upper() if body.upper() == body else word
