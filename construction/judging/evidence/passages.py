"""Which passages of a long file a prompt shows: those that share words with the request (BM25).

Names, numbers and quoted words weigh more than other words; words that stand everywhere in a file
weigh nothing there. Chinese, Japanese and Korean are compared by pairs of signs. The same words and
passages give the same choice.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from construction.judging.evidence.views import Evidence, Part
from data.text.scripts import CJK, count_cjk

_TERM = re.compile(rf"[^\W\d_{CJK}]+[-_./]?\d[\w-]*|\d[\d.,]*\d|\d|[^\W\d_{CJK}]+|[{CJK}]+")
_QUOTED = re.compile(r"[\"“„«「『《`]([^\"”“»」』》`\n]{2,80})[\"”»」』》`]")
_STEM = 7  # characters of a word that count, so that its forms are the same
_QUOTED_WEIGHT, _NAME_WEIGHT = 3.0, 2.0
_DONE_WEIGHT, _BEFORE_WEIGHT = 0.4, 0.3  # of what the agent read and said; of earlier talk
_SATURATION, _LENGTH = 1.2, 0.6  # k1 and b of BM25 (Robertson and Zaragoza, 2009)
_HEAD_ROWS = 2  # of a table
_PIECE, _LONG_LINE = 700, 1_400  # characters
_BESIDE = 0.25  # of its score a passage lends to those beside it
_HEAD, _TAIL = 0.2, 0.1  # of the room, where words choose the rest
_BLIND_HEAD = 0.75  # where no word does: the beginning, and then the end


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of a part: its lines, and what stands above that it needs to be understood.

    `first` and `last` count lines in the file where its parts do, else in the part. `under` holds
    the last heading and the head of the table that the passage continues; passages of one table
    have its `table` number, others 0.
    """

    part: int
    first: int
    last: int
    text: str
    under: str = ""
    table: int = 0


def words_about(evidence: Evidence, more: str = "") -> dict[str, float]:
    """The terms of the request, of `more`, and of what the agent did, with their weights."""
    people = [said.text for said in evidence.said if said.speaker != "agent"]
    agent = [said.text for said in evidence.said if said.speaker == "agent"]
    before = [said.text for said in evidence.before]
    weights: dict[str, float] = {}
    for texts, share in (
        ([*people, more], 1.0),
        ([*evidence.read, *evidence.ran, *agent, evidence.last_words], _DONE_WEIGHT),
        (before, _BEFORE_WEIGHT),
    ):
        for text in texts:
            for term, weight in _weighted(text):
                weights[term] = max(weights.get(term, 0), weight * share)
    return weights


def _weighted(text: str) -> Iterator[tuple[str, float]]:
    folded = unicodedata.normalize("NFKC", text)
    for match in _TERM.finditer(folded):
        word = match[0]
        begins = match.start() == 0 or folded[: match.start()].rstrip(" \"'“(").endswith(_ENDS)
        is_name = (len(word) > 1 and word[0].isdigit()) or any(sign.isdigit() for sign in word[1:])
        is_name |= any(sign.isupper() for sign in (word[1:] if begins else word))
        for term in _terms_of(word):
            yield term, _NAME_WEIGHT if is_name else 1.0
    for pair in _pairs(_TERM.findall(folded)):
        yield pair, 1.0
    for match in _QUOTED.finditer(folded):
        for term in _terms(match[1]):
            yield term, _QUOTED_WEIGHT


_ENDS = (".", "!", "?", "\n", ":", "-", "*", "。", "！", "？")


def _terms(text: str) -> list[str]:
    """The terms of a text: stems of words and pairs of them, numbers, pairs of CJK signs."""
    words = _TERM.findall(unicodedata.normalize("NFKC", text))
    return [*(term for word in words for term in _terms_of(word)), *_pairs(words)]


def _pairs(words: Sequence[str]) -> Iterator[str]:
    stems = [word.casefold().removesuffix("s")[:_STEM] for word in words]
    for first, second in pairwise(stems):
        if first.isalpha() and second.isalpha() and not count_cjk(first[0] + second[0]):
            yield f"{first} {second}"


def _terms_of(word: str) -> list[str]:
    plain = word.casefold()
    if plain[0].isdigit():
        bare = plain.replace(",", "")
        return [bare] if len(bare) > 1 else []  # a single digit numbers lists
    if any(sign.isdigit() for sign in plain):
        return [plain]
    if not count_cjk(plain[0]):
        return [plain.removesuffix("s")[:_STEM]] if len(plain) > 1 else []
    return [plain[at : at + 2] for at in range(len(plain) - 1)] or [plain]


def scores_of(texts: Sequence[str], weights: Mapping[str, float]) -> list[float]:
    """How well each text matches the weighted terms, by BM25 over these texts."""
    counts = [Counter(term for term in _terms(text) if term in weights) for text in texts]
    lengths = [max(1, len(text)) for text in texts]
    mean = sum(lengths) / max(1, len(lengths))
    holding = Counter(term for count in counts for term in count)
    rare = {term: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
    scores = []
    for count, length in zip(counts, lengths, strict=True):
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * length / mean)
        score = sum(
            weights[term] * rare[term] * n * (_SATURATION + 1) / (n + norm)
            for term, n in sorted(count.items())
        )
        scores.append(round(score, 9))
    return scores


def with_neighbours(scores: Sequence[float]) -> list[float]:
    """Scores of passages in their order, each with a part of those beside it."""
    padded = [0.0, *scores, 0.0]
    return [
        round(padded[at] + _BESIDE * (padded[at - 1] + padded[at + 1]), 9)
        for at in range(1, len(padded) - 1)
    ]


def chosen(
    costs: Sequence[int], scores: Sequence[float], room: int, tables: Sequence[int] = ()
) -> list[int]:
    """The places of what is shown of a sequence, in order: the beginning, the best, the end.

    `tables` numbers places that belong together: all of them come with the best of them if they
    fit. Where nothing scores, the beginning and the end are shown.
    """
    count = len(costs)
    if sum(costs) <= room:
        return list(range(count))
    is_blind = not any(scores)
    head = max(room * (_BLIND_HEAD if is_blind else _HEAD), min(costs[0], room))
    taken = set(_run(costs, range(count), head))
    spent = sum(costs[at] for at in taken)
    rest = [at for at in reversed(range(count)) if at not in taken]
    end = room - spent if is_blind else room * _TAIL
    end = max(end, min(costs[-1], (room - spent) / 4))
    taken.update(_run(costs, rest, end))
    spent = sum(costs[at] for at in taken)
    matching = (at for at, score in enumerate(scores) if score)
    best = sorted(matching, key=lambda at: (-scores[at], at))
    of_table: dict[int, list[int]] = {}
    for at, number in enumerate(tables):
        of_table.setdefault(number, []).append(at)
    for at in best:
        whole = of_table[tables[at]] if tables and tables[at] else [at]
        for places in (whole, [at]):
            new = [place for place in places if place not in taken]
            if new and spent + sum(costs[place] for place in new) <= room:
                taken.update(new)
                spent += sum(costs[place] for place in new)
    for at in (beside for place in best for beside in (place + 1, place - 1)):
        if 0 <= at < count and at not in taken and spent + costs[at] <= room:
            taken.add(at)
            spent += costs[at]
    return sorted(taken)


def _run(costs: Sequence[int], order: Sequence[int], room: float) -> Iterator[int]:
    for at in order:
        room -= costs[at]
        if room < 0:
            return
        yield at


def joined(run: Sequence[Piece]) -> str:
    """The text of passages that follow each other."""
    text = run[0].text
    for before, piece in pairwise(run):
        is_one_line = piece.part == before.part and piece.first == before.last
        text += piece.text if is_one_line else f"\n{piece.text}"
    return text


def pieces_of(parts: Sequence[Part]) -> list[Piece]:
    """The parts of a file in passages of whole lines, broken after blank lines if it can be."""
    pieces: list[Piece] = []
    above = _Above()
    for number, part in enumerate(parts):
        kind, _, numbers = part.where.partition(" ")
        first = numbers.partition("–")[0]
        is_numbered = kind in ("line", "lines") and first.isdecimal()
        if not is_numbered:
            above.leave()
        lines, start, size = list[str](), int(first) if is_numbered else 1, 0
        under, table = "", 0
        for at, line in enumerate(part.text.split("\n"), start):
            is_full = size + len(line) > _LONG_LINE or (size > _PIECE and not lines[-1].strip())
            if lines and (is_full or above.begins(line)):
                pieces.append(Piece(number, start, at - 1, "\n".join(lines), under, table))
                lines, start, size = [], at, 0
            if not lines:
                under = above.shown(line)
            above.read(line)
            table = above.table if above.head else 0
            lines.append(line)
            size += len(line) + 1
        last = start + len(lines) - 1
        pieces.append(Piece(number, start, last, "\n".join(lines), under, table))
    return [short for piece in pieces for short in _cut(piece)]


def _cut(piece: Piece) -> Iterator[Piece]:
    """A line that is far too long in passages of its own."""
    if len(piece.text) <= 2 * _LONG_LINE:
        yield piece
        return
    for at in range(0, len(piece.text), _LONG_LINE):
        yield replace(piece, text=piece.text[at : at + _LONG_LINE])


class _Above:
    """The heading, and the head of the table, that stand above a line."""

    def __init__(self) -> None:
        self.heading, self.caption, self.table = "", "", 0
        self.head: list[str] = []

    def leave(self) -> None:
        """Go on to another page, slide or section."""
        self.heading, self.caption, self.head = "", "", []

    def begins(self, line: str) -> bool:
        """Does a table end before this line?"""
        return bool(self.head) and bool(line.strip()) and not _is_row(line)

    def read(self, line: str) -> None:
        if _is_row(line):
            if not self.head:
                self.table += 1
            if len(self.head) < _HEAD_ROWS:
                self.head.append(line[:400])
        elif line.strip():
            self.head = []
            self.heading = line[:200] if line.startswith("#") else self.heading
            self.caption = line[:200]

    def shown(self, line: str) -> str:
        """What is shown above a passage that begins with this line."""
        continues = bool(self.head) and _is_row(line)
        table = [self.caption, *self.head] if continues else []
        return "\n".join(dict.fromkeys(filter(None, [self.heading, *table])))


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")
