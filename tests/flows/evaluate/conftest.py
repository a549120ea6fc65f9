"""A small release to run agents on."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.releases.tasks import ReleasedTasks, read_tasks
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import release

KEY = "a-secret-model-key"


@pytest.fixture(scope="package")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("release")
    return write_snapshot(release(root), root / "out").path


@pytest.fixture
def tasks(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> ReleasedTasks:
    monkeypatch.setenv("BENCHMINT_API_KEY", KEY)
    return read_tasks(snapshot)
