"""What was collected, kept for good: a folder of captures and the log of the runs that made them.

A capture is named by its date and the digest of its content, and never changed. The log
(`captures.jsonl`) has an entry for each run, is only appended to, and is hash-chained: it says
which capture of a day is its last. History is read from both.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from construction.signals.config import check_source
from data.atomic import write_once
from data.canonical import digest
from data.errors import InputError
from data.hash_chain import entries, extend

RUNS = "captures.jsonl"
_DIGITS = 16  # of the digest, in the name of a file
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class Kept:
    """A capture in the folder, as the log of runs names it; `at` is the time of its run (UTC)."""

    path: Path
    source: str
    date: dt.date
    sha256: str
    at: str


def keep(folder: Path, content: bytes, source: str, date: dt.date, suffix: str = ".json") -> Path:
    """Keep what a run collected, and log the run; the same content is the same file.

    A run that was killed before it was logged leaves a file that no history reads.
    """
    sha256 = digest(content)
    path = folder / f"{check_source(source)}-{date.isoformat()}-{sha256[:_DIGITS]}{suffix}"
    write_once(path, content, mode=_MODE)
    at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    run = {"at": at, "source": source, "date": date.isoformat(), "file": path.name}
    extend(folder / RUNS, lambda known: [run | {"sha256": sha256}])
    return path


def _captured(folder: Path, source: str) -> list[Kept]:
    """The captures of all runs of a source, in the order of the runs.

    Raises BrokenChain if the log was altered, InputError if a capture was.
    """
    kept = [_kept(folder, entry) for entry in entries(folder / RUNS) if entry["source"] == source]
    for capture in {one.path: one for one in kept}.values():
        actual = digest(capture.path.read_bytes()) if capture.path.is_file() else "no file"
        if actual != capture.sha256:
            raise InputError(
                str(capture.path), actual[:_DIGITS], f"the capture {capture.sha256[:_DIGITS]}",
                "Restore it; captures are never changed.",
            )  # fmt: skip
    return kept


def history(folder: Path, source: str) -> list[Kept]:
    """The last capture of each day, oldest day first."""
    return sorted({one.date: one for one in _captured(folder, source)}.values(), key=_date)


def superseded(folder: Path, source: str) -> list[Kept]:
    """Captures of which their day has a later one, of other content."""
    last = {one.path for one in history(folder, source)}
    earlier = {one.path: one for one in _captured(folder, source) if one.path not in last}
    return sorted(earlier.values(), key=_date)


def snapshot_files(given: Sequence[Path], source: str) -> list[Path]:
    """Files as they are; of a folder its files, of captures the last of each day."""
    files: list[Path] = []
    for path in given:
        if (path / RUNS).is_file():
            files += [kept.path for kept in history(path, source)]
            continue
        inside = sorted(file for file in path.glob("*") if file.is_file())
        files += inside if path.is_dir() else [path]
    return files


def _kept(folder: Path, entry: Mapping[str, Any]) -> Kept:
    path, date = folder / Path(entry["file"]).name, dt.date.fromisoformat(entry["date"])
    return Kept(path, entry["source"], date, entry["sha256"], entry["at"])


def _date(kept: Kept) -> dt.date:
    return kept.date
