"""Writing: deterministic, whole or not at all, never over another snapshot."""

from __future__ import annotations

import random
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import orjson
import polars as pl
import pytest

from data.errors import ReleaseError
from data.snapshot.layout import snapshot_id
from data.snapshot.release import Release, ReleasedTable
from data.snapshot.verification import verify
from data.snapshot.writer import mark_latest, write_snapshot
from tests.conftest import REPO
from tests.data.snapshot.sample import RELEASED, SNAPSHOT, names, release, with_candidates


def contents(snapshot: Path) -> dict[str, bytes]:
    return {
        path.relative_to(snapshot).as_posix(): path.read_bytes()
        for path in sorted(snapshot.rglob("*"))
        if path.is_file()
    }


def shuffled(given: Release, seed: int) -> Release:
    mixed = random.Random(seed)
    ledger_tables = given.ledger_tables
    return replace(
        given,
        candidates=mixed.sample(list(given.candidates), len(given.candidates)),
        ledger_tables=replace(
            ledger_tables,
            ledger=mixed.sample(list(ledger_tables.ledger), len(ledger_tables.ledger)),
            verdicts=mixed.sample(list(ledger_tables.verdicts), len(ledger_tables.verdicts)),
            lineage=mixed.sample(list(ledger_tables.lineage), len(ledger_tables.lineage)),
        ),
        build=replace(given.build, recipe=dict(reversed(list(given.build.recipe.items())))),
        run_info={"started": f"run {seed}"},
    )


def test_the_layout_is_that_of_the_design(tmp_path: Path) -> None:
    given = release(tmp_path)
    ref = write_snapshot(given, tmp_path / "out")
    task = next(task for task in given.candidates if task.language == "zh").task_id
    files = contents(ref.path).keys()
    assert ref.path == tmp_path / "out" / SNAPSHOT
    assert ref.written
    assert {
        "run.json",
        "public/README.md",
        "public/croissant.json",
        "public/manifest.json",
        "public/CHANGELOG.md",
        "public/LICENSE",
        "public/SHA256SUMS",
        "public/tasks.jsonl",
        "public/tasks.parquet",
        "public/audit/funnel.json",
        "public/audit/funnel.svg",
        "public/audit/ledger.json",
        "public/audit/statistics.json",
        "public/audit/report.html",
        f"public/tasks/{task}/task.yaml",
        f"public/tasks/{task}/instruction.md",
        f"public/tasks/{task}/inputs/说明/背景.md",
        f"private/{task}/answers.json",
        f"private/{task}/rules.json",
        f"private/{task}/provenance.json",
        "private/SHA256SUMS",
        "private/ledger.parquet",
        "private/verdicts.parquet",
        "private/lineage.parquet",
        "private/audit/index.html",
    } <= files
    assert f"private/{task}/rubric.json" not in files  # it has none
    assert "public/audit/selection.json" not in files


def test_input_order_never_matters(tmp_path: Path) -> None:
    given = release(tmp_path)
    first = write_snapshot(given, tmp_path / "a")
    for seed in range(3):
        other = write_snapshot(shuffled(given, seed), tmp_path / f"b{seed}")
        assert other.digest == first.digest
        ours, theirs = contents(first.path), contents(other.path)
        assert ours.pop("run.json") != theirs.pop("run.json")
        assert ours == theirs


def test_another_input_gives_another_digest(tmp_path: Path) -> None:
    given = release(tmp_path)
    first = write_snapshot(given, tmp_path / "a")
    other = write_snapshot(replace(given, build=replace(given.build, seed=8)), tmp_path / "b")
    assert first.digest != other.digest


def test_the_same_snapshot_is_left_alone(tmp_path: Path) -> None:
    given = release(tmp_path)
    first = write_snapshot(given, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in first.path.rglob("*")}
    again = write_snapshot(replace(given, run_info={"started": "later"}), tmp_path / "out")
    assert again == replace(first, written=False)
    assert {path: path.stat().st_mtime_ns for path in first.path.rglob("*")} == before
    assert names(tmp_path / "out") == [".lock", SNAPSHOT]


def test_another_digest_is_refused_and_says_what_differs(tmp_path: Path) -> None:
    given = release(tmp_path)
    first = write_snapshot(given, tmp_path / "out")
    before = contents(first.path)
    changed = with_candidates(given, lambda task: task.model_copy(update={"prompt": "Other."}))
    task_id = given.candidates[0].task_id
    with pytest.raises(ReleaseError, match=f"differs in: tasks {task_id}. A published snapshot is"):
        write_snapshot(changed, tmp_path / "out")
    reseeded = replace(given, build=replace(given.build, seed=8))
    with pytest.raises(ReleaseError, match=r"differs in: manifest fields seed\. A published"):
        write_snapshot(reseeded, tmp_path / "out")
    assert contents(first.path) == before
    assert names(tmp_path / "out") == [".lock", SNAPSHOT]


def test_a_revision_gets_a_name_of_its_own_and_is_found_again(tmp_path: Path) -> None:
    given = release(tmp_path)
    write_snapshot(given, tmp_path / "out")
    changed = replace(given, build=replace(given.build, seed=8))
    second = write_snapshot(changed, tmp_path / "out", revision=True)
    assert second.path.name == f"{SNAPSHOT}-r2"
    assert write_snapshot(changed, tmp_path / "out", revision=True) == replace(
        second, written=False
    )
    third = write_snapshot(
        replace(given, build=replace(given.build, seed=9)), tmp_path / "out", revision=True
    )
    assert third.snapshot == snapshot_id("demo", RELEASED, 3) == f"{SNAPSHOT}-r3"
    assert verify(second.path).ok
    assert orjson.loads((second.path / "public/manifest.json").read_bytes())["revision"] == 2


def test_private_files_are_for_their_owner_only(tmp_path: Path) -> None:
    ref = write_snapshot(release(tmp_path), tmp_path / "out")
    for path in [ref.path / "private", *(ref.path / "private").rglob("*")]:
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path
    assert stat.S_IMODE((ref.path / "public").stat().st_mode) == 0o755


def test_a_failure_before_the_move_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Path, target: Path) -> Path:
        raise OSError("disk gone")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="disk gone"):
        write_snapshot(release(tmp_path), tmp_path / "out")
    assert names(tmp_path / "out") == [".lock"]


def test_a_killed_build_leaves_no_snapshot_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from data.snapshot.writer import write_snapshot\n"
        "from tests.data.snapshot.sample import release\n"
        "Path.rename = lambda self, target: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_snapshot(release(Path(sys.argv[1])), Path(sys.argv[1]) / 'out')\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=REPO, check=False)
    assert killed.returncode == -signal.SIGKILL
    remaining = names(tmp_path / "out")
    assert len(remaining) == 2
    assert remaining[0].endswith(".part")
    assert remaining[1] == ".lock"
    (tmp_path / "out" / ".latest.1.part").symlink_to("nowhere")  # of a build killed there
    assert stat.S_IMODE((tmp_path / "out" / remaining[0] / "private").stat().st_mode) == 0o700
    ref = write_snapshot(release(tmp_path), tmp_path / "out")
    assert names(tmp_path / "out") == [".lock", SNAPSHOT]
    assert verify(ref.path).ok


def test_latest_moves_only_to_what_verified(tmp_path: Path) -> None:
    given = release(tmp_path)
    out = tmp_path / "out"
    first = write_snapshot(given, out)
    link = mark_latest(first, verify(first.path))
    assert link.readlink() == Path(SNAPSHOT)
    second = write_snapshot(replace(given, build=replace(given.build, seed=8)), out, revision=True)
    with pytest.raises(ReleaseError, match="not marked as latest"):
        mark_latest(second, verify(first.path))  # a good report, of another snapshot
    (second.path / "public/README.md").write_text("changed")
    with pytest.raises(ReleaseError, match="not marked as latest"):
        mark_latest(second, verify(second.path))
    assert link.readlink() == Path(SNAPSHOT)
    assert verify(link).ok


def test_a_rebuilt_predecessor_does_not_take_latest_back(tmp_path: Path) -> None:
    given = release(tmp_path)
    out = tmp_path / "out"
    for released in (given.released, given.released + timedelta(days=7), given.released):
        ref = write_snapshot(replace(given, released=released), out)
        link = mark_latest(ref, verify(ref.path))
    assert link.readlink().name == f"{given.name}-{given.released + timedelta(days=7):%Y.%m.%d}"


def test_run_json_names_the_digest_and_is_in_no_sums(tmp_path: Path) -> None:
    ref = write_snapshot(release(tmp_path), tmp_path / "out")
    run = orjson.loads((ref.path / "run.json").read_bytes())
    assert run["digest"] == ref.digest
    assert run["started"] == "2026-07-01T00:00:00Z"
    assert b"run.json" not in (ref.path / "public/SHA256SUMS").read_bytes()


def test_sha256sum_reads_the_sums(pristine: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"],
        cwd=pristine / "public",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_release_without_tasks_and_books_is_whole(tmp_path: Path) -> None:
    given = release(tmp_path)
    empty = replace(
        given,
        candidates=[],
        ledger_tables=replace(
            given.ledger_tables, ledger=[], verdicts=[], lineage=[], tallies=[], gates=[]
        ),
    )
    ref = write_snapshot(empty, tmp_path / "out")
    report = verify(ref.path)
    assert (report.findings, report.tasks) == ((), 0)


def test_the_private_tables_hold_every_row(tmp_path: Path) -> None:
    given = release(tmp_path)
    ref = write_snapshot(given, tmp_path / "out")
    ledger = pl.read_parquet(ref.path / "private/ledger.parquet")
    rejected = ledger.filter(pl.col("gate") == "length").sort("item_id").row(0, named=True)
    assert ledger.height == len(given.ledger_tables.ledger)
    assert rejected["reason"] == "length.too_short"
    assert (rejected["observed"], rejected["limit"]) == ("0", "10")
    assert orjson.loads(rejected["evidence"])["path"] == "secret-folder/session.jsonl"


def test_optional_reports_are_written_with_the_canary(tmp_path: Path) -> None:
    given = replace(release(tmp_path), selection={"chosen": 3}, privacy_report={"risk": 0.25})
    ref = write_snapshot(given, tmp_path / "out")
    canary = orjson.loads((ref.path / "public/manifest.json").read_bytes())["canary"]
    selection = orjson.loads((ref.path / "public/audit/selection.json").read_bytes())
    privacy = orjson.loads((ref.path / "public/audit/privacy.json").read_bytes())
    assert selection == {"canary": canary, "chosen": 3}
    assert privacy == {"canary": canary, "risk": 0.25}
    assert verify(ref.path).ok


def test_tables_are_released_and_answers_stay_private(tmp_path: Path) -> None:
    points, answers = tmp_path / "p.parquet", tmp_path / "a.parquet"
    pl.DataFrame({"value": ["812400000"]}).write_parquet(points)
    pl.DataFrame({"answer": ["812.4"]}).write_parquet(answers)
    tables = {"points": ReleasedTable(points, "one reported value")}
    made = replace(release(tmp_path), tables=tables, answers=answers)
    ref = write_snapshot(made, tmp_path / "out")
    assert (ref.path / "public/tables/points.parquet").read_bytes() == points.read_bytes()
    assert (ref.path / "private/answers.parquet").read_bytes() == answers.read_bytes()
    assert (
        "| `tables/points.parquet` | one reported value |"
        in (ref.path / "public/README.md").read_text()
    )
    listed = orjson.loads((ref.path / "public/croissant.json").read_bytes())["distribution"]
    assert [item["contentUrl"] for item in listed] == [
        "tasks.jsonl",
        "tasks.parquet",
        "tables/points.parquet",
    ]
    assert verify(ref.path).ok
    (ref.path / "public/tables/points.parquet").write_bytes(b"PAR1")
    assert not verify(ref.path).ok


def test_a_table_with_a_path_for_a_name_is_refused(tmp_path: Path) -> None:
    tables = {"../points": ReleasedTable(tmp_path / "p.parquet", "one value")}
    with pytest.raises(ReleaseError, match="a table's name of 9 characters"):
        write_snapshot(replace(release(tmp_path), tables=tables), tmp_path / "out")
