"""Codes made of everyday words and digits: passphrases, and words with a number behind them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anonymization.documents.everyday_words import is_office_word
from anonymization.text.detect.explained import is_known_lead, is_plain

CELL = re.compile(r"\$?[A-Z]{1,3}\$?\d{1,7}")
ATOM = re.compile(r"[A-Za-z0-9]+")
YEAR = re.compile(r"(?:19|20)\d\d")
DIGITS, PART_DIGITS, _FEW_DIGITS = 7, 5, 3  # of a number in parts, one of them, a code

_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|px|pt|em|rem|ms|s|m|h|d|k|kb|mb|gb|tb|kg|g|mg|km|cm|mm|x|v|w|hz|ghz|mhz"
    r"|fps|bn|y|f)|[a-z]{1,12}\d{1,2}",
    re.IGNORECASE,
)
_TIME_OR_SIZE = re.compile(
    r"\d\d?T\d\d|\b\d\dZ\b|\b\d+x\d+\b|(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d{5}"
)
_RANGE = re.compile(rf"{CELL.pattern}:{CELL.pattern}")
_ZEROS = frozenset("0-fFdD")  # of a UUID that says nothing
_CAPITALS = re.compile(r"[A-Z]{1,6}")
_GROUPS = re.compile(r"\d{1,4}(?:-\d{1,4}){2,}")  # `70-61-2`, an alarm code
_LETTERED = re.compile(r"[A-Z](?:-\d{2,6}){2,}")  # `Q-26-0118`, an order number and no quarter
_PASSPHRASE = re.compile(
    r"[A-Za-z]{3,20}(?:[-_.+][A-Za-z]{3,20}){1,4}[-_.+]?(?P<number>\d{2,4})"
    r"|(?P<first>\d{2,4})[-_.+][A-Za-z]{3,20}(?:[-_.+][A-Za-z]{3,20}){1,4}"
)
_DEFAULTS = frozenset({"sheet", "theme", "slide", "image", "table", "chart", "drawing", "item"})
_FEW = 3  # programs count on from 1: what has no others beside it and a larger number is chosen
_WORDED = re.compile(r"(?P<stem>[A-Za-z]{3,20})[-_]?(?P<number>\d{1,4})")
_LONG = re.compile(r"[A-Za-z]+\d{3,}|[A-Z]+[-_]\d{3,}")
_BETWEEN = re.compile(r"[A-Za-z]{3,20}\d{1,4}[A-Za-z]{3,20}")


def says_nothing(chain: str) -> bool:
    """Is it a range of cells, a time, a size or a row of zeros?"""
    is_range = _RANGE.fullmatch(chain) or _TIME_OR_SIZE.search(chain)
    return is_range is not None or set(chain) <= _ZEROS


def is_code_like(chain: str) -> bool:
    """May a chain of letters and digits be a number of somebody or something?"""
    if not chain.isdigit() and re.sub("[-#/]", "", chain).isdigit():
        is_grouped = _GROUPS.fullmatch(chain) is not None and not is_plain(chain)
        return sum(map(str.isdigit, chain)) >= (PART_DIGITS if is_grouped else DIGITS)
    if is_passphrase(chain) or is_worded_code(chain) or _LETTERED.fullmatch(chain):
        return True
    atoms = ATOM.findall(chain)
    odd = [atom for atom in atoms if not atom.isalpha() and not is_plain(atom)]
    if any(
        len(atom) >= PART_DIGITS if atom.isdigit() else not _MEASURE.fullmatch(atom) for atom in odd
    ):
        return True
    heads = [atom for atom in atoms if _CAPITALS.fullmatch(atom) and not is_known_lead(atom)]
    return bool(heads) and sum(map(str.isdigit, chain)) >= _FEW_DIGITS


def is_passphrase(chain: str) -> bool:
    """Is it several words and a number that is no year: `word-Word-4711`?"""
    match = _PASSPHRASE.fullmatch(chain)
    return match is not None and not YEAR.fullmatch(match["number"] or match["first"])


def is_worded_code(chain: str) -> bool:
    """Is it a word with a number behind or inside it, and no year or known series (`utf8`)?"""
    if _BETWEEN.fullmatch(chain):
        return True
    match = _WORDED.fullmatch(chain)
    if match is None or is_plain(chain) or is_known_lead(match["stem"]):
        return False
    is_default = is_office_word(match["stem"]) or match["stem"].lower() in _DEFAULTS
    if is_default and int(match["number"]) <= _FEW:
        return False
    return not YEAR.fullmatch(match["number"])


_NUMBERED = re.compile(r"(?P<stem>[A-Za-z]{2,8}[-_/]?(?:(?:19|20)\d\d[-_/]?)?)(?P<number>\d{2,6})")
_MANY = 10  # codes of one stem, of which most count on: the numbers of papers in a table


def counted_on(chains: Iterable[str]) -> Iterator[str]:
    """The codes of a long series in which most are followed by the next number."""
    series: dict[tuple[str, int], dict[int, str]] = {}
    for chain in chains:
        match = _NUMBERED.fullmatch(chain)
        if match:
            of_width = series.setdefault((match["stem"], len(match["number"])), {})
            of_width[int(match["number"])] = chain
    for numbers in series.values():
        followed = sum(number + 1 in numbers for number in numbers)
        if len(numbers) >= _MANY and 2 * followed > len(numbers):
            yield from numbers.values()


def series_members(chains: Iterable[str]) -> Iterator[str]:
    """Those of the words with a number that only count on: `col1`, `col2`; no long numbers."""
    series: dict[str, dict[int, str]] = {}
    for chain in chains:
        match = _WORDED.fullmatch(chain)
        if match and not _LONG.fullmatch(chain):
            stem = chain[: match.start("number")]
            series.setdefault(stem, {})[int(match["number"])] = chain
    for numbers in series.values():
        yield from (chain for n, chain in numbers.items() if n - 1 in numbers or n + 1 in numbers)
