"""The attacker who runs the published code again: useless without the key, complete with it."""

from __future__ import annotations

import polars as pl

from anonymization.tables.attacks.features import coordinates, logs, spread
from anonymization.tables.attacks.linked import Linked
from anonymization.tables.attacks.matching import nearest_hits
from anonymization.tables.attacks.result import AttackResult, Knowledge, Risk, guessing, result
from anonymization.tables.attacks.single import INDUSTRY
from anonymization.tables.config import TableConfig
from anonymization.tables.perturb.run import perturb_table
from data.randomness import keyed_hash


def rerun(linked: Linked, original: pl.DataFrame, config: TableConfig, key: bytes) -> Linked:
    """What the published code and recipe make of the originals with a guessed key."""
    return linked.against(perturb_table(original, config, key).frame)


def seed_key(seed: int, turn: str = "") -> bytes:
    """The key an attacker would try first: the public seed put where the release key belongs, and
    with `turn` another key that has nothing to do with the release, for comparison."""
    return keyed_hash(seed, "release", turn)


def rerun_match(linked: Linked, again: Linked, knows: Knowledge) -> AttackResult:
    """Records nearest to what the rerun made of the target. With the true key they are equal."""
    own = logs(again.released)
    scale = spread(own)
    hits = nearest_hits(
        coordinates(own / scale, again.released, linked.cell),
        coordinates(logs(linked.released) / scale, linked.released, linked.cell),
    )
    chance = guessing(linked.cell)
    return result(
        Risk.ONE_COMPANY, "rerun and match", linked.columns, INDUSTRY, knows, hits, chance
    )
