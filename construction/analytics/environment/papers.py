"""What planted policies are written with: papers, quotes, letters, figures of an environment; and
the names in papers, which a reader searches for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property
from typing import Any

import numpy as np
import polars as pl

from construction.analytics.environment.declaration import Declaration, Metric
from data.errors import ConfigError
from data.text.lexicon import load_table

# Relative distance of a limit from the next figure, more than the gate asks for: of many figures
# some are always near.
_CLEAR, _CLEAR_OF_KIND, _CLEAR_OF_FEW, _FEW = 2e-4, 2.5e-3, 6e-3, 60
_REPORTED = 0.95
NEW_YEAR = 3  # the last month of which letters hold from the period of the same year


@dataclass(eq=False)
class Paper:
    """A document in the making; it gets its name when all are written. `folder`: where it is filed;
    `day`: that which it bears, if it bears one; `heading`: what the registry shows of it."""

    lines: list[str]
    name: str = ""
    folder: str = "programmes"
    day: date | None = None
    heading: str = ""

    def say(self, sentence: str) -> Said:
        """Add a numbered section; returns it as a quote."""
        self.lines.append(f"{len(self.lines) - 1}. {sentence}")
        return Said(self, sentence)


@dataclass(frozen=True, eq=False)
class Said:
    """A sentence of a paper."""

    paper: Paper
    sentence: str

    def quote(self) -> dict[str, str]:
        return {"document": self.paper.name, "says": self.sentence}


NEVER = 10**6  # a period that does not come


@dataclass(frozen=True)
class Letter:
    """What was signed: its day, the period from which it holds if it names one, and its words.

    `veils`: the careless readings that do not see what it says. `rank`: that of who signed it.
    `ref`: how other papers name it.
    """

    day: date
    names: int | None
    quotes: tuple[Said, ...]
    veils: frozenset[str] = frozenset()
    rank: int = 1
    ref: str = ""

    def since(self, reading: str) -> int:
        if reading in self.veils:
            return NEVER
        if reading == "dates":
            return self.day.year
        return self.period if self.names is None else self.names

    @property
    def period(self) -> int:
        """That from which it would hold if it named none."""
        return self.day.year + (self.day.month > NEW_YEAR)

    def order(self, reading: str) -> tuple[int, int]:
        """Its place among letters, of which a later one decides."""
        return (1 if reading == "ranks" else self.rank, self.day.toordinal())


@dataclass(frozen=True)
class Rule:
    """A clause as it stands in a period. `order`: of two that fit, the later decides. `is_open`:
    whom it fits is undecided. `is_void`: later letters laid it aside, as its quotes say."""

    order: tuple[int, int]
    where: tuple[dict[str, Any], ...]
    rate: float | None
    quotes: tuple[Said, ...]
    is_open: bool = False
    is_void: bool = False

    def clause(self) -> dict[str, Any]:
        quotes = [said.quote() for said in dict.fromkeys(self.quotes)]
        own: dict[str, Any] = {"quotes": quotes}
        own |= {"where": list(self.where)} | ({"open": True} if self.is_open else {})
        return own if self.rate is None else own | {"rate": self.rate}


@dataclass
class Voice:
    """How one paper speaks: its day; what its words take for granted is collected: quotes of other
    papers, and the careless readings that get lost in them."""

    day: date
    quotes: list[Said] = field(default_factory=list)
    veils: set[str] = field(default_factory=set)


Words = str | Callable[[Voice], str]  # as they are, or as a paper says them


@dataclass
class Named:
    """Something with the code or name of today and, before a day, an earlier one.

    `changed`: that day; `said`: the sentence that says so.
    """

    formal: str
    before: str = ""
    changed: date = date.min
    said: Said | None = None

    def called(self, voice: Voice) -> str:
        if not self.before or voice.day >= self.changed:
            return self.formal
        voice.veils.add("codes")
        voice.quotes += [self.said] if self.said else []
        return self.before


@dataclass
class Writer:
    """What is drawn for one policy or for the agency: forms, and figures of the environment."""

    declaration: Declaration
    tables: Mapping[str, pl.DataFrame]
    generator: np.random.Generator
    words: Mapping[str, Any]

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.generator.integers(len(choices)))]

    @cached_property
    def years(self) -> list[int]:
        role = self.declaration.roles["entities"]
        return sorted(self.tables[role.table][role.period].drop_nulls().unique().to_list())

    def later(self) -> int:
        """A period after the first two, if there are so many."""
        return int(self.pick(self.years[2:] or self.years[-1:]))

    def period(self, year: int) -> str:
        return self.says("period").replace("{year}", str(year))

    @cached_property
    def fields(self) -> dict[str, str]:
        """The words of the environment that forms may use."""
        words = {key: self.says(key) for key in ("place", "places", "entity", "entities", "money")}
        return words | {"Entities": words["entities"][:1].upper() + words["entities"][1:]}

    def says(self, key: str) -> str:
        return self.declaration.says(key, "en")

    def named(self, name: str) -> Metric:
        return next(metric for metric in self.declaration.metrics if metric.name == name)

    def metric(
        self, role: str, family: str, but: Metric | None = None, kind: str | None = None
    ) -> Metric:
        """A metric of a family; another than `but`, and of a kind, where there is one."""
        table = self.declaration.roles[role].table
        own = [m for m in self.declaration.metrics if m.table == table]
        fitting = [m for m in own if not m.families or family in m.families]
        fitting = [m for m in fitting if m != but] or fitting
        fitting = [m for m in fitting if m.kind == kind] or fitting
        if kind is not None:  # that of a levy, which hardly anybody may leave out
            fitting = [m for m in fitting if self._is_reported(m)] or fitting
        if not fitting:
            raise ConfigError(
                f"{self.declaration.name}: found no {role} metric in the family {family}; "
                "expected one for planted policies. Declare it in [[metrics]]."
            )
        return self.pick(fitting)  # type: ignore[no-any-return]

    def _is_reported(self, metric: Metric) -> bool:
        cells = self.tables[metric.table][metric.column]
        return cells.null_count() <= (1 - _REPORTED) * len(cells)

    def limit(self, metric: Metric, low: float, high: float, kinds: Sequence[str] = ()) -> float:
        """A round figure between two quantiles, with none of the figures near it, and fewer still
        of the entities of some kinds."""
        cells, few = self._of_entities(metric), self._of_entities(metric, kinds)
        for digits in (1, 2, 3, 4):
            for share in self.generator.uniform(low, high, 40):
                at = float(f"{float(cells.quantile(share) or 0):.{digits}g}")
                beyond = (cells < at).sum() / max(len(cells), 1)
                if low / 2 <= beyond <= high + 0.1 and not (
                    self._is_crowded(cells, at, _CLEAR) or self._is_crowded(few, at, _CLEAR_OF_KIND)
                ):
                    return at
        return float(f"{float(cells.quantile((low + high) / 2) or 0):.3g}")

    def _of_entities(self, metric: Metric, kinds: Sequence[str] | None = None) -> pl.Series:
        """The figures of a metric, of places once for each entity there."""
        own, column = self.declaration.roles["entities"], self.tables[metric.table][metric.column]
        if metric.table == own.table:
            is_among = self.tables[own.table][own.kind].is_in(kinds or ())
            return column.drop_nulls() if kinds is None else column.filter(is_among).drop_nulls()
        shared = self.declaration.roles["places"].place
        there = self.tables[metric.table].select(shared, metric.column)
        rows = self.tables[own.table].select(pl.col(own.place).alias(shared))
        return rows.join(there, on=shared)[metric.column].drop_nulls()

    def _is_crowded(self, cells: pl.Series, at: float, clear: float) -> bool:
        clear = _CLEAR_OF_FEW if cells.n_unique() <= _FEW else clear
        if bool((cells == cells.round()).all()):
            cells = cells.filter(cells != at)  # counts are what they are
        return bool(((cells - at).abs() <= clear * max(abs(at), 1e-9)).any())

    def amount(self, value: float, metric: Metric) -> str:
        written = f"{value:,.0f}" if value == int(value) else f"{value:g}"
        return written + self.money(metric)

    def money(self, metric: Metric) -> str:
        return f" {self.says('money')}" if metric.kind == "money" else ""

    def kinds(self) -> list[str]:
        """Kinds of entities, the most frequent first."""
        role = self.declaration.roles["entities"]
        counts = self.tables[role.table][role.kind].drop_nulls().value_counts()
        ordered = counts.sort(["count", role.kind], descending=[True, False])
        return list(ordered[role.kind])

    def places(self) -> list[str]:
        role = self.declaration.roles["places"]
        return sorted(self.tables[role.table][role.place].drop_nulls().unique().to_list())

    def called(self, value: str, of: str = "kind") -> str:
        """A kind or a place in words."""
        names = self.declaration.names.get(of, {}).get(value, (value,))
        return str(names[0])

    def of_all(self, values: Sequence[str], of: str = "kind") -> str:
        """Several kinds or places, as a paper lists them."""
        return self.listed([self.called(value, of) for value in values])

    def listed(self, names: Sequence[str]) -> str:
        last = str(self.words["separator"])
        return f"{', '.join(names[:-1])}{last}{names[-1]}" if len(names) > 1 else names[0]

    def form(self, group: str, part: str, since: int | None = None, /, **values: str) -> str:
        """A sentence of a scheme; `since`: the period from which it says that it holds."""
        when = "" if since is None else f", from {self.period(since)} on"
        form = self.pick(self.words[group][part])
        return str(form.format(**{**self.fields, "when": when, **values}))

    def phrase(self, part: str, voice: Voice, /, **values: Words) -> str:
        """What a letter says, without its frame."""
        return self.worded(self.pick(self.words["letter"][part]), voice, **values)

    def worded(self, form: str, voice: Voice, /, **values: Words) -> str:
        """A form in the words of a paper; of the values only those that it names."""
        used = {name: value for name, value in values.items() if f"{{{name}}}" in form}
        made = {n: v if isinstance(v, str) else v(voice) for n, v in used.items()}
        return form.format(**{**self.fields, **made})

    def dated(self, day: date) -> str:
        month = self.words["months"][day.month - 1]
        return str(self.pick(self.words["days"]).format(day=day.day, month=month, year=day.year))

    def month(self) -> str:
        return str(self.pick(self.words["months"]))


def when(column: str, test: str, value: Any) -> dict[str, Any]:
    return {"column": column, "test": test, "value": value}


_REF = re.compile(r"(?:Circular|Resolution) \d+/\d{4}")


def names_in(text: str) -> Iterator[str]:
    """What a reader of a text would search for, in the order in which it stands there."""
    folded = text.casefold()
    places = [(folded.find(name.casefold()), name) for name in _vocabulary()]
    places += [(match.start(), match[0]) for match in _REF.finditer(text)]
    yield from dict.fromkeys(query for at, query in sorted(places) if at >= 0)


@cache
def _vocabulary() -> Sequence[str]:
    """The names of schemes, and of what papers speak of, as texts have them."""
    words: Mapping[str, Any] = load_table(__package__, "policies.toml")
    codes = (code for key in ("sectors", "areas", "categories") for of in words[key] for code in of)
    return ("General Rules", "core industries", *words["schemes"], *words["former"], *codes)
