"""Templates of questions: what they draw, the steps they fill in, and their wordings."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from construction.analytics.contracts import RATED_BY_STEPS, Category, Difficulty
from data.configuration import read_toml, validated
from data.contracts import StageConfig

_WHOLE = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)?)\}")


class Draw(StageConfig):
    """What is drawn: a metric or a fact of a group, a value of a slot, a threshold of a metric.

    `year_of`: the reference year of a drawn metric, so that figures are of one time.
    """

    metric: str | None = None
    fact: str | None = None
    slot: str | None = None
    threshold: str | None = None
    year_of: str | None = None

    @model_validator(mode="after")
    def _single(self) -> Self:
        names = (self.metric, self.fact, self.slot, self.threshold, self.year_of)
        if len([name for name in names if name]) != 1:
            raise ValueError("expected one of metric, fact, slot, threshold, year_of")
        return self


class Template(StageConfig):
    """`steps` and `answers` are data with `{name}` and `{name.field}` for what is drawn."""

    name: str
    category: Category
    label: Difficulty | None = None
    draw: Mapping[str, Draw]
    steps: tuple[Mapping[str, Any], ...]
    answers: tuple[Mapping[str, Any], ...]
    en: tuple[str, ...] = Field(min_length=2)
    zh: tuple[str, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _labelled(self) -> Self:
        if (self.label is None) != (self.category in RATED_BY_STEPS):
            raise ValueError(f"{self.name}: the last three categories have a label, no other")
        return self

    def wordings(self, language: str) -> tuple[str, ...]:
        return self.en if language == "en" else self.zh


class TemplateFile(StageConfig):
    templates: tuple[Template, ...]


def read_templates(more: Path | None = None) -> tuple[Template, ...]:
    """The templates of the project, then those of `more`. Raises ConfigError."""
    folder = resources.files(__package__).joinpath("templates")
    read = []
    for category in Category:
        text = folder.joinpath(f"{category}.toml").read_text(encoding="utf-8")
        read.append(validated(TemplateFile, tomllib.loads(text), Path(f"{category}.toml")))
    if more is not None:
        read.append(validated(TemplateFile, read_toml(more), more))
    return tuple(template for file in read for template in file.templates)


def filled(data: Any, values: Mapping[str, Any]) -> Any:
    """Data with every `{name}` replaced; a text that is one placeholder becomes the value itself.

    Raises KeyError for a name that is not among `values`.
    """
    if isinstance(data, Mapping):
        return {filled(key, values): filled(value, values) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [filled(item, values) for item in data]
    if not isinstance(data, str):
        return data
    whole = _WHOLE.fullmatch(data)
    if whole is not None:
        return values[whole[1]]
    return _WHOLE.sub(lambda match: str(values[match[1]]), data)
