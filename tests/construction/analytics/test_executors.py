"""Both executors against values computed by hand, and against each other on any rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from construction.analytics import steps as s
from construction.analytics.execute_duckdb import (
    Engine,
    SqlFailedError,
    _same_value,
    first_disagreement,
)
from construction.analytics.execute_polars import StepFailedError, run

FIRMS = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e"],
        "home": ["x", "x", "y", None, "z"],
        "sales": [10.0, None, 30.0, 70.0, 5.0],
        "year": [2020, 2020, 2020, 2020, 2021],
    }
)
HOMES = pl.DataFrame(
    {
        "home": ["x", "y", "z"],
        "people": [10, 20, 40],
        "text": ["The fee is 1,200 kronor a year.", "A fee of 3.5 per cent.", "No fee"],
    }
)


def both(*steps: dict[str, Any]) -> list[Any]:
    """The results of the steps, on which the executors agree."""
    program = s.program_of(list(steps))
    tables = {"firms": FIRMS, "homes": HOMES}
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.parquet" for name in tables}
        for name, frame in tables.items():
            frame.write_parquet(paths[name])
        other = Engine(paths).run(program)
    mine = run(program, tables)
    assert first_disagreement(mine, other) is None
    return mine


def value(*steps: dict[str, Any]) -> Any:
    return both(*steps)[-1]


JOINED = {
    "op": "join",
    "source": "firms",
    "other": "homes",
    "on": {"home": "home"},
    "take": ["people"],
}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("sum", 115.0),
        ("mean", 28.75),
        ("median", 20.0),
        ("min", 5.0),
        ("max", 70.0),
        ("count", 4),
        ("distinct", 4),
        ("std", 29.5451631128),
    ],
)
def test_statistics_leave_missing_cells_out(function: str, expected: float) -> None:
    step = {"op": "statistic", "source": "firms", "function": function, "column": "sales"}
    assert _same_value(round(value(step), 9), round(expected, 9)) or value(step) == pytest.approx(
        expected
    )


def test_a_join_keeps_what_has_a_partner_and_takes_its_columns() -> None:
    rows = value(JOINED)
    assert rows.select("id", "people").rows() == [("a", 10), ("b", 10), ("c", 20), ("e", 40)]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("times", [100.0, None, 600.0, 200.0]),
        ("over", [1.0, None, 1.5, 0.125]),
        ("minus", [0.0, None, 10.0, -35.0]),
        ("plus", [20.0, None, 50.0, 45.0]),
        ("percent_of", [100.0, None, 150.0, 12.5]),
        ("growth", [0.0, None, 50.0, -87.5]),
    ],
)
def test_columns_are_put_together(how: str, expected: list[float | None]) -> None:
    step = {
        "op": "convert",
        "source": "$1",
        "column": "made",
        "of": "sales",
        "how": how,
        "by": "people",
    }
    assert value(JOINED, step)["made"].to_list() == expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("greater", True),
        ("difference", 20.0),
        ("ratio", 3.0),
        ("product", 300.0),
        ("percent", 300.0),
        ("growth", 200.0),
    ],
)
def test_numbers_are_compared(result: str, expected: float | bool) -> None:
    looked_up = [
        {
            "op": "lookup",
            "source": "firms",
            "column": "sales",
            "where": [{"column": "id", "value": name}],
        }
        for name in ("c", "a")
    ]
    step = {"op": "compare", "first": "$1", "second": "$2", "result": result}
    assert value(*looked_up, step) == expected


def test_ranks_scores_correlations_and_what_ifs() -> None:
    ranked = both({"op": "rank", "source": "firms", "column": "sales", "label": "id", "take": 2})
    assert ranked[0].select("id", "rank").rows() == [("d", 1), ("c", 2)]
    criteria = [
        {"column": "people", "weight": 2},
        {"column": "people", "weight": 1, "how": "points", "at": 20},
        {"column": "people", "weight": 3, "reverse": True},
    ]
    scored = value({"op": "score", "source": "homes", "criteria": criteria})
    assert scored["score"].to_list() == pytest.approx([3.0, 2 / 3 + 1 + 2, 3.0])
    pair = {"source": "$1", "x": "sales", "y": "people"}
    spearman = {"op": "correlate", "method": "spearman", **pair}
    assert value(JOINED, spearman) == pytest.approx(-0.5)
    assert value(JOINED, {"op": "regress", **pair}) == pytest.approx(-150 / 350)
    changed = {
        "op": "what_if",
        "source": "firms",
        "column": "sales",
        "percent": -10,
        "where": [{"column": "home", "value": "x"}],
    }
    assert value(changed)["sales"].to_list() == [9.0, None, 30.0, 70.0, 5.0]


FEE = {"document": "x", "says": "The fee is 1,200 kronor"}


def clause(*where: dict[str, Any], rate: float | None = None, **quote: str) -> dict[str, Any]:
    return {"quotes": [{**FEE, **quote}], "where": list(where), "rate": rate}


def policy(*clauses: dict[str, Any]) -> dict[str, Any]:
    return {"op": "policy", "source": "firms", "texts": "homes", "key": "home", "clauses": clauses}


def test_of_the_clauses_of_a_policy_the_last_that_fits_decides() -> None:
    home = {"column": "home", "value": "x"}
    large = {"column": "sales", "test": "<", "value": 1200}
    first = value(policy(clause(rate=1.0)))
    assert first.height == FIRMS.height
    assert set(first["rate"]) == {1.0}
    # A figure that is missing meets no condition.
    known = value(policy(clause(large, rate=1.0)))
    assert known["sales"].null_count() == 0
    others = value(policy(clause(rate=1.0), clause(home), clause(home, large, rate=1200.0)))
    rates = dict(zip(others["id"], others["rate"], strict=True))
    rows = FIRMS.filter((pl.col("home") == "x") & pl.col("sales").is_not_null())
    assert {rates[name] for name in rows["id"]} == {1200.0}
    left_out = FIRMS.filter((pl.col("home") == "x") & pl.col("sales").is_null())["id"]
    assert not set(left_out) & set(rates)


def test_a_clause_cannot_state_what_its_quotes_do_not_say() -> None:
    less = {"column": "sales", "test": "<", "value": 1300}
    with pytest.raises(ValidationError, match="found no 1300 in the words that are quoted"):
        s.program_of([policy(clause(less))])
    assert {1.5, 1_500_000.0} <= s._numbers_said("more than 1.5 million people")
    assert 7.0 in s._numbers_said("within seven days")


def test_counts_of_policies() -> None:
    counted = {"op": "policy_count", "source": "homes", "column": "text", "terms": ["fee of", "is"]}
    assert value(counted) == 2
    grouped = value({**counted, "terms": ["fee"], "by": "home"})
    assert grouped.rows() == [("x", 1), ("y", 1), ("z", 1)]


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ({"op": "lookup", "source": "firms", "column": "sales"}, "several rows"),
        (
            {
                "op": "lookup",
                "source": "firms",
                "column": "sales",
                "where": [{"column": "id", "value": "b"}],
            },
            "missing cell",
        ),
        (
            {
                "op": "lookup",
                "source": "firms",
                "column": "sales",
                "where": [{"column": "id", "value": "?"}],
            },
            "no row",
        ),
        (
            policy(clause(rate=1.0, says="The fee is 1,300 kronor")),
            "the words of a clause do not stand in its document",
        ),
        ({"op": "compare", "first": 1, "second": 0, "result": "ratio"}, "no finite number"),
    ],
)
def test_a_step_without_a_result_fails_in_both(step: dict[str, Any], why: str) -> None:
    program = s.program_of([step])
    tables = {"firms": FIRMS, "homes": HOMES}
    with pytest.raises(StepFailedError, match=why):
        run(program, tables)
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.parquet" for name in tables}
        for name, frame in tables.items():
            frame.write_parquet(paths[name])
        with pytest.raises(SqlFailedError):
            Engine(paths).run(program)


def test_a_hostile_text_is_a_text() -> None:
    hostile = "x' OR '1'='1"
    step = {
        "op": "statistic",
        "source": "firms",
        "function": "count",
        "column": "id",
        "where": [{"column": "home", "value": hostile}],
    }
    assert value(step) == 0


_CELL = st.one_of(st.none(), st.integers(-50, 50).map(float))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("xyz"), _CELL, _CELL), min_size=4, max_size=12))
def test_executors_agree_on_any_rows(rows: list[tuple[str, float | None, float | None]]) -> None:
    schema = {"g": pl.String, "u": pl.Float64, "v": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    program = s.program_of(
        [
            {
                "op": "convert",
                "source": "t",
                "column": "w",
                "of": "u",
                "how": "percent_of",
                "by": "v",
            },
            {
                "op": "aggregate",
                "source": "$1",
                "by": ["g"],
                "measures": {"m": ["median", "w"], "n": ["count", "u"], "s": ["sum", "v"]},
            },
            {"op": "rank", "source": "$2", "column": "n", "label": "g", "take": 2},
            {
                "op": "score",
                "source": "$2",
                "criteria": [{"column": "s", "weight": 1}, {"column": "n", "weight": 2}],
            },
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        frame.write_parquet(path)
        assert (
            first_disagreement(run(program, {"t": frame}), Engine({"t": path}).run(program)) is None
        )


def test_a_join_that_would_not_fit_into_memory_is_not_tried() -> None:
    rows = pl.DataFrame({"k": ["x"] * 2_000, "a": range(2_000)})
    tables = {"left": rows, "right": rows.rename({"a": "b"})}
    program = s.program_of(
        [{"op": "join", "source": "left", "other": "right", "on": {"k": "k"}, "take": ["b"]}]
    )
    with pytest.raises(StepFailedError, match="step 1: more rows than a join may have"):
        run(program, tables)
    few = {**tables, "right": tables["right"].head(3)}
    (joined,) = run(program, few)
    assert isinstance(joined, pl.DataFrame)
    assert joined.height == 6_000
