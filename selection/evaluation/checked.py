"""Answers that count as right, drawn for people to check (FinRetrieval checked its own by hand).

The draw is keyed by the digest of the release, so that nobody chooses it. People fill the column
`verdict` of the file; what they wrote stays when the board is written again.
"""

from __future__ import annotations

import csv
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import polars as pl

from data.atomic import PRIVATE_FILE, write_bytes
from data.errors import InputError
from data.neutralise import csv_cell
from data.randomness import keyed_order
from selection.evaluation.intervals import Estimate, wilson

PER_CONFIGURATION = 20
RIGHT, WRONG = "right", "wrong"
_COLUMNS = ("attempt_id", "configuration", "task_id", "epoch", "page", "verdict")


@dataclass(frozen=True, slots=True)
class Checked:
    """How many answers are in the sheet, and what people say of those that they checked."""

    drawn: int
    right: Estimate


def write_sheet(path: Path, scores: pl.DataFrame, tasks: Collection[str], digest: str) -> Checked:
    """Write the sheet of passed attempts at `tasks` with the verdicts that it has already.

    Of each configuration 20 are drawn; rows with a verdict stay. Raises InputError for a verdict
    that is neither right nor wrong.
    """
    verdicts = _verdicts(path)
    passed = scores.filter(pl.col("passed"), pl.col("task_id").is_in(list(tasks)))
    rows = []
    for (name,), own in sorted(passed.group_by("configuration"), key=lambda group: str(group[0])):
        ids = own["attempt_id"].to_list()
        drawn = {ids[at] for at in keyed_order(digest.encode(), "checked", ids)[:PER_CONFIGURATION]}
        kept = own.filter(pl.col("attempt_id").is_in([*drawn, *verdicts])).sort("task_id", "epoch")
        for row in kept.iter_rows(named=True):
            page = f"attempts/{quote(str(name))}/{quote(row['task_id'])}-{row['epoch']}.html"
            verdict = verdicts.get(row["attempt_id"])
            rows.append([row["attempt_id"], name, row["task_id"], row["epoch"], page, verdict])
    frame = pl.DataFrame(
        [[csv_cell(cell) for cell in row] for row in rows],
        schema={name: pl.Int64 if name == "epoch" else pl.String for name in _COLUMNS},
        orient="row",
    )
    if rows:
        write_bytes(path, frame.write_csv().encode(), mode=PRIVATE_FILE)
    said = [row[-1] for row in rows if row[-1]]
    return Checked(len(rows), wilson(said.count(RIGHT), len(said)))


def _verdicts(path: Path) -> dict[str, str]:
    """What people wrote, by attempt."""
    if not path.is_file():
        return {}
    verdicts = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            verdict = (row.get("verdict") or "").strip().lower()
            if verdict not in ("", RIGHT, WRONG):
                expected = f"{RIGHT}, {WRONG} or nothing"
                raise InputError(
                    f"{path}: line {line}", repr(verdict[:40]), expected, "Correct it."
                )
            if verdict and row.get("attempt_id"):
                verdicts[row["attempt_id"]] = verdict
    return verdicts
