"""Policies for an environment that has none: invented papers, and the clauses that they state.

Scope, limits, an exception, an exception to it, and an amendment are drawn by key from the data.
Circulars of an agency and resolutions of its board (`agency`) are addressed to categories of
programmes and concern sector groups and areas (`effects`), which annexes define and later circulars
change. Later papers amend, repeal, suspend and reinstate earlier ones, which they call by number;
some matters are pending.
What is drawn is written into sentences of many forms (`policies.toml`), and each clause quotes
the sentences that state it: the declaration refuses a clause whose numbers and names do not stand
in its quotes. Beside the clauses a policy has those of careless readings (`READINGS`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import cycle
from operator import itemgetter
from typing import Any

import polars as pl

from construction.analytics.environment.agency import Agency, Group
from construction.analytics.environment.declaration import Declaration, Role
from construction.analytics.environment.papers import (
    NEVER,
    Letter,
    Named,
    Paper,
    Rule,
    Said,
    Voice,
    Words,
    Writer,
    when,
)
from data.errors import ConfigError
from data.randomness import keyed_generator, keyed_order
from data.text.lexicon import load_table

_OLDEST = 8  # periods before the first
_RATES = (0.01, 0.02, 0.025, 0.03, 0.04, 0.05, 0.075)
# Whom papers exclude (by a figure of theirs or of their place, or by an area) or leave pending,
# who signs that, and what later papers do: for each category.
_OMISSIONS = (
    ("entities", "except", "office", ("ended", "restored")),
    ("area", "open", "board", ()),
    ("places", "except", "office", ("moved",)),
    ("area", "open", "office", ("ended",)),
    ("area", "except", "board", ("in_vain",)),
    ("entities", "except", "office", ("moved", "moved")),
    ("entities", "except", "draft", ()),
    ("places", "except", "office", ("spared",)),
    ("entities", "except", "office", ("confined",)),
    ("area", "open", "office", ("withdrawn",)),
    ("places", "except", "office", ("suspended", "reinstated")),
    ("entities", "except", "office", ("confined", "withdrawn")),
)
_FURTHER = 4  # sections of a programme or levy that decide nobody's case
_BUT = 4  # of so many papers one is for all categories but one
_APART = 5
_SIGNED_BY = {"withdrawn": "board"}
# What papers say that have no words of their own for it.
_SAID_AS = {"in_vain": "ended"}
_ENDING = ("ended", "withdrawn", "suspended")
_AT_ONCE = ("restored", "reinstated")  # so that the period after what they undo sees both


@dataclass
class Effect(ABC):
    """What papers say to the programmes and levies of a category."""

    agency: Agency
    category: Named
    is_but: bool = False  # for all categories but this one

    def is_on(self, named: Named) -> bool:
        return (self.category is named) != self.is_but

    @abstractmethod
    def rules(self, use: str, period: int, reading: str) -> Iterator[Rule]:
        """The clauses for a use in a period, as a reading has them."""


@dataclass
class Taking(Effect):
    """Some are included, and owe, whatever their industry."""

    def __post_init__(self) -> None:
        agency, w = self.agency, self.agency.w
        self.size, self.measure = w.metric("entities", "size"), w.metric("places", "rank")
        self.limit, self.bound = w.limit(self.size, 0.7, 0.85), w.limit(self.measure, 0.2, 0.4)
        self.rate = float(w.pick(_RATES))
        self.letter = agency.letter(
            "take",
            w.later(),
            "office",
            category=self.category.called,
            size=self.size.label["en"],
            measure=self.measure.label["en"],
            limit=w.amount(self.limit, self.size),
            bound=w.amount(self.bound, self.measure),
            rate=f"{self.rate:g}",
        )

    def rules(self, use: str, period: int, reading: str) -> Iterator[Rule]:
        letter = self.letter
        if period >= letter.since(reading):
            where = (
                when(self.size.column, ">=", self.limit),
                when(self.measure.column, "<", self.bound),
            )
            rate = 1.0 if use == "cover" else self.rate
            yield Rule(letter.order(reading), where, rate, letter.quotes)


@dataclass
class Omission(Effect):
    """Some of a sector group that a paper excludes, or leaves pending, often since long ago, and
    later papers that end or suspend this, change its limit, or narrow it; or end it in vain, or by
    mistake."""

    sector: Group = field(kw_only=True)
    role: str = "entities"
    verb: str = "except"
    by: str = "office"
    acts: Sequence[str] = ()

    def __post_init__(self) -> None:
        w, years = self.agency.w, self.agency.w.years
        role = "entities" if self.role == "entities" else "places"
        self.other = w.metric(role, "size" if role == "entities" else "rank")
        self.measure = w.metric("places", "rank", but=self.other)
        kinds = {*self.sector.members, *(kind for _, kind, _ in self.sector.changes)}
        self.limits = [
            w.limit(self.other, low, low + 0.2, sorted(kinds)) for low in (0.35, 0.65, 0.5)
        ]
        self.bound = w.limit(self.measure, 0.4, 0.7)
        self.area, self.narrower = (w.pick(self.agency.areas) for _ in range(2))
        # The figures of places are of late years: what goes by them is no older.
        oldest = _OLDEST if self.role == "entities" else 1
        start = years[0] - int(w.generator.integers(0, oldest + 1))
        verb = f"{self.verb}_but" if self.is_but else self.verb
        self.issued = self._letter(verb, start, self.by)
        self.changes: list[Letter] = []
        of = self.issued
        for at, act in enumerate(self.acts):
            earliest = of.period + 1
            later = [year for year in years[1:] if year >= earliest] or [earliest]
            period = earliest if act in _AT_ONCE else int(w.pick(later))
            of = self.issued if act == "reinstated" else of
            values: dict[str, Words] = {"ref": of.ref}
            values["instead"] = w.amount(self.limits[1 + at % 2], self.other)
            part = _SAID_AS.get(act, act)
            of = self._letter(part, period, _SIGNED_BY.get(act, "office"), **values)
            self.changes.append(of)
            of = self.issued if act == "confined" else of

    def _letter(self, part: str, period: int, by: str, **values: Words) -> Letter:
        w = self.agency.w
        area = self.narrower if part == "confined" else self.area
        own: dict[str, Words] = {
            "category": self.category.called,
            "sector": self.sector.names.called,
            "who": self._who,
            "area": area.names.called,
            "measure": self.measure.label["en"],
            "bound": w.amount(self.bound, self.measure),
        }
        letter = self.agency.letter(part, period, by, **own | values)
        self.agency.written.append((self.sector, letter))
        return letter

    def _who(self, voice: Voice) -> str:
        w = self.agency.w
        values: dict[str, Words] = {
            "other": self.other.label["en"],
            "bound": w.amount(self.limits[0], self.other),
            "area": self.area.names.called,
        }
        return w.worded(w.pick(w.words["who"][self.role]), voice, **values)

    def rules(self, use: str, period: int, reading: str) -> Iterator[Rule]:
        issued = self.issued
        is_draft = self.by == "draft"
        if period < issued.since(reading) or (is_draft and reading != "drafts"):
            return
        kinds, quotes = self.sector.at(period, reading)
        limit, quotes = self.limits[0], (*issued.quotes, *quotes)
        where = list[dict[str, Any]]()
        ended_by: tuple[Said, ...] = ()
        for at, act, letter in self._noticed(reading):
            if act == "restored":
                quotes = (*quotes, *self.changes[0].quotes, *letter.quotes)
                ended_by = ()
            elif period < letter.since(reading):
                continue
            elif act in _ENDING or (act == "in_vain" and reading == "ranks"):
                ended_by = letter.quotes
            elif act == "reinstated":
                quotes = (*quotes, *ended_by, *letter.quotes)
                ended_by = ()
            elif act == "moved":
                limit = self.limits[1 + at % 2]
                quotes = (*quotes, *letter.quotes)
            elif reading != "exceptions" and act in ("spared", "confined"):
                narrower, more = self._narrower(act, period, reading)
                where.append(narrower)
                quotes = (*quotes, *letter.quotes, *more)
        if ended_by:
            if not reading:
                yield Rule((0, 0), (), None, (*issued.quotes, *ended_by), is_void=True)
            return
        first = when(self._entities.kind, "in", kinds)
        if self.role == "area":
            members, more = self.area.at(period, reading)
            second, quotes = when(self._entities.place, "in", members), (*quotes, *more)
        else:
            second = when(self.other.column, "<", limit)
        conditions, is_open = (first, second, *where), self.verb == "open"
        yield Rule(issued.order(reading), conditions, None, quotes, is_open)

    @property
    def _entities(self) -> Role:
        return self.agency.w.declaration.roles["entities"]

    def _noticed(self, reading: str) -> Iterator[tuple[int, str, Letter]]:
        """The later papers that a reading sees, with what they do."""
        for at, (act, letter) in enumerate(zip(self.acts, self.changes, strict=True)):
            is_late = at > 0 and act != "withdrawn" and reading == "revivals"
            if reading != "corrections" and not is_late and letter.since(reading) != NEVER:
                yield at, act, letter

    def _narrower(
        self, act: str, period: int, reading: str
    ) -> tuple[dict[str, Any], tuple[Said, ...]]:
        """Whom alone it still concerns."""
        if act == "confined":
            members, quotes = self.narrower.at(period, reading)
            return when(self._entities.place, "in", members), quotes
        return when(self.measure.column, "<=", self.bound), ()


def _effects_of(agency: Agency) -> list[Effect]:
    """All that papers say to the programmes and levies of categories."""
    made: list[Effect] = [Taking(agency, named) for named in agency.categories]
    turns = cycle(agency.sectors)
    for first in range(len(_OMISSIONS)):
        # Each category begins with others, so that they differ.
        for at, (named, sector) in enumerate(zip(agency.categories, turns, strict=False)):
            number = (first + at * _APART) % len(_OMISSIONS)
            role, verb, by, acts = _OMISSIONS[number]
            is_but = verb == "except" and number % _BUT == _BUT - 2 and len(agency.categories) > 1
            own = {"role": role, "verb": verb, "by": by}
            made.append(Omission(agency, named, is_but, sector=sector, acts=acts, **own))
    return made


FILE = "rules"
READINGS = {
    "corrections": "papers that change others are passed over",
    "revivals": "that a change was changed again, made in error or lifted is passed over",
    "names": "what is written under a programme's former name is passed over",
    "codes": "what is written under the earlier code of a group, area or category is passed over",
    "ranks": "a circular can change what the board resolved, and the later word decides",
    "dates": "everything holds from the year in which it was signed",
    "annexes": "groups, areas, categories and core industries are taken as they were adopted",
    "drafts": "drafts are taken for binding",
    "exceptions": "exceptions to exceptions are passed over",
}


def planted_policies(
    declaration: Declaration, tables: Mapping[str, pl.DataFrame], n: int, seed: int
) -> tuple[dict[str, str], list[dict[str, Any]], dict[str, dict[str, str]]]:
    """Documents by their id, the policies that they state, and where each document is filed, both
    as a declaration has them.

    Raises ConfigError where the roles of entities with a kind, and of places, are not declared.
    """
    if declaration.column("entities", "kind") is None or "places" not in declaration.roles:
        raise ConfigError(
            f"{declaration.name}: roles: found no entity kind, or no places; expected both for "
            "planted policies. Declare them."
        )
    words = load_table(__package__, "policies.toml")

    def writer(name: str) -> Writer:
        generator = keyed_generator(seed, "policies", f"{declaration.name}:{name}")
        return Writer(declaration, tables, generator, words)

    agency = Agency(writer("agency"))
    schemes = [_Scheme(writer(f"{number}"), agency, number) for number in range(n)]
    effects = _enlist(agency, schemes)
    of_schemes = [paper for each in schemes for paper in each.papers]
    agency.finish(len(of_schemes))
    papers = [*agency.papers, *of_schemes]
    order = keyed_order(seed, "papers", [f"{number}" for number in range(len(papers))])
    for number, at in enumerate(order, 1):
        papers[at].name = f"paper_{number:03d}"
    texts = {paper.name: "\n\n".join(paper.lines) for paper in papers}
    filed = {paper.name: _filing(paper) for paper in papers}
    made = [scheme.policy(effects) for scheme in schemes]
    return dict(sorted(texts.items())), made, dict(sorted(filed.items()))


def _filing(paper: Paper) -> dict[str, str]:
    """Where a clerk files it, and as what."""
    filed = {"folder": paper.folder, "heading": paper.heading or paper.lines[0]}
    if paper.day:
        filed["day"] = paper.day.isoformat()
    return filed


def how_to_read(declaration: Declaration) -> dict[str, str]:
    """The convention of planted policies: which papers apply, in words for guidelines."""
    words = load_table(__package__, "policies.toml")["convention"]
    return {
        language: words[language].replace("{entities}", declaration.says("entities", language))
        for language in declaration.languages
    }


def _enlist(agency: Agency, schemes: Sequence[_Scheme]) -> list[Effect]:
    """Put schemes into categories, name them anew, and write what papers say to categories."""
    w = agency.w
    agency.categories = agency.categories[: len(schemes)]
    n = len(agency.categories)
    for at, named in enumerate(agency.categories):
        # Each has both programmes and levies, which take turns themselves.
        own = [scheme for scheme in schemes if (scheme.number + scheme.number // n) % n == at]
        names = w.listed([scheme.called for scheme in own])
        said = agency.line(agency.annex, "category", category=named.before, names=names)
        for scheme in own:
            quotes = tuple(each for each in (said, named.said) if each)
            scheme.categories.append((named, None, quotes))
    for at, scheme in enumerate(schemes):
        if at % 4 != 1 and n > 1:
            _move(agency, scheme)
        if scheme.former != scheme.name:
            day = date(w.years[-1] + 1, 9, 1 + at)
            values = {"former": scheme.called, "scheme": scheme.title(scheme.name)}
            core = w.phrase("renamed", Voice(day), **values)
            scheme.renamed = agency.file("notice", day, core)[0][-1:]
    return _effects_of(agency)


def _move(agency: Agency, scheme: _Scheme) -> None:
    """A scheme goes over to another category."""
    named = scheme.categories[0][0]
    other = agency.categories[(agency.categories.index(named) + 1) % len(agency.categories)]
    values: dict[str, Words] = {"name": scheme.called, "category": named.called}
    letter = agency.letter("goes", agency.w.later(), "office", other=other.called, **values)
    scheme.categories.append((other, letter, letter.quotes))


# A clause with its place in the order, and the first of the periods in which it stands.
_Spell = tuple[tuple[int, int], int, dict[str, Any]]


@dataclass
class _Scheme:
    """A policy in the making: its papers, and the measure that it goes by."""

    w: Writer
    agency: Agency
    number: int
    categories: list[tuple[Named, Letter | None, tuple[Said, ...]]] = field(default_factory=list)
    renamed: tuple[Said, ...] = ()

    def __post_init__(self) -> None:
        w, words = self.w, self.w.words
        at = self.number % len(words["schemes"])
        self.name = words["schemes"][at]
        self.former = words["former"][at] if self.number % 2 == 0 else self.name
        self.use = ("cover", "levy", "cover")[self.number % 3]
        self.called = self.title(self.former)
        # Nobody pays in heads or hectares, where there are amounts of money.
        paid = "money" if self.use == "levy" else None
        self.size = w.metric("entities", "size", kind=paid)
        self.measure, self.kind = w.metric("places", "rank"), w.pick(self.agency.steady)
        label = words["titles"][self.use].format(scheme=self.name)
        rules = Paper([label, w.pick(words["open"]["forms"])])
        period = w.years[len(w.years) // 2]
        names = w.pick((None, None, period))
        day = self.agency.day(period + (0 if names is None else w.pick((0, 1))))
        signed = f"Signed by the committee on {w.dated(day)}."
        memo = Paper([f"Amendment 1 to {self.called}", signed], day=day)
        self.papers = (rules, memo)
        self._rules = self._levy if self.use == "levy" else self._cover
        values = self._draw()
        self.said = {
            part: rules.say(w.form(self.use, part, **values))
            for part in w.words[self.use]
            if part != "raised"
        }
        for form in w.generator.permutation(words["further"][self.use]).tolist()[:_FURTHER]:
            rules.say(self.agency.filled(form))
        raised = memo.say(w.form(self.use, "raised", names, **values | self.instead))
        self.memo = Letter(day, names, (Said(memo, memo.lines[1]), raised))

    def title(self, name: str) -> str:
        """How papers call it under a name."""
        return str(self.w.words["called"][self.use]).format(scheme=name)

    def _draw(self) -> dict[str, str]:
        """Draw the figures of the rules; returned as they are written."""
        w, size, measure = self.w, self.size, self.measure
        values = {
            "kind": w.called(self.kind),
            "size": size.label["en"],
            "measure": measure.label["en"],
        }
        if self.use == "levy":
            self.bound, self.limit = w.limit(measure, 0.3, 0.6), w.limit(size, 0.15, 0.35)
            rates = sorted(w.generator.choice(_RATES, 3, replace=False).tolist())
            self.low, self.first, self.later = rates
            self.instead = {"rate": f"{self.later:g}"}
            values |= {"rate": f"{self.first:g}", "low": f"{self.low:g}"}
            values |= {"limit": w.amount(self.limit, size)}
        else:
            self.bound = w.limit(measure, 0.5, 0.75)
            self.limit = w.limit(size, 0.6, 0.8, [self.kind])
            self.first, self.later = w.limit(size, 0.1, 0.25), w.limit(size, 0.3, 0.45)
            self.instead = {"limit": w.amount(self.later, size)}
            values |= {"limit": w.amount(self.first, size), "large": w.amount(self.limit, size)}
        return values | {"bound": w.amount(self.bound, measure)}

    def _is_known(self, reading: str) -> bool:
        """Is it seen that papers under a former name are about this scheme?"""
        return reading != "names" or self.former == self.name

    def rules(self, period: int, reading: str, effects: Sequence[Effect]) -> Iterator[Rule]:
        """Its own rules in a period, and what papers say to the category in which it is then."""
        is_later = self._is_known(reading) and period >= self.memo.since(reading)
        figures, memo = (self.later, self.memo.quotes) if is_later else (self.first, ())
        yield from self._rules(figures, memo, period, reading)
        if not self._is_known(reading):
            return
        stays = reading == "annexes"
        on = [
            (named, letter, said)
            for named, letter, said in self.categories
            if letter is None or (not stays and period >= letter.since(reading))
        ]
        named, _, listed = on[-1]
        for effect in effects:
            for rule in effect.rules(self.use, period, reading) if effect.is_on(named) else ():
                yield replace(rule, quotes=(*rule.quotes, *listed))

    def _cover(
        self, first: float, memo: tuple[Said, ...], period: int, reading: str
    ) -> Iterator[Rule]:
        """Who is covered: core industries above a limit, not in large places, but the largest of a
        kind."""
        kind, size, said = self.w.declaration.roles["entities"].kind, self.size.column, self.said
        members, words = self.agency.core.at(period, reading)
        where = (when(kind, "in", members), when(size, ">=", first))
        yield Rule((0, 1), where, 1.0, (said["base"], *memo, *words))
        large = (when(self.measure.column, ">", self.bound),)
        yield Rule((0, 2), large, None, (said["places"],))
        if reading != "exceptions":
            where = (when(kind, "=", self.kind), when(size, ">=", self.limit))
            yield Rule((0, 3), where, 1.0, (said["back"],))

    def _levy(
        self, rate: float, memo: tuple[Said, ...], period: int, reading: str
    ) -> Iterator[Rule]:
        """Who owes what: core industries the full rate, less in small places but one kind; not the
        small."""
        kind, said = self.w.declaration.roles["entities"].kind, self.said
        members, words = self.agency.core.at(period, reading)
        among, full = when(kind, "in", members), (said["base"], *memo)
        small = when(self.measure.column, "<", self.bound)
        yield Rule((0, 1), (among,), rate, (*full, *words))
        yield Rule((0, 2), (among, small), self.low, (said["base"], said["places"], *words))
        if reading != "exceptions":
            yield Rule((0, 3), (when(kind, "=", self.kind),), rate, (said["back"], *full))
        none = (when(self.size.column, "<", self.limit),)
        yield Rule((0, 4), none, None, (said["small"],))

    def policy(self, effects: Sequence[Effect]) -> dict[str, Any]:
        """The policy as a declaration has it, with what careless readers make of it."""
        labels = self.w.words["labels"]
        return {
            "name": f"{self.name.lower()}_{self.use}",
            "use": self.use,
            "label": {
                k: labels[k][self.use].format(scheme=self.name)
                for k in self.w.declaration.languages
            },
            "measure": self.size.name,
            "clauses": list(self._clauses(effects)),
            "background": list(self._background(effects)),
        }

    def _background(self, effects: Sequence[Effect]) -> Iterator[dict[str, Any]]:
        """What no clause quotes: that it was renamed, and papers that were repealed."""
        if self.renamed:
            yield {"quotes": [said.quote() for said in self.renamed]}
        void: dict[tuple[Said, ...], list[int]] = {}
        for year in self.w.years:
            for rule in self.rules(year, "", effects):
                if rule.is_void:
                    void.setdefault(tuple(dict.fromkeys(rule.quotes)), []).append(year)
        for quotes, periods in void.items():
            yield {"quotes": [said.quote() for said in quotes], "periods": periods}

    def _clauses(self, effects: Sequence[Effect]) -> Iterator[dict[str, Any]]:
        """The clauses in their order, each with the careless readings that have it otherwise."""
        right = self._spells("", effects)
        read = {reading: self._spells(reading, effects) for reading in READINGS}
        more = [spell for spells in read.values() for spell in spells if spell not in right]
        seen: list[_Spell] = []
        for spell in sorted([*right, *more], key=itemgetter(0, 1)):
            if spell in seen:
                continue
            seen.append(spell)
            if spell in right:
                overlooked = [reading for reading in READINGS if spell not in read[reading]]
                yield {**spell[2], **({"overlooked": overlooked} if overlooked else {})}
            else:
                yield {**spell[2], "only": [r for r in READINGS if spell in read[r]]}

    def _spells(self, reading: str, effects: Sequence[Effect]) -> list[_Spell]:
        """What stands in periods one after another, as one clause."""
        spells: list[tuple[tuple[int, int], list[int], dict[str, Any]]] = []
        years = self.w.years
        for at, year in enumerate(years):
            for rule in self.rules(year, reading, effects):
                if rule.is_void:
                    continue
                own = (rule.order, rule.clause())
                same = (s for s in spells if (s[0], s[2]) == own and s[1][-1] == at - 1)
                spell = next(same, None)
                if spell is None:
                    spells.append((own[0], [at], own[1]))
                else:
                    spell[1].append(at)
        last = len(years) - 1
        return [
            (
                order,
                held[0],
                clause
                | ({"since": years[held[0]]} if held[0] else {})
                | ({"until": years[held[-1]]} if held[-1] < last else {}),
            )
            for order, held, clause in spells
        ]
