"""Risk, utility and the gate between them."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import polars as pl
import pytest

from anonymization.tables.attacks.linked import Risk, link
from anonymization.tables.attacks.report import attack, order_attack
from anonymization.tables.config import (
    AttackConfig,
    FidelityConfig,
    PerturbMethod,
    RiskLimits,
    UtilityLimits,
)
from anonymization.tables.fidelity import utility
from anonymization.tables.gates import RiskReason
from anonymization.tables.privacy_report import (
    CONFIGURED,
    FrontierPoint,
    TablePrivacy,
    _statement,
    frontier,
    frontier_picture,
    grid,
    judge,
    passes,
    privacy_json,
    rates_picture,
    would_pass,
)
from data.canonical import pretty_json
from data.contracts import Status
from tests.anonymization.tables.attacks.world import NOISE, world
from tests.anonymization.tables.build import KEY, company_config, step

ATTACKS = AttackConfig(known=("people", "assets", "cash"))
LOOSE = FidelityConfig(max_beyond=1)
OPEN = RiskLimits(one_company=1, whole_industry=1, history=1, largest=1)


@pytest.fixture(scope="module")
def points() -> tuple[FrontierPoint, ...]:
    frame, _, config = world(NOISE)
    tried = grid(config)
    names = (CONFIGURED, "least_significant_digit 2", "rank_swap 0.2", "log_noise 1")
    return frontier(frame, {n: tried[n] for n in names}, KEY, ATTACKS, 3, LOOSE)


@pytest.fixture(scope="module")
def output(points: tuple[FrontierPoint, ...]) -> TablePrivacy:
    frame, released, config = world(NOISE)
    report = attack(frame, released, config, ATTACKS)
    limits, worth = RiskLimits(), UtilityLimits()
    codes = [order_attack({"C1": "C7", "C2": "C3"}, "id")]
    verdict = judge(report, limits, worth, points)
    name = "companies <script>&\x1b[2J"
    return TablePrivacy(name, report, codes, points[0].utility, points, limits, worth, verdict)


def test_nothing_changed_is_full_utility() -> None:
    frame, _, config = world(NOISE)
    actual = utility(link(frame, frame, config), config.relations)
    assert (actual.spearman, actual.flips, actual.sums, actual.d, actual.broken) == (1, 0, 0, 0, 0)


def test_flips_sums_and_relations_as_counted_by_hand() -> None:
    frame = pl.DataFrame(
        {
            "id": ["a", "a", "a", *"bcde"],
            "industry": ["x"] * 7,
            "year": ["2020", "2021", "2022", *["2020"] * 4],
            "assets": [100, 110, 120, 50, 60, 70, 80],
            "liabilities": [60, 60, 60, 25, 30, 35, 40],
            "equity": [40, 50, 60, 25, 30, 35, 40],
            "cash": [10, 10, 20, 5, 5, 5, 5],
            "people": [1, 2, 3, 4, 5, 6, 7],
        }
    )
    released = frame.with_columns(
        people=pl.Series([3, 2, 4, 4, 5, 6, 7]),  # one of two changes turned; 2020: 23 → 25
        cash=pl.Series([10, 10, 20, 5, 5, 5, 500]),  # above the assets in one row
        equity=pl.Series([40, 50, 100, 25, 30, 35, 40]),  # one total does not add up
    )
    config = company_config(NOISE)
    actual = utility(link(frame, released, config), config.relations)
    assert (actual.flips, actual.of["flips"]) == (0.5, "people")
    assert actual.broken == 2
    # only 2020 has five numbers; the worst sum is that of cash: 30 → 525
    assert (actual.sums, actual.of["sums"]) == (495 / 30, "cash")


def test_stronger_methods_cost_utility_and_risk(points: tuple[FrontierPoint, ...]) -> None:
    digits, noise = points[1], points[3]
    assert digits.utility.spearman > 0.99 > noise.utility.spearman
    for risk in (Risk.ONE_COMPANY, Risk.WHOLE_INDUSTRY):
        assert digits.risks[risk].rate > 0.85 > 2 * noise.risks[risk].rate


def test_the_gate_refuses_and_says_what_would_pass(points: tuple[FrontierPoint, ...]) -> None:
    frame, released, config = world(step(PerturbMethod.LSD, 2))
    report = attack(frame, released, config, ATTACKS)
    limits = RiskLimits(one_company=0.6, whole_industry=0.8, history=1, largest=1)
    verdict = judge(report, limits, UtilityLimits(), points)
    assert (verdict.status, verdict.reason) == (Status.FAILED, RiskReason.ABOVE_LIMIT)
    assert verdict.limit == 0.6
    worst = report.worst(Risk.ONE_COMPANY, 3)
    assert worst is not None
    assert verdict.observed == worst.rate
    safe = [p.setting for p in points if passes(p.risks, limits)]
    assert verdict.measures["would_pass"] == "; ".join(safe)
    assert "log_noise 1" in safe
    assert "least_significant_digit 2" not in safe
    assert verdict.measures["would_pass_and_keep_utility"] == "none of those tried"


def test_a_setting_that_fails_fidelity_would_not_pass(points: tuple[FrontierPoint, ...]) -> None:
    frame, _, config = world(NOISE)
    strict = frontier(frame, {"log_noise 1": grid(config)["log_noise 1"]}, KEY, ATTACKS, 3)
    assert strict[0].fidelity.status is Status.FAILED
    assert would_pass(points[3:], OPEN, UtilityLimits())["would_pass"] == "log_noise 1"
    assert would_pass(strict, OPEN, UtilityLimits())["would_pass"] == "none of those tried"


def test_declared_risks_pass(points: tuple[FrontierPoint, ...]) -> None:
    frame, released, config = world(NOISE)
    report = attack(frame, released, config, ATTACKS)
    assert judge(report, OPEN, UtilityLimits(), points).status is Status.PASSED


def test_no_attack_on_the_industry_is_unverified() -> None:
    quick = ATTACKS.model_copy(update={"assignment": False})
    report = attack(*world(NOISE), quick)
    limits = OPEN.model_copy(update={"whole_industry": 0.2})
    verdict = judge(report, limits, UtilityLimits(), ())
    assert (verdict.status, verdict.reason) == (Status.UNVERIFIED, RiskReason.NOT_ATTACKED)


def test_a_setting_without_attack_on_the_industry_would_not_pass(
    points: tuple[FrontierPoint, ...],
) -> None:
    (quick,) = (
        replace(
            p, risks={r: actual for r, actual in p.risks.items() if r is not Risk.WHOLE_INDUSTRY}
        )
        for p in points[:1]
    )
    limits = OPEN.model_copy(update={"whole_industry": 0.99})
    assert not passes(quick.risks, limits)
    assert would_pass([quick], limits, UtilityLimits())["would_pass"] == "none of those tried"
    assert would_pass([quick], OPEN, UtilityLimits())["would_pass"] == CONFIGURED  # accepted


def test_a_release_that_passes_without_its_declared_utility_says_so(output: TablePrivacy) -> None:
    assert "does not keep" not in _statement(output)  # refused: what would pass is said instead
    verdict = judge(output.attacks, OPEN, output.worth, output.frontier)
    for least, is_kept in ((1.0, False), (0.0, True)):
        worth = UtilityLimits(min_spearman=least, max_flips=1, max_sums=99, max_broken=999)
        passing = replace(output, limits=OPEN, worth=worth, verdict=verdict)
        assert ("does not keep the declared utility" in _statement(passing)) is not is_kept


def test_a_risk_above_its_limit_fails_even_if_others_were_not_measured() -> None:
    frame, _, config = world(NOISE)
    report = attack(frame, frame, config, ATTACKS.model_copy(update={"assignment": False}))
    verdict = judge(report, RiskLimits(), UtilityLimits(), ())
    assert (verdict.status, verdict.reason) == (Status.FAILED, RiskReason.ABOVE_LIMIT)


def test_limits_hold_for_the_columns_declared(points: tuple[FrontierPoint, ...]) -> None:
    report = attack(*world(NOISE), ATTACKS)
    every, item = report.worst(Risk.WHOLE_INDUSTRY, 5), report.worst(Risk.WHOLE_INDUSTRY, 1)
    assert every is not None
    assert item is not None
    assert len(item.columns) == 1
    assert every.rate > item.rate
    limits = OPEN.model_copy(update={"whole_industry": (every.rate + item.rate) / 2})
    narrow = limits.model_copy(update={"columns": 1})
    wide = limits.model_copy(update={"columns": 5})
    assert judge(report, narrow, UtilityLimits(), points).status is Status.PASSED
    assert judge(report, wide, UtilityLimits(), points).status is Status.FAILED


def test_the_file_is_the_same_every_time_and_holds_no_company(output: TablePrivacy) -> None:
    written = pretty_json(privacy_json(output))
    frame, released, config = world(NOISE)
    again = replace(output, attacks=attack(frame.reverse(), released.reverse(), config, ATTACKS))
    assert pretty_json(privacy_json(again)) == written
    assert not any(code.encode() in written for code in frame["id"].unique())
    table = json.loads(written)
    assert table["verdict"]["reason"] == "risk.above_limit"
    assert len(table["frontier"]) == 4
    of_companies = {risk.value for risk in Risk} - {Risk.UNIQUE_PERSON.value}
    assert {a["risk"] for a in table["attacks"]} == of_companies


def test_nothing_claims_more_than_was_measured(output: TablePrivacy) -> None:
    text = json.dumps(privacy_json(output)) + rates_picture(output) + frontier_picture(output)
    for word in ("irreversible", "anonymous", "cannot be re-identified", "guarantee"):
        assert word not in text
    worst = output.attacks.worst(Risk.WHOLE_INDUSTRY, 3)
    assert worst is not None
    assert f"{100 * worst.rate:.1f} %" in _statement(output)
    assert "none of those tried" in _statement(output)


def test_pictures_are_whole_and_names_are_no_markup(output: TablePrivacy) -> None:
    for picture in (rates_picture, frontier_picture):
        inline, alone = picture(output), picture(output, standalone=True)
        assert ElementTree.fromstring(inline).tag == "{http://www.w3.org/2000/svg}svg"
        assert "<style>" in alone
        assert "<style>" not in inline
        for text in (inline, alone):
            assert "<script" not in text
            assert "\x1b" not in text
