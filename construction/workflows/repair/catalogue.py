"""All generators of workspace repair, how their drafts are screened, and what passed as candidates.

A draft is put to its reference solution, twice; to submissions without work (empty files, filler,
stubs, the pasted prompt, the inputs copied, the inputs saved anew); to the shortcuts that it names
itself; to a description of the work;
to the right repair with something else broken besides; to the recipes of its siblings; and to a
mutant for each check. What is run is this project's own, so all programs share one box.

Last comes the panel of scripted agents. They have the names and the faults of the panel of service
tasks, as far as a folder can show them: an agent that writes twice breaks something besides, one
that forgets a source leaves the first part undone, one that does not see the overriding rule leaves
the last part undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from construction.grading.attacks import LOREM, holding, reference_text, saved_anew, shell, stub
from construction.grading.combine import combine
from construction.grading.file_types import extension_of
from construction.grading.programs import Program, Ran, Run
from construction.grading.programs_box import LIMITS, run_in
from construction.grading.spec import TaskSpec, spec_of
from construction.grading.state import grade_state, judge_check, judge_here
from construction.grading.state_kinds import RUNS, StateReason, is_keeping
from construction.prompt_frame import WORDS
from construction.sandbox.sandbox import Box, Sandbox
from construction.workflows.contracts import RefusedError, World
from construction.workflows.declaration import tools_of
from construction.workflows.repair.drafts import Files, Repair, RepairDraft
from construction.workflows.repair.faulty_programs import REPAIRS_OF
from construction.workflows.repair.faulty_schedules import CRONTAB_TIMES, QUEUE_LOG
from construction.workflows.repair.faulty_settings import SERVICE_SETTINGS, SITE_MODES
from construction.workflows.runs import PANEL
from construction.workflows.screening import SCREEN, ScreeningConfig
from construction.workflows.trials import Tried
from data.canonical import digest
from data.contracts import (
    Budget,
    Candidate,
    Deliverable,
    Disclosure,
    Evidence,
    Fixture,
    Label,
    Lane,
    Provenance,
    Structure,
    Verdict,
)
from data.contracts.attempt import Score

REPAIRS: tuple[Repair, ...] = tuple(
    sorted(
        (
            CRONTAB_TIMES,
            QUEUE_LOG,
            SERVICE_SETTINGS,
            SITE_MODES,
            *REPAIRS_OF.values(),
        ),
        key=lambda repair: repair.name,
    )
)
BY_NAME = {repair.name: repair for repair in REPAIRS}


SOURCE = "workspace repair"
TOOLS = ("shell", "read_file", "write_file")
_BUDGET = Budget(turns=40, seconds=900)
_LARGE_BUDGET = Budget(turns=80, seconds=1800)  # of programs of several hundred lines
_ARCHIVE_BUDGET = Budget(turns=140, seconds=2700)  # and of an archive that is read besides
_MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "tar": "application/x-tar",
}


def _item_id(draft: RepairDraft) -> str:
    """The private name of a draft."""
    return f"{draft.generator}-{draft.number}"


def _prompt_of(draft: RepairDraft) -> str:
    """The request, the files that come with it, and where to put what is delivered."""
    words = WORDS["en"]
    inputs = "\n".join(f"- inputs/{name}" for name in sorted(draft.inputs))
    outputs = "\n".join(f"- {words.named.format(name=name)}" for name in draft.delivers)
    return f"{draft.prompt}\n\n{words.inputs}\n{inputs}\n\n{words.deliver}\n{outputs}"


def candidate_of(draft: RepairDraft, repair: Repair, task_id: str) -> Candidate:
    """The candidate of a draft."""
    return Candidate(
        task_id=task_id,
        lane=Lane.WORKFLOWS,
        prompt=_prompt_of(draft),
        language="en",
        task_family=Label(
            value=repair.task_family, confidence=1.0, reason=f"repair of {repair.kind}"
        ),
        business_task=repair.meaning.rstrip("."),
        execution_surface="workspace",
        fixtures=tuple(_fixture(name, data) for name, data in sorted(draft.inputs.items())),
        structure=_structure(draft),
        split=repair.split,
        tools=(*TOOLS, *_services_tools(draft)),
        budget=_budget(draft),
        deliverables=tuple(_deliverable(name) for name in draft.delivers),
        checks=draft.checks,
        evidence=Evidence(
            accuracy=any(check.evidence == "accuracy" for check in draft.checks),
            action=any(check.evidence == "action" for check in draft.checks),
        ),
        provenance=Provenance(
            source=SOURCE,
            source_format="scenario",
            item_id=_item_id(draft),
            disclosure=Disclosure.PUBLIC,
            licence="Apache-2.0",
            detail={"generator": draft.generator, "rule": draft.rule, "kind": repair.kind},
        ),
    )


def _structure(draft: RepairDraft) -> Structure:
    """Files and deliveries; with an archive, its papers and the requests of the reference too."""
    state = draft.world.state if draft.world else {}
    papers = sum(len(records) for each in state.values() for records in each.values())
    calls = len(draft.delivers) + draft.requests
    return Structure(
        records=len(draft.inputs) + papers, overriding=1, services=len(state), calls=calls
    )


def _services_tools(draft: RepairDraft) -> Iterator[str]:
    for tool in tools_of(sorted(draft.world.state)) if draft.world else ():
        yield tool.name


def _budget(draft: RepairDraft) -> Budget:
    if draft.world:
        return _ARCHIVE_BUDGET
    return _LARGE_BUDGET if draft.generator in REPAIRS_OF else _BUDGET


def _fixture(name: str, data: bytes) -> Fixture:
    media_type = _MEDIA_TYPES.get(extension_of(name), "text/plain")
    return Fixture(path=name, sha256=digest(data), bytes=len(data), media_type=media_type)


def _deliverable(name: str) -> Deliverable:
    return Deliverable(file_type=extension_of(name) or "txt", name_hints=(name,))


_IDLE = StateReason.NOTHING_REPAIRED
_FAILURES = (
    LookupError, ValueError, TypeError, AttributeError, StopIteration, AssertionError, RefusedError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _RepairScreened:
    """A draft with what its reference delivers, what it was put to, and the verdict.

    `run` runs programs that were not run in the screening.
    """

    draft: RepairDraft
    delivered: Files
    tried: Tried
    verdict: Verdict
    run: Run

    @property
    def reason(self) -> str | None:
        """Why it is no candidate; None if it is one."""
        return self.verdict.reason


def screen_repair(
    draft: RepairDraft, repair: Repair, run: Run, config: ScreeningConfig
) -> _RepairScreened:
    """A draft with its verdict; `run` runs programs, which are this project's own."""
    once = _once(run)
    seen, delivered = _tried(draft, repair, run, once, config)
    return _RepairScreened(draft, delivered, seen, SCREEN.judge(seen, config), once)


@contextmanager
def own_programs() -> Iterator[Run]:
    """A box in which programs of this project run, each in a folder that goes when it has ended.

    Raises SandboxFailed where there is no sandbox.
    """
    with Sandbox(Box(LIMITS)) as sandbox:
        numbers = count()

        def run(program: Program) -> Ran:
            folder = f"run-{next(numbers)}"
            try:
                return run_in(sandbox, program, folder)
            finally:  # the box's disk has room for a few of them
                sandbox.run(["rm", "-rf", folder], seconds=program.seconds)

        yield run


def spec_of_repair(draft: RepairDraft) -> TaskSpec:
    """What graders know of a draft."""
    fields: dict[str, Any] = {
        "task_id": f"{draft.generator}-{draft.number}",
        "prompt": draft.prompt,
        "checks": [check.model_dump(mode="json") for check in draft.checks],
    }
    return spec_of(fields)


def graded(spec: TaskSpec, files: Files, run: Run, threshold: float) -> Score:
    """The score of delivered files that this project wrote itself."""
    parts = grade_state(spec, files, run, judge_here)
    return combine(spec.task_id, parts, steps=1, gold_steps=1, threshold=threshold)


def _tried(
    draft: RepairDraft, repair: Repair, run: Run, once: Run, config: ScreeningConfig
) -> tuple[Tried, Files]:
    """What a draft was put to, and what its reference delivers; `once` runs nothing twice."""
    spec, threshold = spec_of_repair(draft), config.pass_threshold
    grader = partial(graded, spec, run=once, threshold=threshold)
    if draft.unreached:
        named = draft.unreached[0]
        return Tried(0, 0.0, unreached=len(draft.unreached), named=named), {}
    delivered = _solved(repair, draft.rule, draft.inputs, draft.world)
    oracle = grader(delivered) if delivered else None
    if oracle is None or oracle.overall != 1:
        return Tried(int(not delivered), (oracle.overall or 0.0) if oracle else 0.0), delivered
    kept = sum(is_keeping(check.kind, check.params) for check in draft.checks)
    if _held(draft, once, keeps=True) < kept:
        return Tried(1, 1.0), delivered
    differing = (
        _solved(repair, draft.rule, draft.inputs, draft.world) != delivered
        or graded(spec, delivered, run, threshold) != oracle
    )
    survivors, mutants, destructive = _mutants(draft, delivered, grader)
    passes = partial(_passes, draft, run=once)
    return (
        Tried(
            faults=0,
            oracle=1.0,
            differing=int(differing),
            null=passes([*_null_deliverables(draft), *draft.attacks])
            + _held(draft, once, keeps=False),
            talk_only=passes([_talk(spec, draft)]),
            destructive=destructive,
            siblings=passes(_sibling_recipes(draft, repair)),
            survivors=survivors,
            mutants=mutants,
        ),
        delivered,
    )


def _once(run: Run) -> Run:
    """Runs each program once: many attacks deliver the same script."""
    known: dict[str, Ran] = {}

    def remembered(program: Program) -> Ran:
        content = {path: digest(data) for path, data in program.files.items()}
        key = digest([content, program.command, program.wanted])
        if key not in known:
            known[key] = run(program)
        return known[key]

    return remembered


def _solved(repair: Repair, rule: str, inputs: Files, world: World | None) -> Files:
    """What the reference delivers for a rule; nothing where it fails on these inputs."""
    try:
        return repair.solve(rule, inputs, world)
    except _FAILURES:
        return {}


def _passes(draft: RepairDraft, submissions: Iterable[Files], run: Run) -> int:
    """How many pass. All checks are required, so the first that fails decides; reading is cheap."""
    order = sorted(draft.checks, key=lambda check: check.kind == RUNS)
    return sum(
        all(judge_check(check.kind, check.params, files, run) is None for check in order)
        for files in submissions
    )


def _held(draft: RepairDraft, run: Run, *, keeps: bool) -> int:
    """How many checks hold on the inputs as they are: all that keep something, and no others."""
    return sum(
        judge_check(check.kind, check.params, draft.inputs, run) is None
        for check in draft.checks
        if is_keeping(check.kind, check.params) is keeps
    )


def _null_deliverables(draft: RepairDraft) -> Iterator[Files]:
    """Deliveries without work: nothing, empty or filled files, and the inputs again."""
    yield {}
    for content in (shell, stub, _holding(LOREM), _holding(draft.prompt)):
        yield {name: content(extension_of(name)) or b"" for name in draft.delivers}
    yield dict(draft.inputs)
    yield {
        name: saved_anew(extension_of(name), data) or data for name, data in draft.inputs.items()
    }


def _holding(text: str) -> Any:
    return lambda extension: holding(extension, text)


def _talk(spec: TaskSpec, draft: RepairDraft) -> Files:
    """The request and the checks in words, in every file that is asked for."""
    text = reference_text(spec)
    return {name: holding(extension_of(name), text) or b"" for name in draft.delivers}


def _sibling_recipes(draft: RepairDraft, repair: Repair) -> Iterator[Files]:
    """What the solutions of the other rules make of this folder."""
    for rule in repair.rules:
        if rule != draft.rule:
            delivered = _solved(repair, rule, draft.inputs, draft.world)
            if delivered:
                yield {**draft.inputs, **delivered}


def _mutants(draft: RepairDraft, delivered: Files, grader: Any) -> tuple[int, int, int]:
    """Mutants that survive and checks without one; mutants; and destructive ones that pass.

    A mutant has to lose the part of its check, and with it the pass. It loses no other, except that
    nothing is worth keeping where nothing was mended.
    """
    survivors = passed = 0
    for check in draft.checks:
        change = draft.mutants.get(check.check_id)
        if change is None:
            survivors += 1
            continue
        files = dict(delivered)
        change(files)
        score = grader(files)
        lost = {part.name for part in score.parts if part.value != 1 and part.reason != _IDLE}
        survivors += score.passed is not False or lost != {f"check.{check.check_id}"}
        passed += score.passed is not False and is_keeping(check.kind, check.params)
    return survivors, len(draft.mutants), passed


Grader = Callable[[Files], Score]


def panel_scores(
    draft: RepairDraft, delivered: Files, grader: Grader
) -> Iterator[tuple[str, Score]]:
    """The score of each agent of the panel, in its order; `delivered` is the reference's."""
    for agent in PANEL:
        yield agent.name, grader(_delivery(agent.name, draft, delivered))


def _delivery(agent: str, draft: RepairDraft, delivered: Files) -> Files:
    mended = [c.check_id for c in draft.checks if not is_keeping(c.kind, c.params)]
    kept = [c.check_id for c in draft.checks if is_keeping(c.kind, c.params)]
    exact = [c.check_id for c in draft.checks if c.evidence == "accuracy" or c.kind == "value"]
    executes = any(check.kind == "runs" for check in draft.checks)
    violated = {
        "double_writes": kept[:1],
        "arithmetic_slip": exact[:1],
        "wrong_entity": mended[-1:] if len(mended) > 1 else [],
        "ignores_overriding_rule": mended[-1:],
        "forgets_one_source": mended[:1],
    }.get(agent, [])
    gives_up = agent == "gives_up_on_errors" and executes
    if agent == "no_writes" or gives_up:
        return {name: data for name, data in draft.inputs.items() if name in draft.delivers}
    files = dict(delivered)
    for check_id in violated:
        draft.mutants[check_id](files)
    return files
