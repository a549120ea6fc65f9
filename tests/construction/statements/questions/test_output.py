"""The data set and the candidates: nothing of a value in what is public."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from construction.statements.questions.contracts import Question, QuestionConfig
from construction.statements.questions.make import make_questions
from construction.statements.questions.operations import TOOLS
from construction.statements.questions.output import (
    ANSWERS,
    QUESTIONS,
    candidate_of,
    write_questions,
)
from data.contracts import PRIVATE_FIELDS, Candidate, Lane
from tests.construction.statements.questions.small import Book, drawn


def some_questions(*values: str) -> list[Question]:
    book, points = Book(), []
    company = book.company("sec:1", "ARDENT MILLS INC", ticker="ARDM", source="sec")
    for at, value in enumerate(values):
        line = book.line(
            company, f"Income statement | Costs | Gain on item {chr(65 + at)}", concept=f"c{at}"
        )
        points.append(book.value(line, value))
    return list(make_questions(drawn(*points), book.close(), QuestionConfig(), 7).questions)


def test_tables_have_their_schemas_and_the_same_bytes(tmp_path: Path) -> None:
    questions = some_questions("812400000", "-31500000", "77000")
    first = write_questions(tmp_path / "a", tmp_path / "b", questions, 7, "q-{}".format)
    again = write_questions(tmp_path / "c", tmp_path / "d", questions[::-1], 7, "q-{}".format)
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    requests, answered = map(pl.read_parquet, first)
    assert dict(requests.schema) == QUESTIONS.schema
    assert dict(answered.schema) == ANSWERS.schema
    assert requests["index"].to_list() == answered["index"].to_list() == [0, 1, 2]
    assert first[1].stat().st_mode & 0o777 == 0o600
    joined = requests.join(answered, on="index")
    assert set(joined["value"]) == {"812.4", "-31.5", "77"}
    assert set(requests["fiscal_period"]) == {"FY2010"}
    assert set(requests.columns).isdisjoint({"value", "answer", "scale", "decimals", "point_id"})


def _public(candidate: Candidate) -> str:
    """What may be published: the private fields and the private part of the provenance left out."""
    return candidate.model_dump_json(exclude={*PRIVATE_FIELDS, "provenance"})


@given(value=st.integers(10_000, 10**12), negative=st.booleans())
def test_no_public_text_holds_the_digits_of_the_value(value: int, negative: bool) -> None:
    for question in some_questions(f"{'-' if negative else ''}{value}"):
        digits = str(value).rstrip("0")
        public = re.sub(r"[,.]", "", _public(candidate_of(question, "q-1")))
        assert len(digits) < 4 or digits not in public
        assert question.answer not in public


def test_a_candidate_says_what_graders_and_reports_need() -> None:
    (question,) = some_questions("-31500000")
    candidate = candidate_of(question, "q-0001", licence="public domain")
    assert candidate.lane is Lane.QUESTIONS
    assert candidate.prompt.startswith(question.text)
    assert "minus sign" in candidate.prompt
    assert candidate.tools == TOOLS
    assert candidate.evidence.retrieval and candidate.evidence.accuracy
    assert not candidate.evidence.action and not candidate.evidence.semantic
    (answer,) = candidate.answers
    assert (answer.value, answer.unit, answer.scale) == ("-31.5", "USD", 1000000)
    assert (answer.decimals, answer.tolerance) == (1, 0.0)
    assert candidate.task_family is not None
    assert candidate.task_family.value == "finance_accounting"
    assert candidate.display_group == "business"
    assert candidate.difficulty == "easy"
    assert [milestone.name for milestone in candidate.milestones] == [
        "company",
        "series",
        "period",
        "value",
    ]
    assert candidate.milestones[-1].value == "-31500000"
    assert candidate.milestones[-1].implies == ("company", "series", "period")
    assert [step.operation for step in candidate.steps] == [*TOOLS, "present"]
    read, present = candidate.steps[-2:]
    assert read.arguments["series_id"] == candidate.milestones[1].value
    assert read.arguments["period"] == candidate.milestones[2].value
    assert (present.arguments["unit"], present.arguments["scale"]) == ("USD", 1000000)
    assert not {"value", "answer"} & set(present.arguments)
    assert candidate.provenance.licence == "public domain"
    assert candidate.provenance.disclosure == "public"
    assert Candidate.model_validate_json(candidate.model_dump_json()) == candidate


def test_a_question_in_the_words_of_the_database_is_easy() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(
        company, "Segments | Geography | Europe | Sales", dimensions="Geography=Europe"
    )
    point = book.value(line, "5000000", months=3, fiscal_period="Q4", period_type="quarter")
    table = drawn(point, category="segments_geography")
    (question,) = make_questions(table, book.close(), QuestionConfig(), 7).questions
    candidate = candidate_of(question, "q-1")
    assert candidate.difficulty == "easy"
    assert candidate.task_family is not None
    assert candidate.task_family.value == "data_reporting"
    assert candidate.business_task == "Look up one figure: segments geography"
