"""Which candidates of the pool are released: all, or an optimal subset with its reasons.

The choice is recorded in tables.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from data.apportion import apportion, total_variation
from data.canonical import digest
from data.contracts import Candidate, LedgerRow, Outcome, Scalar, StageKind
from data.errors import ConfigError, InputError, ReleaseError
from data.pool import write_pool
from data.randomness import keyed_hash, keyed_order
from data.schemas import CANDIDATES, PILOT_SCORES
from data.snapshot.layout import PUBLIC, TASK_LIST
from data.stage_tables import write_stage_tables
from data.tables import write_table
from data.text.folding import fold_spaces
from selection.blockers import Blocker
from selection.config import Band, Objective, SelectionConfig, SelectionRecipe
from selection.estimator import shipped
from selection.near_duplicates import Words, copies
from selection.output import describe
from selection.pilots import band_of
from selection.pool import (
    Pool,
    PoolItem,
    few_pilots,
    pool_of_items,
    pool_of_matrix,
    resolved,
)
from selection.scores import ScoreMatrix
from selection.select import Selected, select_subset

# The Lite subset for manual audit: a stratified draw that resembles the whole release.
#
# In EnterpriseClawBench people audit 120 of the 852 tasks, stratified by family, role and type of
# deliverable. Here the strata are the three crossed. Largest remainders apportion the size to
# families, and a keyed systematic draw along the sorted strata picks the items, so that each margin
# comes out nearly proportional even where a crossed stratum is entitled to less than one item.

MISSING = "(none)"
_STAGE = "lite-subset"
_Stratum = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _LiteItem:
    """A task with its three stratum labels; None where a task has no label."""

    item_id: str
    family: str | None = None
    role: str | None = None
    deliverable_type: str | None = None

    @property
    def stratum(self) -> _Stratum:
        return (self.family or MISSING, self.role or MISSING, self.deliverable_type or MISSING)


@dataclass(frozen=True, slots=True)
class _MarginReport:
    """One margin: items of the pool and of the subset per value, and the total variation distance
    of the two distributions (0 equal, 1 disjoint)."""

    name: str
    pool: Mapping[str, int]
    subset: Mapping[str, int]
    distance: float


@dataclass(frozen=True, slots=True)
class _Lite:
    """The chosen ids, sorted, with counts by family, role and deliverable type, and by all three
    crossed."""

    size: int
    pool_size: int
    chosen: tuple[str, ...]
    margins: tuple[_MarginReport, ...]


def _choose_lite(items: Sequence[_LiteItem], size: int, seed: int = 0) -> _Lite:
    """Draw `size` items; the order of the input does not matter.

    Raises ConfigError if the pool is smaller than the size or contains an id twice.
    """
    ids = Counter(item.item_id for item in items)
    repeated = sorted(name for name, count in ids.items() if count > 1)
    if repeated:
        raise ConfigError(f"lite: {len(repeated)} items are listed twice, first {repeated[0]}.")
    if not 0 < size <= len(items):
        raise ConfigError(f"lite: size {size} from a pool of {len(items)} items.")
    strata: dict[_Stratum, list[str]] = {}
    for item in items:
        strata.setdefault(item.stratum, []).append(item.item_id)
    seats = _seats(strata, size, seed)
    chosen = {
        name for stratum, held in strata.items() for name in _drawn(held, seats[stratum], seed)
    }
    taken = [item for item in items if item.item_id in chosen]
    return _Lite(size, len(items), tuple(sorted(chosen)), _margin_reports(items, taken))


def _seats(strata: Mapping[_Stratum, Sequence[str]], size: int, seed: int) -> dict[_Stratum, int]:
    """Seats per stratum: families get whole quotas; inside a family a systematic draw along the
    sorted strata spreads its quota over roles and deliverable types."""
    families: dict[str, list[_Stratum]] = {}
    for stratum in sorted(strata):
        families.setdefault(stratum[0], []).append(stratum)
    held = {name: sum(len(strata[s]) for s in inside) for name, inside in families.items()}
    quotas = apportion({n: float(count) for n, count in held.items()}, size, most=held)
    seats: dict[_Stratum, int] = {}
    for name, inside in families.items():
        shares = [(s, Fraction(quotas[name] * len(strata[s]), held[name])) for s in inside]
        seats |= _systematic(shares, _uniform(seed, name))
    return seats


def _systematic(
    shares: Sequence[tuple[_Stratum, Fraction]], start: Fraction
) -> dict[_Stratum, int]:
    """Whole numbers whose running sums differ by less than one from those of the shares (Madow
    1949)."""
    seats, running = {}, start
    for stratum, share in shares:
        after = running + share
        seats[stratum] = int(after) - int(running)
        running = after
    return seats


def _uniform(seed: int, name: str) -> Fraction:
    drawn = int.from_bytes(keyed_hash(seed, _STAGE, name)[:6], "big")
    return Fraction(drawn, 2**48)


def _drawn(held: Sequence[str], seats: int, seed: int) -> list[str]:
    return [held[position] for position in keyed_order(seed, _STAGE, held)[:seats]]


def _margin_reports(
    pool: Sequence[_LiteItem], subset: Sequence[_LiteItem]
) -> tuple[_MarginReport, ...]:
    reports = []
    for name, level in (("family", 0), ("role", 1), ("deliverable_type", 2), ("crossed", None)):
        whole, part = _counted(pool, level), _counted(subset, level)
        counts = {value: part.get(value, 0) for value in whole}
        reports.append(_MarginReport(name, whole, counts, round(total_variation(whole, part), 9)))
    return tuple(reports)


def _counted(items: Sequence[_LiteItem], level: int | None) -> dict[str, int]:
    values = (" / ".join(item.stratum) if level is None else item.stratum[level] for item in items)
    return dict(sorted(Counter(values).items()))


NO_FAMILY = "(none)"
NOT_PILOTED, NOT_IN_SUBSET = "select.not_piloted", "select.not_in_subset"
LEFT_OUT = "select.split_left_out"
SAME_TASK = "select.same_task"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of candidates beside themselves.

    `opaque` names a private source in public; `pilots` are the scores of pilot runs by task id;
    `released` are the ids of the last release; `words` are those of a candidate's inputs.
    """

    opaque: Callable[[str], str]
    pilots: ScoreMatrix | None = None
    released: frozenset[str] = frozenset()
    words: Words = lambda candidate: None


@dataclass(frozen=True, slots=True)
class Choice:
    """The ids to release, why each other one is not, and the report for the auditor.

    `size` is how many tasks the release was to have; `same_as` names the task that is released
    instead of one that is the same.
    """

    chosen: frozenset[str]
    reasons: Mapping[str, str]
    report: Mapping[str, Any]
    size: int
    same_as: Mapping[str, str] = field(default_factory=dict)


def choose(
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    recipe: SelectionRecipe,
    seed: int,
    known: Known,
) -> Choice:
    """Choose from the pool under the lane shares, the family weights and the pilots' scores.

    Raises ReleaseError naming every blocker if no selection of the size is possible.
    """
    without = {name for name, band in recipe.split_shares.items() if band.high == 0}
    gone = dict.fromkeys((t.task_id for t in candidates if t.split in without), LEFT_OUT)
    rest = [task for task in candidates if task.task_id not in gone]
    choice = _chosen(rest, weights, recipe, seed, known)
    return replace(choice, reasons={**choice.reasons, **gone})


def _chosen(
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    recipe: SelectionRecipe,
    seed: int,
    known: Known,
) -> Choice:
    """The choice from candidates none of whose splits is left out."""
    items = _items(candidates, known)
    selectable, not_piloted, size = _sized(items, recipe, known)
    report: dict[str, Any] = {"pool": len(candidates), "family_weights": dict(weights)}
    bands = [band for each in _shares(recipe, selectable).values() for band in each.values()]
    if size == len(candidates) and not any(band.low for band in bands):
        report["rule"] = "all of the pool"
        return Choice(frozenset(items), {}, _with_lite(report, candidates, recipe, seed), size)
    config = _config(recipe, seed, size, selectable, known)
    solved = select_subset(selectable, config, weights or None)
    if solved.chosen is None:
        reasons = "; ".join(_explained(blocker) for blocker in solved.blockers)
        raise ReleaseError(f"no selection of {size} tasks is possible: {reasons}.")
    chosen = frozenset(solved.chosen)
    report |= {"rule": "subset"} | describe(config, solved, weights or None)
    report |= _of_pilots(selectable, config, solved)
    released = [candidate for candidate in candidates if candidate.task_id in chosen]
    not_chosen = _not_chosen(items, chosen) | dict.fromkeys(not_piloted, NOT_PILOTED)
    same_as = {items[name].cluster: name for name in chosen}
    instead = {
        name: same_as[items[name].cluster]
        for name, reason in not_chosen.items()
        if reason == SAME_TASK
    }
    return Choice(chosen, not_chosen, _with_lite(report, released, recipe, seed), size, instead)


def _of_pilots(pool: Pool, config: SelectionConfig, solved: Selected) -> dict[str, Any]:
    """What decided, a warning if the pilots are few, and the estimator that the subset ships."""
    report: dict[str, Any] = {"decided_by": str(resolved(config.objective, solved.pilots))}
    if warning := few_pilots(solved.pilots):
        report["warning"] = warning
    chosen = solved.solution.chosen
    if chosen is not None and (estimator := shipped(pool, chosen)):
        report["estimator"] = estimator.record()
    return report


def _explained(blocker: Blocker) -> str:
    """The reason, with the way out where it is a setting of a build."""
    change = blocker.change
    if change is None or change.setting.partition(".")[0] not in SelectionRecipe.model_fields:
        return blocker.text
    return f"{blocker.text} (possible fix: {blocker.relaxation})"


def _not_chosen(items: Mapping[str, PoolItem], chosen: frozenset[str]) -> dict[str, str]:
    """Why each other item is not chosen."""
    clusters = {items[name].cluster for name in chosen}
    return {
        name: SAME_TASK if item.cluster in clusters else NOT_IN_SUBSET
        for name, item in items.items()
        if name not in chosen
    }


def last_release(snapshot: Path) -> frozenset[str]:
    """The task ids of a published snapshot, given as its folder or its public half."""
    for folder in (snapshot / PUBLIC, snapshot):
        if (folder / TASK_LIST).is_file():
            lines = (folder / TASK_LIST).read_text(encoding="utf-8").splitlines()
            return frozenset(json.loads(line)["task_id"] for line in lines)
    raise InputError(str(snapshot), f"no {TASK_LIST}", "a snapshot", "Pass the last release.")


def _sized(
    items: Mapping[str, PoolItem], recipe: SelectionRecipe, known: Known
) -> tuple[Pool, list[str], int]:
    """What is chosen from, the candidates that no pilot ran on, and how many are chosen.

    That is as many as asked for, if the highest shares of the lanes allow it; where the pool holds
    no more than that, as many as all limits allow. Raises ReleaseError if no task is left.
    """
    everything, limit = pool_of_items(list(items.values())), recipe.max_tasks
    if limit is not None and limit < len(items):
        possible = _eligible(everything, recipe.max_per_generator)
        size = _most(possible, limit, _shares(recipe, everything), None)
        pool, missing = _selectable(items, recipe, size, known)
    else:
        pool, missing = _selectable(items, recipe, 1, known)
        eligible = _eligible(pool, recipe.max_per_generator)
        shares, max_changed = _shares(recipe, pool), _max_changed(recipe, known)
        size = _most(eligible, len(eligible), shares, max_changed)
    if items and not size:
        able = len(_eligible(pool, None))
        piloted = f"{able} distinguish the pilots, and " if pool.pilots else ""
        raise ReleaseError(
            f"none of {len(items)} candidates can be released: {piloted}[selection] lane_shares "
            "and max_changed leave room for none."
        )
    return pool, missing, size


def _eligible(pool: Pool, per_generator: int | None) -> list[PoolItem]:
    """The eligible items, one of each cluster, if possible of the last release.

    Of a generator there are at most `per_generator`.
    """
    eligible = [
        item for item, is_eligible in zip(pool.items, pool.eligible, strict=True) if is_eligible
    ]
    first: dict[str, PoolItem] = {}
    for item in sorted(eligible, key=lambda item: not item.in_last_release):
        first.setdefault(item.cluster or item.item_id, item)
    made: Counter[str | None] = Counter()
    distinct = []
    for item in first.values():
        made[item.generator] += 1
        if None in (item.generator, per_generator) or made[item.generator] <= (per_generator or 0):
            distinct.append(item)
    return distinct


def _lane_shares(recipe: SelectionRecipe, pool: Pool) -> Mapping[str, Band]:
    """A single lane fills the release; its share does not apply."""
    return recipe.lane_shares if len({item.lane for item in _eligible(pool, None)}) > 1 else {}


def _shares(recipe: SelectionRecipe, pool: Pool) -> dict[str, Mapping[Any, Band]]:
    """The bands of lanes, pass rates and splits, by the attribute of an item."""
    return {
        "lane": _lane_shares(recipe, pool),
        "pass_rate": recipe.pass_rate_shares,
        "split": recipe.split_shares,
    }


def _max_changed(recipe: SelectionRecipe, known: Known) -> float | None:
    """Without a last release there is nothing to change."""
    return recipe.max_changed if known.released else None


def _most(
    items: Sequence[PoolItem],
    size: int,
    shares: Mapping[str, Mapping[str, Band]],
    max_changed: float | None,
) -> int:
    """The largest size, up to `size`, for which all shares and the bound on changes leave enough
    items."""
    lanes = Counter(item.lane for item in items)
    held = Counter(item.lane for item in items if item.in_last_release)
    for smaller in range(size, 0, -1):
        room = _room(lanes, shares["lane"], smaller)
        others = (
            _room(Counter(getattr(item, name) for item in items), bands, smaller)
            for name, bands in shares.items()
        )
        if any(sum(other.values()) < smaller for other in others):
            continue
        kept = sum(min(n, held[lane]) for lane, n in room.items())
        new = sum(room.values()) - kept
        if kept + min(new, _share(1.0 if max_changed is None else max_changed, smaller)) >= smaller:
            return smaller
    return 0


def _room(numbers: Mapping[Any, int], bands: Mapping[str, Band], size: int) -> dict[Any, int]:
    """How many items of each value a subset of a size may have."""
    return {
        value: min(n, _share(bands[value].high, size)) if value in bands else n
        for value, n in numbers.items()
    }


def _share(share: float, size: int) -> int:
    return math.floor(share * size + 1e-9)


def _selectable(
    items: Mapping[str, PoolItem], recipe: SelectionRecipe, size: int, known: Known
) -> tuple[Pool, list[str]]:
    """The pool, and the candidates left out of it because no pilot has a score on them."""
    if known.pilots is None or not items:
        return pool_of_items(list(items.values())), []
    rows = [row for row, item in enumerate(known.pilots.items) if item in items]
    matrix = known.pilots.of_items(np.array(rows, dtype=np.intp))
    missing = sorted(items.keys() - set(matrix.items))
    if recipe.unpiloted == "keep":
        families = [items[name].family for name in missing]
        matrix, missing = matrix.with_unscored(missing, families), []
    if len(matrix.items) < size:
        raise InputError(
            "scores",
            f"{len(matrix.items)} of {len(items)} candidates with scores",
            f"at least {size}, the number to release",
            "Run the pilots on more candidates, or release fewer.",
        )
    config = SelectionConfig(
        size=size, pilots=recipe.pilots, selection_threshold=recipe.selection_threshold
    )
    pool = pool_of_matrix(matrix, config, items)
    if recipe.unpiloted == "keep":
        pool = replace(pool, eligible=pool.eligible | np.isnan(pool.scores).all(axis=1))
    return pool, missing


def _config(
    recipe: SelectionRecipe, seed: int, size: int, pool: Pool, known: Known
) -> SelectionConfig:
    families = {item.family for item in pool.items}
    return SelectionConfig(
        size=size,
        objective=recipe.objective if pool.pilots else Objective.COVERAGE,
        pilots=pool.pilots,
        selection_threshold=recipe.selection_threshold,
        cover_families=size >= len(families),
        lane_shares=_lane_shares(recipe, pool),
        difficulty_shares=recipe.difficulty_shares,
        pass_rate_shares=dict(recipe.pass_rate_shares.items()),
        split_shares=dict(recipe.split_shares.items()),
        max_changed=_max_changed(recipe, known),
        max_per_generator=recipe.max_per_generator,
        seed=seed,
    )


def _items(candidates: Sequence[Candidate], known: Known) -> dict[str, PoolItem]:
    """The items by task id; those of candidates that copy one another share a cluster."""
    items = {candidate.task_id: _item(candidate, known) for candidate in candidates}
    for copy, first in copies(candidates, known.words).items():
        items[copy] = replace(items[copy], cluster=items[first].cluster)
    return items


def _template(made: Mapping[str, Any]) -> str | None:
    """The template that made an analytic task; a proposal was made by none."""
    name = made.get("template")
    return None if name in (None, "proposal") else f"template {name}"


def _item(candidate: Candidate, known: Known) -> PoolItem:
    """What the selection may know: it is published, so the session goes by its keyed id.

    Tasks of one generator with the same rule count as the same task: one recipe solves both.
    """
    item_id = candidate.provenance.item_id
    made = candidate.provenance.detail
    generator = made.get("generator")
    same = [generator, made.get("rule")] if generator else _content(candidate)
    return PoolItem(
        item_id=candidate.task_id,
        family=family_of(candidate),
        lane=str(candidate.lane),
        difficulty=candidate.difficulty,
        pass_rate=band_of(candidate.pass_rate),
        split=candidate.split,
        cluster=known.opaque(same if isinstance(same, str) else digest(same)),
        source=known.opaque(item_id.rpartition("_i")[0] or item_id),
        generator=generator or _template(made),
        in_last_release=candidate.task_id in known.released,
    )


def _content(candidate: Candidate) -> str:
    """Words and inputs as one digest: candidates that share it are the same task."""
    words = fold_spaces(candidate.prompt.casefold())
    inputs = sorted(fixture.sha256 for fixture in candidate.fixtures)
    return digest([words, inputs])


def family_of(candidate: Candidate) -> str:
    return candidate.task_family.value if candidate.task_family else NO_FAMILY


def _with_lite(
    report: dict[str, Any], released: Sequence[Candidate], recipe: SelectionRecipe, seed: int
) -> dict[str, Any]:
    """The report with the subset for manual audit, by family, role and deliverable type."""
    size = min(recipe.lite_size or 0, len(released))
    if not size:
        return report
    items = [
        _LiteItem(
            candidate.task_id,
            candidate.task_family.value if candidate.task_family else None,
            candidate.role.value if candidate.role else None,
            candidate.deliverables[0].file_type if candidate.deliverables else None,
        )
        for candidate in released
    ]
    return report | {"lite": asdict(_choose_lite(items, size, seed))}


STAGE = "select"


def write_choice(
    candidates: Sequence[Candidate],
    choice: Choice,
    known: Known,
    out: Path,
    alike: Mapping[str, str],
) -> None:
    """Write the chosen candidates, and what became of every one of the pool.

    `alike` names for a candidate another one that means about the same.
    """
    write_stage_tables(
        out,
        StageKind.CHOOSE,
        [candidate.task_id for candidate in candidates],
        [_ledger_row(candidate, choice, alike) for candidate in candidates],
        stage=STAGE,
        unit="candidate",
    )
    records = (_record(candidate, candidate.task_id in choice.chosen) for candidate in candidates)
    write_table(out / "candidates.parquet", records, CANDIDATES.schema)
    if known.pilots is not None:
        write_table(out / "scores.parquet", _score_records(known.pilots), PILOT_SCORES.schema)
    write_pool(out, [task for task in candidates if task.task_id in choice.chosen], {})


def _score_records(pilots: ScoreMatrix) -> Iterator[dict[str, Any]]:
    for item, scores in zip(pilots.items, pilots.scores.tolist(), strict=True):
        for model, score in zip(pilots.models, scores, strict=True):
            yield {"task_id": item, "model": model, "score": None if isnan(score) else score}


def _ledger_row(candidate: Candidate, choice: Choice, alike: Mapping[str, str]) -> LedgerRow:
    task_id = candidate.task_id
    is_chosen = task_id in choice.chosen
    evidence: dict[str, Scalar] = {}
    if task_id in choice.same_as:
        evidence["same_as"] = choice.same_as[task_id]
    elif task_id in alike:
        evidence["similar_to"] = alike[task_id]
    return LedgerRow(
        STAGE,
        "candidate",
        task_id,
        Outcome.CHOSEN if is_chosen else Outcome.NOT_CHOSEN,
        reason=choice.reasons.get(task_id),
        stratum=f"{candidate.lane}/{family_of(candidate)}",
        evidence=evidence,
    )


def _record(candidate: Candidate, is_chosen: bool) -> Mapping[str, Any]:
    return {
        "task_id": candidate.task_id,
        "instance_id": candidate.provenance.item_id,
        "lane": str(candidate.lane),
        "task_family": candidate.task_family.value if candidate.task_family else None,
        "language": candidate.language,
        "difficulty": candidate.difficulty,
        "execution_surface": candidate.execution_surface,
        "prompt_chars": len(candidate.prompt),
        "n_fixtures": len(candidate.fixtures),
        "n_deliverables": len(candidate.deliverables),
        "deliverable_types": ",".join(item.file_type for item in candidate.deliverables),
        "n_rules": len(candidate.rules),
        "outcome": str(Outcome.CHOSEN if is_chosen else Outcome.NOT_CHOSEN),
    }
