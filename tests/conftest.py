"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """Prefect's database is this process's own: workers do not wait for each other's locks."""
    home = tempfile.mkdtemp(prefix="benchmint-prefect-")
    os.environ["PREFECT_HOME"] = home
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))


@pytest.fixture(scope="session")
def material() -> Path:
    """The folder of real material, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("BENCHMINT_MATERIAL", REPO.parent / "shared" / "material"))
    if not folder.is_dir():
        pytest.skip("no real material: set BENCHMINT_MATERIAL or put it at ../shared/material")
    return folder
