"""`benchmint release export`, run as a user does."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from construction.grading.exports.writing import new_folder
from data.errors import InputError
from tests.construction.grading.exports.sample import (
    GOLD_TEXT,
    contents,
    sample_release,
)
from tests.flows.command import command, inline


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot with the tables behind its data tools."""
    return sample_release(tmp_path_factory.mktemp("release"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("runner", ["inspect", "harbor"])
def test_the_private_half_leaves_when_it_is_asked_for_and_not_before(
    snapshot: Path, tmp_path: Path, runner: str
) -> None:
    public = inline("release", "export", runner, snapshot / "public", "--out", tmp_path / "public")
    assert public.returncode == 0, public.stderr
    assert not any(GOLD_TEXT.encode() in text for text in contents(tmp_path / "public").values())
    refused = inline(
        "release", "export", runner, snapshot / "public", "--out", tmp_path / "x", "--with-private"
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
    done = inline("release", "export", runner, changed, "--out", folder / "out", "--with-private")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{last}: found a file that differs from the released one" in line
    assert [*folder.iterdir()] == []
    folder.joinpath("out").mkdir()
    whole = inline("release", "export", runner, snapshot, "--out", folder / "out", "--with-private")
    assert whole.returncode == 0, whole.stderr
    assert [path.name for path in folder.iterdir()] == ["out"]


@pytest.mark.timeout(120)
def test_one_export_at_a_time_and_what_a_killed_one_left_goes(
    snapshot: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    leftover = tmp_path / ".out.abcd_123.part"
    (leftover / "tasks").mkdir(parents=True)
    (tmp_path / ".out.2.abcd_123.part").mkdir()  # of an export to another folder
    with new_folder(out):
        assert not leftover.exists()
        (partial, *_) = tmp_path.glob(".out.????????.part")
        refused = inline("release", "export", "inspect", snapshot, "--out", out)
        assert refused.returncode == 2
        assert refused.stderr == (
            f"benchmint: {out}: another export is under way here. "
            "Wait for it, or choose another --out.\n"
        )
        assert partial.is_dir()
        (partial / "first").touch()
    assert [path.name for path in out.iterdir()] == ["first"]
    late = inline("release", "export", "inspect", snapshot, "--out", out)
    assert "found a file or a folder with files in it" in late.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"out", ".out.2.abcd_123.part"}


@pytest.mark.timeout(120)
def test_a_killed_export_is_repeated_with_the_same_bytes(snapshot: Path, tmp_path: Path) -> None:
    whole = inline(
        "release", "export", "harbor", snapshot, "--out", tmp_path / "whole", "--with-private"
    )
    assert whole.returncode == 0, whole.stderr
    folder = tmp_path / "killed"
    killed = command(
        "release", "export", "harbor", snapshot, "--out", folder / "out", "--with-private"
    )
    running = subprocess.Popen(killed, stdout=subprocess.DEVNULL)
    while running.poll() is None and not [*folder.glob(".out.*.part/tasks/*")]:
        time.sleep(0.001)
    running.kill()
    running.wait()
    assert [*folder.glob(".out.*.part")], "killed too late"
    again = inline(
        "release", "export", "harbor", snapshot, "--out", folder / "out", "--with-private"
    )
    assert again.returncode == 0, again.stderr
    assert [path.name for path in folder.iterdir()] == ["out"]
    assert contents(folder / "out") == contents(tmp_path / "whole")


def test_an_export_never_lands_in_the_release_or_under_ones_feet(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = inline(
        "release", "export", "inspect", snapshot, "--out", snapshot / "exports" / "inspect"
    )
    assert "found a folder in the snapshot" in inside.stderr
    assert not (snapshot / "exports").exists()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="the current folder"), new_folder(Path()):
        pass
