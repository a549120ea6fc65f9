"""Ideas become scenario documents: a model writes them, the screening judges, faults go back.

The model is sent the page for authors, an example, what services there are, and one idea; it
answers with a document. Asked by another prompt, it derives the result a second time, from the
prose alone (`derivation`). What is wrong with a document goes back twice. Kept is what passes all
checks of an author (`check.document_lines`) and what both derivations agree on: the model's word is
never taken for anything. Its replies are captured like all others, so that a rebuild replays them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import Field

from construction.judging.contracts import Answer, Asker, Judged
from construction.judging.model.asking import Checked, Faults, Stage, ask
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.workflows.contracts import Draft
from construction.workflows.declaration import (
    Collection,
    Operation,
    operations,
    service,
    service_names,
)
from construction.workflows.documents.check import DRAFTS, NO_SECOND, document_lines, drafts_of
from construction.workflows.documents.contracts import (
    SLOT,
    Document,
    DocumentFault,
    Second,
    document_of,
    fields_in,
    prose_digest,
)
from construction.workflows.documents.gold import (
    Decided,
    decided,
    decided_again,
    known,
    prose_facts,
    uneven_fields,
)
from construction.workflows.documents.scenario import FOLDER, known_to_readers
from construction.workflows.documents.tables import SqlFault, fields_of, type_of
from construction.workflows.documents.worlds import column_type, words_of
from construction.workflows.screening import ScreeningConfig
from construction.workflows.values import FieldRule
from data.apportion import apportion
from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.contracts import LedgerRow, Outcome
from data.randomness import keyed_order
from data.sharding import map_shards

_DERIVATION = "derive"
# Different values of a column, rows, and characters of a text that are shown. Whoever derives the
# result from too few rows guesses what the others say, and both derivations differ.
_FEW, _ROWS, _CHARS = 40, 20, 1500
_SOME = 12  # of more different values
_SAMPLE = 400  # characters of a value: a rule may hang on how a text goes on
_Sql = Annotated[str, Field(min_length=1, max_length=8000)]


class View(Answer):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
    sql: _Sql


class Part(Answer):
    part: str
    sql: _Sql


class _Derived(Answer):
    reading: Annotated[str, Field(max_length=6000)]
    views: Annotated[tuple[View, ...], Field(max_length=30)] = ()
    acts: Annotated[tuple[_Sql, ...], Field(max_length=20)] = ()
    answers: Annotated[tuple[Part, ...], Field(min_length=1, max_length=20)]
    doubts: Annotated[tuple[Annotated[str, Field(max_length=600)], ...], Field(max_length=12)] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A document to derive, with one of its drafts; `item` and `again` tell requests apart."""

    item: str
    document: Document
    draft: Draft
    again: int = 1

    @property
    def facts(self) -> dict[str, Any]:
        return known_to_readers(self.document, self.draft)

    def derived(self, second: Second | None = None) -> Decided:
        """What the author's SQL, or a second derivation, comes to. Raises SqlFault."""
        tables = known(self.document, self.draft.world.state, self.facts)
        try:
            if second is None:
                return decided(self.document, tables)
            document = self.document.model_copy(update={"second": second})
            return decided_again(document, tables, self.facts)
        finally:
            tables.close()


@dataclass(frozen=True, slots=True)
class Read:
    """A derivation, and what its author found open."""

    second: Second
    doubts: tuple[str, ...]


def _derivation_stage() -> Stage[Reading, _Derived, Read]:
    return Stage(
        prompt=load_prompt(_DERIVATION),
        answer=_Derived,
        item_id=lambda reading: reading.item,
        content=_reading_content,
        check=_checked,
        programs=frozenset({"views", "acts", "answers", "reading", "doubts"}),
    )


def _checked(reading: Reading, derived: _Derived) -> Checked[Read] | Faults:
    """The derivation, if it runs on the draft."""
    wanted = reading.document.wanted
    parts = {asked.part for asked in wanted.answers}
    given = {each.part: each.sql for each in derived.answers}
    if given.keys() != parts or len(derived.acts) != len(wanted.acts):
        named = ", ".join(sorted(parts))
        return Faults((f"expected {len(wanted.acts)} acts, and answers to exactly {named}",))
    views = {view.name: view.sql for view in derived.views}
    prose = prose_digest(reading.document)
    second = Second(prose=prose, views=views, acts=derived.acts, answers=given)
    try:
        reading.derived(second)
    except SqlFault as fault:
        return Faults((str(fault).removeprefix("second: "),))
    return Checked(Read(second, derived.doubts))


def _reading_content(reading: Reading, cleaner: Cleaner) -> dict[str, Any]:
    document, draft, facts = reading.document, reading.draft, reading.facts
    numbers = {name: f"f{at}" for at, name in enumerate(prose_facts(document), 1)}
    content = {
        "reading_number": reading.again,
        "request": draft.prompt,
        "answer_form": draft.guidelines,
        "now": document.now,
        "prose": [_prose(record.into, record.fields, numbers) for record in document.records],
        "facts": {
            number: {
                "here": words_of(document.facts[name], facts[name]),
                "in_sql": facts[name],
                "type": _type(facts[name]),
            }
            for name, number in numbers.items()
        },
        "tables": {
            collection: _table(collection, draft)
            for collection in dict.fromkeys(read.collection for read in document.reads)
        },
        "meanings": {
            f"pools.{name}": list(pool)
            for name, pool in document.pools.items()
            if any(isinstance(entry, dict) for entry in pool)
        },
        "acts": list(_acts(document, reading.derived())),
        "answers": [
            {"part": a.part, "type": a.type, "form": a.form, "decimals": a.decimals, "unit": a.unit}
            for a in document.wanted.answers
        ],
    }
    cleaned: dict[str, Any] = cleaner.tree(content, "records")
    return cleaned


def _type(value: Any) -> str:
    kind = column_type(value)
    return kind if isinstance(kind, str) else "a list or struct"


def _prose(into: str, fields: Mapping[str, Any], numbers: Mapping[str, str]) -> dict[str, Any]:
    """A literal record, its facts by their numbers."""
    shown = {
        name: SLOT.sub(lambda slot: f"{{{numbers.get(slot[1], slot[1])}}}", value)
        if isinstance(value, str)
        else value
        for name, value in fields.items()
    }
    return {"collection": into, **shown}


def _table(collection: str, draft: Draft) -> dict[str, Any]:
    """What a collection is like: its columns with what occurs in them, and some rows."""
    service, _, plural = collection.partition(".")
    rows = list(draft.world.state.get(service, {}).get(plural, {}).values())
    columns = {"id": _column("VARCHAR", [row["id"] for row in rows], len(rows))}
    for name, rule in fields_of(collection).items():
        values = [row[name] for row in rows if row.get(name) is not None]
        if values:
            columns[name] = _column(str(type_of(rule)), values, len(rows))
    step = max(1, len(rows) // _ROWS)
    return {
        "rows": len(rows),
        "columns": columns,
        "some_rows": [{k: _short(v) for k, v in row.items()} for row in rows[::step][:_ROWS]],
    }


def _column(kind: str, values: list[Any], rows: int) -> dict[str, Any]:
    different = list(dict.fromkeys(str(_short(value)) for value in values))
    is_whole = len(different) <= _FEW
    shown = sorted(different) if is_whole else different[:: len(different) // _SOME][:_SOME]
    column = {"type": kind, ("values" if is_whole else "such_as"): [s[:_SAMPLE] for s in shown]}
    without = round(1 - len(values) / rows, 2)
    return column | ({"without": without} if without else {})


def _short(value: Any) -> Any:
    return f"{value[:_CHARS]} …" if isinstance(value, str) and len(value) > _CHARS else value


def _acts(document: Document, right: Decided) -> Iterable[dict[str, Any]]:
    for act in document.wanted.acts:
        columns: dict[str, str] = {}
        for by, arguments in right.acts:
            if by is act:
                columns |= {
                    name: "a list" if isinstance(value, list) else "a value"
                    for name, value in arguments.items()
                    if name not in act.loose
                }
        yield {"operation": act.operation, "what_it_is_for": act.text, "columns": columns}


STAGE, _PROMPT, _EXAMPLE = "workflow_documents", "author", "ticket_triage"
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
    workers: int = 1,
) -> tuple[list[Attempt], list[Judged[Any]]]:
    """What became of each idea, in order, and what the model answered in all rounds.

    A document is judged by `drafts` drafts under `seed`: those that a build will make. Judging one
    takes about a minute of a processor, so that they are shared out among `workers` processes.
    """
    attempts = [Attempt(idea) for idea in ideas]
    judged: list[Judged[Any]] = []
    for _ in range(ROUNDS):
        waiting = [at for at, one in enumerate(attempts) if one.document is None]
        answers = ask(_author_stage(), [attempts[at] for at in waiting], client) if waiting else []
        jobs = [(attempts[at], answer.value) for at, answer in zip(waiting, answers, strict=True)]
        trying = partial(_tried, config=config, seed=seed, drafts=drafts)
        tries = dict(zip(waiting, map_shards(trying, jobs, workers), strict=True))
        readings = {at: each.reading for at, each in tries.items() if each.reading is not None}
        read = ask(_derivation_stage(), list(readings.values()), client) if readings else []
        judged += answers
        judged += read
        derived = dict(zip(readings, read, strict=True))
        derivations = [(tried, derived.get(at)) for at, tried in tries.items()]
        judging = partial(_judged, seed=seed, drafts=drafts)
        for at, attempt in zip(tries, map_shards(judging, derivations, workers), strict=True):
            attempts[at] = attempt
    return attempts, judged


@dataclass(frozen=True, slots=True)
class _Try:
    """A round of an attempt: what was found, and what a second reader is asked to derive."""

    attempt: Attempt
    reading: Reading | None = None


def _tried(
    job: tuple[Attempt, str | None], *, config: ScreeningConfig, seed: int, drafts: int
) -> _Try:
    """What is found in the document that a model answered, if it answered one."""
    attempt, text = job
    rounds = attempt.rounds + 1
    if text is None:
        return _Try(replace(attempt, rounds=rounds))
    try:
        document = _named(text, attempt)
    except DocumentFault as fault:
        faults = tuple(str(fault).splitlines())
        return _Try(Attempt(attempt.idea, text, faults, None, rounds))
    made = drafts_of(document, drafts, seed)
    lines = document_lines(document, made, config)
    faults = tuple(line.removeprefix("fault: ") for line in lines if line.startswith("fault: "))
    tried = Attempt(attempt.idea, text, faults, None, rounds)
    # A second derivation is asked for beside faults of another kind: a round tells all it can.
    if not made[0].world.state:
        return _Try(tried)
    reading = Reading(attempt.idea_id, document, made[0], rounds)
    try:
        reading.derived()
    except (LookupError, SqlFault) as error:
        return _Try(replace(tried, faults=tuple(dict.fromkeys((*faults, str(error))))))
    return _Try(tried, reading)


def _judged(job: tuple[_Try, Judged[Read] | None], *, seed: int, drafts: int) -> Attempt:
    """The attempt with what the second derivation shows; proven if nothing is wrong."""
    tried, derived = job
    attempt = tried.attempt
    if tried.reading is None or derived is None:
        return attempt
    if derived.value is None:
        unread = f"second: nobody could derive it from the prose ({derived.reason})"
        return replace(attempt, faults=(*attempt.faults, unread))
    document = tried.reading.document.model_copy(update={"second": derived.value.second})
    made = drafts_of(document, drafts, seed)
    differing = list(
        dict.fromkeys(
            fault
            for draft in made
            for fault in draft.faults
            if fault.startswith("second: ") or not attempt.faults  # the others are known
        )
    )
    if not differing and made[0].world.state:
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


def _author_stage() -> Stage[Attempt, Written, str]:
    """The stage, for callers that want its requests alone."""
    return Stage(
        prompt=load_prompt(_PROMPT),
        answer=Written,
        item_id=lambda attempt: attempt.idea_id,
        content=_attempt_content,
        check=lambda attempt, answer: Checked(answer.document),
        tables=reference(),
        programs=frozenset({"document"}),
    )


def _attempt_content(attempt: Attempt, cleaner: Cleaner) -> dict[str, Any]:
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
    example = (FOLDER / f"{_EXAMPLE}.toml").read_text("utf-8")
    return f"{page}\n# Services\n\n{_services_page()}\n\n# An example\n\n{example}"


def reference_digest() -> str:
    return digest([load_prompt(_PROMPT).digest, load_prompt(_DERIVATION).digest, reference()])


def _services_page() -> str:
    """All collections with their fields, and the operations that change them, a line each."""
    lines = []
    for name in service_names():
        for plural, collection in service(name).collections.items():
            lines.append(f"{name}.{plural}: {_fields(collection)}{_limits(collection)}")
        listed = [_operation(o) for o in operations(name).values() if not o.is_read]
        lines.append(f"  {name} changes by {'; '.join(listed) or 'nothing'}")
    return "\n".join(lines)


def _operation(operation: Operation) -> str:
    """What it is called and takes; an update takes any of the fields that may be written."""
    needed = [n for n, r in operation.arguments.items() if r.required and r.default is None]
    if operation.kind in ("update", "delete"):
        return f"{operation.name}({', '.join(operation.arguments)})"
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
            # Not with sorted keys: columns are drawn, and views made, in the order in which they
            # are written, and each may use the earlier ones.
            fields = attempt.document.model_dump_json(exclude_unset=True)
            write_bytes(out / "documents" / f"{attempt.document.name}.json", fields.encode())
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
