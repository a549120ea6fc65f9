"""The table of stages in the docs is that of the pipeline."""

from __future__ import annotations

import pytest

from data.prose_tables import between_markers, markdown_table
from flows.build_snapshot import PIPELINE
from flows.docs_pipeline import NAME, PAGE, stage_table


def test_the_page_has_the_stages_as_they_are() -> None:
    page = PAGE.read_text("utf-8")
    assert between_markers(page, NAME, stage_table()) == page, "run `make docs`"


def test_every_stage_reads_what_comes_before_it() -> None:
    known: set[str] = set()
    for lane in PIPELINE:
        for stage in lane.stages:
            assert set(stage.reads) <= known, stage.name
            known.add(stage.name)


def test_markers_that_are_not_there_are_an_error() -> None:
    with pytest.raises(ValueError, match="markers"):
        between_markers("a page", "stages", "")


def test_a_bar_in_a_cell_is_escaped() -> None:
    assert markdown_table(("a",), [("x|y",)]) == "| a |\n| --- |\n| x\\|y |"
