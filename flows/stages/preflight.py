"""The stage that attacks the grader of every candidate before any may be selected."""

from __future__ import annotations

from functools import partial

from construction.grading.gate import GATE, SECTION
from construction.grading.preflight import UNIT, PreflightJob, preflight_shard
from construction.statements.database import DATABASE
from data.canonical import digest
from data.contracts import StageKind
from data.pool import fixture_files, pool_rows
from data.run_store import content_digest
from data.stages import Shard, Stage, Unit
from flows.run import Work
from flows.stages.questions import STATEMENTS
from flows.stages.workflows import WORKFLOWS

POOL_PARTS = (
    "leak-check",
    "question_phrasing",
    WORKFLOWS.name,
)  # the last stage of each lane with candidates
FILE_PARTS = ("package", WORKFLOWS.name)  # the stages that keep input files of candidates
_SHARD_SIZE = 200  # candidates


def _shards(work: Work) -> list[Shard]:
    """Candidates in the order of their ids, some to a shard."""
    rows = pool_rows([part for stage in POOL_PARTS for part in work.folders(stage)])
    files = fixture_files([part for stage in FILE_PARTS for part in work.folders(stage)])
    statements = work.folders(STATEMENTS.name)
    database = statements[0] / DATABASE if statements else None
    made_from = [content_digest(folder) for folder in statements]
    config = getattr(work.run.recipe, SECTION)
    groups = [rows[start : start + _SHARD_SIZE] for start in range(0, len(rows), _SHARD_SIZE)]
    return [
        Shard(
            [made_from, *map(digest, group)],
            partial(preflight_shard, PreflightJob(tuple(group), files, database, config)),
        )
        for group in groups
    ]


PREFLIGHT = Stage(
    name=GATE.stage,
    meaning=GATE.meaning,
    units=(Unit(UNIT, StageKind.FILTER),),
    settings=(SECTION,),
    reads=(*dict.fromkeys((*POOL_PARTS, *FILE_PARTS)), STATEMENTS.name),
    shards=_shards,
)
