"""Of each figure the question says whose it is, and what a step states has an effect."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from construction.analytics import steps as s
from construction.analytics.ablation import idle_conditions, idle_criteria, unneeded_steps
from construction.analytics.answers import written_parts
from construction.analytics.contracts import Language, Part
from construction.analytics.execute_polars import State, run
from construction.analytics.gates import _knife_edges
from construction.analytics.scope import scope_faults
from tests.construction.analytics.world import YEAR, bench, declaration

REGION = {"column": "region", "value": "Isdal"}
SECTOR = {"column": "sector", "value": "manufacturing"}
REVENUE = {
    "op": "statistic",
    "source": "accounts",
    "function": "sum",
    "column": "revenue",
    "where": [YEAR, REGION, SECTOR],
}
WORKERS = {
    "op": "lookup",
    "source": "sector_workers",
    "where": [REGION, SECTOR],
    "column": "workers",
}
RATIO = {"op": "compare", "first": "$1", "second": "$2", "result": "ratio"}
PER_WORKER = (
    "For Isdal, divide the combined revenue in fiscal 2021 of the companies in manufacturing based "
    "there by the number of workers (2021 census) in manufacturing there."
)
OF_KIND = "the companies in manufacturing based there"


def said(
    question: str, *steps: dict[str, Any], language: Language = "en", known: Any = None
) -> list[str]:
    program = s.program_of(list(steps))
    return list(scope_faults(program, question, known or declaration(), language))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        (
            "(2021 census) in manufacturing",
            "(2021 census)",
            ["the question does not say of which kind the sector_workers are"],
        ),
        (
            OF_KIND,
            "the companies based there",
            ["companies are mentioned and not said to be of their kind"],
        ),
        (
            OF_KIND,
            "the companies in manufacturing",
            ["the companies are not said to be based in the place"],
        ),
    ],
)
def test_part_and_whole_say_their_scope(old: str, new: str, expected: list[str]) -> None:
    question = PER_WORKER.replace(old, new) if old else PER_WORKER
    assert said(question, REVENUE, WORKERS, RATIO) == expected


def test_the_figure_of_a_place_is_said_to_be_its_own() -> None:
    people = {"op": "lookup", "source": "regions", "where": [REGION], "column": "population"}
    of_all = {**REVENUE, "where": [YEAR, REGION]}
    question = "For Isdal, divide the combined revenue in fiscal 2021 of the companies based there"
    assert said(f"{question} by its population in 2022.", of_all, people, RATIO) == []
    assert said(f"{question} by the population in 2022.", of_all, people, RATIO) != []


def test_part_and_whole_are_of_the_same_companies_in_words_and_steps() -> None:
    part = {**REVENUE, "where": [YEAR, SECTOR]}
    whole = {**REVENUE, "where": [YEAR]}
    share = {**RATIO, "result": "percent"}
    narrow = (
        "What percentage of the combined revenue in fiscal 2021 of the companies in manufacturing "
        "belongs to the companies in manufacturing?"
    )
    assert said(narrow, part, whole, share) != []
    wide = narrow.replace("companies in manufacturing", "companies", 1)
    assert said(wide, part, whole, share) == []


APART = (
    "Which provinces with a large population in 2022 have companies whose combined revenue is "
    "above 500,000?"
)
LARGE = {
    "op": "filter",
    "source": "regions",
    "where": [{"column": "population", "test": ">", "value": 500000}],
}


@pytest.mark.parametrize(
    ("question", "language", "n"),
    [
        ("Which provinces have a population in 2022 above 500,000?", "en", 0),
        ("Which provinces have a population in 2022 of at least 500,000?", "en", 1),
        (
            APART,
            "en",
            1,
        ),
        ("2022年人口超过500,000的省份有哪些？", "zh", 0),
        ("2022年人口至少500,000的省份有哪些？", "zh", 1),
    ],
)
def test_a_limit_stands_beside_its_metric_and_says_whether_it_passes(
    question: str, language: Language, n: int
) -> None:
    assert len(said(question, LARGE, language=language)) == n


SCORE: dict[str, Any] = {
    "op": "score",
    "source": "regions",
    "criteria": [{"column": "population", "weight": 2}, {"column": "gdp", "weight": 1}],
}
THIRD = {"op": "rank", "source": "$1", "column": "score", "label": "region", "take": 3}
ITS_SCORE = {
    "op": "lookup",
    "source": "$2",
    "where": [{"column": "rank", "value": 3}],
    "column": "score",
}


def test_weights_and_the_rank_of_a_figure_are_said() -> None:
    question = "Add them with weights 2 and 1. Name the three best, and the score of the third."
    assert said(question, SCORE, THIRD, ITS_SCORE) == []
    assert len(said(question.replace(" of the third", ""), SCORE, THIRD, ITS_SCORE)) == 1
    assert len(said(question.replace("2 and 1", "2 and"), SCORE, THIRD, ITS_SCORE)) == 1


def measured(*steps: dict[str, Any], kind: str = "money") -> tuple[Any, ...]:
    program = s.program_of(list(steps))
    parts = (Part(part="value", step=len(steps), kind=kind, decimals=0),)
    results = run(program, bench().tables)
    return program, parts, bench().tables, written_parts(parts, results), results


def test_a_limit_that_lets_every_row_of_the_answer_pass_changes_nothing() -> None:
    joined = {
        "op": "join",
        "source": "accounts",
        "other": "regions",
        "on": {"region": "region"},
        "take": ["population"],
        "where": [YEAR],
    }
    for limit, expected in ((0, 1), (1_000_000, 0)):
        above = {"column": "population", "test": ">", "value": limit}
        total = {**REVENUE, "source": "$1", "where": [above]}
        assert len(list(idle_conditions(*measured(joined, total)))) == expected


def test_a_sector_that_the_industry_implies_changes_nothing() -> None:
    industry = {"column": "industry", "value": "machinery"}
    assert list(idle_conditions(*measured({**REVENUE, "where": [YEAR, industry]}))) == []
    both = measured({**REVENUE, "where": [YEAR, industry, SECTOR]})
    assert list(idle_conditions(*both)) == ["step 1: sector = changes nothing"]


def test_a_criterion_of_no_weight_changes_nothing() -> None:
    light = {**SCORE, "criteria": [SCORE["criteria"][0], {"column": "gdp", "weight": 0}]}
    program = s.program_of([light, {**THIRD, "take": 3}])
    parts = (Part(part="names", step=2, kind="list", column="region"),)
    results = run(program, bench().tables)
    gold = written_parts(parts, results)
    idle = list(idle_criteria(program, parts, bench().tables, gold, results))
    assert idle == ["step 1: the criterion gdp changes nothing"]


def test_a_conversion_before_a_rank_correlation_changes_nothing() -> None:
    converted = {
        "op": "convert",
        "source": "regions",
        "column": "dollars",
        "of": "gdp",
        "how": "over",
        "by": 10,
        "by_value": True,
    }
    together = {"op": "correlate", "source": "$1", "x": "dollars", "y": "population"}
    for method, expected in (("spearman", [1]), ("pearson", [1])):
        steps = measured(converted, {**together, "method": method}, kind="coefficient")
        assert unneeded_steps(*steps) == expected


def test_a_remainder_that_is_nothing_beside_its_figures_is_an_edge() -> None:
    steps: list[dict[str, Any]] = [
        {"op": "convert", "source": "t", "column": "left", "of": "a", "how": "minus", "by": "b"},
        {
            "op": "statistic",
            "source": "$1",
            "function": "count",
            "column": "left",
            "where": [{"column": "left", "test": "<", "value": 0}],
        },
    ]
    parts = (Part(part="value", step=2, kind="count", decimals=0),)
    for second, expected in ((1000.04, 1), (1000.2, 0)):
        table = pl.DataFrame({"a": [1000.0, 500.0], "b": [second, 900.0]})
        program = s.program_of(steps)
        state = State({"t": table})
        state.results = list(run(program, {"t": table}))
        assert len(list(_knife_edges(program, state, parts, 0.005))) == expected
