"""The signals lane: dated snapshots of what people install to the mixture of families."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from construction.signals.mixture import Dated, MixtureRef, dated_files, read_mixture, write_mixture
from data.canonical import file_digest
from data.run_store import StageOutput
from flows.ideas import IdeasRef, store_ideas
from flows.prefect_adapter import keep_table, lane, stage
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import Run, open_run


@lane("signals-to-mixture")
def signals_to_mixture(recipe: FlowRecipe, runtime: FlowRuntime) -> MixtureRef | None:
    """Collect every snapshot given, analyse the newest, and work its seed ideas out."""
    if not runtime.signals:
        return None
    dated = dated_files(runtime.signals)
    run = open_run(recipe, runtime)
    mixture = read_mixture(analyse_signals(run, dated).path, dated)
    ideas = propose_ideas(run, mixture)
    keep_table("ideas-costs", ideas.costs)
    return replace(mixture, ideas=ideas)


@stage("analyse-signals")
def analyse_signals(run: Run, dated: Dated) -> StageOutput:
    """Collect and analyse, unless that is done already."""
    recipe, snapshots = run.recipe.signals, run.out / "signals"
    told = [[str(date), file_digest(path)] for date, path in dated]
    write = partial(write_mixture, recipe, snapshots, dated, quiet=run.runtime.quiet)
    return run.store.run("signals", run.store.key("signals", told, recipe), write)


@stage("propose-ideas")
def propose_ideas(run: Run, mixture: MixtureRef) -> IdeasRef:
    """Several candidate ideas for every seed idea, sifted."""
    return store_ideas(run, mixture.folder, mixture.report)
