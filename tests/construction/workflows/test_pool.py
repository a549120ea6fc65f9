"""The drafts of a generator as a part of the pool: the same bytes, worlds, files, scores.

Drafts are candidates, and exported graders grade them outside the project.
"""

from __future__ import annotations

import json
import subprocess
import sys
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl
import pytest

from construction.grading.attacks import attacks
from construction.grading.exports.writing import write_bundle
from construction.grading.spec import REPORT, spec_of
from construction.workflows.contracts import Request
from construction.workflows.declaration import operations, split_tool_name
from construction.workflows.pool import (
    DIFFICULTY_RULE,
    PANEL_FILE,
    GeneratorJob,
    ProposalsJob,
    _candidate_of,
    _item_id,
    _service_task,
    make_proposals,
    make_shard,
    proposal_lines,
    write_panel,
)
from construction.workflows.runs import PANEL, allowance_for, replay, spec_of_draft
from construction.workflows.screening import ScreeningConfig, screened
from construction.workflows.trials import mutants_of
from construction.workflows.world_file import read_world, worlds_of
from data.canonical import canonical_json, file_digest
from data.contracts import Lane
from data.pool import read_pool
from selection.scores import read_scores
from tests.construction.workflows.smoke import SMOKE, draft_of, run_of
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


@pytest.mark.slow(seconds=60)
def test_a_repair_with_an_aftermath_comes_with_its_files_and_its_archive(tmp_path: Path) -> None:
    folder = shard(tmp_path / "a", "ratebook", "w-1")
    (task,) = read_pool([folder]).candidates
    world = read_world(worlds_of([folder])["w-1"])
    assert [fixture.path for fixture in task.fixtures] == ["ratebook.tar"]
    assert task.structure is not None and world.allowance is not None
    assert task.structure.records == len(world.state["archive"]["papers"]) + 1
    assert task.structure.calls - 1 <= 0.75 * world.allowance
    assert f"answers {world.allowance} requests in all" in task.prompt


def test_service_tasks_come_with_their_worlds_and_nothing_of_them_in_files(tmp_path: Path) -> None:
    folder = shard(tmp_path / "a", "order_enquiries", "w-1")
    (task,) = read_pool([folder]).candidates
    assert task.fixtures == ()
    world = read_world(worlds_of([folder])["w-1"])
    assert {name.partition("_")[0] for name in task.tools} == set(world.state)


def test_the_panel_is_a_score_matrix_that_the_selection_reads(tmp_path: Path) -> None:
    folders = [
        shard(tmp_path / "a", "site_modes", "w-1"),
        shard(tmp_path / "b", "order_enquiries", "w-2"),
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


NAMED = "final answer: 88 is written down, but occurs in neither the task nor a response"


def test_proposals_are_screened_and_enter_the_pool_like_other_drafts(tmp_path: Path) -> None:
    good = deepcopy(PROPOSAL)
    ticket = good["state"]["helpdesk"]["tickets"]["tkt-1"] | {"assignee": BOSS}
    good["checks"][2]["params"]["except"] = [{"service": "helpdesk", "where": ticket}]
    unfit = good | {"task_family": "falconry"}
    invented = good | {"final_answer": good["final_answer"] + "\nwaiting: 88"}
    path = tmp_path / "proposals.jsonl"
    given = [canonical_json(good), canonical_json(PROPOSAL), canonical_json(unfit), b"{"]
    given.append(canonical_json(invented))
    path.write_bytes(b"\n".join([*given, *given]))
    lines = list(proposal_lines(path, ScreeningConfig()))
    names = [line.partition(":")[0] for line in lines]
    assert [line.partition(": ")[2] for line in lines] == [
        "passes the screening",
        "screen.passed_by_destructive",
        "proposal.unfit: falconry: no such task family",
        "proposal.unfit: no JSON",
        f"proposal.unproven: {NAMED}",
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
        ("w-5", "rejected", "proposal.unproven"),
    ]
    assert NAMED in str(ledger["evidence"].to_list()[4])


NAME = "supplier_phones"
SCENARIO, DRAFT, RUN = SMOKE[NAME], draft_of(NAME), run_of(NAME)
CANDIDATE = _candidate_of(DRAFT, SCENARIO, RUN, "w-0001")


def test_a_candidate_says_where_it_came_from_and_what_it_offers() -> None:
    assert CANDIDATE.lane is Lane.WORKFLOWS
    assert CANDIDATE.execution_surface == "services"
    assert CANDIDATE.task_family is not None
    assert CANDIDATE.task_family.value == "web_operation"
    assert CANDIDATE.difficulty_rule == DIFFICULTY_RULE
    assert CANDIDATE.provenance.item_id == _item_id(DRAFT) == "supplier_phones-1"
    offered = [split_tool_name(name) for name in CANDIDATE.tools]
    assert len(offered) == sum(len(operations(name)) for name in DRAFT.world.state)
    assert ("inventory", "update_supplier") in offered


def test_its_steps_are_requests_that_lead_to_the_same_state() -> None:
    *steps, report = CANDIDATE.steps
    requests = []
    for step in steps:
        service, _, operation = step.operation.partition(".")
        requests.append(Request(service, operation, step.arguments))
    assert (report.operation, report.arguments) == (REPORT, {"answer": RUN.answer})
    assert replay(DRAFT.world, requests, None).digest == RUN.digest


@pytest.mark.parametrize(
    ("requests", "turns", "seconds"), [(1, 24, 300), (192, 24, 300), (193, 25, 312)]
)
def test_the_budget_is_the_same_up_to_the_calls_that_fit_into_it(
    requests: int, turns: int, seconds: int
) -> None:
    run = replace(RUN, requests=RUN.requests[:1] * requests)
    budget = _candidate_of(DRAFT, SCENARIO, run, "w-0001").budget
    assert (budget.turns, budget.seconds) == (turns, seconds)


def test_services_of_the_full_split_answer_a_third_more_than_the_reference_asks() -> None:
    full = replace(SCENARIO, split="full")
    (seen,) = screened([DRAFT], full, ScreeningConfig())
    made = _service_task(seen, "w-0001")
    assert made.world is not None
    assert made.world.allowance == allowance_for(len(RUN.requests))
    assert f" {made.world.allowance} requests in all" in made.candidate.guidelines
    again = replay(made.world, RUN.requests, RUN.answer)
    assert again.digest == RUN.digest
    assert "in all" not in CANDIDATE.guidelines


@pytest.mark.parametrize(("requests", "allowed"), [(1, 5), (30, 40), (31, 45), (150, 200)])
def test_a_reference_takes_three_quarters_of_the_allowance_at_most(
    requests: int, allowed: int
) -> None:
    assert allowance_for(requests) == allowed
    assert requests <= 0.75 * allowed


def test_graders_know_the_same_of_a_candidate_as_of_its_draft() -> None:
    spec = spec_of(CANDIDATE.model_dump(mode="json"))
    draft = spec_of_draft(DRAFT)
    assert (spec.prompt, spec.answers, spec.checks) == (draft.prompt, draft.answers, draft.checks)


def test_exported_graders_pass_the_reference_and_nothing_else(tmp_path: Path) -> None:
    write_bundle(tmp_path / "grader")
    task = CANDIDATE.model_dump(mode="json")
    submissions = [RUN.submission()]
    submissions += [a.submission for a in attacks(spec_of(task), CANDIDATE.tools, {}, tmp_path)]
    submissions += [mutant.submission for mutant in mutants_of(DRAFT, RUN)]
    lines = [json.dumps({"task": task, "submission": asdict(each)}) for each in submissions]
    done = subprocess.run(
        [sys.executable, "-I", "-B", str(tmp_path / "grader"), "--cases"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    scores = [json.loads(line) for line in done.stdout.splitlines()]
    assert (scores[0]["passed"], scores[0]["overall"]) == (True, 1.0)
    assert len(scores) == len(submissions)
    assert all(s["passed"] is not True or s["overall"] < 1 for s in scores[1:])
    assert [s["passed"] for s in scores[1:4]] == [False, False, False]
