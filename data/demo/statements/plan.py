"""The fictional companies, their industries, and the layouts of their statements."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from data.demo.statements.economy import Amounts, Quarter, Traits, run_books
from data.randomness import keyed_generator

_FOLDER = Path(__file__).parent
_SHOWN_NEGATIVE = "-"
FIRST_YEAR, LAST_YEAR = 2021, 2024
YEARS = LAST_YEAR - FIRST_YEAR + 1
REGIONS = ("UnitedStates", "EuropeMiddleEastAndAfrica", "AsiaPacific")
_YEAR_ENDS = (12, 9, 3, 6, 12, 1, 12, 6, 9, 3, 12, 12)
_JAPANESE_YEAR_ENDS = (3, 3, 12, 6, 9, 3)
_SCALES = (1_000_000, 1_000, 1_000, 1_000_000, 1_000, 1)
_BASES = {1_000_000: 9_000, 1_000: 480_000, 1: 61_000_000}
_JAPANESE_BASES = {1_000_000: 140_000, 1_000: 23_000_000}
_FOREIGN_EVERY = 5
JANUARY = 1


@dataclass(frozen=True, slots=True)
class Indicator:
    """One operating indicator: its tag, its label, about how large it is, and whether it is
    counted over the year rather than at its end."""

    tag: str
    label: str
    size: int
    over_year: bool = False


@dataclass(frozen=True, slots=True)
class Industry:
    """Names and shape of one industry."""

    english: str
    japanese: str
    japanese_english: str
    japanese_industry: str
    sic: str
    segments: Sequence[tuple[str, float]]
    indicators: Sequence[Indicator]
    japanese_indicators: Sequence[Indicator]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a US statement; a heading has no tag. `labels` are variants by company."""

    labels: Sequence[str]
    tag: str = ""
    item: str = ""
    negated: bool = False

    def label(self, variant: int) -> str:
        return self.labels[variant % len(self.labels)]


@dataclass(frozen=True, slots=True)
class JapaneseRow:
    """One row of a Japanese statement: its item as filed, and the sign with which it is filed."""

    item: str
    amount: str
    sign: int


@cache
def lexicon() -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / "words.toml").read_text(encoding="utf-8"))


@cache
def industries() -> Sequence[Industry]:
    return tuple(
        Industry(
            **{
                **entry,
                "segments": tuple((name, share) for name, share in entry["segments"]),
                "indicators": tuple(Indicator(*fields) for fields in entry["indicators"]),
                "japanese_indicators": tuple(
                    Indicator(item, item, *more) for item, *more in entry["japanese_indicators"]
                ),
            }
        )
        for entry in lexicon()["industry"]
    )


@cache
def us_rows(statement: str) -> Sequence[Row]:
    return tuple(_row(entry) for entry in _layouts()["us"][statement])


@cache
def standard_labels() -> Mapping[str, str]:
    """The standard label of each tag."""
    rows = (_row(entry) for rows in _layouts()["us"].values() for entry in rows)
    labels = {row.tag: row.labels[0] for row in rows if row.tag}
    indicators = {one.tag: one.label for trade in industries() for one in trade.indicators}
    standard: Mapping[str, str] = _layouts()["standard"]
    return labels | indicators | dict(standard)


@cache
def japanese_rows(statement: str) -> Sequence[JapaneseRow]:
    return tuple(
        JapaneseRow(item, amount.removeprefix("-"), -1 if amount.startswith("-") else 1)
        for item, amount in _layouts()["japan"][statement]
    )


@cache
def _layouts() -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / "layouts.toml").read_text(encoding="utf-8"))


def _row(entry: Sequence[str]) -> Row:
    if len(entry) == 1:
        return Row(labels=(entry[0],))
    tag, labels, item, *sign = entry
    return Row(tuple(labels.split("|")), tag, item, sign == [_SHOWN_NEGATIVE])


@dataclass(frozen=True, slots=True)
class Company:
    """One company and its accounts. `scale` is the reporting unit: 1, thousands or millions.

    `weeks` marks a 52/53-week year, which ends on the Saturday nearest to the end of the month.
    """

    number: int
    source_id: str
    name: str
    name_local: str | None
    ticker: str
    country: str
    city: str
    industry: Industry
    currency: str
    scale: int
    year_end: int
    weeks: bool
    shares: int
    opening: Amounts
    quarters: Sequence[Quarter]

    @property
    def foreign(self) -> bool:
        """Files 20-F and 6-K."""
        return self.country != "US"

    def year_end_year(self, fiscal_year: int) -> int:
        """The calendar year in which a fiscal year ends; one that ends in January is named after
        the year before."""
        return fiscal_year + (self.year_end == JANUARY)

    def stocks(self, quarter: int) -> Amounts:
        """Stocks at the end of a quarter; -1 is the opening."""
        return self.opening if quarter < 0 else self.quarters[quarter].stocks

    def flows(self, first: int, last: int) -> dict[str, int]:
        """Flows of the quarters `first` to `last`, both included, added up."""
        span = self.quarters[first : last + 1]
        return {name: sum(quarter.flows[name] for quarter in span) for name in span[0].flows}


def us_companies(seed: int, count: int) -> list[Company]:
    """Companies that file with the SEC; every fifth has its headquarters elsewhere."""
    return [_us_company(seed, number) for number in range(count)]


def japanese_companies(seed: int, count: int) -> list[Company]:
    """Companies that file in Japan."""
    return [_japanese_company(seed, number) for number in range(count)]


def _us_company(seed: int, number: int) -> Company:
    words, trades = lexicon(), industries()
    trade = trades[number % len(trades)]
    stem = words["stems"][number % len(words["stems"])]
    again = number // len(words["stems"])
    foreign = number % _FOREIGN_EVERY == _FOREIGN_EVERY - 1
    abroad = words["foreign"][number // _FOREIGN_EVERY % len(words["foreign"])]
    legal = abroad["legal"] if foreign else words["legal_us"][number % len(words["legal_us"])]
    middle = f" {'I' * again}" if again else ""
    year_end = 12 if foreign else _YEAR_ENDS[number % len(_YEAR_ENDS)]
    scale = _SCALES[number % len(_SCALES)]
    opening, quarters = _accounts(seed, f"us.{number}", trade, _BASES[scale])
    return Company(
        number=number,
        source_id=f"{9_990_001 + number}",
        name=f"{stem}{middle} {trade.english} {legal}",
        name_local=None,
        ticker=_ticker(stem, number),
        country=abroad["country"] if foreign else "US",
        city=abroad["city"] if foreign else "SPRINGFIELD",
        industry=trade,
        currency=abroad["currency"] if foreign else "USD",
        scale=scale,
        year_end=year_end,
        weeks=year_end == JANUARY,
        shares=40_000_000 + 1_000_000 * (number * 7 % 60),
        opening=opening,
        quarters=quarters,
    )


def _japanese_company(seed: int, number: int) -> Company:
    words, trades = lexicon(), industries()
    trade = trades[(number * 2 + 1) % len(trades)]
    local, english = words["japanese"][number % len(words["japanese"])]
    again = number // len(words["japanese"])
    middle, middle_english = (f"第{again + 1}", f" No. {again + 1}") if again else ("", "")
    scale = (1_000_000, 1_000)[number % 2]
    opening, quarters = _accounts(seed, f"jp.{number}", trade, _JAPANESE_BASES[scale])
    name_local = f"{local}{middle}{trade.japanese}"
    return Company(
        number=number,
        source_id=f"E{99_001 + number}",
        name=f"{english}{middle_english} {trade.japanese_english} Co., Ltd.",
        name_local=f"株式会社　{name_local}" if number % 3 == 1 else f"{name_local}株式会社",
        ticker=f"{101 + number:04}",
        country="JP",
        city="架空市一丁目１番１号",
        industry=trade,
        currency="JPY",
        scale=scale,
        year_end=_JAPANESE_YEAR_ENDS[number % len(_JAPANESE_YEAR_ENDS)],
        weeks=False,
        shares=20_000_000 + 1_000_000 * (number * 11 % 50),
        opening=opening,
        quarters=quarters,
    )


def _accounts(seed: int, entity: str, trade: Industry, base: int) -> tuple[Amounts, list[Quarter]]:
    rng = keyed_generator(seed, "demo.statements", entity)
    regions = (rng.uniform(0.4, 0.6), rng.uniform(0.2, 0.3))
    traits = Traits(
        revenue=round(base * rng.uniform(0.6, 1.8)),
        growth=rng.uniform(-0.02, 0.11),
        cost=rng.uniform(0.58, 0.66),
        research=rng.uniform(0.03, 0.08),
        selling=rng.uniform(0.14, 0.2),
        tax=rng.uniform(0.21, 0.28),
        minority=rng.uniform(0.01, 0.03),
        segments=[share for _, share in trade.segments],
        regions=[*regions, 1 - sum(regions)],
    )
    return run_books(rng, traits, YEARS)


def _ticker(stem: str, number: int) -> str:
    """Three consonants of the stem, a letter for the number, and X: five letters."""
    consonants = [letter for letter in stem.upper() if letter not in "AEIOU"]
    return f"{''.join(consonants[:3])}{chr(ord('A') + number % 26)}X"
