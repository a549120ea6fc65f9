"""Judging 5,000 packaged cases by a model's recorded replies: screened,
written and graded, as the build runs these stages, with their tables and the review file.

The cases come from the demo generator, half English and half Chinese; each comes in ten versions
with other figures, dates and file names. Their replies were recorded before from a server that
gives a fitting answer at once and turns every tenth case away. Then the stages run in mode replay,
in a process of its own with an output directory of its own.

    python -m benchmarks.judging_replay      writes benchmarks/results/judging_replay.md and .json
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.judging_replay_cases import write_packaged
from benchmarks.report import table, write_result
from construction.judging.model.asking import model_costs, model_replies
from construction.judging.stages import read_graded
from data.canonical import file_digest

CASES = 5000
LIMIT = 60.0  # seconds: the bar
SERVER = "benchmarks.judging_replay_server"
STORE = Path("private", "captures", "llm")
_KEY = "5a" * 32
_TIMED = ("timings.parquet", "sums.json")  # seconds, and digests of all files, these included


def judged(mode: str, url: str, packaged: Path, out: Path) -> dict[str, Any]:
    """Run the stages over what lies in `packaged`; seconds, CPU, memory and what came out."""
    from flows import surroundings

    surroundings.set_prefect_up()
    from data.stages import Results, run_stage
    from flows.prefect_adapter import as_flow
    from flows.recipe import Settings
    from flows.run import open_run
    from flows.stages.judging import GRADE, SCREEN, WRITE

    settings = Settings.model_validate(
        {
            "judging": {"model": {"name": "fake-1"}},
            "runtime": {
                "out": out,
                "llm": {"base_url": url, "concurrency": 48},
                "model_calls": {"mode": mode},
            },
        }
    )

    def measured() -> tuple[Results, float, float]:
        began, used = time.perf_counter(), time.process_time()
        run, results = open_run(settings.recipe, settings.runtime), Results()
        results.outputs["package"] = (packaged,)
        with run.judges.budget():
            for stage in (SCREEN, WRITE, GRADE):
                run_stage(run, stage, results)
        return results, time.perf_counter() - began, time.process_time() - used

    results, seconds, cpu = as_flow("measured", settings.runtime.label(settings.recipe), measured)
    outputs = {stage.name: results.outputs[stage.name][0] for stage in (SCREEN, WRITE, GRADE)}
    folders = list(outputs.values())
    return {
        "mode": mode,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
        "candidates": len(read_graded(folders[-1])),
        "items": {str(row["stage"]): row["items"] for row in model_costs(folders)},
        "replies": model_replies(folders),
        "files": {
            f"{stage}/{path.relative_to(folder)}": file_digest(path)
            for stage, folder in outputs.items()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in _TIMED
        },
        "load": round(os.getloadavg()[0], 1),
    }


def in_child(mode: str, url: str, packaged: Path, out: Path) -> dict[str, Any]:
    """One run in a process of its own, with the same release key as any other."""
    key = out / "private" / "release.key"
    key.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    key.write_text(_KEY)
    key.chmod(0o600)
    prefect = {"PREFECT_HOME": str(out / "prefect")}
    command = [sys.executable, "-m", "benchmarks.judging_replay", mode, url, packaged, out]
    done = subprocess.run(
        list(map(str, command)), check=True, stdout=subprocess.PIPE, env={**os.environ, **prefect}
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def record(packaged: Path, out: Path) -> dict[str, Any]:
    """Fill the store of replies from the server."""
    port = out / "port"
    server = subprocess.Popen([sys.executable, "-m", SERVER, str(port)])
    try:
        while not port.exists() and server.poll() is None:
            time.sleep(0.02)
        return in_child("record", f"http://127.0.0.1:{port.read_text()}/v1", packaged, out)
    finally:
        server.kill()
        server.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        packaged, first, second = (Path(name, part) for part in ("packaged", "first", "second"))
        for folder in (packaged, first, second):
            folder.mkdir()
        write_packaged(CASES, packaged, Path(name))
        recorded = record(packaged, first)
        shutil.copytree(first / STORE, second / STORE)
        replayed = in_child("replay", "http://127.0.0.1:9/v1", packaged, second)
    same = all(recorded[part] == replayed[part] for part in ("files", "replies", "candidates"))
    _tell(recorded, replayed, same=same)


def _tell(recorded: dict[str, Any], replayed: dict[str, Any], *, same: bool) -> None:
    head = ("run", "items by stage", "seconds", "CPU s", "peak MB", "load")
    rows = [
        [
            str(one["mode"]),
            ", ".join(f"{stage} {n:,}" for stage, n in one["items"].items()),
            str(one["seconds"]),
            str(one["cpu_seconds"]),
            str(one["peak_mb"]),
            str(one["load"]),
        ]
        for one in (recorded, replayed)
    ]
    seconds = replayed["seconds"]
    reached = "reached" if seconds < LIMIT else "not reached"
    text = (
        f"{table(head, rows)}\n"
        f"Bar: {CASES:,} instances replayed in under {LIMIT:.0f} s on 2 cores: {reached},"
        f" {CASES / seconds:,.0f} instances a second, one process.\n"
        f"Outputs and replies of the replay are {'' if same else 'NOT '}byte-identical to those of"
        " the recording.\n"
    )
    write_result("judging_replay", __doc__ or "", text, {"record": recorded, "replay": replayed})
    print(text)


if __name__ == "__main__":
    if sys.argv[1:2] in (["record"], ["replay"]):
        mode, url, packaged, out = sys.argv[1:5]
        print(json.dumps(judged(mode, url, Path(packaged), Path(out))))
    else:
        main()
