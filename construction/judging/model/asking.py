"""Asking a model about many items: questions and checks, client and budget of a run, costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import orjson
from pydantic import BaseModel

from construction.judging.calls.contracts import (
    Answered,
    Budget,
    CallReason,
    Image,
    LlmConfig,
    LlmRuntime,
    Mode,
    Question,
    Unanswered,
    Usage,
)
from construction.judging.calls.contracts import Outcome as CallOutcome
from construction.judging.contracts import Asker, Fault, Judged, JudgeReason
from construction.judging.model.prompt import Block, Cleaner, Prompt, data_block, leaked
from construction.mentions.urls import find_urls
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import LedgerRow, Outcome, Scalar
from data.errors import ReleaseError

if TYPE_CHECKING:
    from construction.judging.llm import Client

S = TypeVar("S")
A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")
_Passed = TypeVar("_Passed", covariant=True)  # it is read, and never changed
_MODEL_USE = "model_use.json"
Costs = Sequence[Mapping[str, Scalar]]
_LEFT_OUT = "asked without "  # the note on a setting that the endpoint does not take
_FOREIGN = "It holds a web address that does not stand in the material."
_SETTLED = "faults that stayed: "
_MOST_NAMED = 3  # items without an answer that an error names
_UNSETTLED = frozenset(reason for reason in CallReason if not reason.is_settled)
_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@dataclass(frozen=True, slots=True)
class Checked(Generic[_Passed]):
    """A value that passed the checks, and what was corrected in it."""

    value: _Passed
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with an answer, a short sentence each; the model is asked once to mend it.

    `reason` is that of the item if it stays wrong and nothing falls back.
    """

    sentences: tuple[str, ...]
    reason: JudgeReason = JudgeReason.WRONG_FORM


@dataclass(frozen=True, slots=True)
class Stage(Generic[S, A, T]):
    """A stage that asks a model: how a subject becomes material, and an answer a value.

    `content` cleans every string of the material with the given cleaner. `check` gets only answers
    that fit their type and repeat nothing of the prompt but what the material repeats. What it
    finds as `Faults` goes back to the model once. `settle` makes a value of what is still wrong
    then, field by field: of the last answer (None if there is none) and its faults. `programs` are
    fields that run where there is no network, so that they may hold any address.
    """

    prompt: Prompt
    answer: type[A]
    item_id: Callable[[S], str]
    content: Callable[[S, Cleaner], dict[str, Any]]
    check: Callable[[S, A], Checked[T] | Fault | Faults]
    tables: str = ""
    images: Callable[[S], tuple[Image, ...]] = lambda subject: ()
    programs: frozenset[str] = frozenset()
    settle: Callable[[S, A | None, tuple[str, ...]], T] | None = None


_Verdict = Checked[T] | Fault | Faults | Unanswered


def ask(stage: Stage[S, A, T], subjects: Sequence[S], client: Asker) -> list[Judged[T]]:
    """The result of each subject, in order; it depends on that subject only."""
    if not subjects:
        return []
    blocks = [_block(stage, subject) for subject in subjects]
    pairs = zip(subjects, blocks, strict=True)
    questions = [_question(stage, subject, block) for subject, block in pairs]
    outcomes = client.ask(questions)
    checked = [_checked(stage, *one) for one in zip(subjects, blocks, outcomes, strict=True)]
    repairs = {
        n: replace(questions[n], repair=repair)
        for n, one in enumerate(checked)
        if (repair := _repair(outcomes[n], one)) is not None
    }
    for n, second in zip(
        repairs, client.ask(list(repairs.values())) if repairs else (), strict=True
    ):
        first = outcomes[n]
        # Without a usable second answer the first one and its faults stand.
        stands = isinstance(second, Unanswered) and second.reason.is_settled
        left_out = tuple(sorted({*first.left_out, *second.left_out}))
        usage, kept = first.usage + second.usage, first if stands else second
        outcomes[n] = replace(kept, usage=usage, left_out=left_out)
        checked[n] = checked[n] if stands else _checked(stage, subjects[n], blocks[n], second)
    return [_judged(stage, *one) for one in zip(subjects, outcomes, checked, strict=True)]


def _repair(outcome: CallOutcome, checked: _Verdict[T]) -> tuple[str, str] | None:
    """An answer and what the model is asked to mend in it, if it is asked at all."""
    sentences = checked.sentences if isinstance(checked, Faults) else ()
    if isinstance(checked, Fault) and checked.reason is JudgeReason.FOREIGN_URL:
        sentences = (_FOREIGN,)
    if not sentences or not isinstance(outcome, Answered) or outcome.repaired:
        return None
    faults = "".join(f"\n- {sentence}" for sentence in sentences)
    complaint = f"Your answer has these faults:{faults}\nSend the whole corrected object."
    return outcome.value.model_dump_json(), complaint


def _question(stage: Stage[S, A, T], subject: S, block: Block | None = None) -> Question:
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
    """A ledger row per item: kept if it has a value, otherwise errored with the reason."""
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


def _texts_of(value: object) -> list[str]:
    """Every string in an answer, at any depth, including keys."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in _texts_of(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _texts_of(part)]
    return []


def _block(stage: Stage[S, A, T], subject: S) -> Block:
    cleaner = Cleaner()
    return data_block(stage.content(subject, cleaner), cleaner.notes)


def _judged(
    stage: Stage[S, A, T], subject: S, outcome: CallOutcome, checked: _Verdict[T]
) -> Judged[T]:
    item_id, usage = stage.item_id(subject), outcome.usage
    notes = outcome.mended if isinstance(outcome, Answered) else ()
    notes = (*notes, *(f"{_LEFT_OUT}{name}" for name in outcome.left_out))
    if isinstance(checked, Checked):
        return Judged(item_id, checked.value, notes=(*checked.notes, *notes), usage=usage)
    faults = checked.sentences if isinstance(checked, Faults) else (str(checked.reason),)
    detail = "; ".join(faults) if isinstance(checked, Faults) else checked.detail
    if stage.settle is None or checked.reason in _UNSETTLED:
        return Judged(item_id, None, checked.reason, detail, notes, usage)
    value = outcome.value if isinstance(outcome, Answered) else None
    answer = value if isinstance(checked, Faults) and isinstance(value, stage.answer) else None
    settled = stage.settle(subject, answer, faults)
    if checked.reason is CallReason.UNRECORDED:
        return Judged(item_id, settled, usage=usage, is_recorded=False)
    notes = (*notes, f"{_SETTLED}{len(faults)}")
    return Judged(item_id, settled, detail=detail, notes=notes, usage=usage)


def _checked(stage: Stage[S, A, T], subject: S, block: Block, outcome: CallOutcome) -> _Verdict[T]:
    if isinstance(outcome, Unanswered):
        return outcome
    value = outcome.value
    if not isinstance(value, stage.answer):
        return Fault(JudgeReason.WRONG_FORM, type(value).__name__)
    texts = _texts_of(value.model_dump(mode="json"))
    if leaked(stage.prompt, block.fence, texts, _texts_of(orjson.loads(block.text))):
        return Fault(JudgeReason.PROMPT_LEAK)
    spoken = value.model_dump(mode="json", exclude=set(stage.programs))
    urls = _urls(_texts_of(spoken))
    if urls and not urls <= _urls([block.text]):
        return Fault(JudgeReason.FOREIGN_URL)
    return stage.check(subject, value)


def _urls(texts: Sequence[str]) -> set[str]:
    return {mention.url for text in texts if "/" in text for mention in find_urls(text)}


class UnansweredError(ReleaseError):
    """A model gave no reply about something that a stage needs."""


@contextmanager
def shared_budget(config: LlmConfig) -> Iterator[Budget]:
    """What all clients opened within may spend together; within another budget, that one."""
    outer = _BUDGET.get()
    if outer is not None:
        yield outer
        return
    budget = Budget(config)
    token = _BUDGET.set(budget)
    try:
        yield budget
    finally:
        _BUDGET.reset(token)


@contextmanager
def model_client(
    config: LlmConfig, runtime: LlmRuntime, store: Path, *, masked: bool
) -> Iterator[Client]:
    """A client on the shared budget; `store` is the private folder in which it keeps replies.

    `masked` states that every text in the questions is masked or was public from the start: a
    model at a non-loopback address sees nothing else (law 9).
    """
    from construction.judging.llm import Client  # imports openai: two seconds, only with a model

    with (
        shared_budget(config) as budget,
        Client(config, runtime, store, masked=masked, budget=budget) as client,
    ):
        yield client


def require_answers(judged: list[Judged[T]]) -> list[Judged[T]]:
    """`judged` unchanged; raises UnansweredError if the model did not reply to some question.

    A reply that could not be used (refused, invalid) is a final outcome with its reason: any replay
    gives the same.
    """
    lacking = [item for item in judged if item.reason in _UNSETTLED]
    if lacking:
        reasons = Counter(str(item.reason) for item in lacking)
        summary = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
        names = list(dict.fromkeys(item.item_id for item in lacking))
        others = " and others" if len(names) > _MOST_NAMED else ""
        raise UnansweredError(
            f"judging: found {len(judged)} questions with {summary}; expected an answer to each. "
            f"There was none for {', '.join(names[:_MOST_NAMED])}{others}. Answers so far are "
            "kept: run it again to continue."
        )
    return judged


def cost_rows(
    config: LlmConfig, stages: Mapping[str, Sequence[Judged[Any]]]
) -> list[dict[str, Scalar]]:
    """Per stage: items, errors, items without a recorded reply, and what its answers cost."""
    rows: list[dict[str, Scalar]] = []
    for stage, judged in stages.items():
        model, usage = config.model_of(stage), sum((item.usage for item in judged), Usage())
        cost = config.prices.cost(usage, batch=config.mode is Mode.BATCH, model=model)
        notes = {note for item in judged for note in item.notes if note.startswith(_LEFT_OUT)}
        rows.append(
            {
                "stage": stage,
                "judge": f"model:{model}",
                "items": len(judged),
                "errors": sum(item.value is None for item in judged),
                "unrecorded": sum(not item.is_recorded for item in judged),
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "cost": round(cost, 6),
                "left_out": ", ".join(sorted(note.removeprefix(_LEFT_OUT) for note in notes)),
            }
        )
    return rows


def write_model_use(
    out: Path, costs: Costs, replies: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write into a stage's output what the model cost when asked, and digests of its replies."""
    if costs or replies:
        write_bytes(out / _MODEL_USE, canonical_json({"costs": costs, "replies": replies}))


def model_costs(folders: Sequence[Path]) -> list[dict[str, Scalar]]:
    """What the model cost, over all stages in their order."""
    return [row for use in _model_uses(folders) for row in use["costs"]]


def model_replies(folders: Sequence[Path]) -> dict[str, str]:
    """The digests of the model's replies: inputs of a release, by public name."""
    return {
        name: replies for use in _model_uses(folders) for name, replies in use["replies"].items()
    }


def _model_uses(folders: Sequence[Path]) -> list[dict[str, Any]]:
    paths = [folder / _MODEL_USE for folder in folders]
    return [orjson.loads(path.read_bytes()) for path in paths if path.is_file()]
