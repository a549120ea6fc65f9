"""Oracles and planted answers on questions about the demo's statements and real ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.grading import demo_sources, judged, material_sources, oracles
from benchmarks.planted_answers import (
    Material,
    equivalent_forms,
    read_material,
    wrong_answers,
)
from construction.grading.grade import grade
from construction.grading.oracle import OracleError, computable, oracle
from data.contracts.attempt import Submission

pytestmark = pytest.mark.slow(seconds=2)

N_DEMO, N_REAL = 230, 500
LEAST_WRONG, LEAST_KINDS, BAR = 3000, 10, 0.99


@pytest.fixture(scope="module")
def demo_questions(tmp_path_factory: pytest.TempPathFactory) -> Material:
    folder = tmp_path_factory.mktemp("demo-questions")
    return read_material(demo_sources(), N_DEMO, folder / "tables")


@pytest.fixture(scope="module")
def real_questions(material: Path, tmp_path_factory: pytest.TempPathFactory) -> Material:
    folder = tmp_path_factory.mktemp("real-questions")
    return read_material(material_sources(material), N_REAL, folder / "tables")


def share(counts: dict[str, dict[str, int]], name: str) -> float:
    return sum(count[name] for count in counts.values()) / sum(
        count["n"] for count in counts.values()
    )


def test_oracles_of_the_demo_score_one(demo_questions: Material) -> None:
    result = oracles(demo_questions)
    assert (result["right"], result["questions"]) == (N_DEMO, N_DEMO), result["failures"]


@pytest.mark.full
def test_oracles_of_real_questions_score_one(real_questions: Material) -> None:
    result = oracles(real_questions)
    assert (result["right"], result["questions"]) == (N_REAL, N_REAL), result["failures"]


def test_planted_wrong_answers_are_rejected_with_their_reason(demo_questions: Material) -> None:
    counts = judged(wrong_answers(demo_questions))
    assert len(counts) >= LEAST_KINDS
    assert sum(count["n"] for count in counts.values()) >= LEAST_WRONG
    assert share(counts, "reason") >= BAR, counts


@pytest.mark.full
def test_wrong_answers_to_real_questions_are_rejected(real_questions: Material) -> None:
    counts = judged(wrong_answers(real_questions))
    assert share(counts, "reason") >= BAR, counts


def test_equivalent_forms_are_accepted(demo_questions: Material) -> None:
    counts = judged(equivalent_forms(demo_questions))
    assert share(counts, "verdict") >= BAR, counts


def test_an_oracle_never_reads_the_gold(demo_questions: Material) -> None:
    spec = demo_questions.specs[0]
    answer = oracle(spec, demo_questions.database).answer
    wrong = replace(spec, answers=(replace(spec.answers[0], value="123456789"),))
    assert oracle(wrong, demo_questions.database).answer == answer
    assert grade(wrong, oracle(wrong, demo_questions.database)).passed is False


def test_steps_that_do_not_lead_to_the_value_are_errors(demo_questions: Material) -> None:
    spec, database = demo_questions.specs[0], demo_questions.database
    find, line, read, present = spec.steps
    elsewhere = replace(find, arguments={"query": "Nobody Knows This Company Ltd"})
    other_day = replace(
        present, arguments={**(present.arguments or {}), "period_end": "1999-01-01"}
    )
    unit = replace(present, arguments={**(present.arguments or {}), "unit": "XXX"})
    dangling = replace(present, arguments={**(present.arguments or {}), "values": "$9.values"})
    strange = replace(line, arguments={"colour": "blue"})
    unknown = replace(read, arguments={"company_id": "none:1", "series_id": "x"})
    for steps, message in (
        ((elsewhere, line, read, present), "step 2: company_id .* was in no earlier output"),
        ((find, line, read, other_day), "0 values fit"),
        ((find, line, read, unit), "not XXX"),
        ((find, line, read, dangling), "earlier step"),
        ((find, strange, read, present), "invalid arguments"),
        ((find, line, unknown, present), "refused"),
        ((find, line, read), "cannot be run"),
    ):
        with pytest.raises(OracleError, match=message):
            oracle(replace(spec, steps=steps), database)
    assert computable(spec) and not computable(replace(spec, steps=()))


def test_an_oracle_reaches_every_milestone(demo_questions: Material) -> None:
    spec = demo_questions.specs[0]
    submission = oracle(spec, demo_questions.database)
    silent = replace(submission, answer=None, statements=())
    score = grade(spec, silent)
    assert score.passed is False
    assert (score.progress.gpr_direct, score.progress.first_unreached) == (1.0, None)
    nothing = grade(spec, Submission(steps=1)).progress
    assert (nothing.gpr_inferred, nothing.first_unreached) == (0.0, "company")
    assert nothing.operation == "discover_companies"
