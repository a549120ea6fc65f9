"""Units as filed to units of the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.statements.readers.sec.contracts import SecReason
from construction.statements.readers.sec.facts import unit_of
from construction.statements.readers.sec.read import read_sec
from tests.construction.statements.readers.sec.written import FIRST, DataSet


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
        ("MWh", None, SecReason.UNIT_UNKNOWN),
        ("ABC", "monetary", SecReason.UNIT_UNKNOWN),
        ("ABCPS", "perShare", SecReason.UNIT_UNKNOWN),
        ("", "monetary", SecReason.UNIT_UNKNOWN),
        (None, None, SecReason.UNIT_UNKNOWN),
    ],
)
def test_units(uom: str | None, datatype: str | None, unit: str) -> None:
    assert unit_of(uom, datatype) == unit


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
