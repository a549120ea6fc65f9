"""The signals lane: dated snapshots of what people install to the mixture of families."""

from __future__ import annotations

from functools import partial

from prefect import flow, task

from data.canonical import file_digest
from data.errors import guarded
from data.run_store import StageOutput
from flows.mixture import Dated, MixtureRef, dated_files, read_mixture, write_mixture
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import Run, open_run


@flow(name="signals-to-mixture", validate_parameters=False)
def signals_to_mixture(recipe: FlowRecipe, runtime: FlowRuntime) -> MixtureRef | None:
    """Collect every snapshot given, analyse the newest, compare it with the one before."""
    if not runtime.signals:
        return None
    dated = dated_files(runtime.signals)
    output = analyse_signals(open_run(recipe, runtime), dated)
    return read_mixture(output.path, dated)


@task(name="analyse-signals")
@guarded("analyse-signals")
def analyse_signals(run: Run, dated: Dated) -> StageOutput:
    """Collect and analyse, unless that is done already."""
    recipe, snapshots = run.recipe.signals, run.out / "signals"
    told = [[str(date), file_digest(path)] for date, path in dated]
    write = partial(write_mixture, recipe, snapshots, dated, quiet=run.runtime.quiet)
    return run.store.run("signals", run.store.key("signals", told, recipe), write)
