"""The lane over repositories as the pipeline runs it: from logs and a clone to a candidate."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import construction.repositories.stages
from construction.grading.programs_box import ENVIRONMENTS
from construction.judging.model.asking import model_costs
from construction.repositories.contracts import (
    EnvironmentSpec,
    ProofOfTests,
    RepositoriesConfig,
)
from construction.repositories.environment import Built, Environments, name_of
from construction.repositories.proof import Proofs, Prover, proof_key
from construction.repositories.stages import STORES, read_tasks
from construction.repositories.suites import Change, Suite, suite_of
from construction.repositories.tasks import opened
from construction.repositories.written_tests import VERSION
from construction.sandbox import sandbox
from construction.sandbox.presence import Presence
from data.canonical import canonical_json, digest
from data.contracts import Outcome
from data.pool import read_pool
from data.stage_tables import read_records
from data.stages import Results, Stage, run_stage
from flows.recipe import Recipe, Runtime
from flows.run import Run, open_run
from flows.stages.repositories import REQUESTS, RUBRICS, TASKS, TESTS
from flows.stages.sessions import SCAN
from tests.construction.judging.model.answers import DIMENSIONS, criterion, graded
from tests.construction.repositories.invented import (
    BASE,
    MEAN,
    MEAN_TEST,
    REQUEST,
    START,
    clone,
    commit,
    environment,
    git,
    log,
)
from tests.flows.model_server import Answers, model_server
from tests.needs import needs_box

SPEC = EnvironmentSpec("python", ("pytest",))
PATH = "tests/test_mean.py"


LANE = (SCAN, TASKS, TESTS, REQUESTS)
WITH_RUBRICS = (*LANE, RUBRICS)


def run_lane(
    folder: Path, recipe: Recipe, stages: Sequence[Stage[Any]] = LANE, **more: Any
) -> Results:
    """The outputs of the lane's stages on the invented repository and its session."""
    inputs = {"sessions": (folder / "sessions",), "repos": (folder / "repos",), "quiet": True}
    runtime = Runtime.model_validate({"out": folder / "out", **inputs, **more})
    run, results = open_run(recipe, runtime), Results()
    for stage in stages:
        run_stage(run, stage, results)
    return results


def reasons(folders: Sequence[Path]) -> list[tuple[str, str, str | None]]:
    rows = read_records(folders).ledger
    return [(row.unit, str(row.outcome), row.reason) for row in rows]


def test_without_builds_a_task_says_that_its_environment_is_not_there(tmp_path: Path) -> None:
    _, _, ending = clone(tmp_path)
    log(tmp_path, ending)
    results = run_lane(tmp_path, Recipe())
    assert reasons(results.outputs[TASKS.name]) == [
        ("repository", "kept", None), ("session", "consumed", None), ("task", "kept", None),
    ]  # fmt: skip
    ((unit, outcome, reason),) = reasons(results.outputs[TESTS.name])
    assert (unit, outcome) == ("task", "rejected")
    assert reason in ("environment.builds_off", "environment.no_sandbox")


PRIVATE = {
    "tally/rates.py": "# Ask Margarethe Oswinkel (m.oswinkel@nordhaven-foods.com) first.\n"
    'OWNER = "Margarethe Oswinkel"\n\n\ndef rate_of(margarethe):\n    return margarethe\n',
    "docs/notes.md": "# Notes\n\nMargarethe Oswinkel, +49 170 5551234, wants the mean.\n",
}
OWNER_TEST = "\n\ndef test_owner():\n    from tally.rates import OWNER\n\n"
OWNER_TEST += '    assert (sums.mean([1]), OWNER) == (1, "Margarethe Oswinkel")\n'


def private_session(folder: Path) -> None:
    """A clone whose words and files name a customer, and the session that changed it."""
    work, base, _ = clone(folder)
    git(work, "reset", "-q", "--hard", base)
    (work / "notes").symlink_to("docs")
    commit(work, PRIVATE, "Rates", START + 30)
    changed = {"tally/sums.py": BASE["tally/sums.py"] + MEAN}
    changed |= {"tests/test_sums.py": MEAN_TEST + OWNER_TEST}
    log(folder, commit(work, changed, "Mean", START + 600), request=f"Ms Oswinkel asks: {REQUEST}")


def shipped(results: Results, tree: str) -> dict[str, bytes]:
    """The files of a tree of the one task."""
    (folder,) = results.outputs[TASKS.name]
    (task,) = read_tasks(folder)
    store = opened(task.repository, folder / STORES, None)
    entries = store.entries(str(getattr(task, tree)))
    contents = store.blobs(entry.name for entry in entries)
    return {entry.path: contents[entry.name] for entry in entries}


@pytest.mark.slow
@pytest.mark.parametrize("disclosure", ["private", "anonymized"])
def test_words_and_trees_of_a_source_that_is_not_public_are_masked_together(
    tmp_path: Path, disclosure: str
) -> None:
    private_session(tmp_path)
    recipe = Recipe.model_validate({"source": {"disclosure": disclosure}})
    results = run_lane(tmp_path, recipe)
    base, reference = shipped(results, "base_tree"), shipped(results, "reference_tree")
    whole = b"".join((*base.values(), *reference.values()))
    for value in (b"Margarethe ", b"Oswinkel", b"oswinkel@", b"5551234"):
        assert value not in whole
    assert b"def rate_of(margarethe):" in base["tally/rates.py"]
    owner = re.search(rb'OWNER = "(.+)"', base["tally/rates.py"])
    assert owner is not None
    assert owner[1] in reference["tests/test_sums.py"]
    assert reference["tally/sums.py"].decode() == BASE["tally/sums.py"] + MEAN
    (task,) = read_tasks(results.outputs[TASKS.name][0])
    assert "Oswinkel" not in task.messages[0]
    assert task.messages[0].endswith(REQUEST)
    assert task.left_out == 1  # the link
    assert run_lane(tmp_path, recipe).outputs == results.outputs


def test_a_session_of_another_folder_is_rejected_with_its_reason(tmp_path: Path) -> None:
    clone(tmp_path)
    path = log(tmp_path, None)
    path.write_text(path.read_text().replace("/home/ada/tally", "/home/ada/other"))
    results = run_lane(tmp_path, Recipe())
    rows = read_records(results.outputs[TASKS.name]).ledger
    assert [(row.unit, row.outcome, row.reason) for row in rows] == [
        ("repository", Outcome.KEPT, None),
        ("session", Outcome.REJECTED, "repository.unmatched"),
    ]


@pytest.mark.parametrize("stated", [None, "MIT"])
def test_a_repository_without_a_licence_is_refused_unless_its_owner_states_one(
    tmp_path: Path, stated: str | None
) -> None:
    work, _, _ = clone(tmp_path)
    (work / "LICENSE").unlink()
    git(work, "commit", "-q", "-a", "-m", "No licence")
    log(tmp_path, git(work, "rev-parse", "HEAD~1"))
    results = run_lane(tmp_path, Recipe.model_validate({"source": {"licence": stated}}))
    rows = reasons(results.outputs[TASKS.name])[1:]
    refused = [("session", "rejected", "repository.no_licence")]
    assert rows == ([("session", "consumed", None), ("task", "kept", None)] if stated else refused)


@needs_box
@pytest.mark.slow
@pytest.mark.parametrize("disclosure", ["public", "private"])
def test_a_proven_task_becomes_a_candidate_and_is_replayed(tmp_path: Path, disclosure: str) -> None:
    private_session(tmp_path)
    private = tmp_path / "out" / "private"
    environment(private / ENVIRONMENTS / name_of(SPEC))
    captures = Environments(private / "captures" / "environments.jsonl")
    captures.keep(name_of(SPEC), Built(("pytest==9",)))
    captures.save()
    source = {"disclosure": disclosure}
    repositories = RepositoriesConfig(runs=2, test_seconds=60)
    recipe = Recipe.model_validate({"source": source, "repositories": repositories})
    results = run_lane(tmp_path, recipe)
    (candidate,) = read_pool(results.outputs[REQUESTS.name]).candidates
    assert REQUEST in candidate.prompt
    assert ("Oswinkel" in canonical_json(candidate.model_dump(mode="json")).decode()) == (
        disclosure == "public"
    )
    assert candidate.provenance.detail["fail_to_pass"] == 2
    again = run_lane(tmp_path, recipe)
    assert again.outputs == results.outputs


def captured_proof(folder: Path, recipe: Recipe, written: str | None = None) -> None:
    """A proof of the invented task, or of tests that a model wrote, as if it was run before."""
    private, config = folder / "out" / "private", recipe.repositories
    (tasks,) = run_lane(folder, recipe, LANE[:2]).outputs[TASKS.name]
    (task,) = read_tasks(tasks)
    (folder / "scratch").mkdir()
    store = opened(task.repository, tasks / STORES, folder / "scratch")
    change = Change(task, store)
    if written is not None:
        change = change.with_file(PATH, written.encode())
    suite = suite_of(change, config)
    assert isinstance(suite, Suite)
    name = name_of(suite.spec)
    (private / ENVIRONMENTS / name).mkdir(parents=True)
    environments = Environments(private / "captures" / "environments.jsonl")
    environments.keep(name, Built(("pytest==9",)))
    proof = ProofOfTests(task.task, name, replace(suite.plan, fail_to_pass=("test_mean",)))
    key = proof_key(change, suite, config)
    if written is not None:
        key = digest(canonical_json([VERSION, key]))
        proof = replace(proof, mutants=(7, 8))
    proofs = Proofs(private / "captures" / "repository-tests.jsonl")
    proofs.keep(key, proof)
    for captures in (environments, proofs):
        captures.save()


def test_a_model_writes_tests_where_a_session_brought_none(tmp_path: Path) -> None:
    work, base, _ = clone(tmp_path)
    git(work, "reset", "-q", "--hard", base)
    code = {"tally/sums.py": BASE["tally/sums.py"] + MEAN}
    log(tmp_path, commit(work, code, "Mean", START + 600))
    source = {"disclosure": "public"}
    rules = Recipe.model_validate({"source": source})
    rejected = ("task", "rejected", "repository.no_tests")
    assert rejected in reasons(run_lane(tmp_path, rules, LANE[:2]).outputs[TASKS.name])
    recipe = Recipe.model_validate({"source": source, "judging": {"model": {"name": "fake-1"}}})
    captured_proof(tmp_path, recipe, MEAN_TEST)
    said = "Give `tally/sums.py` a function `mean`; the mean of nothing is 0."

    def answer(fields: Collection[str], material: object) -> dict[str, str]:
        if "content" in fields:
            return {"path": PATH, "content": MEAN_TEST, "why_none": ""}
        return {"request": said, "why_none": ""}

    with model_server(answer) as served:
        llm = {"base_url": served.url, "attempts": 1}
        first = run_lane(tmp_path, recipe, llm=llm)
    assert len(served.requests) == 2
    (candidate,) = read_pool(first.outputs[REQUESTS.name]).candidates
    tests = "written by model:fake-1; they notice 7 of 8 wrong copies of the change"
    assert candidate.provenance.detail["tests"] == tests
    assert [s.arguments["patch"].count("diff --git") for s in candidate.steps] == [1]
    assert tests in str(candidate.checks[0].text)
    shutil.rmtree(tmp_path / "out" / "private" / "stages")
    again = run_lane(tmp_path, recipe, model_calls={"mode": "replay"})
    assert read_pool(again.outputs[REQUESTS.name]).candidates == (candidate,)


def test_without_bubblewrap_nothing_is_run_and_no_model_writes_tests_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    untested_session(tmp_path)
    given = {"repositories": {"build_environments": True}, "source": {"disclosure": "public"}}
    recipe = Recipe.model_validate({**given, "judging": {"model": {"name": "fake-1"}}})
    with model_server(replies(graded())) as served:
        results = run_lane(tmp_path, recipe, llm={"base_url": served.url, "attempts": 1})
    assert served.requests == []
    assert reasons(results.outputs[TESTS.name]) == [("task", "rejected", "environment.no_sandbox")]
    assert not (tmp_path / "out" / "private" / "environments").exists()


def test_a_proof_that_was_killed_is_taken_up_without_asking_the_model_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    untested_session(tmp_path)
    stages = ("repository_tests", "repository_requests")
    recipe = by_rubric(stages=stages)
    captured_proof(tmp_path, recipe, MEAN_TEST + "# another\n")

    def answer(fields: Collection[str], material: object) -> dict[str, Any]:
        content = {"path": PATH, "content": MEAN_TEST, "why_none": ""}
        return content if "content" in fields else {"request": SAID, "why_none": ""}

    def killed(prover: Prover, path: str) -> ProofOfTests:
        raise KeyboardInterrupt

    def proven(prover: Prover, path: str) -> ProofOfTests:
        plan = replace(prover.suite.plan, fail_to_pass=("test_mean",))
        return ProofOfTests(prover.change.task.task, "abc", plan, mutants=(7, 8))

    with model_server(answer) as served:
        llm = {"base_url": served.url, "attempts": 1}
        monkeypatch.setattr(Run, "sandbox", lambda run: Presence.PRESENT)
        monkeypatch.setattr(construction.repositories.stages, "prove_written", killed)
        with pytest.raises(KeyboardInterrupt):
            run_lane(tmp_path, recipe, llm=llm)
        assert len(served.requests) == 1
        monkeypatch.setattr(construction.repositories.stages, "prove_written", proven)
        results = run_lane(tmp_path, recipe, llm=llm)
    assert len(served.requests) == len(stages)
    assert len(read_pool(results.outputs[REQUESTS.name]).candidates) == 1


def test_a_model_writes_a_request_that_a_replay_gives_again(tmp_path: Path) -> None:
    _, _, ending = clone(tmp_path)
    log(tmp_path, ending, request="do it")
    said = "Give `tally/sums.py` a function `mean`; the mean of nothing is 0."
    answer = {"request": said, "why_none": ""}
    source = {"disclosure": "public"}
    rules = Recipe.model_validate({"source": source})
    recipe = Recipe.model_validate({"source": source, "judging": {"model": {"name": "fake-1"}}})
    captured_proof(tmp_path, rules)
    without = run_lane(tmp_path, rules).outputs[REQUESTS.name]
    assert reasons(without) == [("task", "rejected", "request.needs_model")]
    with model_server(lambda fields, material: answer) as served:
        llm = {"base_url": served.url, "attempts": 1}
        first = run_lane(tmp_path, recipe, llm=llm).outputs[REQUESTS.name]
    assert len(served.requests) == 1
    (candidate,) = read_pool(first).candidates
    assert candidate.prompt.startswith(f"{said}\n\nThe repository is")
    assert candidate.provenance.judge == "model:fake-1"
    assert [row["items"] for row in model_costs(first)] == [1]
    shutil.rmtree(tmp_path / "out" / "private" / "stages")
    again = run_lane(tmp_path, recipe, model_calls={"mode": "replay"}).outputs[REQUESTS.name]
    assert [folder.name for folder in again] == [folder.name for folder in first]
    assert read_pool(again).candidates == (candidate,)


SAID = "Give `tally/sums.py` a function `mean`; the mean of nothing is 0."
FACT = ("tally/sums.py", "result += number")


def untested_session(folder: Path) -> None:
    """A session that brought no test."""
    work, base, _ = clone(folder)
    git(work, "reset", "-q", "--hard", base)
    code = {"tally/sums.py": BASE["tally/sums.py"] + MEAN}
    log(folder, commit(work, code, "Mean", START + 600))


def by_rubric(**model: Any) -> Recipe:
    judging = {"model": {"name": "fake-1", **model}}
    given = {"source": {"disclosure": "public"}, "judging": judging}
    return Recipe.model_validate({**given, "repositories": {"rubric_without_tests": True}})


def replies(rubric: dict[str, Any]) -> Answers:
    def answer(fields: Collection[str], material: object) -> dict[str, Any]:
        if "criteria" in fields:
            return rubric
        if "content" in fields:
            return {"path": "", "content": "", "why_none": "It is a matter of taste."}
        return {"request": SAID, "why_none": ""}

    return answer


@pytest.mark.parametrize(
    ("stages", "why"),
    [
        (("repository_requests", "grade"), "repository.no_tests"),
        (("repository_tests", "repository_requests", "grade"), "tests.unproven"),
    ],
)
def test_where_no_tests_are_proven_a_rubric_is_written_if_the_recipe_says_so(
    tmp_path: Path, stages: tuple[str, ...], why: str
) -> None:
    untested_session(tmp_path)
    recipe = by_rubric(stages=stages)
    captured_proof(tmp_path, recipe, MEAN_TEST)  # the environment is there, this proof is not used
    first, *others = DIMENSIONS
    rubric = graded(criterion(first, 0.6, FACT), *(criterion(name, 0.1) for name in others))
    with model_server(replies(rubric)) as served:
        llm = {"base_url": served.url, "attempts": 1}
        results = run_lane(tmp_path, recipe, WITH_RUBRICS, llm=llm)
    assert len(served.requests) == len(stages)
    (row,) = read_records(results.outputs[TESTS.name]).ledger
    assert (row.outcome, row.evidence["decides"]) == (Outcome.KEPT, f"graded by rubric: {why}")
    assert reasons(results.outputs[RUBRICS.name]) == [("task", "kept", None)]
    assert read_pool(results.outputs[REQUESTS.name]).candidates == ()
    (candidate,) = read_pool(results.outputs[RUBRICS.name]).candidates
    assert candidate.rubric is not None and not candidate.rubric.needs_model
    assert candidate.provenance.detail["tests"] == f"graded by rubric: {why}"
    assert candidate.provenance.detail["judges"] == {"grade": "model:fake-1"}
    shutil.rmtree(tmp_path / "out" / "private" / "stages")
    again = run_lane(tmp_path, recipe, WITH_RUBRICS, model_calls={"mode": "replay"})
    assert read_pool(again.outputs[RUBRICS.name]).candidates == (candidate,)


@pytest.mark.parametrize(
    "rubric",
    [
        graded(),  # without a fact
        graded(*(criterion(name, 0.5, FACT) for name in DIMENSIONS[:2])),
        graded(*(criterion(name, 0.2, ("tally/sums.py", "not there")) for name in DIMENSIONS)),
    ],
)
def test_a_rubric_that_is_not_whole_is_none(tmp_path: Path, rubric: dict[str, Any]) -> None:
    untested_session(tmp_path)
    recipe = by_rubric(stages=("repository_requests", "grade"))
    with model_server(replies(rubric)) as served:
        llm = {"base_url": served.url, "attempts": 1}
        results = run_lane(tmp_path, recipe, WITH_RUBRICS, llm=llm)
    assert reasons(results.outputs[RUBRICS.name]) == [("task", "rejected", "tests.no_rubric")]
    assert read_pool(results.outputs[RUBRICS.name]).candidates == ()


def test_without_the_option_or_without_a_model_nothing_is_graded_by_a_rubric(
    tmp_path: Path,
) -> None:
    untested_session(tmp_path)
    models: tuple[dict[str, Any], ...] = ({"name": ""}, {"stages": ("repository_requests",)})
    for recipe in (by_rubric(**more) for more in models):
        assert not RUBRICS.applies(open_run(recipe, Runtime(out=tmp_path / "x", quiet=True)))
        folders = run_lane(tmp_path, recipe, LANE[:2]).outputs[TASKS.name]
        assert ("task", "rejected", "repository.no_tests") in reasons(folders)
    assert RepositoriesConfig().rubric_without_tests is False
