"""Workspace repair: every draft is built the same again, is solved, and withstands its attacks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from construction.grading.exports.writing import write_bundle
from construction.grading.programs import Run
from construction.workflows.repair.catalogue import (
    BY_NAME,
    REPAIRS,
    _null_deliverables,
    _solved,
    candidate_of,
    graded,
    own_programs,
    panel_scores,
    screen_repair,
    spec_of_repair,
)
from construction.workflows.repair.faulty_programs import REPAIRS_OF
from construction.workflows.screening import ScreeningConfig, ScreenReason
from data.canonical import digest
from tests.needs import needs_box

CONFIG = ScreeningConfig()
SMALL = [each for each in REPAIRS if each.name not in REPAIRS_OF]  # others: test_faulty_programs
DRAFTS = {f"{each.name}-{number}": each.build(number, 11) for each in SMALL for number in (1, 2, 3)}


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with own_programs() as programs:
        yield programs


def test_each_generator_has_its_own_kind_of_faults() -> None:
    assert len(REPAIRS) == len({repair.kind for repair in REPAIRS}) == 11
    assert len(DRAFTS) == 12


@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft_is_the_same_again_and_another_under_another_seed(name: str) -> None:
    draft = DRAFTS[name]
    repair = BY_NAME[draft.generator]
    again, other = (repair.build(draft.number, seed) for seed in (11, 12))
    assert (again.inputs, again.prompt, again.checks) == (draft.inputs, draft.prompt, draft.checks)
    assert other.inputs != draft.inputs
    assert repair.solve(draft.rule, draft.inputs, None) == repair.solve(
        draft.rule, again.inputs, None
    )


@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft_says_what_it_wants_and_has_a_mutant_for_each_check(name: str) -> None:
    draft = DRAFTS[name]
    assert {check.check_id for check in draft.checks} == draft.mutants.keys()
    assert all(check.required for check in draft.checks)
    assert sum(check.weight for check in draft.checks) == pytest.approx(1, abs=1e-6)
    assert not any(slot in draft.prompt for slot in "{}") or "{id}" in draft.prompt
    assert all(name in draft.prompt or name in draft.inputs for name in draft.delivers)
    candidate = candidate_of(draft, BY_NAME[draft.generator], "w-1")
    assert [fixture.sha256 for fixture in candidate.fixtures] == [
        digest(draft.inputs[fixture.path]) for fixture in candidate.fixtures
    ]
    assert all(f"outputs/{name}" in candidate.prompt for name in draft.delivers)


def test_siblings_have_other_rules() -> None:
    rules = Counter((draft.generator, draft.rule) for draft in DRAFTS.values())
    assert set(rules.values()) == {1}


@needs_box
@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft_passes_its_screening(name: str, run: Run) -> None:
    draft = DRAFTS[name]
    seen = screen_repair(draft, BY_NAME[draft.generator], run, CONFIG)
    assert (seen.reason, seen.tried.mutants) == (None, len(draft.checks))


@needs_box
def test_a_grader_that_misses_something_is_rejected(run: Run) -> None:
    draft = DRAFTS["service_settings-2"]
    repair = BY_NAME[draft.generator]
    kept = next(check for check in draft.checks if check.kind == "keeps_values")
    spoilt = {
        "a mutant that does nothing": (
            replace(draft, mutants={**draft.mutants, "connect_timeout": lambda files: None}),
            ScreenReason.MUTANT_SURVIVED,
        ),
        "a check without a mutant": (
            replace(draft, mutants={"connect_timeout": draft.mutants["connect_timeout"]}),
            ScreenReason.MUTANT_SURVIVED,
        ),
        "only a check that the inputs satisfy": (
            replace(draft, checks=(kept,)),
            ScreenReason.ORACLE_FAILED,
        ),
        "another fault than its solution mends": (
            replace(draft, rule="moved_store"),
            ScreenReason.NOT_RUNNABLE,
        ),
    }
    for title, (changed, reason) in spoilt.items():
        assert screen_repair(changed, repair, run, CONFIG).reason == reason, title


@needs_box
def test_a_check_that_asks_whether_a_file_is_there_is_passed_without_work(run: Run) -> None:
    draft = DRAFTS["queue_log-1"]
    params = {"file": "jobs.csv", "lacks": ["no such line"]}
    lax = draft.checks[0].model_copy(update={"kind": "lines", "params": params})
    seen = screen_repair(replace(draft, checks=(lax,)), BY_NAME["queue_log"], run, CONFIG)
    assert seen.reason == ScreenReason.PASSED_BY_NULL


def test_attacks_deliver_every_file_that_is_asked_for() -> None:
    draft = DRAFTS["crontab_times-1"]
    made = list(_null_deliverables(draft))
    assert made[0] == {}
    assert all(set(draft.delivers) <= files.keys() for files in made[1:-2])
    assert made[-2] == draft.inputs


@needs_box
@pytest.mark.parametrize("name", ["site_modes-1", "crontab_times-2", "queue_log-3"])
def test_the_panel_differs_on_a_draft(name: str, run: Run) -> None:
    draft = DRAFTS[name]
    delivered = _solved(BY_NAME[draft.generator], draft.rule, draft.inputs, None)
    grader = partial(graded, spec_of_repair(draft), run=run, threshold=CONFIG.pass_threshold)
    scores = dict(panel_scores(draft, delivered, grader))
    assert scores["perfect"].passed is True
    assert not any(scores[agent].passed for agent in ("no_writes", "forgets_one_source"))
    assert len(scores) == 8


@pytest.mark.parametrize("name", ["queue_log-1", "crontab_times-2", "site_modes-3"])
def test_the_exported_grader_passes_the_reference_and_not_the_inputs(
    tmp_path: Path, name: str
) -> None:
    draft = DRAFTS[name]
    repair = BY_NAME[draft.generator]
    write_bundle(tmp_path / "grader")
    task = candidate_of(draft, repair, "w-1").model_dump(mode="json")
    (tmp_path / "spec.json").write_text(json.dumps(task), encoding="utf-8")
    rewards = {}
    for title, files in (
        ("reference", _solved(repair, draft.rule, draft.inputs, None)),
        ("inputs", draft.inputs),
    ):
        for path, content in files.items():
            target = tmp_path / title / "outputs" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        command = [sys.executable, "-I", str(tmp_path / "grader"), "--run"]
        command += ["--spec", str(tmp_path / "spec.json"), "--work", str(tmp_path / title)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rewards[title] = json.loads(done.stdout)["passed"]
    assert rewards == {"reference": True, "inputs": False}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_logs_fit_what_they_tell_of(number: int) -> None:
    """Those of the queue are of the night; one of a move is of after it."""
    night = DRAFTS[f"queue_log-{number}"].inputs
    logs = [data.decode() for file, data in night.items() if file.endswith(".log")]
    assert all(log[11:13] in ("00", "01", "02", "03") for log in logs)
    inputs = DRAFTS[f"service_settings-{number}"].inputs
    if "moves.csv" in inputs:
        last = max(re.findall(r"\d{4}-\d\d-\d\d", inputs["moves.csv"].decode()))
        assert inputs["service.log"].decode()[:10] > last
