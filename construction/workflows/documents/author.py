"""Ideas become scenario documents: a model writes them, the screening judges, faults go back.

The model is sent the page for authors, an example, what services there are, and one idea; it
answers with a document. Asked by another prompt, it derives the result a second time, from the
prose alone (`derivation`). What is wrong with a document goes back twice. Kept is what passes all
checks of an author (`check.document_lines`) and what both derivations agree on: the model's word is
never taken for anything. Its replies are captured like all others, so that a rebuild replays them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import Field

from construction.judging.contracts import Answer, Asker, Judged
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.workflows.declaration import (
    Collection,
    Operation,
    operations,
    service,
    service_names,
)
from construction.workflows.documents.check import DRAFTS, NO_SECOND, document_lines, drafts_of
from construction.workflows.documents.contracts import (
    Document,
    DocumentFault,
    document_of,
    fields_in,
)
from construction.workflows.documents.derivation import PROMPT as DERIVATION
from construction.workflows.documents.derivation import Read, Reading, derivation_stage
from construction.workflows.documents.gold import uneven_fields
from construction.workflows.documents.scenario import FOLDER, known_to_readers
from construction.workflows.screening import ScreeningConfig
from construction.workflows.values import FieldRule
from data.apportion import apportion
from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.contracts import LedgerRow, Outcome
from data.randomness import keyed_order

STAGE, PROMPT, EXAMPLE = "workflow_documents", "author", "ticket_triage"
ROUNDS = 3
_MOST_FAULTS, _LONGEST = 20, 120_000  # lines, characters of a document


class AuthorReason(StrEnum):
    """Why an idea that was tried became no scenario."""

    UNPROVEN = "document.unproven"  # after three rounds something is still wrong with it
    UNUSABLE = "document.unusable"  # the model gave no answer that can be used


class Written(Answer):
    document: Annotated[str, Field(min_length=200, max_length=_LONGEST)]


@dataclass(frozen=True, slots=True)
class Attempt:
    """An idea with what was made of it so far: the document as text, and its faults."""

    idea: Mapping[str, Any]
    text: str = field(default="", repr=False)
    faults: tuple[str, ...] = ()
    document: Document | None = None
    rounds: int = 0

    @property
    def idea_id(self) -> str:
        return str(self.idea["idea_id"])


def chosen_ideas(
    ideas: Sequence[Mapping[str, Any]], weights: Mapping[str, float], count: int, seed: int
) -> list[Mapping[str, Any]]:
    """So many ideas, over the families by their weights, drawn by key within each."""
    by_family: dict[str, list[Mapping[str, Any]]] = {}
    for idea in ideas:
        by_family.setdefault(str(idea["task_family"]), []).append(idea)
    shares = {family: weights.get(family, 0.0) if weights else 1.0 for family in by_family}
    served = {family: share for family, share in shares.items() if share > 0}
    most = {family: len(by_family[family]) for family in served}
    total = min(count, sum(most.values()))
    numbers = apportion(served, total, most=most) if served else {}
    chosen = []
    for family, number in sorted(numbers.items()):
        names = [str(idea["idea_id"]) for idea in by_family[family]]
        order = keyed_order(seed, STAGE, names)
        chosen += [by_family[family][place] for place in order[:number]]
    return chosen


def authored(
    ideas: Sequence[Mapping[str, Any]],
    client: Asker,
    config: ScreeningConfig,
    seed: int,
    drafts: int = DRAFTS,
) -> tuple[list[Attempt], list[Judged[Any]]]:
    """What became of each idea, in order, and what the model answered in all rounds.

    A document is judged by `drafts` drafts under `seed`: those that a build will make.
    """
    attempts = [Attempt(idea) for idea in ideas]
    judged: list[Judged[Any]] = []
    for _ in range(ROUNDS):
        waiting = [at for at, one in enumerate(attempts) if one.document is None]
        answers = ask(author_stage(), [attempts[at] for at in waiting], client) if waiting else []
        tries = {
            at: _tried(attempts[at], answer, config, seed, drafts)
            for at, answer in zip(waiting, answers, strict=True)
        }
        readings = {at: each.reading for at, each in tries.items() if each.reading is not None}
        read = ask(derivation_stage(), list(readings.values()), client) if readings else []
        judged += answers
        judged += read
        derived = dict(zip(readings, read, strict=True))
        for at, tried in tries.items():
            attempts[at] = _judged(tried, derived.get(at), seed, drafts)
    return attempts, judged


@dataclass(frozen=True, slots=True)
class _Try:
    """A round of an attempt: what was found, and what a second reader is asked to derive."""

    attempt: Attempt
    reading: Reading | None = None


def _tried(
    attempt: Attempt, answer: Judged[str], config: ScreeningConfig, seed: int, drafts: int
) -> _Try:
    rounds = attempt.rounds + 1
    if answer.value is None:
        return _Try(replace(attempt, rounds=rounds))
    try:
        document = _named(answer.value, attempt)
    except DocumentFault as fault:
        faults = tuple(str(fault).splitlines())
        return _Try(Attempt(attempt.idea, answer.value, faults, None, rounds))
    made = drafts_of(document, drafts, seed)
    lines = document_lines(document, made, config)
    faults = tuple(line.removeprefix("fault: ") for line in lines if line.startswith("fault: "))
    tried = Attempt(attempt.idea, answer.value, faults, None, rounds)
    if any(draft.faults for draft in made):
        return _Try(tried)
    reading = Reading(attempt.idea_id, document, made[0], rounds)
    try:
        known_to_readers(document, made[0])
    except LookupError as error:
        return _Try(replace(tried, faults=(*faults, str(error))))
    return _Try(tried, reading)


def _judged(tried: _Try, derived: Judged[Read] | None, seed: int, drafts: int) -> Attempt:
    """The attempt with what the second derivation shows; proven if nothing is wrong."""
    attempt = tried.attempt
    if tried.reading is None or derived is None:
        return attempt
    if derived.value is None:
        unread = f"second: nobody could derive it from the prose ({derived.reason})"
        return replace(attempt, faults=(*attempt.faults, unread))
    document = tried.reading.document.model_copy(update={"second": derived.value.second})
    made = drafts_of(document, drafts, seed)
    differing = list(dict.fromkeys(fault for draft in made for fault in draft.faults))
    if not differing:
        differing += uneven_fields(document, made[0].world.state, tried.reading.facts)
    if differing:
        differing += [f"second: it was in doubt: {doubt}" for doubt in derived.value.doubts]
    faults = (*attempt.faults, *differing)
    return replace(attempt, faults=faults, document=None if faults else document)


def _named(text: str, attempt: Attempt) -> Document:
    """The document in a text, under the name and family that the idea gives it."""
    fields = fields_in(text.encode())
    fields.pop("second", None)  # nobody confirms himself
    fields.pop("split", None)  # or asks for less
    plain = "".join(c if c.isalnum() else "_" for c in attempt.idea_id.lower())
    name = f"authored_{plain[:40]}"
    return document_of({**fields, "name": name, "task_family": attempt.idea["task_family"]})


def author_stage() -> Stage[Attempt, Written, str]:
    """The stage, for callers that want its requests alone."""
    return Stage(
        prompt=load_prompt(PROMPT),
        answer=Written,
        item_id=lambda attempt: attempt.idea_id,
        content=_content,
        check=lambda attempt, answer: Checked(answer.document),
        tables=reference(),
        programs=frozenset({"document"}),
    )


def _content(attempt: Attempt, cleaner: Cleaner) -> dict[str, Any]:
    """The idea, which a model wrote from what registries publish: material, never an order."""
    shown = ("title", "task", "steps", "artifact", "environment", "graded", "task_family")
    idea = {name: attempt.idea[name] for name in shown if name in attempt.idea}
    content = {"idea": cleaner.tree(idea, "idea")}
    if not attempt.text:
        return content
    return content | {
        "your_document": cleaner.text(attempt.text, _LONGEST, "your_document"),
        "faults": [cleaner.text(fault, 600, "faults") for fault in attempt.faults[:_MOST_FAULTS]],
    }


def reference() -> str:
    """What an author has to know: the page, the services, an example."""
    page = (FOLDER / "README.md").read_text("utf-8")
    example = (FOLDER / f"{EXAMPLE}.toml").read_text("utf-8")
    return f"{page}\n# Services\n\n{services_page()}\n\n# An example\n\n{example}"


def reference_digest() -> str:
    return digest([load_prompt(PROMPT).digest, load_prompt(DERIVATION).digest, reference()])


def services_page() -> str:
    """All collections with their fields, and the operations that change them, a line each."""
    lines = []
    for name in service_names():
        for plural, collection in service(name).collections.items():
            lines.append(f"{name}.{plural}: {_fields(collection)}{_limits(collection)}")
        listed = (_operation(o) for o in operations(name).values() if not o.is_read)
        lines.append(f"  {name} changes by {'; '.join(listed)}")
    return "\n".join(lines)


def _operation(operation: Operation) -> str:
    """What it is called and takes; an update takes any of the fields that may be written."""
    needed = [n for n, r in operation.arguments.items() if r.required and r.default is None]
    if operation.kind in ("update", "delete"):
        rest = ", any field" if operation.kind == "update" else ""
        return f"{operation.name}(id{rest})"
    others = [name for name in operation.arguments if name not in needed]
    if operation.kind == "create" and operation.special is None:
        return f"{operation.name}({', '.join([*needed, 'any field'])})"
    return f"{operation.name}({', '.join([*needed, *(f'{name}?' for name in others)])})"


def _limits(collection: Collection) -> str:
    """What can be searched by words, and what may not be changed."""
    limits = f"; query: {', '.join(collection.query)}" if collection.query else ""
    if collection.locked:
        limits += f"; no update if {', '.join(collection.locked)}"
    steps = (f"{old} to {', '.join(new)}" for old, new in collection.transitions.items())
    return limits + (f"; status goes {'; '.join(steps)}" if collection.transitions else "")


def _fields(collection: Collection) -> str:
    named = (_field(name, rule) for name, rule in collection.fields.items())
    shown = ", ".join(collection.summary) or "everything"
    return f"{', '.join(named)}; lists show {shown}"


def _field(name: str, rule: FieldRule) -> str:
    kind = "|".join(rule.values) if rule.values else rule.reference or str(rule.type)
    if rule.columns:
        kind = f"rows of {', '.join(rule.columns)}"
    marks = [mark for mark in ("required", "unique", "read_only") if getattr(rule, mark)]
    return f"{name} ({' '.join([kind, *marks])})"


def ledger_row(attempt: Attempt) -> LedgerRow:
    """What became of an idea."""
    if attempt.document is not None:
        return LedgerRow(STAGE, "idea", attempt.idea_id, Outcome.KEPT)
    reason = AuthorReason.UNPROVEN if attempt.text else AuthorReason.UNUSABLE
    outcome = Outcome.REJECTED if attempt.text else Outcome.ERRORED
    return LedgerRow(STAGE, "idea", attempt.idea_id, outcome, reason=reason)


def write_documents(attempts: Sequence[Attempt], out: Path) -> None:
    """The proven documents, a file each, and the faults that others were left with."""
    for attempt in attempts:
        if attempt.document is not None:
            fields = attempt.document.model_dump(mode="json", exclude_unset=True)
            write_bytes(out / "documents" / f"{attempt.document.name}.json", canonical_json(fields))
    unproven = [
        {"idea_id": one.idea_id, "rounds": one.rounds, "faults": one.faults}
        for one in attempts
        if one.document is None
    ]
    write_bytes(out / "left.json", canonical_json(unproven))


def written_documents(folders: Sequence[Path]) -> Iterator[Document]:
    """The documents of the stage's outputs. Raises DocumentFault."""
    for folder in folders:
        for path in sorted((folder / "documents").glob("*.json")):
            document = document_of(orjson.loads(path.read_bytes()))
            if document.second is None:
                raise DocumentFault(f"{path.name}: {NO_SECOND}")
            yield document
