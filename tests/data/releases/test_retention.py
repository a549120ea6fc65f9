"""`purge`: what is too old goes, what must stay stays, and nothing outside is touched."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import pytest

from data import hash_chain
from data.errors import ReleaseError
from data.releases.retention import Kind, Plan, Removal, carry_out, plan_purge, replies_needed
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from data.staging.runs import stage_run, staged_runs
from tests.data.releases import train
from tests.data.staging.test_runs import FACTS, LATER, stage

OLD = datetime(2026, 7, 2, tzinfo=UTC).timestamp()
BEFORE = date(2026, 9, 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("retention")
    for weeks in (0, 1, 2):
        train.written(folder, weeks)
    return folder


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    """Three releases, a private store with old and new things, and a witness outside."""
    out = tmp_path / "out"
    shutil.copytree(made / "snapshots", out / "snapshots")
    private = out / "private"
    for name, old in (
        ("stages/recover/aaaa/survivors.parquet", True),
        ("stages/recover/bbbb/survivors.parquet", False),
        ("captures/frozen/page", True),
        ("captures/network.jsonl", False),
        ("sources.json", True),
        ("release.key", True),
        ("access.log", True),
        ("build.lock", True),
    ):
        path = private / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if name.endswith((".log", ".lock")) else b"12345")
        if old:
            for made_old in (path, path.parent) if "stages" in name else (path,):
                os.utime(made_old, (OLD, OLD))
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "witness").write_text("x")
    os.utime(tmp_path / "outside" / "witness", (OLD, OLD))
    return out


def goes(plan: Plan) -> list[tuple[Kind, str]]:
    return [(one.kind, one.where) for one in plan.removals]


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_a_plan_names_what_goes_and_removes_nothing(out: Path) -> None:
    before = files(out)
    plan = plan_purge(out, BEFORE, None)
    assert goes(plan) == [
        (Kind.PRIVATE_HALF, "snapshots/demo-2026.07.08/private"),
        (Kind.PRIVATE_HALF, "snapshots/demo-2026.07.01/private"),
        (Kind.STAGE, "private/stages/recover/aaaa"),
        (Kind.FILES, "private/captures"),
        (Kind.FILES, "private/sources.json"),
    ]
    half = out / "snapshots/demo-2026.07.01/private"
    sizes = [path.stat().st_size for path in half.rglob("*") if path.is_file()]
    assert (plan.removals[1].files, plan.removals[1].size) == (len(sizes), sum(sizes))
    assert plan.removals[1].since == date(2026, 7, 1)
    assert plan.removals[3].paths == ("private/captures/frozen/page",)
    assert ("snapshots/demo-2026.07.15", "the newest release that verifies") in plan.kept
    assert {where for where, _ in plan.kept} >= {"private/release.key", "private/access.log"}
    assert files(out) == before


def test_what_is_purged_is_gone_and_logged_and_the_rest_is_as_it_was(out: Path) -> None:
    before = files(out)
    plan = plan_purge(out, BEFORE, None)
    carry_out(out, plan)
    after = files(out)
    gone = {name for name in before if name not in after}
    assert {name.split("/private/")[0] for name in gone if name.startswith("snapshots/")} == {
        "snapshots/demo-2026.07.01",
        "snapshots/demo-2026.07.08",
    }
    assert {name for name in gone if not name.startswith("snapshots/")} == {
        "private/stages/recover/aaaa/survivors.parquet",
        "private/captures/frozen/page",
        "private/sources.json",
    }
    log = out / "private" / "access.log"
    assert len(hash_chain.entries(log)) == 5
    entries = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    assert entries[0]["action"] == "purge private half"
    assert entries[0]["item_id"].startswith("snapshots/demo-2026.07.08/private (")
    assert after.items() - before.items() == {("private/access.log", log.read_bytes())}
    for name in ("demo-2026.07.01", "demo-2026.07.08"):
        report = verify(out / "snapshots" / name)
        assert (report.ok, report.with_private) == (True, False)
    assert verify(out / "snapshots/demo-2026.07.15").with_private
    assert plan_purge(out, BEFORE, None).removals == ()


def test_what_a_rebuild_cannot_make_again_stays(out: Path) -> None:
    kept = (
        "private/pseudonymized/current.json",
        "private/pseudonymized/aaaa/tables/companies.parquet",
        "private/review/rounds.jsonl",
        "private/review/decisions.log",
        "private/logs/20260702T000000Z-1.jsonl",
    )
    for name in (*kept, "private/review/items.jsonl"):
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        os.utime(path, (OLD, OLD))
    (out / "sealed.json").write_text("{}")
    plan = plan_purge(out, BEFORE, None)
    assert ("private/pseudonymized", "sealed: a rebuild starts from these tables") in plan.kept
    carry_out(out, plan)
    assert [name for name in kept if not (out / name).exists()] == []
    assert not (out / "private/review/items.jsonl").exists()
    (out / "sealed.json").unlink()  # with the key, a build makes them again
    carry_out(out, plan_purge(out, BEFORE, None))
    assert [name for name in kept if not (out / name).exists()] == list(kept[:2])


def test_the_date_decides(out: Path) -> None:
    halves = [
        where
        for kind, where in goes(plan_purge(out, date(2026, 7, 8), None))
        if kind is Kind.PRIVATE_HALF
    ]
    assert halves == ["snapshots/demo-2026.07.01/private"]
    assert goes(plan_purge(out, date(2026, 7, 1), None)) == []


def test_the_newest_that_verifies_stays_even_if_a_newer_one_is_damaged(out: Path) -> None:
    (out / "snapshots/demo-2026.07.15/public/LICENSE").write_text("none")
    assert goes(plan_purge(out, BEFORE, None))[:2] == [
        (Kind.PRIVATE_HALF, "snapshots/demo-2026.07.15/private"),
        (Kind.PRIVATE_HALF, "snapshots/demo-2026.07.01/private"),
    ]


def test_what_latest_points_to_stays(out: Path) -> None:
    (out / "snapshots" / "latest").symlink_to("demo-2026.07.01")
    kept = dict(plan_purge(out, BEFORE, None).kept)
    assert kept["snapshots/demo-2026.07.01"] == "`latest` points to it"


def test_links_are_not_followed(out: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.rmtree(out / "snapshots/demo-2026.07.01/private")
    (out / "snapshots/demo-2026.07.01/private").symlink_to(outside)
    (out / "snapshots/demo-2026.07.08/private/link").symlink_to(outside)
    (out / "snapshots/demo-2026.07.09").symlink_to(outside)
    (out / "private/stages/recover/cccc").symlink_to(outside)
    (out / "private/stages/other").symlink_to(outside)
    (out / "private/stages/recover/aaaa/link").symlink_to(outside)
    os.utime(out / "private/stages/recover/aaaa", (OLD, OLD))
    (out / "private/captures/frozen/link").symlink_to(outside / "witness")
    (out / "private/more").symlink_to(outside)
    plan = plan_purge(out, BEFORE, None)
    kept = dict(plan.kept)
    for where in (
        "snapshots/demo-2026.07.01/private",
        "private/stages/recover/cccc",
        "private/stages/other",
        "private/more",
    ):
        assert kept[where] == "a symbolic link is never followed"
    carry_out(out, plan)
    assert (outside / "witness").read_text() == "x"
    assert not (out / "snapshots/demo-2026.07.08/private").exists()
    assert not (out / "private/stages/recover/aaaa").exists()


@pytest.mark.parametrize("store", ["snapshots", "private", "staging"])
def test_a_store_that_is_a_link_is_refused(out: Path, tmp_path: Path, store: str) -> None:
    if (out / store).exists():
        (out / store).rename(tmp_path / "elsewhere")
    (out / store).symlink_to(tmp_path / "outside")
    with pytest.raises(ReleaseError, match=f"{store} is a symbolic link"):
        plan_purge(out, BEFORE, None)


@pytest.mark.parametrize("where", ["../outside", "private/../../outside", "/etc", "", "link/x"])
def test_a_plan_cannot_name_what_lies_outside(out: Path, tmp_path: Path, where: str) -> None:
    (out / "link").symlink_to(tmp_path / "outside")
    for kind in (Kind.STAGE, Kind.PRIVATE_HALF):
        with pytest.raises(ReleaseError, match=r"not a path inside|symbolic link"):
            carry_out(out, Plan((Removal(kind, where, BEFORE, 0, 0),), ()))
    named = Removal(Kind.FILES, "private/captures", BEFORE, 1, 1, (where,))
    with pytest.raises(ReleaseError, match=r"not a path inside|symbolic link"):
        carry_out(out, Plan((named,), ()))
    assert (tmp_path / "outside" / "witness").read_text() == "x"


def test_names_that_are_no_releases_are_left_and_told(out: Path) -> None:
    (out / "snapshots" / "..odd").mkdir()
    odd = out / "snapshots" / "not a release"
    (odd / "private").mkdir(parents=True)
    (odd / "private" / "x").write_text("x")
    kept = dict(plan_purge(out, BEFORE, None).kept)
    assert "cannot be read" in kept["snapshots/not a release"]


def test_what_a_killed_purge_left_goes_with_the_next(out: Path) -> None:
    half = out / "snapshots/demo-2026.07.01/private"
    half.rename(half.with_name(".private.7.part"))
    plan = plan_purge(out, date(2026, 6, 1), None)
    assert goes(plan) == [(Kind.LEFTOVER, "snapshots/demo-2026.07.01/.private.7.part")]
    carry_out(out, plan)
    assert sorted(p.name for p in half.parent.iterdir()) == ["public", "run.json"]


def test_staged_runs_go_by_number_and_date_but_never_the_newest(out: Path, tmp_path: Path) -> None:
    first = stage_run(out, FACTS, stage(tmp_path / "a", "x"))
    second = stage_run(out, LATER, stage(tmp_path / "b", "y"))
    assert goes(plan_purge(out, None, 2)) == []
    assert goes(plan_purge(out, None, 1)) == [(Kind.RUN, f"staging/{first}")]
    tomorrow = date.fromtimestamp(datetime.now(UTC).timestamp() + 2 * 86_400)
    runs = [where for kind, where in goes(plan_purge(out, tomorrow, None)) if kind is Kind.RUN]
    assert runs == [f"staging/{first}"]
    carry_out(out, plan_purge(out, None, 1))
    assert [run.run_id for run in staged_runs(out)] == [second]


def test_replies_are_needed_by_releases_whose_private_half_stays(tmp_path: Path) -> None:
    for weeks, sha256 in enumerate(("a" * 64, "b" * 64)):
        given = train.given(tmp_path, weeks)
        inputs = {"model-replies": sha256, "sessions": "c" * 64}
        build = replace(given.build, inputs=inputs)
        write_snapshot(replace(given, build=build), tmp_path / "snapshots")
    assert replies_needed(tmp_path, Plan((), ())) == {"a" * 64, "b" * 64}
    plan = plan_purge(tmp_path, BEFORE, None)
    assert replies_needed(tmp_path, plan) == {"b" * 64}


def test_corrected_answers_go_with_the_private_half(out: Path) -> None:
    kept, old = (out / f"snapshots/demo-2026.07.{day}.errata" for day in ("15", "01"))
    for path in (kept, old):
        for ending in (".json", ".private.json"):
            path.with_name(path.name + ending).write_text("{}")
    plan = plan_purge(out, BEFORE, None)
    assert (Kind.FILES, f"snapshots/{old.name}.private.json") in goes(plan)
    carry_out(out, plan)
    assert sorted(path.name for path in (out / "snapshots").glob("*.errata*")) == [
        f"{old.name}.json", f"{kept.name}.json", f"{kept.name}.private.json",
    ]  # fmt: skip
