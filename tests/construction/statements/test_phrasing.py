"""Question phrasing by a model: other words, the same question."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from construction.judging.calls.contracts import CallReason, Image
from construction.judging.contracts import JudgeReason
from construction.statements.phrasing import WordingAnswer, _phrase_questions
from construction.statements.questions.ambiguity import Database, index_database
from construction.statements.questions.contracts import Question, QuestionConfig
from construction.statements.questions.make import make_questions
from tests.construction.judging.model.fakes import CONFIG, Scripted, always
from tests.construction.statements.questions.small import Book, drawn


def _database() -> tuple[Question, Question, Database]:
    book = Book()
    acme = book.company("acme", "Acme Tools Inc.", ticker="ACM")
    sales = book.line(acme, "Income statement | Net sales")
    loss = book.line(acme, "Income statement | Net income (loss)")
    points = [book.value(sales, "5123000"), book.value(loss, "-61000")]
    statements = book.close()
    database = index_database(statements, 0.6)
    requests = make_questions(drawn(*points), statements, QuestionConfig(), 7, database)
    by_point = {question.point_id: question for question in requests.questions}
    return by_point[points[0]], by_point[points[1]], database


SALES, LOSS, DATABASE = _database()
SAID = (
    "What did Acme Tools Inc. report as net sales for fiscal year 2010, in thousands of US dollars?"
)
REMARK = "Give a loss as a negative number."


def phrased(question: Question, wording: str) -> tuple[Question | None, str | None, str]:
    (judged,) = _phrase_questions([question], DATABASE, always({"wording": wording}), CONFIG)
    return judged.value, judged.reason, judged.detail


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        (SALES, SAID),
        (SALES, "Can you tell me Acme Tools Inc.'s net sales  for fiscal year 2010, in thousands "
         "of US dollars?"),
        (SALES, SALES.text),
        (LOSS, "How much net income (loss) did Acme Tools Inc. report for fiscal year 2010, in "
         f"thousands of US dollars? {REMARK}"),
    ],
)  # fmt: skip
def test_other_words_for_the_same(question: Question, wording: str) -> None:
    value, reason, _ = phrased(question, wording)
    assert (value, reason) == (replace(question, text=" ".join(wording.split())), None)


@pytest.mark.parametrize(
    ("question", "wording", "reason", "detail"),
    [
        (SALES, SAID.replace("net sales", "revenue"), JudgeReason.LOSS, "net sales"),
        (SALES, SAID.replace("2010", "2011"), JudgeReason.LOSS, "for fiscal year 2010"),
        (SALES, SAID.replace("Acme Tools Inc.", "Acme"), JudgeReason.LOSS, "Acme Tools Inc."),
        (SALES, SAID.replace("net sales", "total net sales"), JudgeReason.CHANGED_WORDS, "total"),
        (SALES, SAID.replace("net sales", "average net sales"), JudgeReason.CHANGED_WORDS,
         "average"),
        (SALES, SAID.replace("?", ", around 5,123?"), JudgeReason.CHANGED_WORDS, "numbers"),
        (SALES, SAID.replace("thousands", "millions"), JudgeReason.LOSS,
         "in thousands of US dollars"),
        (SALES, SAID.replace("did", "did\u202e"), JudgeReason.CHANGED_WORDS, "numbers"),
        (SALES, SAID + " Really?", JudgeReason.CHANGED_WORDS, "question marks"),
        (SALES, SAID.replace("What", "什么"), JudgeReason.OTHER_LANGUAGE, ""),
        (SALES, "a" * 800, JudgeReason.TOO_LONG, "800 characters"),
        (LOSS, LOSS.text.replace(REMARK, ""), JudgeReason.LOSS, REMARK),
    ],
)  # fmt: skip
def test_wordings_that_ask_for_something_else(
    question: Question, wording: str, reason: str, detail: str
) -> None:
    assert phrased(question, wording) == (None, reason, detail)


def test_a_question_that_fits_another_point_is_not_worded() -> None:
    book = Book()
    acme = book.company("acme", "Acme Tools Inc.")
    sales = book.line(acme, "Income statement | Net sales")
    twin = book.line(acme, "Income statement | Net sales", concept="Other")
    book.value(sales, "5123000")
    book.value(twin, "6123000")
    database = index_database(book.close(), 0.6)
    (judged,) = _phrase_questions([SALES], database, always({"wording": SAID}), CONFIG)
    assert judged.reason == JudgeReason.AMBIGUOUS


def test_a_wording_that_the_answer_check_cannot_read_is_refused() -> None:
    wrong = replace(SALES, answer="6,000 thousand US dollars")
    assert phrased(wrong, SAID)[:2] == (None, JudgeReason.NOT_CHECKABLE)


def test_the_picture_goes_with_its_question() -> None:
    client = Scripted(lambda result: CallReason.REFUSED)
    picture = Image("image/png", b"x")
    judged = _phrase_questions([SALES, LOSS], DATABASE, client, CONFIG, {SALES.point_id: picture})
    assert [result.images for result in client.asked] == [(picture,), ()]
    assert {one.reason for one in judged} == {CallReason.REFUSED}
    assert SALES.answer not in client.asked[0].user


OTHERWISE = SAID.replace("report as net sales for", "take in as net revenue in the whole of")


def _second(row: int | None, answer: str, wording: str = OTHERWISE) -> Scripted:
    """A client that words, then answers from the rows: the gold row, or the one `row` behind."""

    def reply(wanted: Any) -> dict[str, Any]:
        if wanted.answer is WordingAnswer:
            return {"wording": wording}
        rows = orjson.loads(wanted.user[wanted.user.index("{") : wanted.user.rindex("}") + 1])[
            "rows"
        ]
        (gold,) = (one["row"] for one in rows if one["value"] == SALES.point.value)
        return {"row": (gold + (row or 0)) % len(rows), "answer": answer}

    return Scripted(reply)


def test_other_words_for_the_line_stand_if_they_are_answered_with_the_gold() -> None:
    client = _second(0, "5,123 thousand US dollars")
    (judged,) = _phrase_questions([SALES], DATABASE, client, CONFIG)
    assert judged.value == replace(SALES, text=OTHERWISE)
    assert len(client.asked) == 2
    assert SALES.text not in client.asked[1].user


@pytest.mark.parametrize(
    ("row", "answer"),
    [(1, "5,123 thousand US dollars"), (0, "6,123 thousand US dollars"), (0, "5,123 US dollars")],
)
def test_another_row_or_value_refuses_the_wording(row: int, answer: str) -> None:
    (judged,) = _phrase_questions([SALES], DATABASE, _second(row, answer), CONFIG)
    assert (judged.value, judged.reason) == (None, JudgeReason.LOSS)


def test_what_no_words_can_replace_is_not_answered_again() -> None:
    for wording in (
        OTHERWISE.replace("2010", "2011"),
        OTHERWISE.replace("Acme Tools Inc.", "Acme"),
        OTHERWISE.replace("thousands", "millions"),
        OTHERWISE.replace("take in", "take in on average"),
    ):
        client = _second(0, "5,123 thousand US dollars", wording)
        (judged,) = _phrase_questions([SALES], DATABASE, client, CONFIG)
        assert judged.value is None
        assert len(client.asked) == 1
