"""The table of stages in `docs/architecture.md`, made from the pipeline's records.

python -m flows.docs_pipeline
"""

from __future__ import annotations

from collections.abc import Iterator

from data.atomic import write_bytes
from data.prose_tables import between_markers, markdown_table
from data.stages import Lane, Stage
from flows import ROOT
from flows.build_snapshot import PIPELINE
from flows.run import Run

PAGE = ROOT / "docs" / "architecture.md"
NAME = "stages"
_HEAD = ("lane", "stage", "question", "counts", "settings", "reads")


def stage_table() -> str:
    """One row per stage, in the order of the pipeline."""
    rows = [row for lane in PIPELINE for row in _rows(lane)]
    return markdown_table(_HEAD, rows)


def _rows(lane: Lane[Run]) -> Iterator[tuple[str, ...]]:
    for stage in lane.stages:
        counts = ", ".join(f"{unit.name} ({unit.kind})" for unit in stage.units)
        settings = ", ".join(f"`{name}`" for name in _sections(stage))
        yield lane.name, stage.name, stage.meaning, counts, settings, ", ".join(stage.reads)


def _sections(stage: Stage[Run]) -> list[str]:
    """The sections of the recipe, without the keys inside them."""
    return list(dict.fromkeys(path.partition(".")[0] for path in stage.settings))


def main() -> None:
    """Write the table into the page."""
    page = PAGE.read_text("utf-8")
    write_bytes(PAGE, between_markers(page, NAME, stage_table()).encode())


if __name__ == "__main__":
    main()
