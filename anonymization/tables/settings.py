"""Settings of table anonymization other than those of a table: attacks, frontier, limits.

`TablesRecipe` is the recipe's section `tables`. The settings are kept apart from the code that uses
them, because every command reads the recipe, and few need the libraries of that code.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from anonymization.tables.config import Name, PerturbMethod, Step, TableConfig
from data.contracts import Count, Share, StageConfig
from data.errors import ReleaseError
from data.snapshot import layout

_STRENGTHS: Mapping[PerturbMethod, tuple[float, ...]] = {
    PerturbMethod.LSD: (1, 2, 3),
    PerturbMethod.LOG_NOISE: (0.1, 0.3, 1.0),
    PerturbMethod.RANK_SWAP: (0.05, 0.1, 0.2),
    PerturbMethod.MICROAGGREGATION: (3, 10),
    PerturbMethod.LEVEL_SWAP: (0.06, 0.12, 0.3),
}


class FidelityConfig(StageConfig):
    """Limits per column and group of at least `min_rows` numbers; smaller ones are not assessable.

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
    """A published aggregate table, and the table of rows (`of`) whose sums it states."""

    of: Name


class TablesConfig(StageConfig):
    """`tables`: by file name without ending; `aggregates`: likewise, aligned with `tables`."""

    tables: Mapping[Name, TableConfig]
    aggregates: Mapping[Name, GivenAggregate] = Field(default_factory=dict)
    fidelity: FidelityConfig = FidelityConfig()


class AttackConfig(StageConfig):
    """`known`: columns in the order in which an attacker learns them; if empty,
    those with most values come first.

    `assignment` switches the slow attacks on (and a rerun with a key unrelated to the release, for
    comparison with the published seed); assignments run on the year with most rows, exactly up to
    `exact_rows` per industry and in blocks beyond. `simulations`: how often the method-aware
    attacker runs the method. `seed` is the public seed, which every attacker knows.
    """

    known: tuple[Name, ...] = ()
    assignment: bool = True
    exact_rows: Annotated[int, Field(ge=2, le=10_000)] = 2_000
    simulations: Annotated[int, Field(ge=1, le=20)] = 1
    bins: Annotated[int, Field(ge=2, le=100)] = 10
    seed: int = 0


class FrontierConfig(StageConfig):
    """The plain methods and strengths tried in addition to the configured setting."""

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
    years under one pseudonym; releasing a single year, or new pseudonyms per year, removes it.
    """

    columns: Annotated[int, Field(ge=1)] = 3
    one_company: Share = 0.2
    whole_industry: Share = 0.2
    history: Share = 0.2
    largest: Share = 0.5
    unchanged_row: Share = 0.05

    def of(self, risk: StrEnum) -> float:
        """The limit of a `Risk`; pseudonyms have none here."""
        limits: dict[str, float] = self.model_dump()
        return limits.get(risk.name.lower(), 1.0)


class UtilityLimits(StageConfig):
    """The utility that a recommended setting must keep; `Utility` explains the figures."""

    min_spearman: Share = 0.94
    max_flips: Share = 0.10
    max_sums: Annotated[float, Field(ge=0)] = 0.01
    max_broken: Count = 0


def _names_of_statements() -> frozenset[str]:
    from data.schemas_statements import STATEMENT_TABLES  # loads Polars: few recipes name tables

    return frozenset({"questions", *(table.name for table in STATEMENT_TABLES)})


class TablesRecipe(TablesConfig):
    """Tables and roles, as for `privacy perturb`; what is tried, and what may be released.

    `attacks.known` may name columns of several tables; `attacks.seed` is always replaced by the
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
            raise ValueError(f"names of the questions' tables: {', '.join(clashing)}")
        if doubled := sorted(self.tables.keys() & self.aggregates.keys()):
            raise ValueError(f"both table and aggregate: {', '.join(doubled)}")
        measures = {name for table in self.tables.values() for name in table.measures}
        if strange := sorted({*self.attacks.known} - measures) if self.tables else []:
            raise ValueError(f"attacks.known: no measures: {', '.join(strange)}")
        return self

    def made_from(self) -> StageConfig:
        """What the released tables and their measurement depend on: all but the limits."""
        return self.model_copy(update={"risk": RiskLimits(), "utility": UtilityLimits()})

    def attacks_on(self, table: TableConfig, seed: int) -> AttackConfig:
        """The attacks on one table: the columns known are among its own."""
        known = tuple(name for name in self.attacks.known if name in table.measures)
        return self.attacks.model_copy(update={"known": known, "seed": seed})
