"""Questions that somebody proposes, such as a model: step programmes as data, through all gates.

A proposal is hostile input. It is validated, never run as code, and admitted only if both executors
give it one answer that passes what template questions pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import Field, ValidationError

from construction.analytics import steps as s
from construction.analytics.answers import guidelines_of
from construction.analytics.candidates import Draft
from construction.analytics.contracts import Category, Difficulty, Language, Part
from construction.analytics.environment.declaration import Declaration
from construction.analytics.templates import entity_words, words_table
from data.canonical import digest
from data.contracts.candidate import Contract
from data.errors import InputError

TEMPLATE = "proposal"
LARGEST_BYTES = 16 * 1024**2


class Proposal(Contract):
    """A proposed task: its words, its steps, and which of them answer it."""

    category: Category
    language: Language
    label: Difficulty = "medium"
    question: Annotated[str, Field(min_length=20, max_length=2_000)]
    steps: Annotated[tuple[s.TypedStep, ...], Field(min_length=1, max_length=9)]
    answers: Annotated[tuple[Part, ...], Field(min_length=1, max_length=4)]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A line of a file of proposals; `draft` is None if it is none, and `why` says it."""

    identity: str
    draft: Draft | None
    why: str = ""


def read_proposals(path: Path, declaration: Declaration) -> list[Proposed]:
    """One proposal per line of JSON. Raises InputError for a file that is too large."""
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(path.name, "a larger file", f"{LARGEST_BYTES:,} bytes", "Split it.")
    lines = path.read_bytes().splitlines()
    return [_proposed(line, declaration) for line in lines if line.strip()]


def _proposed(line: bytes, declaration: Declaration) -> Proposed:
    identity = digest([TEMPLATE, line.decode("utf-8", "backslashreplace")])
    try:
        proposal = Proposal.model_validate(orjson.loads(line))
    except orjson.JSONDecodeError:
        return Proposed(identity, None, "no JSON")
    except ValidationError as error:
        fields = sorted({".".join(map(str, item["loc"][:2])) for item in error.errors()})
        return Proposed(identity, None, ", ".join(fields)[:200] or "no JSON object")
    why = unfit(proposal.steps, proposal.answers)
    if why:
        return Proposed(identity, None, why)
    return Proposed(identity, _draft(proposal, declaration))


def unfit(program: s.Program, parts: Sequence[Part]) -> str:
    """What the schema cannot say: references ahead, parts of no step or of an unknown kind."""
    for number, step in enumerate(program, 1):
        if any(other >= number for other in s.reads_steps(step)):
            return f"step {number} uses a later step"
    kinds = words_table()["kinds"]
    for part in parts:
        if not 1 <= part.step <= len(program):
            return "an answer of no step"
        if part.kind not in kinds:
            return "an answer of an unknown kind"
        if (kinds[part.kind]["type"] == "number") != (part.decimals is not None):
            return "decimals do not fit the kind of an answer"
    return ""


def _draft(proposal: Proposal, declaration: Declaration) -> Draft:
    return Draft(
        template=TEMPLATE,
        category=proposal.category,
        language=proposal.language,
        question=proposal.question,
        guidelines=guidelines_of(declaration, proposal.answers, proposal.steps, proposal.language),
        program=proposal.steps,
        parts=proposal.answers,
        words=dict(
            condition_words(proposal.steps, proposal.question, declaration, proposal.language)
        ),
        label=proposal.label,
        metrics=tuple(
            metric
            for metric in declaration.metrics
            if metric.label[proposal.language] in proposal.question
        ),
    )


def condition_words(
    program: s.Program, question: str, declaration: Declaration, language: Language
) -> Iterator[tuple[str, str]]:
    """Every value that a step compares with has to be in the question, in its language."""
    for number, step in enumerate(program, 1):
        for condition in getattr(step, "where", ()):
            name, value = f"{condition.column} of step {number}", condition.value
            if condition.test == "known" or s.step_number(value) is not None:
                continue
            counting = declaration.roles.values()
            if value == 0 or condition.column == "rank":
                continue
            if any(value == role.only.get(condition.column) for role in counting):
                continue
            for member in value if isinstance(value, tuple) else (value,):
                yield name, _in_words(member, question, declaration, language)


def _in_words(value: Any, question: str, declaration: Declaration, language: Language) -> str:
    """The value as the question may say it: of a number, the form that stands there."""
    for slot, names in declaration.names.items():
        if str(value) in names:
            return entity_words(declaration, slot, value, language)
    if isinstance(value, float | int):
        forms = (f"{value:,.0f}" if value == int(value) else f"{value:,g}", f"{value:.12g}")
        return next((form for form in forms if form in question), forms[-1])
    return str(value)
