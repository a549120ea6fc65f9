"""What of a text is not explained: words of no list, codes, long numbers (level `strict`).

Masking finds what it knows. Here it is the other way round: what remains of a text has to be
something known, and the rest is masked. Words in Latin letters and numbers are looked at; Han
characters and kana are words of `unexplained_han`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.explain.codes import is_amount, is_code, is_opaque, is_plain
from anonymization.text.explain.words import is_known
from data.text.scripts import CJK

NAME = "unexplained"
_SCORE = 0.5
_ATOM = rf"[^\W{CJK}]+"
_CHAIN = re.compile(rf"{_ATOM}(?:[-./#:@+,]{_ATOM})*", re.ASCII if False else 0)
_ATOMS = re.compile(_ATOM)
_PART = re.compile(
    r"[A-ZÀ-ÖØ-Þ]{2,}(?=[A-ZÀ-ÖØ-Þ][a-zß-ÿ])|[A-ZÀ-ÖØ-Þ]+(?![a-zß-öø-ÿ])"
    r"|[A-ZÀ-ÖØ-Þ]?[^\W\d_A-ZÀ-ÖØ-Þ]+|\d+"
)
_PIECE = re.compile(r"[^_]+")
_PHONE = re.compile(r"(?<![\w.,:/-])[+(]?\d{2,5}\)?(?:[ -]\d{2,5}){1,4}(?![\w/:]|[.,]\d)")
_YEARS = re.compile(r"(?:19|20)\d\d-(?:(?:19|20)\d\d|\d\d(?:-\d\d)?)")
_BIRTH = re.compile(
    r"(?<![\d.-])(?:19[2-9]\d|200\d)(?:([-/.])\d{1,2}\1\d{1,2}|年\d{1,2}月\d{1,2}日)(?![\d-])"
)
_ESCAPED = re.compile(r"\\[nrtbfv](?=[A-Za-z])")
_FEWEST = 8  # digits of a phone number in groups
_LONG = 7  # digits from which a bare number needs an explanation


def find_unexplained(
    text: str, settled: Sequence[Finding], dictionary: frozenset[str]
) -> list[Finding]:
    """Findings of kind UNEXPLAINED beside `settled` (sorted); none without a dictionary."""
    if not dictionary:
        return []
    label, free = _label(text), _Free(settled)
    spans = [(*match.span(), EntityType.DATE) for match in _BIRTH.finditer(text)]
    spans += [
        (*match.span(), EntityType.UNEXPLAINED)
        for match in _PHONE.finditer(text)
        if _is_phone(match.group())
    ]
    plain = _ESCAPED.sub("  ", text)
    for chain in _CHAIN.finditer(plain):
        spans += (
            (start, end, EntityType.UNEXPLAINED)
            for start, end in _in_chain(chain, label, dictionary)
        )
    taken = 0
    found: list[Finding] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= taken and free.at(start, end):
            found.append(Finding(start, end, kind, NAME, _SCORE))
            taken = end
    return _joined(text, found)


class _Free:
    def __init__(self, settled: Sequence[Finding]) -> None:
        self._settled = settled
        self._ends = [finding.end for finding in settled]

    def at(self, start: int, end: int) -> bool:
        """Does no finding overlap the span?"""
        index = bisect_left(self._ends, start + 1)
        return index == len(self._settled) or self._settled[index].start >= end


def _label(text: str) -> str:
    label, colon, _ = text.partition(": ")
    return label if colon and len(label) <= 40 else ""


def _in_chain(
    chain: re.Match[str], label: str, dictionary: frozenset[str]
) -> Iterator[tuple[int, int]]:
    whole = chain.group()
    if is_plain(whole):
        return
    if is_code(whole):
        yield chain.span()
        return
    for atom in _ATOMS.finditer(whole):
        start = chain.start() + atom.start()
        word = atom.group()
        if word.isdigit():
            if len(word) >= _LONG and not is_plain(word) and not is_amount(label):
                yield start, start + len(word)
        elif len(word) <= 256 and not is_plain(word):
            yield from ((start + first, start + last) for first, last in _in_atom(word, dictionary))


def _in_atom(word: str, dictionary: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The parts of an identifier that nothing explains."""
    for piece in _PIECE.finditer(word):
        if is_opaque(piece.group()):
            yield piece.span()
            continue
        for part in _PART.finditer(word, *piece.span()):
            if not part.group()[0].isdigit() and not is_known(part.group(), dictionary):
                yield part.span()


def _is_phone(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    if digits < _FEWEST or _YEARS.fullmatch(value):
        return False
    return "-" in value or value[0] in "+(0"


def _joined(text: str, found: Iterable[Finding]) -> list[Finding]:
    """Words side by side as one finding: a name of several words."""
    joined: list[Finding] = []
    for finding in found:
        last = joined[-1] if joined else None
        between = text[last.end : finding.start] if last else ""
        if last and between in (" ", "-", "'", "’") and _named(text, last) and _named(text, finding):
            joined[-1] = Finding(last.start, finding.end, last.type, NAME, _SCORE)
        else:
            joined.append(finding)
    return joined


def _named(text: str, finding: Finding) -> bool:
    value = text[finding.start : finding.end]
    return value[0].isupper() and not any(map(str.isdigit, value))
