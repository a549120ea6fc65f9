"""`benchmint export`, run as a user does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.construction.grading.exports.sample import (
    GOLD_TEXT,
    contents,
    sample_release,
)
from tests.flows.command import benchmint


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot with the tables behind its data tools."""
    return sample_release(tmp_path_factory.mktemp("release"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("runner", ["inspect", "harbor"])
def test_the_private_half_leaves_when_it_is_asked_for_and_not_before(
    snapshot: Path, tmp_path: Path, runner: str
) -> None:
    public = benchmint("export", runner, snapshot / "public", "--out", tmp_path / "public")
    assert public.returncode == 0, public.stderr
    assert not any(GOLD_TEXT.encode() in text for text in contents(tmp_path / "public").values())
    refused = benchmint(
        "export", runner, snapshot / "public", "--out", tmp_path / "x", "--with-private"
    )
    assert refused.returncode == 2
    assert "no private half" in refused.stderr
    assert not (tmp_path / "x").exists()
