"""The candidate: a task that could be released, from any lane, in one contract."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Confidence = Annotated[float, Field(ge=0, le=1)]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Contract(BaseModel):
    # Validators are built when they are first needed: most commands need few of the contracts.
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )


class Lane(StrEnum):
    SESSIONS = "sessions"
    SIGNALS = "signals"
    QUESTIONS = "questions"
    ANALYTICS = "analytics"
    WORKFLOWS = "workflows"
    REPOSITORIES = "repositories"


class Disclosure(StrEnum):
    PUBLIC = "public"
    ANONYMIZED = "anonymized"
    PRIVATE = "private"


class Label(Contract):
    """A label with its confidence and reason. `judge` is `rules`, a model's name, or `person`."""

    value: str
    confidence: Confidence
    reason: str
    judge: str = "rules"


class TaskClass(Contract):
    """The unit of skill transfer: a big class and a subclass with its definition.

    `split` says whether skills may be learned on its tasks, or are only tested on them.
    """

    big_class: str
    subclass_id: str
    name: str
    definition: str
    confidence: Confidence
    reason: str
    split: Literal["in_domain", "held_out"] | None = None


class Fixture(Contract):
    """An input file as released: `path` is relative to the task's `inputs/`, POSIX.

    `environment` names the environment that the file is part of; such a file is the same for all
    tasks of the environment, and a release holds it once.
    """

    path: str
    sha256: _Sha256
    bytes: Annotated[int, Field(ge=0)]
    media_type: str
    role: Literal["declared", "observed", "frozen_page"] = "declared"
    environment: str | None = None


class Budget(Contract):
    turns: Annotated[int, Field(gt=0)] = 60
    seconds: Annotated[int, Field(gt=0)] = 1800


class NetworkPolicy(Contract):
    """What the task may reach: nothing, the listed URLs, or the open web."""

    mode: Literal["none", "list", "web"] = "none"
    urls: tuple[str, ...] = ()


class Deliverable(Contract):
    """Files the task asks for: type by extension (no dot), the least number, and name hints.

    `patterns` are paths with an asterisk ("report/*.docx"), of as many files as the work takes; the
    least number counts each once.
    """

    file_type: str
    count: Annotated[int, Field(gt=0)] = 1
    name_hints: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    source: Literal["request", "produced", "both"] = "request"


class Answer(Contract):
    """One part of a gold answer, as grading compares it.

    A number is `value` x `scale` of `unit`, rounded to `decimals` (None: as written in `value`);
    `tolerance` is absolute, in the scale of `value`. A list is written as a JSON array of texts and
    compared in order if `ordered`. `aliases` are other spellings that mean the same. `weight` is
    the part's share among the answer's parts.
    """

    part: str
    type: Literal["number", "text", "date", "boolean", "list"]
    value: str
    unit: str | None = None
    scale: Annotated[int, Field(gt=0)] = 1
    decimals: int | None = None
    tolerance: Annotated[float, Field(ge=0)] | None = None
    ordered: bool = True
    aliases: tuple[str, ...] = ()
    weight: Annotated[float, Field(gt=0)] = 1.0


class Step(Contract):
    """One step of the reference path: in words, and as an operation that a program can run.

    `operation` names a tool, or `present` for giving the value in the unit and scale asked for.
    Text arguments of the form `$N.field` stand for a field of step N's output.
    """

    index: int
    text: str
    operation: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    reads: tuple[str, ...] = ()  # names of tables


class Milestone(Contract):
    """An intermediate result that a correct solution passes through.

    Numbers match within the relative `tolerance`, and only beside one of the words of `context`:
    a number that is equal by chance is not evidence. `step` is the reference step that yields it;
    `implies` names earlier milestones that cannot be missing once this one is reached.
    """

    name: str
    value: str
    type: Literal["number", "text", "identifier"] = "identifier"
    unit: str | None = None
    tolerance: Annotated[float, Field(ge=0)] = 0.01
    step: int | None = None
    context: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()


class Rule(Contract):
    """A hard rule as data; `construction.grading.hard_rules` checks it. `kind` names the check."""

    rule_id: str
    kind: str
    params: dict[str, Any] = Field(default_factory=dict)
    text: str


class Check(Contract):
    """A check on what an agent did to a controlled service, as data.

    `construction.grading.actions` runs it on the audit rows and the state changes; `kind` names
    the check, `text` says it for a person. `evidence` is retrieval, accuracy or action.
    """

    check_id: str
    kind: str
    params: dict[str, Any] = Field(default_factory=dict)
    text: str
    weight: Annotated[float, Field(ge=0, le=1)] = 0.0
    required: bool = False
    evidence: Literal["retrieval", "accuracy", "action"] = "action"


class Anchors(Contract):
    """What a judge looks for before calling a criterion met, partly met, or not met."""

    met: str
    partly: str
    not_met: str


class Criterion(Contract):
    dimension: str
    weight: Annotated[float, Field(ge=0, le=1)]
    text: str
    evidence: tuple[str, ...] = ()
    anchors: Anchors | None = None


class Rubric(Contract):
    """Criteria whose weights sum to 1; `route`: is the output judged as text or by its look?

    `needs_model`: rules could not tell what is asked, so a model or a person has to write it.
    """

    route: Literal["text", "visual"] = "text"
    criteria: tuple[Criterion, ...] = ()
    needs_model: bool = False


class Evidence(Contract):
    """Which kinds of evidence a grader needs (Claw-Eval-Live's four)."""

    retrieval: bool = False
    accuracy: bool = False
    action: bool = False
    semantic: bool = False


class Provenance(Contract):
    """Where a candidate came from. `item_id` is private; only its keyed digest is released."""

    source: str  # name of the input source
    source_format: str
    item_id: str
    disclosure: Disclosure
    licence: str | None = None
    judge: str = "rules"
    detail: dict[str, Any] = Field(default_factory=dict)


class Structure(Contract):
    """What a task is made of: records of its world, those that override, services, and the calls
    of the reference. For files, `records` are the inputs and `services` 0."""

    records: Annotated[int, Field(ge=0)]
    overriding: Annotated[int, Field(ge=0)]
    services: Annotated[int, Field(ge=0)]
    calls: Annotated[int, Field(ge=0)]


class Measured(Contract):
    """What at least two real agents showed: the mean of the rates at which they passed."""

    difficulty: Literal["easy", "medium", "hard"]
    pass_rate: Annotated[float, Field(ge=0, le=1)]


class Candidate(Contract):
    """A task that could be released. `preflight`: was it tried in a sandbox, without a fault?

    `difficulty` is declared, by `difficulty_rule`; `measured` is what real agents showed, and
    scripted ones never set it. `split`: is it one of the old, easy tasks that show whether an agent
    works at all?
    """

    task_id: str
    lane: Lane
    prompt: str
    language: str  # BCP 47; "mul": several, "und": unknown
    task_family: Label | None = None
    display_group: str | None = None
    business_task: str | None = None
    task_class: TaskClass | None = None
    role: Label | None = None
    skill_subclass: Label | None = None
    skill_route: Label | None = None
    execution_surface: str | None = None
    difficulty: Literal["easy", "medium", "hard"] | None = None
    difficulty_rule: str | None = None
    measured: Measured | None = None
    structure: Structure | None = None
    split: Literal["full", "smoke"] = "full"
    guidelines: str = ""
    fixtures: tuple[Fixture, ...] = ()
    tools: tuple[str, ...] = ()
    budget: Budget = Budget()
    network: NetworkPolicy = NetworkPolicy()
    deliverables: tuple[Deliverable, ...] = ()
    answers: tuple[Answer, ...] = ()
    steps: tuple[Step, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    checks: tuple[Check, ...] = ()
    rules: tuple[Rule, ...] = ()
    rubric: Rubric | None = None
    evidence: Evidence = Evidence()
    preflight: Literal["verified", "unverified"] = "unverified"
    provenance: Provenance

    @property
    def measured_difficulty(self) -> str:
        return self.measured.difficulty if self.measured else "unmeasured"

    @property
    def pass_rate(self) -> float | None:
        return self.measured.pass_rate if self.measured else None


# Fields that only graders may see; the public half of a snapshot never holds them.
PRIVATE_FIELDS = frozenset({"answers", "steps", "milestones", "checks", "rules", "rubric"})
