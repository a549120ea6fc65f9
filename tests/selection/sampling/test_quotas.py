"""Quotas: the expected shares of categories and period lengths, as far as the frame allows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

from selection.config import SamplingConfig
from selection.sampling.frame import build_frame, category_of, inclusion_of_points, with_quotas
from selection.sampling.stages import draw, lacking

_QUOTAS: dict[str, Any] = {
    "categories": {"guidance": 0.3, "income": 0.4, "cash": 0.3},
    "periods": {"quarter": 0.6, "annual": 0.4, "nine_months": 0.0},
}


def points(n_companies: int, guiding: int) -> pl.DataFrame:
    """Companies with income and cash of a year, a quarter and nine months; some with guidance."""
    rows = [
        (f"c{at:02}", False, category, f"{category} {item}", f"{at}/{category}/{item}/{period}",
         period)
        for at in range(n_companies)
        for category in ("income", "cash", *(("guidance",) if at < guiding else ()))
        for item in range(6)
        for period in ("annual", "quarter", "nine_months")
    ]  # fmt: skip
    names = ("company", "is_us", "category", "series_name", "point_id", "period")
    return pl.DataFrame(rows, schema=names, orient="row")


def shares(frame: pl.DataFrame, config: SamplingConfig) -> dict[str, float]:
    """Expected shares of the design by category and by length."""
    made = build_frame(with_quotas(frame, config))
    units = inclusion_of_points(made, config)
    n = made.points_of_series
    weighed = units.with_columns(mass=units["pi_design"] * pl.Series(n) / config.size)
    matches: Counter[str] = Counter()
    for stratum, mass in weighed.select("category", "mass").iter_rows():
        for part in stratum.split("/"):
            matches[part] += mass
    return {name: round(share, 2) for name, share in matches.items()}


def test_what_every_company_has_meets_its_quota() -> None:
    config = SamplingConfig(size=60, us_share=0, **_QUOTAS)
    assert shares(points(20, 20), config) == {
        "guidance": 0.3, "income": 0.4, "cash": 0.3, "quarter": 0.6, "annual": 0.4,
    }  # fmt: skip


def test_what_few_companies_have_is_drawn_from_them_oftener() -> None:
    config = SamplingConfig(size=60, us_share=0, **_QUOTAS)
    matches = shares(points(20, 3), config)
    assert matches == {
        "guidance": 0.3, "income": 0.4, "cash": 0.3, "quarter": 0.6, "annual": 0.4,
    }  # fmt: skip
    most = shares(points(100, 1), config)["guidance"]
    assert most == pytest.approx(20 / 119, abs=0.01)


def test_no_company_is_drawn_beyond_twenty_times_its_share() -> None:
    config = SamplingConfig(size=10, us_share=0, **_QUOTAS)
    made = build_frame(with_quotas(points(200, 1), config))
    of_company = made.weight_of_company
    assert of_company[0] / of_company[1] == pytest.approx(20)
    assert of_company[1:].max() == pytest.approx(of_company[1:].min())


def test_a_region_keeps_its_share_whatever_it_lacks() -> None:
    config = SamplingConfig(size=60, us_share=0.5, **_QUOTAS)
    abroad = points(20, 3)
    home = points(20, 0).with_columns(is_us=pl.lit(True), company="u" + pl.col("company"),
                                      point_id="u" + pl.col("point_id"))  # fmt: skip
    assert shares(pl.concat([abroad, home]), config)["guidance"] == pytest.approx(0.3, abs=0.02)


def test_what_the_material_lacks_is_said() -> None:
    config = SamplingConfig(size=60, us_share=0, **_QUOTAS)
    frame = points(400, 1).filter(pl.col("period") != "quarter")
    source = pl.when(company="c00").then(pl.lit("other:")).otherwise(pl.lit("one:"))
    frame = frame.with_columns(company=source + pl.col("company"))
    assert lacking(frame, config) == [
        "guidance: quota 30.0 %, but the material allows only about 4.8 %",
        "quarter: quota 60.0 %, but the material allows only about 0.0 %",
        "other: 1 of 400 companies, about 2.9 of 60 questions",
    ]
    assert lacking(points(20, 20), config) == []


def test_without_quotas_every_category_of_a_company_is_as_likely() -> None:
    config = SamplingConfig(size=60, us_share=0, categories={}, periods={})
    frame = points(20, 20)
    assert with_quotas(frame, config).equals(frame)
    matches = shares(frame, config)
    assert matches == {"guidance": 0.33, "income": 0.33, "cash": 0.33}


def test_the_draw_follows_and_names_plain_categories() -> None:
    config = SamplingConfig(size=60, us_share=0.5, **_QUOTAS)
    drawing = draw(points(20, 20), config, 7)
    rows = drawing.without(())
    assert set(rows["category"]) == {"guidance", "income", "cash"}
    report = drawing.report(())
    assert sum(report["by_category"].values()) == sum(report["by_period"].values()) == 60
    assert report["by_category"]["income"] == pytest.approx(24, abs=4)
    assert report["by_period"]["quarter"] == pytest.approx(36, abs=4)
    first = rows["point_id"][0]
    replaced = drawing.without({first})
    assert first not in replaced["point_id"]
    assert replaced.height == 60


def test_a_frame_whose_quotas_are_all_nil_is_drawn_from() -> None:
    config = SamplingConfig(size=2, us_share=0, categories={}, periods={"annual": 0.0})
    entry = points(1, 0).filter(period="annual")
    assert with_quotas(entry, config).height == entry.height


def test_categories_without_a_quota_share_the_rest() -> None:
    config = SamplingConfig(size=60, us_share=0, categories={"guidance": 0.2}, periods={})
    assert shares(points(20, 20), config)["guidance"] == 0.2
    strata = with_quotas(points(20, 20), config)["category"].unique().sort()
    plain = pl.DataFrame({"stratum": strata}).select(category_of(pl.col("stratum"))).to_series()
    assert sorted(set(plain)) == ["cash", "guidance", "income"]
