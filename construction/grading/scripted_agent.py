"""The scripted agent of the sandbox preflight: reads what it is given, writes what is asked for.

It runs inside the sandbox as any agent's program would, taken there as a bundle
(`exports/writing.py`): the plan comes as JSON on standard input, the report leaves as JSON on
standard output.
"""

from __future__ import annotations

import hashlib
import json
import stat
import sys
from pathlib import Path
from typing import Any

from construction.grading.attacks import holding, shell

_TEXT = "Written by a scripted agent that tries whether files can be delivered."


def main() -> int:
    """Read every file of the plan, then write every deliverable."""
    plan = json.load(sys.stdin)
    read = [_look(path, sha256) for path, sha256 in plan["inputs"]]
    written = [_deliver(path, file_type) for path, file_type in plan["outputs"]]
    json.dump({"inputs": read, "outputs": written}, sys.stdout)
    return 0


def _look(name: str, sha256: str) -> str | None:
    """What is wrong with a file that should be there; None if nothing is."""
    try:
        if not stat.S_ISREG(Path(name).lstat().st_mode):
            return "not_regular"
        return None if _digest(Path(name)) == sha256 else "changed"
    except (OSError, ValueError) as error:
        return _said(error)


def _deliver(name: str, file_type: str) -> dict[str, Any]:
    """Write a file of a type, making its folders; its digest, or what went wrong."""
    path = Path(name)
    content = holding(file_type, _TEXT) or shell(file_type)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return {"sha256": _digest(path), "fault": None}
    except (OSError, ValueError) as error:
        return {"sha256": None, "fault": _said(error)}


def _said(error: Exception) -> str:
    message = error.strerror if isinstance(error, OSError) else None
    return slug(message or "not_a_name")


def slug(message: str) -> str:
    """A message of the system as one word."""
    return message.lower().replace(" ", "_")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
