"""The drafts of a generator as a part of the pool: the same bytes, worlds, files, scores."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import polars as pl

from construction.workflows.panel import PANEL
from construction.workflows.pool import (
    PANEL_FILE,
    GeneratorJob,
    ProposalsJob,
    make_proposals,
    make_shard,
    proposal_lines,
    worlds_of,
    write_panel,
)
from construction.workflows.screening import ScreeningConfig
from construction.workflows.world_file import read_world
from data.canonical import canonical_json, file_digest
from data.contracts import Lane
from data.pool import read_pool
from selection.scores import read_scores
from tests.construction.workflows.test_proposals import BOSS, PROPOSAL
from tests.needs import needs_box

pytestmark = needs_box


def shard(out: Path, generator: str, *task_ids: str) -> Path:
    out.mkdir(parents=True)
    make_shard(GeneratorJob(generator, task_ids, 5, ScreeningConfig()), out)
    return out


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}


def test_repairs_come_with_their_files_and_the_same_bytes(tmp_path: Path) -> None:
    first = shard(tmp_path / "a", "site_modes", "w-1", "w-2")
    assert contents(first) == contents(shard(tmp_path / "b", "site_modes", "w-1", "w-2"))
    pool = read_pool([first])
    assert [task.task_id for task in pool.candidates] == ["w-1", "w-2"]
    for task in pool.candidates:
        assert (task.lane, task.execution_surface) == (Lane.WORKFLOWS, "workspace")
        for fixture in task.fixtures:
            assert file_digest(pool.fixtures[fixture.sha256]) == fixture.sha256
    assert worlds_of([first]) == {}


def test_service_tasks_come_with_their_worlds_and_nothing_of_them_in_files(tmp_path: Path) -> None:
    folder = shard(tmp_path / "a", "refund_requests", "w-1")
    (task,) = read_pool([folder]).candidates
    assert task.fixtures == ()
    world = read_world(worlds_of([folder])["w-1"])
    assert {name.partition("_")[0] for name in task.tools} == set(world.state)


def test_the_panel_is_a_score_matrix_that_the_selection_reads(tmp_path: Path) -> None:
    folders = [
        shard(tmp_path / "a", "site_modes", "w-1"),
        shard(tmp_path / "b", "refund_requests", "w-2"),
    ]
    write_panel(folders, tmp_path / PANEL_FILE)
    matrix, _ = read_scores(tmp_path / PANEL_FILE)
    assert matrix.items == ("w-1", "w-2")
    assert set(matrix.models) == {agent.name for agent in PANEL}
    assert matrix.scores[:, matrix.models.index("perfect")].tolist() == [1.0, 1.0]


def test_every_draft_has_one_outcome(tmp_path: Path) -> None:
    folder = shard(tmp_path / "a", "queue_log", "w-1", "w-2", "w-3")
    ledger = pl.read_parquet(folder / "ledger.parquet")
    assert ledger.select("item_id", "outcome").rows() == [(f"w-{n}", "kept") for n in (1, 2, 3)]
    verdicts = pl.read_parquet(folder / "verdicts.parquet")
    assert set(verdicts["gate"]) == {"screen", "pilot"}


def test_proposals_are_screened_and_enter_the_pool_like_other_drafts(tmp_path: Path) -> None:
    good = deepcopy(PROPOSAL)
    ticket = good["state"]["helpdesk"]["tickets"]["tkt-1"] | {"assignee": BOSS}
    good["checks"][2]["params"]["except"] = [{"service": "helpdesk", "where": ticket}]
    unfit = good | {"task_family": "falconry"}
    path = tmp_path / "proposals.jsonl"
    given = [canonical_json(good), canonical_json(PROPOSAL), canonical_json(unfit), b"{"]
    path.write_bytes(b"\n".join([*given, *given]))
    lines = list(proposal_lines(path, ScreeningConfig()))
    names = [line.partition(":")[0] for line in lines]
    assert [line.partition(": ")[2] for line in lines] == [
        "passes the screening",
        "screen.passed_by_destructive",
        "proposal.unfit: falconry: no such task family",
        "proposal.unfit: no JSON",
    ]
    ids = {name: f"w-{number}" for number, name in enumerate(names, 1)}
    (tmp_path / "out").mkdir()
    make_proposals(ProposalsJob(path, ids, ScreeningConfig()), tmp_path / "out")
    (task,) = read_pool([tmp_path / "out"]).candidates
    assert (task.task_id, task.provenance.source, task.provenance.licence) == (
        "w-1", "proposal", None,
    )  # fmt: skip
    assert read_world(worlds_of([tmp_path / "out"])["w-1"]).actor == good["actor"]
    ledger = pl.read_parquet(tmp_path / "out" / "ledger.parquet").sort("item_id")
    assert ledger.select("item_id", "outcome", "reason").rows() == [
        ("w-1", "kept", None),
        ("w-2", "rejected", "screen.passed_by_destructive"),
        ("w-3", "rejected", "proposal.unfit"),
        ("w-4", "rejected", "proposal.unfit"),
    ]
