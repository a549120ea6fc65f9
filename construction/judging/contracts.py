"""Contracts of judging: cases, verdicts, labels, gradings, and results of stages with a model.

The fields follow EnterpriseClawBench, app. B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from construction.judging.calls.contracts import Answered, Question, Unanswered, Usage
from data.contracts import (
    Candidate,
    Count,
    Deliverable,
    Evidence,
    GateReason,
    Label,
    Rubric,
    Rule,
    StageConfig,
    TaskClass,
)
from data.contracts.candidate import Confidence, Contract

T = TypeVar("T")


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


class SelfContainmentReason(GateReason):
    """`ContainmentReason` as the reasons of a gate."""

    CONVERSATION_ONLY = (
        "self_containment.conversation_only",
        "It asks for nothing but conversation.",
    )
    DEPENDS_ON_LIVE_SYSTEM = (
        "self_containment.depends_on_live_system",
        "It needs an account, a live system or a particular moment.",
    )
    MISSING_INPUT = "self_containment.missing_input", "Material that it refers to is not released."
    MISSING_CONTEXT = "self_containment.missing_context", "It depends on what was said earlier."
    MULTI_TASK = "self_containment.multi_task", "It asks for different pieces of work."
    AMBIGUOUS_TASK = "self_containment.ambiguous_task", "It does not say clearly what is wanted."
    NOT_VERIFIABLE = "self_containment.not_verifiable", "No third person could judge the result."


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


class InputTable(Contract):
    """A table of an input file: its sheet, its columns, and how many other rows it has.

    `blanks` counts the empty cells by column, where some but not all are empty; `repeats` the rows
    that are the same as an earlier one. `cells` are those of a small table, row by row.
    """

    name: str
    columns: tuple[str, ...]
    rows: Count
    blanks: dict[str, int] = Field(default_factory=dict)
    repeats: Count = 0
    cells: tuple[tuple[str, ...], ...] = ()


class InputFile(Contract):
    """What an input file with text holds: its telling words (`terms`), and a `key` of all words."""

    words: Count
    key: int
    terms: tuple[str, ...] = ()
    tables: tuple[InputTable, ...] = ()


class Case(Contract):
    """A packaged candidate with all that its judge may read, masked throughout.

    `request` is the person's part of the prompt, `background` what was said before it, `reply`
    the original agent's last words; `asked_back`: whether it ever asked back. `excerpts` holds the
    beginning of each fixture's text by its path; fixtures without text have none. `inputs` says
    what the fixtures that open hold.
    """

    candidate: Candidate
    request: str
    background: tuple[str, ...] = ()
    reply: str = ""
    asked_back: bool = False
    excerpts: dict[str, str] = Field(default_factory=dict)
    inputs: dict[str, InputFile] = Field(default_factory=dict)


class Containment(Contract):
    """The verdict on one case; it has a `rewritten_prompt` only if it is self-contained."""

    self_contained: bool
    reason_code: ContainmentReason
    brief_reason: Annotated[str, Field(max_length=400)]
    confidence: Confidence = 1.0
    rewritten_prompt: str | None = None


class Taxonomy(Contract):
    """Where a task belongs; each label with confidence, reason and judge."""

    business_task: Annotated[str, Field(max_length=200)]
    role: Label
    skill_subclass: Label
    skill_route: Label
    task_family: Label | None = None
    task_class: TaskClass | None = None


class Grading(Contract):
    """What a good answer is: files, weighted criteria (they sum to 1), hard rules, evidence."""

    deliverables: tuple[Deliverable, ...]
    rubric: Rubric
    rules: tuple[Rule, ...]
    evidence: Evidence


class JudgeReason(StrEnum):
    """Why an answer is not used. `CallReason` says why there is no answer."""

    PROMPT_LEAK = "judge.prompt_leak"  # repeats the instructions, their mark or the fence
    FOREIGN_URL = "judge.foreign_url"  # holds a URL that the material does not
    CONTRADICTION = "judge.contradiction"  # verdict and reason contradict each other
    ADDRESSED = "judge.addressed"  # the material addresses its judge, and no second judge was asked
    DISPUTED = "judge.disputed"  # the material addresses its judge, and the rules disagree
    OTHER_LANGUAGE = "judge.other_language"
    TOO_LONG = "judge.too_long"
    EMPTY = "judge.empty"
    INVENTION = "judge.invention"
    LOSS = "judge.loss"
    UNKNOWN_LABEL = "judge.unknown_label"
    UNKNOWN_FILE_TYPE = "judge.unknown_file_type"
    UNKNOWN_EVIDENCE = "judge.unknown_evidence"
    WEIGHTS = "judge.weights"
    DIMENSIONS = "judge.dimensions"
    CLAIM_BELIEVED = "judge.claim_believed"  # a passage that only claims a thing was taken for it
    CONTROL_MET = "judge.control_met"  # what nothing delivered can meet was called met
    NAMES_A_TASK = "judge.names_a_task"  # a definition of a single task, not of a class
    TAKEN_NAME = "judge.taken_name"
    CHANGED_WORDS = "judge.changed_words"
    AMBIGUOUS = "judge.ambiguous"
    NOT_CHECKABLE = "judge.not_checkable"
    WRONG_NUMBER = "judge.wrong_number"  # of ideas
    WRONG_FORM = "judge.wrong_form"  # not an answer of the stage's type


class ModelStagesConfig(StageConfig):
    """Settings of the stages that ask a model; lengths are characters after cleaning.

    `judge` marks the labels (`LlmConfig.judge`). A longer text is cut in the middle.
    """

    judge: str = "model"
    request_chars: Annotated[int, Field(gt=0)] = 12_000
    background_chars: Annotated[int, Field(gt=0)] = 2_000
    reply_chars: Annotated[int, Field(gt=0)] = 1_500
    excerpt_chars: Annotated[int, Field(gt=0)] = 1_500
    delivered_chars: Annotated[int, Field(gt=0)] = 30_000
    passage_chars: Annotated[int, Field(gt=0)] = 1_200
    files: Annotated[int, Field(gt=0)] = 40
    path_chars: Annotated[int, Field(gt=0)] = 200
    rewrite_chars: Annotated[int, Field(gt=0)] = 8_000
    class_members: Annotated[int, Field(gt=0)] = 12
    class_neighbours: Count = 4
    member_chars: Annotated[int, Field(gt=0)] = 500
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
    """

    item_id: str
    value: T | None = field(repr=False)
    reason: str | None = None
    detail: str = field(default="", repr=False)
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Answer(BaseModel):
    """Base of the pydantic models that replies must fit."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The permitted labels, each with its definition, from the editable tables.

    `routes` describes for each skill subclass, in a sentence, how it is worked.
    """

    roles: dict[str, str]
    skills: dict[str, str]
    families: dict[str, str]
    routes: dict[str, str]

    def __post_init__(self) -> None:
        if set(self.roles) != set(RoleClass):
            raise ValueError("a catalogue defines exactly the role classes of the contract")
