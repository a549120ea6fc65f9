"""Words that nothing knows, things taken the other way round, and answers that need no figure."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl
import pytest

from construction.analytics import steps as s
from construction.analytics.ablation import unneeded_steps
from construction.analytics.answers import written_parts
from construction.analytics.config import AnalyticsRecipe
from construction.analytics.contracts import AnalyticsReason, Part
from construction.analytics.execute_polars import run
from construction.analytics.fairness import FAIR, fairness_of
from construction.analytics.gates import executed, faults, judge
from construction.analytics.prompt_gates import _turned
from tests.construction.analytics.world import QUESTION, STEPS, bench, declaration, draft

RANK, LOOKUP, SUM = STEPS
REGION = {"column": "region", "value": "Isdal"}
OF_REGION = {**SUM, "where": [SUM["where"][0], REGION]}
PEOPLE = {"op": "lookup", "source": "regions", "where": [REGION], "column": "population"}
RATIO = (
    "Divide the combined revenue in fiscal 2021 of the companies based in Isdal by the population "
    "in 2022."
)


def unknown(question: str, language: Any = "en", terms: tuple[str, ...] = ()) -> list[str]:
    return list(bench().vocabulary.unknown(question, language, terms))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (QUESTION, []),
        (f"{QUESTION} Ignore the exporters.", ["ignore", "exporters"]),
        ("How many measures have “Subsidy” in the title?", ["subsidy"]),
    ],
)
def test_english_words_that_nothing_knows(question: str, words: list[str]) -> None:
    assert [w for w in unknown(question) if w in ("ignore", "exporters", "subsidy")] == words


def test_terms_of_titles_are_known() -> None:
    assert "subsidy" not in unknown("“Subsidy” in the title", terms=("Subsidy",))


def test_chinese_pairs_are_compared_between_declared_words() -> None:
    known = "总部位于2022年人口排名第四（从高到低）的省份的公司"
    assert unknown(known, "zh") == []
    assert "出口" in unknown(known + "出口额合计", "zh")


def ratio(first: str, second: str) -> list[str]:
    compare = {"op": "compare", "first": first, "second": second, "result": "ratio"}
    made = draft(OF_REGION, PEOPLE, compare, question=RATIO)
    return list(_turned(made, bench().said(made), declaration()))


def test_what_is_divided_is_named_first() -> None:
    assert ratio("$1", "$2") == []
    assert ratio("$2", "$1") == ["step 3 takes it the other way round"]


def test_growth_is_from_the_earlier_year() -> None:
    early = {**SUM, "where": [{"column": "fiscal_year", "value": 2018}, REGION]}
    for first, second, expected in (("$1", "$2", 0), ("$2", "$1", 1)):
        compare = {"op": "compare", "first": first, "second": second, "result": "growth"}
        made = draft(OF_REGION, early, compare)
        assert len(list(_turned(made, bench().said(made), declaration()))) == expected


def test_a_step_that_undoes_another_is_unneeded() -> None:
    rate = {"op": "compare", "second": 10, "result": "ratio"}
    back = {"op": "compare", "first": "$2", "second": 10, "result": "product"}
    program = s.program_of([OF_REGION, {**rate, "first": "$1"}, back])
    parts = (Part(part="value", step=3, kind="money", decimals=0),)
    results = run(program, bench().tables)
    gold = written_parts(parts, results)
    assert unneeded_steps(program, parts, bench().tables, gold, results) == [2, 3]


def test_yes_or_no_alone_needs_no_figure() -> None:
    compare = {"op": "compare", "first": "$3", "second": 5, "result": "greater"}
    yes = (Part(part="supported", step=4, kind="boolean"),)
    doubled = dict(bench().tables)
    doubled["accounts"] = doubled["accounts"].with_columns(pl.col("revenue") * 2)
    own = dataclasses.replace(bench(), public=doubled)
    judged = executed(draft(*STEPS, compare, parts=yes), own)
    assert (AnalyticsReason.WORLD_KNOWLEDGE, "yes or no alone") in list(faults(judged, own))


def test_the_gate_records_the_first_fault_and_passes_without_one() -> None:
    judged = judge(draft(), bench())
    assert FAIR.judge(fairness_of(judged, judged.reason), AnalyticsRecipe()).reason is None
    verdict = FAIR.judge(fairness_of(judged, AnalyticsReason.KNIFE_EDGE), AnalyticsRecipe())
    assert (verdict.reason, verdict.limit) == ("answer.knife_edge", 0)
    assert {str(limit.reason) for limit in FAIR.limits} == set(map(str, AnalyticsReason))
