"""How companies name their fiscal years, and how the recipe says that they do.

In: the tables `conventions` and `closings`. Out: a `Convention` for each company. Settings are read
before any library is loaded, so that this module loads none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import Field

from data.contracts import StageConfig

if TYPE_CHECKING:
    import polars as pl


class YearLabel(StrEnum):
    """Which calendar year names a fiscal year."""

    END = "end"  # the year in which it ends: usual in the US, and in 2016年3月期
    START = "start"  # the year in which it starts: usual in Japan, as in 2015年度


class PeriodConfig(StageConfig):
    """Conventions for naming fiscal years.

    Which calendar year names a fiscal year is decided by `label_by_company` (by company_id), then
    by what the filings show (the table `conventions`), then by `label_by_source` and `label_by`.
    Questions use a year's name only if one of the first two decides it.
    """

    label_by: YearLabel = YearLabel.END
    label_by_source: dict[str, YearLabel] = Field(default={"edinet": YearLabel.START})
    label_by_company: dict[str, YearLabel] = Field(default={})


_LAST_EARLY_MONTH = 3


class NamingEvidence(StrEnum):
    """What shows how a company names its years; `recipe`: `label_by_company` says so."""

    CALENDAR = "calendar"
    WORDS = "words"
    FY = "fy"
    RECIPE = "recipe"


class DaysKnown(StrEnum):
    """Whether the source's period ends are the true last days."""

    STATED = "stated"
    ROUNDED = "rounded"


def sec_year(month: int) -> int:
    """The name that SEC's data sets give a fiscal year by its last month (12·year + month - 1): the
    year in which it ends, or the one before for years that end in its first three months."""
    year, of_year = divmod(month, 12)
    return year - (of_year < _LAST_EARLY_MONTH)


@dataclass(frozen=True, slots=True)
class Convention:
    """One company's convention as questions need it.

    `named_by` is None if nothing shows it. `closings` maps the last day of a period, as in the
    points, to the true one; `is_rounded`: days that it lacks are not known.
    """

    named_by: YearLabel | None = None
    is_rounded: bool = False
    closings: Mapping[date, date] = field(default_factory=dict)

    def closed(self, end: date) -> date | None:
        """The true last day of a period; None if it is unknown."""
        return self.closings.get(end, None if self.is_rounded else end)


UNKNOWN = Convention()


def read_conventions(conventions: pl.DataFrame, closings: pl.DataFrame) -> dict[str, Convention]:
    """The conventions by company."""
    days: dict[str, dict[date, date]] = {}
    for company_id, end, closed in closings.select(
        "company_id", "period_end", "closed"
    ).iter_rows():
        days.setdefault(company_id, {})[end] = closed
    return {
        row["company_id"]: Convention(
            YearLabel(row["named_by"]) if row["named_by"] else None,
            row["days"] != DaysKnown.STATED,
            days.get(row["company_id"], {}),
        )
        for row in conventions.iter_rows(named=True)
    }


def with_declared(conventions: pl.DataFrame, labels: Mapping[str, YearLabel]) -> pl.DataFrame:
    """The conventions with those that the recipe declares (`label_by_company`)."""

    import polars as pl

    if not labels:
        return conventions
    declared = pl.col("company_id").replace_strict(labels, default=None, return_dtype=pl.String)
    by_recipe = pl.when(declared.is_not_null()).then(pl.lit(str(NamingEvidence.RECIPE)))
    return conventions.with_columns(
        named_by=pl.coalesce(declared, "named_by"), evidence=pl.coalesce(by_recipe, "evidence")
    )
