"""Hidden tests decide: the reference and other right solutions pass, attacks do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from construction.grading.programs_box import Boxes
from construction.grading.spec import spec_of
from construction.grading.state import grade_state, judge_here
from construction.grading.state_kinds import StateReason
from construction.repositories.candidates import (
    ARCHIVE,
    PATCH,
    HiddenTests,
    Origin,
    candidate_of,
)
from construction.repositories.contracts import (
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
)
from construction.repositories.environment import Built
from construction.repositories.git import Store, archive
from construction.repositories.proof import Prover, _run_plan
from construction.repositories.requests import Request, Unwritten
from construction.repositories.suites import Change, Suite, split, suite_of
from data.contracts import Candidate, Disclosure, Lane
from tests.construction.repositories.invented import BASE, REQUEST, clone, environment, log
from tests.construction.repositories.test_tasks import repository_at, task_in
from tests.needs import needs_box

CONFIG = RepositoriesConfig(runs=2, test_seconds=30)
OTHER = "\n\ndef mean(values):\n    return sum(values) / (len(list(values)) or 1)\n"
HARD_CODED = "\n\ndef mean(numbers):\n    return 2\n"


class World:
    """The invented repository, its task and an environment with pytest."""

    def __init__(self, folder: Path) -> None:
        _, _, ending = clone(folder)
        task = task_in(folder, log(folder, ending))
        assert isinstance(task, RepositoryTask)
        self.task, self.store = task, repository_at(folder).store
        suite = suite_of(Change(task, self.store), CONFIG)
        assert isinstance(suite, Suite)
        self.suite, self.folder = suite, environment(folder / "environments" / "abc")
        self.tar = archive(self.store, task.base_tree)

    def patch(self, files: Mapping[str, str | None]) -> bytes:
        """A submission that leaves files like this."""
        changes = {p: None if t is None else ("100644", t.encode()) for p, t in files.items()}
        tree = self.store.tree_with(self.task.base_tree, changes)
        return self.store.patch(self.task.base_tree, tree, sorted(files))

    def prove(self, config: RepositoriesConfig = CONFIG) -> ProofOfTests:
        return Prover(Change(self.task, self.store), self.suite, self.folder, config).prove()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def proof(world: World) -> ProofOfTests:
    return world.prove()


def reference_of(world: World) -> bytes:
    task, store = world.task, world.store
    visible, _ = split(store.changed(task.base_tree, task.reference_tree))
    return store.patch(task.base_tree, task.reference_tree, visible)


def candidate_in(world: World, proof: ProofOfTests) -> Candidate:
    origin = Origin("r-1", "invented", Disclosure.PUBLIC)
    case = Unwritten(Change(world.task, world.store), proof)
    request = Request(REQUEST, "model:m")
    tests = HiddenTests(world.suite, Built(("pytest==9",)))
    return candidate_of(case, request, world.tar, origin, tests)


@needs_box
def test_what_fails_on_the_base_and_passes_on_the_reference_decides(proof: ProofOfTests) -> None:
    assert proof.reason is None
    (new,), (kept,) = proof.plan.fail_to_pass, proof.plan.pass_to_pass
    assert new.endswith("::test_mean")
    assert kept.endswith("::test_total")
    assert proof.attacks == (
        "nothing", "tests deleted", "runner edited", "expected values in place of a program",
    )  # fmt: skip


@needs_box
@pytest.mark.slow
def test_other_right_solutions_pass_and_attacks_do_not(world: World, proof: ProofOfTests) -> None:
    base, plan = BASE["tally/sums.py"], proof.plan
    evil = "import pytest\n\ndef pytest_collection_modifyitems(items):\n    items.clear()\n"
    submissions: dict[str, tuple[bytes, bool]] = {
        "other": (world.patch({"tally/sums.py": base + OTHER}), True),
        "hard-coded": (world.patch({"tally/sums.py": base + HARD_CODED}), False),
        "collection": (world.patch({"conftest.py": evil, "tests/conftest.py": evil}), False),
        "another pytest": (world.patch({"pytest.py": "print('1 passed')\n"}), False),
        "ends early": (world.patch({"tally/__init__.py": "import os\nos._exit(0)\n"}), False),
        "outside": (b"--- a/x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n", False),
    }
    for name, (patch, passes) in submissions.items():
        said = _run_plan(world.suite.spec, world.folder, world.tar, patch, plan, tell=False)
        assert (name, said["passed"]) == (name, passes)


@needs_box
def test_tests_that_pass_before_are_no_proof(world: World) -> None:
    suite = replace(world.suite, plan=replace(world.suite.plan, hidden=()))
    prover = Prover(Change(world.task, world.store), suite, world.folder, CONFIG)
    assert prover.prove().reason is RepositoryReason.NO_FAIL_TO_PASS


@needs_box
def test_a_released_check_runs_in_a_box_with_the_environment(
    tmp_path: Path, world: World, proof: ProofOfTests
) -> None:
    candidate = candidate_in(world, proof)
    (tmp_path / ARCHIVE).write_bytes(world.tar)
    boxes = Boxes({candidate.fixtures[0].sha256: tmp_path / ARCHIVE}, world.folder.parent)
    spec = spec_of(candidate.model_dump(mode="json"))
    values = {
        name: grade_state(spec, {PATCH: patch}, boxes, judge_here)[0]
        for name, patch in {"reference": reference_of(world), "nothing": b"\n"}.items()
    }
    assert (values["reference"].value, values["nothing"].value) == (1.0, 0.0)
    (part,) = grade_state(spec, {PATCH: b"\n"}, Boxes(boxes.inputs, tmp_path / "none"), judge_here)
    assert (part.value, part.reason) == (None, StateReason.NO_BOX)


def test_a_candidate_keeps_what_decides_it_private(world: World) -> None:
    plan = replace(world.suite.plan, fail_to_pass=("a",), pass_to_pass=("b",))
    candidate = candidate_in(world, ProofOfTests(world.task.task, "abc", plan))
    assert candidate.lane is Lane.REPOSITORIES
    assert candidate.prompt.startswith(REQUEST)
    assert candidate.provenance.judge == "model:m"
    assert "test_mean" not in candidate.prompt
    assert candidate.steps[0].arguments["patch"].encode() == reference_of(world)
    assert candidate.checks[0].params["files"][ARCHIVE] == {"input": candidate.fixtures[0].sha256}


def test_stores_are_never_written_by_a_proof(tmp_path: Path, world: World) -> None:
    (tmp_path / "scratch").mkdir()
    before = sorted(world.store.folder.rglob("*"))
    scratch = Store(world.store.folder, tmp_path / "scratch")
    Prover(Change(world.task, scratch), world.suite, world.folder, CONFIG).attacks()
    assert sorted(world.store.folder.rglob("*")) == before
