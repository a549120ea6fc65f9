"""Tables with known risk for the tests of attacks."""

from __future__ import annotations

import numpy as np
import polars as pl

from anonymization.tables.attacks.linked import Linked, link
from anonymization.tables.config import PerturbMethod, Step, TableConfig
from anonymization.tables.perturb_table import perturb_table
from tests.anonymization.tables.build import KEY, company_config, company_table, step

NOISE = step(PerturbMethod.LOG_NOISE, 0.3)
COMPANIES, YEARS = 80, 5


def world(*steps: Step, key: bytes = KEY) -> tuple[pl.DataFrame, pl.DataFrame, TableConfig]:
    """Originals, their release, and its configuration."""
    frame, config = company_table(COMPANIES, YEARS), company_config(*steps)
    return frame, perturb_table(frame, config, key).frame, config


def linked_world(*steps: Step) -> Linked:
    return link(*world(*steps))


def shuffled(values: pl.DataFrame, by: str, seed: int = 1) -> pl.DataFrame:
    """Whole rows of numbers change places within (industry, year): nothing is left to match."""
    draw = np.random.default_rng(seed)
    order = np.arange(values.height)
    groups = values.select(pl.struct("industry", by).rank("dense")).to_series().to_numpy()
    for group in np.unique(groups):
        at = np.flatnonzero(groups == group)
        order[at] = draw.permutation(at)
    return values[order]
