"""A release of 100 from the material: 60 tasks over services, 20 repairs, 20 analytic ones.

    python -m benchmarks.workflow_release SIGNALS.csv ANALYTICS OUT

SIGNALS.csv, what people installed in March, has its date in its name; ANALYTICS are files of an
environment. The release stays in OUT/workspace, with its settings in OUT/benchmint.toml. No model
is called: the pilots are the scripted panel. Memory is sampled every two seconds over all
processes of `benchmint build`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from benchmarks.analytics import DECLARATION, POLICIES
from benchmarks.large_build import watched
from benchmarks.report import table, write_result
from construction.workflows.demand import generators
from construction.workflows.documents.check import long_sentences
from construction.workflows.documents.scenario import scenarios
from construction.workflows.pool import PANEL_FILE
from construction.workflows.repair.catalogue import BY_NAME as REPAIRS
from construction.workflows.world_file import read_world
from data.apportion import apportion, total_variation
from data.configuration import read_toml
from data.contracts import Candidate
from data.pool import read_pool
from data.snapshot import layout
from flows.commands.analytics import profile_command

SERVICES, REPAIRED, ANALYTIC = 60, 20, 20  # wanted
LEAST_ANALYTIC = (
    15  # drafts of some templates are all rejected; tasks over services take their place
)
TASKS, MOST, WORKERS = SERVICES + REPAIRED + ANALYTIC, 3, 2
# Analytic tasks to choose from, all over policies: three for each template, which is as many as a
# release takes.
HARD = {
    "enterprise_industry_policy": {"hard": 18},
    "comprehensive_decision": {"hard": 15},
    "hypothesis_verification": {"hard": 9},
    "industry_planning": {"hard": 9},
    "risk_assessment": {"hard": 18},
}
OF_A_FAMILY = 2  # analytic tasks, of the three, over the same policies and metrics
SEED_ALL_PASS, SEED_ALL_FAIL = 19, 27  # of 105 tasks published earlier
_PASS = 0.8


def settings_of(signals: Path, declaration: Path, out: Path) -> str:
    """The settings of the build, as TOML."""
    full = [each.name for each in scenarios().values() if each.split == "full"]
    full += [each.name for each in REPAIRS.values() if each.split == "full"]
    names = sorted(full)
    return f"""
[runtime]
signals = ["{signals}"]
environment = "{declaration}"
out = "{out}"
workers = {WORKERS}

[release]
name = "strong-agents"

[workflows]
drafts = {len(names) * MOST}
per_generator = {MOST}
generators = {json.dumps(names)}

[analytics]
splits = ["full"]
per_template = {MOST}

[selection]
max_tasks = {TASKS}
max_per_generator = {MOST}

[selection.lane_shares]
workflows = {{ low = {1 - ANALYTIC / TASKS}, high = {1 - LEAST_ANALYTIC / TASKS} }}
analytics = {{ low = {LEAST_ANALYTIC / TASKS}, high = {ANALYTIC / TASKS} }}
"""


def main() -> None:
    """Build the release and write `results/workflow_release`."""
    signals, analytics, folder = (Path(given).resolve() for given in sys.argv[1:4])
    declaration = folder / "environment" / "environment.toml"
    shutil.copytree(analytics, declaration.parent)
    declared = read_toml(DECLARATION)
    limits = declared["limits"] | {"max_per_template": OF_A_FAMILY}
    declared |= {"quotas": HARD, "limits": limits}
    declaration.write_text(tomli_w.dumps(declared), "utf-8")
    profile_command(declaration, policies=POLICIES)
    out, settings = folder / "workspace", folder / "benchmint.toml"
    settings.write_text(settings_of(signals, declaration, out), "utf-8")
    program = Path(sys.executable).with_name("benchmint")
    command = [f"{program}", "build", "--config", f"{settings}", "--quiet"]
    began = time.perf_counter()
    build = subprocess.Popen(command, cwd=folder)
    peak, largest = watched(build)
    if build.returncode:
        raise subprocess.CalledProcessError(build.returncode, command)
    figures = figures_of(out, (out / "snapshots/latest").resolve())
    figures |= {"seconds": round(time.perf_counter() - began)}
    figures |= {"peak_mib": peak // 1024, "largest_process_mib": largest // 1024}
    write_result("workflow_release", __doc__ or "", page(figures), figures)


def figures_of(out: Path, snapshot: Path) -> dict[str, Any]:
    """What the release and the stages behind it show."""
    selection = json.loads((snapshot / "public/audit/selection.json").read_bytes())
    shards = sorted((out / "private/stages/workflows").iterdir())
    pool = {task.task_id: task for task in read_pool(shards).candidates}
    lines = (snapshot / "public/tasks.jsonl").read_text("utf-8").splitlines()
    tasks = [json.loads(line) for line in lines]
    released = [pool[task["task_id"]] for task in tasks if task["task_id"] in pool]
    builders = {task.task_id: task.provenance.detail["generator"] for task in released}
    ledger = pl.concat([pl.read_parquet(shard / "ledger.parquet") for shard in shards])
    passes = _passes(shards, set(builders))
    repairs = sum(name in REPAIRS for name in builders.values())
    unserved = Counter(idea["seed"] for idea in selection["workflows"]["no_scenario"])
    return {
        "drafts": len(ledger),
        "screened": len(pool),
        "rejected": dict(Counter(reason for reason in ledger["reason"] if reason)),
        "generators": len({task.provenance.detail["generator"] for task in pool.values()}),
        "released": len(tasks),
        "services": len(released) - repairs,
        "repairs": repairs,
        "analytic": len(tasks) - len(released),
        "most_of_a_generator": max(Counter(builders.values()).values()),
        **_shared(snapshot, builders),
        **_families(selection["family_weights"], released),
        "all_pass": sum(n == len(_PANEL) for n in passes.values()),
        "all_fail": sum(n == 0 for n in passes.values()),
        "ideas": selection["workflows"]["ideas"],
        "no_scenario": dict(unserved.most_common()),
        "unbuildable": dict(Counter(selection["workflows"]["unbuildable"].values()).most_common()),
    }


def _families(weights: Mapping[str, float], released: Sequence[Candidate]) -> dict[str, Any]:
    """The families of the workflow tasks, beside their weights and what there could be."""
    families = Counter(task.task_family.value for task in released if task.task_family)
    room = Counter(each.task_family for each in generators().values())
    most = {family: MOST * room[family] for family in weights}
    number = min(SERVICES + REPAIRED, sum(most.values()))
    best = apportion(weights, number, least={f: min(1, most[f]) for f in weights}, most=most)
    return {
        "families": {family: families[family] for family in sorted(weights)},
        "wanted": {f: round((SERVICES + REPAIRED) * weights[f], 1) for f in sorted(weights)},
        "room": {family: most[family] for family in sorted(weights)},
        "distance": round(total_variation(weights, families), 3),
        "best_distance": round(total_variation(weights, best), 3),
    }


def _shared(snapshot: Path, builders: Mapping[str, str]) -> dict[str, Any]:
    """Pairs of worlds with a sentence of more than eight words in both, and such sentences."""
    sentences = {}
    for task_id, builder in builders.items():
        path = snapshot / layout.PRIVATE / task_id / layout.WORLD
        if builder not in REPAIRS:
            rooms = chain.from_iterable(s.values() for s in read_world(path).state.values())
            values = chain.from_iterable(r.values() for room in rooms for r in room.values())
            sentences[task_id] = long_sentences(v for v in values if isinstance(v, str))
    pairs, apart = Counter[str](), Counter[str]()
    for first, second in combinations(sentences, 2):
        if shared := sentences[first] & sentences[second]:
            is_same = builders[first] == builders[second]
            pairs["same" if is_same else "different"] += 1
            apart.update({} if is_same else dict.fromkeys(shared, 1))
    return {"worlds": len(sentences), "sharing_pairs": dict(pairs), "shared": sorted(apart)}


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
    sharing = figures["sharing_pairs"]
    named = "".join(f"\n- {sentence}" for sentence in figures["shared"])
    return "\n\n".join(
        (
            f"The release has {figures['released']} tasks (wanted: {TASKS}): "
            f"{figures['services']} over services ({SERVICES}), {figures['repairs']} repairs "
            f"({REPAIRED}), {figures['analytic']} analytic ones ({ANALYTIC}). "
            "All are of the split *full*. No builder made more than "
            f"{figures['most_of_a_generator']} (bar: {MOST}). "
            f"{figures['screened']} of {figures['drafts']} drafts of {figures['generators']} "
            f"builders pass the screening (rejected: {figures['rejected'] or 'none'}).",
            f"From the material to the verified snapshot it took {figures['seconds']} s with "
            f"{WORKERS} workers, and at most {figures['peak_mib']} MiB in all processes "
            f"({figures['largest_process_mib']} in the largest).",
            f"Of {figures['worlds']} worlds {sharing.get('different', 0)} pairs by different "
            "builders have a sentence of more than eight words in both (bar: 0). Drafts of one "
            f"document have its prose in common: {sharing.get('same', 0)} pairs.{named}",
            f"The families' shares are {figures['distance']} from the weights (total variation "
            f"distance); with at most {MOST} tasks of a builder {figures['best_distance']} is "
            "possible.",
            f"{sum(figures['no_scenario'].values())} of {figures['ideas']} ideas have no scenario "
            f"yet: {missing}. For {sum(figures['unbuildable'].values())} more none can be written, "
            "since most skills of their pattern say in their summaries that they need a person's "
            f"account, or give what only an eye or an ear can judge: {unbuildable or 'none'}.",
            f"Workflow tasks at which the whole scripted panel reaches {_PASS}: "
            f"{figures['all_pass']} (seed: {SEED_ALL_PASS}); none of it: {figures['all_fail']} "
            f"(seed: {SEED_ALL_FAIL}).",
            table(("family", "tasks by weight", "released", "most possible"), rows),
        )
    )


if __name__ == "__main__":
    main()
