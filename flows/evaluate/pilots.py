"""Pilots: agents on all of the pool, their scores as a matrix, and the next release from it.

    OUT/pilots/<name>-pool-<date>/          the pool, written and guarded like a release
    OUT/pilots/attempts/<pool>/<agent>/     what the agents did
    OUT/pilots/scores/<pool>.csv            item,family,model,score,pass_rate

Each step is done once: the same command goes on after any end.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.attempts import table_folders
from data.builds import building
from data.errors import InputError
from data.releases.tasks import ReleasedTasks, require_guarded
from data.stages import Results
from flows.build_snapshot import PIPELINE, Built, build_snapshot, run_lane
from flows.evaluate.pilot_process import Job, run_pilots
from flows.evaluate.plan import Request
from flows.evaluate.scripts import CONTROLS, SCRIPTED
from flows.publish import publish
from flows.recipe import Recipe, Runtime
from flows.run import open_run
from flows.source import with_source
from selection.config import SelectionRecipe
from selection.release import NO_FAMILY, family_of

FOLDER, ATTEMPTS, _SCORES = "pilots", "attempts", "scores"


@dataclass(frozen=True, slots=True)
class _Piloting:
    """What pilots left: the pool that they ran on, their attempts, and the score matrix.

    `pilots` are those that count in a selection, best first; none: all of the matrix.
    """

    pool: ReleasedTasks
    attempts: Path
    scores: Path
    pilots: tuple[str, ...]


def _pool_recipe(recipe: Recipe) -> Recipe:
    """The recipe of the pool: all candidates under a name of its own, whatever the release takes.

    `recipe` is that of the release, with the configuration of its source.
    """
    release = recipe.release.model_copy(update={"name": f"{recipe.release.name}-pool"})
    selection = SelectionRecipe(lane_shares={})
    return recipe.model_copy(update={"release": release, "selection": selection})


def pilot(recipe: Recipe, runtime: Runtime, requests: Sequence[Request]) -> _Piloting:
    """Write the pool, run the agents on it where no key can be read, and write their scores.

    The requests' folders are set here. Raises InputError, ReleaseError as a build does.
    """
    folder = private_dir(runtime.out / FOLDER)
    snapshot, hidden = _write_pool_release(recipe, runtime, folder)
    pool = require_guarded(snapshot)
    attempts = folder / ATTEMPTS
    own = tuple(replace(request, snapshot=snapshot, out=attempts) for request in requests)
    run_pilots(Job(own, hidden))
    scores = folder / _SCORES / f"{pool.snapshot}.csv"
    scripted = [request.title for request in own if request.agent in SCRIPTED]
    names = [request.title for request in own]
    matrix = _score_matrix(pool, attempts / pool.snapshot, names, scripted)
    write_bytes(scores, matrix.write_csv().encode(), mode=PRIVATE_FILE)
    counting = [request.title for request in own if request.agent not in CONTROLS]
    return _Piloting(pool, attempts / pool.snapshot, scores, _best_first(matrix, counting))


def _write_pool_release(
    recipe: Recipe, runtime: Runtime, folder: Path
) -> tuple[Path, tuple[Path, ...]]:
    """The pool as a release of its own in `folder`, and what its agents must not read."""
    with building(runtime.out), runtime.judges(recipe).budget():
        recipe, runtime, privacy = with_source(recipe, runtime)
        changed: dict[str, object] = {"scores": None, "last_release": None, "revision": True}
        runtime = runtime.model_copy(update=changed)
        run, results = open_run(_pool_recipe(recipe), runtime), Results()
        for lane in PIPELINE:
            run_lane(run, lane, results)
        written = publish(run, results, privacy, {}, folder)
    return written.path, _hidden_from_pilots(runtime)


def _hidden_from_pilots(runtime: Runtime) -> tuple[Path, ...]:
    """Keys, vaults, stored stages and originals, as absolute paths."""
    owners = (runtime.private_values, runtime.reviewed)
    single = (runtime.key_file, runtime.tripwires, *owners)
    paths = (runtime.out / "private", *runtime.material, *(path for path in single if path))
    return tuple(path.resolve() for path in paths)


def _score_matrix(
    pool: ReleasedTasks, attempts: Path, names: Sequence[str], scripted: Sequence[str] = ()
) -> pl.DataFrame:
    """The scores of the named configurations: the mean over the epochs of each task.

    Columns: item, family, model, score, pass_rate (0 to 1). `pass_rate` is empty for the scripted
    agents: how hard a task is only real ones show.

    An attempt without a score (unjudged, or ended by the infrastructure) counts as none. Raises
    InputError where no pilot has any.
    """
    frames = [
        pl.read_parquet(source / "scores.parquet")
        for name in names
        for source in table_folders(attempts / name)
    ]
    columns = ("item", "family", "model", "score")
    scores = pl.concat(frames, how="diagonal") if frames else pl.DataFrame()
    if not scores.height or scores["overall"].null_count() == scores.height:
        raise InputError(
            str(attempts), "no scores from any pilot", "agents that can attempt tasks in the pool",
            "Choose other agents, or add a model.",
        )  # fmt: skip
    families = {name: family_of(task.candidate) for name, task in pool.tasks.items()}
    return (
        scores.drop_nulls("overall")
        .group_by("task_id", "configuration")
        .agg(
            score=pl.col("overall").mean().round(9),
            pass_rate=pl.col("passed").cast(pl.Float64).mean().round(9),
        )
        .select(
            item="task_id",
            family=pl.col("task_id").replace_strict(families, default=NO_FAMILY),
            model="configuration",
            score="score",
            pass_rate=pl.when(~pl.col("configuration").is_in(scripted)).then("pass_rate"),
        )
        .sort(columns[:3])
    )


def _best_first(matrix: pl.DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Those of the names that have scores, by falling mean."""
    own = matrix.filter(pl.col("model").is_in(names)).group_by("model").agg(pl.col("score").mean())
    return tuple(own.sort(-pl.col("score").round(9), "model")["model"])


def next_release(
    recipe: Recipe, runtime: Runtime, done: _Piloting, released: dt.date | None
) -> Built:
    """Build the release that the scores lead to; without a date of its own it is a revision.

    Where the recipe names no pilots, those that are right or wrong by construction do not count:
    with them every task would tell two pilots apart.
    """
    section = recipe.selection
    if not section.pilots:
        section = section.model_copy(update={"pilots": done.pilots})
    changed = recipe.model_copy(update={"selection": section})
    if released is not None:
        dated = recipe.release.model_copy(update={"release_date": released})
        changed = changed.model_copy(update={"release": dated})
    given = {"scores": done.scores, "revision": True}
    with building(runtime.out):
        return build_snapshot(changed, runtime.model_copy(update=given))
