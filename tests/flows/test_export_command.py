"""`benchmint export`, run as a user does."""

from __future__ import annotations

import shutil
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


@pytest.mark.timeout(120)
@pytest.mark.parametrize("runner", ["inspect", "harbor"])
def test_an_export_that_fails_half_way_leaves_nothing(
    snapshot: Path, tmp_path: Path, runner: str
) -> None:
    changed = tmp_path / "changed" / snapshot.name
    shutil.copytree(snapshot, changed)
    *_, last = sorted((changed / "private").glob("*/rubric.json"))
    last.write_text("{}")
    folder = tmp_path / "exports"
    done = benchmint("export", runner, changed, "--out", folder / "out", "--with-private")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{last}: found another file than was released" in line
    assert [*folder.iterdir()] == []
    folder.joinpath("out").mkdir()
    whole = benchmint("export", runner, snapshot, "--out", folder / "out", "--with-private")
    assert whole.returncode == 0, whole.stderr
    assert [path.name for path in folder.iterdir()] == ["out"]
