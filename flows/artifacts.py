"""The funnel as Prefect artifacts, for whoever looks at a run in Prefect's own pages."""

from __future__ import annotations

from pathlib import Path

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from data.staging.audit import Rows, funnel


def publish_funnel(staging: Path) -> None:
    """A table and a markdown artifact of the build's funnel. Counts only, no item ids."""
    rows = funnel(staging)
    create_table_artifact(
        [{k: v for k, v in row.items() if k != "step"} for row in rows], key="funnel"
    )
    create_markdown_artifact(as_markdown(rows), key="funnel-summary")


def as_markdown(rows: Rows) -> str:
    """The funnel as a Markdown table."""
    head = ("stage", "unit", "n_in", "passed", "rejected", "errored", "not_chosen")
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(str(row[name]) for name in head)} |" for row in rows]
    return "\n".join(lines)
