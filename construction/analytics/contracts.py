"""Records of the analytics lane: reasons, categories, parts of an answer, tasks; and what a
declaration says of archived papers: where each is filed, and what no clause quotes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from construction.analytics.steps import Policy, Quote, StepOf, TypedStep
from data.contracts import Answer, GateReason, Milestone, StageConfig
from data.contracts.candidate import Contract

STAGE = "analytics"
Difficulty = Literal["easy", "medium", "hard"]
Language = Literal["en", "zh"]


class Category(StrEnum):
    """The seven categories of DataClawBench."""

    ENTERPRISE_INDUSTRY = "enterprise_industry"
    ENTERPRISE_INDUSTRY_POLICY = "enterprise_industry_policy"
    COMPREHENSIVE_DECISION = "comprehensive_decision"
    INTERNATIONAL_COMPARISON = "international_comparison"
    HYPOTHESIS_VERIFICATION = "hypothesis_verification"
    INDUSTRY_PLANNING = "industry_planning"
    RISK_ASSESSMENT = "risk_assessment"


class AnalyticsReason(GateReason):
    """Why a candidate is no task; renaming one is a breaking change."""

    NOT_UNIQUE = (
        "answer.not_unique",
        "Another entity, year, metric or reading also fits the wording.",
    )
    KNIFE_EDGE = "answer.knife_edge", "A comparison, rank or threshold flips within rounding."
    MISSING_DATA = (
        "answer.missing_data",
        "The data contain too little of the answer, or none of it.",
    )
    SINGLE_SOURCE = "steps.single_source", "One file is enough to answer."
    UNNEEDED = "steps.unneeded", "The answer is the same if a step is left out."
    DISAGREE = "steps.executors_disagree", "The two executors give different results."
    STEPS_RANGE = "steps.out_of_range", "The number of steps does not fit the category."
    IN_PROMPT = "answer.in_prompt", "The question or the guidelines give away the answer."
    WORLD_KNOWLEDGE = (
        "answer.world_knowledge",
        "The answer can be found in public figures or guessed.",
    )
    MISMATCH = "guidelines.mismatch", "The guidelines and the answer do not match."
    LEAK = "priors.leak", "The question mentions a file, a column or noise."
    OTHER_QUESTION = "steps.other_question", "The question asks for something that no step does."
    INVALID = "steps.invalid", "The candidate is not a valid step program."
    UNREACHED = (
        "papers.unreached",
        "A paper that the answer rests on is not found by searching for the names in others.",
    )
    TOO_LITTLE_NOISE = (
        "noise.too_little",
        "With this candidate, the quota of tasks with noise could not be met.",
    )


# The first four are rated by the number of steps, the last three by the label of the template.
RATED_BY_STEPS = frozenset(
    {
        Category.ENTERPRISE_INDUSTRY,
        Category.ENTERPRISE_INDUSTRY_POLICY,
        Category.COMPREHENSIVE_DECISION,
        Category.INTERNATIONAL_COMPARISON,
    }
)
_MOST_STEPS = 18  # of what is asked in one question; where one answer leads to the next
STEPS_RANGE = {
    Category.ENTERPRISE_INDUSTRY: (2, _MOST_STEPS),
    Category.ENTERPRISE_INDUSTRY_POLICY: (3, _MOST_STEPS),
    Category.COMPREHENSIVE_DECISION: (2, _MOST_STEPS),
    Category.INTERNATIONAL_COMPARISON: (4, _MOST_STEPS),
    Category.HYPOTHESIS_VERIFICATION: (5, _MOST_STEPS),
    Category.INDUSTRY_PLANNING: (5, _MOST_STEPS),
    Category.RISK_ASSESSMENT: (5, _MOST_STEPS),
}
RULE_BY_STEPS = "2–3 steps easy, 4–5 medium, from 6 hard"
RULE_BY_LABEL = "declared with the template"


class Part(Contract):
    """A part of the answer: the step that makes it, and how it is written.

    `column`: the column of ranked rows that a list is made of; `names`: the names in which an
    entity may be written. `undecided`: the step that counts those for whom the papers leave it
    open; if there are any, the answer is the word for that.
    """

    part: str
    step: int
    kind: str
    decimals: int | None = None
    column: str | None = None
    names: str | None = None
    undecided: int | None = None


UNDECIDED = "undecided"
Split = Literal["full", "smoke"]
_RESULTS_OF_FULL = 2  # asked for in one answer, so that it is not guessed


def split_of(results: int, *, is_ruled: bool) -> Split:
    """Tasks over tables alone, and those that ask for one result, are easy for capable agents, and
    of the split smoke. `is_ruled`: do documents decide, whose rules have to be put together?"""
    return "full" if is_ruled and results >= _RESULTS_OF_FULL else "smoke"


_LONGEST_PROGRAM = 20  # steps of a record; more are no task of a category


class ArchiveUse(Contract):
    """What the reference asks an archive for in all, the papers it opens, and what agents get."""

    papers: int
    requests: int
    allowance: int


class AnalyticTask(Contract):
    """A task with its programme and gold. Everything but question and guidelines is private."""

    task_id: str
    template: str
    family: tuple[str, ...]
    category: Category
    difficulty: Difficulty
    difficulty_rule: str
    language: Language
    question: str
    guidelines: str
    program: Annotated[tuple[TypedStep, ...], Field(max_length=_LONGEST_PROGRAM)]
    parts: Annotated[tuple[Part, ...], Field(min_length=1)]
    answers: tuple[Answer, ...]
    milestones: tuple[Milestone, ...] = ()
    noise: tuple[str, ...] = ()  # kinds that change the answer if they are ignored
    files: tuple[str, ...] = ()
    drawn: dict[str, str] = Field(default_factory=dict)
    archive: ArchiveUse | None = None

    @property
    def steps(self) -> tuple[StepOf, ...]:
        return self.program

    @property
    def split(self) -> Split:
        is_ruled = any(isinstance(step, Policy) for step in self.program)
        return split_of(len(self.parts), is_ruled=is_ruled)


def difficulty_of(category: Category, steps: int, label: Difficulty | None) -> Difficulty:
    """By the number of steps, or the template's label for the last three categories."""
    if category not in RATED_BY_STEPS:
        assert label is not None
        return label
    if steps <= 3:
        return "easy"
    return "medium" if steps <= 5 else "hard"


class Filing(StageConfig):
    """The folder of an archive in which a document is, the day that it bears, if any, and its
    heading there: without one, its first line."""

    folder: Annotated[str, Field(min_length=1, max_length=100)]
    day: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    heading: Annotated[str, Field(max_length=200)] = ""


class Background(StageConfig):
    """Words of documents that no clause quotes, and that a reader needs in these periods (in all if
    none is named): under which name papers are filed, or that a paper was laid aside."""

    quotes: Annotated[tuple[Quote, ...], Field(min_length=1)]
    periods: tuple[int, ...] = ()
