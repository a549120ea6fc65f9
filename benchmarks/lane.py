"""The sessions lane over half a gigabyte of generated logs, compared with a plain JSONL reader.

Ours: scan (hashing every file), read, recover, run all local gates, copy fixtures, write and sync
every table. The peer is datatrove's JSONL reader with one trivial filter over the JSONL files of
the same corpus, with as many processes. Each run is a separate process, and its imports count.
Memory is the peak of the largest process. CPU megabytes per second are given for one process: they
hardly depend on the load of the machine.

    python -m benchmarks.lane            writes benchmarks/results/lane.md and lane.json
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import machine, table, write_result

SIZES = (130_000_000, 520_000_000)
SESSIONS_PER_MB = 6
SHARD_BYTES = 64 << 20  # the default of a build
RUNS = 3


def ours(corpus: Path, workers: int) -> tuple[int, int]:
    """Run the lane over a corpus; returns the bytes of logs read, and a worker's peak memory."""
    from construction.sessions.config import LocalGatesConfig
    from construction.sessions.scan import scan, shards
    from construction.sessions.shard import ShardJob
    from data.sharding import map_shards

    files = scan([corpus / "sessions"])
    config = LocalGatesConfig()
    roots = (corpus / "files",)
    with tempfile.TemporaryDirectory() as out:
        jobs = [
            (ShardJob(shard, roots, config, b"\x01" * 32), Path(out) / str(number))
            for number, shard in enumerate(shards(files, SHARD_BYTES))
        ]
        peak = max(map_shards(_shard, jobs, workers))
    return sum(file.bytes for file in files if file.format is not None), peak


def _shard(job: tuple[Any, Path]) -> int:
    """Write a shard as a stage does; returns the peak memory of this process."""
    from construction.sessions.shard import process_shard
    from data.atomic import replacing_dir

    shard, out = job
    with replacing_dir(out) as part:
        process_shard(shard, part)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def peer(corpus: Path, workers: int, listed: Sequence[str]) -> tuple[int, int]:
    """Run datatrove over the listed JSONL files of a corpus; returns their bytes, and 0."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.filters import LambdaFilter
    from datatrove.pipeline.readers import JsonlReader

    folder = corpus / "sessions"
    with tempfile.TemporaryDirectory() as logs:
        paths = Path(logs) / "paths.txt"
        paths.write_text("\n".join(listed))
        LocalPipelineExecutor(
            pipeline=[
                JsonlReader(str(folder), paths_file=str(paths), adapter=_as_document),
                LambdaFilter(_is_long),
            ],
            tasks=workers,
            workers=workers,
            logging_dir=logs,
        ).run()
    return sum((folder / name).stat().st_size for name in listed), 0


def readable_by_peer(corpus: Path) -> list[str]:
    """The JSONL files in which every line is an object; the peer's reader fails on others."""
    folder = corpus / "sessions"
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.jsonl")
        if path.is_file() and _all_objects(path)
    )


def _all_objects(path: Path) -> bool:
    with path.open("rb") as lines:
        return all(line.startswith(b"{") and line.rstrip().endswith(b"}") for line in lines)


def _as_document(_self: Any, data: Any, path: str, number: int | str) -> dict[str, Any]:
    kind = data.get("type") if isinstance(data, dict) else None
    return {"text": str(kind or "record"), "id": f"{path}/{number}", "metadata": {}}


def _is_long(document: Any) -> bool:
    return len(document.text) > 3


def measure(name: str, corpus: Path, workers: int) -> dict[str, float]:
    """Run once in a child process: megabytes, seconds, megabytes per second, peak megabytes.

    `cpu_mb_per_second` counts only the process itself, so it is meaningless with workers.
    """
    completed = subprocess.run(
        [sys.executable, "-m", "benchmarks.lane", name, str(corpus), str(workers)],
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, float] = json.loads(completed.stdout.splitlines()[-1])
    return result


def child(name: str, corpus: Path, workers: int) -> None:
    """Entry point of a child process: run, and print the measurements as one line of JSON."""
    listed = readable_by_peer(corpus) if name == "peer" else []
    began, cpu = time.perf_counter(), time.process_time()
    size, peak = peer(corpus, workers, listed) if name == "peer" else ours(corpus, workers)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        peak = max(peak, resource.getrusage(who).ru_maxrss)
    megabytes = size / 1e6
    print(
        json.dumps(
            {
                "mb": megabytes,
                "seconds": seconds,
                "mb_per_second": megabytes / seconds,
                "cpu_mb_per_second": megabytes / cpu,
                "peak_mb": peak / 1024,
            }
        )
    )


def main() -> None:
    """Generate the corpora, run both in turn, and write the result."""
    from data.demo import generate

    rows: list[dict[str, Any]] = []
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        for size in SIZES:
            corpus = Path(scratch) / str(size)
            generate(corpus, size * SESSIONS_PER_MB // 1_000_000, 5, bytes_target=size)
            for workers in (1, 2):
                rows += _pairs(corpus, workers)
    head = ("corpus MB", "processes", "what", "seconds", "MB/s", "CPU MB/s", "peak MB")
    text = table((*head, "MB/s ÷ peer's", "CPU MB/s ÷ peer's"), [_cells(row) for row in rows])
    text += f"\nLoad of the machine, before and after: {before:.1f} and {os.getloadavg()[0]:.1f}.\n"
    write_result("lane", __doc__ or "", text, {"machine": machine(), "rows": rows})


def _pairs(corpus: Path, workers: int) -> list[dict[str, Any]]:
    """Run both in turn several times; medians, and the median of the pairwise ratios."""
    runs = [
        (measure("ours", corpus, workers), measure("peer", corpus, workers)) for _ in range(RUNS)
    ]
    ratios = {
        f"ratio_of_{key}": median(a[key] / b[key] for a, b in runs)
        for key in ("mb_per_second", "cpu_mb_per_second")
    }
    return [
        {"what": what, "workers": workers}
        | {key: median(pair[place][key] for pair in runs) for key in runs[0][place]}
        | (ratios if what == "benchmint" else dict.fromkeys(ratios, 1.0))
        for place, what in enumerate(("benchmint", "datatrove"))
    ]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    alone = row["workers"] == 1
    return (
        f"{row['mb']:.0f}",
        str(row["workers"]),
        str(row["what"]),
        f"{row['seconds']:.1f}",
        f"{row['mb_per_second']:.0f}",
        f"{row['cpu_mb_per_second']:.0f}" if alone else "",
        f"{row['peak_mb']:.0f}",
        f"{row['ratio_of_mb_per_second']:.2f}",
        f"{row['ratio_of_cpu_mb_per_second']:.2f}" if alone else "",
    )


if __name__ == "__main__":
    if len(sys.argv) == 4:
        child(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
