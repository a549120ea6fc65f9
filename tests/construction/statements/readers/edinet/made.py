"""Made-up EDINET collections: companies and filings as the files hold them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.model import Statements
from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.edinet.source import EdinetConfig

ANNUAL, HALF = "有価証券報告書－第10期", "半期報告書－第10期"
QUARTERS = tuple(f"四半期報告書－第10期第{n}四半期" for n in (1, 2, 3))
_NO_REPORTS = "内国法人・組合（有価証券報告書等の提出義務者以外）"
# Code, kind, fiscal year end, name, English name, address, industry.
_FILERS = (
    ("E00001", "内国法人・組合", "3月31日", "甲", "KO  Foods CO.,LTD.", "東京都", "食料品", "コウ"),
    (
        "E00002",
        "外国法人・組合",
        "12月末日",
        "乙",
        "Otsu Inc.",
        "米国カリフォルニア州",
        "機械",
        "オツ",
    ),
    ("E00003", _NO_REPORTS, "", "丙", "", "大阪府", _NO_REPORTS, ""),
)
CODE_LIST = "\n".join(
    (
        "ダウンロード実行日,2026年02月26日現在,件数,3件",
        "ＥＤＩＮＥＴコード,提出者種別,決算日,提出者名,提出者名（英字）,所在地,提出者業種,提出者名（ヨミ）",
        *(",".join(f'"{cell}"' for cell in filer) for filer in _FILERS),
        "",
    )
)


def filing(
    document: str,
    description: str = ANNUAL,
    start: str = "2020-04-01",
    end: str = "2021-03-31",
    filed: str = "2021-06-25 15:02",
    **tables: Any,
) -> dict[str, Any]:
    """A filing; `tables`: bs, pl, cf and summary as item -> value."""
    result: dict[str, Any] = {name: {} for name in ("summary", "pl", "bs", "cf")} | tables
    return {
        "periodStart": start,
        "periodEnd": end,
        "docID": document,
        "docDescription": description,
        "submitDateTime": filed,
        **result,
    }


def company(code: str, *filings: object, **fields: Any) -> dict[str, Any]:
    result = {"edinetCode": code, "secCode": "1301", "filerName": "株式会社　甲"}
    return result | {"periods": list(filings)} | fields


def write(path: Path, records: Sequence[object]) -> Path:
    """A collection of the records; text goes in as a line of its own."""
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records]
    path.write_bytes(gzip.compress("\n".join(lines).encode("utf-8"), mtime=0))
    return path


def read(folder: Path, *records: object, **config: Any) -> Statements:
    write(folder / "edinet_summaries_1.jsonl.gz", records)
    return read_edinet([folder], EdinetConfig(**config))


def spans(statements: Statements, concept: str, statement: str = "") -> list[tuple[Any, ...]]:
    """(value, period_start, period_end, months) of a concept, dates as text, by period."""
    known = statements.points.join(
        statements.series.select("series_id", "concept", "statement"), on="series_id"
    ).sort("period_end", "months")
    return [
        (row["value"], row["first"], str(row["period_end"]), row["months"])
        for row in known.with_columns(first=pl.col("period_start").cast(pl.String)).to_dicts()
        if row["concept"] == concept and statement in ("", row["statement"])
    ]


def reasons(statements: Statements) -> dict[str, int]:
    """Reason -> how many units have it (values and points are told in one row per reason)."""
    result: dict[str, int] = {}
    for row in statements.ledger:
        if row.reason:
            count = row.n
            result[row.reason] = result.get(row.reason, 0) + int(count or 0)
    return result
