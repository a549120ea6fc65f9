"""Every notebook runs on the built demo and tells what the build told."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from data.errors import InputError
from notebooks.workspace import (
    VARIABLE,
    audit_file,
    bars,
    board_table,
    lines,
    listing,
    paragraph,
    query,
    shown,
    workspace,
)
from selection.evaluation.board import board
from selection.evaluation.leaderboard_page import write_board, write_frame
from selection.evaluation.measures import pairs_table, task_table
from tests.conftest import REPO
from tests.demo import Demo
from tests.selection.evaluation.test_board import TASKS, tables

HOSTILE = '<script>alert("x")</script>\x1b[31m'
_PARAGRAPH = re.compile(r'<span class="paragraph">(.*?)</span>', re.DOTALL)
NOTEBOOKS = sorted(
    path.stem
    for path in (Path(__file__).parents[2] / "notebooks").glob("*.py")
    if path.stem not in ("__init__", "workspace")
)


def run(name: str, out: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, Any]]:
    """What a notebook shows, as markup, and what its cells defined."""
    monkeypatch.setenv(VARIABLE, os.fspath(out))
    outputs, defined = importlib.import_module(f"notebooks.{name}").app.run()
    shown_parts = (getattr(output, "text", "") for output in outputs)
    return "\n".join(shown_parts), dict(defined)


def test_the_docs_list_every_notebook() -> None:
    listed = (REPO / "docs/index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", listed, re.MULTILINE)) == set(NOTEBOOKS)


def test_there_is_one_for_each_question() -> None:
    assert NOTEBOOKS == [
        "analytics_noise",
        "funnel_overlaps",
        "leaderboard_reading",
        "privacy_frontier",
        "rejection_audit",
        "sampling_inclusion",
        "selection_quality",
        "signals_mixture",
    ]


def test_without_a_build_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, os.fspath(tmp_path))
    with pytest.raises(InputError, match=r"no staging\.duckdb; expected a built workspace"):
        workspace()


def test_names_become_text_not_markup() -> None:
    for picture in (
        bars([(HOSTILE, 1.0, HOSTILE)], HOSTILE),
        lines({HOSTILE: [0.5, None, 1.0]}, [HOSTILE, "b", "c"], HOSTILE),
    ):
        assert "<script" not in picture
        assert "\x1b" not in picture
        assert "&lt;script&gt;" in picture
    assert shown(pl.DataFrame({"a": ["x\ny\x1b"], "n": [1]})).row(0) == ("x y⟨U+001B⟩", 1)


def test_a_listing_has_no_markup_and_four_digits() -> None:
    result = listing(pl.DataFrame({"a": [HOSTILE], "n": [0.0003521291975397282]}), "None.").text
    assert "<script" not in result and "\x1b" not in result
    assert "0.0003521" in result and "0.00035212" not in result
    assert "<script" not in paragraph(HOSTILE)
    assert "None." in listing(pl.DataFrame({"a": []}), "None.").text


def test_bars_and_lines_of_nothing_are_empty_pictures() -> None:
    assert "<rect" not in bars([], "none")
    assert "<circle" not in lines({}, [], "none")
    assert 'width="0.0"' in bars([("a", 0.0, "0")], "zero")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if name != "leaderboard_reading"])
def test_tables_have_a_picture_and_words_that_say_how_to_read_them(
    demo: Demo, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text, _ = run(name, demo.out, monkeypatch)
    assert "<svg" in text
    assert len(words(text)) >= 80


def words(markup: str) -> list[str]:
    """The words of the paragraphs, without tables and pictures."""
    return re.sub(r"<[^>]*>", " ", " ".join(_PARAGRAPH.findall(markup))).split()


@pytest.mark.slow
def test_the_funnel_is_that_of_the_release(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    text, defined = run("funnel_overlaps", demo.out, monkeypatch)
    result = {
        (row["stage"], row["unit"]): row["n_in"]
        for row in audit_file(demo.out, "funnel.json")["stages"]
    }
    funnel = defined["funnel"]
    assert dict(zip(funnel["stage", "unit"].rows(), funnel["n_in"], strict=True)) == result
    assert set(defined["steps"]["unit"]) == {"instance"}
    assert "<svg" in text and "masking" in text
    lost = funnel["rejected"].sum() + funnel["errored"].sum()
    assert defined["reasons"]["units"].sum() == lost


@pytest.mark.slow
def test_a_rejection_leads_to_its_measurements(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    _, defined = run("rejection_audit", demo.out, monkeypatch)
    reason, units = defined["reason"], defined["units"]
    assert reason["gate"] is not None  # gates stand before what could not be read
    assert units["n"].sum() == reason["units"]
    failed = defined["verdicts"].filter(pl.col("status") == "failed")
    assert failed["gate"].to_list() == [reason["gate"]]
    assert failed["reason"].to_list() == [reason["reason"]]
    descent = {*defined["descent"]["child"], *defined["descent"]["parent"]}
    assert defined["item"] in descent or reason["stage"] == "analytics"  # made from templates


@pytest.mark.slow
def test_the_mixture_has_a_past_and_sums_to_one(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, defined = run("signals_mixture", demo.out, monkeypatch)
    assert defined["dates"] == ["2025-12-01", "2026-01-01"]
    assert sum(weight for _, weight in defined["newest"]) == pytest.approx(1, abs=1e-6)
    assert len(defined["series"]) == 6
    assert all(None not in weights for weights in defined["series"].values())
    assert "polyline" in text
    assert defined["skills"].height == defined["patterns"]["signals"][0]
    result = audit_file(demo.out, "selection.json")["coverage_gap"]
    assert defined["gap"]["family"].to_list() == [row["family"] for row in result["rows"]]
    assert sum(defined["gap"]["market_percent"]) == pytest.approx(100, abs=1e-4)


@pytest.mark.slow
def test_inclusion_probabilities_estimate_the_population(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, defined = run("sampling_inclusion", demo.out, monkeypatch)
    drawn, population = defined["drawn"], defined["population"]
    assert drawn["pi_design"].is_between(0, 1, closed="right").all()
    assert (
        population
        == query(demo.out, "SELECT passed FROM funnel WHERE stage = 'filter_points'").item()
    )
    assert population / 2 < defined["estimate"] < population * 2
    assert 1 <= defined["effective"] <= drawn.height
    assert defined["by_category"]["questions"].sum() == drawn.height
    assert defined["decades"]["len"].sum() == drawn.height


@pytest.mark.slow
def test_the_selection_is_held_against_market_and_pool(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, defined = run("selection_quality", demo.out, monkeypatch)
    result = audit_file(demo.out, "selection.json")
    assert sorted(defined["chosen"]["task_id"]) == sorted(result["chosen"])
    assert defined["families"]["chosen"].sum() == len(result["chosen"])
    assert defined["families"]["pool"].sum() == result["pool"]
    assert 0 <= defined["off"] <= 1
    assert defined["constraints"].height == len(result["rows"])


@pytest.mark.slow
def test_masking_is_told_by_kind(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    text, defined = run("privacy_frontier", demo.out, monkeypatch)
    assert defined["spans"]["spans"].sum() == sum(defined["counts"].values()) > 0
    assert "Private values replaced" in text


@pytest.mark.slow
def test_risk_and_fidelity_of_a_table_with_a_hostile_name(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = tmp_path / "snapshots" / "latest" / "public" / "audit"
    audit.mkdir(parents=True)
    (tmp_path / "staging.duckdb").symlink_to(demo.out / "staging.duckdb")
    report = {"tables": {"tables": {HOSTILE: table_report()}}}
    (audit / "privacy.json").write_bytes(orjson.dumps(report))
    text, defined = run("privacy_frontier", tmp_path, monkeypatch)
    assert "<script" not in text and "\x1b" not in text
    assert [(row.label, row.rate) for row in defined["rates"]] == [("history", 0.3)]
    assert 'class="above"' in text  # 0.3 is beyond the limit of 0.2
    (plot,) = defined["scatters"]
    assert [(dot.label, dot.kept, dot.risk, dot.own) for dot in plot.dots] == [
        ("as configured", 0.9, 0.3, True),
        ("rank_swap 0.5", 0.0, 0.1, False),
    ]
    assert (plot.least_kept, plot.most_risk) == (0.94, 0.2)
    assert defined["fidelity"]["column"].to_list() == ["revenue"]


def table_report() -> dict[str, Any]:
    """The part of `privacy.json` on one table: three attacks, one with too many columns."""
    return {
        "statement": f"History: 30 % found. {HOSTILE}",
        "fidelity": {"by_column": [{"column": "revenue", "group": "(all)", "spearman": 0.9}]},
        "attacks": [attack(0.3, 2), attack(0.1, 1), attack(0.9, 5)],
        "limits": {
            "columns": 3, "one_company": 0.2, "whole_industry": 0.2, "history": 0.2, "largest": 0.5
        },
        "utility_limits": {"min_spearman": 0.94},
        "frontier": [setting("as configured", 0.9, 0.3), setting("rank_swap 0.5", -0.1, 0.1)],
    }  # fmt: skip


def attack(rate: float, columns: int) -> dict[str, Any]:
    return {
        "risk": "history",
        "columns": ["revenue"] * columns,
        "rate": rate,
        "ci_low": rate / 2,
        "ci_high": min(1.0, rate * 2),
        "chance": 0.02,
    }


def setting(name: str, spearman: float, rate: float) -> dict[str, Any]:
    return {
        "setting": name,
        "utility": {"spearman": spearman},
        "risks": {"history": {"rate": rate}},
    }


@pytest.mark.slow
def test_noise_is_that_of_the_tasks_of_the_pool(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, defined = run("analytics_noise", demo.out, monkeypatch)
    passed = query(demo.out, "SELECT passed FROM funnel WHERE stage = 'analytics'").item()
    assert defined["by_difficulty"]["tasks"].sum() == defined["report"]["tasks"] == passed
    assert dict(defined["counts"]) == defined["report"]["noise"]
    rejected = query(demo.out, "SELECT rejected FROM funnel WHERE stage = 'analytics'").item()
    assert defined["rejected"]["candidates"].sum() == rejected
    assert (defined["quota"]["reached"] >= defined["quota"]["wanted"]).all()
    assert "Tasks, by kind of noise" in text


def test_a_board_is_read_and_its_agents_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts, scores = tables(1)
    made = board(attempts, scores, TASKS)
    write_board(made, "demo", tmp_path, [])
    write_frame(pairs_table(made.differences), tmp_path / "pairs")
    write_frame(task_table(scores, TASKS), tmp_path / "tasks")
    monkeypatch.setenv("BENCHMINT_LEADERBOARD", os.fspath(tmp_path))
    outputs, defined = importlib.import_module("notebooks.leaderboard_reading").app.run()
    text = "\n".join(getattr(output, "text", "") for output in outputs)
    assert "<script>alert" not in text
    assert defined["rows"]["configuration"][0] == "strong"
    assert dict(defined["groups"].iter_rows()) == {1: 1, 2: 2}
    assert set(defined["separated"]["first"]) | set(defined["separated"]["second"]) >= {"strong"}
    assert defined["hardest"].height == 20
    assert defined["hardest"]["pass_share"].max() <= 1 / 3 + 1e-9


def test_without_a_board_the_notebook_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHMINT_LEADERBOARD", os.fspath(tmp_path))
    with pytest.raises(InputError, match="no leaderboard"):
        board_table(None, "leaderboard")
