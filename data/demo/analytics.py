"""A made-up environment for analytic tasks: files of three domains with planted noise, and truth.

The companies and provinces exist nowhere else, so that no source serves two lanes.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from data.atomic import write_bytes
from data.canonical import pretty_json
from data.randomness import keyed_generator
from data.text.lexicon import load_table

DECLARATION, TRUTH = "environment.toml", "truth.json"
YEARS = range(2018, 2023)
COMPANIES, MEASURES = 170, 620
_STAGE = "demo.analytics"
_AMOUNTS = ("revenue", "operating_income", "net_income", "total_assets", "net_assets", "cash")
_MARKS = ("-", "n/a", "")
_WITHOUT_PROVINCE = 34  # one company in so many states no province


class Table:
    """Rows of a CSV file in the making."""

    def __init__(self, *names: str) -> None:
        self._text = io.StringIO()
        self._writer = csv.writer(self._text, lineterminator="\n")
        self._writer.writerow(names)

    def add(self, *cells: object) -> None:
        self._writer.writerow(cells)

    def write(self, path: Path) -> None:
        write_bytes(path, self._text.getvalue().encode())


def write_demo(folder: Path, seed: int) -> Path:
    """Write files, declaration and truth into `folder`; returns the path of the declaration."""
    words = load_table(__package__, "words/analytics.toml")
    generator = keyed_generator(seed, _STAGE, "world")
    truth: Counter[str] = Counter()
    sizes = _provinces(folder, words, generator, truth)
    totals = _accounts(folder, words, sizes, generator, truth)
    _measures(folder, words, sizes, generator, truth)
    _states(folder, words, generator, truth)
    _plan(folder, sizes, totals, keyed_generator(seed, _STAGE, "plan"))
    for name, columns in words["irrelevant"].items():
        _irrelevant(folder / f"other/{name}.csv", columns, words, generator)
        truth["irrelevant"] += 1
    for document in words["documents"]:
        text = "\n\n".join([document["title"], *document["text"]])
        write_bytes(folder / "policy" / f"{document['id']}.txt", text.encode())
    write_bytes(folder / TRUTH, pretty_json(dict(sorted(truth.items()))))
    path = folder / DECLARATION
    declaration = dict(words["declaration"])
    names = {slot: words[slot] for slot in ("place", "kind", "branch", "abroad")}
    aliases = {
        "regions": {form: name for name, forms in words["region_forms"].items() for form in forms},
        "sectors": words["sectors"],
    }
    write_bytes(path, tomli_w.dumps({**declaration, "names": names, "aliases": aliases}).encode())
    return path


def _provinces(
    folder: Path, words: Mapping[str, Any], generator: np.random.Generator, truth: Counter[str]
) -> dict[str, float]:
    """Two releases of provincial figures, workers by sector; returns how large provinces are."""
    names = list(words["place"])
    sizes = dict(zip(names, np.exp(generator.normal(0, 0.8, len(names))).tolist(), strict=True))
    for release, grown in (("2022", 1.0), ("2020", 0.93)):
        table = Table("province", "population", "output", "income", "sites", "staff", "nights")
        for name, size in sizes.items():
            people = int(900_000 * size * grown * generator.uniform(0.97, 1.03))
            income = int(31_000 * size**0.1 * generator.uniform(0.9, 1.1))
            output = int(people * income * generator.uniform(1.3, 1.7) / 1e6)
            staff = int(people * generator.uniform(0.4, 0.5))
            sites = int(staff / generator.uniform(8, 13))
            table.add(name, people, output, income, sites, staff, int(people * 2.1))
            truth["units"] += 1
        table.write(folder / f"industry/provinces_{release}.csv")
    truth["scope"] += len(names)
    table = Table("province", *words["branch"])
    for name, size in sizes.items():
        table.add(
            name, *(int(90_000 * size * generator.uniform(0.3, 1.6)) for _ in words["branch"])
        )
    table.write(folder / "industry/sector_census.csv")
    table = Table("province", "year", "births", "vacancies")
    for name, size in sizes.items():
        for year in YEARS:
            drawn = [int(9_000 * size * generator.uniform(0.9, 1.1)) for _ in range(2)]
            table.add(name, year, *drawn)
    table.write(folder / "industry/province_years.csv")
    return sizes


@dataclass(frozen=True, slots=True)
class _Company:
    """`forms`: the names in which its province is written; `lag`: years that its period runs on."""

    code: str
    name: str
    industry: str
    forms: list[str]
    lag: int

    def filing(self, form: str, year: int, filed: str, cells: list[Any]) -> list[Any]:
        start, end = ("07-01", "06-30") if self.lag else ("01-01", "12-31")
        period = (f"{year}-{start}", f"{year + self.lag}-{end}")
        day = f"{year + self.lag + 1}-{filed}"
        return [self.code, self.name, self.industry, form, *period, day, *cells]


def _accounts(
    folder: Path,
    words: Mapping[str, Any],
    sizes: dict[str, float],
    generator: np.random.Generator,
    truth: Counter[str],
) -> Counter[str]:
    """Annual accounts in thousands, and a register with the capital in millions; returns about
    what the companies of each province come to in the last year, in thousands."""
    head = ("reg_no", "name", "industry", "province", "period_start", "period_end", "filed")
    table, register = Table(*head, *_AMOUNTS, "staff"), Table("reg_no", "capital", "founded")
    share = np.array(list(sizes.values())) + 0.25
    names, industries, totals = list(sizes), list(words["kind"]), Counter[str]()
    for number in range(COMPANIES):
        home = names[int(generator.choice(len(names), p=share / share.sum()))]
        kind, root = divmod(number, len(words["company_roots"]))
        company = _Company(
            code=f"V{10_000 + 37 * number}",
            name=f"{words['company_roots'][root]} {words['company_kinds'][kind]}",
            industry=industries[int(generator.integers(len(industries)))],
            forms=[home, *words["region_forms"][home]] if number % _WITHOUT_PROVINCE else [""],
            lag=int(generator.random() < 0.5),
        )
        revenue = float(np.exp(generator.normal(13.2, 1.1)))  # thousands
        founded = int(generator.integers(1900, 2015))
        register.add(company.code, round(revenue / 9_000, 1), founded)
        for year in YEARS:
            revenue *= float(np.exp(generator.normal(0.03, 0.08)))
            for row in _filings(company, year, revenue, words["sectors"], generator, truth):
                table.add(*row)
        totals[home] += round(revenue)
    table.write(folder / "enterprise/annual_accounts.csv")
    register.write(folder / "enterprise/register.csv")
    return totals


def _filings(
    company: _Company,
    year: int,
    revenue: float,
    sectors: Mapping[str, str],
    generator: np.random.Generator,
    truth: Counter[str],
) -> list[list[Any]]:
    """The filings about a year: some are replaced by a later one, some lack a figure."""
    form = company.forms[0]
    if generator.random() < 0.3:
        form = company.forms[int(generator.integers(len(company.forms)))]
    cells = _figures(revenue, generator)
    gap = int(generator.integers(len(cells))) if generator.random() < 0.12 else None
    if gap is not None:
        cells[gap] = _MARKS[int(generator.integers(len(_MARKS)))]
        truth["missing"] += 1
        truth["units"] -= gap < len(_AMOUNTS)
    filings = [company.filing(form, year, "05-31", cells)]
    if generator.random() < 0.02:
        earlier = _figures(revenue * 0.9, generator)
        filings.insert(0, company.filing(form, year, "02-01", earlier))
        truth["repeats"] += 1
    renamed = (form != company.forms[0]) + (company.industry in sectors)
    truth["aliases"] += renamed * len(filings)
    truth["years"] += company.lag * len(filings)
    truth["missing"] += (not form) * len(filings)
    truth["units"] += len(_AMOUNTS) * len(filings)
    return filings


def _figures(revenue: float, generator: np.random.Generator) -> list[Any]:
    """Amounts of a year in thousands, and the number of staff."""
    operating = revenue * generator.normal(0.07, 0.05)
    assets = revenue * generator.uniform(0.7, 1.6)
    equity = assets * generator.uniform(0.2, 0.7)
    cash = assets * generator.uniform(0.05, 0.25)
    amounts = (revenue, operating, operating * 0.68, assets, equity, cash)
    return [*(round(amount) for amount in amounts), max(round(revenue / 2_400), 3)]


def _measures(
    folder: Path,
    words: Mapping[str, Any],
    sizes: dict[str, float],
    generator: np.random.Generator,
    truth: Counter[str],
) -> None:
    """Support measures of provinces; some titles have stray blanks."""
    table = Table("number", "province", "title", "updated")
    share = np.array(list(sizes.values())) ** 0.5
    names, kinds, goals = list(sizes), words["measure_kinds"], words["measure_goals"]
    for number in range(MEASURES):
        home = names[int(generator.choice(len(names), p=share / share.sum()))]
        kind = kinds[int(generator.integers(len(kinds)))]
        goal = goals[int(generator.integers(len(goals)))]
        blank = "  " if generator.random() < 0.05 else ""
        year = 2021 + int(generator.integers(3))
        table.add(number + 1, home, f"{blank}{kind} for {goal}{blank}", f"{year}-04-01")
        truth["aliases"] += bool(blank)
    table.write(folder / "policy/measures.csv")


def _states(
    folder: Path, words: Mapping[str, Any], generator: np.random.Generator, truth: Counter[str]
) -> None:
    """Output of the states of a made-up neighbour by year, in millions of dollars."""
    table = Table("state", "item", *YEARS)
    for state in words["abroad"]:
        level = float(np.exp(generator.normal(8.6, 0.9)))
        for item, part in (("All industry total ", 1.0), ("  Manufacturing ", 0.18)):
            drawn = [
                level * part * (1 + 0.03 * (y - 2018)) * generator.uniform(0.98, 1.02)
                for y in YEARS
            ]
            table.add(state, item, *(round(value, 1) for value in drawn))
            truth["aliases"] += len(YEARS)
    table.write(folder / "international/state_output.csv")


def _plan(
    folder: Path, sizes: Mapping[str, float], totals: Counter[str], generator: np.random.Generator
) -> None:
    """Goals of a plan for each province, in millions: some were reached, some were not."""
    table = Table("province", "revenue_2022")
    for name in sizes:
        table.add(name, round(totals[name] / 1000 * generator.uniform(0.7, 1.6), -1))
    table.write(folder / "industry/goals.csv")


def _irrelevant(
    path: Path, columns: list[str], words: Mapping[str, Any], generator: np.random.Generator
) -> None:
    table = Table("province", *columns)
    for name in words["place"]:
        table.add(name, *(int(generator.integers(10, 900)) for _ in columns))
    table.write(path)
