"""Contracts of judging: cases, verdicts, labels, gradings, and results of stages with a model.

The fields follow EnterpriseClawBench, app. B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from construction.judging.calls.contracts import Answered, Question, Unanswered, Usage
from construction.judging.evidence.views import Evidence as CaseEvidence
from data.contracts import (
    Candidate,
    Deliverable,
    Evidence,
    Label,
    MissingInput,
    Rubric,
    Rule,
    StageConfig,
    TaskClass,
)
from data.contracts.candidate import Confidence, Contract

T = TypeVar("T", covariant=True)  # what is judged is read, and never changed
Difficulty = Literal["easy", "medium", "hard"]


class ContainmentReason(StrEnum):
    """Whether a newcomer can do a task and a third person can judge it; if not, why not."""

    SELF_CONTAINED = "self_contained"
    CONVERSATION_ONLY = "conversation_only"
    DEPENDS_ON_LIVE_SYSTEM = "depends_on_live_system"
    MISSING_INPUT = "missing_input"
    MISSING_CONTEXT = "missing_context"
    MULTI_TASK = "multi_task"
    AMBIGUOUS_TASK = "ambiguous_task"
    NOT_VERIFIABLE = "not_verifiable"
    NEEDS_MODEL = "needs_model"  # facts do not tell, and no model was asked


UNASSIGNED = "unassigned"  # a role or skill that would be a guess


class RoleClass(StrEnum):
    """Whose work a task is."""

    PRODUCT_PROJECT_DELIVERY = "product_project_delivery"
    ENGINEERING_IT = "engineering_it"
    HR_ADMIN = "hr_admin"
    EXECUTIVE = "executive"
    SALES_CUSTOMER = "sales_customer"
    MARKETING = "marketing"
    FINANCE_OPERATIONS = "finance_operations"


class CriterionVerdict(StrEnum):
    """How far a criterion is met."""

    MET = "met"
    PARTLY = "partly"
    NOT_MET = "not_met"


class Case(Contract):
    """A packaged candidate with all that its judge may read, masked throughout.

    `request` is the person's own words, merged, without the frame that code puts around them;
    `evidence` is what the judge reads.
    """

    candidate: Candidate
    request: str
    evidence: CaseEvidence = CaseEvidence()
    today: str = ""  # the ISO day that the request counts from, if it counts from one


class Screened(Contract):
    """The verdict on one case, by facts, a model or people.

    `missing` is what it lacks, with private names. `today` is the ISO day on which it was said, if
    the request counts from that day ("the next 30 days") and the evidence tells it. `results` are
    input files that the agent made, and that hold the result.
    """

    reason_code: ContainmentReason
    brief_reason: Annotated[str, Field(max_length=400)] = ""
    confidence: Confidence = 1.0
    missing: tuple[MissingInput, ...] = ()
    today: str = ""
    results: tuple[str, ...] = ()

    @property
    def self_contained(self) -> bool:
        return self.reason_code is ContainmentReason.SELF_CONTAINED


class Taxonomy(Contract):
    """Where a task belongs; each label with confidence, reason and judge."""

    business_task: Annotated[str, Field(max_length=200)]
    role: Label
    skill_subclass: Label
    skill_route: Label
    task_family: Label | None = None
    task_class: TaskClass | None = None


class Written(Contract):
    """A task as it is released: the request in one message, files to deliver, labels, difficulty.

    `request` has no frame; code puts it around (`prompt_frame.frame`). `kept_types` are the types
    of deliverables of which some are inputs as they were: renamed, moved, picked out.
    """

    request: str
    deliverables: tuple[Deliverable, ...]
    kept_types: tuple[str, ...] = ()
    taxonomy: Taxonomy
    difficulty: Difficulty
    difficulty_reason: str


class Graded(Contract):
    """How answers to a task are judged: rubric, hard rules, and programs if it is `computable`.

    `reference` writes the deliverables into `outputs/`, reading `inputs/`; `checks` reads both and
    prints findings as JSON. Both are plain Python, and count only when proven (`checks`).
    """

    rubric: Rubric
    rules: tuple[Rule, ...]
    evidence: Evidence
    computable: bool = False
    reference: str = ""
    checks: str = ""
    why: str = ""  # it is computable, or is not


class JudgeReason(StrEnum):
    """Why an answer is not used. `CallReason` says why there is no answer."""

    PROMPT_LEAK = "judge.prompt_leak"  # repeats the instructions, their mark or the fence
    FOREIGN_URL = "judge.foreign_url"  # holds a URL that the material does not
    CONTRADICTION = "judge.contradiction"  # verdict and reason contradict each other
    OTHER_LANGUAGE = "judge.other_language"
    TOO_LONG = "judge.too_long"
    EMPTY = "judge.empty"
    INVENTION = "judge.invention"
    LOSS = "judge.loss"
    UNKNOWN_LABEL = "judge.unknown_label"
    UNKNOWN_FILE_TYPE = "judge.unknown_file_type"
    UNKNOWN_EVIDENCE = "judge.unknown_evidence"
    DIMENSIONS = "judge.dimensions"
    CLAIM_BELIEVED = "judge.claim_believed"  # a passage that only claims a thing was taken for it
    CONTROL_MET = "judge.control_met"  # what nothing delivered can meet was called met
    CHANGED_WORDS = "judge.changed_words"
    AMBIGUOUS = "judge.ambiguous"
    NOT_CHECKABLE = "judge.not_checkable"
    WRONG_NUMBER = "judge.wrong_number"  # of ideas
    WRONG_FORM = "judge.wrong_form"  # not an answer of the stage's type


class ModelStagesConfig(StageConfig):
    """Settings for the stages that call a model; lengths are in characters after cleaning.

    `evidence_tokens` is the token budget for a candidate's evidence in a prompt, and
    `delivered_tokens` the budget for an attempt's inputs and outputs.

    `judge` names the judge in the labels. Longer texts are cut in the middle.
    """

    judge: str = "model"
    evidence_tokens: Annotated[int, Field(gt=0)] = 12_000
    request_chars: Annotated[int, Field(gt=0)] = 12_000
    delivered_tokens: Annotated[int, Field(gt=0)] = 24_000
    passage_chars: Annotated[int, Field(gt=0)] = 1_200
    path_chars: Annotated[int, Field(gt=0)] = 200
    rewrite_chars: Annotated[int, Field(gt=0)] = 8_000
    wording_chars: Annotated[int, Field(gt=0)] = 700
    min_ideas: Annotated[int, Field(gt=0)] = 5
    max_ideas: Annotated[int, Field(gt=0)] = 8
    near_duplicate: Annotated[float, Field(gt=0, le=1)] = 0.86


class Asker(Protocol):
    """The part of `construction.judging.llm.Client` that a stage needs."""

    def ask(self, questions: Sequence[Question]) -> list[Answered | Unanswered]: ...


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an answer is not used. `detail` adds names and counts, in one line."""

    reason: JudgeReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Judged(Generic[T]):
    """The result of one item: a value, or the reason for having none.

    `detail` may quote the answer and stays private; `notes` name corrections of the value.
    Without `is_recorded` a replay had no reply about the item, and the value is the baseline's.
    """

    item_id: str
    value: T | None = field(repr=False)
    reason: str | None = None
    detail: str = field(default="", repr=False)
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    is_recorded: bool = True


class Answer(BaseModel):
    """Base of the pydantic models that replies must fit."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
