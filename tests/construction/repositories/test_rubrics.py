"""Where no tests can be proven a rubric decides, an unchanged tree never passes, and all say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from construction.grading.exports.writing import _needs_judge
from construction.grading.grade import grade
from construction.grading.logs import grade_attempts
from construction.grading.programs_box import Boxes
from construction.grading.spec import spec_of
from construction.grading.state import grade_state, judge_here
from construction.judging.baseline.grade import grade as by_facts
from construction.judging.contracts import Case
from construction.judging.evidence.views import Evidence
from construction.judging.judged_attempts import judge_run
from construction.judging.model.asking import ask
from construction.judging.model.grade import grade_stage
from construction.judging.stages import graded_candidate
from construction.repositories.candidates import (
    ARCHIVE,
    BY_RUBRIC,
    PATCH,
    Origin,
    candidate_of,
    harbor_files,
    swe_bench_lines,
)
from construction.repositories.contracts import ProofOfTests, RepositoryReason, TestPlan
from construction.repositories.requests import Request, Unwritten
from construction.repositories.suites import Change
from construction.repositories.tasks import REFERENCE, case_of, with_changed_files
from data.attempts import outputs_folder
from data.contracts import Candidate, Disclosure, Lane
from data.contracts.attempt import Submission
from tests.construction.judging.model.answers import DIMENSIONS, criterion, graded
from tests.construction.judging.model.fakes import CONFIG, Scripted, always
from tests.construction.repositories.invented import BASE, MEAN, REQUEST
from tests.construction.repositories.test_candidates import released
from tests.construction.repositories.test_proof import World, reference_of
from tests.flows.judge_attempts import attempted
from tests.flows.judge_server import answer, material
from tests.needs import needs_box

FACTS = (("tally/sums.py", "result += number"), (REFERENCE, "return total(numbers) / len(numbers)"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def case_in(world: World) -> Case:
    unproven = ProofOfTests(
        world.task.task, "", TestPlan((), ()), RepositoryReason.UNPROVEN, "No test."
    )
    case = Unwritten(Change(world.task, world.store), unproven)
    origin = Origin("r-1", "invented", Disclosure.PUBLIC)
    candidate = candidate_of(case, Request(REQUEST, "model:m"), world.tar, origin, None)
    return case_of(case, candidate, REQUEST)


def with_rubric(world: World) -> Candidate:
    """The task with the rubric of a model that quotes base and reference, and invents nothing."""
    first, *others = DIMENSIONS
    answer = graded(criterion(first, 0.6, *FACTS), *(criterion(name, 0.1) for name in others))
    case, client = case_in(world), always(answer)
    (judged,) = ask(grade_stage(CONFIG, by_facts), [case], client)
    assert judged.value is not None and len(client.asked) == 1
    return graded_candidate(case, judged.value, "model:m").model_copy(update={"rules": ()})


def test_the_writer_of_a_rubric_sees_the_files_before_and_the_reference(world: World) -> None:
    client = always(graded())
    ask(grade_stage(CONFIG, by_facts), [case_in(world)], client)
    shown = material(client.asked[0].user)
    assert [view["path"] for view in shown["input_files"]] == [REFERENCE, "tally/sums.py"]
    assert "def mean" in str(shown["input_files"][0])
    assert "def mean" not in str(shown["input_files"][1])
    assert shown["said"][0]["text"] == REQUEST


def test_facts_are_looked_up_in_the_tree_and_in_the_reference(world: World) -> None:
    rubric = with_rubric(world).rubric
    assert rubric is not None
    assert [place.partition("#")[0] for place in rubric.criteria[0].evidence] == [
        "tally/sums.py", REFERENCE,
    ]  # fmt: skip
    assert {each.dimension for each in rubric.criteria} == {*DIMENSIONS}
    assert rubric.criteria[0].anchors is not None


def test_a_task_without_tests_says_so_to_whoever_reads_it(world: World) -> None:
    candidate = with_rubric(world)
    assert BY_RUBRIC in candidate.prompt and "Tests that you are not shown" not in candidate.prompt
    assert candidate.task_family is not None
    assert candidate.task_family.reason == "a code change, graded by rubric"
    assert candidate.provenance.detail["tests"] == "graded by rubric: tests.unproven"
    assert _needs_judge(spec_of(candidate.model_dump(mode="json")))


@needs_box
@pytest.mark.slow
def test_an_attempt_without_a_change_does_not_pass_whatever_its_judge_says(
    world: World, tmp_path: Path
) -> None:
    candidate = with_rubric(world)
    (tmp_path / ARCHIVE).write_bytes(world.tar)
    boxes = Boxes({candidate.fixtures[0].sha256: tmp_path / ARCHIVE})
    spec = spec_of(candidate.model_dump(mode="json"))
    test = BASE["tests/test_sums.py"]
    submissions: Mapping[str, tuple[bytes, float]] = {
        "reference": (reference_of(world), 1.0),
        "nothing": (b"\n", 0.0),
        "tests alone": (world.patch({"tests/test_sums.py": test + "\n# 1\n"}), 0.0),
        "a runner": (world.patch({"conftest.py": "import os\nos._exit(0)\n"}), 0.0),
        "no patch": (b"I have done it.\n", 0.0),
        "a library of its own": (world.patch({"tarfile.py": "import os\nos._exit(0)\n"}), 1.0),
    }
    for name, (patch, value) in submissions.items():
        (part,) = grade_state(spec, {PATCH: patch}, boxes, judge_here)
        assert (name, part.value, part.required) == (name, value, True)
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    (outputs / PATCH).write_bytes(b"\n")
    score = grade(spec, Submission(outputs=str(outputs)), run=boxes)
    assert score.passed is False
    (outputs / PATCH).write_bytes(reference_of(world))
    assert grade(spec, Submission(outputs=str(outputs)), run=boxes).passed is None  # a judge's


def seen_of(world: World, folder: Path, patch: bytes) -> Evidence:
    """What a judge sees of a patch, besides the patch."""
    release = released(world, folder)
    (folder / PATCH).write_bytes(patch)
    return with_changed_files(release.tasks["r-1"], folder, Evidence())


def test_a_judge_sees_the_changed_files_before_and_after(world: World, tmp_path: Path) -> None:
    patch = world.patch({"tally/sums.py": BASE["tally/sums.py"] + MEAN, "tally/näh.py": "x = 1\n"})
    seen = seen_of(world, tmp_path, patch)
    assert [view.path for view in seen.files] == ["tally/sums.py"]
    assert [view.path for view in seen.outputs] == ["tally/näh.py", "tally/sums.py"]
    assert "def mean" in str(seen.outputs[1]) and "def mean" not in str(seen.files[0])
    (change,) = seen.changes
    assert (change.path, change.how) == ("tally/sums.py", "changed")


@pytest.mark.parametrize(
    "patch",
    [
        b"",
        b"\n",
        b"not a patch",
        b"--- a/x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n",
        b"--- a/tally/sums.py\n+++ b/tally/sums.py\n@@ -1 +1 @@\n-nothing like it\n+x\n",
        b"diff --git a/a b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n"
        b"+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n",
    ],
)
def test_a_patch_that_cannot_be_applied_shows_no_files(
    world: World, tmp_path: Path, patch: bytes
) -> None:
    assert seen_of(world, tmp_path, patch) == Evidence()


def test_exports_mark_it_as_a_task_for_judges(world: World, tmp_path: Path) -> None:
    release = released(world, tmp_path, with_rubric(world))
    assert sorted(harbor_files(release)["r-1"]) == [f"solution/{PATCH}", "solution/solve.sh"]
    (line,) = swe_bench_lines(release)
    row: dict[str, Any] = orjson.loads(line)
    assert (row["needs_judge"], row["FAIL_TO_PASS"], row["commands"]) == (True, [], [])
    assert len(row["rubric"]["criteria"]) == len(DIMENSIONS)
    assert row["test_patch"] == ""
    proven = replace(release, tasks={})
    assert not list(harbor_files(proven))


@needs_box
@pytest.mark.slow
def test_a_judge_of_attempts_is_shown_the_patch_and_the_files_around_it(
    world: World, tmp_path: Path
) -> None:
    release, logs = released(world, tmp_path, with_rubric(world)), tmp_path / "logs"
    attempted(logs, release, ["done"])
    outputs = outputs_folder(logs / "agent", "r-1", 1)
    (outputs / "report.md").unlink()
    (outputs / PATCH).write_bytes(reference_of(world))
    client = Scripted(lambda request: answer(material(request.user)))
    run = grade_attempts(release, logs)
    looks = {Lane.REPOSITORIES: with_changed_files}
    made = judge_run(release, run, logs, client, CONFIG, tmp_path / "kept", 7, looks)
    shown = material(client.asked[1].user)
    assert [view["path"] for view in shown["input_files"]] == [ARCHIVE, "tally/sums.py"]
    assert [view["path"] for view in shown["output_files"]] == [PATCH, "tally/sums.py"]
    assert "def mean" in str(shown["output_files"][1])
    assert shown["changes"][0]["path"] == "tally/sums.py"
    ((_, score),) = made.run.scores
    assert {part.name: part.value for part in score.parts}["check.change_made"] == 1.0
    assert score.judge == CONFIG.judge
