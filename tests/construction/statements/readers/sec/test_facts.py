"""Units as filed to units of the model."""

from __future__ import annotations

import pytest

from construction.statements.readers.sec.contracts import SecReason
from construction.statements.readers.sec.facts import unit_of


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
