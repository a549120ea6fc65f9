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
from construction.judging.evidence.views import Evidence, FileView, Part, Said, Sheet
from construction.judging.model.write import _deliverables_of
from construction.mentions.files import media_type
from data.canonical import digest
from data.contracts import Candidate, Disclosure, Fixture, Lane, Provenance
from data.text.language import UNDETERMINED, language_of

CONFIG = ModelStagesConfig(judge="model:m")


def view(path: str, text: str) -> FileView:
    """What a file of text shows: a table with a row a line if it is CSV, else one part."""
    kind: dict[str, Any] = {"bytes": len(text.encode()), "media_type": media_type(path)}
    if not path.endswith(".csv"):
        return FileView(path=path, kind="text", parts=(Part(where="whole", text=text),), **kind)
    rows = tuple(tuple(line.split(",")) for line in text.splitlines())
    sheet = Sheet(name="", head=rows, rows=len(rows) - 1, header_row=1, last_row=len(rows))
    return FileView(path=path, kind="table", sheets=(sheet,), **kind)


def case(
    request: str | Sequence[str],
    files: Mapping[str, str] | None = None,
    *,
    item_id: str = "t1",
    outputs: Sequence[str] = (),
    at: str | None = None,
    agent: Sequence[str] = (),
    evidence: Mapping[str, Any] | None = None,
    **more: Any,
) -> Case:
    """A case by its messages and files with their texts; `outputs` are names asked for.

    `agent` holds what it answered to each message, `at` when the messages were sent.
    """
    messages = [request] if isinstance(request, str) else list(request)
    said = []
    for number, text in enumerate(messages):
        said.append(Said(speaker="person", at=at, text=text))
        if number < len(agent):
            said.append(Said(speaker="agent", text=agent[number]))
    views = tuple(view(path, text) for path, text in (files or {}).items())
    words = "\n\n".join(messages)
    candidate = Candidate(
        task_id=item_id,
        lane=Lane.SESSIONS,
        prompt=words,
        language=language_of(words) or UNDETERMINED,
        fixtures=tuple(
            Fixture(
                path=one.path,
                sha256=digest(one.path),
                bytes=one.bytes,
                media_type=one.media_type,
            )
            for one in views
        ),
        deliverables=_deliverables_of(outputs),
        provenance=Provenance(
            source="s", source_format="chat", item_id="i", disclosure=Disclosure.PUBLIC
        ),
    )
    seen = Evidence(said=tuple(said), files=views, **(evidence or {}))
    return Case(candidate=candidate, request=words, evidence=seen, **more)


def with_scan(request: str, **more: Any) -> Case:
    """A case with a PDF of two pages without text; `more` are other fields of its view."""
    note = "2 pages; 2 of them hold no text and can only be looked at: page 1, page 2"
    fields: dict[str, Any] = {"kind": "pdf", "bytes": 90_000, "media_type": "application/pdf"}
    fields |= {"pictures": ("page 1", "page 2"), "note": note} | more
    item = case(request)
    files = (FileView(path="MX-200.pdf", **fields),)
    seen = item.evidence.model_copy(update={"files": files})
    return item.model_copy(update={"evidence": seen})


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
        return Answered(question.item_id, value, "m", Usage(5, 3), False)


def always(result: Mapping[str, Any] | CallReason) -> Scripted:
    """A client that gives one answer to everything."""
    return Scripted(lambda question: result)
