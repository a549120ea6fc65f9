"""Tables and figures of an analysis."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import orjson
import polars as pl
import pytest

from construction.signals.analyse import analyse
from construction.signals.codebook import default_crosswalk, spread
from construction.signals.collect import snapshot_files
from construction.signals.collect.snapshot import _make_snapshot
from construction.signals.config import SignalsConfig
from construction.signals.mixture import _report_data, _SnapshotReport, _table_rows, print_mixture
from construction.signals.weights import coverage_gap, seed_ideas
from data.contracts import Popularity
from data.schemas import SIGNAL_TABLES
from tests.construction.signals.made import bag_of_words, signal

CONFIG = SignalsConfig()
SIGNALS = [
    signal("odd", "Xyzzy plugh", 100),
    signal("mailer", "Read and send emails from the inbox", 600, "Mail"),
    signal("memory", "Persistent memory for AI agents across sessions", 300),
]


@pytest.fixture(scope="module")
def report() -> _SnapshotReport:
    snapshot = _make_snapshot("made", dt.date(2026, 3, 1), Popularity.DOWNLOADS, SIGNALS)
    analysis = analyse(snapshot.signals, CONFIG, encode=bag_of_words)
    crosswalk = default_crosswalk()
    weights = spread(analysis.mixture.weights, crosswalk.signal_to_task).weights
    gap = coverage_gap(weights, {"assurance": 4}, 10, CONFIG.gap)
    seeds = seed_ideas(analysis.mixture, analysis.codebook, crosswalk, CONFIG)
    return _SnapshotReport(snapshot, analysis, crosswalk, seeds, gap)


def test_rows_fit_their_schemas(report: _SnapshotReport) -> None:
    rows = _table_rows(report)
    assert rows.keys() == {table.name for table in SIGNAL_TABLES}
    for table in SIGNAL_TABLES:
        assert all(row.keys() == table.columns.keys() for row in rows[table.name]), table.name
        frame = pl.DataFrame(rows[table.name], schema=table.schema, orient="row")
        assert frame.height == len(rows[table.name]) > 0


def test_a_signal_is_told_by_slug_and_figures(report: _SnapshotReport) -> None:
    rows = {row["slug"]: row for row in _table_rows(report)["signals"]}
    assert rows["mailer"]["pattern"] == "email"
    assert rows["mailer"]["task_family"] == "correspondence"
    assert (rows["memory"]["benchmarkable"], rows["memory"]["task_family"]) == (False, None)
    assert (rows["odd"]["pattern"], rows["odd"]["n_patterns"]) == ("uncategorized", 0)
    assert rows["mailer"]["summary_chars"] == len(SIGNALS[1].summary)


def test_a_main_family_is_sure_from_its_least_share_on(report: _SnapshotReport) -> None:
    for least in (0.0, 0.7, 1.0):
        judged = replace(report, least_share=least)
        rows = _table_rows(judged)["signals"]
        shares = {row["slug"]: 0.0 for row in rows}
        for row in _table_rows(judged)["signal_patterns"]:
            main = next(one["family"] for one in rows if one["slug"] == row["slug"])
            shares[row["slug"]] += row["share"] if row["family"] == main else 0.0
        for row in rows:
            known = row["family"] != "uncategorized" and shares[row["slug"]] >= least
            assert row["sure_family"] == (row["family"] if known else None)
        sure = _report_data(judged)["sure_families"]
        assert sure["signals"] == sum(row["sure_family"] is not None for row in rows)


def test_the_change_is_printed_with_families_that_vanished(
    report: _SnapshotReport, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = _report_data(report)
    rows = [{"name": "gone", "before": 0.1, "after": 0.0, "points": -10.0}]
    change = {"before": "2026-02-01", "families": rows}
    moved = {"drift": {"new": [], "gone": [{"slug": "a", "mass": 1}]}, "history": [{}, {}]}
    print_mixture(figures | moved | {"change": change})
    lines = capsys.readouterr().out.splitlines()
    assert any("since 2026-02-01" in line for line in lines)
    assert "2 days of history; since 2026-02-01, 0 skills new and 1 skill gone" in lines
    assert any(line.split() == ["gone", "0.0", "%", "-10.0", "points"] for line in lines)


def test_evidence_travels_with_each_share(report: _SnapshotReport) -> None:
    row = next(row for row in _table_rows(report)["signal_patterns"] if row["pattern"] == "email")
    hits = orjson.loads(row["hits"])
    summary = SIGNALS[1].summary
    places = {summary[hit["start"] : hit["end"]] for hit in hits if hit["field"] == "summary"}
    assert "inbox" in places


def test_each_layer_sums_to_one(report: _SnapshotReport) -> None:
    rows = _table_rows(report)["weights"]
    for layer in ("signal", "task", "display"):
        weights = [row["weight"] for row in rows if row["layer"] == layer]
        assert sum(weights) == pytest.approx(1.0)
    gap = next(row for row in rows if row["family"] == "correspondence")
    assert (gap["tasks"], gap["suggested"], gap["action"]) == (0, 7, "PRIORITY")


def test_no_text_of_the_registry_is_told(report: _SnapshotReport) -> None:
    pages = orjson.dumps([_table_rows(report), _report_data(report)], default=str).decode()
    assert all(one.summary not in pages for one in SIGNALS)


def test_the_report_names_what_it_counted(report: _SnapshotReport) -> None:
    data = orjson.loads(orjson.dumps(_report_data(report), default=str))
    assert (data["measure"], data["counting"], data["total_mass"]) == (
        "downloads",
        "fractional",
        1000.0,
    )
    assert (data["uncategorized"], data["uncategorized_share"]) == (["odd"], 0.1)
    assert data["meta_share"] == pytest.approx(0.3)
    assert data["gap"]["rows"][0]["action"] == "PRIORITY"
    assert data["seeds"][0]["pattern"] == "email"


def test_folders_of_snapshots_are_their_files_by_name(tmp_path: Path) -> None:
    for name in ("b-2026-01-02.csv", "a-2026-01-01.csv"):
        (tmp_path / name).touch()
    (tmp_path / "below").mkdir()
    given = [tmp_path, tmp_path / "a-2026-01-01.csv"]
    actual = [path.name for path in snapshot_files(given, "made")]
    assert actual == ["a-2026-01-01.csv", "b-2026-01-02.csv", "a-2026-01-01.csv"]
