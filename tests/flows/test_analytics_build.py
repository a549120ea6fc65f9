"""The analytics lane in a build: files once, gold that can be run anew, refusals in the ledger."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from benchmarks.analytics_reading import (
    draw,
    gold_of,
    write_answers,
    write_computing,
    write_reading,
)
from construction.analytics.task_files import read_analytics, read_released, submission_of
from construction.grading.grade import grade
from construction.grading.spec import spec_of
from data.demo.generate import DECLARATION, ENVIRONMENT, FROZEN
from data.releases.tasks import read_tasks
from data.snapshot.tasks import from_line
from data.staging.database import open_read_only
from tests.flows.command import inline, inline_build

pytestmark = pytest.mark.slow(seconds=2)


@pytest.fixture(scope="module")
def demo() -> Path:
    return FROZEN / ENVIRONMENT / DECLARATION


@pytest.fixture(scope="module")
def out(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analytics") / "out"
    result = inline_build("--environment", str(demo), "--out", str(folder), "--quiet")
    assert result.returncode == 0, result.stderr
    return folder


def snapshot(out: Path) -> Path:
    return (out / "snapshots/latest").resolve()


def test_the_files_of_an_environment_are_stored_once(out: Path) -> None:
    public = snapshot(out) / "public"
    lines = (public / "tasks.jsonl").read_text().splitlines()
    tasks = [from_line(json.loads(line)) for line in lines]
    assert len(tasks) >= 20
    assert not list(public.glob("tasks/*/inputs"))
    files = {f["path"]: f["sha256"] for f in tasks[0]["fixtures"]}
    assert all({f["path"]: f["sha256"] for f in t["fixtures"]} == files for t in tasks)
    stored = [path for path in (public / "environments/demo").rglob("*") if path.is_file()]
    assert {path.relative_to(public / "environments/demo").as_posix() for path in stored} == set(
        files
    )
    manifest = json.loads((public / "manifest.json").read_text())
    assert manifest["counts"]["fixtures"] == len(stored)
    assert manifest["counts"]["fixture_bytes"] == sum(path.stat().st_size for path in stored)
    assert inline("verify", str(snapshot(out))).returncode == 0


def test_the_public_half_holds_no_original_and_no_programme(out: Path, demo: Path) -> None:
    accounts = pl.read_csv(demo.parent / "enterprise/annual_accounts.csv", infer_schema=False)
    originals = set(accounts["name"]) | set(accounts["reg_no"])
    public = snapshot(out) / "public"
    for path in (public / "environments").rglob("*.csv"):
        text = path.read_text()
        assert not [name for name in originals if name in text], path.name
    row = json.loads((public / "tasks.jsonl").read_text().splitlines()[0])
    assert not {"steps", "answers", "milestones"} & row.keys()
    assert row["tools"] == '["shell"]'


def test_lint_and_oracle_walk_the_steps_on_the_released_files(out: Path) -> None:
    result = inline("lint", str(snapshot(out)))
    assert result.returncode == 0, result.stdout
    release = read_tasks(snapshot(out))
    tasks = read_analytics(release)
    tables = read_released(release, "demo").tables
    for task in tasks:
        spec = spec_of(release.grading(task.task_id))
        score = grade(spec, submission_of(task.program, task.parts, tables), threshold=0.8)
        assert score.passed, task.task_id
        assert score.overall == 1


def test_lint_names_a_gold_that_the_files_do_not_give(out: Path, tmp_path: Path) -> None:
    copy = tmp_path / "snapshot"
    shutil.copytree(snapshot(out), copy)
    path = next((copy / "public/environments/demo/enterprise").glob("*accounts.csv"))
    rows = path.read_text().replace(",2021-", ",2020-")
    path.write_text(rows)
    result = inline("lint", str(copy))
    assert result.returncode != 0
    assert "a file that differs from the released one" in result.stderr


def test_a_refused_environment_stands_in_the_ledger_and_leaves_nothing(
    demo: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "given"
    shutil.copytree(demo.parent, folder)
    strict = folder / demo.name
    strict.write_text(strict.read_text().replace("history = 1.0", "history = 0.1"))
    result = inline_build("--environment", str(strict), "--out", str(tmp_path / "out"))
    assert result.returncode == 1
    with open_read_only(tmp_path / "out/staging.duckdb", every_run=True) as staging:
        rows = staging.execute(
            "select item_id, outcome, reason from ledger where stage = 'environment'"
        ).fetchall()
    assert ("environments/demo/accounts", "rejected", "risk.above_limit") in rows
    assert Counter(outcome for _, outcome, _ in rows)["rejected"] == 1
    assert not (tmp_path / "out/snapshots/latest").exists()


def test_files_of_questions_are_refused(demo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "edinet"
    folder.mkdir()
    shutil.copyfile(demo.parent / "enterprise/register.csv", folder / "register.csv")
    shutil.copyfile(folder / "register.csv", folder / "edinet_summaries_2021.jsonl.gz")
    result = inline_build(
        "--environment", str(demo), "--edinet", str(folder), "--out", str(tmp_path / "out")
    )
    assert result.returncode != 0
    assert "expected each source in only one lane" in result.stderr


def test_readers_get_questions_and_files_but_no_step_and_no_answer(
    out: Path, tmp_path: Path
) -> None:
    release = read_tasks(snapshot(out))
    tasks = read_analytics(release)
    drawn = draw(tasks, release.digest, 10)
    assert drawn == draw(list(reversed(tasks)), release.digest, 10)
    assert drawn != draw(tasks, "0" * 64, 10)
    write_reading(release, drawn, tmp_path / "reading")
    write_answers(release, drawn, tmp_path / "answers")
    write_computing(release, drawn[:4], tmp_path / "computing")
    pages = [path.read_text() for path in sorted((tmp_path / "computing/tasks").glob("*.md"))]
    read = [path.read_text() for path in sorted((tmp_path / "reading/tasks").glob("*.md"))]
    assert (len(pages), len(read)) == (4, 10)
    for page, whole, task in zip(pages, read, drawn, strict=False):
        assert whole == f"{page}\n## Gold\n\n{gold_of(task)}\n"
    for page, task in zip(pages, drawn, strict=False):
        candidate = release.tasks[task.task_id].candidate
        assert page.splitlines()[2:] == [
            *candidate.prompt.splitlines(), "", "## Guidelines", "", *task.guidelines.splitlines()
        ]  # fmt: skip
    given = {path.name for path in (tmp_path / "reading").rglob("*") if path.is_file()}
    assert {"RULES.md", "SCHEMA.md", "sheet.csv", "accounts.csv", "annual_accounts.csv"} <= given
    answers = (tmp_path / "answers/answers.jsonl").read_text().splitlines()
    assert [json.loads(line)["task_id"] for line in answers] == [task.task_id for task in drawn]
    assert (tmp_path / "answers/answers.jsonl").stat().st_mode & 0o077 == 0


def test_after_sealing_a_build_starts_at_the_files_that_were_kept(
    out: Path, demo: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "out"
    shutil.copytree(out, copy, symlinks=True)
    assert inline("privacy", "seal", str(copy), "--yes").returncode == 0
    command = ("--environment", str(demo), "--out", str(copy), "--quiet", "--revision")
    result = inline_build(*command)
    assert result.returncode == 0, result.stderr
    first, second = snapshot(out), snapshot(copy)
    assert second.name == f"{first.name}-r2"
    for path in (first / "public/environments").rglob("*.csv"):
        again = second / path.relative_to(first)
        assert again.read_bytes() == path.read_bytes(), path.name
    privacy = [json.loads((s / "public/audit/privacy.json").read_text()) for s in (first, second)]
    starts = [report["environments"]["demo"]["starts_at"] for report in privacy]
    assert starts == ["originals", "pseudonymized tables"]
    changed = tmp_path / "changed"
    shutil.copytree(demo.parent, changed)
    other = changed / demo.name
    other.write_text(other.read_text().replace("strength = 0.15", "strength = 0.14"))
    result = inline_build("--environment", str(other), "--out", str(copy), "--quiet")
    assert "sealed, and the environment changed since" in result.stderr


def test_a_second_environment_is_refused(demo: Path, tmp_path: Path) -> None:
    twice = ("--environment", str(demo), "--environment", str(demo))
    result = inline_build(*twice, "--out", str(tmp_path / "out"))
    assert result.returncode != 0
    assert "found a second environment; expected one environment per release" in result.stderr
