"""The release that the tests of the exports share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.construction.grading.exports.sample import sample_release


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A written release; no test changes it."""
    return sample_release(tmp_path_factory.mktemp("release"))
