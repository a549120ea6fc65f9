"""Wording of table questions by a model: the same question in other words, or none.

The structured question decides what is asked for; a wording may only move its words and exchange
those that say nothing (`free_words` of the prompt). What passes has gone through the ambiguity
check and the answer check of `construction.statements.questions` once more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from construction.judging.calls.contracts import Image
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.contracts import (
    Answer,
    Asker,
    Fault,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.statements.answers.check import check_answer
from construction.statements.questions.ambiguity import Slots, rivals
from construction.statements.questions.contracts import Question, Sharpening
from construction.statements.questions.index import Database
from construction.statements.questions.naming import period_words
from construction.statements.questions.signs import phrases_of
from construction.statements.questions.wording import comparable, has_foreign_letters
from data.snapshot.neutralise import visible

STAGE = "question_phrasing"
_NUMBER = re.compile(r"\d[\d,.]*")
_KEPT = re.compile(r"“[^”]*”|\([^()]*\)")
_UNIT = re.compile(r", ((?:in|as) [^,?]+(?:, to [^,?]+)?)")


class WordingAnswer(Answer):
    wording: Annotated[str, Field(min_length=1, max_length=2_000)]


def phrase_questions(
    questions: Sequence[Question],
    database: Database,
    client: Asker,
    config: ModelStagesConfig,
    pictures: Mapping[str, Image] | None = None,
) -> list[Judged[Question]]:
    """Each question in the model's words, in order; the old words stand where there is no value.

    `pictures` shows models that see the statement, by point id.
    """
    return ask(phrasing_stage(database, config, pictures), questions, client)


def phrasing_stage(
    database: Database, config: ModelStagesConfig, pictures: Mapping[str, Image] | None = None
) -> Stage[Question, WordingAnswer, Question]:
    """The stage, for callers that want its requests or checks alone."""
    prompt, shown = load_prompt("phrasing"), pictures or {}

    def images(question: Question) -> tuple[Image, ...]:
        return (shown[question.point_id],) if question.point_id in shown else ()

    def check(question: Question, answer: WordingAnswer) -> Checked[Question] | Fault:
        wording = " ".join(visible(answer.wording).split())
        fault = _form_fault(wording, config) or _word_fault(question, wording, prompt.free_words)
        return fault or _checked(question, wording, database)

    return Stage(
        prompt=prompt,
        answer=WordingAnswer,
        item_id=lambda question: question.point_id,
        content=lambda question, cleaner: _content(question, cleaner, config),
        check=check,
        images=images,
    )


def _content(question: Question, cleaner: Cleaner, config: ModelStagesConfig) -> dict[str, Any]:
    keep = {"question": question.text, **_parts(question)}
    return {name: cleaner.text(text, config.wording_chars, name) for name, text in keep.items()}


def _parts(question: Question) -> dict[str, str]:
    """The parts of the old words that must come back as they are."""
    text = question.text
    dated = Sharpening.DATES in question.sharpened
    unit = _UNIT.search(text)
    metrics = [phrase.text for phrase in phrases_of(question.series.label) if phrase.text in text]
    parts = {
        "company": question.company.name,
        "line_item": max(metrics, key=len, default=""),
        "period": period_words(question.point, dated=dated),
        "unit": unit[1] if unit else "",
        "remark": text.partition("?")[2].strip(),
    }
    form = text.casefold()
    return {name: part for name, part in parts.items() if part and part.casefold() in form}


def _form_fault(wording: str, config: ModelStagesConfig) -> Fault | None:
    if len(wording) > config.wording_chars:
        return Fault(JudgeReason.TOO_LONG, f"{len(wording)} characters")
    if has_foreign_letters(wording):
        return Fault(JudgeReason.OTHER_LANGUAGE)
    return None if wording.count("?") == 1 else Fault(JudgeReason.CHANGED_WORDS, "question marks")


def _word_fault(question: Question, wording: str, free: frozenset[str]) -> Fault | None:
    """Parts that are gone, and words or numbers that came or went."""
    form = wording.casefold()
    parts = [*_parts(question).values(), *_KEPT.findall(question.text)]
    gone = [part for part in parts if part.casefold() not in form]
    if gone:
        return Fault(JudgeReason.LOSS, ", ".join(gone))
    if sorted(_numbers(wording)) != sorted(_numbers(question.text)):
        return Fault(JudgeReason.CHANGED_WORDS, "numbers")
    allowed = {word for one in free for word in comparable(one)}
    changed = set(comparable(wording)) ^ set(comparable(question.text))
    strange = sorted(changed - allowed)
    return Fault(JudgeReason.CHANGED_WORDS, ", ".join(strange)) if strange else None


def _numbers(text: str) -> list[str]:
    return [number.rstrip(".,") for number in _NUMBER.findall(text)]


def _checked(question: Question, wording: str, database: Database) -> Checked[Question] | Fault:
    slots = Slots(question.company, question.series, question.point, question.sharpened)
    if rivals(slots, database):
        return Fault(JudgeReason.AMBIGUOUS)
    if not check_answer(question.answer, question.gold, wording).is_correct:
        return Fault(JudgeReason.NOT_CHECKABLE)
    return Checked(replace(question, text=wording))
