"""The companies that report in full to EDINET, as a table to be anonymized."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl

from anonymization.tables.config import TableConfig
from benchmarks.anonymization_tables import PUBLISHED

SMALL = 9  # companies of a small industry, at most
_CODE, _NAME = "edinet_code", "name"
_SUMMARY = {
    "revenue": "売上高",
    "ordinary_income": "経常利益",
    "net_income": "親会社株主に帰属する当期純利益",
    "net_assets": "純資産額",
    "total_assets": "総資産額",
    "cash": "現金及び現金同等物の残高",
    "employees": "従業員数",
}
_ANNUAL = "有価証券報告書"


def full_reports(folder: Path) -> pl.DataFrame:
    """The annual reports of the 302 companies, with the industries of EDINET's list of codes."""
    listed = (folder / "EdinetcodeDlInfo.csv").read_text("cp932").splitlines()[1:]
    industries = {row["ＥＤＩＮＥＴコード"]: row["提出者業種"] for row in csv.DictReader(listed)}
    rows = []
    with gzip.open(folder / "edinet_summaries_302.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            company = json.loads(line)
            code = company["edinetCode"]
            head = {_CODE: code, _NAME: company["filerName"], "industry": industries.get(code, "")}
            for period in company["periods"]:
                if period["docDescription"].startswith(_ANNUAL):
                    summary: dict[str, Any] = period.get("summary") or {}
                    values = {name: _number(summary.get(of)) for name, of in _SUMMARY.items()}
                    rows.append(head | {"period_end": period["periodEnd"]} | values)
    return pl.DataFrame(rows, infer_schema_length=None)


def _number(cell: str | None) -> str | None:
    return cell if cell and cell.lstrip("-").isdigit() else None


def small_industries(frame: pl.DataFrame) -> pl.DataFrame:
    """The companies of industries with few of them."""
    companies = pl.col(_CODE).n_unique().over("industry")
    return frame.filter(companies <= SMALL)


def of_reports(frame: pl.DataFrame) -> TableConfig:
    """Roles and the published steps for the columns that the full reports have."""
    columns: dict[str, Any] = {
        _CODE: {"role": "identifier", "prefix": "E"},
        _NAME: {"role": "identifier", "kind": "name"},
        "industry": {"role": "quasi_identifier"},
        "period_end": {"role": "quasi_identifier"},
    }
    for name in _SUMMARY:
        distortion, sd = PUBLISHED[name]
        steps = [("level_swap", distortion), ("log_noise", sd), ("rescale", 1)]
        made = [{"method": method, "strength": strength} for method, strength in steps]
        columns[name] = {"role": "measure", "steps": made}
    return TableConfig.model_validate(
        {
            "columns": {name: columns[name] for name in frame.columns},
            "entity": _CODE,
            "group": "industry",
            "period": "period_end",
            "relations": {"bounds": [{"lesser": "cash", "greater": "total_assets"}]},
        }
    )
