"""What judging reads and tells, by a model or by rules (EnterpriseClawBench, app. B)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from data.contracts import (
    Candidate,
    Deliverable,
    Evidence,
    GateReason,
    Label,
    Rubric,
    Rule,
    TaskClass,
)
from data.contracts.candidate import Confidence, Contract


class ContainmentReason(StrEnum):
    """Why a task is, or is not, one that a newcomer can do and a third person can judge."""

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
        "Nothing is asked for but conversation.",
    )
    DEPENDS_ON_LIVE_SYSTEM = (
        "self_containment.depends_on_live_system",
        "It needs an account, a system or a moment.",
    )
    MISSING_INPUT = "self_containment.missing_input", "Material that it speaks of is not released."
    MISSING_CONTEXT = "self_containment.missing_context", "It needs what was said before."
    MULTI_TASK = "self_containment.multi_task", "It asks for different pieces of work."
    AMBIGUOUS_TASK = "self_containment.ambiguous_task", "It leaves open what is wanted."
    NOT_VERIFIABLE = "self_containment.not_verifiable", "No third person could judge the result."


class RoleClass(StrEnum):
    """Whose work a task is."""

    PRODUCT_PROJECT_DELIVERY = "product_project_delivery"
    ENGINEERING_IT = "engineering_it"
    HR_ADMIN = "hr_admin"
    EXECUTIVE = "executive"
    SALES_CUSTOMER = "sales_customer"
    MARKETING = "marketing"
    FINANCE_OPERATIONS = "finance_operations"


class Case(Contract):
    """A packaged candidate with what its judge may read; masked text throughout.

    `request` is the person's part of the prompt, `background` what was said before it, `reply`
    the original agent's last words, `asked_back`: did it ever ask back. `excerpts` holds the
    beginning of each fixture's text by its path, as far as it has any.
    """

    candidate: Candidate
    request: str
    background: tuple[str, ...] = ()
    reply: str = ""
    asked_back: bool = False
    excerpts: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """How a request came about, as far as it is known.

    `people` named writers; `in_channel`: it was sent to several readers; `is_thread`: it is to
    answer messages that reached somebody. `said_before` is what the person typed earlier in the
    session, `said` what they typed in this task, turns that the prompt leaves out included.
    `files_read` counts the files that the agent read before it wrote them, `files_missing` those
    of them that are not released.
    """

    people: int = 0
    in_channel: bool = False
    is_thread: bool = False
    said_before: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    files_read: int = 0
    files_missing: int = 0


class Containment(Contract):
    """The judgement of one case; `rewritten_prompt` only where it is self-contained."""

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
