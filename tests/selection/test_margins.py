"""The default objective with its quotas: right, explained, and the same for any input order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from selection.blockers import _BlockerCode
from selection.config import Objective, SelectionConfig
from selection.model import RowKind, SolverName
from selection.output import _write_selection, check_selection
from selection.pool import PoolItem, _shrunken_covariance, few_pilots, pool_of_matrix, resolved
from selection.scores import ScoreMatrix, read_scores
from selection.select import Method, Selected, select_subset
from tests.selection.matrices import drawn, write_csv

FILES = ("selection.json", "pool.parquet", "model.lp")


def chosen_of(
    matrix: ScoreMatrix, config: SelectionConfig, solver: SolverName | None = None
) -> Selected:
    return select_subset(pool_of_matrix(matrix, config), config, preferred=solver)


def test_every_row_holds_and_every_quota_is_met() -> None:
    selected = chosen_of(drawn(120, 9), SelectionConfig(size=30))
    assert selected.chosen is not None
    assert selected.solution.chosen is not None
    assert selected.solution.method is Method.RELAXATION
    kinds = {row.kind for row in selected.programme.rows}
    assert kinds == {RowKind.SIZE, RowKind.COVERAGE, RowKind.QUOTA, RowKind.STRATUM}
    quotas = [
        row for row in selected.programme.rows if row.kind in (RowKind.QUOTA, RowKind.STRATUM)
    ]
    assert all(row.excess(selected.solution.chosen) == 0 for row in quotas)


def test_within_its_stratum_the_most_discriminating_item_is_taken() -> None:
    selected = chosen_of(drawn(120, 9), SelectionConfig(size=30, stratum_picks=1))
    chosen, programme = selected.solution.chosen, selected.programme
    assert chosen is not None
    for row in programme.rows:
        if row.kind is RowKind.STRATUM:
            inside = row.members[programme.allowed[row.members]]
            taken = programme.gains[inside[chosen[inside]]]
            remaining = programme.gains[inside[~chosen[inside]]]
            assert taken.min(initial=10_000) >= remaining.max(initial=-10_000)


def test_balanced_draws_one_item_of_each_stratum_by_the_seed_alone() -> None:
    matrix = drawn(120, 9)
    config = SelectionConfig(size=30, objective=Objective.BALANCED)
    drawings = [
        chosen_of(matrix, config.model_copy(update={"seed": seed})) for seed in (0, 0, 1, 2, 3)
    ]
    for selected in drawings:
        chosen = selected.solution.chosen
        assert chosen is not None
        assert selected.solution.unique
        strata = [row for row in selected.programme.rows if row.kind is RowKind.STRATUM]
        assert len(strata) == 30
        assert {row.value(chosen) for row in strata} == {1}
    assert drawings[0].chosen == drawings[1].chosen
    assert len({selected.chosen for selected in drawings}) == 4
    gains = chosen_of(matrix, SelectionConfig(size=30)).programme.gains
    means = [float(gains[selected.solution.chosen].mean()) for selected in drawings[1:]]
    best = chosen_of(matrix, SelectionConfig(size=30)).solution.chosen
    assert max(means) < gains[best].mean()  # items that rank the pilots well are not preferred


def test_by_default_each_stratum_has_one_pick_and_gains_never_break_a_quota() -> None:
    matrix = drawn(200, 6, n_families=4, seed=5)
    selected = chosen_of(matrix, SelectionConfig(size=40, drop_zero_discrimination=False))
    assert selected.solution.chosen is not None
    strata = [row for row in selected.programme.rows if row.kind is RowKind.STRATUM]
    assert [row.value(selected.solution.chosen) for row in strata] == [1] * 40


@pytest.mark.parametrize("objective", [Objective.MARGINS, Objective.BALANCED, Objective.PAIRS])
def test_bytes_are_equal_for_any_row_order_and_solver(tmp_path: Path, objective: Objective) -> None:
    matrix = drawn(150, 8, 5)
    matrix.scores[3, 2] = np.nan
    config = SelectionConfig(size=40, objective=objective, pilots=("m05", "m01", "m07"))
    result = []
    for number, solver in enumerate((SolverName.HIGHS, SolverName.CBC, SolverName.HIGHS)):
        path = write_csv(tmp_path / f"{number}.csv", matrix, None if number == 0 else number)
        read, _ = read_scores(path)
        pool = pool_of_matrix(read, config)
        out = tmp_path / str(number)
        _write_selection(out, pool, config, select_subset(pool, config, preferred=solver))
        assert check_selection(out) == ()
        result.append({name: (out / name).read_bytes() for name in FILES})
    assert result[0] == result[1] == result[2]


def test_out_of_order_pilots_change_the_designated_pairs_not_the_margins() -> None:
    matrix = drawn(90, 6)
    right = SelectionConfig(size=20, pilots=("m00", "m02", "m05"), drop_zero_discrimination=False)
    turned = right.model_copy(update={"pilots": ("m05", "m00", "m02")})
    assert chosen_of(matrix, right).chosen == chosen_of(matrix, turned).chosen
    pairs = {"objective": Objective.PAIRS}
    first, second = (chosen_of(matrix, c.model_copy(update=pairs)) for c in (right, turned))
    assert first.solution.objective is not None
    assert second.solution.objective is not None
    assert first.solution.objective > second.solution.objective


def test_ties_everywhere_still_give_one_answer() -> None:
    matrix = drawn(40, 4)
    tied = replace(matrix, scores=np.tile([1.0, 1.0, 0.0, 0.0], (40, 1)))
    answers = {chosen_of(tied, SelectionConfig(size=10), solver).chosen for solver in SolverName}
    assert len(answers) == 1
    other = chosen_of(tied, SelectionConfig(size=10, seed=1)).chosen
    assert other not in answers  # the keyed weights decide, and nothing else does


def test_fewer_than_families_is_a_blocker_only_where_they_must_be_covered() -> None:
    matrix = drawn(60, 6, n_families=12)
    selected = chosen_of(matrix, SelectionConfig(size=5))
    assert [blocker.code for blocker in selected.blockers] == [_BlockerCode.FEWER_THAN_FAMILIES]
    assert selected.blockers[0].short == 7
    assert selected.blockers[0].relaxation == "size = 12, or cover_families = false"
    free = chosen_of(matrix, SelectionConfig(size=5, cover_families=False))
    assert free.chosen is not None
    assert len(free.chosen) == 5


def test_items_that_tell_nothing_apart_are_dropped_unless_asked_for() -> None:
    matrix = drawn(30, 4, n_families=1)
    matrix.scores[:20] = 1.0
    strict = chosen_of(matrix, SelectionConfig(size=15))
    assert _BlockerCode.TOO_FEW_ELIGIBLE in [blocker.code for blocker in strict.blockers]
    loose = chosen_of(matrix, SelectionConfig(size=15, drop_zero_discrimination=False))
    assert loose.chosen is not None
    excluded = SelectionConfig(size=5, drop_zero_discrimination=False, must_exclude=("i0000",))
    assert "i0000" not in (chosen_of(matrix, excluded).chosen or ("i0000",))


def test_churn_and_clusters_join_the_quotas() -> None:
    matrix = drawn(80, 6)
    known = {
        item: PoolItem(item, family, cluster=f"c{n // 2}", in_last_release=n % 4 == 0)
        for n, (item, family) in enumerate(zip(matrix.items, matrix.families, strict=True))
    }
    config = SelectionConfig(size=20, max_changed=0.5)
    selected = select_subset(pool_of_matrix(matrix, config, known), config)
    assert selected.chosen is not None
    assert sum(not known[item].in_last_release for item in selected.chosen) <= 10
    assert len({known[item].cluster for item in selected.chosen}) == 20


def test_a_family_without_weight_still_gets_its_one_seat() -> None:
    config, matrix = SelectionConfig(size=20), drawn(90, 6)
    weights = {"f0": 1.0, "f1": 1.0, "f2": 0.0}
    pool = pool_of_matrix(matrix, config)
    for cover, seats in ((True, (10, 9, 1)), (False, (10, 10, 0))):
        requests = config.model_copy(update={"cover_families": cover})
        programme = select_subset(pool, requests, weights).programme
        quotas = {row.name: row.low for row in programme.rows if row.kind is RowKind.QUOTA}
        assert quotas == dict(zip(("quota f0", "quota f1", "quota f2"), seats, strict=True))


@pytest.mark.parametrize(
    ("pilots", "objective"),
    [(2, "covariance"), (12, "covariance"), (25, "covariance"), (26, "margins"), (214, "margins")],
)
def test_the_default_objective_follows_the_number_of_pilots(pilots: int, objective: str) -> None:
    assert resolved(Objective.BY_PILOTS, pilots) == objective
    assert resolved(Objective.BALANCED, pilots) is Objective.BALANCED


def test_few_pilots_get_the_covariance_and_a_warning_with_figures() -> None:
    pool = pool_of_matrix(drawn(60, 6), SelectionConfig(size=12))
    chosen = select_subset(pool, SelectionConfig(size=12))
    forced = select_subset(pool, SelectionConfig(size=12, objective=Objective.COVARIANCE))
    assert chosen.chosen == forced.chosen
    assert chosen.pilots == 6
    assert few_pilots(6).startswith("few pilots (6): on held-out models")
    assert few_pilots(0) == few_pilots(10) == ""


def test_a_correlation_over_few_pilots_counts_less_than_the_spread() -> None:
    """Of two pilots every item that varies correlates by 1 or -1: by chance, if they are near."""
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4], [1.0, 1.0]])
    gains = _shrunken_covariance(scores)
    assert gains[3] == 0
    assert gains[0] > gains[2] > 0
    assert gains[1] > 0  # it does not order the two as the rest does, and still says much
