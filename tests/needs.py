"""What a test needs and a machine may lack: without it the test is skipped, with the reason.

BENCHMINT_REQUIRE makes the absence of what it names a failure (`tests/conftest.py`).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from construction.sandbox.presence import sandbox_problem

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_PROBLEM = sandbox_problem()

needs_box = pytest.mark.skipif(_PROBLEM is not None, reason=f"no sandbox (bubblewrap): {_PROBLEM}")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: `make system`")
needs_office = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="no LibreOffice here: `make system`"
)


def path_without_box(folder: Path) -> str:
    """A PATH with all programs of this machine but bubblewrap, as links in `folder`."""
    folder.mkdir()
    for source in map(Path, os.environ["PATH"].split(os.pathsep)):
        for program in source.glob("*"):
            link = folder / program.name
            if program.name != "bwrap" and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


def skip_without_box() -> None:
    """Skip a whole module, or the rest of a test."""
    if _PROBLEM is not None:
        pytest.skip(f"no sandbox (bubblewrap): {_PROBLEM}", allow_module_level=True)
