"""The release that the tests of the exports share."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.grading.exports.harbor import export_harbor
from tests.construction.grading.exports.sample import ids, sample_export, sample_release


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A written release; no test changes it."""
    return sample_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="session")
def whole(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release for Harbor, with its private half; no test changes it."""
    out = tmp_path_factory.mktemp("harbor") / "whole"
    assert export_harbor(sample_export(snapshot, with_private=True), out) == 5
    return out


@pytest.fixture(scope="session")
def names(snapshot: Path) -> list[str]:
    """Ids of the question, the judged and the text task."""
    return ids(sample_export(snapshot, with_private=True))
