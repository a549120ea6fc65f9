"""Proven tasks as candidates: the request in the person's words, the tree, the hidden tests."""

from __future__ import annotations

from dataclasses import dataclass

from construction.grading.file_types import extension_of
from construction.repositories.contracts import ProofOfTests, RepositoryTask
from construction.repositories.environment import Built, python_of
from construction.repositories.proof import COMMAND, GRACE, runner_files
from construction.repositories.requests import Request, Unwritten
from construction.repositories.suites import Suite
from data.canonical import digest
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
from data.text.language import language_of

ARCHIVE, PATCH = "repository.tar", "change.patch"
APPLY = "apply_patch"  # the operation of the reference step
_BUDGET = Budget(turns=150, seconds=3600)
_TOOLS = ("shell", "read_file", "write_file")
_INSTRUCTIONS = (
    "The repository is `inputs/repository.tar`: unpack it and work on a copy. Deliver your change "
    "as `outputs/change.patch`, a unified diff that `git apply` accepts at the root of the "
    "unpacked repository. Tests that you are not shown decide; their files and the settings of "
    "the test runner replace yours."
)


def prompt_of(request: Request) -> str:
    """The request, what hidden tests rely on and it does not say, and what to deliver."""
    listed = (name if name.startswith("“") else f"`{name}`" for name in request.unsaid)
    relied_on = [f"What the tests rely on: {', '.join(listed)}"] if request.unsaid else []
    return "\n\n".join((request.text, *relied_on, _INSTRUCTIONS))


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose task it is: its id, the source that it came from, and whether that is public."""

    task_id: str
    source: str
    disclosure: Disclosure


def candidate_of(
    case: Unwritten, suite: Suite, built: Built, request: Request, archive: bytes, origin: Origin
) -> Candidate:
    """The candidate of a proven task with its request."""
    task, proof = case.task, case.proof
    fixture = Fixture(
        path=ARCHIVE, sha256=digest(archive), bytes=len(archive), media_type="application/x-tar"
    )
    arguments = {"patch": case.change.patch.decode("utf-8", "surrogateescape")}
    text = "Apply the change of the session."
    reference = Step(index=1, text=text, operation=APPLY, arguments=arguments)
    return Candidate(
        task_id=origin.task_id,
        lane=Lane.REPOSITORIES,
        prompt=prompt_of(request),
        language=language_of(request.text) or "und",
        task_family=Label(value="software_engineering", confidence=1.0, reason="a code change"),
        execution_surface="workspace",
        fixtures=(fixture,),
        tools=_TOOLS,
        budget=_BUDGET,
        deliverables=(Deliverable(file_type=extension_of(PATCH), name_hints=(PATCH,)),),
        steps=(reference,),
        checks=(_check(suite, proof, built, fixture),),
        evidence=Evidence(action=True),
        provenance=Provenance(
            source=origin.source,
            source_format=task.source_format,
            item_id=task.task,
            disclosure=origin.disclosure,
            licence=task.licence,
            judge=request.judge,
            detail=_detail(task, proof),
        ),
    )


def _detail(task: RepositoryTask, proof: ProofOfTests) -> dict[str, object]:
    """What is stated of a task's base and of its tests."""
    return {
        "repository": task.repository,
        "base_commit": task.base.commit,
        "evidence": [str(kind) for kind in task.base.evidence],
        "confidence": task.base.confidence,
        "replayed": task.replayed,
        "edited": task.edited,
        "left_out": task.left_out,
        "fail_to_pass": len(proof.plan.fail_to_pass),
        "pass_to_pass": len(proof.plan.pass_to_pass),
        "flaky": proof.flaky,
        "attacks": list(proof.attacks),
        **({"tests": _writer(proof)} if proof.judge else {}),
    }


def _writer(proof: ProofOfTests) -> str:
    """Who wrote the tests, if no session did, and what showed that they decide."""
    noticed, tried = proof.mutants
    return f"written by {proof.judge}; they notice {noticed} of {tried} wrong copies of the change"


def _check(suite: Suite, proof: ProofOfTests, built: Built, fixture: Fixture) -> Check:
    """The hidden tests as a check that runs: what passed on the reference has to pass."""
    plan = proof.plan
    files = {name: {"text": text.decode()} for name, text in runner_files(plan).items()}
    return Check(
        check_id="hidden_tests",
        kind="runs",
        params={
            "files": {**files, ARCHIVE: {"input": fixture.sha256}, PATCH: {"output": PATCH}},
            "command": COMMAND,
            "seconds": plan.seconds * max(1, len(plan.commands)) + GRACE,
            "environment": {
                "name": proof.environment,
                "kind": suite.spec.kind,
                "python": python_of(suite.spec),
                "packages": list(built.packages),
                "root": suite.spec.packages[0] if suite.spec.kind != "python" else "",
            },
            "after": [
                {
                    "kind": "value",
                    "params": {"file": "stdout", "form": "json", "key": "passed", "is": True},
                }
            ],
        },
        text="The hidden tests pass, and those that passed before still do."
        + (f" They were {_writer(proof)}." if proof.judge else ""),
        weight=1.0,
        required=True,
    )
