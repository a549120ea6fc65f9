"""Two baselines of segmentation, written plainly: a fixed gap, and TextTiling."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from benchmarks.segmentation import Document, Method, pauses, score
from construction.sessions.recovery.exchanges import opens_exchange
from construction.sessions.recovery.lexicon import STOP_WORDS
from data.contracts import Role, Session
from data.text.scripts import HAN_KANA

_TOKEN = re.compile(f"[a-z0-9_]+|[{HAN_KANA}]")


def fixed_gap(seconds: float) -> Method:
    """Cut wherever at least so many seconds passed since the turn before."""

    def method(document: Document) -> tuple[bool, ...]:
        return tuple(pause is not None and pause >= seconds for pause in pauses(document.session))

    return method


def best_fixed_gap(tuning: Sequence[Document]) -> float | None:
    """The threshold with the highest F1 on the tuning half; None if it has no times."""
    known = sorted({p for document in tuning for p in pauses(document.session) if p is not None})
    steps = known[:: max(1, len(known) // 200)]
    if not steps:
        return None
    return max(steps, key=lambda seconds: (score(tuning, fixed_gap(seconds)).f1, seconds))


@dataclass(frozen=True, slots=True)
class Tiling:
    """TextTiling's parameters: tokens a sequence, sequences a block, cutoff mean - c * sd."""

    sequence: int = 20
    block: int = 10
    cutoff: float = 0.5


def best_texttiling(tuning: Sequence[Document]) -> Tiling:
    """The parameters with the highest F1 on the tuning half."""
    grid = [Tiling(*values) for values in product((10, 20, 40), (3, 6, 10), (-1.0, 0.0, 0.5, 1.0))]
    return max(grid, key=lambda tiling: (score(tuning, texttiling(tiling)).f1, -tiling.sequence))


def texttiling(tiling: Tiling) -> Method:
    """TextTiling (Hearst 1997) over the transcript; a boundary snaps to the nearest human turn.

    Token sequences of equal length, block comparison by cosine, depth scores, and a cutoff.
    Stop words are left out; CJK characters are tokens.
    """

    def method(document: Document) -> tuple[bool, ...]:
        tokens, starts = _tokens(document.session)
        gaps = starts[1:]
        cuts = [False] * len(gaps)
        for at in _tiles(tokens, tiling):
            nearest = min(range(len(gaps)), key=lambda i: abs(gaps[i] - at))
            cuts[nearest] = True
        return tuple(cuts)

    return method


def _tokens(session: Session) -> tuple[list[str], list[int]]:
    """All content tokens in order, and the position at which each human turn begins."""
    tokens: list[str] = []
    starts: list[int] = []
    for turn in session.turns:
        if opens_exchange(turn):
            starts.append(len(tokens))
        if turn.role is not Role.SYSTEM:
            tokens += [t for t in _TOKEN.findall(turn.said.lower()) if t not in STOP_WORDS]
    return tokens, starts


def _tiles(tokens: Sequence[str], tiling: Tiling) -> Iterator[int]:
    """Token positions of the boundaries."""
    places = range(tiling.sequence, len(tokens), tiling.sequence)
    if len(places) < 2:
        return
    reach = tiling.sequence * tiling.block
    similar = [_cosine(tokens[max(0, at - reach) : at], tokens[at : at + reach]) for at in places]
    depths = [_depth(similar, i) for i in range(len(similar))]
    mean = sum(depths) / len(depths)
    spread = math.sqrt(sum((depth - mean) ** 2 for depth in depths) / len(depths))
    for i, depth in enumerate(depths):
        around = depths[max(0, i - 1) : i + 2]
        if depth > mean - tiling.cutoff * spread and depth > 0 and depth == max(around):
            yield places[i]


def _cosine(first: Sequence[str], second: Sequence[str]) -> float:
    a, b = Counter(first), Counter(second)
    norm = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return sum(count * b[token] for token, count in a.items() if token in b) / norm if norm else 0.0


def _depth(similar: Sequence[float], at: int) -> float:
    """How far the similarity rises on both sides until it falls again."""
    return _rise(similar[at::-1]) + _rise(similar[at:])


def _rise(values: Sequence[float]) -> float:
    top = values[0]
    for before, after in pairwise(values):
        if after < before:
            break
        top = after
    return top - values[0]
