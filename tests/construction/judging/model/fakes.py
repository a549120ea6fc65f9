"""Cases, and clients that answer from a script instead of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from construction.judging.calls.contracts import (
    Answered,
    CallReason,
    Question,
    Unanswered,
    Usage,
)
from construction.judging.contracts import Case, ModelStagesConfig
from data.contracts import Candidate, Deliverable, Disclosure, Fixture, Lane, Provenance
from data.text.language import UNDETERMINED, language_of

CONFIG = ModelStagesConfig(judge="model:m")


def case(
    request: str,
    *files: str,
    item_id: str = "t1",
    outputs: Sequence[tuple[str, str]] = (),
    excerpts: Mapping[str, str] | None = None,
    **more: Any,
) -> Case:
    """A case by its request and input files; `outputs` are file types with a name asked for."""
    candidate = Candidate(
        task_id=item_id,
        lane=Lane.SESSIONS,
        prompt=request,
        language=language_of(request) or UNDETERMINED,
        fixtures=tuple(
            Fixture(path=path, sha256="0" * 64, bytes=10, media_type="text/plain") for path in files
        ),
        deliverables=tuple(
            Deliverable(file_type=kind, name_hints=(name,) if name else ())
            for kind, name in outputs
        ),
        provenance=Provenance(
            source="s", source_format="chat", item_id="i", disclosure=Disclosure.PUBLIC
        ),
    )
    return Case(candidate=candidate, request=request, excerpts=dict(excerpts or {}), **more)


class Scripted:
    """Answers each question as a client does: validated, or not at all. Keeps what was asked."""

    def __init__(self, reply: Callable[[Question], Mapping[str, Any] | CallReason]) -> None:
        self._reply = reply
        self.asked: list[Question] = []

    def ask(self, questions: Sequence[Question]) -> list[Answered | Unanswered]:
        self.asked += questions
        return [self._outcome(question) for question in questions]

    def _outcome(self, question: Question) -> Answered | Unanswered:
        result = self._reply(question)
        if isinstance(result, CallReason):
            return Unanswered(question.item_id, result, "scripted")
        try:
            value: BaseModel = question.answer.model_validate(result)
        except ValidationError as error:
            actual = f"{error.error_count()} errors"
            return Unanswered(question.item_id, CallReason.INVALID, actual)
        return Answered(question.item_id, value, "m", Usage(5, 3), False, False)


def always(result: Mapping[str, Any] | CallReason) -> Scripted:
    """A client that gives one answer to everything."""
    return Scripted(lambda question: result)
