"""Attacks on a whole industry at once: optimal assignment, and rank windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymization.tables.attacks.channel import NormalChannel, RankChannel, plain_cost
from anonymization.tables.attacks.features import ranks, states
from anonymization.tables.attacks.linked import Linked
from anonymization.tables.attacks.matching import Cost, assigned_hits, kinds
from anonymization.tables.attacks.result import AttackResult, Knowledge, Risk, guessing, result
from anonymization.tables.attacks.single import INDUSTRY
from anonymization.tables.cells import Floats

ASSIGNMENT, AWARE, WINDOW = "assignment", "assignment, method-aware", "rank window"
_SLACK = 1e-9


def assignment(linked: Linked, most: int) -> AttackResult:
    """Least total distance over an industry of one year; the method is not known."""
    hits = _assigned(linked, plain_cost(linked), most)
    knows = Knowledge.WHOLE_POPULATION
    return _told(ASSIGNMENT, linked, knows, hits)


def aware_assignment(linked: Linked, simulated: Sequence[Linked], most: int) -> AttackResult:
    """Greatest likelihood under the method: the best of two models learned by simulation, and of
    the attacker without them. The best is told by the truth, which favours the attacker."""
    costs = (
        plain_cost(linked),
        NormalChannel.learned(simulated).cost(linked),
        RankChannel.learned(simulated).cost(linked),
    )
    hits = max((_assigned(linked, cost, most) for cost in costs), key=lambda h: float(h.sum()))
    return _told(AWARE, linked, Knowledge.METHOD, hits)


def rank_window(linked: Linked, simulated: Sequence[Linked]) -> AttackResult:
    """One of the records whose ranks lie as near in every column as the method ever moves them.

    Rank-interval disclosure (Nin, Herranz and Torra, DKE 64, 2008): of k candidates the right
    one is named with probability 1/k. The window is the widest change of the simulation.
    """
    window = np.max(
        [np.abs(_ranks(r.released, r) - _ranks(r.original, r)).max(axis=0) for r in simulated],
        axis=0,
    )
    own, theirs = _ranks(linked.original, linked), _ranks(linked.released, linked)
    old, new = states(linked.original), states(linked.released)
    hits = np.zeros(len(linked))
    order = np.argsort(linked.cell, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(linked.cell[order])) + 1):
        inside = np.ones((len(at), len(at)), dtype=np.bool_)
        for column in range(own.shape[1]):
            far = np.abs(own[at, column][:, None] - theirs[at, column][None, :])
            inside &= far <= window[column] + _SLACK
            inside &= old[at, column][:, None] == new[at, column][None, :]
        hits[at] = np.diag(inside) / np.maximum(inside.sum(axis=1), 1)
    return _told(WINDOW, linked, Knowledge.METHOD, hits)


def _told(name: str, linked: Linked, knows: Knowledge, hits: Floats) -> AttackResult:
    risk, chance = Risk.WHOLE_INDUSTRY, guessing(linked.cell)
    return result(risk, name, linked.columns, INDUSTRY, knows, hits, chance)


def _ranks(values: Floats, linked: Linked) -> Floats:
    return ranks(values, linked.cell)


def _assigned(linked: Linked, cost: Cost, most: int) -> Floats:
    same = kinds(np.nan_to_num(linked.released, nan=-0.5), linked.cell)
    key = np.column_stack(
        [ranks(v[:, :1], linked.cell) for v in (linked.original, linked.released)]
    )
    return assigned_hits(linked.cell, same, cost, key, most)
