"""Each gate finds the fault that it is for, and lets a good candidate pass."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl
import pytest

from construction.analytics.candidates import Bench, Judged
from construction.analytics.contracts import AnalyticsReason, Part
from construction.analytics.gates import judge, noise_that_bites
from construction.analytics.make import _Guesser
from construction.analytics.templates import World
from tests.construction.analytics.world import QUESTION, STEPS, YEAR, bench, draft


def reason(judged: Judged) -> str | None:
    return None if judged.reason is None else f"{judged.reason}: {judged.detail}"


def test_a_good_candidate_passes_and_has_its_value() -> None:
    judged = judge(draft(), bench())
    assert judged.reason is None
    tables = bench().tables
    second = tables["regions"].sort("gdp", descending=True)["region"][1]
    rows = tables["accounts"].filter(fiscal_year=2021, region=second)
    assert judged.written == (f"{round(rows['revenue'].sum())}",)


def test_noise_that_bites_is_what_changes_the_answer() -> None:
    assert {"units", "years", "aliases"} <= set(noise_that_bites(judge(draft(), bench()), bench()))


RANK, LOOKUP, SUM = STEPS
ONE_FILE = {
    "op": "statistic",
    "source": "accounts",
    "function": "sum",
    "column": "revenue",
    "where": [YEAR],
}
UNUSED = {"op": "statistic", "source": "regions", "function": "sum", "column": "gdp"}
IDLE = {"op": "filter", "source": "regions", "where": [{"column": "gdp", "test": "known"}]}
THIRD = {**SUM, "where": [YEAR, {"column": "region", "value": "$3"}]}
NOWHERE = {**SUM, "where": [{"column": "fiscal_year", "value": 1900}]}


@pytest.mark.parametrize(
    ("steps", "changes", "expected"),
    [
        ((ONE_FILE, {**ONE_FILE, "source": "accounts"}), {}, AnalyticsReason.UNNEEDED),
        (
            (ONE_FILE, {"op": "compare", "first": "$1", "second": 2, "result": "ratio"}),
            {},
            AnalyticsReason.SINGLE_SOURCE,
        ),
        ((RANK, LOOKUP, UNUSED, SUM), {}, AnalyticsReason.UNNEEDED),
        (
            (IDLE, {**RANK, "source": "$1"}, {**LOOKUP, "source": "$2"}, THIRD),
            {},
            AnalyticsReason.UNNEEDED,
        ),
        ((RANK, LOOKUP, NOWHERE), {}, AnalyticsReason.MISSING_DATA),
        ((SUM,), {}, AnalyticsReason.MISSING_DATA),
        (
            (RANK, LOOKUP, SUM, *[UNUSED] * 16),
            {},
            AnalyticsReason.STEPS_RANGE,
        ),
        ((), {"words": {"year": "2020"}}, AnalyticsReason.NOT_UNIQUE),
        (
            (),
            {"question": QUESTION.replace(" of 2022", ""), "words": {"year": "2021"}},
            AnalyticsReason.NOT_UNIQUE,
        ),
        ((), {"question": f"{QUESTION} See provinces_2022."}, AnalyticsReason.LEAK),
        ((), {"question": f"{QUESTION} Mind missing values."}, AnalyticsReason.LEAK),
        ((), {"question": f"{QUESTION} Use total_assets."}, AnalyticsReason.LEAK),
        ((), {"guidelines": "Answer yes or no."}, AnalyticsReason.MISMATCH),
        (
            (),
            {"guidelines": "Answer with a number in million kronor rounded to 2 decimals."},
            AnalyticsReason.MISMATCH,
        ),
    ],
)
def test_a_planted_fault_is_found(
    steps: tuple[dict[str, Any], ...], changes: dict[str, Any], expected: AnalyticsReason
) -> None:
    judged = judge(draft(*steps, **changes), dataclasses.replace(bench(), readings={}))
    assert judged.reason is expected, reason(judged)


def test_an_answer_in_the_prompt_is_found_with_and_without_commas() -> None:
    (value,) = judge(draft(), bench()).written
    for form in (value, f"{int(value):,}"):
        judged = judge(draft(question=f"{QUESTION} Is it {form}?"), bench())
        assert judged.reason is AnalyticsReason.IN_PROMPT


def test_a_value_that_the_public_tables_give_is_world_knowledge() -> None:
    known = dataclasses.replace(bench(), public=bench().tables)
    assert judge(draft(), known).reason is AnalyticsReason.WORLD_KNOWLEDGE
    doubled = dict(bench().tables)
    doubled["accounts"] = doubled["accounts"].with_columns(pl.col("revenue") * 2)
    assert judge(draft(), dataclasses.replace(bench(), public=doubled)).reason is None


def edged(column: str, values: dict[str, float]) -> Bench:
    """The bench with other values of a column of `regions`, in the first executor alone."""
    regions = bench().tables["regions"]
    changed = pl.Series(column, [values.get(name, 1.0) for name in regions["region"]])
    tables = {**bench().tables, "regions": regions.with_columns(changed)}
    return dataclasses.replace(bench(), tables=tables, readings={})


def test_ranks_within_rounding_stand_on_a_knife_edge() -> None:
    names = bench().tables["regions"]["region"].to_list()
    near = {names[0]: 100.0, names[1]: 99.9, names[2]: 50.0}
    assert judge(draft(), edged("gdp", near)).reason is AnalyticsReason.KNIFE_EDGE
    far = {names[0]: 100.0, names[1]: 80.0, names[2]: 50.0}
    assert judge(draft(), edged("gdp", far)).reason is AnalyticsReason.DISAGREE


def test_a_rank_behind_a_tie_is_no_single_place() -> None:
    names = ("Hollmoor", "Jarnfoss", "Pellan")  # where all companies report
    third = ({**RANK, "take": 3}, {**LOOKUP, "where": [{"column": "rank", "value": 3}]}, SUM)
    tied = {names[0]: 100.0, names[1]: 100.0, names[2]: 50.0}
    judged = judge(draft(*third), edged("gdp", tied))
    assert judged.reason is AnalyticsReason.KNIFE_EDGE
    assert "a tie before rank 3" in judged.detail
    apart = {**tied, names[1]: 80.0}
    assert judge(draft(*third), edged("gdp", apart)).reason is not AnalyticsReason.KNIFE_EDGE


def test_a_ranking_that_leaves_nobody_out_chooses_nothing() -> None:
    few = {
        "op": "filter",
        "source": "regions",
        "where": [{"column": "gdp", "test": ">", "value": 5}],
    }
    third = (
        few,
        {**RANK, "source": "$1", "take": 3},
        {**LOOKUP, "source": "$2", "where": [{"column": "rank", "value": 3}]},
        {**SUM, "where": [YEAR, {"column": "region", "value": "$3"}]},
    )
    large = {"Hollmoor": 100.0, "Jarnfoss": 80.0, "Pellan": 50.0}
    judged = judge(draft(*third), edged("gdp", large))
    assert reason(judged) == "answer.missing_data: step 2: 3 values"
    fourth = edged("gdp", large | {"Alvern": 20.0})
    assert judge(draft(*third), fourth).reason is not AnalyticsReason.MISSING_DATA


def test_that_a_figure_is_known_is_idle_where_it_always_is() -> None:
    def with_known(column: str) -> Judged:
        known = {"column": column, "test": "known"}
        return judge(draft(RANK, LOOKUP, {**SUM, "where": [*SUM["where"], known]}), bench())

    assert reason(with_known("company")) == "steps.unneeded: step 3: company known changes nothing"
    # Five companies state no province: whoever asks cannot know whether the condition matters.
    assert with_known("region").reason is not AnalyticsReason.UNNEEDED


def test_thresholds_and_comparisons_stand_on_a_knife_edge() -> None:
    tables = bench().tables
    revenue = tables["accounts"].filter(fiscal_year=2021)["revenue"].drop_nulls().sort()
    at = float(revenue[len(revenue) // 2]) * (1 + 1e-6)
    limit = [YEAR, {"column": "revenue", "test": ">", "value": at}]
    counted = {**ONE_FILE, "function": "count", "where": limit}
    assert "rows at the threshold" in judge(draft(RANK, LOOKUP, counted), bench()).detail
    greater = {"op": "compare", "first": "$1", "second": 100.0, "result": "greater"}
    average = {**UNUSED, "function": "max"}
    steps = (average, {"op": "compare", "first": "$1", "second": "$1", "result": "percent"})
    verdict = {**greater, "first": "$2"}
    part = (Part(part="supported", step=3, kind="boolean"),)
    judged = judge(draft(*steps, verdict, parts=part), bench())
    assert judged.reason is AnalyticsReason.KNIFE_EDGE


def test_another_reading_of_the_noise_makes_the_answer_not_unique() -> None:
    accounts = bench().tables["accounts"].with_columns(pl.col("revenue") + 1)
    other = {"first_record": {**bench().tables, "accounts": accounts}}
    judged = judge(draft(), dataclasses.replace(bench(), readings=other))
    assert judged.reason is AnalyticsReason.NOT_UNIQUE
    assert "first_record" in judged.detail


def test_a_guesser_of_one_name_or_of_yes_is_kept_near_chance() -> None:
    world = World(bench().declaration, bench().tables)
    guesser = _Guesser(world, 0.1)
    assert guesser.limit("boolean", 20) == 12
    assert guesser.limit("place", 20) == int(20 * (1 / 16 + 0.1))
