"""How many sessions over repositories become proven tasks, and whether two runs agree on them.

`python -m benchmarks.repositories [--most 8] [--out DIR] [--model NAME --url URL] FOLDER…`: each
has a clone or a bundle, and `transcripts/`; a file `licence` states the licence of one whose tree
has none. Every task is recovered, its environment built and its tests proven twice from scratch,
and its request written: by the model, whose answers to the first run the second one replays, else
by the rules. With `--out` what the runs made is kept and not made again. The page and the JSON gain
the repositories of each call; those that are there already are replaced. Of a repository with more
tasks than `--most` so many are drawn, by the digest of their names. `readings` of the JSON are what
people or models read, in words.
"""

from __future__ import annotations

import json
import shutil
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.report import RESULTS, table, write_result
from construction.judging.calls.contracts import LlmRuntime, Mode
from construction.judging.settings import (
    Judges,
    JudgingConfig,
    ModelCalls,
    ModelConfig,
    ModelStage,
)
from construction.repositories.candidates import Origin
from construction.repositories.contracts import ProofOfTests, RepositoriesConfig, RepositoryTask
from construction.repositories.run_tests import is_test
from construction.repositories.stages import (
    STORES,
    Outside,
    Releasing,
    prove_all,
    read_tasks,
    with_written_tests,
    write_candidates,
    write_proofs,
    write_tasks,
)
from construction.repositories.tasks import find_repositories, opened
from construction.sessions.scan import scan
from data.atomic import replacing_dir
from data.canonical import canonical_json, digest
from data.contracts import Disclosure
from data.pool import read_pool
from data.stage_tables import read_records

NAME = "repositories"
ABOUT = """Sessions over public repositories as executable tasks: the base commit by evidence, the
reference, hidden tests that fail on the base and pass on it in five runs, attacks that fail. Each
task was recovered, built and proven twice from scratch (of a large repository some, drawn by the
digest of their names); it counts where both runs agree. Requests are a model's where one is named,
written from what was said and from what the hidden tests fix; else the person's one message. So are
tests where a session brought none, if they also notice changed copies of the reference. Their
material is not part of the project."""
CONFIG = RepositoriesConfig(build_environments=True)


def run(
    folder: Path, out: Path, most: int, judges: Judges
) -> tuple[list[ProofOfTests], Counter[str], dict[str, Any]]:
    """Everything that `out` does not have: proofs, reasons of what was no task, what is told."""
    stated, tasks = folder / "licence", out / "tasks"
    licence = stated.read_text("utf-8").strip() if stated.is_file() else None
    if not tasks.is_dir():
        files = scan([folder / "transcripts"])
        with replacing_dir(tasks) as part:
            sources, does = find_repositories([folder]), _writes_tests(judges)
            write_tasks(sources, files, CONFIG, part, licence, untested=does)
    outside = Outside(CONFIG, out / "captures", out / "environments", has_sandbox=True)
    ledger = read_records([tasks]).ledger
    reasons = Counter(str(row.reason) for row in ledger if row.reason is not None)
    every = sorted(read_tasks(tasks), key=lambda task: digest(task.task.encode()))
    tested = [task for task in every if _has_tests(task, tasks)]
    untested = [task for task in every if task not in tested] if _writes_tests(judges) else []
    drawn = [*tested[:most], *untested[:most]]
    if len(every) > len(drawn):
        reasons["not drawn"] = len(every) - len(drawn)
    with replacing_dir(out / "written") as part:
        proofs = prove_all(tasks, outside, drawn)
        proofs = with_written_tests(tasks, proofs, outside, judges, part)
    requests = _requests(tasks, proofs, judges, out)
    details = {
        task.task: {
            "base": task.base.commit,
            "evidence": [str(kind) for kind in task.base.evidence],
            "confidence": task.base.confidence,
            "replayed": task.replayed,
            **requests.get(task.task, {}),
        }
        for task in drawn
    }
    return proofs, reasons, details


def _writes_tests(judges: Judges) -> bool:
    return judges.config.model.does(ModelStage.REPOSITORY_TESTS)


def _has_tests(task: RepositoryTask, tasks: Path) -> bool:
    store = opened(task.repository, tasks / STORES, None)
    return any(map(is_test, store.changed(task.base_tree, task.reference_tree)))


def _requests(
    tasks: Path, proofs: Sequence[ProofOfTests], judges: Judges, out: Path
) -> dict[str, dict[str, Any]]:
    """By task: why there is no request, or None, who wrote it, and the digest of the prompt."""
    for name in ("proofs", "requests"):
        shutil.rmtree(out / name, ignore_errors=True)
    with replacing_dir(out / "proofs") as part:
        write_proofs(proofs, part)
    releasing = Releasing(
        CONFIG, judges, lambda *_: None,
        lambda task: Origin(task.replace("/", "-"), NAME, Disclosure.PUBLIC), out / "captures",
    )  # fmt: skip
    with replacing_dir(out / "requests") as part:
        write_candidates(tasks, out / "proofs", releasing, part)
    rows = read_records([out / "requests"]).ledger
    result: dict[str, dict[str, Any]] = {row.item_id: {"request": row.reason} for row in rows}
    for item in read_pool([out / "requests"]).candidates:
        written = {"judge": item.provenance.judge, "prompt": digest(item.prompt.encode())}
        result[item.provenance.item_id] |= written
    return result


def verdict(proof: ProofOfTests, details: Mapping[str, Any]) -> str:
    """The digest of what a run decided of a task, and of the request that it was given."""
    tests = [proof.plan.fail_to_pass, proof.plan.pass_to_pass]
    request = [details.get("request"), details.get("prompt")]
    return digest(canonical_json([proof.task, proof.reason, *tests, *request]))


def compared(
    folder: Path, most: int, judges: Judges, out: Path | None
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """A row for each task of a repository, with the digests of both runs; counts of reasons."""
    runs = []
    for number, each in enumerate((judges, replace(judges, calls=ModelCalls(mode=Mode.REPLAY)))):
        kept = None if out is None else out / folder.name / str(number + 1)
        with TemporaryDirectory() if kept is None else nullcontext(kept) as home:
            runs.append(run(folder, Path(home), most, each))
    (first, reasons, details), (second, _, others) = runs
    again = {proof.task: verdict(proof, others[proof.task]) for proof in second}
    rows = []
    for proof in first:
        digests = [verdict(proof, details[proof.task]), again.get(proof.task, "")]
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
                **({"tests": proof.judge, "mutants": list(proof.mutants)} if proof.judge else {}),
                **details[proof.task],
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
        unwritten = Counter(row["request"] for row in proven if row.get("request"))
        why = ", ".join(f"{reason} {n}" for reason, n in sorted({**reasons, **unwritten}.items()))
        counts = (len(own), len(proven), requests)
        lines.append((name, *map(str, counts), f"{same} of {len(own)}", why))
    head = ("repository", "with tests", "proven", "with a request", "same verdict twice")
    proven = [row for row in rows if row["reason"] is None and len(set(row["runs"])) == 1]
    names = {row["repository"] for row in proven}
    written = Counter(row.get("judge", "rules") for row in proven if row.get("request", "") is None)
    by_model = written.total() - written["rules"]
    total = (
        f"{len(proven)} proven tasks of {len(names)} repositories, the same in both runs; "
        f"{written.total()} have a request: of {by_model} a model wrote it, of {written['rules']} "
        "it is the person's one message. "
        f"Of {sum('tests' in row for row in proven)} a model wrote the tests.\n\n"
    )
    readings = "".join(f"\n\n{text}" for _, text in sorted(figures.get("readings", {}).items()))
    return total + table((*head, "turned away"), lines) + readings


def main(folders: Sequence[Path], most: int, judges: Judges, out: Path | None) -> int:
    """Measure each folder and write the page after each; 1 where two runs disagree."""
    path = RESULTS / f"{NAME}.json"
    empty: dict[str, Any] = {"tasks": [], "reasons": {}}
    figures: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else empty
    for folder in folders:
        rows, reasons = compared(folder, most, judges, out)
        names = {name for name, _ in find_repositories([folder])}
        kept = [row for row in figures["tasks"] if row["repository"] not in names]
        figures["tasks"] = sorted([*kept, *rows], key=lambda row: str(row["task"]))
        figures["reasons"] |= dict.fromkeys(names, reasons)
        write_result(NAME, ABOUT, page(figures), figures)
        print(f"{folder.name}: {sum(row['reason'] is None for row in rows)} of {len(rows)} proven")
    return int(any(len(set(row["runs"])) > 1 for row in figures["tasks"]))


def judges_of(model: str, url: str, replies: Path) -> Judges:
    """Who writes requests: a model at an address, whose replies are kept, or the rules."""
    config = JudgingConfig(model=ModelConfig(name=model))
    endpoint = LlmRuntime(base_url=url, timeout=7200.0, attempts=1)
    return Judges(config, ModelCalls(mode=Mode.RECORD), endpoint, replies)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=8)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--model", default="")
    parser.add_argument("--url", default="http://127.0.0.1:8765/v1")
    given = parser.parse_args()
    with TemporaryDirectory() as scratch:
        judges = judges_of(given.model, given.url, given.out or Path(scratch))
        sys.exit(main(given.folders, given.most, judges, given.out))
