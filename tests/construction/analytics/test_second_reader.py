"""That golds of planted policies follow from the papers alone, which are read a second time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import polars as pl
import pytest

from construction.analytics.environment.declaration import Declaration, PolicyText
from construction.analytics.environment.planted import planted_policies
from construction.analytics.execute_polars import run
from construction.analytics.steps import program_of
from tests.construction.analytics import test_roles as cooperatives
from tests.construction.analytics import world
from tests.construction.analytics.second_reader import OPEN, Decision, Reader, decision

WORLDS = [("cooperatives", 4), ("demo", 0), ("demo", 2)]


def environment(own: str) -> tuple[Declaration, Mapping[str, pl.DataFrame]]:
    """The demo's declaration and tables, or those of the cooperatives."""
    if own == "demo":
        return world.declaration(), world.bench().tables
    plain = cooperatives.declaration()
    return plain, cooperatives.tables(plain)


@lru_cache
def planted(own: str, seed: int) -> tuple[Reader, list[PolicyText], pl.DataFrame]:
    """A reader of papers, the policies that were planted, and entities to apply both to."""
    plain, tables = environment(own)
    texts, drafted, _ = planted_policies(plain, tables, 5, seed)
    policies = [PolicyText.model_validate(each) for each in drafted]
    entities, places = plain.roles["entities"], plain.roles["places"]
    rows = tables[entities.table].join(
        tables[places.table], left_on=entities.place, right_on=places.place, how="left"
    )
    values = [rows[c].drop_nulls().unique().to_list() for c in (entities.kind, entities.place)]
    return Reader(plain, texts, *values), policies, at_the_edges(rows, policies)


def at_the_edges(rows: pl.DataFrame, policies: Sequence[PolicyText]) -> pl.DataFrame:
    """The rows, and some of them with a figure that equals a limit, or with none."""
    where = [c for each in policies for clause in each.clauses for c in clause.where]
    edges: set[tuple[str, float | None]] = {
        (c.column, c.value) for c in where if isinstance(c.value, float | int)
    }
    edges |= {(column, None) for column, _ in edges}
    changed = [
        rows.sample(20, seed=at).with_columns(pl.lit(value, rows[column].dtype).alias(column))
        for at, (column, value) in enumerate(sorted(edges, key=str))
    ]
    return pl.concat([rows, *changed]).with_row_index("row")


def planned(reader: Reader, policy: PolicyText, period: int, rows: pl.DataFrame) -> list[Decision]:
    """What the clauses that golds are made from come to, by row."""
    papers = pl.DataFrame({"doc_id": list(reader.texts), "text": list(reader.texts.values())})
    made: dict[int, Decision] = {}
    for is_open in (False, True):
        clauses = policy.in_force(period, is_open=is_open)
        step = {"op": "policy", "source": "rows", "texts": "papers", "clauses": clauses}
        (covered,) = run(program_of([step]), {"rows": rows, "papers": papers})
        assert isinstance(covered, pl.DataFrame)
        assert made.keys().isdisjoint(covered["row"])
        made |= {row: OPEN if is_open else rate for row, rate in covered["row", "rate"].rows()}
    return [made.get(row) for row in rows["row"]]


@pytest.mark.parametrize(("own", "seed"), WORLDS)
def test_a_second_reader_comes_to_the_same_from_the_papers_alone(own: str, seed: int) -> None:
    reader, policies, rows = planted(own, seed)
    assert reader.unclear == []
    seen: set[Decision] = set()
    for policy in policies:
        for period in rows[reader.declaration.roles["entities"].period].unique():
            rules = reader.rules(policy.name.partition("_")[0], period)
            read = [decision(rules, row) for row in rows.iter_rows(named=True)]
            plan = planned(reader, policy, period, rows)
            wrong = [at for at, decided in enumerate(plan) if decided != read[at]]
            assert wrong == [], (policy.name, period, len(wrong))
            seen.update(plan)
    assert {OPEN, None, 1.0} < seen


@pytest.mark.parametrize(("own", "seed"), WORLDS[1:])  # a small world has no such letter
def test_a_circular_that_repeals_what_the_board_resolved_changes_nothing(
    own: str, seed: int
) -> None:
    reader, policies, rows = planted(own, seed)
    periods = rows[reader.declaration.roles["entities"].period].unique().to_list()
    changed = [(said, of) for of, changes in reader.changes.items() for said in changes]
    pairs = [(said, of) for said, of in changed if said.rank < of.rank]
    assert pairs
    n = 0
    for said, resolved in pairs:
        assert (said.rank, resolved.rank) == (1, 2)
        for policy in policies:
            for period in (each for each in periods if each >= reader.since(said)):
                stands, obeyed = (
                    any(q["says"] == resolved.sentence for c in clauses for q in c["quotes"])
                    for clauses in (policy.in_force(period), policy.in_force(period, "ranks"))
                )
                on = reader.is_for(resolved, policy.name.partition("_")[0], period)
                assert (stands, obeyed) == (on, False)
                n += on
    assert n
