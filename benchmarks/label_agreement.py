"""How far the assignment agrees with blind labels, and the labelers with each other.

Cohen's kappa over families and patterns (Cohen 1960); labels are `slug,pattern,also`, the
further patterns in `also` joined by semicolons.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from construction.signals.assign import Assignment
from construction.signals.codebook import Codebook


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares of the labelled skills on which the assigned family agrees.

    `either`: the family of one labeler's main pattern; `both`: only skills on which the labelers
    agree by family; `listed`: a main or further pattern of either labeler. The bar is `either`.
    """

    n: int
    first: float
    second: float
    either: float
    both: float
    n_both: int
    listed: float
    pattern_either: float
    kappa_labelers: float
    kappa_labelers_pattern: float
    kappa_first: float
    kappa_second: float

    def as_json(self) -> dict[str, float]:
        return {name: round(value, 4) for name, value in asdict(self).items()}


Labels = Mapping[str, tuple[str, tuple[str, ...]]]


def read_labels(path: Path) -> Labels:
    """Main pattern and further patterns by slug."""
    with path.open(encoding="utf-8", newline="") as handle:
        return {
            row["slug"]: (row["pattern"], tuple(filter(None, (row["also"] or "").split(";"))))
            for row in csv.DictReader(handle)
        }


def agreement(
    assignments: Sequence[Assignment], first: Labels, second: Labels, book: Codebook
) -> Agreement:
    """Compare assignments with two labelers over the skills that both labelled."""
    by_slug = {one.slug: one for one in assignments}
    slugs = sorted(first.keys() & second.keys() & by_slug.keys())
    ours = [by_slug[slug].family(book) for slug in slugs]
    patterns = [by_slug[slug].pattern for slug in slugs]
    a, b = ([labels[slug][0] for slug in slugs] for labels in (first, second))
    fa, fb = [book.family_of(p) for p in a], [book.family_of(p) for p in b]
    agreed = [(mine, x) for mine, x, y in zip(ours, fa, fb, strict=True) if x == y]
    listed = [
        mine in {book.family_of(p) for labels in (first, second) for p in _all(labels, slug)}
        for mine, slug in zip(ours, slugs, strict=True)
    ]
    return Agreement(
        n=len(slugs),
        first=_rate(ours, fa),
        second=_rate(ours, fb),
        either=_mean([m in pair for m, *pair in zip(ours, fa, fb, strict=True)]),
        both=_mean([mine == theirs for mine, theirs in agreed]),
        n_both=len(agreed),
        listed=_mean(listed),
        pattern_either=_mean([m in pair for m, *pair in zip(patterns, a, b, strict=True)]),
        kappa_labelers=kappa(fa, fb),
        kappa_labelers_pattern=kappa(a, b),
        kappa_first=kappa(ours, fa),
        kappa_second=kappa(ours, fb),
    )


def misses(
    assignments: Sequence[Assignment], first: Labels, second: Labels, book: Codebook
) -> list[tuple[str, str, str, str]]:
    """Skills whose family is neither labeler's: slug, assigned pattern, and the two labels."""
    return [
        (one.slug, one.pattern, first[one.slug][0], second[one.slug][0])
        for one in assignments
        if one.slug in first.keys() & second.keys()
        and one.family(book)
        not in {book.family_of(first[one.slug][0]), book.family_of(second[one.slug][0])}
    ]


def kappa(first: Sequence[str], second: Sequence[str]) -> float:
    """Cohen's kappa: agreement beyond chance, 1 if the two never differ."""
    n = len(first)
    observed = _rate(first, second)
    first_counts, second_counts = Counter(first), Counter(second)
    chance = (
        sum(first_counts[label] * second_counts[label] for label in first_counts) / (n * n)
        if n
        else 0.0
    )
    return 1.0 if chance == 1.0 else (observed - chance) / (1.0 - chance)


def _all(labels: Labels, slug: str) -> tuple[str, ...]:
    main, also = labels[slug]
    return (main, *also)


def _rate(first: Sequence[str], second: Sequence[str]) -> float:
    return _mean([x == y for x, y in zip(first, second, strict=True)])


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
