"""Templates of questions: the steps they fill in, their wordings, and what they draw by key.

A template names no table: it asks for roles (`{entities.place}` is the column of places in the
table of entities), which the declaration of an environment fills. What a candidate varies are
metrics, policies, slot values and thresholds.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from construction.analytics.contracts import (
    RATED_BY_STEPS,
    Category,
    Difficulty,
    Language,
    Split,
    split_of,
)
from construction.analytics.environment.declaration import (
    RANK,
    ROLES,
    Declaration,
    Metric,
    PolicyText,
)
from data.configuration import read_toml, validated
from data.contracts import StageConfig
from data.errors import ConfigError
from data.text.lexicon import load_table

_WHOLE = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)?)\}")


class Draw(StageConfig):
    """What is drawn: a metric of a role, the metric that another is part of or that a policy goes
    by, a policy, a value of a slot, a threshold of a metric.

    `metric`: `places`, or `places.base` for those of a family. `year_of`: the reference year of a
    drawn metric, so that figures are of one time. `but_of`: not the metric that this policy goes
    by, since what it covers is large in that by its very terms.
    """

    metric: str | None = None
    whole_of: str | None = None
    policy: str | None = None
    slot: str | None = None
    threshold: str | None = None
    year_of: str | None = None
    but_of: str | None = None

    @model_validator(mode="after")
    def _single(self) -> Self:
        given = [name for name, value in self if value and name != "but_of"]
        if len(given) != 1:
            raise ValueError(f"found {len(given)}; expected one of {', '.join(dict(self))}")
        return self


class Template(StageConfig):
    """`steps` and `answers` are data with `{name}` and `{name.field}` for what is drawn."""

    name: str
    category: Category
    label: Difficulty | None = None
    draw: Mapping[str, Draw]
    steps: tuple[Mapping[str, Any], ...]
    answers: tuple[Mapping[str, Any], ...]
    en: tuple[str, ...] = Field(min_length=1)
    zh: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _labelled(self) -> Self:
        if (self.label is None) != (self.category in RATED_BY_STEPS):
            raise ValueError(f"{self.name}: only the last three categories have a label")
        return self

    @property
    def roles(self) -> set[tuple[str, str]]:
        """The roles that it needs, with the parts of each."""
        named = re.findall(r"\{([a-z]+)\.([a-z]+)\}", str([*self.steps, *self.answers]))
        return {(role, part) for role, part in named if role in ROLES}

    @property
    def split(self) -> Split:
        """That of the tasks that are drawn from it."""
        is_ruled = any(step["op"] == "policy" for step in self.steps)
        return split_of(len(self.answers), is_ruled=is_ruled)

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


_SHARED = re.compile(r"\{w\.([a-z_]+)\}")
QUANTILES = (0.7, 0.8, 0.9)


@lru_cache(maxsize=1)
def words_table() -> Mapping[str, Any]:
    return load_table(__package__, "words.toml")


@dataclass(frozen=True, slots=True)
class World:
    """A declaration, its clean tables, and the values of its slots."""

    declaration: Declaration
    tables: Mapping[str, pl.DataFrame]
    _slots: dict[str, list[Any]] = field(default_factory=dict)

    def slot(self, name: str) -> list[Any]:
        """The values of a slot, sorted where they are read from a table; those that the roles
        give for one that is not declared."""
        if name not in self._slots:
            self._slots[name] = self._values(name)
        return self._slots[name]

    def _values(self, name: str) -> list[Any]:
        slot = self.declaration.slots.get(name)
        if slot is None:
            return list(usual) if (usual := USUAL.get(name)) else sorted(self._of_roles(name))
        if slot.table is None:
            return list(slot.values)
        column = self.tables[slot.table][slot.column or ""].drop_nulls()
        counts = column.value_counts(name="n").filter(pl.col("n") >= slot.least_rows)
        return sorted(counts[column.name].to_list())

    def _of_roles(self, name: str) -> list[Any]:
        """The values of a column of a role that have enough rows."""
        if name in ("place", "kind", "branch"):
            least = LEAST_ROWS * max(len(self.slot("year")), 1)
            values = self._counted("entities", name, least)
            return self._shared(values, "counts", name) if name == "branch" else values
        if name == "year":
            return self._counted("entities", "period")
        if name == "early":
            return self.slot("year")
        if name == "notice_year":
            return self._counted("notices", "period")
        if name == "series_year":
            return self._shared(self.slot("year"), "series", "period")
        if name == "abroad":
            return self._counted("abroad", "place")
        if name in ("abroad_year", "abroad_early"):
            return self._shared(self.slot("year"), "abroad", "period")
        return []

    def _counted(self, role: str, part: str, least: int = 0) -> list[Any]:
        """The values of a column with so many rows, by default half of those of the largest."""
        column = self.declaration.column(role, part)
        if column is None:
            return []
        counts = self.tables[self.declaration.roles[role].table][column].drop_nulls().value_counts()
        least = least or max(counts["count"].to_list(), default=0) // 2
        return list(counts.filter(pl.col("count") >= least)[column])

    def _shared(self, values: Sequence[Any], role: str, part: str) -> list[Any]:
        column = self.declaration.column(role, part)
        if column is None:
            return []
        there = set(self.tables[self.declaration.roles[role].table][column].to_list())
        return [value for value in values if value in there]

    def can_draw(self, template: Template) -> bool:
        """Are its roles there, and has each of the slots that it draws a value?"""
        if any(self.declaration.column(role, part) is None for role, part in _needed(template)):
            return False
        if any(role not in self.declaration.roles for role, _ in template.roles):
            return False
        slots = (draw.slot for draw in template.draw.values() if draw.slot is not None)
        return all(self.slot(name) for name in slots)


def _needed(template: Template) -> Iterator[tuple[str, str]]:
    return ((role, part) for role, part in template.roles if part != "table")


PERIODS = ("year", "early", "series_year", "abroad_year", "abroad_early")
LEAST_ROWS = 5  # of a place or kind in each period, for questions about it alone
USUAL: Mapping[str, Sequence[Any]] = {
    RANK: (2, 3, 4, 5, 6),
    "weight": (2, 3, 4),
    "many": (2, 3, 4, 5),
    "correlation": (0.1, 0.2, 0.3, 0.4, 0.5),
    "drop": (5, 10, 15, 20, 30),
}
Family = Mapping[str, Metric | PolicyText]


def _fits(metric: Metric, wanted: str, declaration: Declaration) -> bool:
    """Is it a metric of the role, and for what it is wanted?"""
    role, _, family = wanted.partition(".")
    if role not in declaration.roles or declaration.roles[role].table != metric.table:
        return False
    if family == "part":
        return metric.of is not None
    if family == "same":
        return family in metric.families
    if family == "money":
        return metric.kind == "money" and (not metric.families or "size" in metric.families)
    return not family or not metric.families or family in metric.families


def families_of(template: Template, declaration: Declaration) -> list[Family]:
    """The families of parameters: every combination of the metrics and policies it may draw."""
    names: list[str] = []
    choices: list[Sequence[Metric | PolicyText]] = []
    for name, draw in template.draw.items():
        if draw.metric is not None:
            names.append(name)
            choices.append([m for m in declaration.metrics if _fits(m, draw.metric, declaration)])
        elif draw.policy is not None:
            names.append(name)
            choices.append([p for p in declaration.policies if p.use == draw.policy])
    return [dict(zip(names, chosen, strict=True)) for chosen in product(*choices)]


def require_words(template: Template, declaration: Declaration) -> None:
    """Raise ConfigError for a word that a template needs and the declaration does not have."""
    wordings = " ".join([*template.en, *template.zh])
    needed = {"money", *_SHARED.findall(wordings)}
    if any(draw.slot == RANK for draw in template.draw.values()):
        needed |= {"place", "places"}
    known = {*declaration.words, *words_table()["words"]}
    if absent := sorted(needed - known):
        raise ConfigError(
            f"{declaration.name}: words: found no {absent[0]}; expected one for the template "
            f"{template.name}. Add [words.{absent[0]}] with {' and '.join(declaration.languages)}."
        )


def family_name(family: Family) -> tuple[str, ...]:
    return tuple(item.name for item in family.values())


def draw_values(
    template: Template, family: Family, world: World, generator: np.random.Generator
) -> dict[str, Any] | None:
    """A value per name of `draw`; None where a slot is empty or the years do not ascend."""
    values: dict[str, Any] = {}
    for name, draw in template.draw.items():
        if name in family:
            values[name] = family[name]
        elif draw.whole_of is not None:
            drawn = family[draw.whole_of]
            whole = drawn.of if isinstance(drawn, Metric) else drawn.measure
            values[name] = next(m for m in world.declaration.metrics if m.name == whole)
        elif draw.threshold is not None:
            values[name] = _threshold(family[draw.threshold], world, generator)
        else:
            year = getattr(family[draw.year_of], "year", None) if draw.year_of else None
            choices = [year] if year else _beside(world, draw.slot or "year", values)
            if not choices or (year and year not in world.slot("year")):
                return None
            values[name] = choices[int(generator.integers(len(choices)))]
    for name, draw in template.draw.items():
        policy = values[draw.but_of] if draw.but_of else None
        if isinstance(policy, PolicyText) and policy.measure == values[name].name:
            return None
    columns = [(v.table, v.column) for v in values.values() if isinstance(v, Metric)]
    if len({column for _, column in columns}) < len(set(columns)):
        return None  # a join would have two columns of one name
    if "early" in values and values["early"] >= values["year"]:
        return None
    policies = [value for value in values.values() if isinstance(value, PolicyText)]
    if len({policy.name for policy in policies}) < len(policies):
        return None
    periods = [values[name] for name in ("year", "early") if name in values]
    if any(not policy.in_force(period) for policy in policies for period in periods):
        return None
    return values


def _beside(world: World, slot: str, values: Mapping[str, Any]) -> list[Any]:
    """The values of a slot, of those that go with what was drawn where the slot says which."""
    choices, declared = world.slot(slot), world.declaration.slots.get(slot)
    if declared is None or not declared.beside:
        return choices
    fitting = {v for drawn in values.values() for v in declared.beside.get(str(drawn), ())}
    return [choice for choice in choices if choice in fitting]


def _threshold(metric: Any, world: World, generator: np.random.Generator) -> float:
    """A round number near a quantile of the metric, as round as leaves rows on both sides."""
    quantile = QUANTILES[int(generator.integers(len(QUANTILES)))]
    column = world.tables[metric.table][metric.column].drop_nulls()
    value = column.quantile(quantile) or 0.0
    for digits in (1, 2):
        rounded = float(f"{value:.{digits}g}")
        if 0.05 <= (column > rounded).mean() <= 0.5:
            return rounded
    return float(f"{value:.3g}")


def step_values(values: Mapping[str, Any], declaration: Declaration) -> dict[str, Any]:
    """What steps may name: the columns of roles, drawn values, fields of metrics and policies."""
    made: dict[str, Any] = {
        f"{name}.{part}": column
        for name, role in declaration.roles.items()
        for part, column in [("table", role.table), *role.columns.items()]
    }
    taken: list[str] = []
    for name, value in values.items():
        if isinstance(value, Metric):
            made |= {f"{name}.column": value.column, f"{name}.kind": value.kind}
        elif isinstance(value, PolicyText):
            clauses = value.in_force(values["year"])
            before = value.in_force(values["early"]) if "early" in values else []
            made |= {f"{name}.clauses": clauses, f"{name}.before": before}
            made[f"{name}.open"] = value.in_force(values["year"], is_open=True)
            periods = [values[name] for name in ("year", "early") if name in values]
            used = [
                condition.column
                for reading in ("", *value.careless)
                for period in periods
                for clause in value.clauses_of(period, reading, is_open=False)
                for condition in clause.where
            ]
            made[f"{name}.take"] = _of_places(used, declaration)
            taken += made[f"{name}.take"]
            measure = next((m for m in declaration.metrics if m.name == value.measure), None)
            if measure is not None:
                made |= {f"{name}.column": measure.column, f"{name}.kind": measure.kind}
        else:
            made[name] = value
            made[f"{name}.minus"] = -value if isinstance(value, int | float) else value
    made["policies.take"] = list(dict.fromkeys(taken))
    return made


def _of_places(used: Sequence[str], declaration: Declaration) -> list[str]:
    """Of the columns by which clauses choose those of places."""
    table = declaration.roles["entities"].table
    own = set(declaration.table(table).names)
    return [name for name in dict.fromkeys(used) if name not in own]


def steps_of(template: Template, fields: Mapping[str, Any], declaration: Declaration) -> list[Any]:
    """The steps with what was drawn; of a table only the rows that count in its role."""
    steps: list[Any] = filled(template.steps, fields)
    only = {role.table: role.only for role in declaration.roles.values() if role.only}
    for step in steps:
        more = only.get(step.get("source"), {})
        if more:
            conditions = [{"column": column, "value": cell} for column, cell in more.items()]
            step["where"] = [*step.get("where", ()), *conditions]
    return steps


def word_values(
    template: Template, values: Mapping[str, Any], declaration: Declaration, language: Language
) -> dict[str, str]:
    """What a wording may name, in the words of the language."""
    table = words_table()
    keys = {*declaration.words, *table["words"]}
    shared = {f"w.{name}": declaration.says(name, language) for name in sorted(keys)}
    made = dict(shared)
    for name, value in values.items():
        draw = template.draw[name]
        if isinstance(value, Metric | PolicyText):
            made[name] = value.label[language]
            if isinstance(value, Metric):
                study = value.study or table["study"]
                made[f"{name}.study"] = study[language].replace("{label}", value.label[language])
                most = table["most"][language]
                made[f"{name}.most"] = most.get(value.kind, most["other"])
        elif draw.threshold is not None:
            made[name] = _amount(value, values[draw.threshold], shared["w.money"])
        elif draw.slot == RANK:
            made |= _ordinals(name, value, language, table, shared)
        elif draw.year_of or draw.slot in PERIODS:
            made[name] = shared["w.period"].replace("{year}", str(value))
            made[f"{name}.plain"] = str(value)
        else:
            made[name] = entity_words(declaration, draw.slot or "", value, language)
    return made


def _ordinals(
    name: str, value: int, language: Language, table: Mapping[str, Any], shared: Mapping[str, str]
) -> dict[str, str]:
    key = str(value)
    top = table["top"][language]
    counted = top.get(key, top["other"])
    number = table["numbers"][language].get(key, key)
    for placeholder, words in (*shared.items(), ("n", number)):
        counted = counted.replace("{" + placeholder + "}", words)
    return {
        name: table["ordinal"][language][key],
        f"{name}_count": counted,
    }


def _amount(value: float, metric: Metric, money: str) -> str:
    if metric.kind == "year":
        return f"{value:.0f}"
    written = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:g}"
    return f"{written} {money}" if metric.kind == "money" else written


def entity_words(declaration: Declaration, slot: str, value: Any, language: Language) -> str:
    """The name of a value in a language; the value itself where none is declared."""
    declared = declaration.slots.get(slot)
    table = declared.names if declared is not None and declared.names else slot
    pair = declaration.names.get(table, {}).get(str(value))
    return str(value) if pair is None else pair[0 if language == "en" else 1]
