"""What filings call their rows."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from construction.statements.model import Statements


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of a statement: its label as filed, and its series."""

    label: str
    series_id: str


def printed_rows(statements: Statements) -> dict[str, dict[tuple[int, int], Printed]]:
    """The rows of each English document, by number of the statement and line."""
    english = statements.companies.filter(pl.col("language") == "en").select("company_id")
    rows = statements.rows.join(english, on="company_id", how="semi")
    documents: dict[str, dict[tuple[int, int], Printed]] = {}
    columns = ("document", "report", "line", "label", "series_id")
    for document, report, line, label, series_id in rows.select(columns).iter_rows():
        if label and series_id:
            documents.setdefault(document, {})[report, line] = Printed(label, series_id)
    return documents
