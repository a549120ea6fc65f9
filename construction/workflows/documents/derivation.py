"""A second derivation of a document's result, by somebody who sees neither its SQL nor its gold.

Shown are the request, the prose with numbers in place of the names of its facts, and what the
tables of a draft are like. What comes back is SQL; whether it agrees is found out by running it
(`gold`), in the world of every draft and with every fact another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from construction.judging.contracts import Answer
from construction.judging.model.asking import Checked, Faults, Stage
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.workflows.contracts import Draft
from construction.workflows.documents.contracts import SLOT, Document, Second
from construction.workflows.documents.gold import (
    Decided,
    decided,
    decided_again,
    known,
    prose_facts,
)
from construction.workflows.documents.scenario import known_to_readers
from construction.workflows.documents.tables import SqlFault, fields_of, type_of
from construction.workflows.documents.worlds import column_type, words_of

PROMPT = "derive"
_FEW, _ROWS, _LONGEST = 12, 5, 1500  # different values, rows, characters of a text that are shown
_SAMPLE = 400  # characters of a value: a rule may hang on how a text goes on
_Sql = Annotated[str, Field(min_length=1, max_length=8000)]


class View(Answer):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
    sql: _Sql


class Part(Answer):
    part: str
    sql: _Sql


class Derived(Answer):
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


def derivation_stage() -> Stage[Reading, Derived, Read]:
    return Stage(
        prompt=load_prompt(PROMPT),
        answer=Derived,
        item_id=lambda reading: reading.item,
        content=_content,
        check=_checked,
        programs=frozenset({"views", "acts", "answers", "reading", "doubts"}),
    )


def _checked(reading: Reading, derived: Derived) -> Checked[Read] | Faults:
    """The derivation, if it runs on the draft."""
    wanted = reading.document.wanted
    parts = {asked.part for asked in wanted.answers}
    given = {each.part: each.sql for each in derived.answers}
    if given.keys() != parts or len(derived.acts) != len(wanted.acts):
        named = ", ".join(sorted(parts))
        return Faults((f"expected {len(wanted.acts)} acts, and answers to exactly {named}",))
    views = {view.name: view.sql for view in derived.views}
    second = Second(views=views, acts=derived.acts, answers=given)
    try:
        reading.derived(second)
    except SqlFault as fault:
        return Faults((str(fault).removeprefix("second: "),))
    return Checked(Read(second, derived.doubts))


def _content(reading: Reading, cleaner: Cleaner) -> dict[str, Any]:
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
    shown = sorted(different) if is_whole else different[:: len(different) // 4][:4]
    column = {"type": kind, ("values" if is_whole else "such_as"): [s[:_SAMPLE] for s in shown]}
    without = round(1 - len(values) / rows, 2)
    return column | ({"without": without} if without else {})


def _short(value: Any) -> Any:
    return f"{value[:_LONGEST]} …" if isinstance(value, str) and len(value) > _LONGEST else value


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
