"""How many sessions over repositories become proven tasks, and whether two runs agree on them.

`python -m benchmarks.repositories [--most 8] FOLDER…`: each has a clone or a bundle, and
`transcripts/`; a file `licence` states the licence of one whose tree has none. Every task is
recovered, its environment built and its tests proven twice from scratch. The page and the JSON gain
the repositories of each call; those that are there already are replaced. Of a repository with more
tasks than `--most` so many are drawn, by the digest of their names. `readings` of the JSON are what
people or models read, in words.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.report import RESULTS, table, write_result
from construction.repositories.candidates import request_of
from construction.repositories.contracts import (
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
)
from construction.repositories.stages import (
    STORES,
    Outside,
    prove_all,
    read_tasks,
    write_tasks,
)
from construction.repositories.suites import split, suite_of
from construction.repositories.tasks import find_repositories, opened
from construction.sessions.scan import scan
from data.canonical import canonical_json, digest
from data.stage_tables import read_records

NAME = "repositories"
ABOUT = """Sessions over public repositories as executable tasks: the base commit by evidence, the
reference, hidden tests that fail on the base and pass on it in five runs, attacks that fail. Each
task was recovered, built and proven twice from scratch (of a large repository eight or fewer, drawn
by the digest of their names); it counts where both runs agree. Where the
person's words alone are no request, a model has to write it, or they give the patch away. Their
material is not part of the project."""
CONFIG = RepositoriesConfig(build_environments=True)


def run(
    folder: Path, out: Path, most: int
) -> tuple[list[ProofOfTests], Counter[str], dict[str, Any]]:
    """Everything from scratch: the proofs, the reasons of what was no task, and the evidence."""
    stated = folder / "licence"
    licence = stated.read_text("utf-8").strip() if stated.is_file() else None
    files = scan([folder / "transcripts"])
    write_tasks(find_repositories([folder]), files, CONFIG, out / "tasks", licence)
    outside = Outside(CONFIG, out / "captures", out / "environments", has_sandbox=True)
    records = read_records([out / "tasks"])
    reasons = Counter(str(row.reason) for row in records.ledger if row.reason is not None)
    bases = {
        task.task: {
            "base": task.base.commit,
            "request": _request(task, out / "tasks"),
            "evidence": [str(kind) for kind in task.base.evidence],
            "confidence": task.base.confidence,
            "replayed": task.replayed,
        }
        for task in read_tasks(out / "tasks")
    }
    drawn = sorted(read_tasks(out / "tasks"), key=lambda task: digest(task.task.encode()))[:most]
    if undrawn := len(bases) - len(drawn):
        reasons["not drawn"] = undrawn
    return prove_all(out / "tasks", outside, drawn), reasons, bases


def _request(task: RepositoryTask, tasks: Path) -> str | None:
    """Why the person's words are no request as they stand; None if they are."""
    store = opened(task.repository, tasks / STORES, None)
    visible, _ = split(store.changed(task.base_tree, task.reference_tree))
    patch = store.patch(task.base_tree, task.reference_tree, visible)
    said = "\n".join(task.messages)
    suite = suite_of(store, task.base_tree, task.reference_tree, said, CONFIG)
    interface = () if isinstance(suite, RepositoryReason) else suite.interface
    request = request_of(task, interface, patch, CONFIG)
    return str(request) if isinstance(request, RepositoryReason) else None


def verdict(proof: ProofOfTests) -> str:
    """The digest of what a run decided of a task."""
    tests = [proof.plan.fail_to_pass, proof.plan.pass_to_pass]
    return digest(canonical_json([proof.task, proof.reason, *tests]))


def compared(folder: Path, most: int) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """A row for each task of a repository, with the digests of both runs; counts of reasons."""
    runs = []
    for _ in range(2):
        with TemporaryDirectory() as scratch:
            runs.append(run(folder, Path(scratch), most))
    (first, reasons, bases), (second, _, _) = runs
    again = {proof.task: verdict(proof) for proof in second}
    rows = []
    for proof in first:
        digests = [verdict(proof), again.get(proof.task, "")]
        if proof.reason is not None:
            reasons[str(proof.reason)] += 1
        rows.append(
            {
                "task": proof.task,
                "repository": proof.task.partition("/")[0],
                "reason": proof.reason,
                "fail_to_pass": len(proof.plan.fail_to_pass),
                "pass_to_pass": len(proof.plan.pass_to_pass),
                "flaky": proof.flaky,
                "attacks": list(proof.attacks),
                **bases[proof.task],
                "runs": digests,
            }
        )
    return rows, dict(sorted(reasons.items()))


def page(figures: Mapping[str, Any]) -> str:
    """The figures as tables: by repository, and why sessions and tasks were turned away."""
    rows = figures["tasks"]
    lines = []
    for name, reasons in sorted(figures["reasons"].items()):
        own = [row for row in rows if row["repository"] == name]
        proven = [row for row in own if row["reason"] is None]
        same = sum(len(set(row["runs"])) == 1 for row in own)
        requests = sum(row.get("request", "") is None for row in proven)
        why = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
        counts = (len(own), len(proven), requests)
        lines.append((name, *map(str, counts), f"{same} of {len(own)}", why))
    head = ("repository", "with tests", "proven", "with a request", "same verdict twice")
    proven = [row for row in rows if row["reason"] is None and len(set(row["runs"])) == 1]
    names = {row["repository"] for row in proven}
    requests = sum(row.get("request", "") is None for row in proven)
    total = (
        f"{len(proven)} proven tasks of {len(names)} repositories, the same in both runs; "
        f"the person's words are the request of {requests}.\n\n"
    )
    readings = "".join(f"\n\n{text}" for _, text in sorted(figures.get("readings", {}).items()))
    return total + table((*head, "turned away"), lines) + readings


def main(folders: Sequence[Path], most: int) -> int:
    """Measure each folder and write the page after each; 1 where two runs disagree."""
    path = RESULTS / f"{NAME}.json"
    empty: dict[str, Any] = {"tasks": [], "reasons": {}}
    figures: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else empty
    for folder in folders:
        rows, reasons = compared(folder, most)
        names = {name for name, _ in find_repositories([folder])}
        kept = [row for row in figures["tasks"] if row["repository"] not in names]
        figures["tasks"] = sorted([*kept, *rows], key=lambda row: str(row["task"]))
        figures["reasons"] |= dict.fromkeys(names, reasons)
        write_result(NAME, ABOUT, page(figures), figures)
        print(f"{folder.name}: {sum(row['reason'] is None for row in rows)} of {len(rows)} proven")
    return int(any(len(set(row["runs"])) > 1 for row in figures["tasks"]))


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=8)
    given = parser.parse_args()
    sys.exit(main(given.folders, given.most))
