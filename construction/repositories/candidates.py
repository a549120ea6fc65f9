"""Proven tasks as candidates: the request in the person's words, the tree, the hidden tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from construction.grading.file_types import extension_of
from construction.repositories.contracts import (
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
)
from construction.repositories.environment import Built, python_of
from construction.repositories.proof import COMMAND, GRACE, runner_files
from construction.repositories.suites import Suite
from construction.repositories.trees import added_lines
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
    share,
)
from data.text.language import language_of

ARCHIVE, PATCH = "repository.tar", "change.patch"
APPLY = "apply_patch"  # the operation of the reference step
_BUDGET = Budget(turns=150, seconds=3600)
_TOOLS = ("shell", "read_file", "write_file")
# What a person says to go on, and what asks for nothing but git: never a request by itself.
_GOING_ON = re.compile(
    r"(?i)(?:(?:please|now|ok(?:ay)?|yes|and|then)[,.]? )*"
    r"(?:go(?: ahead| on)?|continue|proceed|yes|ok(?:ay)?|thanks?(?: you)?|y|do it|lgtm|looks good|"
    r"(?:git )?(?:commit|push|merge)"
    r"(?: (?:this|it|that|and|the|changes?|all|push|now|to|main))*)[.! ]*"
)
_INSTRUCTIONS = (
    "The repository is `inputs/repository.tar`: unpack it and work on a copy. Deliver your change "
    "as `outputs/change.patch`, a unified diff that `git apply` accepts at the root of the "
    "unpacked repository. Tests that you are not shown decide; their files and the settings of "
    "the test runner replace yours."
)
_RELIED_ON = "What the tests rely on: "


def request_of(
    task: RepositoryTask, interface: Sequence[str], patch: bytes, config: RepositoriesConfig
) -> str | RepositoryReason:
    """The person's words of a task as one request, or why they cannot be taken as they are.

    What follows other talk leans on it ("this option", "yes, the second"): that a model has to
    read.
    """
    messages = [text for text in task.messages if not _GOING_ON.fullmatch(text)]
    whole = "\n\n".join(messages)
    is_short = len(whole) < config.min_request_chars
    if not task.opens or len(messages) > config.max_messages or is_short:
        return RepositoryReason.NEEDS_MODEL
    if given_share(patch, whole) > config.max_given_share:
        return RepositoryReason.GIVES_PATCH
    if task.edited is not None and task.edited < config.min_edited:
        return RepositoryReason.OTHER_WORK  # a commit may hold what other sessions did
    return RepositoryReason.UNSAID if len(interface) > config.max_unsaid else whole


def given_share(patch: bytes, request: str) -> float:
    """The share of the lines that a patch adds which the request contains, as a diff or not."""
    added = set(added_lines(patch))
    return share(sum(line in request for line in added), len(added))


def prompt_of(request: str, interface: Sequence[str]) -> str:
    """The request, what hidden tests rely on and nobody could guess, and what to deliver."""
    listed = (name if name.startswith("“") else f"`{name}`" for name in interface)
    relied_on = [_RELIED_ON + ", ".join(listed)] if interface else []
    return "\n\n".join((request, *relied_on, _INSTRUCTIONS))


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose task it is: its id, the source that it came from, and whether that is public."""

    task_id: str
    source: str
    disclosure: Disclosure


def candidate_of(
    task: RepositoryTask,
    suite: Suite,
    proof: ProofOfTests,
    built: Built,
    request: str,
    archive: bytes,
    patch: bytes,
    origin: Origin,
) -> Candidate:
    """The candidate of a proven task."""
    fixture = Fixture(
        path=ARCHIVE, sha256=digest(archive), bytes=len(archive), media_type="application/x-tar"
    )
    arguments = {"patch": patch.decode("utf-8", "surrogateescape")}
    text = "Apply the change of the session."
    reference = Step(index=1, text=text, operation=APPLY, arguments=arguments)
    return Candidate(
        task_id=origin.task_id,
        lane=Lane.REPOSITORIES,
        prompt=prompt_of(request, suite.interface),
        language=language_of(request) or "und",
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
    }


def _check(suite: Suite, proof: ProofOfTests, built: Built, fixture: Fixture) -> Check:
    """The hidden tests as a check that runs: what passed on the reference has to pass."""
    plan = proof.plan
    files = {name: {"text": text.decode()} for name, text in runner_files(plan).items()}
    return Check(
        check_id="hidden_tests",
        kind="runs",
        params={
            "files": {
                **files,
                ARCHIVE: {"input": fixture.sha256},
                PATCH: {"output": PATCH},
            },
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
        text="The hidden tests pass, and those that passed before still do.",
        weight=1.0,
        required=True,
    )
