"""Ways to damage a snapshot, for the tests of verification."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from data.canonical import digest, pretty_json
from data.snapshot import layout
from data.snapshot.tasks import from_line
from data.snapshot.verification import Check, VerifyReport

Damage = Callable[[Path], None]


def reseal(snapshot: Path) -> None:
    """Write sums that fit the damage, as a forger would: only the content can tell now."""
    public, private = snapshot / "public", snapshot / "private"
    content = layout.render(layout.compute(public))
    (public / layout.SUMS).write_bytes(content)
    if private.is_dir():
        edit_json(
            private / layout.HALF_LINK, lambda link: link.update(public_sums_sha256=digest(content))
        )
        private_sums = layout.render(layout.compute(private))
        (private / layout.SUMS).write_bytes(private_sums)
        whole = layout.snapshot_digest(content, private_sums)
        edit_json(snapshot / layout.RUN, lambda run: run.update(digest=whole))


def edit_json(path: Path, change: Callable[[Any], object]) -> None:
    document = orjson.loads(path.read_bytes())
    change(document)
    path.write_bytes(pretty_json(document))


def edit_text(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def edit_rows(snapshot: Path, change: Callable[[list[Any]], object]) -> None:
    path = snapshot / "public/tasks.jsonl"
    rows = [from_line(orjson.loads(line)) for line in path.read_bytes().splitlines()]
    change(rows)
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def edit_table(path: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    change(pl.read_parquet(path)).write_parquet(path)


def first_task(snapshot: Path) -> Path:
    return min((snapshot / "public/tasks").iterdir())


def first_input(snapshot: Path) -> Path:
    return first_task(snapshot) / "inputs/orders.csv"


def canary(snapshot: Path) -> str:
    manifest = orjson.loads((snapshot / "public/manifest.json").read_bytes())
    return str(manifest["canary"])


def failed_checks(report: VerifyReport) -> set[Check]:
    return {finding.check for finding in report.findings}


def put(path: Path, content: bytes | str) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as handle:
        handle.write(content)


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir(parents=True)


def publish_table(path: Path) -> None:
    """A table that is one, at a place where the release has none."""
    path.parent.mkdir(exist_ok=True)
    pl.DataFrame({"code": ["a", "b"]}).write_parquet(path)


def cut_table(path: Path, size: int) -> None:
    publish_table(path)
    path.write_bytes(path.read_bytes()[:size])


def publish_answers(snapshot: Path) -> None:
    answers = snapshot / "private" / first_task(snapshot).name / "answers.json"
    shutil.copy(answers, snapshot / "public/audit/a.json")


def invent_task(snapshot: Path) -> None:
    private = snapshot / "private"
    shutil.copytree(private / first_task(snapshot).name, private / "t-unknown")
