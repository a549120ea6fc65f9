"""Demand drives supply: from the weights of families and the ideas to drafts per generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from construction.signals.assign import Need
from construction.workflows.documents.scenario import scenarios
from construction.workflows.repair.catalogue import BY_NAME as REPAIRS
from construction.workflows.screening import WorkflowsRecipe
from data.apportion import apportion
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import LedgerRow, LineageRow, Outcome, StageKind
from data.errors import ConfigError
from data.randomness import keyed_order
from data.stage_tables import write_stage_tables
from data.text.lexicon import load_table

STAGE, REPORT = "workflow_demand", "demand.json"


class _DemandReason(StrEnum):
    """Why an idea becomes no task."""

    NO_SCENARIO = "idea.no_scenario"  # one could be written
    NEEDS_ACCOUNT = "idea.needs_account"  # most of what people install for it needs theirs
    NO_GRADER = "idea.no_grader"  # most of it gives what only an eye, an ear or taste can judge


_REASONS = {Need.ACCOUNT: _DemandReason.NEEDS_ACCOUNT, Need.NO_GRADER: _DemandReason.NO_GRADER}
_MOST = 0.5  # of a pattern's mass


@dataclass(frozen=True, slots=True)
class Generator:
    """A scenario or a repair by name: its task family; `kind` is the kind of fault of a repair."""

    name: str
    task_family: str
    kind: str = ""


@cache
def generators() -> Mapping[str, Generator]:
    """All generators of tasks by name, sorted."""
    services = [Generator(each.name, each.task_family) for each in scenarios().values()]
    repairs = [Generator(each.name, each.task_family, each.kind) for each in REPAIRS.values()]
    made = sorted((*services, *repairs), key=lambda generator: generator.name)
    return {generator.name: generator for generator in made}


def _chosen_generators(recipe: WorkflowsRecipe) -> dict[str, Generator]:
    """Those that the recipe names, or all. Raises ConfigError for a name that there is not."""
    known = generators()
    if unknown := sorted(set(recipe.generators) - known.keys()):
        raise ConfigError(
            f"[workflows] generators: found {', '.join(unknown)}; expected some of: "
            f"{', '.join(known)}."
        )
    return {
        name: known[name] for name in known if name in recipe.generators or not recipe.generators
    }


def _why_unserved(pattern: str, needs: Mapping[str, Mapping[str, float]]) -> _DemandReason:
    """Why no scenario serves a pattern; `needs` as of `needs_by_pattern`."""
    shares = needs.get(pattern, {})
    need = max(Need, key=lambda each: shares.get(each, 0.0))
    return _REASONS[need] if shares.get(need, 0.0) >= _MOST else _DemandReason.NO_SCENARIO


def _servers_of(pattern: str, available: Mapping[str, Generator]) -> list[str]:
    """The generators that can serve the ideas of a pattern."""
    served: Mapping[str, Any] = load_table(__package__, "serves.toml").get(pattern, {})
    families, kinds = served.get("families", ()), served.get("kinds", ())
    return [
        name
        for name, generator in available.items()
        if generator.kind in kinds or (not generator.kind and generator.task_family in families)
    ]


def _drafts_per_generator(
    weights: Mapping[str, float], recipe: WorkflowsRecipe, seed: int
) -> dict[str, int]:
    """How many drafts each generator makes; those with none are left out.

    The families share `recipe.drafts` by their weights, as far as their generators reach; without
    weights all families are alike. Within a family the generators take turns.
    """
    by_family: dict[str, list[str]] = {}
    for generator in _chosen_generators(recipe).values():
        by_family.setdefault(generator.task_family, []).append(generator.name)
    most = {family: len(names) * recipe.per_generator for family, names in by_family.items()}
    shares = {family: weights.get(family, 0.0) if weights else 1.0 for family in by_family}
    served = {family: share for family, share in shares.items() if share > 0}
    total = min(recipe.drafts, sum(most[family] for family in served))
    numbers = apportion(served, total, most=most) if served else {}
    counts: dict[str, int] = {}
    for family, number in sorted(numbers.items()):
        names = sorted(by_family[family])
        order = [names[place] for place in keyed_order(seed, STAGE, names)]
        for turn in range(number):
            name = order[turn % len(order)]
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def write_demand(
    ideas: Path | None,
    weights: Mapping[str, float],
    recipe: WorkflowsRecipe,
    seed: int,
    out: Path,
    needs: Mapping[str, Mapping[str, float]],
) -> None:
    """Write what becomes of each idea, and how many drafts each generator is to make.

    `needs` says of patterns what most of their skills need (`needs_by_pattern`).
    """
    available = _chosen_generators(recipe)
    lines = [orjson.loads(line) for line in ideas.read_bytes().splitlines()] if ideas else []
    served = {idea["idea_id"]: _servers_of(idea["seed"], available) for idea in lines}
    unserved = {
        idea["idea_id"]: _why_unserved(idea["seed"], needs)
        for idea in lines
        if not served[idea["idea_id"]]
    }
    rows = [_row(idea, unserved.get(idea["idea_id"])) for idea in lines]
    lineage = [
        LineageRow(STAGE, "idea", idea, "generator", name, "served")
        for idea, names in served.items()
        for name in names
    ]
    ids = list(served)
    write_stage_tables(out, StageKind.DERIVE, ids, rows, lineage=lineage, stage=STAGE, unit="idea")
    counts = _drafts_per_generator(weights, recipe, seed)
    write_bytes(out / REPORT, pretty_json(_report(lines, unserved, weights, counts, available)))


def _row(idea: Mapping[str, Any], reason: _DemandReason | None) -> LedgerRow:
    outcome = Outcome.CONSUMED if reason is None else Outcome.REJECTED
    return LedgerRow(STAGE, "idea", idea["idea_id"], outcome, reason=reason, stratum=idea["seed"])


def _report(
    ideas: Sequence[Mapping[str, Any]],
    unserved: Mapping[str, _DemandReason],
    weights: Mapping[str, float],
    counts: Mapping[str, int],
    available: Mapping[str, Generator],
) -> dict[str, Any]:
    families = {generator.task_family for generator in available.values()}
    return {
        "ideas": len(ideas),
        "no_scenario": [
            {"idea_id": idea["idea_id"], "seed": idea["seed"], "title": idea["title"]}
            for idea in ideas
            if unserved.get(idea["idea_id"]) is _DemandReason.NO_SCENARIO
        ],
        "unbuildable": {
            idea: reason
            for idea, reason in unserved.items()
            if reason is not _DemandReason.NO_SCENARIO
        },
        "drafts": dict(counts),
        "unserved_weight": round(
            sum(weight for family, weight in weights.items() if family not in families), 9
        ),
        "unserved_families": sorted(set(weights) - families),
    }


def demand_report(folder: Path) -> dict[str, Any]:
    """What the stage says of ideas and drafts, from its output."""
    report: dict[str, Any] = orjson.loads((folder / REPORT).read_bytes())
    return report


def demanded(folder: Path) -> dict[str, int]:
    """How many drafts each generator is to make, from the output of the stage."""
    return dict(demand_report(folder)["drafts"])
