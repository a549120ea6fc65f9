"""A release of workflow tasks from the March signals: demand, screening, the panel, the programme.

    python -m benchmarks.workflow_release SIGNALS.csv

SIGNALS.csv has its date in its name. No model is called: the pilots are the scripted panel. The
tasks are those of a release of 100 but for its 20 analytic ones, which another lane makes.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from benchmarks.report import table, write_result
from construction.workflows.demand import generators
from construction.workflows.pool import PANEL_FILE
from construction.workflows.repair.catalogue import BY_NAME as REPAIRS
from data.apportion import apportion, total_variation
from data.builds import building
from data.pool import read_pool
from flows.build_snapshot import WORKFLOWS_ALONE, build
from flows.prefect_adapter import without_prefect
from flows.recipe import load_settings
from flows.source import with_signals

SERVICES, REPAIRED = 60, 20  # wanted
TASKS, DRAFTS, PER_GENERATOR, MOST, WORKERS = SERVICES + REPAIRED, 132, 4, 3, 2
SEED_ALL_PASS, SEED_ALL_FAIL = 19, 27  # of 105 tasks published earlier
_PASS = 0.8


def main() -> None:
    """Build the release and write `results/workflow_release`."""
    signals = Path(sys.argv[1])
    with TemporaryDirectory() as folder:
        runtime = {"signals": [signals], "out": folder, "workers": WORKERS, "quiet": True}
        wanted = {"drafts": DRAFTS, "per_generator": PER_GENERATOR}
        settings = load_settings(
            None,
            {"runtime": runtime, "workflows": wanted, "selection": {"max_tasks": TASKS}},
        )
        began = time.perf_counter()
        with building(settings.runtime.out), without_prefect():
            built = build(settings.recipe, settings.runtime, WORKFLOWS_ALONE, with_signals)
        seconds = time.perf_counter() - began
        figures = figures_of(Path(folder), built.snapshot.path) | {"seconds": round(seconds)}
    write_result("workflow_release", __doc__ or "", page(figures), figures)


def figures_of(out: Path, snapshot: Path) -> dict[str, Any]:
    """What the release and the stages behind it show."""
    selection = json.loads((snapshot / "public/audit/selection.json").read_bytes())
    shards = sorted((out / "private/stages/workflows").iterdir())
    pool = {task.task_id: task for task in read_pool(shards).candidates}
    lines = (snapshot / "public/tasks.jsonl").read_text("utf-8").splitlines()
    released = [pool[json.loads(line)["task_id"]] for line in lines]
    made = [task.provenance.detail["generator"] for task in released]
    recipes = {(task.provenance.detail["generator"], task.provenance.detail["rule"])
               for task in released}  # fmt: skip
    families = Counter(task.task_family.value for task in released if task.task_family)
    weights: dict[str, float] = selection["family_weights"]
    ledger = pl.concat([pl.read_parquet(shard / "ledger.parquet") for shard in shards])
    passes = _passes(shards, {task.task_id for task in released})
    room = Counter(each.task_family for each in generators().values())
    most = {family: MOST * room[family] for family in weights}
    possible = min(TASKS, sum(most.values()))
    best = apportion(weights, possible, least={f: min(1, most[f]) for f in weights}, most=most)
    return {
        "drafts": len(ledger),
        "screened": len(pool),
        "rejected": dict(Counter(reason for reason in ledger["reason"] if reason)),
        "generators": len({task.provenance.detail["generator"] for task in pool.values()}),
        "released": len(released),
        "repairs": sum(name in REPAIRS for name in made),
        "most_of_a_generator": max(Counter(made).values()),
        "recipes": len(recipes),
        "families": {family: families[family] for family in sorted(weights)},
        "wanted": {family: round(TASKS * weights[family], 1) for family in sorted(weights)},
        "room": {family: most[family] for family in sorted(weights)},
        "possible": {
            "services": MOST * (len(generators()) - len(REPAIRS)),
            "repairs": MOST * len(REPAIRS),
        },
        "distance": round(total_variation(weights, families), 3),
        "best_distance": round(total_variation(weights, best), 3),
        "all_pass": sum(n == len(_PANEL) for n in passes.values()),
        "all_fail": sum(n == 0 for n in passes.values()),
        "ideas": selection["workflows"]["ideas"],
        "no_scenario": dict(
            Counter(idea["seed"] for idea in selection["workflows"]["no_scenario"]).most_common()
        ),
        "unbuildable": dict(Counter(selection["workflows"]["unbuildable"].values()).most_common()),
    }


_PANEL = (
    "perfect", "gives_up_on_errors", "double_writes", "wrong_entity", "arithmetic_slip",
    "no_writes", "ignores_overriding_rule", "forgets_one_source",
)  # fmt: skip


def _passes(shards: Sequence[Path], released: set[str]) -> dict[str, int]:
    """How many agents of the panel reach the pass mark on each released task."""
    counts = dict.fromkeys(released, 0)
    for shard in shards:
        for line in (shard / PANEL_FILE).read_text("utf-8").splitlines():
            task, _, _, score = line.split(",")
            if task in counts:
                counts[task] += float(score) >= _PASS
    return counts


def page(figures: Mapping[str, Any]) -> str:
    """The page: misses first."""
    rows = [
        (family, str(figures["wanted"][family]), str(number), str(figures["room"][family]))
        for family, number in sorted(figures["families"].items(), key=lambda item: -item[1])
    ]
    unbuildable = ", ".join(f"{why} {n}" for why, n in figures["unbuildable"].items())
    missing = ", ".join(f"{seed} {n}" for seed, n in figures["no_scenario"].items())
    covered = sum(n > 0 for n in figures["families"].values())
    return "\n\n".join(
        (
            f"Misses first. The families' shares are {figures['distance']} from the weights (total "
            f"variation distance); no release with at most {MOST} tasks of a generator could come "
            f"nearer than {figures['best_distance']}, since the heaviest families have too few "
            f"generators. {sum(figures['no_scenario'].values())} of {figures['ideas']} ideas have "
            f"no scenario yet: {missing}. For {sum(figures['unbuildable'].values())} more none can "
            "be written, since most skills of their pattern say in their summaries that they need "
            "a person's account, or give what only an eye or an ear can judge: "
            f"{unbuildable or 'none'}. The words for that were chosen on these summaries. "
            "The pilots are scripted, so the informativeness of a task is "
            "that for flaws, not for models.",
            f"{figures['screened']} of {figures['drafts']} drafts of {figures['generators']} "
            f"generators pass the screening (bar: {TASKS}). The release has "
            f"{figures['released']} tasks of {covered} families (bar: {TASKS} of 18), "
            f"{figures['repairs']} of them workspace repairs (wanted: {REPAIRED}; the families' "
            "weights decide, not the kind). With at most "
            f"{MOST} of a generator {figures['possible']['services']} tasks over services and "
            f"{figures['possible']['repairs']} repairs are possible; no generator has more than "
            f"{figures['most_of_a_generator']}. There are "
            f"{figures['recipes']} different pairs of generator and rule. All of it, from the "
            f"signals to the verified snapshot, took {figures['seconds']} s with {WORKERS} workers "
            "(bar: 600 s).",
            f"Tasks at which the whole panel reaches {_PASS}: {figures['all_pass']} (seed: "
            f"{SEED_ALL_PASS}); none of it: {figures['all_fail']} (seed: {SEED_ALL_FAIL}).",
            table(("family", "tasks by weight", "released", "most possible"), rows),
        )
    )


if __name__ == "__main__":
    main()
