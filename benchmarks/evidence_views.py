"""What a model is shown of files: kinds, cells, tokens and seconds over real cases with files.

    python -m benchmarks.evidence_views [MATERIAL] [--show CASE]

Each case is a published or recorded request with the folder of its files; all of them are viewed
and dealt out within the default budget. Of tiny tables (at most 200 filled cells) every cell is
sought in what is shown; the cells are counted by openpyxl and the standard library alone, not by
the code that is measured. `--show` prints one case as a model would read it.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import openpyxl

from benchmarks.report import table, write_result
from construction.judging.evidence.shown import BUDGET, deal, words_of
from construction.judging.evidence.views import Evidence, Said, look, tree_of
from construction.judging.model.prompt import indented
from data.child import _fork_server

_MATERIAL = Path(__file__).parents[2] / "shared" / "material" / "sessions-with-files"
_TINY = 200  # filled cells of a file
_CHILD = "construction.judging.evidence.opened"


def cases(material: Path) -> Iterator[tuple[str, list[str], dict[str, Path]]]:
    """The name, the requests and the files of each case."""
    for path in sorted(material.glob("*/sessions/*.json")):
        session = json.loads(path.read_text("utf-8"))
        parts = [part for part in session["cwd"].split("/") if part]
        folders = path.parents[1] / "files"
        root = next((folders / part for part in parts if (folders / part).is_dir()), None)
        paths = sorted(p for p in root.rglob("*") if p.is_file()) if root is not None else []
        said = [str(m["content"]) for m in session["messages"] if m["role"] == "user"]
        yield path.stem, said, {p.relative_to(root).as_posix(): p for p in paths} if root else {}


def tiny_cells(path: Path) -> list[str] | None:
    """The filled cells of a table with at most 200 of them; None of others."""
    try:
        if path.suffix == ".xlsx":
            book = openpyxl.load_workbook(path, data_only=True)
            rows = [row for sheet in book.worksheets for row in sheet.iter_rows()]
            cells = [_value(cell) for row in rows for cell in row if cell.value is not None]
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                cells = [cell for row in csv.reader(file) for cell in row if cell.strip()]
        else:
            return None
    except (OSError, ValueError, KeyError):
        return None
    texts = [cell.removesuffix(" 00:00:00") for cell in cells]
    return texts if len(texts) <= _TINY else None


def _value(cell: Any) -> str:
    """A cell as people see it, with 15 digits as the format of the file keeps them."""
    if not isinstance(cell.value, float):
        return str(cell.value)
    return format(cell.value * (100 if "%" in cell.number_format else 1), ".15g")


def missing_cells(cells: list[str], shown: str) -> int:
    """How many of the cells are not among what is shown, each as often as it is there."""
    words = words_of(shown).replace(" ", "  ")  # neighbours share no blank
    wanted = Counter(words_of(cell).replace(" ", "  ") for cell in cells)
    return sum(words.count(one[1:-1]) < n for one, n in wanted.items() if one.strip())


def measure(material: Path) -> dict[str, Any]:
    """All figures over the cases."""
    kinds: Counter[str] = Counter()
    unreadable: Counter[str] = Counter()
    tokens: list[int] = []
    cut = tiny = whole = cells = missing = 0
    known: dict[tuple[Path, ...], Any] = {}
    start, cpu = time.perf_counter(), time.process_time()
    for _, said, files in cases(material):
        key = tuple(files.values())
        first = key not in known
        known.setdefault(key, look(files))
        views = known[key]
        said_by = tuple(Said(speaker="person", text=text) for text in said)
        evidence = Evidence(said=said_by, files=views, tree=tree_of(files))
        shown = deal(evidence)
        tokens.append(shown.tokens)
        cut += bool(shown.left_out)
        if not first:
            continue
        kinds.update(view.kind for view in views)
        unreadable.update(view.note for view in views if view.kind == "unreadable")
        lost = _lost_cells(files, shown.content.get("input_files", ()))
        tiny, whole = tiny + len(lost), whole + sum(not missed for _, missed in lost)
        cells, missing = cells + sum(n for n, _ in lost), missing + sum(m for _, m in lost)
    return {
        "cases": len(tokens),
        "folders": len(known),
        "files": kinds.total(),
        "kinds": dict(sorted(kinds.items())),
        "unreadable": dict(sorted(unreadable.items())),
        "tokens": _spread(tokens),
        "cases_cut": cut,
        "tiny_tables": {"files": tiny, "whole": whole, "cells": cells, "missing": missing},
        "seconds": {
            "wall": round(time.perf_counter() - start, 1),
            "cpu_of_children": round(_cpu_of_children(), 1),
            "cpu_here": round(time.process_time() - cpu, 1),
        },
    }


def _lost_cells(files: dict[str, Path], shown: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    """The filled cells of each tiny table, and how many of them are not shown."""
    by_path = {entry["path"]: entry for entry in shown}
    tables = [(name, tiny_cells(path)) for name, path in files.items()]
    return [
        (len(cells), missing_cells(cells, indented(by_path[name])))
        for name, cells in tables
        if cells is not None
    ]


def _spread(values: list[int]) -> dict[str, int]:
    ordered = sorted(values)
    at = {"median": 0.5, "p90": 0.9}
    return {name: ordered[int(share * (len(ordered) - 1))] for name, share in at.items()} | {
        "mean": round(sum(ordered) / len(ordered)),
        "largest": ordered[-1],
        "budget": BUDGET,
    }


def _cpu_of_children() -> float:
    """Seconds of the processes that opened files: the fork server and all that it has reaped."""
    server = _fork_server(_CHILD, os.getpid())._process.pid
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def show(material: Path, name: str) -> None:
    """Print what a model reads of one case."""
    for case, said, files in cases(material):
        if case == name:
            said_by = tuple(Said(speaker="person", text=text) for text in said)
            evidence = Evidence(said=said_by, files=look(files), tree=tree_of(files))
            shown = deal(evidence, images=True)
            print(indented(shown.content))
            print(
                f"{shown.tokens} tokens, {len(shown.images)} pictures, left out: {shown.left_out}"
            )


def main() -> None:
    """Measure, print and write the figures."""
    given = [argument for argument in sys.argv[1:] if argument != "--show"]
    material = Path(given[0]) if given and Path(given[0]).is_dir() else _MATERIAL
    if not material.is_dir():
        print(f"{material} is not there: nothing is measured")
        return
    if "--show" in sys.argv:
        show(material, given[-1])
        return
    figures = measure(material)
    tiny, tokens, seconds = figures["tiny_tables"], figures["tokens"], figures["seconds"]
    rows = [
        ("cases, folders, files", f"{figures['cases']}, {figures['folders']}, {figures['files']}"),
        ("tiny tables shown whole", f"{tiny['whole']} of {tiny['files']}"),
        ("their cells that are missing", f"{tiny['missing']} of {tiny['cells']}"),
        ("tokens of a case: median, mean, 90 %, largest",
         f"{tokens['median']}, {tokens['mean']}, {tokens['p90']}, {tokens['largest']}"),
        ("cases of which something is left out", f"{figures['cases_cut']} of {figures['cases']}"),
        ("seconds: wall, CPU of children, CPU here",
         f"{seconds['wall']}, {seconds['cpu_of_children']}, {seconds['cpu_here']}"),
    ]  # fmt: skip
    kinds = table(("kind", "files"), [(k, str(n)) for k, n in figures["kinds"].items()])
    reasons = table(
        ("unreadable", "files"), [(k, str(n)) for k, n in figures["unreadable"].items()]
    )
    text = f"{table(('', ''), rows)}\n{kinds}\n{reasons}"
    print(text)
    write_result("evidence_views", (__doc__ or "").partition("\n\n    python")[0], text, figures)


if __name__ == "__main__":
    main()
