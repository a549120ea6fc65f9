"""Reading and normalising a quarter of SEC statements, beside a plain pandas script.

    python -m benchmarks.sec_read [--material DIR] [--rounds 5]

Each side runs in child processes of its own, in turns: every child reads the zip `WARM` times and
tells the first and the least of its times and its peak memory. Rows are those of all four tables.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import table, write_result

BARS = {"times_faster": 5.0, "peak_gib": 1.5}
WARM = 5
_QUARTER = Path("tables", "sec", "2010q2.zip")
_REPO = Path(__file__).resolve().parent.parent


def main() -> None:
    """Measure and write `results/sec_read.md` and `.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("BENCHMINT_MATERIAL", str(_REPO.parent / "shared" / "material"))
    parser.add_argument("--material", type=Path, default=Path(default))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", choices=("us", "peer"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    path = (options.material / _QUARTER).resolve()
    if options.child:
        print(json.dumps(_child(options.child, path)))
        return
    runs: dict[str, list[dict[str, Any]]] = {"us": [], "peer": []}
    for _ in range(options.rounds):
        for side in runs:
            runs[side].append(_run(side, options.material))
    if runs["us"][0]["out"] != runs["peer"][0]["out"]:
        raise RuntimeError(f"the two disagree: {runs['us'][0]['out']} {runs['peer'][0]['out']}")
    figures = {side: _figures(told) for side, told in runs.items()}
    rows = _rows(path)
    about = (
        f"`python -m benchmarks.sec_read --rounds {options.rounds}`: the {rows:,} rows of "
        f"{path.name} (sub, tag, num, pre) to companies, series, points, history and rows of "
        f"statements. Medians over {options.rounds} child processes a side, in turns; "
        "`first` is the first reading of a fresh process after its imports, `warm` the least of "
        f"the {WARM - 1} after it. Processor seconds count all threads. Load of the machine at "
        f"the end: {os.getloadavg()[0]:.1f}. This reader also checks every line and "
        "closes the books, which the peer does not; it must give the same numbers of everything."
    )
    write_result(
        "sec_read",
        about,
        _page(figures, rows),
        {"bars": BARS, "rows": rows, "figures": figures},
    )


def _run(side: str, material: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.sec_read", "--material", str(material.resolve())]
    command += ["--child", side]
    done = subprocess.run(command, cwd=_REPO, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def _child(side: str, path: Path) -> dict[str, Any]:
    """Times of each reading, peak memory in MiB after the first, and what came out."""
    if side == "us":
        from construction.statements.readers.sec.read import read_sec

        def read() -> dict[str, int]:
            statements = read_sec([path])
            names = ("companies", "series", "points", "history", "rows")
            return {name: getattr(statements, name).height for name in names}
    else:
        from benchmarks.sec_peer import read_with_pandas

        def read() -> dict[str, int]:
            frames = read_with_pandas(path)
            return {name: len(frame) for name, frame in frames.items() if name != "reasons"}

    walls, processors, peak, out = [], [], 0.0, {}
    for _ in range(WARM):
        wall, processor = time.perf_counter(), time.process_time()
        out = read()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
        peak = peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"wall": walls, "processor": processors, "peak_mib": peak, "out": out}


def _figures(runs: list[dict[str, Any]]) -> dict[str, Any]:
    figures: dict[str, Any] = {"out": runs[0]["out"]}
    for kind in ("wall", "processor"):
        figures[f"first_{kind}"] = round(median(run[kind][0] for run in runs), 3)
        figures[f"warm_{kind}"] = round(median(min(run[kind][1:]) for run in runs), 3)
    figures["peak_mib"] = round(median(run["peak_mib"] for run in runs))
    return figures


def _rows(path: Path) -> int:
    total = 0
    with zipfile.ZipFile(path) as archive:
        for name in ("sub", "tag", "num", "pre"):
            total += archive.read(f"{name}.txt").count(b"\n") - 1
    return total


def _page(figures: dict[str, dict[str, Any]], rows: int) -> str:
    us, peer = figures["us"], figures["peer"]
    lines = []
    for kind, label in (
        ("first_wall", "first, wall s"),
        ("warm_wall", "warm, wall s"),
        ("first_processor", "first, processor s"),
        ("warm_processor", "warm, processor s"),
    ):
        ratio = peer[kind] / us[kind]
        speed = f"{rows / us[kind]:,.0f}"
        lines.append((label, f"{us[kind]:.2f}", f"{peer[kind]:.2f}", f"{ratio:.1f}", speed))
    peak = f"{us['peak_mib'] / 1024:.2f}", f"{peer['peak_mib'] / 1024:.2f}"
    lines.append((f"peak memory, GiB (bar {BARS['peak_gib']})", *peak, "", ""))
    lines += [
        (name, f"{us['out'][name]:,}", f"{peer['out'][name]:,}", "", "") for name in us["out"]
    ]
    head = ("", "this reader", "pandas", f"ratio (bar {BARS['times_faster']:.0f})", "rows/s")
    return table(head, lines)


if __name__ == "__main__":
    main()
