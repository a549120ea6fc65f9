"""The stage that takes a release from the pool of all lanes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from construction.signals.analyse import with_families
from construction.signals.gap import gap_of_pool
from construction.signals.mixture import task_weights
from data.atomic import write_bytes
from data.canonical import file_digest, pretty_json
from data.contracts import Candidate, StageKind
from data.pool import read_pool
from data.stages import Observed, Stage, Unit
from flows.run import Work
from flows.stages.preflight import PREFLIGHT
from selection.choice_tables import STAGE, write_choice
from selection.release import Known, choose, last_release
from selection.scores import read_scores

REPORT = "selection.json"


def _inputs(work: Work) -> dict[str, str]:
    scores = work.run.runtime.scores
    return {"scores": file_digest(scores)} if scores else {}


def _last_release(work: Work) -> Observed:
    last = work.run.runtime.last_release
    released = last_release(last) if last else frozenset()
    return Observed(sorted(released), released)


def _select(work: Work, out: Path) -> None:
    run, recipe = work.run, work.run.recipe
    pool = read_pool(work.folders(PREFLIGHT.name))
    scores = run.runtime.scores
    known = Known(
        opaque=partial(run.opaque, "x"),
        pilots=read_scores(scores)[0] if scores else None,
        released=work.observed,
    )
    weights = task_weights(work.folders("signals"))
    candidates = with_families(pool.candidates, recipe.signals.analysis)
    choice = choose(candidates, weights, recipe.selection, recipe.release.seed, known)
    write_choice(candidates, choice, known, out)
    report = dict(choice.report)
    if weights and candidates:
        gap = recipe.signals.analysis.gap
        report["coverage_gap"] = gap_of_pool(weights, candidates, choice.size, gap)
    write_bytes(out / REPORT, pretty_json(report))


SELECT = Stage(
    name=STAGE,
    meaning="Which candidates does the release take?",
    units=(Unit("candidate", StageKind.CHOOSE),),
    settings=("selection", "signals", "release.seed"),
    reads=("signals", PREFLIGHT.name),
    inputs=_inputs,
    observe=_last_release,
    compute=_select,
    uses_key=True,
)


def chosen_candidates(folder: Path) -> Sequence[Candidate]:
    """The candidates that the release takes, by task id."""
    return read_pool([folder]).candidates


def selection_report(folder: Path) -> dict[str, Any]:
    """How they were chosen, for the auditor."""
    report: dict[str, Any] = orjson.loads((folder / REPORT).read_bytes())
    return report
