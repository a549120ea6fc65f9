"""The SEC's companyfacts: alone, beside a data set of the same filing, and broken."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from construction.statements.model import Statements
from construction.statements.readers.sec.read import read_sec
from data.errors import InputError
from tests.construction.statements.readers.sec.written import FIRST, SECOND, DataSet

_YEAR = {"start": "2009-04-05", "end": "2010-04-03", "fy": 2009, "fp": "FY", "form": "10-K"}


def write(folder: Path, facts: dict[str, dict[str, list[dict[str, Any]]]], cik: int = 42) -> Path:
    """A file with these facts by tag and unit."""
    concepts = {
        tag: {"label": f"{tag} label", "description": "", "units": units}
        for tag, units in facts.items()
    }
    path = folder / f"CIK{cik:010}.json"
    record = {"cik": cik, "entityName": "ACME CORP", "facts": {"us-gaap": concepts}}
    path.write_bytes(orjson.dumps(record))
    return path


def fact(
    value: object, adsh: str = SECOND, filed: str = "2010-05-20", **more: Any
) -> dict[str, Any]:
    return _YEAR | {"val": value, "accn": adsh, "filed": filed} | more


def reasons(statements: Statements, unit: str = "fact") -> dict[str, int]:
    rows = [row for row in statements.ledger if row.unit == unit and row.reason]
    return {str(row.reason): row.n for row in rows}


def test_a_year_of_weeks_has_its_true_day(tmp_path: Path) -> None:
    facts = {
        "Revenues": {
            "USD": [fact(5_000_000), fact("4100000.50", end="2009-04-04", start="2008-03-30")]
        },
        "EarningsPerShareBasic": {"USD/shares": [fact(1.25)]},
        "Assets": {"USD": [fact(900, start=None)]},
        "SomeNote": {"USD": [fact(3)]},
    }
    statements = read_sec([write(tmp_path, facts)])
    about = statements.series.select("series_id", "concept", "statement", "unit")
    record = statements.points.join(about, on="series_id")
    rows = record.sort("concept", "period_end").select(
        "concept", "statement", "unit", "value", "period_end", "months", "auto_generated"
    )
    year = date(2010, 3, 31)
    assert rows.rows() == [
        ("Assets", "Balance sheet", "USD", "900", date(2010, 3, 31), 0, False),
        ("EarningsPerShareBasic", "Income statement", "USD/share", "1.25", year, 12, False),
        ("Revenues", "Income statement", "USD", "4100000.5", date(2009, 3, 31), 12, False),
        ("Revenues", "Income statement", "USD", "5000000", date(2010, 3, 31), 12, False),
        ("SomeNote", "Other", "USD", "3", date(2010, 3, 31), 12, True),
    ]  # fmt: skip
    assert statements.companies["fiscal_year_end"].to_list() == ["03-31"]
    closed = statements.closings.sort("period_end").select("closed", "evidence").rows()
    assert closed == [(date(2009, 4, 4), "companyfacts"), (date(2010, 4, 3), "companyfacts")]
    assert statements.conventions["days"].to_list() == ["rounded"]


def test_a_filing_that_a_data_set_shows_too_counts_once(tmp_path: Path) -> None:
    quarter = {"start": "2010-01-01", "end": "2010-03-31", "fp": "Q1", "form": "10-Q"}
    facts = {
        "Revenues": {"USD": [fact(1234, FIRST, "2010-05-07", **quarter)]},
        "Goodwill": {"USD": [fact(7, FIRST, "2010-05-07", **quarter | {"start": None})]},
    }
    data = DataSet().zip(tmp_path / "2010q2.zip")
    statements = read_sec([data, write(tmp_path, facts)])
    assert statements.companies.height == 1
    assert reasons(statements) == {"sec.duplicate": 1}
    assert reasons(statements, "filing") == {"sec.duplicate_filing": 1}
    values: dict[str, bool] = dict(statements.points.select("value", "auto_generated").iter_rows())
    assert values == {"1234": False, "7": True}  # the note is in no statement of the filing
    assert statements.rows.height == 1
    assert statements.rows["label"].to_list() == ["Total revenues"]


def test_a_later_filing_restates(tmp_path: Path) -> None:
    facts = {"Revenues": {"USD": [fact(5, FIRST, "2010-05-07"), fact(6, SECOND, "2011-05-07")]}}
    statements = read_sec([write(tmp_path, facts)])
    assert statements.points["value"].to_list() == ["6"]
    assert statements.history["value"].to_list() == ["5"]


def test_odd_facts_have_reasons(tmp_path: Path) -> None:
    odd = [
        fact(None),
        fact("x", start="2008-04-05", end="2009-04-03"),
        fact(1, end="no day"),
        fact(2, start="2009-12-01"),  # 4 months
    ]
    statements = read_sec([write(tmp_path, {"Revenues": {"USD": odd}})])
    assert statements.points.is_empty()
    assert reasons(statements) == {"sec.bad_period": 2, "sec.bad_value": 1, "sec.no_value": 1}


def test_files_that_are_none(tmp_path: Path) -> None:
    good = write(tmp_path, {"Revenues": {"USD": [fact(5)]}})
    (tmp_path / "CIK0000000007.json").write_text('{"cik": 7}')
    (tmp_path / "CIK0000000008.json").write_text("[" * 100_000)
    statements = read_sec([tmp_path])
    assert reasons(statements, "file") == {"sec.no_columns": 1, "sec.unreadable": 1}
    assert statements.points.height == 1
    good.unlink()
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="companyfacts"):
        read_sec([tmp_path / "none"])


def test_names_of_filings_and_days_do_not_depend_on_order(tmp_path: Path) -> None:
    first = write(tmp_path, {"Revenues": {"USD": [fact(5)]}})
    second = write(tmp_path, {"Revenues": {"USD": [fact(6, FIRST)]}}, cik=43)
    entry, other = read_sec([first, second]), read_sec([second, first])
    assert entry.points.equals(other.points)
    assert entry.closings.equals(other.closings)
    assert set(entry.points["value"]) == {"5", "6"}
    assert pl.Series(entry.companies["company_id"]).to_list() == ["sec:42", "sec:43"]
