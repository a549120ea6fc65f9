"""Tests that a model writes where a session brought none, taken only if they prove themselves.

The model reads what was said and the change; it writes one test file. The file has to fail on the
base and pass on the reference in every run, stop every attack, notice most mutants of the change,
and must not look for what only the change brought and nobody said. What is wrong goes back once, as
a list; what stays wrong is no proof.
"""

from __future__ import annotations

import base64
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from construction.judging.contracts import Answer
from construction.judging.judges import Judges
from construction.judging.model.asking import (
    Checked,
    Faults,
    Stage,
    ask,
    require_answers,
    write_model_use,
)
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.judging.settings import ModelStage
from construction.repositories.contracts import (
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
    Speaker,
    TestPlan,
    dump,
)
from construction.repositories.git import LINK, SUBMODULE, Store
from construction.repositories.mutants import mutants_of
from construction.repositories.proof import Prover, Ran
from construction.repositories.requests import outline, shown_talk
from construction.repositories.run_tests import PASSED, is_test
from construction.repositories.suites import (
    Suite,
    is_source,
    kind_of,
    neighbours,
    split,
    suite_of,
    unsaid,
)
from construction.repositories.trees import is_safe
from data.canonical import digest

PROMPT = "repository_tests"
VERSION = "written-tests/1"  # raised when a proof asks for something else
MODEL_STAGE = ModelStage.REPOSITORY_TESTS
_SHOWN, _EXAMPLE = 60_000, 8_000  # characters that a model is shown of the files, of an example
_MOST_FILES, _MOST_TOLD = 20, 8
_HURRY = 4  # a mutant may never end: it has a part of the time alone
_STEM = re.compile(r"(test_)?.*?((?:[._](?:test|spec))?\.\w+)$")
# Of the mutants of a change some do what it does (a bound that no input reaches, an order that does
# not matter), so that no tests notice all; below three of five, whole parts of the change could be
# left out. Six at least, so that four different places of it have to be right.
_LEAST_MUTANTS, _MOST_MUTANTS, _LEAST_NOTICED = 6, 12, 0.6
_WRONG = {
    RepositoryReason.TIMED_OUT: "The tests take too long.",
    RepositoryReason.NOT_RUN: "The tests do not run with the change",
    RepositoryReason.NO_FAIL_TO_PASS: "No test fails on the repository as it was.",
    RepositoryReason.FLAKY: "The tests differ from run to run.",
    RepositoryReason.ATTACKED: "They pass for a submission without a solution",
}


class TestsAnswer(Answer):
    path: Annotated[str, Field(max_length=200)]
    content: Annotated[str, Field(max_length=60_000)]
    why_none: Annotated[str, Field(max_length=400)]


@dataclass(frozen=True, slots=True)
class Untested:
    """A task without a test: where its tests would lie, how they would run, one that is there."""

    task: RepositoryTask
    store: Store
    config: RepositoriesConfig
    place: str
    suite: Suite
    example: str | None

    @property
    def said(self) -> str:
        """The person's words."""
        return "\n".join(s.text for s in self.task.talk if s.speaker is Speaker.PERSON)

    @property
    def visible(self) -> list[str]:
        """The paths of the change that a submission has to bring."""
        return split(self.store.changed(self.task.base_tree, self.task.reference_tree))[0]


def texts_in(store: Store, tree: str, paths: Sequence[str]) -> dict[str, str]:
    """The text files among some paths of a tree."""
    modes = (LINK, SUBMODULE)
    named = {e.path: e.name for e in store.entries(tree) if e.path in paths and e.mode not in modes}
    contents = store.blobs(named.values())
    return {
        path: contents[name].decode("utf-8", "replace")
        for path, name in named.items()
        if b"\0" not in contents[name]
    }


def with_test(task: RepositoryTask, store: Store, path: str, content: bytes) -> RepositoryTask:
    """The task with a test file in its reference."""
    tree = store.tree_with(task.reference_tree, {path: ("100644", content)})
    return replace(task, reference_tree=tree)


def with_hidden(task: RepositoryTask, store: Store, proof: ProofOfTests) -> RepositoryTask:
    """The task with the tests of its proof that its reference lacks."""
    known = {entry.path for entry in store.entries(task.reference_tree)}
    for path, content in proof.plan.hidden:
        if path not in known and content is not None:
            task = with_test(task, store, path, base64.b64decode(content))
    return task


def untested_of(
    task: RepositoryTask, store: Store, config: RepositoriesConfig
) -> Untested | RepositoryReason:
    """A task with a place for its tests, or why there is none. Raises GitFailed."""
    visible, _ = split(store.changed(task.base_tree, task.reference_tree))
    sources = [path for path in visible if is_source(path)]
    if not sources:
        return RepositoryReason.NO_TESTS
    tests = [e.path for e in store.entries(task.reference_tree) if is_test(e.path)]
    near = neighbours(sources[:1], tests, config.model_copy(update={"neighbours": 1}))
    folder = posixpath.dirname(sources[0])
    model = (
        near[0]
        if near
        else "tests/test_.py"
        if kind_of(sources[0]) == "python"
        else f"{folder}/.test.ts"
    )
    place = posixpath.join(
        posixpath.dirname(model), _STEM.sub(r"\1written\2", posixpath.basename(model), 1)
    )
    planned = with_test(task, store, place, b"")
    suite = suite_of(store, task.base_tree, planned.reference_tree, config)
    if isinstance(suite, RepositoryReason):
        return suite
    return Untested(task, store, config, place, suite, near[0] if near else None)


Prove = Callable[[Untested, RepositoryTask, str], ProofOfTests]


def write_tests(
    cases: Sequence[Untested], judges: Judges, prove: Prove, out: Path
) -> list[ProofOfTests]:
    """The proof of each task with tests of a model, in order. Raises UnansweredError."""
    stage = writing_stage(prove, judges.config.model.judge_of(MODEL_STAGE))
    with judges.client(masked=True) as client:
        judged = require_answers(ask(stage, cases, client))
        replies = {f"model-replies-{MODEL_STAGE}": client.replies_digest()}
    proofs = [one.value for one in judged if one.value is not None]
    found = {"written-tests": digest(b"".join(map(dump, proofs)))}
    write_model_use(out, judges.costs({PROMPT: judged}), replies | found)
    return proofs


def writing_stage(prove: Prove, judge: str) -> Stage[Untested, TestsAnswer, ProofOfTests]:
    """The stage, for callers that want its tests or checks alone."""

    def check(case: Untested, answer: TestsAnswer) -> Checked[ProofOfTests] | Faults:
        if not answer.content.strip():
            return Checked(_unproven(case, answer.why_none))
        faults = _faults(case, answer)
        if not faults:
            task = with_test(case.task, case.store, answer.path, answer.content.encode())
            proof = prove(case, task, answer.path)
            if proof.reason is not RepositoryReason.UNPROVEN:
                return Checked(replace(proof, judge=judge))
            faults = [proof.note]
        return Faults(tuple(faults))

    return Stage(
        prompt=load_prompt(PROMPT),
        answer=TestsAnswer,
        item_id=lambda case: case.task.task,
        content=_content,
        check=check,
        programs=frozenset({"content"}),
        settle=lambda case, _, faults: _unproven(case, "\n".join(faults)),
    )


def _unproven(case: Untested, note: str) -> ProofOfTests:
    plan = TestPlan((), ())
    return ProofOfTests(case.task.task, "", plan, RepositoryReason.UNPROVEN, note)


def _faults(case: Untested, answer: TestsAnswer) -> list[str]:
    """What is wrong with a test file before it is run."""
    path, task, store = answer.path, case.task, case.store
    known = {entry.path for entry in store.entries(task.reference_tree)}
    if (
        not (is_safe(path) and is_test(path))
        or path in known
        or kind_of(path) != kind_of(case.place)
    ):
        return [f"`path` has to be a new file with tests, such as {case.place}"]
    written = with_test(task, store, path, answer.content.encode())
    suite = suite_of(store, task.base_tree, written.reference_tree, case.config)
    if isinstance(suite, RepositoryReason) or suite.spec != case.suite.spec:
        return ["The tests need packages, or a runner, that the repository does not use."]
    trees = task.base_tree, written.reference_tree
    sought = unsaid(store, *trees, [path], case.said)
    missing = [name for name, is_new in sought.items() if is_new]
    told = ", ".join(missing[:_MOST_TOLD])
    return [f"The tests look for what only the change has and nobody said: {told}"] if told else []


def prove_written(prover: Prover, path: str, environment: str) -> ProofOfTests:
    """The proof of tests that a model wrote in a file, or what is wrong with them."""
    task, store, config = prover.task, prover.store, prover.config
    alone = config.model_copy(update={"neighbours": 0})
    suite = suite_of(store, task.base_tree, task.reference_tree, alone)
    assert isinstance(suite, Suite)
    first = prover.run(prover.reference, suite.plan)
    proof = ProofOfTests(task.task, environment, suite.plan, RepositoryReason.UNPROVEN)
    failing = sorted(name for name, outcome in first.tests.items() if outcome != PASSED)
    if failing or not first.tests:
        told = f"Not all tests pass with the change: {_listed(failing)}\n{first.tail}"
        return replace(proof, note=told)
    proven = prover.prove(environment)
    if proven.reason is not None:
        return replace(proof, note=f"{_WRONG[proven.reason]} {proven.note}".strip())
    faults = []
    new = {*proven.plan.fail_to_pass} & first.tests.keys()
    if not new:
        faults.append(_WRONG[RepositoryReason.NO_FAIL_TO_PASS])
    if flaky := first.tests.keys() - {*proven.plan.fail_to_pass, *proven.plan.pass_to_pass}:
        faults.append(f"These tests differ from run to run: {_listed(sorted(flaky))}")
    plan = replace(suite.plan, seconds=max(1, config.test_seconds // _HURRY))
    mutants = _mutants(prover, path)
    missed = [told for told, patch in mutants if _passes(prover.run(patch, plan), first)]
    noticed = len(mutants) - len(missed)
    if len(mutants) < _LEAST_MUTANTS:
        faults.append(f"The change has {len(mutants)} places where it can be made wrong, too few.")
    elif noticed < _LEAST_NOTICED * len(mutants):
        told = "".join(f"\n  {each}" for each in missed)
        faults.append(
            f"They notice {noticed} of {len(mutants)} wrong changes, and miss these:{told}"
        )
    if faults:
        return replace(proof, note="\n".join(faults))
    return replace(proven, mutants=(noticed, len(mutants)))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_TOLD]) or "none was run"


def _passes(ran: Ran, first: Ran) -> bool:
    return all(ran.tests.get(name) == PASSED for name in first.tests)


def _mutants(prover: Prover, path: str) -> list[tuple[str, bytes]]:
    """Some mutants of the reference, each in words and as a submission."""
    task, store = prover.task, prover.store
    sources = [p for p in prover.visible if is_source(p) and kind_of(p) == kind_of(path)]
    before, after = (texts_in(store, t, sources) for t in (task.base_tree, task.reference_tree))
    every = [m for p, text in after.items() for m in mutants_of(p, before.get(p, ""), text)]
    modes = {entry.path: entry.mode for entry in store.entries(task.reference_tree)}
    made = []
    for mutant in sorted(every, key=lambda m: digest(f"{m}".encode()))[:_MOST_MUTANTS]:
        text = after[mutant.path]
        changes = {mutant.path: (modes[mutant.path], mutant.of(text).encode())}
        patch = prover.patch(store.tree_with(task.reference_tree, changes))
        made.append((mutant.told(text), patch))
    return made


def _content(case: Untested, cleaner: Cleaner) -> dict[str, Any]:
    """What a model is shown: what was said, what changed and how, and how tests are run."""
    task, paths = case.task, case.visible[:_MOST_FILES]
    room = _SHOWN // (2 * len(paths))
    before, after = (
        texts_in(case.store, tree, paths) for tree in (task.base_tree, task.reference_tree)
    )
    example = texts_in(case.store, task.reference_tree, [case.example or ""])
    known = [entry.path for entry in case.store.entries(task.base_tree)]

    def shown(texts: dict[str, str], path: str) -> str | None:
        return cleaner.text(texts[path], room, path) if path in texts else None

    return {
        "talk": [
            {"who": str(said.speaker), "when": "before" if said.before else "now", "text": text}
            for said, text in shown_talk(task.talk, set(), cleaner)
        ],
        "changed": [
            {"path": p, "before": shown(before, p), "after": shown(after, p)} for p in paths
        ],
        "files": outline(known, [*paths, case.place]),
        "runner": " ".join(case.suite.plan.commands[0]["words"]),
        "place": case.place,
        "example": [
            {"path": p, "content": cleaner.text(t, _EXAMPLE, p)} for p, t in example.items()
        ],
    }
