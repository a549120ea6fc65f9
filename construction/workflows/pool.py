"""The drafts of one generator, screened: candidates, worlds, input files, scores of the panel.

A candidate over services has the reference run as its steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Literal

from construction.grading.programs import Run
from construction.sandbox.sandbox import SandboxFailed
from construction.workflows.contracts import Draft, Scenario, World
from construction.workflows.declaration import tools_of
from construction.workflows.documents.contracts import Document
from construction.workflows.documents.scenario import scenario_of, scenarios
from construction.workflows.proposals import Proposed, read_proposals
from construction.workflows.repair import catalogue as repair_candidates
from construction.workflows.repair.catalogue import BY_NAME as REPAIRS
from construction.workflows.repair.catalogue import (
    graded,
    own_programs,
    panel_scores,
    screen_repair,
    spec_of_repair,
)
from construction.workflows.repair.drafts import Repair
from construction.workflows.runs import (
    CALLS,
    PANEL,
    SECONDS,
    TURNS,
    allowance_for,
    reference_steps,
)
from construction.workflows.runs import Run as ServiceRun
from construction.workflows.screening import (
    PILOT,
    SCREEN,
    STAGE,
    Piloted,
    Screened,
    ScreeningConfig,
    screen,
    screened,
)
from construction.workflows.trials import UNTRIED
from construction.workflows.world_file import WORLDS, write_world
from data.atomic import write_bytes
from data.contracts import (
    Budget,
    Candidate,
    Disclosure,
    Evidence,
    Label,
    Lane,
    LedgerRow,
    Outcome,
    Provenance,
    StageKind,
    Structure,
    Verdict,
)
from data.contracts.attempt import Score
from data.errors import InputError
from data.ledger import deciding, gated_row
from data.pool import write_pool
from data.stage_tables import write_stage_tables

SOURCE = "scenarios over services"
_EASY, _MEDIUM = 9, 12  # points up to which a task is easy, or medium
DIFFICULTY_RULE = (
    "a point for each service that has to be read, each wanted change and each part of the answer, "
    f"two for a decoy, two for a fault: up to {_EASY} easy, up to {_MEDIUM} medium, above hard"
)


_ALLOWED = {
    "en": "The services answer {allowance} requests in all; those that they refuse count too.",
    "zh": "各项服务总共只处理{allowance}次请求，被拒绝的请求也计算在内。",
}


def _item_id(draft: Draft) -> str:
    """The private name of a draft; task ids are made of it."""
    return f"{draft.scenario}-{draft.number}"


def _candidate_of(draft: Draft, scenario: Scenario, run: ServiceRun, task_id: str) -> Candidate:
    """The candidate of a draft whose reference run is `run`.

    Its world is released apart, to graders and runners alone.
    """
    kinds = {check.evidence for check in draft.checks}
    return Candidate(
        task_id=task_id,
        lane=Lane.WORKFLOWS,
        prompt=draft.prompt,
        language=draft.language,
        task_family=Label(
            value=scenario.task_family, confidence=1.0, reason=f"scenario {scenario.name}"
        ),
        business_task=scenario.meaning,
        execution_surface="services",
        difficulty=difficulty_of(draft, scenario),
        difficulty_rule=DIFFICULTY_RULE,
        structure=_structure_of(draft, scenario, run),
        split=scenario.split,
        guidelines=_guidelines(draft, _allowance(scenario, run)),
        tools=tuple(tool.name for tool in tools_of(sorted(draft.world.state))),
        budget=_budget(len(run.requests)),
        answers=draft.answers,
        steps=reference_steps(run.audit, run.answer),
        checks=draft.checks,
        evidence=Evidence(
            retrieval="retrieval" in kinds,
            accuracy=bool(draft.answers) or "accuracy" in kinds,
            action="action" in kinds,
        ),
        provenance=Provenance(
            source=SOURCE,
            source_format="scenario",
            item_id=_item_id(draft),
            disclosure=Disclosure.PUBLIC,
            licence="Apache-2.0",
            detail={"generator": draft.scenario, "rule": draft.rule},
        ),
    )


def _allowance(scenario: Scenario, run: ServiceRun) -> int | None:
    """How many requests the services of a task answer; None if there is no limit."""
    return allowance_for(len(run.requests)) if scenario.split == "full" else None


def _guidelines(draft: Draft, allowance: int | None) -> str:
    if allowance is None:
        return draft.guidelines
    said = _ALLOWED.get(draft.language, _ALLOWED["en"]).format(allowance=allowance)
    return f"{said}\n{draft.guidelines}"


def _budget(requests: int) -> Budget:
    """What every agent has; for longer reference runs, of proposals, in proportion."""
    turns = max(TURNS, -(-requests // CALLS))
    return Budget(turns=turns, seconds=SECONDS * turns // TURNS)


def _structure_of(draft: Draft, scenario: Scenario, run: ServiceRun) -> Structure:
    """The size of a task, from its draft and its reference run."""
    collections = [each for service in draft.world.state.values() for each in service.values()]
    return Structure(
        records=sum(map(len, collections)),
        overriding=len(draft.overriding),
        services=len(scenario.services),
        calls=len(run.requests),
    )


def difficulty_of(draft: Draft, scenario: Scenario) -> Literal["easy", "medium", "hard"]:
    """By `DIFFICULTY_RULE`, from the draft alone."""
    wanted = [c for c in draft.checks if c.kind not in ("records_returned", "unchanged")]
    points = len(scenario.services) + len(wanted) + len(draft.answers)
    points += 2 * bool(draft.decoys) + 2 * bool(draft.world.faults)
    if points <= _EASY:
        return "easy"
    return "medium" if points <= _MEDIUM else "hard"


UNIT = "draft"
PROPOSED = "proposal"  # the source of what somebody else wrote; its licence is not known
FILES, PANEL_FILE = "files", "panel.csv"


@dataclass(frozen=True, slots=True)
class GeneratorJob:
    """What one shard makes: the drafts of a generator from number 1, with their task ids.

    Without a sandbox, drafts whose programs have to be tried are rejected.
    """

    generator: str
    task_ids: tuple[str, ...]
    seed: int
    config: ScreeningConfig
    has_sandbox: bool = True


@dataclass(frozen=True, slots=True)
class _Made:
    """A screened draft: its candidate, and what belongs to it outside the candidate."""

    candidate: Candidate
    verdicts: tuple[Verdict, ...]
    scores: Mapping[str, float] = field(default_factory=dict)  # overall, by agent of the panel
    world: World | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentJob:
    """The shard of a document that `judge` wrote: so many drafts, with their task ids."""

    document: Document
    task_ids: tuple[str, ...]
    seed: int
    config: ScreeningConfig
    judge: str


@dataclass(frozen=True, slots=True)
class ProposalsJob:
    """The shard of a file of proposals, with the task id of each by its name."""

    path: Path
    task_ids: Mapping[str, str]
    config: ScreeningConfig


class _ProposalReason(StrEnum):
    """Why a proposal is not even a draft."""

    UNFIT = "proposal.unfit"
    UNPROVEN = "proposal.unproven"  # a literal of its gold is proven by nothing


def _refused(task_id: str, proposed: Proposed) -> LedgerRow:
    reason = _ProposalReason.UNPROVEN if proposed.unproven else _ProposalReason.UNFIT
    return LedgerRow(
        STAGE, UNIT, task_id, Outcome.REJECTED, reason=reason, evidence={"named": proposed.why}
    )


def make_shard(job: GeneratorJob, out: Path) -> None:
    """Build and screen the drafts of one generator; write the candidates and what became of all."""
    _write(list(_made_by(job)), (), out)


def make_document(job: DocumentJob, out: Path) -> None:
    """Build and screen the drafts of a document, as `make_shard` does those of a generator."""
    made = []
    for each in _service_tasks(scenario_of(job.document), job):
        provenance = each.candidate.provenance.model_copy(update={"judge": job.judge})
        candidate = each.candidate.model_copy(update={"provenance": provenance})
        made.append(replace(each, candidate=candidate))
    _write(made, (), out)


def make_proposals(job: ProposalsJob, out: Path) -> None:
    """Screen the proposals of a file as `make_shard` does drafts. Raises InputError."""
    made, unfit = [], []
    for proposed in _each_once(read_proposals(job.path)):
        task_id = job.task_ids[proposed.name]
        if proposed.draft is None or proposed.scenario is None:
            unfit.append(_refused(task_id, proposed))
            continue
        task = _service_task(screen(proposed.draft, proposed.scenario, (), job.config), task_id)
        provenance = task.candidate.provenance.model_copy(
            update={"source": PROPOSED, "licence": None}
        )
        candidate = task.candidate.model_copy(update={"provenance": provenance})
        made.append(replace(task, candidate=candidate))
    _write(made, unfit, out)


def proposal_lines(path: Path, config: ScreeningConfig) -> Iterator[str]:
    """What becomes of each proposal, a line each. Raises InputError."""
    for proposed in _each_once(read_proposals(path)):
        if proposed.draft is None or proposed.scenario is None:
            row = _refused("", proposed)
            yield f"{proposed.name}: {row.reason}: {proposed.why}"
        else:
            seen = screen(proposed.draft, proposed.scenario, (), config)
            named = f": {seen.tried.named}" if seen.reason and seen.tried.named else ""
            yield f"{proposed.name}: {seen.reason or 'passes the screening'}{named}"


def _each_once(proposals: Sequence[Proposed]) -> Iterable[Proposed]:
    return {proposed.name: proposed for proposed in proposals}.values()


def _write(made: Sequence[_Made], unfit: Sequence[LedgerRow], out: Path) -> None:
    kept = [each for each in made if deciding(each.verdicts) is None]
    _write_tables(made, unfit, out)
    paths = {}
    for each in kept:
        for fixture in each.candidate.fixtures:
            paths[fixture.sha256] = Path(FILES, fixture.sha256)
            write_bytes(out / FILES / fixture.sha256, each.files[fixture.path])
        if each.world is not None:
            write_world(out / WORLDS / f"{each.candidate.task_id}.json", each.world)
    write_pool(out, [each.candidate for each in kept], paths)
    write_bytes(out / PANEL_FILE, "".join(map(_panel_lines, kept)).encode())


def _made_by(job: GeneratorJob) -> Iterator[_Made]:
    """The screened drafts of a generator, in order. Raises InputError if a sandbox breaks."""
    if job.generator in REPAIRS:
        make = _repairs if job.has_sandbox else _untried_repairs
        yield from make(job, REPAIRS[job.generator])
        return
    yield from _service_tasks(scenarios()[job.generator], job)


def _service_tasks(scenario: Scenario, job: GeneratorJob | DocumentJob) -> Iterator[_Made]:
    drafts = [scenario.build(number, job.seed) for number, _ in enumerate(job.task_ids, 1)]
    seen = screened(drafts, scenario, job.config)
    return map(_service_task, seen, job.task_ids)


def _service_task(seen: Screened, task_id: str) -> _Made:
    """A screened draft as a task; its services have an allowance, unlike those it was tried on."""
    candidate = _candidate_of(seen.draft, seen.scenario, seen.run, task_id)
    scores = {cell.agent: cell.score.overall or 0.0 for cell in seen.cells}
    world = replace(seen.draft.world, allowance=_allowance(seen.scenario, seen.run))
    return _Made(candidate, seen.verdicts, scores, world=world)


def _repairs(job: GeneratorJob, repair: Repair) -> Iterator[_Made]:
    with ExitStack() as stack:
        try:
            run = stack.enter_context(own_programs())
        except SandboxFailed as error:
            raise InputError(
                "the sandbox for repair tasks", str(error), "the sandbox that the release has "
                "used so far",
                "Install it (make system), or build without it using --revision.",
            ) from error  # fmt: skip
        for number, task_id in enumerate(job.task_ids, 1):
            yield _repaired(job, repair, number, task_id, run)


def _untried_repairs(job: GeneratorJob, repair: Repair) -> Iterator[_Made]:
    for number, task_id in enumerate(job.task_ids, 1):
        candidate = repair_candidates.candidate_of(repair.build(number, job.seed), repair, task_id)
        yield _Made(candidate, (SCREEN.judge(UNTRIED, job.config),))


def _repaired(job: GeneratorJob, repair: Repair, number: int, task_id: str, run: Run) -> _Made:
    draft = repair.build(number, job.seed)
    seen = screen_repair(draft, repair, run, job.config)
    candidate = repair_candidates.candidate_of(draft, repair, task_id)
    if seen.reason is not None:
        return _Made(candidate, (seen.verdict,))
    spec, threshold = spec_of_repair(draft), job.config.pass_threshold
    grader = partial(graded, spec, run=seen.run, threshold=threshold)
    cells = dict(panel_scores(draft, seen.delivered, grader))
    passed = [score for score in cells.values() if _passes_pilot(score, job.config)]
    piloted = Piloted(len(passed), len(cells))
    scores = {agent: score.overall or 0.0 for agent, score in cells.items()}
    verdicts = (seen.verdict, PILOT.judge(piloted, job.config))
    return _Made(candidate, verdicts, scores, draft.world, draft.inputs)


def _passes_pilot(score: Score, config: ScreeningConfig) -> bool:
    required = all(part.value == 1 for part in score.parts if part.required)
    return required and (score.overall or 0.0) >= config.pilot_threshold


def _write_tables(made: Sequence[_Made], unfit: Sequence[LedgerRow], out: Path) -> None:
    rows, verdicts = [*unfit], []
    for each in made:
        name, decided = each.candidate.task_id, deciding(each.verdicts)
        named = decided.measures.get("named") if decided else None
        rows.append(gated_row(STAGE, UNIT, name, decided, {"named": named} if named else {}))
        verdicts += [(name, verdict) for verdict in each.verdicts]
    ids = [row.item_id for row in rows]
    write_stage_tables(out, StageKind.FILTER, ids, rows, verdicts=verdicts, stage=STAGE, unit=UNIT)


def _panel_lines(made: _Made) -> str:
    """The scores of a task as lines of a score matrix: item, family, model, score."""
    family = made.candidate.task_family
    name = family.value if family else ""
    lines = (f"{made.candidate.task_id},{name},{agent.name}" for agent in PANEL)
    return "".join(
        f"{line},{made.scores[agent.name]:.9f}\n" for line, agent in zip(lines, PANEL, strict=True)
    )


def write_panel(folders: Sequence[Path], path: Path) -> None:
    """All scores of the panel as one file that the selection reads as pilot scores."""
    lines = [(folder / PANEL_FILE).read_text("utf-8") for folder in folders]
    write_bytes(path, ("item,family,model,score\n" + "".join(lines)).encode())
