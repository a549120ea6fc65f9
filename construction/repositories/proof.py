"""The proof of a task's tests: run on base, reference and attacks, and captured (law 5)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter

from construction.grading.programs import STDOUT, Program
from construction.grading.programs_box import environment_box, run_in_box
from construction.repositories import run_tests
from construction.repositories.contracts import (
    EnvironmentSpec,
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    TestPlan,
)
from construction.repositories.environment import python_of
from construction.repositories.git import archive
from construction.repositories.run_tests import PASSED
from construction.repositories.suites import Change, Suite
from data.canonical import canonical_json, digest
from data.captures import CaptureFile

_VERSION = "repository-proof/1"  # raised when a proof tries something else
GRACE = 60.0  # seconds beyond those of the commands
COMMAND = "python3 -I run_tests.py"
_RUNNER = Path(run_tests.__file__)

# Programs that a submission could bring instead of a solution. Their paths are protected, or they
# are code that the tests import: neither may pass.
_EVERY_ONE = b"""
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
"""
_END = b"import os\nos._exit(0)\n"
_END_SCRIPT = b"process.exit(0);\n"
_RUNNERS: Mapping[bool, Mapping[str, bytes | None]] = {
    True: {
        "conftest.py": _EVERY_ONE,
        "sitecustomize.py": _END,
        "pytest.ini": b"[pytest]\naddopts = -p conftest\n",
    },
    False: {
        "bunfig.toml": b'[test]\npreload = ["./end.ts"]\n',
        "end.ts": _END_SCRIPT,
        "vitest.config.ts": _END_SCRIPT,
    },
}


@dataclass(frozen=True, slots=True)
class _Ran:
    """What one run of the tests showed: outcomes by test, and how it ended."""

    tests: Mapping[str, str]
    timed_out: bool = False
    tail: str = ""


_READER = TypeAdapter(ProofOfTests)


class Proofs(CaptureFile[str, ProofOfTests]):
    """Proofs by what they depend on: trees, plan, environment, settings."""

    EXPECTED = "the proof of a task's tests"
    REMEDY = "Restore the file, or delete it to prove again."

    def _record(self, key: str, outcome: ProofOfTests) -> dict[str, Any]:
        return {"proof": key, "found": asdict(outcome)}

    def _entry(self, record: dict[str, Any]) -> tuple[str, ProofOfTests]:
        return str(record["proof"]), _READER.validate_python(record["found"])


def proof_key(change: Change, suite: Suite, config: RepositoriesConfig) -> str:
    """What a proof depends on."""
    trees = [change.task.base_tree, change.task.reference_tree]
    settings = [config.runs, config.test_seconds]
    runner = digest(_RUNNER.read_bytes())
    return digest(
        canonical_json([_VERSION, trees, asdict(suite.plan), asdict(suite.spec), settings, runner])
    )


@dataclass(frozen=True)
class Prover:
    """Runs the tests of one task in boxes of their own. `folder` is its environment."""

    change: Change
    suite: Suite
    folder: Path
    config: RepositoriesConfig

    @cached_property
    def _tar(self) -> bytes:
        return archive(self.change.store, self.change.task.base_tree)

    def run(self, patch: bytes, plan: TestPlan) -> _Ran:
        """The outcomes of the tests on a submission. Raises ProgramNotRun."""
        said = _run_plan(self.suite.spec, self.folder, self._tar, patch, plan, tell=True)
        tests = {str(name): str(outcome) for name, outcome in said["tests"].items()}
        return _Ran(tests, bool(said["timed_out"]), str(said["tail"]))

    def prove(self) -> ProofOfTests:
        """The tests that decide, or the reason why there are none. Raises ProgramNotRun."""
        plan, reference = self.suite.plan, self.change.patch
        proof = ProofOfTests(self.change.task.task, self.folder.name, plan)

        def failed(reason: RepositoryReason, note: str = "", flaky: int = 0) -> ProofOfTests:
            return replace(proof, plan=plan, reason=reason, note=note, flaky=flaky)

        first = self.run(reference, plan)
        if first.timed_out:
            return failed(RepositoryReason.TIMED_OUT)
        if PASSED not in first.tests.values():
            return failed(RepositoryReason.NOT_RUN, first.tail)
        base = self.run(b"", plan)
        passing = {name for name, outcome in first.tests.items() if outcome == PASSED}
        if not any(base.tests.get(name) != PASSED for name in passing):
            return failed(RepositoryReason.NO_FAIL_TO_PASS)
        more = [self.run(reference, plan) for _ in range(self.config.runs - 1)]
        steady = {n for n in passing if all(run.tests.get(n) == PASSED for run in more)}
        again = self.run(b"", plan)
        both = {n: {base.tests.get(n) == PASSED, again.tests.get(n) == PASSED} for n in steady}
        to_pass = sorted(n for n, seen in both.items() if seen == {False})
        kept = sorted(n for n, seen in both.items() if seen == {True})
        flaky = len(passing - steady) + sum(len(seen) > 1 for seen in both.values())
        if not to_pass:
            return failed(RepositoryReason.FLAKY, flaky=flaky)
        plan = replace(plan, fail_to_pass=tuple(to_pass), pass_to_pass=tuple(kept))
        tried = ["nothing"]  # it was run above: what decides fails on the base
        for name, attack in self.attacks():
            said = _run_plan(self.suite.spec, self.folder, self._tar, attack, plan, tell=False)
            if said["passed"]:
                return failed(RepositoryReason.ATTACKED, name, flaky)
            tried.append(name)
        return replace(proof, plan=plan, flaky=flaky, attacks=tuple(tried))

    def attacks(self) -> list[tuple[str, bytes]]:
        """Submissions without a solution, as patches of the shipped tree."""
        python = self.suite.spec.kind == "python"
        deleted: dict[str, bytes | None] = {path: None for path, _ in self.suite.plan.hidden}
        end, sources = (_END, ".py") if python else (_END_SCRIPT, (".ts", ".tsx", ".js"))
        stubs = {path: end for path in self.change.parts[0] if path.endswith(sources)}
        made = [
            ("tests deleted", self._attack(deleted)),
            ("runner edited", self._attack(_RUNNERS[python])),
            ("expected values in place of a program", self._attack(stubs)),
        ]
        return [(name, patch) for name, patch in made if patch]

    def _attack(self, changes: Mapping[str, bytes | None]) -> bytes:
        store, base = self.change.store, self.change.task.base_tree
        present = {entry.path for entry in store.entries(base)}
        kept = {
            path: None if content is None else ("100644", content)
            for path, content in changes.items()
            if content is not None or path in present
        }
        return self.change.patch_to(store.tree_with(base, kept), sorted(kept))


def _run_plan(
    spec: EnvironmentSpec, folder: Path, tar: bytes, patch: bytes, plan: TestPlan, *, tell: bool
) -> dict[str, Any]:
    """What `run_tests` said of a change in a box of its own. Raises ProgramNotRun."""
    files = {**runner_files(plan, tell=tell), "repository.tar": tar, "change.patch": patch}
    seconds = plan.seconds * max(1, len(plan.commands)) + GRACE
    program = Program(files, COMMAND, seconds, python=python_of(spec))
    ran = run_in_box(program, environment_box(folder, program.python))
    said: Any = None
    with suppress(orjson.JSONDecodeError):
        said = orjson.loads(ran.files.get(STDOUT, b""))
    nothing = {"tests": {}, "passed": False, "timed_out": ran.timed_out, "tail": ""}
    is_right = isinstance(said, dict) and isinstance(said.get("tests", {}), dict)
    return nothing | said if is_right else nothing


def runner_files(plan: TestPlan, *, tell: bool = False) -> dict[str, bytes]:
    """The program that runs the tests, and the plan as it reads it."""
    return {
        "run_tests.py": _RUNNER.read_bytes(),
        "plan.json": canonical_json({**asdict(plan), "tell": tell}),
    }
