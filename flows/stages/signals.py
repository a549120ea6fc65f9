"""The stages of the signals lane: what people install, and candidate ideas for what is missing."""

from __future__ import annotations

from pathlib import Path

from construction.judging.model.prompt import load_prompt
from construction.judging.settings import ModelStage
from construction.signals.mixture import dated_files, mixture_report, write_mixture
from construction.workflows.candidate_ideas import (
    candidate_ideas,
    prompts_of_release,
    seeds_of,
    write_ideas,
)
from data.canonical import file_digest
from data.contracts import StageKind
from data.stages import Observed, Stage, Unit
from flows.run import Run, Work, asking


def is_given(run: Run) -> bool:
    """Are there snapshots of what people install?"""
    return bool(run.runtime.signals)


def _snapshots(work: Work) -> dict[str, str]:
    dated = dated_files(work.run.runtime.signals)
    return {f"signals-{date}": file_digest(path) for date, path in dated}


def _analyse(work: Work, out: Path) -> None:
    run = work.run
    dated = dated_files(run.runtime.signals)
    write_mixture(run.recipe.signals, dated, out, quiet=run.runtime.quiet)


SIGNALS = Stage(
    name="signals",
    meaning="What do people install, and how much weight does each family get?",
    units=(
        Unit("row", StageKind.FILTER, "signals.collect"),
        Unit("signal", StageKind.CHOOSE, "signals.top"),
    ),
    settings=("signals",),
    inputs=_snapshots,
    compute=_analyse,
)


def _known_prompts(work: Work) -> Observed:
    run = work.run
    prompts = prompts_of_release(run.runtime.release_before(run.recipe))
    judges = run.judges.of(ModelStage.CANDIDATE_IDEAS)
    return Observed([prompts, load_prompt("ideas").digest, judges], prompts)


def _suggest(work: Work, out: Path) -> None:
    seeds = seeds_of(mixture_report(work.folder(SIGNALS.name)))
    write_ideas(candidate_ideas(seeds, work.observed, work.run.judges), out)


CANDIDATE_IDEAS = Stage(
    name="candidate_ideas",
    meaning="Which tasks would serve what people install?",
    units=(Unit("seed", StageKind.DERIVE), Unit("idea", StageKind.FILTER, "idea_prefilter")),
    settings=("judging.model_stages",),
    reads=(SIGNALS.name,),
    observe=_known_prompts,
    asks=asking(ModelStage.CANDIDATE_IDEAS),
    compute=_suggest,
)
