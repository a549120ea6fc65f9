"""Resumable stages (law 6): a stage's output is a directory that is there whole or not at all.

The directory is named by the stage's key (input digests + recipe digest + code version), so
"done" means "exists", and as it was written: beside the output lie the digests of its files, what
the key was made of and what the stage took, which nothing is digested from. An output that somebody
has altered is named and computed anew: it would go into the next release.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from data.atomic import private_dir, replacing_dir, write_bytes
from data.canonical import canonical_json, digest, file_digest
from data.errors import BenchmintError, guarded
from data.neutralise import one_line
from data.stage_key import FILE as KEY_FILE
from data.stage_key import StageKey, stage_key, write_key

SUMS_FILE = "sums.json"
_NAMED = 3


class StageAltered(BenchmintError):
    """A stage's output is not what the stage wrote."""


def _write_sums(output: Path) -> None:
    """Write down what the files of a finished output are."""
    write_bytes(output / SUMS_FILE, canonical_json(_sums(output)))


def _read_sums(output: Path) -> dict[str, str]:
    """The digests that `_write_sums` wrote, by file; empty if they cannot be read."""
    try:
        known: dict[str, str] = orjson.loads((output / SUMS_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return known


def _require_unaltered(output: Path) -> None:
    """Raise StageAltered if any file is another, missing, or too many. Reads every file once."""
    if altered := _altered(output):
        raise StageAltered(
            f"{output}: found {altered} altered since the stage was computed; expected "
            "unmodified output."
        )


def _altered(output: Path) -> str:
    """The first files that are others, missing, or too many; none if there are none."""
    known, now = _read_sums(output), _sums(output)
    if now == known:
        return ""
    names = sorted(name for name in {*now, *known} if now.get(name) != known.get(name))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return one_line(", ".join(names[:_NAMED]) + more)


def _sums(output: Path) -> dict[str, str]:
    files = (path for path in output.rglob("*") if path.is_file())
    named = {path.relative_to(output).as_posix(): path for path in files}
    return {name: file_digest(path) for name, path in named.items() if name != SUMS_FILE}


log = logging.getLogger("benchmint.stages")


# Files beside an output that say how it was made, not what it is.
_ABOUT = frozenset({KEY_FILE, "timings.parquet"})


def content_digest(output: Path) -> str:
    """A digest of what a stage wrote: the same for the same content, whenever it was computed."""
    return digest({name: sha for name, sha in _read_sums(output).items() if name not in _ABOUT})


@dataclass(frozen=True, slots=True)
class StageOutput:
    """Where a stage's tables lie, and whether they were there before this run."""

    stage: str
    path: Path
    cached: bool


@dataclass(frozen=True, slots=True)
class RunStore:
    """The private working directory of builds: `<root>/<stage>/<key>/…`."""

    root: Path
    code_version: str

    def key(self, stage: str, *parts: Any, **named: Any) -> StageKey:
        """The key of a stage: everything its output depends on, digested.

        Parts with a name are told by it where a plan says what changed.
        """
        return stage_key(stage, self.code_version, parts, named)

    def path(self, stage: str, key: str) -> Path:
        return self.root / stage / key

    def is_done(self, stage: str, key: str) -> bool:
        """Is the output there, as it was written?"""
        target = self.path(stage, key)
        return target.is_dir() and not _altered(target)

    def run(self, stage: str, key: str, compute: Callable[[Path], None]) -> StageOutput:
        """Return the finished output of (stage, key), computing it only if it is not there.

        `compute` writes into an empty directory, which is then moved into place. If another
        process finishes the same key first, its (identical) output is used. An output that is not
        as it was written is named, and computed anew.
        """
        target = self.path(stage, key)
        if self.is_done(stage, key):
            log.info("already done", extra={"stage": stage, "output": key})
            return StageOutput(stage, target, cached=True)
        self._discard_altered(stage, key)
        log.info("computing", extra={"stage": stage, "output": key})
        from data.metrics import cpu_seconds, write_timing  # loads Polars: most runs compute little

        private_dir(target.parent)
        began, cpu_before = time.perf_counter(), cpu_seconds()
        try:
            with guarded(stage), replacing_dir(target) as part:
                compute(part)
                seconds = time.perf_counter() - began
                size = write_timing(part, stage, seconds, cpu_seconds() - cpu_before)
                if isinstance(key, StageKey):
                    write_key(part, key)
                _write_sums(part)
        except (OSError, BenchmintError):
            if not target.is_dir():
                raise
        else:
            details = {"stage": stage, "output": key, "seconds": round(seconds, 3), "bytes": size}
            log.info("computed", extra=details)
        return StageOutput(stage, target, cached=False)

    def _discard_altered(self, stage: str, key: str) -> None:
        """Remove an output that somebody altered: it would go into the next release."""
        target = self.path(stage, key)
        if not target.is_dir() or not (altered := _altered(target)):
            return
        log.warning("altered", extra={"stage": stage, "output": key, "files": altered})
        print(
            f"benchmint: {target}: {altered} altered since the stage was computed; recomputed",
            file=sys.stderr,
        )
        shutil.rmtree(target)

    def receive(self, stage: str, key: str, fetch: Callable[[Path], None]) -> StageOutput:
        """Put the output of (stage, key), which was computed elsewhere, where it belongs.

        `fetch` writes it into an empty directory. Raises StageAltered if that is not what was
        computed.
        """
        target = self.path(stage, key)
        self._discard_altered(stage, key)
        private_dir(target.parent)
        with replacing_dir(target) as part:
            fetch(part)
            _require_unaltered(part)
        log.info("computed elsewhere", extra={"stage": stage, "output": key})
        return StageOutput(stage, target, cached=False)

    def prune(self, keep: set[Path]) -> int:
        """Remove outputs that are not in `keep` and what killed runs left behind."""
        removed = 0
        for folder in sorted(self.root.glob("*/*")):
            if folder not in keep:
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        return removed
