"""People who are alone with the columns that leave as they are: a limit of the gate."""

from __future__ import annotations

import polars as pl
import pytest

from anonymization.tables.attacks.linked import Risk
from anonymization.tables.attacks.report import attack
from anonymization.tables.config import (
    AttackConfig,
    ColumnConfig,
    ColumnRole,
    RiskLimits,
    TableConfig,
    UtilityLimits,
)
from anonymization.tables.privacy_report import judge
from data.contracts import Status

ROWS = 40


def _frame() -> pl.DataFrame:
    """Forty rows; the first thirty are alone with their site and year of birth."""
    return pl.DataFrame(
        {
            "staff": [f"s{row}" for row in range(ROWS)],
            "site": ["north" if row < 30 else "south" for row in range(ROWS)],
            "birth_year": [1960 + row if row < 30 else 1990 for row in range(ROWS)],
            "pay": [30_000.0 + 17 * row for row in range(ROWS)],
        }
    )


def _config(name: str = "birth_year", people: bool | None = None) -> TableConfig:
    quasi = ColumnConfig(role=ColumnRole.QUASI_IDENTIFIER)
    return TableConfig(
        columns={
            "staff": ColumnConfig(role=ColumnRole.IDENTIFIER),
            "site": quasi,
            name: quasi,
            "pay": ColumnConfig(role=ColumnRole.MEASURE),
        },
        entity="staff",
        people=people,
    )


def test_the_share_of_unique_people_is_named_and_refused() -> None:
    frame = _frame()
    moved = frame.with_columns(pl.col("pay").reverse())
    report = attack(frame, moved, _config(), AttackConfig(assignment=False))
    unique = report.worst(Risk.UNIQUE_PERSON, 3)
    assert unique is not None
    assert (unique.hits, unique.rate) == (30, 0.75)
    assert unique.name == "the kept birth_year, site"
    verdict = judge(report, RiskLimits(whole_industry=1), UtilityLimits(), ())
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.75)
    assert verdict.measures["worst"] == "unique person"
    accepted = RiskLimits(whole_industry=1, unique_person=1, one_company=1, largest=1)
    assert judge(report, accepted, UtilityLimits(), ()).status is not Status.FAILED


@pytest.mark.parametrize(
    ("name", "people", "is_people"),
    [
        ("gender", None, True),
        ("Age", None, True),
        ("生年月日", None, True),
        ("industry", None, False),
        ("package", None, False),
        ("industry", True, True),
        ("gender", False, False),
    ],
)
def test_rows_are_people_by_declaration_or_by_a_column(
    name: str, people: bool | None, is_people: bool
) -> None:
    assert _config(name, people).of_people is is_people
