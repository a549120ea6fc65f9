"""Guesses of who is who from the order of rows and from codes, under many keys, and their test.

Only the pseudonyms of codes matter here: a released table is sorted by them, then by period. Each
guess is made again under every key, and the hits are pooled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl
from scipy.special import betainc

from anonymization.tables.attacks import report as on_codes
from anonymization.tables.attacks.linked import AttackResult, Knowledge, Risk, interval, result
from anonymization.tables.attacks.measures import seed_key
from anonymization.tables.config import TableConfig, TablesRecipe
from anonymization.tables.pseudonym_mapping import permuted_codes
from data.canonical import digest
from selection.evaluation.comparisons import holm

CODE, NAME = "edinet_code", "name"
Codes = Mapping[str, str]  # code: pseudonym


@dataclass(frozen=True, slots=True)
class Tested:
    """A guess under `keys` keys: the pooled hits, and the probability of as many by chance.

    `spread` is the variance of the hits per key over that of independent targets: hits of one
    permutation depend on each other, more so in small groups. A spread above 1 divides both hits
    and targets (Rao and Scott, Biometrics 48, 1992), then the binomial tail is exact.
    """

    pooled: AttackResult
    keys: int
    spread: float
    p: float
    corrected: float = 1.0


def tested(tried: Sequence[AttackResult]) -> Tested:
    """Results of one guess under several keys, pooled and tested, not corrected yet."""
    hits, n = np.array([each.hits for each in tried]), sum(each.n for each in tried)
    first, total = tried[0], float(hits.sum())
    variance = n / len(tried) * first.chance * (1 - first.chance)
    is_known = len(tried) > 1 and variance > 0
    spread = max(1.0, float(hits.var(ddof=1)) / variance) if is_known else 1.0
    actual, targets = total / spread, n / spread
    p = float(betainc(actual, targets - actual + 1, first.chance)) if total > 0 else 1.0
    low, high = interval(actual, targets)
    pooled = replace(first, n=n, hits=total, rate=total / n, ci_low=low, ci_high=high)
    return Tested(pooled, len(tried), spread, p)


def corrected(guesses: Sequence[Tested]) -> list[Tested]:
    """With the p-values corrected for the number of guesses."""
    values = holm([each.p for each in guesses])
    pairs = zip(guesses, values, strict=True)
    return [replace(each, corrected=1.0 if p is None else p) for each, p in pairs]


class Orders:
    """The orders in which an attacker can list the companies of a table."""

    def __init__(self, frame: pl.DataFrame) -> None:
        newest = frame.sort("period_end", descending=True)
        size = pl.col("total_assets").cast(pl.Float64)
        orders = {
            "as in the source": frame[CODE],
            "by code": frame.sort(CODE)[CODE],
            "by name": frame.sort(NAME)[CODE],
            "by industry, then code": frame.sort("industry", CODE)[CODE],
            "by size": newest.sort(size, nulls_last=True)[CODE],
            "by number of rows": frame.select(pl.col(CODE), pl.len().over(CODE).alias("rows")).sort(
                "rows", CODE
            )[CODE],
        }
        self.companies = {how: list(dict.fromkeys(order)) for how, order in orders.items()}
        self.rows = frame[CODE].to_list()
        last = frame.group_by(CODE, maintain_order=True).last()
        self.industry: dict[str, str] = dict(
            last.select(CODE, pl.col("industry").fill_null("")).iter_rows()
        )
        self.coded = sorted(self.industry)

    def guesses(self, codes: Codes) -> Iterator[AttackResult]:
        """All guesses by order on a release with these pseudonyms."""
        published = sorted(codes.values())
        yield self._row_by_row(codes)
        for how, order in self.companies.items():
            hits = [codes[old] == new for old, new in zip(order, published, strict=True)]
            yield _result(f"row order {how}", "all codes", hits, 1 / len(hits))
            yield self._inside(how, order, codes)
            yield _neighbours(how, order, published, codes)

    def _row_by_row(self, codes: Codes) -> AttackResult:
        """The k-th row of the source is taken for the k-th released one."""
        images = [codes[old] for old in self.rows]
        chance = sum(n * n for n in Counter(self.rows).values()) / len(self.rows) ** 2
        hits = [old == new for old, new in zip(images, sorted(images), strict=True)]
        return _result("row by row", "all rows", hits, chance)

    def _inside(self, how: str, order: Sequence[str], codes: Codes) -> AttackResult:
        """The k-th company of an industry is taken for the k-th released one of that industry."""
        groups: dict[str, list[str]] = {}
        for code in order:
            groups.setdefault(self.industry[code], []).append(code)
        hits = [
            codes[old] == new
            for members in groups.values()
            for old, new in zip(members, sorted(codes[code] for code in members), strict=True)
        ]
        chance = len(groups) / len(hits)
        return _result(f"row order {how}", "inside industries", hits, chance)


def _neighbours(
    how: str, order: Sequence[str], published: Sequence[str], codes: Codes
) -> AttackResult:
    """Companies that follow each other are taken for released ones that are side by side."""
    pairs = {frozenset(pair) for pair in pairwise(published)}
    hits = [frozenset((codes[a], codes[b])) in pairs for a, b in pairwise(order)]
    return _result(f"neighbours {how}", "pairs", hits, 2 / len(order))


def _result(name: str, scope: str, hits: Sequence[float], chance: float) -> AttackResult:
    knows = Knowledge.WHOLE_POPULATION
    return result(Risk.PSEUDONYM, name, ("rows",), scope, knows, np.array(hits, float), chance)


def by_code(codes: Codes) -> Iterator[AttackResult]:
    """Codes against pseudonyms: in the same order, and most alike."""
    yield replace(on_codes.order_attack(codes, CODE), name="codes in the same order")
    yield replace(on_codes.likeness_attack(codes, CODE), name="codes most alike")


def by_published(
    codes: Codes, config: TableConfig, recipe: TablesRecipe, key: bytes
) -> Iterator[AttackResult]:
    """Every string that is published is tried as the key."""
    published = {
        "the public seed": seed_key(recipe.attacks.seed),
        "the digest of the key": bytes.fromhex(digest(key)),
        "the digest of the recipe": bytes.fromhex(digest(recipe)),
        "zeros": bytes(32),
    }
    prefix, knows = config.columns[CODE].prefix, Knowledge.PUBLISHED
    for what, guess in published.items():
        tried = on_codes.dictionary_attack(codes, sorted(codes), guess, CODE, prefix, knows)
        yield replace(tried, name=f"codes permuted with {what}")


def codes_of(frame: pl.DataFrame, config: TableConfig, key: bytes, name: str = CODE) -> Codes:
    """The pseudonyms of a table's codes under a key, as in a release."""
    column = config.columns[name]
    return permuted_codes(frame[name].unique(), key, column.space or name, column.prefix).new


def by_shape(last: pl.DataFrame, column: str, codes: Codes) -> AttackResult:
    """Within an industry: the pseudonyms with letters, digits and marks where the code has them.

    `last`: a row per company.
    """
    groups: dict[str, list[str]] = {}
    for code, industry in last.select(column, pl.col("industry").fill_null("")).iter_rows():
        groups.setdefault(industry, []).append(code)
    hits = []
    for members in groups.values():
        counts = Counter(_shape(codes[code]) for code in members)
        for code in members:
            own = _shape(code)
            # If no pseudonym has its shape, any of the industry's may be the code's.
            tied = counts[own] or len(members)
            hits.append(1 / tied if _shape(codes[code]) == own or not counts[own] else 0.0)
    chance = len(groups) / len(hits)
    return _result(f"{column}: of the same shape", "inside industries", hits, chance)


def _shape(code: str) -> str:
    kinds = (str.isdigit, str.isupper, str.islower)
    return "".join("".join("01"[kind(char)] for kind in kinds) for char in code)
