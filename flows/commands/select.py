"""`benchmint select`: the subset of a score matrix, or why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import Field, model_validator

from data.errors import InputError
from flows.configuration import load_section
from selection.config import Objective, SelectionConfig
from selection.output import check_selection, write_selection
from selection.pool import pool_of_matrix
from selection.scores import read_scores
from selection.select import select_subset

_OF_CANDIDATES = frozenset({"lane_shares", "difficulty_shares", "max_changed"})


class MatrixSelection(SelectionConfig):
    """`[selection]` for a score matrix, whose items have no lane, difficulty or last release.

    `max_tasks`, as a build calls the size, is the size where no other is given.
    """

    max_tasks: Annotated[int, Field(gt=0)] | None = Field(default=None, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _of_matrix(cls, section: dict[str, Any]) -> dict[str, Any]:
        values = {name: value for name, value in section.items() if name not in _OF_CANDIDATES}
        if "max_tasks" in values:
            values.setdefault("size", values["max_tasks"])
        return values


def command(
    scores: Annotated[
        Path | None, typer.Argument(help="item,family,model,score[,cost]: CSV or Parquet.")
    ] = None,
    size: Annotated[int | None, typer.Option(min=1, help="How many items to choose.")] = None,
    objective: Annotated[Objective | None, typer.Option(help="What to maximise.")] = None,
    pilots: Annotated[str | None, typer.Option(help="Models, best first: a,b,c.")] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Pass mark that tells pilots apart.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration with [selection].")] = None,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("selected"),
    quality: Annotated[
        bool, typer.Option(help="Measure the subset's quality against the full pool.")
    ] = True,
    check: Annotated[
        Path | None, typer.Option(help="Recompute a written selection, without a solver.")
    ] = None,
) -> None:
    """Write selection.json, or print the blockers, write blockers.json and exit 1."""
    if check is not None:
        _check(check)
    if scores is None:
        raise InputError("select", "no scores", "a score matrix", "Name one, or use --check.")
    given: dict[str, Any] = {
        "size": size,
        "objective": objective,
        "pilots": tuple(pilots.split(",")) if pilots else None,
        "selection_threshold": threshold,
    }
    overrides = {name: value for name, value in given.items() if value is not None}
    settings = load_section(MatrixSelection, "selection", config, overrides)
    matrix, findings = read_scores(scores)
    for finding in findings:
        print(f"{finding.level}: {finding.code}: {finding.subject}: {finding.detail}")
    pool = pool_of_matrix(matrix, settings)
    selected = select_subset(pool, settings)
    write_selection(out, pool, settings, selected)
    if selected.chosen is None:
        for blocker in selected.blockers:
            print(f"blocked: {blocker.text}. Way out: {blocker.relaxation}.")
        raise typer.Exit(1)
    solution = selected.solution
    if quality and solution.chosen is not None and len(pool.pilots) > 1:
        # SciPy's statistics take a second to import: other commands do not wait for them.
        from selection.quality import measure_quality
        from selection.quality_report import write_quality

        measured = measure_quality(pool, settings, selected.programme, solution.chosen)
        write_quality(out, measured)
    print(
        f"{len(selected.chosen)} of {len(matrix.items)} items in {out}: objective "
        f"{solution.objective}, bound {solution.bound}, {solution.solver}, {solution.method}"
    )


def _check(folder: Path) -> None:
    disagreements = check_selection(folder)
    print("\n".join(disagreements) or f"{folder}: objective and every row hold")
    raise typer.Exit(1 if disagreements else 0)
