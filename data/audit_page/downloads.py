"""The rejections of a page as files: CSV that no spreadsheet runs, and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from typing import Any

from data.audit_page.columns import FIELDS, WORDS
from data.canonical import pretty_json
from data.neutralise import csv_cell


def as_csv(columns: Mapping[str, Any]) -> str:
    """All rejections as CSV with a header; cells that look like formulas get an apostrophe."""
    shown = cache(csv_cell)  # most cells repeat
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(FIELDS)
    writer.writerows(zip(*(map(shown, values) for values in _rows(columns)), strict=True))
    return text.getvalue()


def as_json(columns: Mapping[str, Any]) -> bytes:
    """Facts of the run and all rejections as JSON."""
    rows = [dict(zip(FIELDS, row, strict=True)) for row in zip(*_rows(columns), strict=True)]
    return pretty_json({"about": columns["about"], "rejections": rows})


def _rows(columns: Mapping[str, Any]) -> list[list[Any]]:
    """The values of each field, a place per rejection, words spelled out; null for empty ones."""
    table, words, ids = columns["rejections"], columns["words"], columns["ids"]
    columns_by_name = {name: _spread(table[name], columns["about"]["n_rows"]) for name in FIELDS}
    columns_by_name["id"] = [ids[place] for place in columns_by_name["id"]]
    for name in WORDS:
        columns_by_name[name] = [words[place] or None for place in columns_by_name[name]]
    return [columns_by_name[name] for name in FIELDS]


def _spread(values: list[Any] | dict[str, Any], n: int) -> list[Any]:
    return [values["same"]] * n if isinstance(values, dict) else values
