"""Asking a model about many items, and what becomes of each answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from construction.judging.calls.contracts import Answered, Image, Question, Unanswered
from construction.judging.model.contracts import Asker, Fault, Judged, JudgeReason
from construction.judging.model.injection import leaked
from construction.judging.model.prompt import Block, Cleaner, Prompt, data_block
from construction.mentions.urls import find_urls
from data.contracts import LedgerRow, Outcome

S = TypeVar("S")
A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """A value that passed the checks, and what was corrected in it."""

    value: T
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage(Generic[S, A, T]):
    """A stage that asks: how a subject becomes material, and an answer a value.

    `content` cleans every string of the material with the cleaner it is given. `check` sees
    answers that fit their form and repeat nothing of the prompt.
    """

    prompt: Prompt
    answer: type[A]
    item_id: Callable[[S], str]
    content: Callable[[S, Cleaner], dict[str, Any]]
    check: Callable[[S, A], Checked[T] | Fault]
    tables: str = ""
    images: Callable[[S], tuple[Image, ...]] = lambda subject: ()


def ask(stage: Stage[S, A, T], subjects: Sequence[S], client: Asker) -> list[Judged[T]]:
    """The result of each subject, in their order; each depends on its own subject only."""
    blocks = [_block(stage, subject) for subject in subjects]
    questions = [
        question(stage, subject, block) for subject, block in zip(subjects, blocks, strict=True)
    ]
    outcomes = client.ask(questions) if questions else []
    return [
        _judged(stage, subject, block, outcome)
        for subject, block, outcome in zip(subjects, blocks, outcomes, strict=True)
    ]


def question(stage: Stage[S, A, T], subject: S, block: Block | None = None) -> Question:
    """The request about one subject. Its system text is the same for all subjects."""
    prompt = stage.prompt
    return Question(
        item_id=stage.item_id(subject),
        stage=prompt.name,
        system=prompt.system(stage.tables),
        user=prompt.user(block or _block(stage, subject)),
        answer=stage.answer,
        max_tokens=prompt.max_tokens,
        images=stage.images(subject),
    )


def rows(stage: str, unit: str, judged: Sequence[Judged[T]]) -> list[LedgerRow]:
    """A ledger row per item: kept with a value, errored with the reason otherwise."""
    return [
        LedgerRow(
            stage,
            unit,
            one.item_id,
            Outcome.ERRORED if one.value is None else Outcome.KEPT,
            reason=one.reason,
        )
        for one in judged
    ]


def texts_of(value: object) -> list[str]:
    """Every string in an answer, at any depth, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts_of(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in texts_of(part)]
    return []


def _block(stage: Stage[S, A, T], subject: S) -> Block:
    cleaner = Cleaner()
    content = stage.content(subject, cleaner)
    return data_block(content, cleaner.notes)


def _judged(
    stage: Stage[S, A, T], subject: S, block: Block, outcome: Answered | Unanswered
) -> Judged[T]:
    item_id = stage.item_id(subject)
    if isinstance(outcome, Unanswered):
        return Judged(item_id, None, outcome.reason, outcome.detail, usage=outcome.usage)
    checked = _checked(stage, subject, block, outcome.value)
    if isinstance(checked, Fault):
        return Judged(item_id, None, checked.reason, checked.detail, usage=outcome.usage)
    return Judged(item_id, checked.value, notes=checked.notes, usage=outcome.usage)


def _checked(
    stage: Stage[S, A, T], subject: S, block: Block, value: BaseModel
) -> Checked[T] | Fault:
    if not isinstance(value, stage.answer):
        return Fault(JudgeReason.WRONG_FORM, type(value).__name__)
    texts = texts_of(value.model_dump(mode="json"))
    if leaked(stage.prompt, block.fence, texts):
        return Fault(JudgeReason.PROMPT_LEAK)
    urls = _urls(texts)
    if urls and not urls <= _urls([block.text]):
        return Fault(JudgeReason.FOREIGN_URL)
    return stage.check(subject, value)


def _urls(texts: Sequence[str]) -> set[str]:
    return {mention.url for text in texts if "/" in text for mention in find_urls(text)}
