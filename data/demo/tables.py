"""Demo tables with known truth: fictional companies, their years, a narrative and aggregates.

Every number is drawn, every name invented. Relations hold by construction, and native noise
(missing cells, mixed units, naming variants, lags, duplicates) is planted at recorded rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomli_w

from data.atomic import write_bytes
from data.canonical import pretty_json
from data.randomness import keyed_generator

FOLDER, CONFIG, TRUTH = "tables", "tables.toml", "tables_truth.json"
COVERAGE = 1.25  # the given aggregates cover more companies than the table
INDUSTRIES = ("食品制造", "电子设备", "软件服务", "医药", "零售")
REGIONS = ("北岭省", "东湖省", "南屿省", "西原省")
FIRST_YEAR = 2016
_CODE = {"role": "identifier", "prefix": "S"}
_HEADS = tuple("澜朔晗峤沅骁珩霁澍昉祎翊煦钧泓屹")
_TAILS = tuple("图维诺格川衡桓汀麓弈翎棠铭策野岑")
_ROMAN = ("Lan", "Shuo", "Han", "Qiao", "Yuan", "Xiao", "Heng", "Ji")
_ROMAN_TAIL = ("tu", "wei", "nuo", "ge", "chuan", "ting", "lu", "ming")
_WORDS = ("食品", "电子", "软件", "药业", "商业")
_WORDS_EN = ("Foods", "Electronics", "Software", "Pharma", "Retail")


@dataclass(frozen=True, slots=True)
class DemoTables:
    """The tables, and the truth: the row numbers of each kind of native noise."""

    enterprise: pl.DataFrame
    narrative: pl.DataFrame
    industry_totals: pl.DataFrame
    noise: Mapping[str, tuple[int, ...]]


def demo_tables(companies: int, years: int, seed: int) -> DemoTables:
    """Draw the tables: about `companies` · `years` rows. Company k is the same in any size."""
    rows = [row for at in range(companies) for row in _company(at, years, seed)]
    draw = keyed_generator(seed, "demo/tables", "noise")
    lags = sorted(_picked(draw, [i for i, r in enumerate(rows) if r["year"] not in _ends(years)]))
    rows = [row for i, row in enumerate(rows) if i not in set(lags)]
    noise: dict[str, tuple[int, ...]] = {"lag": tuple(lags)}
    totals = _totals(rows)
    noise["missing"] = _picked(draw, list(range(len(rows))))
    for at in noise["missing"]:
        rows[at]["rnd"] = "－" if at % 2 else None
    noise["unit"] = _picked(draw, list(range(len(rows))))
    for at in noise["unit"]:
        rows[at]["unit"] = "人民币元"
    noise["naming"] = _picked(draw, [i for i, row in enumerate(rows) if row["year"] != FIRST_YEAR])
    for at in noise["naming"]:
        rows[at]["name"] = rows[at]["name"].removesuffix("股份有限公司") + "公司"
    doubled = _picked(draw, list(range(len(rows))))
    noise["duplicate"] = tuple(range(len(rows), len(rows) + len(doubled)))
    rows += [dict(rows[at]) for at in doubled]
    return DemoTables(pl.DataFrame(rows), _narrative(rows), totals, noise)


def write_tables(folder: Path, companies: int = 240, years: int = 3, seed: int = 7) -> DemoTables:
    """Write the tables as CSV, a configuration for `benchmint privacy perturb`, and the truth."""
    made = demo_tables(companies, years, seed)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("enterprise", "narrative", "industry_totals"):
        frame: pl.DataFrame = getattr(made, name)
        write_bytes(folder / f"{name}.csv", frame.write_csv().encode())
    write_bytes(folder / CONFIG, tomli_w.dumps(demo_config()).encode())
    truth = {"noise": made.noise, "coverage": COVERAGE, "companies": companies}
    write_bytes(folder / TRUTH, pretty_json(truth))
    return made


def demo_section() -> dict[str, Any]:
    """`[tables]` of the demo's configuration: a few settings are tried beside the declared one.

    Risk limits are the defaults.
    """
    tried = {"least_significant_digit": [2], "rank_swap": [0.1], "level_swap": [0.3]}
    return demo_config() | {
        "attacks": {"known": ["revenue", "assets", "employees"]},
        "frontier": {"strengths": tried},
    }


def demo_config() -> dict[str, Any]:
    """Roles, relations and formulas of the demo tables, as a configuration file has them.

    Rank swap keeps each column's distribution, but total assets are recomputed from their parts and
    R&D is capped by costs: a tenth of columns and industries drifts beyond these wide limits.
    """
    enterprise = {
        "entity": "code",
        "group": "industry",
        "region": "region",
        "period": "year",
        "steps": [{"method": "rank_swap", "strength": 0.25}],
        "relations": {
            "sums": [{"total": "assets", "parts": ["liabilities", "equity"]}],
            "bounds": [{"lesser": "rnd", "greater": "costs"}],
        },
        "columns": _enterprise_columns(),
    }
    narrative = {
        "entity": "code",
        "columns": {"code": _CODE, "text": {"role": "free_text"}},
    }
    totals = {
        "of": "enterprise",
        "by": {"industry": "industry", "year": "year"},
        "values": {"revenue": "revenue"},
    }
    return {
        "tables": {"enterprise": enterprise, "narrative": narrative},
        "aggregates": {"industry_totals": totals},
        "fidelity": {"max_d": 0.1, "max_wasserstein": 0.2, "max_beyond": 0.25},
    }


def _enterprise_columns() -> dict[str, Any]:
    name = {"role": "identifier", "kind": "name"}
    measures = ("revenue", "costs", "rnd", "assets", "liabilities", "equity", "employees")
    columns: dict[str, Any] = {
        "code": _CODE,
        "name": name,
        "name_en": name,
        **{quasi: {"role": "quasi_identifier"} for quasi in ("industry", "region", "year")},
        "unit": {"role": "unit"},
        **{measure: {"role": "measure"} for measure in measures},
        "revenue_per_head": _derived("ratio", "revenue", "employees"),
        "revenue_growth": _derived("growth", "revenue"),
    }
    columns["revenue_growth"]["formula"]["scale"] = 100.0
    return columns


def _derived(kind: str, *of: str) -> dict[str, Any]:
    return {"role": "derived", "formula": {"kind": kind, "of": list(of)}}


def _ends(years: int) -> tuple[int, int]:
    return FIRST_YEAR, FIRST_YEAR + years - 1


def _picked(draw: np.random.Generator, among: list[int]) -> tuple[int, ...]:
    """About one in thirty, at least two if there are as many."""
    count = min(len(among), max(2, len(among) // 30))
    return tuple(sorted(draw.choice(among, count, replace=False).tolist()))


def _company(at: int, years: int, seed: int) -> list[dict[str, Any]]:
    """A company's years: log-normal size, persistent growth, reported in thousands or millions."""
    draw = keyed_generator(seed, "demo/tables", str(at))
    sector = int(draw.integers(len(INDUSTRIES)))
    revenue = float(np.exp(draw.normal(19.5, 1.4)))
    margin, leverage = float(draw.uniform(0.6, 1.05)), float(draw.uniform(0.2, 0.9))
    unit = 1_000 if draw.random() < 0.5 else 1_000_000
    head = {
        "code": f"S{10_000 + at * 7:05d}",
        "name": _name(at) + _WORDS[sector] + "股份有限公司",
        "name_en": f"{_name_en(at)} {_WORDS_EN[sector]} Co., Ltd.",
        "industry": INDUSTRIES[sector],
        "region": REGIONS[int(draw.integers(len(REGIONS)))],
    }
    rows: list[dict[str, Any]] = []
    before: int | None = None
    for year in range(FIRST_YEAR, FIRST_YEAR + years):
        revenue *= float(np.exp(draw.normal(0.06, 0.12)))
        row = _year(draw, revenue, margin, leverage, unit, before)
        rows.append(head | {"year": year, "unit": "元"} | row)
        before = int(row["revenue"].replace(",", ""))
    return rows


def _year(
    draw: np.random.Generator,
    revenue: float,
    margin: float,
    leverage: float,
    unit: int,
    before: int | None,
) -> dict[str, Any]:
    def reported(value: float) -> int:
        return max(1, round(value / unit)) * unit

    sales = reported(revenue)
    costs = reported(revenue * margin * float(np.exp(draw.normal(0, 0.05))))
    liabilities = reported(revenue * leverage * float(np.exp(draw.normal(0, 0.1))))
    equity = reported(revenue * (1 - leverage) * float(np.exp(draw.normal(0, 0.1))))
    people = max(10, round(revenue / 900_000 * float(np.exp(draw.normal(0, 0.1)))))
    growth = None if before is None else f"{(sales / before - 1) * 100:.2f}"
    return {
        "revenue": f"{sales:,}",
        "costs": costs,
        "rnd": str(min(costs, reported(costs * float(draw.uniform(0.01, 0.2))))),
        "assets": liabilities + equity,
        "liabilities": liabilities,
        "equity": equity,
        "employees": people,
        "revenue_per_head": f"{sales / people:.2f}",
        "revenue_growth": growth,
    }


def _name(at: int) -> str:
    """A stem of two or three characters; the first 256 companies have two."""
    rest, tail = divmod(at, len(_TAILS))
    rest, head = divmod(rest, len(_HEADS))
    return _HEADS[head] + _TAILS[tail] + (_HEADS[rest % len(_HEADS)] if rest else "")


def _name_en(at: int) -> str:
    rest, tail = divmod(at, len(_ROMAN_TAIL))
    rest, head = divmod(rest, len(_ROMAN))
    middle = _ROMAN[rest % len(_ROMAN)].lower() if rest else ""
    more = _ROMAN_TAIL[rest // len(_ROMAN) % len(_ROMAN_TAIL)] if rest >= len(_ROMAN) else ""
    return _ROMAN[head] + middle + _ROMAN_TAIL[tail] + more


def _narrative(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """A sentence per company that names it in two languages."""
    seen = {row["code"]: row for row in reversed(rows)}
    texts = [
        {"code": code, "text": f"{row['name']}（{row['name_en']}，{code}）在{row['region']}扩产。"}
        for code, row in sorted(seen.items())
    ]
    return pl.DataFrame(texts)


def _totals(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Revenue per industry and year, with the coverage of a fuller survey."""
    sums: dict[tuple[str, int], int] = {}
    for row in rows:
        key = row["industry"], row["year"]
        sums[key] = sums.get(key, 0) + int(row["revenue"].replace(",", ""))
    return pl.DataFrame(
        [
            {"industry": industry, "year": str(year), "revenue": round(total * COVERAGE)}
            for (industry, year), total in sorted(sums.items())
        ]
    )
