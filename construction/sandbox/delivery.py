"""What an agent delivered, copied out of its box."""

from __future__ import annotations

import shutil
from pathlib import Path

from construction.sandbox.sandbox import FileRefused, Sandbox

_TEMPORARY = (".tmp", ".pyc", "~")
_MOST_SECONDS = 300.0  # for all files together


def fetch_outputs(sandbox: Sandbox, folder: Path) -> None:
    """Copy the regular files of outputs/ into `folder`, which is made anew.

    Leftovers of programs stay behind, and files that the box refuses. So do files beyond the size
    of the box's disk: files with holes, or with several names, take less inside. A box that takes
    too long in total is ended: each answer of a forged server alone may be in time. Raises
    SandboxFailed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with sandbox.within(_MOST_SECONDS):
        _fetch(sandbox, folder)


def _fetch(sandbox: Sandbox, folder: Path) -> None:
    room = sandbox.box.limits.disk_bytes
    for name in sandbox.names("outputs"):
        if name.endswith(_TEMPORARY):
            continue
        target = folder / name
        try:
            content = sandbox.read(f"outputs/{name}")
            if len(content) > room:
                continue
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            target.write_bytes(content)
        except (FileRefused, FileExistsError, IsADirectoryError, NotADirectoryError):
            continue  # the latter: names that contradict each other, where an agent made them up
        room -= len(content)
