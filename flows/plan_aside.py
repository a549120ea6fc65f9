"""Where a plan is made: a folder that stands for the output."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from anonymization.tables.seal import RECORD
from construction.judging.calls.config import Mode
from data.atomic import private_dir
from data.demo.generate import CONFIG
from data.sharding import Runner
from flows.recipe import Recipe, Runtime


def aside(recipe: Recipe, runtime: Runtime, out: Path) -> Runtime:
    """The runtime with `out` in the place of its own, which holds what a build reads there.

    Folders that a build only reads are links, files that it writes anew are copies.
    """
    own = runtime.out
    private_dir(out / "private" / "captures")
    for demo in own.glob("demo-*"):
        if (demo / CONFIG).is_file():
            (out / demo.name).symlink_to(demo.resolve())
    if (own / "snapshots").is_dir():
        (out / "snapshots").symlink_to((own / "snapshots").resolve())
    _copy(own / RECORD, out / RECORD)
    private = own / "private"
    for name in ("review", "captures/llm") if recipe.judging.model.name else ("review",):
        if (private / name).is_dir():
            shutil.copytree(private / name, out / "private" / name)
    for part in ("captures", "pseudonymized"):
        _stand_in(private / part, out / "private" / part)
    key = runtime.key_file or private / "release.key"
    changed: dict[str, Any] = {
        "out": out,
        "key_file": key if key.exists() else None,
        "quiet": True,
        "workers": 1,
        "runner": Runner.PROCESSES,
        "cluster": None,
        "model_calls": runtime.model_calls.model_copy(update={"mode": Mode.REPLAY}),
    }
    return runtime.model_copy(update=changed)


def _stand_in(folder: Path, target: Path) -> None:
    """The files of a folder as copies, its folders as links unless they are there."""
    target.mkdir(exist_ok=True)
    for entry in folder.glob("*"):
        if entry.is_file():
            _copy(entry, target / entry.name)
        elif not (target / entry.name).exists():
            (target / entry.name).symlink_to(entry.resolve())


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        shutil.copyfile(source, target)
