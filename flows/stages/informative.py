"""The stage that rejects candidates on which no two pilots differ."""

from __future__ import annotations

from pathlib import Path

from data.canonical import file_digest
from data.contracts import StageKind
from data.pool import read_pool
from data.stages import Stage, Unit
from flows.run import Work
from flows.stages.preflight import PREFLIGHT
from selection.pilots import GATE, UNIT, read_passes, write_informative
from selection.scores import ScoreMatrix, read_scores


def pilot_scores(work: Work) -> ScoreMatrix | None:
    """The scores of pilots that the build was given."""
    path = work.run.runtime.scores
    return read_scores(path)[0] if path else None


def pilot_passes(work: Work) -> dict[str, list[float]]:
    """The rates at which real agents passed, by task; none without pilots."""
    path = work.run.runtime.scores
    return read_passes(path) if path else {}


def scores_input(work: Work) -> dict[str, str]:
    """The digest of the pilots' scores, by its name in the manifest."""
    path = work.run.runtime.scores
    return {"scores": file_digest(path)} if path else {}


def _write(work: Work, out: Path) -> None:
    candidates = read_pool(work.folders(PREFLIGHT.name)).candidates
    write_informative(candidates, pilot_scores(work), work.run.recipe.selection, out)


INFORMATIVE = Stage(
    name=GATE.stage,
    meaning=GATE.meaning,
    units=(Unit(UNIT, StageKind.FILTER),),
    settings=("selection.pilot_threshold", "selection.pilots"),
    reads=(PREFLIGHT.name,),
    inputs=scores_input,
    compute=_write,
    is_cheap=True,
)
