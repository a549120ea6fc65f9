"""Escapes inside a text, undone so that the text behind them can be looked at."""

from __future__ import annotations

import json
import re
from urllib.parse import quote, unquote_to_bytes

from anonymization.text.masking.pieces import Piece, Spell, carried, shifted
from anonymization.text.masking.visit import MAX_DEPTH, Visit
from anonymization.text.vault.contracts import Edit

_JSON_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
)
_PERCENT_WORD = re.compile(r"[^\s\"'<>]{0,2000}%[0-9A-Fa-f]{2}[^\s\"'<>]{0,2000}")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def json_literal(raw: str) -> str | None:
    """What stands between the quotes of a JSON string, decoded; None if it is no JSON."""
    if "\\" not in raw:
        return raw
    try:
        told: str = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return None
    return told


def json_places(raw: str) -> tuple[list[int], list[int]]:
    """Where each character of the decoded literal starts and ends in `raw`."""
    starts: list[int] = []
    ends: list[int] = []
    place = 0
    for match in _JSON_ESCAPE.finditer(raw):
        start, end = match.span()
        starts += [*range(place, start), start]
        ends += [*range(place + 1, start + 1), end]
        place = end
    starts += range(place, len(raw))
    ends += range(place + 1, len(raw) + 1)
    return starts, ends


def json_spell(ascii_only: bool) -> Spell:
    """Writes a replacement as the inside of a JSON string."""
    return lambda new: json.dumps(new, ensure_ascii=ascii_only)[1:-1]


def percent_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of words with percent escapes, found in their decoded form."""
    if "%" not in text or visit.depth >= MAX_DEPTH:
        return []
    told: list[Edit] = []
    for word in _PERCENT_WORD.finditer(text):
        plain, starts, ends = _unquoted(word.group())
        if plain is not None:
            edits = carried(visit.look(Piece(plain)), starts, ends, lambda new: quote(new, safe=""))
            told += shifted(edits, word.start())
    return told


def _unquoted(word: str) -> tuple[str | None, list[int], list[int]]:
    told: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    place = 0
    for match in _PERCENT.finditer(word):
        try:
            plain = unquote_to_bytes(match.group()).decode("utf-8")
        except UnicodeDecodeError:
            return None, [], []
        told += [word[place : match.start()], plain]
        starts += range(place, match.start())
        ends += range(place + 1, match.start() + 1)
        at = match.start()
        for char in plain:
            starts.append(at)
            at += 3 * len(char.encode())
            ends.append(at)
        place = match.end()
    starts += range(place, len(word))
    ends += range(place + 1, len(word) + 1)
    return "".join(told) + word[place:], starts, ends
