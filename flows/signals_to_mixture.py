"""The signals lane: dated snapshots of what people install to the mixture of families."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from data.canonical import file_digest
from data.errors import guarded
from data.run_store import StageOutput
from flows.ideas import IdeasRef, store_ideas
from flows.mixture import Dated, MixtureRef, dated_files, read_mixture, write_mixture
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import Run, open_run


@flow(name="signals-to-mixture", validate_parameters=False)
def signals_to_mixture(recipe: FlowRecipe, runtime: FlowRuntime) -> MixtureRef | None:
    """Collect every snapshot given, analyse the newest, and work its seed ideas out."""
    if not runtime.signals:
        return None
    dated = dated_files(runtime.signals)
    run = open_run(recipe, runtime)
    mixture = read_mixture(analyse_signals(run, dated).path, dated)
    ideas = propose_ideas(run, mixture)
    if ideas.costs:
        create_table_artifact([dict(row) for row in ideas.costs], key="ideas-costs")
    return replace(mixture, ideas=ideas)


@task(name="analyse-signals")
@guarded("analyse-signals")
def analyse_signals(run: Run, dated: Dated) -> StageOutput:
    """Collect and analyse, unless that is done already."""
    recipe, snapshots = run.recipe.signals, run.out / "signals"
    told = [[str(date), file_digest(path)] for date, path in dated]
    write = partial(write_mixture, recipe, snapshots, dated, quiet=run.runtime.quiet)
    return run.store.run("signals", run.store.key("signals", told, recipe), write)


@task(name="propose-ideas")
@guarded("propose-ideas")
def propose_ideas(run: Run, mixture: MixtureRef) -> IdeasRef:
    """Several candidate ideas for every seed idea, sifted."""
    return store_ideas(run, mixture.folder, mixture.report)
