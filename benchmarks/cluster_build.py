"""A build whose shards are computed on two machines that share storage alone, beside one on one.

The machines are played: a Dask scheduler and two workers with folders of their own, from which
input and output of the build are hidden, and moto's S3 server, all on this machine and on the same
cores as the build. So the figures show what fetching and storing cost, not what more machines gain.
Both builds have the same input, recipe and key; the digests of both halves are compared. Seconds
are those between the stage before and the end of the stage, bytes and requests those of the server.

    python -m benchmarks.cluster_build --sessions 600    writes benchmarks/results/cluster_build.md

Needs `make cluster`, and the right to hide folders (`unshare -m`).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.growth import workspace
from benchmarks.large_build import watched
from benchmarks.report import table, write_result
from tests.flows.cluster import dask_cluster
from tests.flows.command import command, environment, key_file, sums
from tests.s3 import s3_bucket

STAGES = ("recover", "masking", "workflows", "preflight")
_MIB = 1024
_ENDED = re.compile(r"all done what=(\S+) items=(\d+) seconds=([\d.]+)")


@dataclass(frozen=True, slots=True)
class Build:
    """A build: seconds in all and by sharded stage, shards by stage, peak MiB of its processes."""

    seconds: float
    stages: dict[str, float]
    shards: dict[str, int]
    peak_mib: int


def build(folder: Path, out: Path, more: list[str], variables: Mapping[str, str]) -> Build:
    """Build the workspace of a folder into `out`. Raises CalledProcessError if it fails."""
    where = ["--config", str(folder / "build.toml"), "--key", str(folder / "release.key")]
    arguments = command("build", *where, "--out", out, "-v", *more)
    log = out.with_suffix(".log")
    started = time.monotonic()
    with log.open("wb") as lines:
        running = subprocess.Popen(
            arguments, env={**environment(), **variables}, stdout=lines, stderr=subprocess.STDOUT
        )
        peak, _ = watched(running)
    seconds = time.monotonic() - started
    text = log.read_text("utf-8")
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, arguments, text[-2000:])
    ended = {stage: (int(n), float(took)) for stage, n, took in _ENDED.findall(text)}
    return Build(
        round(seconds, 1),
        {stage: ended[stage][1] for stage in STAGES},
        {stage: ended[stage][0] for stage in STAGES},
        peak // _MIB,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=600)
    size = parser.parse_args().sessions
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        workspace(folder, max(1, size // 60))
        key_file(folder)
        near = build(folder, folder / "near", ["--workers", "2"], {})
        far, requests = on_cluster(folder)
        same = sums(folder / "near") == sums(folder / "far")
    load = os.getloadavg()[2]
    head = ("stage", "shards", "seconds, two processes", "seconds, two workers and S3", "ratio")
    rows = [
        (
            stage, str(near.shards[stage]), f"{near.stages[stage]:.1f}", f"{far.stages[stage]:.1f}",
            f"{far.stages[stage] / near.stages[stage]:.2f}",
        )
        for stage in STAGES
    ]  # fmt: skip
    ratio = far.seconds / near.seconds
    rows.append(
        ("the whole build", "", f"{near.seconds:.0f}", f"{far.seconds:.0f}", f"{ratio:.2f}")
    )
    facts = [
        f"Digests of both halves: {'equal' if same else 'NOT EQUAL'}.",
        f"Requests to the storage: {', '.join(f'{n:,} {what}' for what, n in requests.items())}.",
        f"Peak of the build's own processes: {near.peak_mib:,} and {far.peak_mib:,} MiB.",
        f"Mean load of the machine in the last quarter of an hour: {load:.1f}.",
    ]
    text = f"{size} sessions.\n\n{table(head, rows)}\n" + "\n".join(f"- {fact}" for fact in facts)
    figures = {"near": asdict(near), "far": asdict(far), "requests": requests, "equal": same}
    write_result("cluster_build", __doc__ or "", f"{text}\n", figures)


def on_cluster(folder: Path) -> tuple[Build, dict[str, int]]:
    """The same build on a cluster, and how many requests of each kind its storage answered."""
    out, log = folder / "far", folder / "requests.log"
    out.mkdir()
    with (
        s3_bucket("shards", log) as (shared, secret),
        dask_cluster(folder / "machines", [folder / "demo", out], secret) as cluster,
    ):
        where = ["--runner", "dask", "--cluster", cluster.address, "--shared", f"{shared}/builds"]
        done = build(folder, out, where, secret)
    kinds = re.findall(r'"(GET|PUT|HEAD|DELETE|POST) ', log.read_text("utf-8"))
    return done, dict(sorted(Counter(kinds).items()))


if __name__ == "__main__":
    main()
