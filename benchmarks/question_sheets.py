"""Sheets of questions for readers, drawn by the digest of their release.

Builds questions from the material, leaves out those about filings that were looked at, and draws by
a key from the digest of the public questions, so that nobody can choose. Readers get `questions/`;
`gold/` says the value, its source row and its neighbours, and is given out after the first score.

    python -m benchmarks.question_sheets OUT [--seen FILE] [--size 1500] [--draw 100]

`FILE` holds the references of filings that were looked at, one a line. Half of the draw is about
companies traded in the US, as far as filings that nobody looked at go.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.enrichment import render_png
from data.contracts import Candidate
from data.randomness import keyed_order

MATERIAL = Path(os.environ.get("BENCHMINT_MATERIAL", "../shared/material"))
COMMAND = "from flows.cli import main; main()"
_REACH = 3  # rows beside the source row
_SCORES = """\
Score 0 to 3:
3 = a careful reader of the company's filings understands it in one way and can answer it
2 = answerable, with a flaw of wording that misleads nobody
1 = ambiguous, or understandable only with the database at hand
0 = wrong, senseless, or not answerable

score:
reason:
"""


def build(material: Path, size: int, out: Path) -> None:
    """Run the command as a user does."""
    sec = material / "tables/sec"
    filings = ("--sec", sec / "2010q2.zip", "--sec", sec / "apple_10k_2024")
    given = (*filings, "--tickers", sec / "company_tickers.parquet")
    arguments = [*given, "--edinet", material / "tables/edinet", "--size", size, "--out", out]
    command = [sys.executable, "-c", COMMAND, "lane", "questions", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def draw(questions: pl.DataFrame, seen: Sequence[str], number: int, key: bytes) -> pl.DataFrame:
    """The first questions of a keyed order, without those about filings that were seen: half from
    the US if there are as many, the others from elsewhere."""
    unseen = questions.filter(~pl.col("document").is_in(list(seen)))
    ordered = unseen[keyed_order(key, "sheets", unseen["question"].to_list())]
    us = pl.col("company_id").str.starts_with("sec:")
    first = ordered.filter(us).head(number // 2)
    chosen = pl.concat([first, ordered.filter(~us).head(number - first.height)])
    return ordered.filter(pl.col("index").is_in(chosen["index"].to_list()))


def write_sheets(build_folder: Path, drawn: pl.DataFrame, out: Path) -> None:
    """One sheet a question in `questions/`, and its gold with a picture in `gold/`."""
    private = build_folder / "private/questions"
    answers = pl.read_parquet(private / "answers.parquet")
    tables = {
        name: pl.read_parquet(build_folder / f"public/tables/{name}.parquet")
        for name in ("points", "history", "rows", "series")
    }
    replaced = tables["history"].drop("replaced_by")
    tables["points"] = pl.concat([tables["points"], replaced])
    candidates = pl.read_parquet(private / "candidates.parquet")
    guidelines = {text.split("\n\n")[0]: text for text in prompts(candidates)}
    for name in ("questions", "gold"):
        shutil.rmtree(out / name, ignore_errors=True)
        (out / name).mkdir(parents=True)
    joined = drawn.join(answers, on="index", suffix="_gold", maintain_order="left")
    for number, row in enumerate(joined.iter_rows(named=True), 1):
        sheet = f"# {number:03}\n\n{guidelines[row['question']]}\n\n{_SCORES}"
        (out / f"questions/{number:03}.md").write_text(sheet, encoding="utf-8")
        gold = _gold(number, row, tables)
        (out / f"gold/{number:03}.md").write_text(gold, encoding="utf-8")
        svg = (private / f"pages/{row['index']:05}.svg").read_text(encoding="utf-8")
        (out / f"gold/{number:03}.png").write_bytes(render_png(svg))


def prompts(candidates: pl.DataFrame) -> list[str]:
    """Questions with their guidelines."""
    return [Candidate.model_validate_json(row).prompt for row in candidates["candidate"]]


def _gold(number: int, row: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> str:
    parts = [f"# {number:03}", f"gold: {row['answer']}", f"level: {row['level']}"]
    for point_id in (row["point_id"], row["second_point_id"]):
        if point_id is not None:
            parts.append(_source(point_id, tables))
    return "\n\n".join([*parts, f"operation: {row['operation'] or 'none'}"]) + "\n"


def _source(point_id: str, tables: Mapping[str, pl.DataFrame]) -> str:
    """The value as filed, its period and document, and the rows around it."""
    (point,) = tables["points"].filter(pl.col("point_id") == point_id).to_dicts()
    (series,) = tables["series"].filter(pl.col("series_id") == point["series_id"]).to_dicts()
    lines = [
        f"value as filed: {point['value']} {series['unit']}",
        f"line: {series['name']} ({series['concept']})",
        f"period: {point['period_start']} to {point['period_end']}, {point['months']} months, "
        f"fiscal {point['fiscal_year']} {point['fiscal_period']}",
        f"document: {point['document']}, filed {point['filed']}, statement {point['report']}, "
        f"row {point['line']}",
    ]
    if point["line"] is not None:
        near = tables["rows"].filter(
            pl.col("document") == point["document"],
            pl.col("report") == point["report"],
            (pl.col("line") - point["line"]).abs() <= _REACH,
        )
        for other in near.sort("line").iter_rows(named=True):
            mark = ">" if other["line"] == point["line"] else " "
            note = " (shown with the opposite sign)" if other["negated"] else ""
            lines.append(f"{mark} {other['line']}: {other['label']}{note}")
    return "\n".join(lines)


def main() -> None:
    """Build, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seen", type=Path)
    parser.add_argument("--size", type=int, default=1500)
    parser.add_argument("--draw", type=int, default=100)
    given = parser.parse_args()
    seen: list[str] = given.seen.read_text(encoding="utf-8").split() if given.seen else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "out"
        build(MATERIAL, given.size, folder)
        path = folder / "public/questions.parquet"
        digest = hashlib.sha256(path.read_bytes()).digest()
        drawn = draw(pl.read_parquet(path), seen, given.draw, digest)
        write_sheets(folder, drawn, given.out)
    print(f"{drawn.height} sheets in {given.out}, drawn by {digest.hex()}")


if __name__ == "__main__":
    main()
