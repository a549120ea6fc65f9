"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def material() -> Path:
    """The folder of real material, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("BENCHMINT_MATERIAL", REPO.parent / "shared" / "material"))
    if not folder.is_dir():
        pytest.skip("no real material: set BENCHMINT_MATERIAL or put it at ../shared/material")
    return folder
