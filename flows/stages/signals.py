"""The stages of the signals lane: what people install, and candidate ideas for what is missing."""

from __future__ import annotations

from pathlib import Path

from construction.judging.candidate_ideas import seeds_of, write_ideas
from construction.judging.judge import ModelStage
from construction.judging.model.prompt import load_prompt
from construction.signals.mixture import dated_files, mixture_report, write_mixture
from data.canonical import file_digest
from data.contracts import StageKind
from data.stages import Observed, Stage, Unit
from flows.ideas import have_ideas, known_prompts
from flows.model_calls import judges_of
from flows.run import Run, Work


def is_given(run: Run) -> bool:
    """Are there snapshots of what people install?"""
    return bool(run.runtime.signals)


def _snapshots(work: Work) -> dict[str, str]:
    dated = dated_files(work.run.runtime.signals)
    return {f"signals-{date}": file_digest(path) for date, path in dated}


def _analyse(work: Work, out: Path) -> None:
    run = work.run
    dated = dated_files(run.runtime.signals)
    write_mixture(run.recipe.signals, run.out / "signals", dated, out, quiet=run.runtime.quiet)


SIGNALS = Stage(
    name="signals",
    meaning="What do people install, and how much weight has each family?",
    units=(
        Unit("row", StageKind.FILTER, "signals.collect"),
        Unit("signal", StageKind.CHOOSE, "signals.top"),
    ),
    settings=("signals",),
    inputs=_snapshots,
    compute=_analyse,
)


def _known_prompts(work: Work) -> Observed:
    prompts = known_prompts(work.run.recipe, work.run.runtime)
    judges = judges_of(work.run.recipe.judging, ModelStage.CANDIDATE_IDEAS)
    return Observed([prompts, load_prompt("ideas").digest, judges], prompts)


def _suggest(work: Work, out: Path) -> None:
    seeds, run = seeds_of(mixture_report(work.folder(SIGNALS.name))), work.run
    write_ideas(have_ideas(seeds, work.observed, run.recipe, run.runtime), out)


CANDIDATE_IDEAS = Stage(
    name="candidate_ideas",
    meaning="Which tasks would serve what people install?",
    units=(Unit("seed", StageKind.DERIVE), Unit("idea", StageKind.FILTER, "idea_prefilter")),
    settings=("judging.model_stages",),
    reads=(SIGNALS.name,),
    observe=_known_prompts,
    compute=_suggest,
)
