"""Policies for an environment that has none: invented documents, and the clauses that they state.

Scope, limits, an exception, an exception to it, and a change at some date are drawn by key from the
data, so that each clause has an effect. Circulars name no policy: they are for all of a use and a
measure, and later ones end or change earlier ones, so that whoever looks for a name finds half of
what applies. What is drawn is written into sentences of several forms (`policies.toml`), and each
clause quotes the sentences that state it: the declaration refuses a clause whose numbers and names
do not stand in its quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from construction.analytics.environment.declaration import Declaration, Metric
from data.errors import ConfigError
from data.randomness import keyed_generator
from data.text.lexicon import load_table

FILE = "rules"
# Relative distance of a limit from the next figure, more than the gate asks for: of many figures
# some are always near.
_CLEAR, _CLEAR_OF_FEW, _FEW = 2e-4, 6e-3, 60
_EXCEPTIONS, _OLDEST = 3, 12  # of each sort for a class; periods before the first
_RATES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)


@dataclass
class _Paper:
    """A document in the making."""

    name: str
    lines: list[str] = field(default_factory=list)

    def say(self, sentence: str, *more: str) -> dict[str, str]:
        """Add a numbered section; returns its first sentence as a quote."""
        self.lines.append(f"{len(self.lines) - 1}. {' '.join([sentence, *more])}")
        return {"document": self.name, "says": sentence}


@dataclass
class _Writer:
    """What is drawn for one policy: its forms, and figures of the environment."""

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
        return self.declaration.says("period", "en").replace("{year}", str(year))

    def fields(self) -> dict[str, str]:
        """The words of the environment that forms may use."""
        words = {key: self.declaration.says(key, "en") for key in ("place", "entities")}
        return words | {"Entities": words["entities"][:1].upper() + words["entities"][1:]}

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
        if not fitting:
            raise ConfigError(
                f"{self.declaration.name}: found no {role} metric in the family {family}; "
                "expected one for planted policies. Declare it in [[metrics]]."
            )
        return self.pick(fitting)  # type: ignore[no-any-return]

    def limit(self, metric: Metric, low: float, high: float) -> float:
        """A round figure between two quantiles, with none of the figures near it."""
        cells = self._of_entities(metric)
        for digits in (1, 2, 3, 4):
            for share in self.generator.uniform(low, high, 40):
                at = float(f"{float(cells.quantile(share) or 0):.{digits}g}")
                beyond = (cells < at).sum() / max(len(cells), 1)
                if low / 2 <= beyond <= high + 0.1 and not self._is_crowded(cells, at):
                    return at
        return float(f"{float(cells.quantile((low + high) / 2) or 0):.3g}")

    def _of_entities(self, metric: Metric) -> pl.Series:
        """The figures of a metric, of places once for each entity there."""
        own, column = self.declaration.roles["entities"], self.tables[metric.table][metric.column]
        if metric.table == own.table:
            return column.drop_nulls()
        shared = self.declaration.roles["places"].place
        there = self.tables[metric.table].select(shared, metric.column)
        rows = self.tables[own.table].select(pl.col(own.place).alias(shared))
        return rows.join(there, on=shared)[metric.column].drop_nulls()

    def _is_crowded(self, cells: pl.Series, at: float) -> bool:
        clear = _CLEAR_OF_FEW if cells.n_unique() <= _FEW else _CLEAR
        if bool((cells == cells.round()).all()):
            cells = cells.filter(cells != at)  # counts are what they are
        return bool(((cells - at).abs() <= clear * max(abs(at), 1e-9)).any())

    def amount(self, value: float, metric: Metric) -> str:
        written = f"{value:,.0f}" if value == int(value) else f"{value:g}"
        money = f" {self.declaration.says('money', 'en')}" if metric.kind == "money" else ""
        return f"{written}{money}"

    def kinds(self) -> list[str]:
        """Kinds of entities, the most frequent first."""
        role = self.declaration.roles["entities"]
        counts = self.tables[role.table][role.kind].drop_nulls().value_counts()
        ordered = counts.sort(["count", role.kind], descending=[True, False])
        return list(ordered[role.kind])

    def called(self, kind: str) -> str:
        return self.declaration.names.get("kind", {}).get(kind, (kind,))[0]


def planted_policies(
    declaration: Declaration, tables: Mapping[str, pl.DataFrame], n: int, seed: int
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Documents by their id, and the policies that they state, as a declaration has them.

    Raises ConfigError where the roles of entities with a kind, and of places, are not declared.
    """
    if declaration.column("entities", "kind") is None or "places" not in declaration.roles:
        raise ConfigError(
            f"{declaration.name}: roles: found no entity kind, or no places; expected both for "
            "planted policies. Declare them."
        )
    words = load_table(__package__, "policies.toml")

    def writer(name: str) -> _Writer:
        generator = keyed_generator(seed, "policies", f"{declaration.name}:{name}")
        return _Writer(declaration, tables, generator, words)

    schemes = []
    for number in range(n):
        w = writer(f"{number}")
        name = words["schemes"][number % len(words["schemes"])]
        use = ("cover", "levy", "cover")[number % 3]
        # Nobody pays in heads or hectares, where there are amounts of money.
        paid = "money" if use == "levy" else None
        schemes.append(_Scheme(w, name, use, w.metric("entities", "size", kind=paid)))
    office = _Office(writer("office"), sorted({(each.use, each.size.name) for each in schemes}))
    policies = [scheme.policy(office) for scheme in schemes]
    papers = [*office.papers, *(paper for each in schemes for paper in (each.rules, each.memo))]
    return {paper.name: "\n\n".join(paper.lines) for paper in papers}, policies


def how_to_read(declaration: Declaration) -> dict[str, str]:
    """The convention of planted policies: which papers apply, in words for guidelines."""
    words = load_table(__package__, "policies.toml")["convention"]
    return {language: words[language] for language in declaration.languages}


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _when(column: str, test: str, value: Any) -> dict[str, Any]:
    return {"column": column, "test": test, "value": value}


@dataclass(frozen=True)
class _Spell:
    """The periods from `since` to `until` in which something stands, with the words for it."""

    quotes: tuple[dict[str, str], ...]
    since: int | None = None
    until: int | None = None
    says: Any = None

    def beside(self, other: _Spell) -> _Spell | None:
        """The periods in which both stand, with the words of both; None if there is none."""
        starts = [each.since for each in (self, other) if each.since is not None]
        ends = [each.until for each in (self, other) if each.until is not None]
        since, until = max(starts, default=None), min(ends, default=None)
        if since is not None and until is not None and since > until:
            return None
        return _Spell((*self.quotes, *other.quotes), since, until)

    def clause(self, *where: dict[str, Any], rate: float | None = None) -> dict[str, Any]:
        set_rate = {"rate": rate, "since": self.since, "until": self.until}
        return {
            "quotes": list(self.quotes),
            "where": list(where),
            **{name: value for name, value in set_rate.items() if value is not None},
        }


def _until_and_from(year: int, before: _Spell, after: _Spell) -> tuple[_Spell, _Spell]:
    """What stood until a period, and what stands from it on."""
    return (
        replace(before, until=year - 1),
        replace(after, since=year, quotes=(*before.quotes, *after.quotes)),
    )


@dataclass
class _Office:
    """What all policies have in common: how papers are read, trades, and circulars.

    Circulars are for all policies that share a use and a measure, which they name instead of them.
    """

    w: _Writer
    classes: Sequence[tuple[str, str]]
    papers: list[_Paper] = field(default_factory=list)
    trades: tuple[_Spell, ...] = ()
    orders: dict[tuple[str, str], list[list[dict[str, Any]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kinds = self.w.kinds()
        chosen = kinds[: max(3, (len(kinds) * 2 + 2) // 3)]
        self.leaving, self.steady = chosen[-1], sorted(chosen[:-1])
        joining = kinds[len(chosen)] if len(kinds) > len(chosen) else None
        terms = _Paper("common_terms")
        terms.lines += list(self.w.words["common"]["head"])
        for line in self.w.words["common"]["reading"]:
            terms.say(line.format(**self.w.fields()))
        self.papers.append(terms)
        named = _listed([self.w.called(name) for name in sorted(chosen)])
        founding = _Spell((self.say(terms, "common", "trades", kinds=named),), says=chosen)
        self.trades = (founding,)
        self._at: list[tuple[int, float, Callable[[], None]]] = []
        if joining:
            year = self.w.later()
            self._plan(year, partial(self._changed_trades, founding, joining, year))
        for use, name in self.classes:
            year = self.w.later()
            self._plan(year, partial(self._taken, use, name, year))
            for role in ("entities", "places") * _EXCEPTIONS:
                left_out = _Omission(self, use, self.w.named(name), role)
                self._plan(left_out.year, left_out.issue)
                if left_out.change <= self.w.years[-1]:
                    self._plan(left_out.change, left_out.revise)
        for _, _, write in sorted(self._at, key=itemgetter(0, 1)):
            write()

    def _plan(self, year: int, write: Callable[[], None]) -> None:
        """Circulars are numbered in the order of the periods from which they apply."""
        self._at.append((year, float(self.w.generator.random()), write))

    def say(self, paper: _Paper, group: str, part: str, **values: str) -> dict[str, str]:
        """Write a sentence of a form, with an aside in circulars; returns it as a quote."""
        form = self.w.pick(self.w.words[group][part])
        more = [] if group == "common" else [self.w.pick(self.w.words["aside"]["forms"])]
        return paper.say(form.format(**self.w.fields(), **values), *more)

    def circular(self) -> tuple[_Paper, str]:
        """The next circular, and its number in words."""
        number = len(self.papers)
        paper = _Paper(f"circular_{number:02d}")
        head = self.w.words["circular"]["head"]
        paper.lines += [line.format(number=number) for line in head]
        self.papers.append(paper)
        return paper, str(number)

    def _changed_trades(self, founding: _Spell, joining: str, year: int) -> None:
        paper, _ = self.circular()
        values = {"joining": self.w.called(joining), "leaving": self.w.called(self.leaving)}
        quote = self.say(paper, "circular", "trades", since=self.w.period(year), **values)
        kinds = [kind for kind in founding.says if kind != self.leaving]
        after = _Spell((quote,), says=[*kinds, joining])
        self.trades = _until_and_from(year, founding, after)

    def _taken(self, use: str, name: str, year: int) -> None:
        """Some are taken in, or pay, whatever they do."""
        w, size = self.w, self.w.named(name)
        measure = w.metric("places", "rank")
        limit, bound = w.limit(size, 0.7, 0.85), w.limit(measure, 0.2, 0.4)
        rate = 1.0 if use == "cover" else float(w.pick(_RATES))
        values = {"since": w.period(year), "size": size.label["en"], "measure": measure.label["en"]}
        values |= {"limit": w.amount(limit, size), "bound": w.amount(bound, measure)}
        paper, _ = self.circular()
        quote = self.say(paper, "circular", f"{use}_take", rate=f"{rate:g}", **values)
        where = [_when(size.column, ">=", limit), _when(measure.column, "<", bound)]
        clause = _Spell((quote,), year).clause(*where, rate=rate)
        self.orders.setdefault((use, name), []).append([clause])

    def clauses(self, use: str, size: Metric) -> list[dict[str, Any]]:
        """What circulars say of such policies, in the order of their numbers."""
        return [clause for clauses in self.orders[use, size.name] for clause in clauses]


@dataclass
class _Omission:
    """Some of a kind whom a circular leaves out of policies of a use and a measure, often since
    long ago, and a later circular that ends this, changes its limit or spares some of them."""

    office: _Office
    use: str
    size: Metric
    role: str
    number: str = ""
    clauses: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        w, role = self.office.w, self.role
        self.other = w.metric(role, "size" if role == "entities" else "rank", but=self.size)
        # The figures of places are of late years: what goes by them is no older.
        oldest = _OLDEST if role == "entities" else 1
        kind, self.year = w.pick(self.office.steady), w.years[0] - self._drawn(-1, oldest)
        self.change = self._drawn(self.year + 1, w.years[-1] + 2)
        late = "spared" if self.change > w.years[0] else "moved"
        self.how = w.pick(("ended", "ended", "moved", late))
        limits = (w.limit(self.other, 0.3, 0.45), w.limit(self.other, 0.55, 0.7))
        self.low, self.high = sorted(limits)
        self.measure = w.metric("places", "rank", but=self.other)
        self.bound = w.limit(self.measure, 0.5, 0.75)
        self.among = _when(w.declaration.roles["entities"].kind, "=", kind)
        self.words = {
            "kind": w.called(kind),
            "size": self.size.label["en"],
            "other": self.other.label["en"],
            "measure": self.measure.label["en"],
        }

    def _drawn(self, low: int, high: int) -> int:
        return int(self.office.w.generator.integers(low, high))

    def _limited(self, limit: float, *more: dict[str, Any]) -> list[dict[str, Any]]:
        return [self.among, _when(self.other.column, "<", limit), *more]

    def issue(self) -> None:
        """The circular that leaves them out."""
        w, (paper, self.number) = self.office.w, self.office.circular()
        bound = w.amount(self.low, self.other)
        who = w.words["circular"]["who"][self.role].format(**w.fields(), **self.words, bound=bound)
        values = {"since": w.period(self.year), "who": who, "bound": bound, **self.words}
        self.quote = self.office.say(paper, "circular", f"{self.use}_except", **values)
        stood = _Spell((self.quote,), self.year)
        self.clauses.append(stood.clause(*self._limited(self.low)))
        self.office.orders.setdefault((self.use, self.size.name), []).append(self.clauses)

    def revise(self) -> None:
        """The circular that changes it."""
        w, (paper, _) = self.office.w, self.office.circular()
        values = {"number": self.number, "since": w.period(self.change), **self.words}
        values |= {
            "bound": w.amount(self.low, self.other),
            "instead": w.amount(self.high, self.other),
        }
        if self.how == "spared":
            values["bound"] = w.amount(self.bound, self.measure)
        quote = self.office.say(paper, "circular", self.how, **values)
        stood = _Spell((self.quote,), self.year)
        before, after = _until_and_from(self.change, stood, _Spell((quote,)))
        self.clauses[:] = [before.clause(*self._limited(self.low))]
        if self.how == "moved":
            self.clauses.append(after.clause(*self._limited(self.high)))
        elif self.how == "spared":
            spared = _when(self.measure.column, "<=", self.bound)
            self.clauses.append(after.clause(*self._limited(self.low, spared)))


@dataclass
class _Scheme:
    """A policy in the making: its papers, and the measure that it goes by."""

    w: _Writer
    name: str
    use: str
    size: Metric
    rules: _Paper = field(init=False)
    memo: _Paper = field(init=False)

    def __post_init__(self) -> None:
        self.rules = _Paper(f"{self.name.lower()}_rules")
        self.memo = _Paper(f"{self.name.lower()}_memo")

    def policy(self, office: _Office) -> dict[str, Any]:
        """The policy: rules with an exception to an exception, a change, and what circulars say."""
        w, words = self.w, self.w.words
        self.measure, self.kind = w.metric("places", "rank"), w.pick(office.steady)
        self.since = w.years[len(w.years) // 2]
        self.fields = w.fields() | {
            "scheme": self.name,
            "since": w.period(self.since),
            "kind": w.called(self.kind),
            "size": self.size.label["en"],
            "measure": self.measure.label["en"],
        }
        head = w.pick(words["open"]["forms"]).format(**self.fields)
        self.rules.lines += [words["titles"][self.use].format(**self.fields), head]
        self.memo.lines += [f"{self.name}: a change", "To all who keep the books of the scheme."]
        own = self.levy(office.trades) if self.use == "levy" else self.cover(office.trades)
        labels = words["labels"]
        return {
            "name": f"{self.name.lower()}_{self.use}",
            "use": self.use,
            "label": {
                k: labels[k][self.use].format(**self.fields) for k in w.declaration.languages
            },
            "measure": self.size.name,
            "clauses": [*own, *office.clauses(self.use, self.size)],
        }

    def said(self, paper: _Paper, part: str, *, aside: bool = False, **values: str) -> _Spell:
        """Write a sentence of a form."""
        more = [self.w.pick(self.w.words["aside"]["forms"])] if aside else []
        form = self.w.pick(self.w.words[self.use][part])
        return _Spell((paper.say(form.format(**{**self.fields, **values}), *more),))

    def in_trades(
        self, trades: Sequence[_Spell], spell: _Spell, *where: dict[str, Any], rate: float
    ) -> list[dict[str, Any]]:
        """A clause for each of the periods with trades of their own."""
        column = self.w.declaration.roles["entities"].kind
        both = [(each, each.beside(spell)) for each in trades]
        return [
            spell.clause(_when(column, "in", each.says), *where, rate=rate)
            for each, spell in both
            if spell is not None
        ]

    def cover(self, trades: Sequence[_Spell]) -> list[dict[str, Any]]:
        """Who is taken in: trades above a limit, not in large places, but the largest of a kind."""
        w, size, measure = self.w, self.size, self.measure
        first, large = w.limit(size, 0.15, 0.35), w.limit(size, 0.6, 0.8)
        later, bound = w.limit(size, 0.4, 0.55), w.limit(measure, 0.5, 0.75)
        base = self.said(self.rules, "base", limit=w.amount(first, size))
        places = self.said(self.rules, "places", aside=True, bound=w.amount(bound, measure))
        back = self.said(self.rules, "back", large=w.amount(large, size))
        raised = self.said(self.memo, "raised", aside=True, limit=w.amount(later, size))
        before, after = _until_and_from(self.since, base, raised)
        column, at = w.declaration.roles["entities"].kind, partial(_when, size.column, ">=")
        return [
            *self.in_trades(trades, before, at(first), rate=1.0),
            *self.in_trades(trades, after, at(later), rate=1.0),
            places.clause(_when(measure.column, ">", bound)),
            back.clause(_when(column, "=", self.kind), at(large), rate=1.0),
        ]

    def levy(self, trades: Sequence[_Spell]) -> list[dict[str, Any]]:
        """Who owes what: trades the full rate, less in small places but one kind; not the small."""
        w, size, measure = self.w, self.size, self.measure
        bound, small = w.limit(measure, 0.3, 0.6), w.limit(size, 0.15, 0.35)
        low, rate, later = sorted(w.generator.choice(_RATES, 3, replace=False).tolist())
        base = self.said(self.rules, "base", rate=f"{rate:g}")
        places = self.said(self.rules, "places", bound=w.amount(bound, measure), low=f"{low:g}")
        back = self.said(self.rules, "back", aside=True)
        none = self.said(self.rules, "small", limit=w.amount(small, size))
        raised = self.said(self.memo, "raised", aside=True, rate=f"{later:g}")
        full = list(zip(_until_and_from(self.since, base, raised), (rate, later), strict=True))
        kind = _when(w.declaration.roles["entities"].kind, "=", self.kind)
        return [
            *(c for spell, per in full for c in self.in_trades(trades, spell, rate=per)),
            *self.in_trades(
                trades,
                _Spell((*base.quotes, *places.quotes)),
                _when(measure.column, "<", bound),
                rate=low,
            ),
            *(
                replace(
                    back, quotes=(*back.quotes, *spell.quotes), since=spell.since, until=spell.until
                ).clause(kind, rate=per)
                for spell, per in full
            ),
            none.clause(_when(size.column, "<", small)),
        ]
