"""What an agent delivered, copied out of its box."""

from __future__ import annotations

import shutil
from pathlib import Path

from flows.evaluate.sandbox import FileRefused, Sandbox

_TEMPORARY = (".tmp", ".pyc", "~")


def fetch_outputs(sandbox: Sandbox, folder: Path) -> None:
    """Copy the regular files of outputs/ into `folder`, which is made anew.

    Leftovers of programs stay behind, and files that the box refuses. Raises SandboxFailed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for name in sandbox.names("outputs"):
        target = (folder / name).resolve()
        if name.endswith(_TEMPORARY) or not target.is_relative_to(folder.resolve()):
            continue
        try:
            content = sandbox.read(f"outputs/{name}")
        except FileRefused:
            continue
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        target.write_bytes(content)
