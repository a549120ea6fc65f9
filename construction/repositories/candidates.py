"""Tasks as candidates and as exports: the request in the person's words, tree, hidden tests.

Where no tests could be proven, the only thing that runs is whether a change was made at all; the
rubric that decides is written later, and the candidate says so wherever it is seen.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from construction.grading.file_types import extension_of
from construction.repositories.contracts import (
    EnvironmentSpec,
    ProofOfTests,
    RepositoryTask,
    TestPlan,
)
from construction.repositories.environment import PACK, Built, python_of
from construction.repositories.git import Store, members
from construction.repositories.proof import COMMAND, GRACE, runner_files
from construction.repositories.requests import Request, Unwritten
from construction.repositories.suites import Suite
from data.canonical import canonical_json, digest
from data.contracts import (
    Budget,
    Candidate,
    Check,
    Deliverable,
    Disclosure,
    Evidence,
    Fixture,
    Label,
    Lane,
    Provenance,
    Step,
)
from data.errors import InputError
from data.releases.tasks import ReleasedTask, ReleasedTasks
from data.text.language import language_of

ARCHIVE, PATCH = "repository.tar", "change.patch"
_APPLY = "apply_patch"  # the operation of the reference step
_BUDGET = Budget(turns=150, seconds=3600)
_TOOLS = ("shell", "read_file", "write_file")
_INSTRUCTIONS = (
    "The repository is `inputs/repository.tar`: unpack it and work on a copy. Deliver your change "
    "as `outputs/change.patch`, a unified diff that `git apply` accepts at the root of the "
    "unpacked repository. "
)
_BY_TESTS = (
    "Tests that you are not shown decide; their files and the settings of the test runner replace "
    "yours."
)
BY_RUBRIC = "graded by rubric"
_BY_RUBRIC = (
    f"It is {BY_RUBRIC}: a judge reads your change beside the request and the repository. Changes "
    "of tests and of the settings of the test runner are left out."
)
# What a submission changed, told in the form of a test; nothing of the repository is run.
_LOOK = """
import os, sys, tarfile
with tarfile.open("../repository.tar") as archive:
    was = {m.name: m.linkname.encode() if m.issym() else archive.extractfile(m).read()
           for m in archive if not m.isdir()}
now = {}
for folder, folders, files in os.walk("."):
    for path in (os.path.join(folder, name) for name in (*folders, *files)):
        if os.path.islink(path):
            now[path[2:]] = os.readlink(path).encode()
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                now[path[2:]] = file.read()
if now != was:
    with open(sys.argv[1], "w") as report:
        report.write("<testsuite><testcase classname='change' name='made'/></testsuite>")
"""
_CHANGE_MADE = TestPlan(
    ({"folder": "", "words": ["{python}", "-I", "-c", _LOOK, "{report}"], "paths": []},),
    (),
    ("change::change::made",),
)


def _prompt_of(request: Request, *, by_rubric: bool = False) -> str:
    """The request, what hidden tests rely on and it does not say, and what to deliver."""
    listed = (name if name.startswith("“") else f"`{name}`" for name in request.unsaid)
    relied_on = [f"What the tests rely on: {', '.join(listed)}"] if request.unsaid else []
    ends = _INSTRUCTIONS + (_BY_RUBRIC if by_rubric else _BY_TESTS)
    return "\n\n".join((request.text, *relied_on, ends))


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose task it is: its id, the source that it came from, and whether that is public."""

    task_id: str
    source: str
    disclosure: Disclosure


def candidate_of(
    case: Unwritten, request: Request, archive: bytes, origin: Origin, tests: HiddenTests | None
) -> Candidate:
    """The candidate of a task with its request; without tests a rubric is still to be written."""
    task = case.task
    fixture = Fixture(
        path=ARCHIVE, sha256=digest(archive), bytes=len(archive), media_type="application/x-tar"
    )
    arguments = {"patch": case.change.patch.decode("utf-8", "surrogateescape")}
    text = "Apply the change of the session."
    reference = Step(index=1, text=text, operation=_APPLY, arguments=arguments)
    kind = "a code change" if tests else f"a code change, {BY_RUBRIC}"
    return Candidate(
        task_id=origin.task_id,
        lane=Lane.REPOSITORIES,
        prompt=_prompt_of(request, by_rubric=tests is None),
        language=language_of(request.text) or "und",
        task_family=Label(value="software_engineering", confidence=1.0, reason=kind),
        execution_surface="workspace",
        fixtures=(fixture,),
        tools=_TOOLS,
        budget=_BUDGET,
        deliverables=(Deliverable(file_type=extension_of(PATCH), name_hints=(PATCH,)),),
        steps=(reference,),
        checks=(tests.check(case.proof, fixture) if tests else _change_made(fixture),),
        evidence=Evidence(action=True),
        provenance=Provenance(
            source=origin.source,
            source_format=task.source_format,
            item_id=task.task,
            disclosure=origin.disclosure,
            licence=task.licence,
            judge=request.judge,
            detail=_detail(task, case.proof),
        ),
    )


def _detail(task: RepositoryTask, proof: ProofOfTests) -> dict[str, object]:
    """What is stated of a task's base and of its tests."""
    stated: dict[str, object] = {
        "repository": task.repository,
        "base_commit": task.base.commit,
        "evidence": [str(kind) for kind in task.base.evidence],
        "confidence": task.base.confidence,
        "replayed": task.replayed,
        "edited": task.edited,
        "left_out": task.left_out,
    }
    if proof.reason is not None:
        return stated | {"tests": f"{BY_RUBRIC}: {proof.reason}"}
    proven: dict[str, object] = {
        "fail_to_pass": len(proof.plan.fail_to_pass),
        "pass_to_pass": len(proof.plan.pass_to_pass),
        "flaky": proof.flaky,
        "attacks": list(proof.attacks),
    }
    return stated | proven | ({"tests": _writer(proof)} if proof.judge else {})


def _writer(proof: ProofOfTests) -> str:
    """Who wrote the tests, if no session did, and what showed that they decide."""
    noticed, tried = proof.mutants
    return f"written by {proof.judge}; they notice {noticed} of {tried} wrong copies of the change"


@dataclass(frozen=True, slots=True)
class HiddenTests:
    """What the hidden tests of a task need: its suite, and the environment that was built."""

    suite: Suite
    built: Built

    def check(self, proof: ProofOfTests, fixture: Fixture) -> Check:
        """The hidden tests as a check that runs: what passed on the reference has to pass."""
        spec = self.suite.spec
        return _check(
            proof.plan,
            fixture,
            {
                "name": proof.environment,
                "kind": spec.kind,
                "python": python_of(spec),
                "packages": list(self.built.packages),
                "root": spec.packages[0] if spec.kind != "python" else "",
            },
            check_id="hidden_tests",
            text="The hidden tests pass, and those that passed before still do."
            + (f" They were {_writer(proof)}." if proof.judge else ""),
            weight=1.0,
        )


def _change_made(fixture: Fixture) -> Check:
    """What an attempt without a change fails, whatever its judge says."""
    text = "The patch can be applied, and changes more than tests and settings of their runner."
    environment = {"python": python_of(EnvironmentSpec("python"))}
    return _check(_CHANGE_MADE, fixture, environment, check_id="change_made", text=text, weight=0.0)


def _check(
    plan: TestPlan,
    fixture: Fixture,
    environment: dict[str, Any],
    *,
    check_id: str,
    text: str,
    weight: float,
) -> Check:
    files = {name: {"text": content.decode()} for name, content in runner_files(plan).items()}
    passed = {"file": "stdout", "form": "json", "key": "passed", "is": True}
    params = {
        "files": {**files, ARCHIVE: {"input": fixture.sha256}, PATCH: {"output": PATCH}},
        "command": COMMAND,
        "seconds": plan.seconds * max(1, len(plan.commands)) + GRACE,
        "environment": environment,
        "after": [{"kind": "value", "params": passed}],
    }
    return Check(
        check_id=check_id, kind="runs", params=params, text=text, weight=weight, required=True
    )


_UNTESTED = "# Untested: this image was not built when the release was exported."
_SOLVE = """#!/bin/sh
# Delivers the change of the session.
set -eu
cp "$(dirname "$0")/change.patch" "${BENCHMINT_WORK:-/work}/outputs/change.patch"
"""
_INSTALL = {
    "npm": "npm ci --ignore-scripts --no-audit --no-fund",
    "pnpm": "npx --yes pnpm install --frozen-lockfile --ignore-scripts "
    "--config.node-linker=hoisted",
    "bun": "/opt/build/tools/node_modules/@oven/bun-linux-x64/bin/bun install --frozen-lockfile "
    "--ignore-scripts",
}
_NODE = """{untested}
FROM node:22-bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    git python3 tmux && rm -rf /var/lib/apt/lists/*
COPY inputs/ /work/inputs/
COPY pack.py /opt/build/pack.py
WORKDIR /opt/build
RUN mkdir project && tar xf /work/inputs/repository.tar -C project{tools}
RUN cd project/{root} && {install}
RUN python3 pack.py project && mv environment /opt/programs && rm -rf project
WORKDIR /work
RUN mkdir -p outputs
"""
_PYTHON = """{untested}
FROM python:{python}-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    git tmux && rm -rf /var/lib/apt/lists/*
COPY requirements.txt /opt/requirements.txt
RUN pip install --no-cache-dir --only-binary :all: --no-deps --target /opt/programs/site \\
    -r /opt/requirements.txt
WORKDIR /work
COPY inputs/ inputs/
RUN mkdir -p outputs
"""


def _repository_tasks(release: ReleasedTasks) -> Iterator[ReleasedTask]:
    """The tasks of the lane in a release, by id."""
    for task_id in sorted(release.tasks):
        if release.tasks[task_id].candidate.lane is Lane.REPOSITORIES:
            yield release.tasks[task_id]


def harbor_files(release: ReleasedTasks) -> dict[str, dict[str, str]]:
    """By task: the files that replace or join those that Harbor's tasks have, path -> text."""
    files = {}
    for task in _repository_tasks(release):
        whole = release.grading(task.candidate.task_id)
        files[task.candidate.task_id] = {
            **_image(_checked_export(whole)["environment"]),
            "solution/solve.sh": _SOLVE,
            f"solution/{PATCH}": _reference(whole),
        }
    return files


def _image(built: Mapping[str, Any]) -> dict[str, str]:
    """The image with the environment that was built; none is where a rubric decides."""
    if "name" not in built:
        return {}
    if built["kind"] == "python":
        text = _PYTHON.format(untested=_UNTESTED, python=built["python"])
        packages = "".join(f"{package}\n" for package in built["packages"])
        return {"environment/Dockerfile": text, "environment/requirements.txt": packages}
    tools = " && npm install --prefix tools @oven/bun-linux-x64" if built["kind"] == "bun" else ""
    install = _INSTALL[built["kind"]]
    text = _NODE.format(untested=_UNTESTED, root=built["root"], install=install, tools=tools)
    return {"environment/Dockerfile": text, "environment/pack.py": PACK}


def _checked_export(whole: Mapping[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = whole["checks"][0]["params"]
    return params


def _reference(whole: Mapping[str, Any]) -> str:
    return next(str(s["arguments"]["patch"]) for s in whole["steps"] if s["operation"] == _APPLY)


def swe_bench_lines(release: ReleasedTasks) -> Iterator[bytes]:
    """The tasks of the lane as lines of SWE-bench. Raises InputError without any."""
    tasks = list(_repository_tasks(release))
    if not tasks:
        raise InputError(
            release.snapshot, "no repository tasks", "a release built with --repos",
            "Export it for Harbor or Inspect.",
        )  # fmt: skip
    for task in tasks:
        whole = release.grading(task.candidate.task_id)
        params = _checked_export(whole)
        plan = orjson.loads(params["files"]["plan.json"]["text"])
        private = _provenance(release, task)
        is_proven = "name" in params["environment"]
        yield (
            canonical_json(
                {
                    "instance_id": task.candidate.task_id,
                    "repo": private.get("repository", ""),
                    "base_commit": private.get("base_commit", ""),
                    "problem_statement": task.candidate.prompt,
                    "patch": _reference(whole),
                    "test_patch": _hidden_patch(plan["hidden"], task.inputs[ARCHIVE]),
                    "FAIL_TO_PASS": plan["fail_to_pass"] if is_proven else [],
                    "PASS_TO_PASS": plan["pass_to_pass"],
                    "environment": params["environment"] if is_proven else {},
                    "commands": plan["commands"] if is_proven else [],
                    **({} if is_proven else {"needs_judge": True, "rubric": whole["rubric"]}),
                }
            )
            + b"\n"
        )


def _provenance(release: ReleasedTasks, task: ReleasedTask) -> dict[str, Any]:
    path = None if release.private is None else release.private / task.candidate.task_id
    content = (path / "provenance.json").read_bytes() if path is not None else b"{}"
    private = orjson.loads(content).get("provenance", {})
    detail: dict[str, Any] = private.get("detail", {})
    return detail


def _hidden_patch(hidden: list[tuple[str, str | None]], archive: Path) -> str:
    """The hidden files as a patch of the shipped tree."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder, "git"))
        base = store.tree_with(store.start(), members(archive, {path for path, _ in hidden}))
        laid = {p: None if c is None else ("100644", base64.b64decode(c)) for p, c in hidden}
        there = {entry.path for entry in store.entries(base)}
        changes = {p: c for p, c in laid.items() if c is not None or p in there}
        return store.patch(base, store.tree_with(base, changes), sorted(changes)).decode()
