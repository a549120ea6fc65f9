"""The rejections of a page as files: CSV that no spreadsheet runs, and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from data.audit_page.columns import FIELDS, cell
from data.canonical import pretty_json
from data.snapshot.neutralise import csv_cell

_WORDS = frozenset({"stage", "unit", "outcome", "gate", "reason", "path"})


def rows(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One record per rejection, words spelled out; null for what is empty."""
    table, words, ids = columns["rejections"], columns["words"], columns["ids"]
    for place in range(n_rows(columns)):
        record = {name: cell(table[name], place) for name in FIELDS}
        record["id"] = ids[record["id"]]
        for name in _WORDS:
            record[name] = words[record[name]] or None
        yield record


def n_rows(columns: Mapping[str, Any]) -> int:
    """How many rejections the columns hold."""
    return int(columns["about"]["n_rows"])


def as_csv(columns: Mapping[str, Any]) -> str:
    """All rejections as CSV with a header; cells that look like formulas get an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(FIELDS)
    for record in rows(columns):
        writer.writerow([csv_cell(record[name]) for name in FIELDS])
    return text.getvalue()


def as_json(columns: Mapping[str, Any]) -> bytes:
    """Facts of the run and all rejections as JSON."""
    return pretty_json({"about": columns["about"], "rejections": list(rows(columns))})
