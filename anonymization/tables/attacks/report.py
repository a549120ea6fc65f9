"""All attacks on one released table: on its figures, and on the pseudonyms of its codes.

Measured are hit rates, and k-map and uniqueness of quasi-identifiers: how many rows share what is
left untouched. The release gate judges these. Pseudonyms are attacked by dictionary with a known or
guessed key, by order and by likeness: while the key exists, whoever gets it can permute all
possible codes and identify everyone. After sealing, an attacker can only guess keys from what is
published, and use structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymization.tables.attacks import measures
from anonymization.tables.attacks.linked import (
    AttackResult,
    Knowledge,
    Linked,
    Metric,
    Risk,
    link,
    result,
)
from anonymization.tables.cells import Floats, numbers
from anonymization.tables.config import AttackConfig, ColumnRole, TableConfig
from anonymization.tables.pseudonym_mapping import permuted_codes

_DIGITS = (1, 2, 3)
_RATIO_COLUMNS = (3, 4)
_LARGEST_BY = 3  # columns


@dataclass(frozen=True, slots=True)
class AttackReport:
    """`rows`, `companies`, `years` attacked; `doubled` rows of an entity and year left out.

    `assigned_year` is the year on which the assignment attacks ran, None if they did not run.
    """

    rows: int
    companies: int
    years: tuple[str, ...]
    doubled: int
    known: tuple[str, ...]
    results: tuple[AttackResult, ...]
    k_maps: tuple[_KMap, ...]
    assigned_year: str | None

    def worst(self, risk: Risk, columns: int) -> AttackResult | None:
        """The attack with the highest rate among those that know up to `columns` columns."""
        candidates = [r for r in self.results if r.risk is risk and len(r.columns) <= columns]
        return max(candidates, key=lambda r: r.rate, default=None)


def attack(
    original: pl.DataFrame,
    released: pl.DataFrame,
    config: TableConfig,
    settings: AttackConfig,
    linked: Linked | None = None,
) -> AttackReport:
    """Attack `released`, whose rows correspond to those of `original` by position.

    Identifiers are not used: the attacker has the original values of the known columns, industry
    and year, and looks for the released record. `linked`: both tables, if already linked.
    Errors: the `InputError` of `link`.
    """
    if linked is None:
        linked = link(original, released, config)
    known = _known_columns(linked, settings)
    simulated = _simulated(linked, original, config, settings)
    results = list(_quick(linked, known))
    results += _repeated(linked, known, simulated[0], Knowledge.PUBLISHED)
    results += _histories(linked, known, simulated)
    if settings.assignment:
        results += _slow(linked, known, simulated, settings.exact_rows)
        key = measures.seed_key(settings.seed, "another")
        other = measures.rerun(linked, original, config, key)
        results += _repeated(linked, known, other, Knowledge.METHOD)
    maps = _k_maps(original, released, config, known[:1], settings.bins)
    results += [_unique_people(one) for one in maps if config.of_people and not one.binned]
    fullest = linked.fullest_year()
    return AttackReport(
        rows=len(linked),
        companies=len(np.unique(linked.entity)),
        years=linked.years,
        doubled=linked.doubled,
        known=known,
        results=tuple(results),
        k_maps=tuple(maps),
        assigned_year=linked.years[int(fullest.year[0])] if settings.assignment else None,
    )


def _known_columns(linked: Linked, settings: AttackConfig) -> tuple[str, ...]:
    """All measures: those named in the settings first, then by known and distinct values."""
    order = list(settings.known)
    ranked = []
    for at, name in enumerate(linked.columns):
        values = linked.original[:, at]
        values = values[~np.isnan(values)]
        ranked.append((-len(np.unique(values)) - len(values), name))
    return tuple(order + [name for _, name in sorted(ranked) if name not in order])


def _knowledge_levels(known: Sequence[str]) -> list[tuple[str, ...]]:
    """The first one, two, three columns, and all of them."""
    counts = sorted({min(n, len(known)) for n in (1, 2, 3, len(known))})
    return [tuple(known[:n]) for n in counts if n]


def _simulated(
    linked: Linked, original: pl.DataFrame, config: TableConfig, settings: AttackConfig
) -> list[Linked]:
    """The attacker's own runs; the first with the public seed as key."""
    turns = ["", *(str(turn) for turn in range(1, settings.simulations))]
    keys = [measures.seed_key(settings.seed, turn) for turn in turns]
    return [measures.rerun(linked, original, config, key) for key in keys]


def _quick(linked: Linked, known: Sequence[str]) -> Iterator[AttackResult]:
    yield measures.unchanged_rows(linked)
    for columns in _knowledge_levels(known):
        part = linked.knowing(columns)
        for digits in _DIGITS:
            yield measures.prefix_join(part, digits)
        yield measures.nearest(part, Metric.LOG, within=False)
        for metric in Metric:
            yield measures.nearest(part, metric, within=True)
    for n in sorted({min(n, len(known)) for n in _RATIO_COLUMNS} - {0, 1}):
        yield measures.ratio(linked.knowing(known[:n]))
    for name in known[:_LARGEST_BY]:
        yield measures.dominant(linked.knowing([name]))


def _repeated(
    linked: Linked, known: Sequence[str], again: Linked, knows: Knowledge
) -> Iterator[AttackResult]:
    for columns in _knowledge_levels(known):
        yield measures.rerun_match(linked.knowing(columns), again.knowing(columns), knows)


def _histories(
    linked: Linked, known: Sequence[str], simulated: Sequence[Linked]
) -> Iterator[AttackResult]:
    """Attacks on histories, if the table has more than one year."""
    if len(linked.years) < 2:
        return
    for columns in _knowledge_levels(known):
        part = linked.knowing(columns)
        yield measures.sign_history(part)
        yield measures.history(part, [run.knowing(columns) for run in simulated])


def _slow(
    linked: Linked, known: Sequence[str], simulated: Sequence[Linked], most: int
) -> Iterator[AttackResult]:
    year = linked.fullest_year()
    for columns in _knowledge_levels(known):
        part, runs = year.knowing(columns), [run.knowing(columns) for run in simulated]
        yield measures.assignment(part, most)
        yield measures.aware_assignment(part, runs, most)
        yield measures.rank_window(part, runs)


_KS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class _KMap:
    """Released rows and how many original rows agree with each in `columns`.

    `k_min`: the least number (0: no original row agrees, so the combination misleads an attacker);
    `at_most`: share of rows with 1 to k agreeing rows, by k; `unmatched`: share with none.
    """

    columns: tuple[str, ...]
    binned: tuple[str, ...]
    rows: int
    k_min: int
    at_most: Mapping[int, float]
    unmatched: float


def _unique_people(kept: _KMap) -> AttackResult:
    """People whom their colleagues find by the columns that leave as they are."""
    hits = np.zeros(kept.rows)
    hits[: round(kept.at_most[1] * kept.rows)] = 1
    name = f"the kept {', '.join(kept.columns)}"
    chance = 1 / kept.rows if kept.rows else 0.0
    return result(Risk.UNIQUE_PERSON, name, (), "table", Knowledge.ONE_TARGET, hits, chance)


def _k_maps(
    original: pl.DataFrame,
    released: pl.DataFrame,
    config: TableConfig,
    known: Sequence[str],
    bins: int,
) -> list[_KMap]:
    """k-map (Sweeney 2001) of the kept quasi-identifiers, alone and with the `known` measures cut
    into `bins` classes of equally many original rows. The population is the original table."""
    kept = [n for n in config.of_role(ColumnRole.QUASI_IDENTIFIER) if n in released.columns]
    maps = [_k_map(original, released, kept, {})] if kept else []
    if known:
        classes = {n: _classes(original[n], released[n], bins) for n in known}
        maps.append(_k_map(original, released, kept, classes))
    return maps


def _k_map(
    original: pl.DataFrame,
    released: pl.DataFrame,
    kept: Sequence[str],
    classes: Mapping[str, tuple[pl.Series, pl.Series]],
) -> _KMap:
    before, after = zip(*classes.values(), strict=True) if classes else ((), ())
    names = [f"class {name}" for name in classes]
    population = _combined(original, kept, names, before)
    rows = _combined(released, kept, names, after)
    counted = population.group_by(pl.all()).len("k")
    k = (
        rows.join(counted, on=rows.columns, how="left", nulls_equal=True)["k"]
        .fill_null(0)
        .to_numpy()
        .astype(np.int64)
    )
    n = max(len(k), 1)
    at_most = {most: round(float(((k > 0) & (k <= most)).sum()) / n, 9) for most in _KS}
    unmatched = round(float((k == 0).sum()) / n, 9)
    return _KMap(
        tuple(kept), tuple(classes), len(k), int(k.min()) if len(k) else 0, at_most, unmatched
    )


def _combined(
    frame: pl.DataFrame, kept: Sequence[str], names: Sequence[str], classes: Sequence[pl.Series]
) -> pl.DataFrame:
    text = [frame[name].cast(pl.String) for name in kept]
    return pl.DataFrame([*text, *(s.alias(n) for n, s in zip(names, classes, strict=True))])


def _classes(old: pl.Series, new: pl.Series, bins: int) -> tuple[pl.Series, pl.Series]:
    """Both columns by the quantiles of the first; -1 where there is no number."""
    before, after = numbers(old), numbers(new)
    known = before[~np.isnan(before)]
    edges = np.quantile(known, np.arange(1, bins) / bins) if len(known) else np.zeros(0)
    return _cut(before, edges), _cut(after, edges)


def _cut(values: Floats, edges: Floats) -> pl.Series:
    at = np.searchsorted(edges, np.nan_to_num(values), side="right")
    return pl.Series(np.where(np.isnan(values), -1, at))


SCOPE = "all codes"
_CHUNK = 20_000  # codes of a dictionary permuted at a time
_BLOCK = 512  # codes compared with all others at a time


def dictionary_attack(
    mapping: Mapping[str, str],
    dictionary: Sequence[str],
    key: bytes,
    space: str,
    prefix: str,
    knows: Knowledge,
) -> AttackResult:
    """Permute every code of `dictionary` with `key` and look up the released pseudonyms.

    `mapping` is the truth: code to pseudonym. If the dictionary is the public list of companies,
    it is permuted exactly like the release; a larger one misses codes that the release had to move
    to another free pseudonym.
    """
    wanted = set(mapping.values())
    named: dict[str, list[str]] = {}
    for start in range(0, len(dictionary), _CHUNK):
        part = dictionary[start : start + _CHUNK]
        for code, image in permuted_codes(part, key, space, prefix).new.items():
            if image in wanted:
                named.setdefault(image, []).append(code)
    hits = [
        1 / len(named[image]) if code in named.get(image, ()) else 0.0
        for code, image in sorted(mapping.items())
    ]
    name = f"dictionary of {len(dictionary):,} codes"
    return _pseudonym_result(name, space, knows, np.array(hits))


def order_attack(mapping: Mapping[str, str], space: str) -> AttackResult:
    """Both lists sorted: the k-th code is taken for the k-th pseudonym."""
    pairs = zip(sorted(mapping), sorted(mapping.values()), strict=True)
    hits = np.array([float(mapping[code] == image) for code, image in pairs])
    return _pseudonym_result("same order", space, Knowledge.WHOLE_POPULATION, hits)


def likeness_attack(mapping: Mapping[str, str], space: str) -> AttackResult:
    """The pseudonym that agrees with the code in most positions, among those of equal length."""
    by_length: dict[int, list[str]] = {}
    for code in sorted(mapping):
        by_length.setdefault(len(code), []).append(code)
    hits = [hit for codes in by_length.values() for hit in _alike(codes, mapping)]
    return _pseudonym_result("most alike", space, Knowledge.WHOLE_POPULATION, np.array(hits))


def row_order_attack(
    codes: Sequence[str], published: Sequence[str], mapping: Mapping[str, str]
) -> AttackResult:
    """The k-th company of the source is taken for the k-th pseudonym of the released file.

    `codes` and `published` as they come first in the source and in the released file.
    """
    pairs = zip(dict.fromkeys(codes), dict.fromkeys(published), strict=False)
    hits = np.array([float(mapping[code] == image) for code, image in pairs])
    return _pseudonym_result("row order", "rows", Knowledge.WHOLE_POPULATION, hits)


def _alike(codes: Sequence[str], mapping: Mapping[str, str]) -> Iterator[float]:
    images = [mapping[code] for code in codes]
    length = max(map(len, [*codes, *images]))
    old, new = _letters(codes, length), _letters(images, length)
    for start in range(0, len(codes), _BLOCK):
        block = old[start : start + _BLOCK]
        same = np.zeros((len(block), len(new)), dtype=np.int16)
        for position in range(length):
            same += block[:, position][:, None] == new[:, position][None, :]
        best = same == same.max(axis=1, keepdims=True)
        own = best[np.arange(len(block)), np.arange(start, start + len(block))]
        yield from np.where(own, 1 / best.sum(axis=1), 0.0).tolist()


def _letters(texts: Sequence[str], length: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([[ord(c) for c in text.ljust(length)] for text in texts], dtype=np.int64)


def _pseudonym_result(name: str, space: str, knows: Knowledge, hits: Floats) -> AttackResult:
    return result(
        Risk.PSEUDONYM, name, (space,), SCOPE, knows, hits, 1 / len(hits) if len(hits) else 0.0
    )
