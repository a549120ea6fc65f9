"""Hostile names and labels become plain text; what filings write stays."""

from __future__ import annotations

import polars as pl
import pytest

from construction.statements.model import SEPARATOR, TABLES, Statements, plain_texts


def statements(label: str, name: str) -> Statements:
    frames = {table.name: pl.DataFrame(schema=table.schema) for table in TABLES}
    frames["companies"] = pl.DataFrame(
        [{"company_id": "sec:1", "name": name}], schema=frames["companies"].schema
    )
    frames["series"] = pl.DataFrame(
        [{"series_id": "s", "name": f"Balance sheet{SEPARATOR}{label}", "label": label}],
        schema=frames["series"].schema,
    )
    frames["rows"] = pl.DataFrame([{"line": 1, "label": label}], schema=frames["rows"].schema)
    return Statements(
        companies=frames["companies"],
        series=frames["series"],
        points=frames["points"],
        history=frames["history"],
        rows=frames["rows"],
    )


@pytest.mark.parametrize(
    ("hostile", "plain"),
    [
        ("\x1b[31mCash\x1b[0m", "Cash"),
        ("Cash<script>alert(1)</script>", "Cash alert(1)"),
        ("[Cash](http://evil.example/x) held", "Cash held"),
        ("Ca\u202esh\x00 and\nmore", "Ca sh and more"),
        ("Net income (loss) < 5 % | 'A' & B", "Net income (loss) < 5 % | 'A' & B"),
        ("１株当たり純資産額", "１株当たり純資産額"),
    ],
)
def test_labels_and_names(hostile: str, plain: str) -> None:
    told = plain_texts(statements(hostile, hostile))
    assert told.companies["name"][0] == plain
    assert told.series["label"][0] == told.rows["label"][0] == plain
    assert told.series["name"][0] == f"Balance sheet{SEPARATOR}{plain}"
