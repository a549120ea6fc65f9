"""The gates on released tables: limits themselves pass, and what was not attacked is not passed."""

from __future__ import annotations

import polars as pl
import pytest

from anonymization.tables import gates as fidelity
from anonymization.tables.config import FidelityConfig, RiskLimits
from anonymization.tables.gates import RiskRates, RiskReason, _decide
from data.contracts import Status, Verdict

MEANINGS = {"one_company": "one company", "whole_industry": "whole industry", "history": "history"}


def decided(limits: RiskLimits, **rates: float) -> Verdict:
    risks = {name: MEANINGS[name] for name in rates}
    return _decide(
        RiskRates(rates, risks, {name: f"by {name}" for name in rates}, {"n": 7}), limits
    )


def test_a_rate_of_exactly_the_limit_passes() -> None:
    limits = RiskLimits(one_company=0.2, whole_industry=0.3)
    passed = decided(limits, one_company=0.2, whole_industry=0.1)
    assert (passed.status, passed.observed, passed.limit) == (Status.PASSED, 0.2, 0.2)
    assert passed.measures == {
        "one company": 0.2, "whole industry": 0.1, "n": 7,
        "worst": "one company", "attack": "by one_company",
    }  # fmt: skip
    failed = decided(limits, one_company=0.2001, whole_industry=0.1)
    assert (failed.status, failed.reason) == (Status.FAILED, RiskReason.ABOVE_LIMIT)
    assert (failed.observed, failed.limit) == (0.2001, 0.2)


def test_the_rate_that_is_farthest_above_its_limit_is_shown() -> None:
    limits = RiskLimits(one_company=0.2, whole_industry=0.5, history=0.9)
    failed = decided(limits, one_company=0.5, whole_industry=0.7, history=0.9)
    assert (failed.observed, failed.limit, failed.measures["worst"]) == (0.5, 0.2, "one company")


@pytest.mark.parametrize("limit", [0.0, 0.2, 0.999])
def test_industries_that_were_not_attacked_are_not_passed(limit: float) -> None:
    verdict = decided(RiskLimits(whole_industry=limit), one_company=0.1)
    assert (verdict.status, verdict.reason) == (Status.UNVERIFIED, RiskReason.NOT_ATTACKED)
    assert (verdict.observed, verdict.limit) == (None, limit)


def test_a_risk_that_is_accepted_need_not_be_attacked() -> None:
    verdict = decided(RiskLimits(whole_industry=1), one_company=0.1)
    assert (verdict.status, verdict.limit) == (Status.PASSED, 0.2)


def cells(*rows: tuple[bool, bool, float | None]) -> pl.DataFrame:
    schema = {"assessable": pl.Boolean, "within": pl.Boolean, "d": pl.Float64}
    frame = pl.DataFrame(list(rows), schema=schema, orient="row")
    return frame.with_columns(wasserstein=pl.col("d") * 2)


def test_drift_is_counted_among_what_can_be_assessed() -> None:
    drift = fidelity.measure(cells((True, True, 0.1), (True, False, 0.4), (False, False, None)))
    assert drift == fidelity.Drift(2, 1, 1, 0.4, 0.8)
    assert fidelity.measure(cells((False, False, None))) == fidelity.Drift(0, 1, 0, None, None)


@pytest.mark.parametrize(
    ("assessable", "beyond", "status", "reason"),
    [
        (0, 0, Status.UNVERIFIED, "fidelity.nothing_assessable"),
        (1, 0, Status.PASSED, None),
        (4, 1, Status.PASSED, None),
        (4, 2, Status.FAILED, "fidelity.drifted"),
    ],
)
def test_the_share_that_has_drifted(
    assessable: int, beyond: int, status: Status, reason: str | None
) -> None:
    drift = fidelity.Drift(assessable, 0, beyond, None, None)
    verdict = fidelity.FIDELITY.judge(drift, FidelityConfig(max_beyond=0.25))
    assert (verdict.status, verdict.reason) == (status, reason)
