"""`agents judge`: from open parts to scores, recorded and replayed, with packets for people."""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl
import orjson
import polars as pl
import pytest

from data.errors import InputError
from data.releases.tasks import read_tasks
from flows.evaluate.grading import ClosedOffStopped
from flows.evaluate.judging import private_of_build
from tests.flows.judge_attempts import (
    LONG,
    attempted,
    attempts,
    judged,
    run,
    snapshot,
)
from tests.flows.judge_server import judging
from tests.needs import skip_without_box

__all__ = ["attempts", "snapshot"]  # fixtures

skip_without_box()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """What the build keeps private, in whose `out` the release lies."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "release.key").write_text("5a" * 32)
    return folder


@pytest.mark.usefixtures("vault")  # the judge runs beside what it cannot read
def test_open_parts_are_scored_and_a_replay_asks_nobody_and_writes_the_same_bytes(
    snapshot: Path, attempts: Path
) -> None:
    """What was not delivered is worth nothing."""
    with judging() as (url, requests):
        said = judged(attempts, snapshot, url)
    assert "2 attempts judged, 1 with nothing to judge" in said
    assert len(requests) == 6  # three of each
    scores = pl.read_parquet(attempts / "scores" / "scores.parquet").sort("task_id")
    assert scores["overall"].to_list() == [1.0, 0.5, 0.0]
    assert scores["passed"].to_list() == [True, False, False]
    assert set(scores["judge"]) == {"model:fake-1"}
    parts = pl.read_parquet(attempts / "scores" / "score_parts.parquet")
    first = parts.filter(attempt_id=scores["attempt_id"][0]).row(0, named=True)
    detail = orjson.loads(first["detail"])
    assert (detail["judge"], detail["quotes"]) == ("model:fake-1", [LONG[:40]])
    tables = attempts / "scores"
    before = {path.name: path.read_bytes() for path in tables.glob("*.parquet")}
    judged(attempts, snapshot, "http://127.0.0.1:9/v1", "--mode", "replay")
    assert {path.name: path.read_bytes() for path in tables.glob("*.parquet")} == before


def test_a_judge_that_runs_elsewhere_sees_a_guarded_release_only(
    snapshot: Path, attempts: Path
) -> None:
    with pytest.raises(InputError, match="expected a pool that passed the leak scan"):
        judged(attempts, snapshot, "https://judge.example/v1")


def test_the_judge_cannot_read_what_the_build_keeps_private(
    snapshot: Path, attempts: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert private_of_build(snapshot) == (vault,)
    with judging() as (url, requests):
        monkeypatch.setattr("flows.evaluate.grading._covers", lambda hidden: [])
        with pytest.raises(ClosedOffStopped, match=r"private can be read where models run"):
            judged(attempts, snapshot, url)
    assert requests == []


@pytest.mark.parametrize("ending", ["csv", pytest.param("xlsx", marks=pytest.mark.slow)])
def test_packets_go_to_people_and_back(
    snapshot: Path, attempts: Path, tmp_path: Path, ending: str
) -> None:
    sheet, home = tmp_path / f"sheet.{ending}", attempts / "judging"
    with judging() as (url, _):
        said = judged(attempts, snapshot, url, "--packets", 5)
    assert "4 criteria for people, 4 of them new" in said
    run("export", sheet, "--out", home)
    rows = rows_of(sheet)
    assert [row[3] for row in rows] == [""] * 4
    assert sum(LONG in row[2] for row in rows) == 2
    decisions = {True: ["met", "partly"], False: ["partly", "partly"]}  # ids give the order
    filled(sheet, [decisions[LONG in row[2]].pop(0) for row in rows])
    assert "4 decisions recorded" in run("import", sheet, "--reviewer", "Ann", "--out", home)
    said = judged(attempts, snapshot, "http://127.0.0.1:9/v1", "--mode", "replay")
    assert "judge and people on 4 criteria: mean error 0.125" in said
    assert "if judged by people: undefined" in said  # nothing was judged by the judge alone


def rows_of(sheet: Path) -> list[list[str]]:
    """The rows below the head, empty cells as empty texts."""
    if sheet.suffix == ".xlsx":
        cells = openpyxl.load_workbook(sheet).worksheets[0].iter_rows(min_row=2, values_only=True)
        return [[str(cell or "") for cell in row] for row in cells]
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))[1:]


def filled(sheet: Path, decisions: list[str]) -> None:
    if sheet.suffix == ".xlsx":
        book = openpyxl.load_workbook(sheet)
        page = book.worksheets[0]
        column = [cell.value for cell in page[1]].index("decision") + 1
        for line, decision in enumerate(decisions, start=2):
            page.cell(line, column, decision)
        book.save(sheet)
        return
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        head, *rows = list(csv.reader(file))
    for row, decision in zip(rows, decisions, strict=True):
        row[head.index("decision")] = decision
    with sheet.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def test_attempts_inside_the_release_are_refused_before_anything_is_written(snapshot: Path) -> None:
    inside = snapshot / "public" / "attempts"
    attempted(inside, read_tasks(snapshot), [LONG])
    before = sorted(snapshot.rglob("*"))
    with pytest.raises(InputError, match="a folder in the snapshot"):
        run("judge", inside, "--snapshot", snapshot, "--model", "m", "--out", snapshot.parent / "t")
    assert sorted(snapshot.rglob("*")) == before
