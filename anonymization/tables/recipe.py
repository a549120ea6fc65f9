"""How tables are anonymized, attacked and judged: part of the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from anonymization.tables.config import Name, TableConfig
from anonymization.tables.settings import (
    AttackConfig,
    FrontierConfig,
    RiskLimits,
    TablesConfig,
    UtilityLimits,
)
from data.contracts import StageConfig
from data.errors import ReleaseError
from data.schemas_statements import STATEMENT_TABLES
from data.snapshot import layout

_STATEMENT_NAMES = frozenset({"questions", *(table.name for table in STATEMENT_TABLES)})


class TablesRecipe(TablesConfig):
    """Tables and their roles as in `benchmint perturb`; what is tried, and what may be released.

    `attacks.known` may name columns of several tables; `attacks.seed` is that of the release,
    whatever it says. A table is released as `tables/<name>.parquet`.
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
        if clashing := sorted(_STATEMENT_NAMES.intersection(names)):
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
