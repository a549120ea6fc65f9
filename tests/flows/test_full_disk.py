"""Full disks: one line that names the place and the need, and nothing partial stays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from data.snapshot.writer import write_snapshot
from tests.conftest import REPO
from tests.data.snapshot.sample import release
from tests.demo import Demo
from tests.flows import test_errata_command as sample
from tests.flows.small_disk import Ended, on_small_disk
from tests.flows.test_perturb_command import firms, settings

pytestmark = pytest.mark.slow


def require_line(ended: Ended, *parts: str) -> None:
    """The command ended with 2, one line that holds the parts, and left nothing partial."""
    assert (ended.code, len(ended.errors), ended.partial) == (2, 1, []), ended
    assert all(part in ended.errors[0] for part in parts), ended.errors[0]


def test_a_build_checks_the_space_before_it_starts(tmp_path: Path) -> None:
    ended = on_small_disk(
        tmp_path / "out", 100 << 10, "build", "--quiet", "--out", tmp_path / "out"
    )
    require_line(ended, str(tmp_path / "out"), "found 100 MiB free; expected at least 256 MiB")
    temporary = tmp_path / "temporary"
    ended = on_small_disk(
        temporary, 20 << 10, "build", "--quiet", "--out", tmp_path / "other", temporary=True
    )
    require_line(ended, str(temporary), "found 20 MiB free; expected at least 64 MiB")
    assert not (tmp_path / "other").exists()


def test_masking_that_does_not_fit(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    for number in range(30):
        (given / f"notes-{number}.md").write_text("Quarterly notes without a name.\n" * 4000)
    ended = on_small_disk(tmp_path / "out", 1 << 10, "mask", given, "--out", tmp_path / "out")
    require_line(ended, "No space left on device", "temporary files")


def test_questions_that_do_not_fit(demo: Demo, tmp_path: Path) -> None:
    statements = demo.folder / "statements"
    out = tmp_path / "out"
    arguments = ("questions", "--sec", statements / "sec", "--size", "5", "--out", out)
    require_line(on_small_disk(out, 1 << 10, *arguments), str(out), "found 1 MiB free")


def test_an_export_that_does_not_fit_is_not_there(demo: Demo, tmp_path: Path) -> None:
    latest = (demo.out / "snapshots/latest").resolve()
    out = tmp_path / "out"
    ended = on_small_disk(out, 64, "export", "inspect", latest, "--out", out / "views")
    require_line(ended, "No space left on device")


WORK = (sys.executable, "-m", "tests.flows.disk_work")


@pytest.mark.parametrize(
    ("kind", "kibibytes"),
    [("staging", 300), ("database", 400), ("fixtures", 2000), ("snapshot", 300), ("attempts", 100)],
)
def test_a_disk_that_is_full_in_the_middle(tmp_path: Path, kind: str, kibibytes: int) -> None:
    """A build asks for more space at its start, so its parts are tried alone."""
    ended = on_small_disk(
        tmp_path / "out", kibibytes, kind, tmp_path / "out", tmp_path / "elsewhere", program=WORK,
        variables={"PYTHONPATH": str(REPO)},
    )  # fmt: skip
    require_line(ended, "free some space")


def test_the_database_of_prefect_does_not_fit(tmp_path: Path) -> None:
    home = tmp_path / "prefect"
    ended = on_small_disk(
        home,
        200,
        "build",
        "--quiet",
        "--out",
        tmp_path / "out",
        variables={"PREFECT_HOME": str(home)},
    )
    require_line(ended, str(home), "found 0 MiB free; expected at least 16 MiB")
    assert not (tmp_path / "out" / "snapshots").exists()


def test_perturbed_tables_that_do_not_fit(tmp_path: Path) -> None:
    given = firms(tmp_path, {"mining": 200, "retail": 200})
    ended = on_small_disk(
        tmp_path / "out", 16, "--quiet", "perturb", given, "--config", settings(tmp_path), "--out",
        tmp_path / "out",
    )  # fmt: skip
    require_line(ended, "free some space")


def test_a_leaderboard_and_scores_that_do_not_fit(tmp_path: Path) -> None:
    given = release(tmp_path)
    snapshot = write_snapshot(given, tmp_path / "made").path
    attempts = sample.made_attempts(snapshot, tmp_path / "attempts")
    small = tmp_path / "small"
    ended = on_small_disk(
        small, 16, "leaderboard", snapshot, "--attempts", attempts, "--out", small / "board"
    )
    require_line(ended, "free some space")
    ended = on_small_disk(
        small, 8, "grade", attempts / "careful", "--snapshot", snapshot, "--out", small / "scores"
    )
    require_line(ended, "free some space")
