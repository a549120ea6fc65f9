"""The taxonomy of wrong answers, computed against tables."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import polars as pl
import pytest

from construction.grading.retrieval_tables import _error_of, _first_query, _RetrievalError
from construction.grading.spec import AnswerSpec, StepSpec, TaskSpec
from construction.statements.model import COMPANIES, POINTS, SERIES
from construction.statements.tools.database import Database, index_database
from data.contracts.attempt import Call, Submission

END = dt.date(2024, 12, 31)
ANSWER = AnswerSpec("value", "number", "1200", unit="USD", scale=1000, decimals=0)
STEPS = (
    StepSpec(1, "find", "discover_company_series", {"company_id": "c:1", "query": "Revenue"}),
    StepSpec(2, "read", "get_company_fundamentals", {"company_id": "c:1", "series_id": "c:1/R"}),
    StepSpec(3, "give", "present", {"period_end": "2024-12-31", "months": 12}),
)
SPEC = TaskSpec("t", answers=(ANSWER,), steps=STEPS)


def row(columns: Any, **values: Any) -> dict[str, Any]:
    return dict.fromkeys(columns) | values


@pytest.fixture(scope="module")
def database() -> Database:
    series = [("c:1/R", "c:1", "Revenue"), ("c:1/C", "c:1", "Costs"), ("c:2/R", "c:2", "Revenue")]
    points = [
        ("c:1/R", "c:1", "1200000", END), ("c:1/R", "c:1", "1150000", dt.date(2023, 12, 31)),
        ("c:1/C", "c:1", "800000", END), ("c:2/R", "c:2", "5000000", END),
    ]  # fmt: skip
    frames = (
        (COMPANIES, [row(COMPANIES.schema, company_id=name, name=name) for name in ("c:1", "c:2")]),
        (
            SERIES,
            [
                row(SERIES.schema, series_id=one, company_id=company, name=label, label=label)
                for one, company, label in series
            ],
        ),
        (
            POINTS,
            [
                row(POINTS.schema, point_id=f"p{at}", series_id=one, company_id=company,
                    value=value, period_end=end, months=12)
                for at, (one, company, value, end) in enumerate(points)
            ],
        ),
    )  # fmt: skip
    made = [pl.DataFrame(rows, schema=table.schema, strict=False) for table, rows in frames]
    return index_database(*made)


SEEN = Call("1", 1, "discover_company_series", {"company_id": "c:1"}, json.dumps({"s": "c:1/R"}))
MISSED = Call("1", 1, "discover_company_series", {"company_id": "c:1"}, "{}")


@pytest.mark.parametrize(
    ("reading", "error"),
    [
        (None, _RetrievalError.GAVE_UP),
        ("-1200000 USD", _RetrievalError.SIGN),
        ("1200 USD", _RetrievalError.SCALE),
        ("1150000 USD", _RetrievalError.PERIOD),
        ("800000 USD", _RetrievalError.SERIES),
        ("5000000 USD", _RetrievalError.COMPANY),
        ("1200400 USD", _RetrievalError.ROUNDING),
        ("777 USD", _RetrievalError.OTHER),
    ],
)
def test_a_wrong_value_is_named_by_where_it_stands(
    database: Database, reading: str | None, error: _RetrievalError
) -> None:
    assert _error_of(SPEC, Submission(calls=(SEEN,)), reading, database) is error


def test_a_value_from_nowhere_is_a_matter_of_search_where_the_series_never_came(
    database: Database,
) -> None:
    assert (
        _error_of(SPEC, Submission(calls=(MISSED,)), "777 USD", database) is _RetrievalError.SEARCH
    )
    assert _error_of(SPEC, Submission(calls=(SEEN,)), "777 USD", None) is _RetrievalError.OTHER


def test_the_first_search_counts() -> None:
    assert _first_query(SPEC, Submission(calls=(SEEN, MISSED))) is True
    assert _first_query(SPEC, Submission(calls=(MISSED, SEEN))) is False
    assert _first_query(SPEC, Submission()) is None
    read = Call("1", 1, "get_company_fundamentals", {"series_id": "c:1/R"}, "{}")
    assert _first_query(SPEC, Submission(calls=(read,))) is True
    assert _first_query(TaskSpec("t", answers=(ANSWER,)), Submission(calls=(SEEN,))) is None
