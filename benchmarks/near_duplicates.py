"""Near-duplicates: which measure tells rewordings from different requests over one file.

    python -m benchmarks.near_duplicates

Writes `results/near_duplicates.md`. The requests are invented (`near_duplicates.toml`): those of
every other file served to choose the threshold, the rest to measure it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from construction.signals.matching import encode_multilingual
from data.text.folding import fold_words
from selection.near_duplicates import SIMILAR, is_copy

_HERE = Path(__file__).parent
_SHINGLE = 3  # characters
_AT = (0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two requests over one file: languages, whether they ask for the same, and their likeness."""

    languages: str
    is_same: bool
    cosine: float
    shingles: float


def pairs(files: Sequence[Any]) -> Iterator[Pair]:
    """All pairs of requests over one file."""
    for file in files:
        worded = [
            (number, "en" if position < 2 else "zh", text)
            for number, task in enumerate(file["tasks"])
            for position, text in enumerate(task)
        ]
        vectors = encode_multilingual([text for _, _, text in worded])
        for (i, first), (j, second) in combinations(enumerate(worded), 2):
            languages = first[1] if first[1] == second[1] else "en-zh"
            cosine, shingles = float(vectors[i] @ vectors[j]), jaccard(first[2], second[2])
            yield Pair(languages, first[0] == second[0], cosine, shingles)


def jaccard(first: str, second: str) -> float:
    """What MinHash estimates: the shingles that two texts share, of all that they have."""
    sets = []
    for text in map(fold_words, (first, second)):
        sets.append({text[i : i + _SHINGLE] for i in range(len(text) - _SHINGLE + 1)})
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def rows(measured: Sequence[Pair], measure: str) -> Iterator[str]:
    """Recall and precision by language and threshold."""
    for languages in ("en", "zh", "en-zh"):
        some = [pair for pair in measured if pair.languages == languages]
        same = sum(pair.is_same for pair in some)
        for limit in _AT:
            near = [pair for pair in some if getattr(pair, measure) >= limit]
            right = sum(pair.is_same for pair in near)
            precision = f"{right / len(near):.2f}" if near else "–"
            shown = f"{right / same:.2f} | {precision} | {len(near)}"
            yield f"| {measure} | {languages} | {limit} | {shown} |"


def report() -> str:
    """The page."""
    known = tomllib.loads((_HERE / "near_duplicates.toml").read_text(encoding="utf-8"))
    measured = list(pairs(known["files"][1::2]))
    copied, mixed = (
        [
            is_copy(one["request"], other, frozenset(one["words"].split()))
            for one in known["long"]
            for other in one[kind]
        ]
        for kind in ("copies", "others")
    )
    head = "| measure | languages | at least | recall | precision | pairs |\n" + "|---" * 6 + "|"
    table = "\n".join([head, *rows(measured, "cosine"), *rows(measured, "shingles")])
    return f"""# Near-duplicates

`python -m benchmarks.near_duplicates`. Invented requests over one file each: free rewordings and
translations, and other requests over that file, most of which differ from them in one word (granted
or refused, landlord or tenant, weekdays or weekends). Held-out half, {len(measured)} pairs.

{table}

No threshold decides: a contrast of one word is nearer to a request, by the sentence encoder and by
shingles, than a free rewording of it. So the encoder only names pairs (cosine {SIMILAR} or more
over the same inputs and deliverables), and both are kept. What decides are the words that differ:
numbers, file names, words of the inputs, negations and words that moved make another request. Of
four longer requests, with light rewordings and contrasts that also served to write the rule,
{sum(copied)} of {len(copied)} copies are found, and {sum(mixed)} of {len(mixed)} others are
taken for one.
"""


if __name__ == "__main__":
    (_HERE / "results" / "near_duplicates.md").write_text(report(), encoding="utf-8")
