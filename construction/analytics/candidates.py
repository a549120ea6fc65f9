"""A candidate before, in and after its gates, and what gates compare it with; and questions that
somebody proposes, such as a model: step programmes as data, through all gates.

`_Vocabulary` finds words that neither the environment nor the lane knows. English is compared word
by word, Chinese by pairs of neighbouring characters. A question with an unknown word asks for
something else, tells something, or is hostile; it is never a task.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import orjson
import polars as pl
from pydantic import Field, ValidationError

from construction.analytics import steps as s
from construction.analytics.ablation import Touched
from construction.analytics.answers import guidelines_of
from construction.analytics.archive import Archive
from construction.analytics.contracts import (
    RATED_BY_STEPS,
    AnalyticsReason,
    Category,
    Difficulty,
    Language,
    Part,
    difficulty_of,
)
from construction.analytics.environment.declaration import Declaration, Metric, Noise
from construction.analytics.execute_duckdb import Engine
from construction.analytics.execute_polars import Result
from construction.analytics.templates import Template, entity_words, read_templates, words_table
from construction.analytics.unreported import estimated_tables
from construction.analytics.wording import Said, said_in
from data.canonical import digest
from data.contracts import Answer
from data.contracts.candidate import Contract
from data.errors import InputError
from data.text.folding import fold_width
from data.text.lexicon import load_table
from data.text.scripts import HAN

_HOLE = "¦"
PLACEHOLDER = re.compile(r"\{[a-z_.]+\}")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_RUN = re.compile(rf"[{HAN}]+")
_BRACED = re.compile(r"\{[a-z]+\}")
_RANK = re.compile(r"(?<=第)[一二三四五六七八九十]+")


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """`words`: English words in lower case; `pairs`: pairs of Chinese characters; `declared`: the
    declared words of each language, longest first, which stand where templates have a hole."""

    words: frozenset[str]
    pairs: frozenset[str]
    declared: tuple[str, ...]

    def unknown(self, question: str, language: Language, terms: Iterable[str]) -> Iterator[str]:
        """The unknown words, as they stand in the question; `terms`: what titles have to hold."""
        text = fold_width(question)
        for term in terms:
            text = text.replace(fold_width(term), _HOLE)
        if language == "en":
            words = dict.fromkeys(_WORD.findall(text.casefold()))
            yield from (word for word in words if not self._is_known(word))
        for run in _runs(text, self.declared):
            known = [True, *(pair in self.pairs for pair in run), True]
            # Known words side by side make an unknown pair, but with known ones beside it.
            for at, pair in enumerate(run, 1):
                is_seam = known[at - 1] and known[at + 1] and any(known[1:-1])
                if not known[at] and not is_seam:
                    yield pair

    def _is_known(self, word: str) -> bool:
        return bool({word, word.removesuffix("'s"), word.removesuffix("s")} & self.words)


def _vocabulary_of(
    declaration: Declaration, templates: Iterable[Template], own: Iterable[str]
) -> _Vocabulary:
    """The words of templates, also of earlier ones, of the declaration and of `words.toml`;
    `own`: the values of the environment that a question may name."""
    both = [*_declared(declaration), *own]
    table = words_table()
    earlier = load_table(__package__, "earlier.toml")
    wordings = [w for t in templates for w in (*t.en, *t.zh)] + [*earlier["en"], *earlier["zh"]]
    usual = [*table["usual"]["en"], *table["ordinal"]["en"].values()]
    usual += [*table["top"]["en"].values()]
    known = " ".join([*both, *(PLACEHOLDER.sub(" ", w) for w in wordings), *usual])
    declared = tuple(sorted({fold_width(w) for w in both if w}, key=lambda w: (-len(w), w)))
    wordings += [*table["top"]["zh"].values(), *table["usual"]["zh"]]
    literal = [fold_width(PLACEHOLDER.sub(_HOLE, w)) for w in wordings]
    pairs = {pair for w in literal for run in _runs(w, declared) for pair in run}
    words = frozenset(_WORD.findall(fold_width(known).casefold()))
    return _Vocabulary(words, frozenset(pairs), declared)


def _declared(declaration: Declaration) -> list[str]:
    """All declared words, in both languages."""
    groups = [*words_table()["words"].values(), *declaration.words.values()]
    for metric in declaration.metrics:
        groups += [metric.label, metric.study or words_table()["study"]]
    groups += [policy.label for policy in declaration.policies]
    holes = (word for group in groups for word in group.values())
    words = [_BRACED.sub("", word) for word in holes]
    return words + [
        name
        for of in declaration.names.values()
        for value, pair in of.items()
        for name in (value, *pair)
    ]


def _runs(text: str, declared: Iterable[str]) -> Iterator[list[str]]:
    """The pairs of each run of characters between the declared words."""
    for word in declared:
        if not word.isascii():
            text = text.replace(word, _HOLE)
    text = _RANK.sub(_HOLE, text)
    for run in _RUN.findall(text):
        yield [run[at : at + 2] for at in range(len(run) - 1)]


Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Bench:
    """All that gates compare a candidate with.

    `readings`: the tables under other defensible readings of the noise; `careless`: with one kind
    of noise ignored; `public`: without perturbation, where something is perturbed; `touched`: which
    careless readings of policies were seen to matter; `archive`: where papers are, if not in files.
    """

    declaration: Declaration
    tables: Tables
    engine: Engine
    readings: Mapping[str, Tables] = field(default_factory=dict)
    careless: Mapping[Noise, Tables] = field(default_factory=dict)
    public: Tables | None = None
    touched: Touched = field(default_factory=dict)
    archive: Archive | None = None

    def said(self, draft: Draft) -> Said:
        """What the question of a draft says."""
        return said_in(draft.question, self.declaration, draft.language)

    @cached_property
    def perturbed(self) -> frozenset[str]:
        """The tables that differ from the public ones."""
        public = self.public or {}
        return frozenset(name for name in public if not public[name].equals(self.tables[name]))

    @cached_property
    def estimated(self) -> Tables:
        """The tables with an estimate for each missing figure."""
        return estimated_tables(self.declaration, self.tables)

    @cached_property
    def vocabulary(self) -> _Vocabulary:
        """The words that a question may use."""
        return _vocabulary_of(self.declaration, read_templates(), self._named_values())

    def _named_values(self) -> list[str]:
        """The places, kinds and branches in the tables of roles."""
        values = set[str]()
        for role in self.declaration.roles.values():
            for column in {role.place, role.kind, role.branch} - {""}:
                values |= set(self.tables[role.table][column].drop_nulls().to_list())
        return sorted(map(str, values))

    def ranking(self, kind: str) -> list[str]:
        """The names of a kind by how prominent they are in public; none for what is perturbed."""
        named = self.declaration.prominence.get(kind)
        metric = next((m for m in self.declaration.metrics if m.name == named), None)
        if metric is None or metric.table in self.perturbed:
            return []
        rows = self.tables[metric.table].sort(metric.column, descending=True, nulls_last=True)
        column = self.declaration.column_of(metric, kind)
        return list(rows[column]) if column in rows.columns else []

    @cached_property
    def file_of(self) -> dict[str, str]:
        return {table.name: table.file for table in self.declaration.tables}


@dataclass(frozen=True)
class Draft:
    """A candidate before its gates. `words`: what each drawn value is called in the question."""

    template: str
    category: Category
    language: Language
    question: str
    guidelines: str
    program: s.Program
    parts: tuple[Part, ...]
    words: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    label: Difficulty | None = None

    @property
    def difficulty(self) -> Difficulty:
        """By the number of steps, or as declared with the template or proposal."""
        label = self.label if self.category not in RATED_BY_STEPS else None
        return difficulty_of(self.category, len(self.program), label or "medium")


@dataclass(frozen=True)
class Judged:
    """A draft with its results; `reason` is None if it passed every gate."""

    draft: Draft
    reason: AnalyticsReason | None = None
    detail: str = ""
    results: tuple[Result, ...] = ()
    written: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()


_TEMPLATE = "proposal"
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
    identity = digest([_TEMPLATE, line.decode("utf-8", "backslashreplace")])
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
        if not all(1 <= step <= len(program) for step in (part.step, part.undecided or 1)):
            return "an answer of no step"
        if part.kind not in kinds:
            return "an answer of an unknown kind"
        if (kinds[part.kind]["type"] == "number") != (part.decimals is not None):
            return "decimals do not fit the kind of an answer"
    return ""


def _draft(proposal: Proposal, declaration: Declaration) -> Draft:
    return Draft(
        template=_TEMPLATE,
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
