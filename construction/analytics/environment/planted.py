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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from operator import itemgetter
from typing import Any

import polars as pl

from construction.analytics.environment.declaration import Declaration
from construction.analytics.environment.effects import Effect, effects_of
from construction.analytics.environment.office import Office
from construction.analytics.environment.papers import (
    Letter,
    Named,
    Paper,
    Rule,
    Said,
    Writer,
    names_in,
    when,
)
from data.errors import ConfigError
from data.randomness import keyed_generator, keyed_order
from data.text.lexicon import load_table

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
_RATES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)


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
    return effects_of(office)


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
