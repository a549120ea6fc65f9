"""Which words of a masked text are worth a look: all that are not explained beyond doubt.

Masking at level `strict` asks what a word most likely is. Here the question is what it could be:
`pebble` is a word of the dictionary, and may be a nickname. Words of the dictionary are written
in small letters, whatever letters they stand in, so that each is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from anonymization.documents.everyday_words import English, is_beyond_doubt, is_office_word
from anonymization.text.contracts import Edit
from anonymization.text.detect.chosen_words import is_chosen
from anonymization.text.detect.explained_codes import is_amount, is_measured, is_plain
from anonymization.text.detect.explained_words import is_known
from anonymization.text.masking.pieces import FindingFilter, Piece
from data.text.scripts import HAN_KANA

GONE = "\0"  # stands for each character that masking has replaced
_SHORT_PIECE, _LONGEST_CODE, _DIGITS = 40, 40, 7  # characters; digits of a number
_L = rf"(?:(?![{HAN_KANA}])[^\W\d_])"
_CAPITALISED = rf"[A-Z](?:{_L}|['’&])*"
_QUOTED_WORD = rf"(?:{_L}|[\d'’&.-]){{1,24}}"
_LINK = "(?:of|and|the|de|la|le|du|van|von|der|di|&) "
_RUN = re.compile(
    rf"[\"“'‘](?P<quoted>{_QUOTED_WORD}(?: {_QUOTED_WORD}){{1,3}})[\"”'’]"
    rf"|(?<!{_L})(?P<names>{_CAPITALISED}(?: (?:{_LINK})?{_CAPITALISED}){{1,3}})"
    rf"|(?P<code>(?<![A-Za-z0-9])(?=[A-Za-z._:/#-]{{0,30}}\d)[A-Za-z0-9]+(?:[-_.:/#][A-Za-z0-9]+)*)"
    rf"|(?P<word>{_L}+(?:['’]{_L}+)?)"
)
_WORD = re.compile(rf"{_L}+")
_TAIL = re.compile(r"['’](?:s|t|re|ve|ll|d|m)\Z", re.IGNORECASE)
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MID_SENTENCE = re.compile(r"[a-z0-9,;:)\"'] \Z")
_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|px|pt|em|rem|ms|s|m|h|d|k|kb|mb|gb|tb|kg|g|mg|km|cm|mm|x|v|w|hz|ghz|mhz"
    r"|fps|bn|y|f)|[a-z]{1,12}\d{1,2}",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"#?(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_ATOM = re.compile(r"[A-Za-z0-9]+")


class Why(StrEnum):
    """Why a word is worth a look, the most telling first: the order of the list."""

    UNKNOWN = "no everyday word"
    NAME = "written as a name"
    FIELD = "cell, key or heading"
    QUOTED = "in quotes"
    CODE = "code or number"
    WORD = "word of a sentence"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A word or run of words, where it stands in a text, and why it is worth a look."""

    word: str
    start: int
    end: int
    why: Why


def without(value: str, edits: Sequence[Edit]) -> str:
    """A text in which each character that masking replaces is GONE; offsets stay."""
    parts, at = [], 0
    for edit in edits:
        parts += [value[at : edit.start], GONE * (edit.end - edit.start)]
        at = edit.end
    return "".join([*parts, value[at:]])


def sightings(
    piece: Piece, rest: str, english: English, private: frozenset[str] = frozenset()
) -> Iterator[Sighting]:
    """What is worth a look in Latin letters and digits in `rest`, what masking left of a piece.

    An identifier is shown by its parts, and as a whole if one of them is `private`.
    """
    in_field = bool(piece.lead) or len(rest) <= _SHORT_PIECE
    of_format = piece.accepts is FindingFilter.PROVEN
    for match in _RUN.finditer(rest):
        if match["code"]:
            yield from () if of_format else _in_code(match, piece, english, in_field, private)
        elif match["word"]:
            yield from _in_word(rest, *match.span("word"), english, in_field, of_format, private)
        else:
            yield from _in_run(rest, match, english, in_field, of_format, private)


def _in_run(text, match, english, in_field, of_format, private):
    group = "quoted" if match["quoted"] else "names"
    start, end = match.span(group)
    is_mid = _MID_SENTENCE.search(text, max(0, start - 3), start) is not None
    parts = list(_WORD.finditer(text, start, end))
    doubts = [p.group() for p in parts if _in_doubt(p.group(), english, True, of_format)]
    if not doubts:
        return
    unknown = any(not _is_explained(p, english) for p in doubts)
    if unknown or is_mid:
        why = Why.UNKNOWN if unknown else Why.NAME if group == "names" else Why.QUOTED
        yield Sighting(match[group], start, end, why)
        return
    for part in parts:
        yield from _in_word(text, *part.span(), english, True, of_format, private)


def _in_word(text, start, end, english, in_field, of_format, private):
    word = text[start:end]
    if tail := _TAIL.search(word):
        word = word[: tail.start()]
        end = start + len(word)
    is_mid = word[:1].isupper() and _MID_SENTENCE.search(text, max(0, start - 3), start) is not None
    if not _in_doubt(word, english, is_mid or in_field, of_format):
        return
    if not _is_explained(word, english):
        yield Sighting(word, start, end, Why.UNKNOWN)
        return
    why = Why.NAME if is_mid else Why.FIELD if in_field else Why.WORD
    humps = list(_HUMP.finditer(word)) if word.isascii() else []
    if len(humps) > 1 and private.isdisjoint(h.group().lower() for h in humps):
        for hump in humps:
            if not is_beyond_doubt(hump.group(), english, True):
                yield Sighting(hump.group().lower(), start, end, Why.FIELD)
        return
    yield Sighting(word if len(humps) > 1 else word.lower(), start, end, why)


def _in_doubt(part: str, english: English, stands_out: bool, of_format: bool) -> bool:
    """Could the word be what somebody or something is called?"""
    if of_format and is_office_word(part):
        return False
    humps = _HUMP.findall(part) if part.isascii() else ()
    if of_format:
        humps = [hump for hump in humps if not is_office_word(hump)]
    return not all(is_beyond_doubt(hump, english, stands_out) for hump in humps or (() if of_format else (part,)))


def _is_explained(part: str, english: English) -> bool:
    if is_chosen(part):
        return False
    humps = _HUMP.findall(part) if part.isascii() else (part,)
    return all(is_known(hump, english.dictionary) for hump in humps)


def _in_code(match, piece, english, in_field, private):
    chain, text = match.group(), match.string
    if is_plain(chain):
        return
    for atom in _ATOM.finditer(chain):
        for word in _WORD.finditer(atom.group()):
            start = match.start() + atom.start() + word.start()
            yield from _in_word(text, start, start + len(word.group()), english, in_field, False, private)
    if len(chain) > _LONGEST_CODE or _COLOUR.fullmatch(chain):
        return
    if chain.replace(".", "").isdigit():
        label = piece.text[: max(0, piece.lead - 2)]
        if "." in chain or len(chain) < _DIGITS or is_amount(label) or is_measured(text, *match.span()):
            return
        yield Sighting(chain, match.start(), match.end(), Why.CODE)
        return
    atoms = [atom for atom in _ATOM.findall(chain) if any(map(str.isdigit, atom))]
    odd = [a for a in atoms if (len(a) >= 5 if a.isdigit() else not _MEASURE.fullmatch(a)) and not is_plain(a)]
    if odd:
        yield Sighting(chain, match.start(), match.end(), Why.CODE)
