"""What lies around the halves: `run.json`, the name of the folder, and nothing else."""

from __future__ import annotations

import os
import re
from pathlib import Path

from data.snapshot import layout
from data.snapshot.manifest import Manifest
from data.snapshot.verification.files import read_object
from data.snapshot.verification.findings import Check, Findings, Half

_DATED = re.compile(r".+-\d{4}\.\d{2}\.\d{2}(-r\d+)?")
_PURGED = re.compile(rf"\.{layout.PRIVATE}\.\d+\.part")  # left by a purge that was killed


def check_name(folder: str, manifest: Manifest | None, findings: Findings) -> None:
    """A folder that is named as snapshots are has the name of its own snapshot."""
    if manifest is not None and _DATED.fullmatch(folder) and folder != manifest.snapshot:
        findings.add(Check.RENAMED, folder, f"the manifest is that of {manifest.snapshot}")


def check_root(root: Path, findings: Findings, *, with_private: bool) -> None:
    """Nothing stands beside the halves and `run.json`: no sums would tell of it."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError as error:
        findings.add(Check.UNREADABLE, ".", f"{type(error).__name__}")
        return
    for entry in entries:
        if not _belongs(entry, with_private=with_private):
            findings.add(Check.NOT_PART, entry.name, "no part of a snapshot")


def check_run(
    root: Path, manifest: Manifest | None, digest: str | None, findings: Findings
) -> None:
    """`run.json` names this snapshot and the digest of both halves; without one it may be absent.

    What else it tells (times, host, tools) is nowhere to be compared with.
    """
    file = root / layout.RUN
    if file.is_symlink() or not file.is_file():
        if digest is not None:
            findings.add(Check.RUN, layout.RUN, "not there, so the release's digest is unknown")
        return
    here = Half(".", root, {layout.RUN: file}, {}, None)
    run = read_object(here, layout.RUN, Check.RUN, findings)
    if run is None:
        return
    if digest is not None and run.get("digest") != digest:
        findings.add(Check.RUN, layout.RUN, "tells another digest than that of both halves")
    if manifest is not None and run.get("snapshot") != manifest.snapshot:
        findings.add(Check.RUN, layout.RUN, "names another snapshot")


def _belongs(entry: os.DirEntry[str], *, with_private: bool) -> bool:
    if entry.name == layout.RUN:
        return entry.is_file(follow_symlinks=False)
    if not entry.is_dir(follow_symlinks=False):
        return False
    purged = not with_private and _PURGED.fullmatch(entry.name) is not None
    return purged or entry.name in (layout.PUBLIC, layout.PRIVATE)
