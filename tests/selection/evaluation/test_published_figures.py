"""Figures that papers print come out of our measures as they are printed."""

from __future__ import annotations

import pytest

from benchmarks import published_figures as figures


def test_overall_accuracies_of_data_claw_bench_follow_from_its_categories() -> None:
    rows = [row for row in figures.data_claw_bench() if row["measure"] == "acc"]
    assert len(rows) == 8
    for row in rows:
        assert 100 * row["computed"] == pytest.approx(100 * row["printed"], abs=0.15)


def test_table_2_of_enterprise_claw_bench_is_text_and_visual_scores_weighted() -> None:
    rows = figures.enterprise_claw_bench()
    assert len(rows) == 4
    assert [round(row["computed"], 3) for row in rows] == [row["printed"] for row in rows]


def test_z_of_fin_retrieval_and_its_wald_intervals() -> None:
    first, second = figures.fin_retrieval()
    assert first["z"] == pytest.approx(first["printed"], abs=0.1)
    assert second["z"] == pytest.approx(second["printed"], abs=0.1)
    assert first["Wald"] == "88.3 to 93.3; 16.3 to 23.3"


@pytest.mark.skipif(not figures.CLAW_MATRIX.is_file(), reason="the matrix of scores is not here")
def test_slices_of_claw_eval_live() -> None:
    assert figures.slices() == figures.PRINTED["claw_eval_live"]["slices"]
    passed = {row["model"]: row["passed"] for row in figures.claw_eval_live()}
    assert (passed["claude_opus"], passed["grok_420"]) == (70, 26)
