"""A second made-up environment, to profile and declare by hand: farmers' cooperatives of a small
country in eight files of four types, without a declaration and without policies."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from openpyxl import Workbook

from data.atomic import write_bytes
from data.canonical import pretty_json
from data.demo.analytics import Table
from data.randomness import keyed_generator

COUNTIES = (
    "Aldmoor", "Brannoch", "Carrow", "Dunsel", "Elver", "Fennick", "Garth", "Hollin",
    "Innisk", "Jarrow", "Kelmore", "Lisk", "Mardle", "Nethering",
)  # fmt: skip
FARMING = ("dairy", "cereals", "orchards", "vegetables", "sheep", "vineyards")
NEIGHBOURS = (
    "Oster March", "Peel Coast", "Quern Vale", "Rusk Hills", "Sorrel Plain", "Tarn Lakes",
)  # fmt: skip
_FIRST = [
    "Amber",
    "Barley",
    "Clover",
    "Drover",
    "Elder",
    "Furrow",
    "Gable",
    "Heather",
    "Ivy",
    "Juniper",
]
_SECOND = [
    "Meadow",
    "Hill",
    "Brook",
    "Field",
    "Wood",
    "Bridge",
    "Lane",
    "Croft",
    "Mill",
    "Pond",
    "Ridge",
    "Barn",
    "Ford",
    "Heath",
]
SEASONS = range(2019, 2023)
_NOTICES = (
    "Inspection of storage",
    "Inspection of wells",
    "Order on drainage",
    "Order on pests",
    "Advice on seed",
)
_MEMBERS = [
    "coop_no",
    "title",
    "farming",
    "county",
    "season",
    "harvest_t",
    "sales_kfl",
    "surplus_kfl",
    "hands",
]


def write_cooperatives(folder: Path, seed: int = 0) -> None:
    """Write the eight files into `folder`."""
    generator = keyed_generator(seed, "demo.cooperatives", "world")
    weights = np.exp(generator.normal(0, 0.6, len(COUNTIES)))
    totals = _members(folder, weights / weights.sum(), generator)
    _counties(folder, weights, totals, generator)
    abroad = Table("land", *SEASONS)
    for land in NEIGHBOURS:
        level = float(np.exp(generator.normal(13.0, 0.6)))
        abroad.add(land, *(round(level * generator.uniform(0.9, 1.15)) for _ in SEASONS))
    abroad.write(folder / "farm_sales_abroad.csv")
    notices = [
        {
            "file_no": f"N{number:04d}",
            "county": COUNTIES[int(generator.choice(len(COUNTIES), p=weights / weights.sum()))],
            "subject": f"{_NOTICES[int(generator.integers(len(_NOTICES)))]} of holdings",
            "dated": f"{2020 + int(generator.integers(3))}-03-15",
        }
        for number in range(420)
    ]
    write_bytes(folder / "notices.json", pretty_json(notices))


def _counties(
    folder: Path,
    weights: NDArray[np.float64],
    totals: dict[str, float],
    generator: np.random.Generator,
) -> None:
    """Figures of the counties, by season and by farming, and their targets."""
    counties = Table("county", "inhabitants", "farmland_ha", "roads_km")
    seasons = Table("county", "season", "apprentices")
    jobs = Table("county", "farming", "jobs")
    targets = Table("county", "sales_target_2022")
    for county, weight in zip(COUNTIES, weights, strict=True):
        people = int(60_000 * weight * generator.uniform(0.8, 1.25))
        land = int(20_000 * weight * generator.uniform(0.5, 1.6))
        counties.add(county, f"{people:,}", land, int(land * generator.uniform(0.01, 0.03)))
        for season in SEASONS:
            seasons.add(county, season, int(400 * weight * generator.uniform(0.8, 1.2)))
        for farming in FARMING:
            jobs.add(county, farming, int(900 * weight * generator.uniform(0.2, 1.8)))
        targets.add(county, int(totals[county] * generator.uniform(0.7, 1.5)))
    counties.write(folder / "counties.csv")
    seasons.write(folder / "county_seasons.csv")
    jobs.write(folder / "farm_jobs.csv")
    targets.write(folder / "targets.csv")


def _members(
    folder: Path, share: NDArray[np.float64], generator: np.random.Generator
) -> dict[str, float]:
    """The books of the seasons (a workbook) and the register (JSON); returns sales by county."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(_MEMBERS)
    register, totals = [], dict.fromkeys(COUNTIES, 0.0)
    for number, name in enumerate(f"{a} {b} Cooperative" for a in _FIRST for b in _SECOND):
        county = COUNTIES[int(generator.choice(len(COUNTIES), p=share))]
        farming = FARMING[int(generator.integers(len(FARMING)))]
        sales = float(np.exp(generator.normal(7.6, 0.9)))  # thousand florins
        own = [f"K{1_000 + 7 * number}", name, farming, county]
        land = int(sales * generator.uniform(0.2, 0.6))
        register.append({"coop_no": own[0], "hectares": land, "joined": 1950 + number % 60})
        for season in SEASONS:
            sales *= float(np.exp(generator.normal(0.02, 0.1)))
            sheet.append([*own, season, *_figures(sales, generator)])
        totals[county] += sales
    content = io.BytesIO()
    book.save(content)
    write_bytes(folder / "members.xlsx", content.getvalue())
    write_bytes(folder / "register.json", pretty_json(register))
    return totals


def _figures(sales: float, generator: np.random.Generator) -> list[float | int | None]:
    """Harvest (of some not reported), sales, surplus and hands of a season."""
    harvest = None if generator.random() < 0.04 else round(sales * generator.uniform(1.5, 2.5), 1)
    surplus = round(sales * generator.normal(0.06, 0.05), 1)
    hands = max(int(sales / generator.uniform(25, 40)), 2)
    return [harvest, round(sales, 1), surplus, hands]
