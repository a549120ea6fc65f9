"""Drafts as candidates, and exported graders that grade them outside the project."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from construction.grading.attacks import attacks
from construction.grading.bundle import write_bundle
from construction.grading.spec import REPORT, spec_of
from construction.workflows.agent_tools import split_tool_name
from construction.workflows.candidates import DIFFICULTY_RULE, candidate_of, item_id
from construction.workflows.contracts import Request
from construction.workflows.declaration import operations
from construction.workflows.mutants import mutants_of
from construction.workflows.runs import perform, replay, spec_of_draft
from construction.workflows.scenarios.registry import SCENARIOS
from data.contracts import Lane

SCENARIO = SCENARIOS["stock_count"]
DRAFT = SCENARIO.build(1, 5)
CANDIDATE = candidate_of(DRAFT, SCENARIO, "w-0001")


def test_a_candidate_says_where_it_came_from_and_what_it_offers() -> None:
    assert CANDIDATE.lane is Lane.WORKFLOWS
    assert CANDIDATE.execution_surface == "services"
    assert CANDIDATE.task_family is not None
    assert CANDIDATE.task_family.value == "inventory_procurement"
    assert CANDIDATE.difficulty_rule == DIFFICULTY_RULE
    assert CANDIDATE.provenance.item_id == item_id(DRAFT) == "stock_count-1"
    offered = [split_tool_name(name) for name in CANDIDATE.tools]
    assert len(offered) == sum(len(operations(name)) for name in DRAFT.world.state)
    assert ("inventory", "adjust_stock") in offered
    assert candidate_of(DRAFT, SCENARIO, "w-0001") == CANDIDATE


def test_its_steps_are_requests_that_lead_to_the_same_state() -> None:
    *steps, report = CANDIDATE.steps
    requests = []
    for step in steps:
        service, _, operation = step.operation.partition(".")
        requests.append(Request(service, operation, step.arguments))
    reference = perform(DRAFT, SCENARIO)
    assert (report.operation, report.arguments) == (REPORT, {"answer": reference.answer})
    assert replay(DRAFT.world, requests, None).digest == reference.digest
    assert len(requests) <= CANDIDATE.budget.turns


def test_graders_know_the_same_of_a_candidate_as_of_its_draft() -> None:
    spec = spec_of(CANDIDATE.model_dump(mode="json"))
    draft = spec_of_draft(DRAFT)
    assert (spec.prompt, spec.answers, spec.checks) == (draft.prompt, draft.answers, draft.checks)


def test_exported_graders_pass_the_reference_and_nothing_else(tmp_path: Path) -> None:
    write_bundle(tmp_path / "grader")
    task = CANDIDATE.model_dump(mode="json")
    run = perform(DRAFT, SCENARIO)
    submissions = [run.submission()]
    submissions += [a.submission for a in attacks(spec_of(task), CANDIDATE.tools, {}, tmp_path)]
    submissions += [mutant.submission for mutant in mutants_of(DRAFT, run)]
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
