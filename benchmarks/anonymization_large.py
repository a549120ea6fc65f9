"""A table of 2,000,000 × 6 cells perturbed in a process of its own: CPU seconds and peak memory.

    python -m benchmarks.anonymization_large [TABLE.parquet]

Prints one JSON object. The peak is that of the whole process. Without an argument it makes the
table in memory. It imports nothing but the perturbation, as a program would that calls
`perturb_table`; `benchmarks.anonymization_tables` puts its figures on the page.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anonymization.tables.config import TableConfig
from anonymization.tables.files import read_table
from anonymization.tables.perturb_table import perturb_table

ROWS = 2_000_000
_MEASURES = tuple(f"m{i}" for i in range(6))


def figures_of(read: bool) -> dict[str, Any]:
    """The figures of a new process; with `read`, it reads the table from a Parquet file."""
    import subprocess  # here, because the new process does not need them
    import tempfile

    command = [sys.executable, "-m", "benchmarks.anonymization_large"]
    with tempfile.TemporaryDirectory() as folder:
        if read:
            path = Path(folder) / "table.parquet"
            _table().write_parquet(path)
            command.append(str(path))
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def _table() -> pl.DataFrame:
    draw = np.random.default_rng(0)
    columns = [pl.Series("id", np.arange(ROWS)).cast(pl.String)]
    for name in _MEASURES:
        values = (np.exp(draw.normal(12, 2, ROWS)).astype(np.int64) + 1) * 1000
        columns.append(pl.Series(name, values))
    return pl.DataFrame(columns)


def _peak_bytes() -> int:
    """Of this process; `getrusage` would count what its parent held when it was started."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Perturb the table and print the figures."""
    frame = read_table(Path(sys.argv[1])) if len(sys.argv) > 1 else _table()
    columns = {"id": {"role": "identifier"}} | {name: {"role": "measure"} for name in _MEASURES}
    config = TableConfig.model_validate({"columns": columns, "entity": "id"})
    started, cpu = time.perf_counter(), time.process_time()
    perturb_table(frame, config, bytes(range(32)))
    used = time.perf_counter() - started, time.process_time() - cpu
    peak = _peak_bytes()
    figures = {
        "seconds": round(used[0], 2),
        "cpu_seconds": round(used[1], 2),
        "table_bytes": frame.estimated_size(),
        "peak_rss_bytes": peak,
        "peak_over_table": round(peak / frame.estimated_size(), 2),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
