"""The stage that attacks the grader of every candidate before any may be selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import orjson

from construction.analytics.annotation import STAGE as ANNOTATION
from construction.analytics.contracts import STAGE as ANALYTICS
from construction.analytics.task_files import walker_of
from construction.grading.preflight import GATE, SECTION, UNIT, PreflightJob, preflight_shard
from construction.repositories.rubrics import STAGE as RUBRICS
from construction.repositories.stages import REQUEST as REPOSITORIES
from construction.statements.database import DATABASE
from data.canonical import digest
from data.contracts import StageKind
from data.pool import fixture_files, pool_rows
from data.run_store import content_digest
from data.stages import Shard, Stage, Unit
from flows.run import Work
from flows.stages.questions import STATEMENTS
from flows.stages.workflows import WORKFLOWS

# The stages that leave candidates (of one lane the last that ran counts), and their input files.
POOL_PARTS = (
    ("leak-check",),
    ("question_phrasing",),
    (ANNOTATION, ANALYTICS),
    (WORKFLOWS.name,),
    (REPOSITORIES,),
    (RUBRICS,),
)
FILES = ("package", ANALYTICS, WORKFLOWS.name, REPOSITORIES)
_SHARD_SIZE = 200  # candidates


def _shards(work: Work) -> list[Shard]:
    """Candidates in the order of their ids, some to a shard."""
    last = [next(filter(None, map(work.folders, lane)), ()) for lane in POOL_PARTS]
    rows = pool_rows([part for folders in last for part in folders])
    files = fixture_files([part for stage in FILES for part in work.folders(stage)])
    statements = work.folders(STATEMENTS.name)
    database = statements[0] / DATABASE if statements else None
    environments = work.folders(ANALYTICS)
    analytic = next((partial(walker_of, folder) for folder in environments), None)
    made_from = [content_digest(folder) for folder in (*statements, *environments)]
    config = getattr(work.run.recipe, SECTION)
    groups = [rows[start : start + _SHARD_SIZE] for start in range(0, len(rows), _SHARD_SIZE)]
    return [
        Shard(
            [made_from, *map(digest, group)],
            partial(
                preflight_shard,
                PreflightJob(tuple(group), _used(files, group), database, config, analytic),
            ),
        )
        for group in groups
    ]


def _used(files: Mapping[str, Path], candidates: Sequence[str]) -> dict[str, Path]:
    """The input files of some candidates: a worker fetches what its job names."""
    named = [item["sha256"] for row in candidates for item in orjson.loads(row)["fixtures"]]
    return {sha256: files[sha256] for sha256 in named}


PREFLIGHT = Stage(
    name=GATE.stage,
    meaning=GATE.meaning,
    units=(Unit(UNIT, StageKind.FILTER),),
    settings=(SECTION,),
    reads=(*dict.fromkeys((*chain(*POOL_PARTS), *FILES)), STATEMENTS.name),
    shards=_shards,
)
