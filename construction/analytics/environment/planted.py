"""Policies for an environment that has none: invented papers, and the clauses that they state.

Scope, limits, an exception, an exception to it, and a change at some date are drawn by key from the
data. Papers of an office and its council (`office`) speak to lists of schemes and to guilds of
trades (`effects`); what belongs to these, by which other names they go, what a unit of account is
worth, and when something happened, other papers say. Later letters change, end and revive earlier
ones, which they call by month and guild alone; some matters are left open.
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

from construction.analytics.environment.declaration import Declaration, Role
from construction.analytics.environment.office import Group, Office
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
    names_in,
    when,
)
from data.errors import ConfigError
from data.randomness import keyed_generator, keyed_order
from data.text.lexicon import load_table

_OLDEST = 8  # periods before the first
_RATES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)
# Whom letters leave out (by a figure of theirs or of their place, or by a circle) or leave open,
# who signs that, and what later letters do: for each list.
_OMISSIONS = (
    ("entities", "except", "office", ("ended", "restored")),
    ("circle", "open", "council", ()),
    ("places", "except", "office", ("moved",)),
    ("circle", "open", "office", ("ended",)),
    ("circle", "except", "council", ("in_vain",)),
    ("entities", "except", "office", ("moved", "moved")),
    ("entities", "except", "draft", ()),
    ("places", "except", "office", ("spared",)),
    ("entities", "except", "office", ("confined",)),
    ("circle", "open", "office", ("withdrawn",)),
    ("entities", "except", "office", ("withdrawn",)),
    ("places", "except", "office", ("ended", "restored")),
    ("circle", "open", "draft", ()),
    ("entities", "except", "office", ("confined", "withdrawn")),
)
_BUT = 4  # of so many letters one is for all lists but one
_APART = 5
_OF_A_GUILD = 7  # at most, so that month and guild name a letter
_SIGNED_BY = {"withdrawn": "council"}


@dataclass
class Effect(ABC):
    """What letters say to the schemes on a list."""

    office: Office
    list: Named
    is_but: bool = False  # for all lists but this one

    def is_on(self, named: Named) -> bool:
        return (self.list is named) != self.is_but

    @abstractmethod
    def rules(self, use: str, period: int, reading: str) -> Iterator[Rule]:
        """The clauses for a use in a period, as a reading has them."""


@dataclass
class Taking(Effect):
    """Some are brought in, and pay, whatever they do."""

    def __post_init__(self) -> None:
        office, w = self.office, self.office.w
        self.size, self.measure = w.metric("entities", "size"), w.metric("places", "rank")
        self.limit, self.bound = w.limit(self.size, 0.7, 0.85), w.limit(self.measure, 0.2, 0.4)
        self.rate = float(w.pick(_RATES))
        self.letter = office.letter(
            "take",
            w.later(),
            "office",
            list=w.name_of(self.list),
            size=office.label(self.size),
            measure=office.label(self.measure),
            limit=office.amount(self.limit, self.size),
            bound=office.amount(self.bound, self.measure),
            rate=f"{self.rate:g}",
        )

    def rules(self, use: str, period: int, reading: str) -> Iterator[Rule]:
        letter = self.letter
        if period >= letter.since(reading):
            limit, unit = self.office.read(self.limit, self.size, letter.day, reading)
            bound, more = self.office.read(self.bound, self.measure, letter.day, reading)
            where = (
                when(self.size.column, ">=", limit),
                when(self.measure.column, "<", bound),
            )
            rate = 1.0 if use == "cover" else self.rate
            yield Rule(letter.order(reading), where, rate, (*letter.quotes, *unit, *more))


@dataclass
class Omission(Effect):
    """Some of a guild whom a letter leaves out, or leaves open, often since long ago, and later
    letters that end this, change its limit, or spare some of them; or end it in vain, or by
    mistake."""

    guild: Group = field(kw_only=True)
    role: str = "entities"
    verb: str = "except"
    by: str = "office"
    acts: Sequence[str] = ()

    def __post_init__(self) -> None:
        w, years = self.office.w, self.office.w.years
        role = "entities" if self.role == "entities" else "places"
        self.other = w.metric(role, "size" if role == "entities" else "rank")
        self.measure = w.metric("places", "rank", but=self.other)
        kinds = {*self.guild.members, *(kind for _, kind, _ in self.guild.changes)}
        self.limits = [
            w.limit(self.other, low, low + 0.2, sorted(kinds)) for low in (0.35, 0.65, 0.5)
        ]
        self.bound = w.limit(self.measure, 0.4, 0.7)
        self.circle, self.narrower = (w.pick(self.office.circles) for _ in range(2))
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
            period = earliest if act == "restored" else int(w.pick(later))
            values = {"month": self.office.month(of.day)}
            values["instead"] = self.office.amount(self.limits[1 + at % 2], self.other)
            of = self._letter(act, period, _SIGNED_BY.get(act, "office"), **values)
            self.changes.append(of)
            of = self.issued if act == "confined" else of

    def _letter(self, part: str, period: int, by: str, **values: Words) -> Letter:
        office, w = self.office, self.office.w
        circle = self.narrower if part == "confined" else self.circle
        values |= {
            "list": w.name_of(self.list),
            "guild": w.name_of(self.guild.names),
            "who": self._who,
            "circle": w.name_of(circle.names),
            "measure": office.label(self.measure),
            "bound": office.amount(self.bound, self.measure),
        }
        return office.letter(part, period, by, self.guild, **values)

    def _who(self, voice: Voice) -> str:
        office, w = self.office, self.office.w
        form = w.pick(w.words["who"][self.role][voice.language])
        values: dict[str, Words] = {
            "other": office.label(self.other),
            "bound": office.amount(self.limits[0], self.other),
            "circle": w.name_of(self.circle.names),
        }
        return w.worded(form, voice, **values)

    def rules(self, use: str, period: int, reading: str) -> Iterator[Rule]:
        issued = self.issued
        is_draft = self.by == "draft"
        if period < issued.since(reading) or (is_draft and reading != "drafts"):
            return
        kinds, quotes = self.guild.at(period, reading)
        value, day, quotes = self.limits[0], issued.day, (*issued.quotes, *quotes)
        where, unit = list[dict[str, Any]](), tuple[Said, ...]()
        ended_by: tuple[Said, ...] = ()
        for at, act, letter in self._noticed(reading):
            if act == "restored":
                quotes = (*quotes, *self.changes[0].quotes, *letter.quotes)
                ended_by = ()
            elif period < letter.since(reading):
                continue
            elif act in ("ended", "withdrawn") or (act == "in_vain" and reading == "ranks"):
                ended_by = letter.quotes
            elif act == "moved":
                value, day = self.limits[1 + at % 2], letter.day
                quotes = (*quotes, *letter.quotes)
            elif reading != "exceptions" and act in ("spared", "confined"):
                narrower, more = self._narrower(act, letter, period, reading)
                where.append(narrower)
                quotes = (*quotes, *letter.quotes, *more)
        if ended_by:
            if not reading:
                yield Rule((0, 0), (), None, (*issued.quotes, *ended_by), is_void=True)
            return
        first = when(self._entities.kind, "in", kinds)
        if self.role == "circle":
            members, unit = self.circle.at(period, reading)
            second = when(self._entities.place, "in", members)
        else:
            limit, unit = self.office.read(value, self.other, day, reading)
            second = when(self.other.column, "<", limit)
        conditions, is_open = (first, second, *where), self.verb == "open"
        yield Rule(issued.order(reading), conditions, None, (*quotes, *unit), is_open)

    @property
    def _entities(self) -> Role:
        return self.office.w.declaration.roles["entities"]

    def _noticed(self, reading: str) -> Iterator[tuple[int, str, Letter]]:
        """The later letters that a reading sees, with what they do."""
        for at, (act, letter) in enumerate(zip(self.acts, self.changes, strict=True)):
            is_late = at > 0 and act != "withdrawn" and reading == "revivals"
            if reading != "corrections" and not is_late and letter.since(reading) != NEVER:
                yield at, act, letter

    def _narrower(
        self, act: str, letter: Letter, period: int, reading: str
    ) -> tuple[dict[str, Any], tuple[Said, ...]]:
        """Whom alone it still concerns."""
        if act == "confined":
            members, quotes = self.narrower.at(period, reading)
            return when(self._entities.place, "in", members), quotes
        bound, quotes = self.office.read(self.bound, self.measure, letter.day, reading)
        return when(self.measure.column, "<=", bound), quotes


def _effects_of(office: Office) -> list[Effect]:
    """All that letters say to the schemes on lists."""
    made: list[Effect] = [Taking(office, named) for named in office.lists]
    turns = zip(cycle(office.guilds), range(_OF_A_GUILD * len(office.guilds)), strict=False)
    for first in range(len(_OMISSIONS)):
        # Each list begins with others, so that a world of few guilds has several as well.
        for at, (named, (guild, _)) in enumerate(zip(office.lists, turns, strict=False)):
            number = (first + at * _APART) % len(_OMISSIONS)
            role, verb, by, acts = _OMISSIONS[number]
            is_but = verb == "except" and number % _BUT == _BUT - 2 and len(office.lists) > 1
            made.append(
                Omission(office, named, is_but, guild=guild, role=role, verb=verb, by=by, acts=acts)
            )
    return made


FILE = "rules"
READINGS = {
    "corrections": "letters that change others are passed over",
    "revivals": "that a change was changed again, or sent by mistake, is passed over",
    "names": "what is written under a scheme's former name is passed over",
    "aliases": "what calls a guild, a circle, a list or a scheme by another name is passed over",
    "languages": "what is not in English is passed over",
    "events": "what names a month or a period by an event is passed over",
    "ranks": "the office can change what the council resolved, and the later word decides",
    "dates": "everything holds from the year in which it was signed",
    "units": "all amounts are in the unit of today",
    "guilds": "guilds, circles and lists are taken as they were founded",
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

    office = Office(writer("office"))
    schemes = [_Scheme(writer(f"{number}"), office, number) for number in range(n)]
    effects = _enlist(office, schemes)
    office.finish()
    papers = [*office.papers, *(paper for each in schemes for paper in each.papers)]
    order = keyed_order(seed, "papers", [f"{number}" for number in range(len(papers))])
    for number, at in enumerate(order, 1):
        papers[at].name = f"paper_{number:03d}"
    texts = {paper.name: "\n\n".join(paper.lines) for paper in papers}
    filed = {paper.name: _filing(paper) for paper in papers}
    made = [scheme.policy(effects) for scheme in schemes]
    return dict(sorted(texts.items())), made, dict(sorted(filed.items()))


def _filing(paper: Paper) -> dict[str, str]:
    """Where a clerk files it, and as what: by the names in what it is for, whether that binds or
    not, or as it begins."""
    filed = {"folder": paper.folder}
    if paper.day:
        filed["day"] = paper.day.isoformat()
    if paper.subject:
        filed["heading"] = f"On {', '.join(names_in(paper.subject))}"
    return filed


def how_to_read(declaration: Declaration) -> dict[str, str]:
    """The convention of planted policies: which papers apply, in words for guidelines."""
    words = load_table(__package__, "policies.toml")["convention"]
    return {language: words[language] for language in declaration.languages}


def _enlist(office: Office, schemes: Sequence[_Scheme]) -> list[Effect]:
    """Put schemes on lists, write how they are called, and what letters say to the lists."""
    w, first = office.w, office.w.years[0]
    office.lists = office.lists[: len(schemes)]
    office.schemes = [scheme.names for scheme in schemes]
    for at, named in enumerate(office.lists):
        own = schemes[at :: len(office.lists)]
        names = w.listed([scheme.former for scheme in own])
        said = office.say(date(first - 13, 2, 11 + at), "list", list=named.formal, names=names)[-1]
        for scheme in own:
            scheme.lists.append((named, None, said))
    for at, scheme in enumerate(schemes):
        if at % 3 != 1 and len(office.lists) > 1:
            _move(office, scheme)
        if scheme.former != scheme.name:
            day = date(w.years[-1] + 1, 9, 1 + at)
            values = {"former": scheme.former, "scheme": scheme.name}
            scheme.renamed = office.say(day, "renamed", **values)[-1:]
    return _effects_of(office)


def _move(office: Office, scheme: _Scheme) -> None:
    """A scheme goes over to another list."""
    named = scheme.lists[0][0]
    other = office.lists[(office.lists.index(named) + 1) % len(office.lists)]
    values = {"name": scheme.names, "list": named, "other": other}
    letter = office.letter(
        "goes",
        office.w.later(),
        "office",
        **{key: office.w.name_of(value) for key, value in values.items()},
    )
    scheme.lists.append((other, letter, letter.quotes[-1]))


# A clause with its place in the order, and the first of the periods in which it stands.
_Spell = tuple[tuple[int, int], int, dict[str, Any]]


@dataclass
class _Scheme:
    """A policy in the making: its papers, and the measure that it goes by."""

    w: Writer
    office: Office
    number: int
    lists: list[tuple[Named, Letter | None, Said]] = field(default_factory=list)
    renamed: tuple[Said, ...] = ()

    def __post_init__(self) -> None:
        w, words = self.w, self.w.words
        at = self.number % len(words["schemes"])
        self.name = words["schemes"][at]
        self.former = words["former"][at] if self.number % 2 == 0 else self.name
        city = words["agreed"][at]
        self.names = Named([self.former, f"the scheme agreed in {city}"])
        agreed = self.office.say(
            date(w.years[0] - 12, 3, 1 + at), "agreed", city=city, former=self.former
        )
        self.names.said[self.names.english[1]] = agreed[-1]
        self.use = ("cover", "levy", "cover")[self.number % 3]
        # Nobody pays in heads or hectares, where there are amounts of money.
        paid = "money" if self.use == "levy" else None
        self.size = w.metric("entities", "size", kind=paid)
        self.measure, self.kind = w.metric("places", "rank"), w.pick(self.office.steady)
        self.label = words["titles"][self.use].format(scheme=self.name)
        rules = Paper([self.label, w.pick(words["open"]["forms"])])
        period = w.years[len(w.years) // 2]
        names = w.pick((None, None, period))
        day = self.office.day(period)
        signed = f"Signed by the board on {w.dated(day)}."
        memo = Paper([f"{self.former}: a memo", signed], day=day)
        self.papers = (rules, memo)
        self._rules = self._levy if self.use == "levy" else self._cover
        values = self._draw()
        self.said = {
            part: rules.say(w.form(self.use, part, **values))
            for part in w.words[self.use]
            if part != "raised"
        }
        raised = memo.say(w.form(self.use, "raised", names, **values | self.instead))
        self.memo = Letter(day, names, (Said(memo, memo.lines[1]), raised))

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
        """Its own rules in a period, and what letters say to the list on which it is then."""
        is_later = self._is_known(reading) and period >= self.memo.since(reading)
        figures, memo = (self.later, self.memo.quotes) if is_later else (self.first, ())
        yield from self._rules(figures, memo, period, reading)
        if not self._is_known(reading):
            return
        stays = reading == "guilds"
        on = [
            (named, letter, said)
            for named, letter, said in self.lists
            if letter is None or (not stays and period >= letter.since(reading))
        ]
        named, letter, said = on[-1]
        listed = letter.quotes if letter else (said,)
        for effect in effects:
            for rule in effect.rules(self.use, period, reading) if effect.is_on(named) else ():
                yield replace(rule, quotes=(*rule.quotes, *listed))

    def _cover(
        self, first: float, memo: tuple[Said, ...], period: int, reading: str
    ) -> Iterator[Rule]:
        """Who is taken in: trades above a limit, not in large places, but the largest of a kind."""
        kind, size, said = self.w.declaration.roles["entities"].kind, self.size.column, self.said
        trades, words = self.office.trades.at(period, reading)
        where = (when(kind, "in", trades), when(size, ">=", first))
        yield Rule((0, 1), where, 1.0, (said["base"], *memo, *words))
        large = (when(self.measure.column, ">", self.bound),)
        yield Rule((0, 2), large, None, (said["places"],))
        if reading != "exceptions":
            where = (when(kind, "=", self.kind), when(size, ">=", self.limit))
            yield Rule((0, 3), where, 1.0, (said["back"],))

    def _levy(
        self, rate: float, memo: tuple[Said, ...], period: int, reading: str
    ) -> Iterator[Rule]:
        """Who owes what: trades the full rate, less in small places but one kind; not the small."""
        kind, said = self.w.declaration.roles["entities"].kind, self.said
        trades, words = self.office.trades.at(period, reading)
        among, full = when(kind, "in", trades), (said["base"], *memo)
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
        """What no clause quotes: that it was renamed, and letters that were laid aside."""
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
