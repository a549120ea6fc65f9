"""Settings of fiscal periods (`construction.statements.periods`), part of the recipe."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from data.contracts import StageConfig


class YearLabel(StrEnum):
    """Which calendar year names a fiscal year."""

    END = "end"  # the year in which it ends: usual in the US, and in 2016年3月期
    START = "start"  # the year in which it starts: usual in Japan, as in 2015年度


class MidYear(StrEnum):
    """What a balance sheet in the middle of a fiscal year closes."""

    AUTO = "auto"  # Q2 if the company shows quarters in that fiscal year, else H1
    H1 = "H1"
    Q2 = "Q2"


class PeriodConfig(StageConfig):
    """Conventions of fiscal years.

    The year that names a fiscal year is decided by `label_by_company` (by company_id), then by what
    the filings show (the table `conventions`), then `label_by_source`, `label_by_country` and
    `label_by`. Questions use a year's name only if the first two know it. A period may end
    up to `drift_days` from the month end (or the day of the month) of the fiscal year end:
    52/53-week years end on a weekday, up to 7 days off. Start and end may differ from the stated
    length by `length_days`: the last quarter of a 52/53-week year can have 16 or 17 weeks.
    """

    label_by: YearLabel = YearLabel.END
    label_by_country: dict[str, YearLabel] = Field(default={})
    label_by_source: dict[str, YearLabel] = Field(default={"edinet": YearLabel.START})
    label_by_company: dict[str, YearLabel] = Field(default={})
    drift_days: int = Field(default=7, ge=0, le=7)
    length_days: int = Field(default=35, ge=0)
    mid_year: MidYear = MidYear.AUTO
