"""What the stages that ask a model take and return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from construction.judging.calls.contracts import Answered, Question, Unanswered, Usage
from construction.judging.contracts import RoleClass
from data.contracts import Count, StageConfig

T = TypeVar("T")


class JudgeReason(StrEnum):
    """Why an answer that came is not used; why none came says `CallReason`."""

    PROMPT_LEAK = "judge.prompt_leak"  # repeats the instructions, their mark or the fence
    FOREIGN_URL = "judge.foreign_url"  # holds an address that the material does not
    CONTRADICTION = "judge.contradiction"  # verdict and reason do not go together
    ADDRESSED = "judge.addressed"  # the material speaks to its judge, and nobody else judged
    DISPUTED = "judge.disputed"  # the material speaks to its judge, and the rules disagree
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
    NAMES_A_TASK = "judge.names_a_task"  # a definition that speaks of one task only
    TAKEN_NAME = "judge.taken_name"
    CHANGED_WORDS = "judge.changed_words"
    AMBIGUOUS = "judge.ambiguous"
    NOT_CHECKABLE = "judge.not_checkable"
    WRONG_NUMBER = "judge.wrong_number"  # of ideas
    WRONG_FORM = "judge.wrong_form"  # the client handed on what is no such answer


class ModelStagesConfig(StageConfig):
    """Settings of the stages; lengths are characters after cleaning.

    `judge` marks the labels (`LlmConfig.judge`). What is longer is cut in the middle.
    """

    judge: str = "model"
    request_chars: Annotated[int, Field(gt=0)] = 12_000
    background_chars: Annotated[int, Field(gt=0)] = 2_000
    reply_chars: Annotated[int, Field(gt=0)] = 1_500
    excerpt_chars: Annotated[int, Field(gt=0)] = 1_500
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
    """What a stage needs of `construction.judging.llm.Client`."""

    def ask(self, questions: Sequence[Question]) -> list[Answered | Unanswered]: ...


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an answer is not used. `detail` says what it is about: names and counts, one line."""

    reason: JudgeReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Judged(Generic[T]):
    """The result of one item: a value, or the reason why there is none.

    `detail` may quote the answer and stays private; `notes` tell what was corrected in a value.
    """

    item_id: str
    value: T | None = field(repr=False)
    reason: str | None = None
    detail: str = field(default="", repr=False)
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Answer(BaseModel):
    """Base of the forms that replies must fit."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The labels that may be given, each with its definition; from the editable tables.

    `routes` tells for a skill subclass by which route it is worked, in a sentence.
    """

    roles: dict[str, str]
    skills: dict[str, str]
    families: dict[str, str]
    routes: dict[str, str]

    def __post_init__(self) -> None:
        if set(self.roles) != set(RoleClass):
            raise ValueError("a catalogue defines exactly the role classes of the contract")
