"""The stage that takes a release from the pool of all lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from construction.grading.sandbox_gate import STAGE as SANDBOX_PREFLIGHT
from construction.signals.analyse import with_families
from construction.signals.gap import gap_of_pool
from construction.signals.mixture import task_weights
from construction.workflows.pool import PANEL_FILE, write_panel
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import Candidate, Lane, StageKind
from data.pool import read_pool
from data.stages import Observed, Stage, Unit
from flows.run import Work
from flows.stages.informative import pilot_scores, scores_input
from flows.stages.workflows import WORKFLOWS
from selection.choice_tables import STAGE, write_choice
from selection.pilot_difficulty import with_pilot_difficulty
from selection.release import Choice, Known, choose, last_release
from selection.scores import ScoreMatrix, read_scores

REPORT = "selection.json"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The candidates with their families, what else was known of them, and the choice."""

    candidates: Sequence[Candidate]
    known: Known
    choice: Choice
    weights: Mapping[str, float]


def chosen_from(work: Work, candidates: Sequence[Candidate], released: frozenset[str]) -> Chosen:
    """What the release would take of these candidates; `released` are those of the last one.

    Raises ReleaseError naming every blocker if no selection is possible.
    """
    run, recipe = work.run, work.run.recipe
    known = Known(
        opaque=partial(run.opaque, "x"),
        pilots=pilot_scores(work) or _panel(work, candidates),
        released=released,
    )
    weights = task_weights(work.folders("signals"))
    with_family = with_pilot_difficulty(
        with_families(candidates, recipe.signals.analysis), known.pilots
    )
    choice = choose(with_family, weights, recipe.selection, recipe.release.seed, known)
    return Chosen(with_family, known, choice, weights)


def _panel(work: Work, candidates: Sequence[Candidate]) -> ScoreMatrix | None:
    """The scores of the panel of scripted agents, where it ran on every candidate."""
    folders = work.folders(WORKFLOWS.name)
    if not folders or any(candidate.lane is not Lane.WORKFLOWS for candidate in candidates):
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder, PANEL_FILE)
        write_panel(folders, path)
        return read_scores(path)[0]


def last_released(work: Work) -> frozenset[str]:
    """The ids of the release that `max_changed` compares with."""
    last = work.run.runtime.last_release
    return last_release(last) if last else frozenset()


def _last_release(work: Work) -> Observed:
    released = last_released(work)
    return Observed(sorted(released), released)


def _select(work: Work, out: Path) -> None:
    pool = read_pool(work.folders(SANDBOX_PREFLIGHT)).candidates
    chosen = chosen_from(work, pool, work.observed)
    write_choice(chosen.candidates, chosen.choice, chosen.known, out)
    report = dict(chosen.choice.report)
    if chosen.weights and pool:
        gap = work.run.recipe.signals.analysis.gap
        size = chosen.choice.size
        report["coverage_gap"] = gap_of_pool(chosen.weights, chosen.candidates, size, gap)
    write_bytes(out / REPORT, pretty_json(report))


SELECT = Stage(
    name=STAGE,
    meaning="Which candidates does the release take?",
    units=(Unit("candidate", StageKind.CHOOSE),),
    settings=("selection", "signals", "release.seed"),
    reads=("signals", WORKFLOWS.name, SANDBOX_PREFLIGHT),
    inputs=scores_input,
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
