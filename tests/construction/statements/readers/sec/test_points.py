"""Facts in the units of the model, and which of several becomes the point."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.statements.readers.sec.contracts import SecReason
from construction.statements.readers.sec.points import _unit_of
from construction.statements.readers.sec.read import read_sec
from tests.construction.statements.readers.sec.test_read import facts, read
from tests.construction.statements.readers.sec.written import FIRST, SECOND, THIRD, DataSet


@pytest.mark.parametrize(
    ("uom", "datatype", "unit"),
    [
        ("USD", "monetary", "USD"),
        ("usd", None, "USD"),
        ("RMB", "monetary", "CNY"),
        ("USD", "perShare", "USD/share"),
        ("USD", "perUnit", "USD/share"),
        ("USDPS", "perShare", "USD/share"),
        ("USD/shares", "perShare", "USD/share"),
        ("JPYPerShare", None, "JPY/share"),
        ("EUR / share", "perShare", "EUR/share"),
        ("CAD-per-shares", None, "CAD/share"),
        ("shares", "shares", "shares"),
        ("shares", "positiveInteger", "shares"),
        ("pure", "percent", "ratio"),
        ("pure", None, "ratio"),
        ("pure", "integer", "count"),
        ("Stores", "integer", "count"),
        ("properties", None, "count"),
        ("numberOfSites", None, "count"),
        ("widget", "integer", "count"),
        ("USD", "decimal", "USD"),
        ("pure", "perShare", SecReason.UNIT_MISMATCH),
        ("shares", "perShare", SecReason.UNIT_MISMATCH),
        ("USD", "percent", SecReason.UNIT_MISMATCH),
        ("shares", "monetary", SecReason.UNIT_MISMATCH),
        ("shares/USD", "perShare", SecReason.UNIT_UNKNOWN),
        ("MWh", None, "MWh"),
        ("furlongs/hour", None, SecReason.UNIT_UNKNOWN),
        ("ABC", "monetary", SecReason.UNIT_UNKNOWN),
        ("ABCPS", "perShare", SecReason.UNIT_UNKNOWN),
        ("", "monetary", SecReason.UNIT_UNKNOWN),
        (None, None, SecReason.UNIT_UNKNOWN),
    ],
)
def test_units(uom: str | None, datatype: str | None, unit: str) -> None:
    assert _unit_of(uom, datatype) == unit


@pytest.mark.parametrize(
    ("tag", "unit"),
    [
        ("EarningsPerSharesCommonShares", "USD/share"),
        ("DistributionPerUnitAmount", "USD/share"),
        ("OtherSharesAmount", "USD"),
    ],
)
def test_own_tags_per_share_are_in_currency_per_share(tmp_path: Path, tag: str, unit: str) -> None:
    own = {"tag": tag, "version": FIRST}
    data = DataSet(tag=({**own, "datatype": "monetary"},), num=(own,), pre=(own,))
    result = read_sec([data.zip(tmp_path / "a.zip")])
    assert result.series["unit"].to_list() == [unit]


def test_the_last_filing_wins_and_the_history_is_kept(tmp_path: Path) -> None:
    sub = [
        {"adsh": FIRST, "filed": "20100507"},
        {"adsh": SECOND, "filed": "20100514", "form": "10-Q/A"},
        {"adsh": THIRD, "filed": "20100810"},
    ]
    num = [
        {"adsh": FIRST, "value": "1.0000"},
        {"adsh": SECOND, "value": "2.0000"},
        {"adsh": THIRD, "value": "2.0000"},
    ]
    result = read(tmp_path, DataSet(sub=sub, num=num))
    assert result.points.select("value", "document", "restatements").rows() == [("2", THIRD, 1)]
    assert result.history.select("value", "document").rows() == [("1", FIRST)]
    assert result.history["replaced_by"].to_list() == result.points["point_id"].to_list()
    assert facts(result) == {None: 1, SecReason.RESTATED: 1, SecReason.FILED_AGAIN: 1}


def test_a_superseded_filing_is_history_at_most(tmp_path: Path) -> None:
    sub = [
        {"adsh": FIRST, "prevrpt": "1"},
        {"adsh": SECOND, "filed": "20100514", "form": "10-Q/A"},
    ]
    num = [
        {"adsh": FIRST, "value": "1"},
        {"adsh": SECOND, "value": "2"},
        {"adsh": FIRST, "value": "3", "ddate": "20091231"},
    ]
    pre = [{"adsh": FIRST}, {"adsh": SECOND}]
    result = read(tmp_path, DataSet(sub=sub, num=num, pre=pre))
    assert result.points.select("value", "restatements").rows() == [("2", 1)]
    assert result.history["value"].to_list() == ["1"]
    assert result.rows["document"].to_list() == [SECOND]
    assert facts(result) == {None: 1, SecReason.RESTATED: 1, SecReason.SUPERSEDED: 1}
    filings = {row.item_id: row.reason for row in result.ledger if row.unit == "filing"}
    assert filings == {FIRST: SecReason.SUPERSEDED, SECOND: None}


def test_a_superseded_filing_does_not_unseat_an_older_one_that_stands(tmp_path: Path) -> None:
    sub = [{"adsh": FIRST}, {"adsh": SECOND, "filed": "20100514", "prevrpt": "1"}]
    num = [{"adsh": FIRST, "value": "1"}, {"adsh": SECOND, "value": "1"}]
    result = read(tmp_path, DataSet(sub=sub, num=num))
    assert result.points.select("value", "document").rows() == [("1", FIRST)]
    assert facts(result) == {None: 1, SecReason.SUPERSEDED: 1}


def test_a_fact_given_twice_counts_once_and_a_contradicted_one_not_at_all(tmp_path: Path) -> None:
    num = [
        {"value": "1.0"},
        {"value": "1.00"},
        {"value": "1", "ddate": "20090331"},
        {"value": "2", "ddate": "20090331"},
        {"value": "2", "ddate": "20090331"},
    ]
    result = read(tmp_path, DataSet(num=num))
    assert result.points["value"].to_list() == ["1"]
    assert facts(result) == {None: 1, SecReason.DUPLICATE: 1, SecReason.CONFLICT: 3}


def test_a_filing_given_by_two_data_sets_counts_once(tmp_path: Path) -> None:
    item, two = DataSet().zip(tmp_path / "a.zip"), DataSet().zip(tmp_path / "b.zip")
    result = read_sec([item, two])
    assert result.points.equals(read_sec([item]).points)
    assert facts(result) == {None: 1, SecReason.DUPLICATE: 1}
    assert [row.reason for row in result.ledger if row.unit == "filing"] == [
        None,
        SecReason.DUPLICATE_FILING,
    ]
