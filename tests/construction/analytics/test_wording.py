"""What a question must say for its steps, what it may not say, and what gives an answer away."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from construction.analytics.ablation import reduced, unneeded_steps
from construction.analytics.answers import written_parts
from construction.analytics.candidates import Draft
from construction.analytics.contracts import Part
from construction.analytics.execute_polars import run
from construction.analytics.gates import executed, faults
from construction.analytics.origins import columns_read, origin, tables_behind
from construction.analytics.steps import program_of
from construction.analytics.wording import said_in
from tests.construction.analytics.world import QUESTION, STEPS, YEAR, bench, declaration, draft


def reasons(changed: Draft) -> set[str]:
    own = dataclasses.replace(bench(), readings={})
    return {str(reason) for reason, _ in faults(executed(changed, own), own)}


def test_the_good_candidate_has_no_fault() -> None:
    assert reasons(draft()) == set()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("second-largest", "largest", "answer.not_unique"),
        ("second-largest", "second-lowest", "steps.other_question"),
        ("second-largest", "third-largest", "answer.not_unique"),
        ("combined revenue", "average revenue", "answer.not_unique"),
        ("combined revenue", "average revenue", "steps.other_question"),
        ("combined revenue", "combined turnover", "answer.not_unique"),
        ("combined revenue", "combined net income", "steps.other_question"),
        (" in fiscal 2021", "", "answer.not_unique"),
        ("companies", "companies in chemicals", "steps.other_question"),
        ("companies", "companies with more than 500 people", "steps.other_question"),
        ("revenue in", "revenue in million kronor, not in thousands, in", "steps.other_question"),
        ("province", "municipality", "answer.missing_data"),
        ("?", "? The annual accounts file has it.", "priors.leak"),
        ("?", "? Provinces are spelt in several ways.", "priors.leak"),
        ("?", "? One has to look twice.", "priors.leak"),
        ("revenue in", "revenue (staff) in", "priors.leak"),
    ],
)
def test_a_changed_question_is_rejected(old: str, new: str, expected: str) -> None:
    assert expected in reasons(draft(question=QUESTION.replace(old, new, 1)))


@pytest.mark.parametrize("digits", ["{:.0f}", "{:,.0f}", "about {:,.0f}", "{:.3g} thousand"])
def test_the_answer_may_not_stand_in_the_prompt_in_any_form(digits: str) -> None:
    value = float(executed(draft(), bench()).written[0])
    hint = f"{QUESTION} It was {digits.format(value / 1000 if 'thousand' in digits else value)}."
    assert "answer.in_prompt" in reasons(draft(question=hint))
    good = draft()
    with_example = dataclasses.replace(good, guidelines=f"{good.guidelines} Example: {value:.0f}.")
    assert {"answer.in_prompt", "guidelines.mismatch"} <= reasons(with_example)


def test_guidelines_are_those_that_follow_from_the_answer() -> None:
    good = draft()
    for old, new in (("last filing", "first filing"), (" Round half up, only at the end.", "")):
        assert old in good.guidelines
        changed = dataclasses.replace(good, guidelines=good.guidelines.replace(old, new))
        assert "guidelines.mismatch" in reasons(changed)


def test_labels_are_taken_out_the_longest_first() -> None:
    said = said_in("Net income and income per head in 2022 of Alvern.", declaration(), "en")
    assert said.metrics == {"net_income", "income_per_head"}
    assert set(said.names) == {"Alvern"}
    assert said.numbers == set()


def test_columns_come_from_where_the_steps_take_them() -> None:
    program = program_of(list(STEPS))
    assert columns_read(program) >= {("regions", "gdp"), ("accounts", "revenue")}
    assert origin(program, "$1", "gdp") == ("regions", "gdp")
    assert origin(program, "$1", "rank") is None
    assert tables_behind(program, 2) == {"regions"}
    assert tables_behind(program, 3) == {"regions", "accounts"}


SUM = {"op": "statistic", "source": "accounts", "function": "sum", "column": "revenue"}
PER_REGION: dict[str, Any] = {
    "op": "aggregate", "source": "accounts", "by": ["region"],
    "measures": {"total": ["sum", "revenue"]}, "where": [YEAR],
}  # fmt: skip
RANKED = {"op": "rank", "source": "$1", "column": "total", "label": "region", "take": 8}
THREE = {"op": "filter", "source": "$2", "where": [{"column": "rank", "test": "<=", "value": 3}]}


def by_ten(first: str) -> dict[str, Any]:
    return {"op": "compare", "first": first, "second": 10, "result": "ratio"}


def year(number: int) -> list[dict[str, Any]]:
    return [{"column": "fiscal_year", "value": number}]


GROWTH = {"op": "compare", "first": "$3", "second": "$4", "result": "growth"}
NUMBER = Part(part="value", step=5, kind="percent", decimals=2)


@pytest.mark.parametrize(
    ("steps", "part", "expected"),
    [
        # Converted at one rate, and divided by each other: the rate cancels.
        (
            [{**SUM, "where": year(2021)}, {**SUM, "where": year(2020)}, by_ten("$1"),
             by_ten("$2"), GROWTH],
            NUMBER,
            [3, 4],
        ),
        # The three best of the eight best are the three best of all.
        ([PER_REGION, RANKED, THREE], Part(part="l", step=3, kind="list", column="region"), [3]),
        # A sum of sums is the sum of all rows with a province.
        (
            [PER_REGION, {**SUM, "source": "$1", "column": "total"}],
            Part(part="v", step=2, kind="money", decimals=0),
            [1],
        ),
        # The same sum twice.
        (
            [{**SUM, "where": year(2021)}, {**SUM, "where": year(2021)},
             {"op": "compare", "first": "$1", "second": "$2", "result": "ratio"}],
            Part(part="v", step=3, kind="ratio", decimals=2),
            [2],
        ),
    ],
)  # fmt: skip
def test_steps_that_change_nothing_together_or_again(
    steps: list[dict[str, Any]], part: Part, expected: list[int]
) -> None:
    program, tables = program_of(steps), bench().tables
    known = {name: frame for name, frame in tables.items() if name != "accounts"}
    known["accounts"] = tables["accounts"].drop_nulls("region")
    results = run(program, known)
    gold = written_parts([part], results)
    assert unneeded_steps(program, [part], known, gold, results) == expected


def test_what_stands_besides_a_join_that_does_nothing_is_one_file() -> None:
    join = {
        "op": "join", "source": "accounts", "other": "regions", "on": {"region": "region"},
        "take": ["gdp"], "where": [YEAR, {"column": "region", "value": "Alvern"}],
    }  # fmt: skip
    program = program_of([join, {**SUM, "source": "$1"}])
    part = Part(part="v", step=2, kind="money", decimals=0)
    gold = written_parts([part], run(program, bench().tables))
    assert len(program) == 2
    shorter = reduced(program, [part], bench().tables, gold)
    # The rows of the other provinces are passed over too, so that the join stays needed.
    assert shorter == program
