"""Resumable stages (law 6): a stage's output is a directory that is there whole or not at all.

The directory is named by the stage's key (input digests + recipe digest + code version), so
"done" means "exists": there is no second record that could disagree with the files.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.atomic import private_dir, replacing_dir
from data.canonical import digest
from data.errors import BenchmintError, guarded

_KEY_LENGTH = 24


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

    def key(self, stage: str, *parts: Any) -> str:
        """The key of a stage: everything its output depends on, digested."""
        return digest([stage, self.code_version, *parts])[:_KEY_LENGTH]

    def path(self, stage: str, key: str) -> Path:
        return self.root / stage / key

    def run(self, stage: str, key: str, compute: Callable[[Path], None]) -> StageOutput:
        """Return the finished output of (stage, key), computing it only if it is not there.

        `compute` writes into an empty directory, which is then moved into place. If another
        process finishes the same key first, its (identical) output is used.
        """
        target = self.path(stage, key)
        if target.is_dir():
            return StageOutput(stage, target, cached=True)
        private_dir(target.parent)
        try:
            with guarded(stage), replacing_dir(target) as part:
                compute(part)
        except (OSError, BenchmintError):
            if not target.is_dir():
                raise
        return StageOutput(stage, target, cached=False)

    def prune(self, keep: set[Path]) -> int:
        """Remove outputs that are not in `keep` and what killed runs left behind."""
        removed = 0
        for folder in sorted(self.root.glob("*/*")):
            if folder not in keep:
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        return removed
