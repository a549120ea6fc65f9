"""Settings of anonymized tables, the recipe's section `tables`; the key is not part of them.

A table has a row per entity and period (or a row per entity, without a period). Each column has a
role; measures have perturbation steps; hard relations and derived columns are declared. Attacks,
frontier and limits follow. The settings are kept apart from the code that uses them, because every
command reads the recipe, and few need the libraries of that code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from data.contracts import Count, Share, StageConfig
from data.errors import ReleaseError
from data.snapshot import layout

Name = Annotated[str, Field(min_length=1, max_length=200)]


class ColumnRole(StrEnum):
    """What a column is for. Only measures and derived columns change their numbers."""

    IDENTIFIER = "identifier"  # names the entity: pseudonymized
    QUASI_IDENTIFIER = "quasi_identifier"  # narrows it down: kept, counted in the k-map
    MEASURE = "measure"  # perturbed
    DERIVED = "derived"  # recomputed from perturbed columns
    FREE_TEXT = "free_text"  # names inside are replaced
    UNIT = "unit"  # kept, and its mixture checked
    CONSTANT = "constant"  # kept
    DROPPED = "dropped"  # left out of the release


class IdentifierKind(StrEnum):
    """How an identifier is written: a code of a fixed shape, or a name of an organisation."""

    CODE = "code"
    NAME = "name"


class PerturbMethod(StrEnum):
    """How numbers are perturbed; `Step` explains `strength`."""

    LSD = "least_significant_digit"
    LOG_NOISE = "log_noise"
    RANK_SWAP = "rank_swap"
    MICROAGGREGATION = "microaggregation"
    LEVEL_SWAP = "level_swap"
    RESCALE = "rescale"


class Scope(StrEnum):
    """Noise of scope `cell` is drawn for every row; of scope `entity`, once for all periods."""

    CELL = "cell"
    ENTITY = "entity"


_MOST_NOISE = 10  # beyond it values are off by more than numbers have digits


class Step(StageConfig):
    """One perturbation of a column; several are applied one after another.

    `strength` by method:
    - `least_significant_digit`: number of leading digits to keep (1, 2, …); the others, down to the
      last reported digit, are redrawn.
    - `log_noise`: standard deviation of the normal noise on the value's logarithm (at most 10).
    - `rank_swap`: window, as a share of the rows in the group and period (0.1 = 10 %).
    - `microaggregation`: rows per micro-group, which share their mean (at least 2).
    - `level_swap`: distortion of an entity's rank score (0: none; 0.12 leaves a rank correlation of
      about √(1 - 0.12) = .94). All columns with this step are moved together;
      one factor per entity and column applies to all periods.
    - `rescale`: share of the difference from the original sums per group and period to correct,
      mostly in the largest entities: 1 restores the sums.
    """

    method: PerturbMethod
    strength: Annotated[float, Field(ge=0, le=1000)]
    scope: Scope = Scope.CELL

    @model_validator(mode="after")
    def _fits(self) -> Self:
        whole = self.method in (PerturbMethod.LSD, PerturbMethod.MICROAGGREGATION)
        if whole and self.strength != int(self.strength):
            raise ValueError(f"{self.method}: the strength must be a whole number")
        least = {PerturbMethod.MICROAGGREGATION: 2, PerturbMethod.LSD: 1}.get(self.method, 0)
        if self.strength < least:
            raise ValueError(f"{self.method}: the strength must be at least {least}")
        if self.method in (PerturbMethod.RANK_SWAP, PerturbMethod.RESCALE) and self.strength > 1:
            raise ValueError(f"{self.method}: the strength is a share and must be at most 1")
        if self.method is PerturbMethod.LOG_NOISE and self.strength > _MOST_NOISE:
            raise ValueError(f"{self.method}: the strength must be at most {_MOST_NOISE}")
        return self


class DerivedKind(StrEnum):
    """Of columns a, b, … in order: a / b, a - b, a + b + …, or a over a of the row before - 1."""

    RATIO = "ratio"
    DIFFERENCE = "difference"
    SUM = "sum"
    GROWTH = "growth"


_MOST_SCALE = 1e9


class Formula(StageConfig):
    """How to compute a derived column from measures, times `scale` (100 for per cent)."""

    kind: DerivedKind
    of: Annotated[tuple[Name, ...], Field(min_length=1, max_length=50)]
    scale: Annotated[float, Field(ge=-_MOST_SCALE, le=_MOST_SCALE)] = 1.0

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if abs(self.scale) < 1 / _MOST_SCALE:
            raise ValueError(f"scale: {self.scale:g} would make the column zero")
        expected = {DerivedKind.RATIO: 2, DerivedKind.DIFFERENCE: 2, DerivedKind.GROWTH: 1}
        if len(self.of) != expected.get(self.kind, len(self.of)):
            raise ValueError(f"a {self.kind} needs {expected[self.kind]} columns")
        return self


class ColumnConfig(StageConfig):
    """One column. `kind` and `prefix` are for identifiers, `steps` for measures (if empty: the
    table's), and `formula` for derived columns.

    `prefix` is the part that all codes share and that is kept, such as `E` in `E01234`. Codes in
    the same `space` (default: the column's name) identify the same entity in all tables.
    """

    role: ColumnRole
    kind: IdentifierKind = IdentifierKind.CODE
    prefix: str = ""
    space: str = ""
    steps: tuple[Step, ...] = ()
    formula: Formula | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.role is ColumnRole.DERIVED) != (self.formula is not None):
            raise ValueError("a derived column needs a formula, and no other column has one")
        if self.steps and self.role is not ColumnRole.MEASURE:
            raise ValueError("only measures have steps")
        return self


class SumRelation(StageConfig):
    """`total` = sum of `parts` wherever that held originally; `total` is computed from the
    parts.
    """

    total: Name
    parts: Annotated[tuple[Name, ...], Field(min_length=2, max_length=50)]


class BoundRelation(StageConfig):
    """`lesser` ≤ `greater` wherever that held originally; `lesser` is adjusted."""

    lesser: Name
    greater: Name


class Relations(StageConfig):
    """Hard relations: sums are restored in the listed order, then bounds."""

    sums: tuple[SumRelation, ...] = ()
    bounds: tuple[BoundRelation, ...] = ()


DEFAULT_STEPS = (Step(method=PerturbMethod.LSD, strength=2),)


# Columns that only people have.
_OF_PERSON = re.compile(
    r"(?i)(?:^|[ _.-])(?:gender|sex|birth|born|dob|age|marital|ethnicity|religion)(?:$|[ _.-])"
    r"|birth|geschlecht|geburt|性别|性別|年龄|年齢|出生|生年"
)


class TableConfig(StageConfig):
    """A table: its columns by name, and which of them hold the entity, sub-industry and period.

    `people`: rows are people rather than organisations (if not set: true if a quasi-identifier's
    name refers to gender, birth or age). Without `group` there is one group; without `period` there
    is one row per entity. Rows whose periods share their first `period_chars` characters (4: the
    year of a date) are compared with each other. `steps` apply to measures that have no steps of
    their own.

    Undeclared columns are refused.
    """

    columns: Mapping[Name, ColumnConfig]
    entity: Name
    people: bool | None = None
    group: Name | None = None
    region: Name | None = None
    period: Name | None = None
    period_chars: Annotated[int, Field(ge=1)] = 4
    steps: tuple[Step, ...] = DEFAULT_STEPS
    relations: Relations = Relations()

    @model_validator(mode="after")
    def _declared(self) -> Self:
        sums, bounds = self.relations.sums, self.relations.bounds
        named = [n for n in (self.entity, self.group, self.region, self.period) if n is not None]
        named += [name for sum_ in sums for name in (sum_.total, *sum_.parts)]
        named += [name for bound in bounds for name in (bound.lesser, bound.greater)]
        named += [n for c in self.columns.values() if c.formula is not None for n in c.formula.of]
        missing = sorted(set(named) - set(self.columns))
        if missing:
            raise ValueError(f"not declared as columns: {', '.join(missing)}")
        related = {n for s in sums for n in (s.total, *s.parts)}
        related |= {n for b in bounds for n in (b.lesser, b.greater)}
        if unmeasured := sorted(related - set(self.measures)):
            raise ValueError(f"relations hold between measures, not: {', '.join(unmeasured)}")
        formulas = [c.formula for c in self.columns.values() if c.formula is not None]
        operands = {name for formula in formulas for name in formula.of}
        if unmeasured := sorted(operands - set(self.measures)):
            # A column computed from columns that are not perturbed would be released unchanged.
            raise ValueError(f"formulas use measures, not: {', '.join(unmeasured)}")
        return self

    @property
    def of_people(self) -> bool:
        """Are the rows people?"""
        if self.people is not None:
            return self.people
        return any(map(_OF_PERSON.search, self.of_role(ColumnRole.QUASI_IDENTIFIER)))

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns that are perturbed, sorted by name: their order is the counter's order."""
        return self.of_role(ColumnRole.MEASURE)

    def of_role(self, *roles: ColumnRole) -> tuple[str, ...]:
        """The columns with one of these roles, sorted by name."""
        return tuple(sorted(n for n, c in self.columns.items() if c.role in roles))

    def steps_of(self, column: str) -> tuple[Step, ...]:
        """The steps of a measure: its own, or the table's."""
        return self.columns[column].steps or self.steps

    def with_steps(self, steps: Sequence[Step]) -> TableConfig:
        """The same table with `steps` for every measure: one point of the risk–utility frontier."""
        columns = {n: c.model_copy(update={"steps": ()}) for n, c in self.columns.items()}
        return self.model_copy(update={"columns": columns, "steps": tuple(steps)})


_STRENGTHS: Mapping[PerturbMethod, tuple[float, ...]] = {
    PerturbMethod.LSD: (1, 2, 3),
    PerturbMethod.LOG_NOISE: (0.1, 0.3, 1.0),
    PerturbMethod.RANK_SWAP: (0.05, 0.1, 0.2),
    PerturbMethod.MICROAGGREGATION: (3, 10),
    PerturbMethod.LEVEL_SWAP: (0.06, 0.12, 0.3),
}


class FidelityConfig(StageConfig):
    """Limits for each column and group with at least `min_rows` numbers; smaller ones cannot be
    assessed.

    `max_d`: Kolmogorov-Smirnov distance; `max_wasserstein`: 1-Wasserstein distance as a share of
    the original interquartile range; `max_beyond`: share of assessable pairs that may exceed them.
    """

    min_rows: Annotated[int, Field(ge=2)] = 30
    max_d: Share = 0.05
    max_wasserstein: Annotated[float, Field(ge=0)] = 0.05
    max_beyond: Share = 0.0


class AggregateConfig(StageConfig):
    """A given table of aggregates: which of its columns are which columns of the row table.

    `by`: aggregate column → row column (industry, region, period); `values`: aggregate column →
    measure, summed. Of a period, the first `TableConfig.period_chars` characters are compared.
    """

    by: Mapping[Name, Name]
    values: Mapping[Name, Name]


class GivenAggregate(AggregateConfig):
    """A published table of aggregates, and the table (`of`) whose row sums it states."""

    of: Name


class TablesConfig(StageConfig):
    """`tables`: by file name without ending; `aggregates`: likewise, aligned with `tables`."""

    tables: Mapping[Name, TableConfig]
    aggregates: Mapping[Name, GivenAggregate] = Field(default_factory=dict)
    fidelity: FidelityConfig = FidelityConfig()


class AttackConfig(StageConfig):
    """`known`: columns in the order in which an attacker learns them; if empty, columns with the
    most values come first.

    `assignment` enables the slow attacks (and a rerun with a key unrelated to the release, for
    comparison with the published seed). Assignments run on the year with the most rows: exactly for
    up to `exact_rows` rows per industry, and in blocks beyond. `simulations`: how often the
    method-aware attacker runs the method. `seed` is the public seed, which every attacker knows.
    """

    known: tuple[Name, ...] = ()
    assignment: bool = True
    exact_rows: Annotated[int, Field(ge=2, le=10_000)] = 2_000
    simulations: Annotated[int, Field(ge=1, le=20)] = 1
    bins: Annotated[int, Field(ge=2, le=100)] = 10
    seed: int = 0


class FrontierConfig(StageConfig):
    """The plain methods and strengths to try in addition to the configured ones."""

    strengths: Mapping[PerturbMethod, tuple[float, ...]] = Field(
        default_factory=lambda: dict(_STRENGTHS)
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        self.steps()
        return self

    def steps(self) -> dict[str, Step]:
        """A step per method and strength, by name."""
        return {
            f"{method} {strength:g}": Step(method=method, strength=strength)
            for method in PerturbMethod
            for strength in self.strengths.get(method, ())
        }


class RiskLimits(StageConfig):
    """Hit rates that a release may not exceed, for attackers who know up to `columns` columns.

    A limit of 1 accepts a risk, which is still reported. `history` applies to tables with several
    years under one pseudonym; releasing a single year, or using new pseudonyms per year, removes
    this risk.
    """

    columns: Annotated[int, Field(ge=1)] = 3
    one_company: Share = 0.2
    whole_industry: Share = 0.2
    history: Share = 0.2
    largest: Share = 0.5
    unchanged_row: Share = 0.05
    unique_person: Share = 0.2

    def of(self, risk: StrEnum) -> float:
        """The limit of a `Risk`; pseudonyms have none here."""
        limits: dict[str, float] = self.model_dump()
        return limits.get(risk.name.lower(), 1.0)


class UtilityLimits(StageConfig):
    """The utility that a recommended setting must preserve; `Utility` explains the figures."""

    min_spearman: Share = 0.94
    max_flips: Share = 0.10
    max_sums: Annotated[float, Field(ge=0)] = 0.01
    max_broken: Count = 0


def _names_of_statements() -> frozenset[str]:
    from data.schemas import STATEMENT_TABLES  # reads a file: few recipes name tables

    return frozenset({"questions", *(table.name for table in STATEMENT_TABLES)})


class TablesRecipe(TablesConfig):
    """Tables and roles, as for `privacy perturb`; what to try, and what may be released.

    `attacks.known` may name columns from several tables; `attacks.seed` is always replaced by the
    release's seed. A table is released as `tables/<name>.parquet`.
    """

    tables: Mapping[Name, TableConfig] = Field(default_factory=dict)
    attacks: AttackConfig = AttackConfig()
    frontier: FrontierConfig = FrontierConfig()
    risk: RiskLimits = RiskLimits()
    utility: UtilityLimits = UtilityLimits()

    @model_validator(mode="after")
    def _releasable(self) -> Self:
        names = [*self.tables, *self.aggregates]
        try:
            for name in names:
                layout.table_path(name)
        except ReleaseError as error:
            raise ValueError(str(error)) from None
        if clashing := sorted(_names_of_statements().intersection(names)) if names else []:
            raise ValueError(f"names already used for the questions' tables: {', '.join(clashing)}")
        if doubled := sorted(self.tables.keys() & self.aggregates.keys()):
            raise ValueError(f"declared as both table and aggregate: {', '.join(doubled)}")
        measures = {name for table in self.tables.values() for name in table.measures}
        if strange := sorted({*self.attacks.known} - measures) if self.tables else []:
            raise ValueError(f"attacks.known: not measures: {', '.join(strange)}")
        return self

    def made_from(self) -> StageConfig:
        """What the released tables and their measurement depend on: all but the limits."""
        return self.model_copy(update={"risk": RiskLimits(), "utility": UtilityLimits()})

    def attacks_on(self, table: TableConfig, seed: int) -> AttackConfig:
        """The attacks on one table: the columns known are among its own."""
        known = tuple(name for name in self.attacks.known if name in table.measures)
        return self.attacks.model_copy(update={"known": known, "seed": seed})
