"""A written snapshot that tests may copy and damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import release


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot as written; never changed by a test."""
    root = tmp_path_factory.mktemp("pristine")
    return write_snapshot(release(root), root / "out").path


@pytest.fixture
def snapshot(pristine: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(pristine, tmp_path / pristine.name, symlinks=True))
