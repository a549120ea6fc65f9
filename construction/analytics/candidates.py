"""A candidate before, in and after its gates, and what gates compare it with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from construction.analytics import steps as s
from construction.analytics.contracts import (
    RATED_BY_STEPS,
    AnalyticsReason,
    Category,
    Difficulty,
    Language,
    Part,
    difficulty_of,
)
from construction.analytics.environment.asked_about import Metric
from construction.analytics.environment.declaration import Declaration, Noise
from construction.analytics.estimates import estimated_tables
from construction.analytics.execute_duckdb import Engine
from construction.analytics.polars_state import Result
from construction.analytics.templates import read_templates
from construction.analytics.vocabulary import Vocabulary, vocabulary_of
from construction.analytics.wording import Said, said_in
from data.contracts import Answer

Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Bench:
    """All that gates compare a candidate with.

    `readings`: the tables under other defensible readings of the noise; `careless`: with one kind
    of noise ignored; `public`: without perturbation, where something is perturbed.
    """

    declaration: Declaration
    tables: Tables
    engine: Engine
    readings: Mapping[str, Tables] = field(default_factory=dict)
    careless: Mapping[Noise, Tables] = field(default_factory=dict)
    public: Tables | None = None

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
    def vocabulary(self) -> Vocabulary:
        """The words that a question may use."""
        return vocabulary_of(self.declaration, read_templates())

    def ranking(self, kind: str) -> list[str]:
        """The names of a kind by how prominent they are in public; none for what is perturbed."""
        named = self.declaration.prominence.get(kind)
        metric = next((m for m in self.declaration.metrics if m.name == named), None)
        if metric is None or metric.table in self.perturbed:
            return []
        rows = self.tables[metric.table].sort(metric.column, descending=True, nulls_last=True)
        return list(rows[kind]) if kind in rows.columns else []

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
