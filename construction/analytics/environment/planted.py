"""Policies for an environment that has none: invented papers, and the clauses that they state.

Scope, limits, an exception, an exception to it, and a change at some date are drawn by key from the
data. Letters of an office speak to lists of schemes and to guilds of trades; which schemes and
trades these are, what a unit of account is worth, and that a scheme had another name, other papers
say. Later letters change, end and revive earlier ones, which they call by month and guild alone.
What is drawn is written into sentences of several forms (`policies.toml`), and each clause quotes
the sentences that state it: the declaration refuses a clause whose numbers and names do not stand
in its quotes. Beside the clauses a policy has those of careless readings (`READINGS`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import cycle
from operator import itemgetter
from typing import Any

import polars as pl

from construction.analytics.environment.declaration import Declaration, Metric
from construction.analytics.environment.papers import (
    NEW_YEAR,
    Letter,
    Paper,
    Rule,
    Said,
    Writer,
    figure,
    listed,
    when,
)
from data.errors import ConfigError
from data.randomness import keyed_generator, keyed_order
from data.text.lexicon import load_table

FILE = "rules"
READINGS = {
    "corrections": "letters that change others are passed over",
    "revivals": "that a change was sent by mistake is passed over",
    "names": "what is written under a scheme's former name is passed over",
    "dates": "everything holds from the year in which it was signed",
    "units": "all amounts are in the unit of today",
    "guilds": "guilds and lists are taken as they were founded",
    "drafts": "drafts, and letters of other offices, are taken for binding",
    "exceptions": "exceptions to exceptions are passed over",
}
_OLDEST = 8  # periods before the first
_RATES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)
_UNITS = (20, 25, 40, 50)


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

    def writer(name: str) -> Writer:
        generator = keyed_generator(seed, "policies", f"{declaration.name}:{name}")
        return Writer(declaration, tables, generator, words)

    office = _Office(writer("office"))
    schemes = [_Scheme(writer(f"{number}"), office, number) for number in range(n)]
    office.write(schemes)
    papers = [*office.papers, *(paper for each in schemes for paper in each.papers)]
    order = keyed_order(seed, "papers", [f"{number}" for number in range(len(papers))])
    for number, at in enumerate(order, 1):
        papers[at].name = f"paper_{number:03d}"
    texts = {paper.name: "\n\n".join(paper.lines) for paper in papers}
    return dict(sorted(texts.items())), [scheme.policy() for scheme in schemes]


def how_to_read(declaration: Declaration) -> dict[str, str]:
    """The convention of planted policies: which papers apply, in words for guidelines."""
    words = load_table(__package__, "policies.toml")["convention"]
    return {language: words[language] for language in declaration.languages}


@dataclass
class _Group:
    """A guild of trades, or the founding trades: as founded, and with what letters changed."""

    kinds: Sequence[str]
    founded: Said
    changes: list[tuple[Letter, str, bool]] = field(default_factory=list)  # a trade, has it come?

    def at(self, period: int, reading: str) -> tuple[list[str], tuple[Said, ...]]:
        """The trades in a period, and the words for it."""
        kinds, quotes = list(self.kinds), [self.founded]
        for letter, kind, has_come in self.changes if reading != "guilds" else ():
            if period >= letter.since(reading):
                kinds = [*kinds, kind] if has_come else [k for k in kinds if k != kind]
                quotes += letter.quotes
        return sorted(kinds), tuple(quotes)


@dataclass
class _Office:
    """What all policies have in common: how papers are read, trades, guilds, lists and letters."""

    w: Writer
    papers: list[Paper] = field(default_factory=list)
    guilds: dict[str, _Group] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)
    effects: list[_Effect] = field(default_factory=list)
    taken: set[Any] = field(default_factory=set)  # months of letters by guild, and days

    def __post_init__(self) -> None:
        w, kinds = self.w, self.w.kinds()
        chosen = kinds[: max(3, (len(kinds) * 2 + 2) // 3)]
        self.leaving, self.steady = chosen[-1], sorted(chosen[:-1])
        self.joining = kinds[len(chosen)] if len(kinds) > len(chosen) else None
        first, common = w.years[0], w.words["common"]
        terms = Paper(list(common["head"]))
        signed = {"early": f"February {first}", "late": f"May {first}"}
        periods = {"first": w.period(first), "second": w.period(first + 1)}
        money = {"money": w.declaration.says("money", "en")}
        for line in common["reading"]:
            terms.say(line.format(**w.fields(), **signed, **periods, **money))
        named = listed([w.called(kind) for kind in sorted(chosen)])
        self.trades = _Group(chosen, terms.say(w.form("common", "trades", kinds=named)))
        self.papers.append(terms)
        early, late = w.generator.choice(_UNITS, 2, replace=False).tolist()
        self.units = [self._unit(date(first - 15, 4, 2), "unit", early)]
        self.units.append(self._unit(date(first, 5, 29), "new_unit", late))

    def _unit(self, day: date, part: str, worth: int) -> tuple[date, int, Said]:
        value = f"{worth} {self.w.declaration.says('money', 'en')}"
        return day, worth, self.sign(day, self.w.form("letter", part, worth=value))[1]

    def sign(self, day: date, *sentences: str, is_signed: bool = True) -> tuple[Said, ...]:
        """Write a letter around sentences; its day and they are returned as quotes."""
        w, letters = self.w, self.w.words["letters"]
        signed = f"{'Signed on' if is_signed else 'Dated'} {w.dated(day)}."
        forms = w.generator.permutation(letters["aside"]).tolist()
        asides = (self._aside(form, day) for form in forms)
        paper = Paper([w.pick(letters["titles"]), signed])
        before = [next(asides) for _ in range(int(w.generator.integers(0, 4)))]
        paper.lines += [" ".join(before)] if before else []
        for sentence in sentences:
            paper.lines.append(" ".join([next(asides), sentence, next(asides)]))
        paper.lines.append(" ".join([next(asides), next(asides)]))
        self.papers.append(paper)
        return Said(paper, signed), *(Said(paper, sentence) for sentence in sentences)

    def _aside(self, form: str, day: date) -> str:
        """A sentence about nothing; a guild that it names gets no letter in that month."""
        w, words = self.w, self.w.words
        values = {name: w.pick(words["letters"][name]) for name in ("clerk", "thing", "room")}
        guilds = [n for n in words["guilds"] if (n, day.year, day.month) not in self.taken]
        guild = w.pick(guilds or words["guilds"])
        if "{guild}" in form:
            self.taken.add((guild, day.year, day.month))
        said = form.format(guild=guild, list=w.pick(words["lists"]), **values)
        return said[:1].upper() + said[1:]

    def day(self, period: int, *guilds: str) -> date:
        """A day of signature from which a letter holds from a period; its guilds get no other in
        that month, since later letters name one by month and guild."""
        while True:
            month, day = self.w.generator.integers(1, (13, 29)).tolist()
            drawn = date(period if month <= NEW_YEAR else period - 1, month, day)
            needed = {drawn, *((guild, drawn.year, month) for guild in guilds)}
            if not needed & self.taken:
                self.taken |= needed
                return drawn

    def letter(
        self, part: str, period: int, guild: str = "", written: Any = None, **values: str
    ) -> Letter:
        """A letter that holds from a period, which some name. `written`: values by the day."""
        guilds = [name for name in (guild, values.get("other", "")) if name in self.guilds]
        day, names = self.day(period, *guilds), self.w.pick((None, None, period))
        values |= {} if written is None else written(day)
        values |= {"guild": guild} if guild else {}
        said = self.sign(day, self.w.form("letter", part, names, **values))
        return Letter(day, names, said[1:] if names else said)

    def amount(self, value: float, metric: Metric, day: date) -> str:
        """A figure as a letter of that day states it."""
        if metric.kind != "money":
            return figure(value)
        return f"{figure(value / self._worth(day)[0])} units"

    def _worth(self, day: date) -> tuple[int, Said]:
        return next((worth, said) for since, worth, said in self.units[::-1] if since <= day)

    def read(
        self, value: float, metric: Metric, day: date, reading: str
    ) -> tuple[float, tuple[Said, ...]]:
        """What is read from the figure that a letter of that day states, and the words for it."""
        if metric.kind != "money":
            return value, ()
        worth, said = self._worth(day)
        if reading == "units":
            latest, said = self.units[-1][1:]
            value = round(value / worth * latest, 9)
        return value, (said,)

    def write(self, schemes: Sequence[_Scheme]) -> None:
        """The letters, once it is known which schemes there are."""
        w, first = self.w, self.w.years[0]
        self.lists = list(w.words["lists"][: min(len(schemes), len(w.words["lists"]))])
        self._found_guilds(date(first - 14, 9, 20))
        on = {name: schemes[at :: len(self.lists)] for at, name in enumerate(self.lists)}
        sentences = [
            w.form("letter", "list", list=name, names=listed([each.former for each in own]))
            for name, own in on.items()
        ]
        said = self.sign(date(first - 13, 2, 11), *sentences)[1:]
        for (name, own), sentence in zip(on.items(), said, strict=True):
            for scheme in own:
                scheme.lists.append((name, None, sentence))
        if self.joining:
            values = {"joining": w.called(self.joining), "leaving": w.called(self.leaving)}
            letter = self.letter("trades", w.later(), **values)
            self.trades.changes += [(letter, self.joining, True), (letter, self.leaving, False)]
        for at, scheme in enumerate(schemes):
            if at % 3 != 1 and len(self.lists) > 1:
                self._move(scheme)
            if scheme.former != scheme.name:
                names = {"former": scheme.former, "scheme": scheme.name}
                self.sign(date(w.years[-1] + 1, 9, 1 + at), w.form("letter", "renamed", **names))
        self.effects += [_Taking(self, name) for name in self.lists]
        turns = zip(cycle(self.guilds), range(_OF_A_GUILD * len(self.guilds)), strict=False)
        for number, (role, how) in enumerate(_OMISSIONS):
            is_but = number % _BUT == _BUT - 1 and len(self.lists) > 1
            for name, (guild, _) in zip(self.lists, turns, strict=False):
                self.effects.append(_Omission(self, name, is_but, guild, role, how))

    def _found_guilds(self, day: date) -> None:
        """Guilds of the steady trades, and two trades that pass from one to another."""
        w, names = self.w, self.w.words["guilds"]
        names = names[: max(1, min(len(names), len(self.steady) // 2))]
        shuffled = w.generator.permutation(self.steady).tolist()
        members = {name: shuffled[at :: len(names)] for at, name in enumerate(names)}
        sentences = [
            w.form("letter", "guild", guild=name, kinds=listed([w.called(k) for k in sorted(own)]))
            for name, own in members.items()
        ]
        for name, said in zip(names, self.sign(day, *sentences)[1:], strict=True):
            self.guilds[name] = _Group(members[name], said)
        for start in range(0, len(names) - 1, 2):
            guild, other = names[start], names[start + 1]
            kind, period = members[guild][0], w.later()
            values = {"kinds": w.called(kind), "other": other, "guild": guild}
            letter = self.letter("passes", period, **values)
            self.guilds[guild].changes.append((letter, kind, False))
            self.guilds[other].changes.append((letter, kind, True))

    def _move(self, scheme: _Scheme) -> None:
        """A scheme goes over to another list."""
        name = scheme.lists[0][0]
        other = self.lists[(self.lists.index(name) + 1) % len(self.lists)]
        values = {"name": scheme.former, "list": name, "other": other}
        letter = self.letter("goes", self.w.later(), **values)
        scheme.lists.append((other, letter, letter.quotes[-1]))


# Whom letters leave out, and what later ones do about it; for each list.
_OMISSIONS = (
    ("entities", "restored"),
    ("entities", "draft"),
    ("places", "moved"),
    ("entities", "ended"),
    ("places", "spared"),
    ("entities", "moved"),
    ("places", "restored"),
    ("entities", "spared"),
    ("places", "draft"),
    ("entities", "restored"),
    ("places", "ended"),
    ("entities", "moved"),
    ("places", "spared"),
)
_BUT = 4  # of so many letters one is for all lists but one
_OF_A_GUILD = 7  # at most, so that month and guild name a letter


@dataclass
class _Effect(ABC):
    """What letters say to the schemes on a list."""

    office: _Office
    list: str
    is_but: bool = False  # for all lists but this one

    def is_on(self, name: str) -> bool:
        return (self.list == name) != self.is_but

    @abstractmethod
    def rules(self, use: str, period: int, reading: str) -> Iterator[Rule]:
        """The clauses for a use in a period, as a reading has them."""


@dataclass
class _Taking(_Effect):
    """Some are brought in, and pay, whatever they do."""

    def __post_init__(self) -> None:
        w = self.office.w
        self.size, self.measure = w.metric("entities", "size"), w.metric("places", "rank")
        self.limit, self.bound = w.limit(self.size, 0.7, 0.85), w.limit(self.measure, 0.2, 0.4)
        self.rate = float(w.pick(_RATES))
        self.letter = self.office.letter(
            "take",
            w.later(),
            written=self._written,
            list=self.list,
            size=self.size.label["en"],
            measure=self.measure.label["en"],
            rate=f"{self.rate:g}",
        )

    def _written(self, day: date) -> dict[str, str]:
        limit = self.office.amount(self.limit, self.size, day)
        return {"limit": limit, "bound": self.office.amount(self.bound, self.measure, day)}

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
            order = (1, letter.day.toordinal())
            yield Rule(order, where, rate, (*letter.quotes, *unit, *more))


@dataclass
class _Omission(_Effect):
    """Some of a guild whom a letter leaves out, often since long ago, and a later letter that ends
    this, changes its limit or spares some of them; or that ends it and is itself taken back."""

    guild: str = ""
    role: str = "entities"
    how: str = "ended"

    def __post_init__(self) -> None:
        w, role, years = self.office.w, self.role, self.office.w.years
        self.other = w.metric(role, "size" if role == "entities" else "rank")
        self.measure = w.metric("places", "rank", but=self.other)
        group = self.office.guilds[self.guild]
        kinds = {*group.kinds, *(kind for _, kind, _ in group.changes)}
        self.low = w.limit(self.other, 0.35, 0.55, sorted(kinds))
        self.high = w.limit(self.other, 0.65, 0.85, sorted(kinds))
        self.bound = w.limit(self.measure, 0.4, 0.7)
        # The figures of places are of late years: what goes by them is no older.
        oldest = _OLDEST if role == "entities" else 1
        start = years[0] - int(w.generator.integers(0, oldest + 1))
        form = "except_but" if self.is_but else "except"
        if self.how == "draft":
            day = self.office.day(start, self.guild)
            prefix = w.pick(w.words["letter"]["draft"])
            values = {"list": self.list, "guild": self.guild, **self._written(day)}
            sentence = prefix + w.form("letter", form, **values)
            said = self.office.sign(day, sentence, is_signed=False)
            self.issued = Letter(day, None, said)
            return
        self.issued = self.office.letter(form, start, self.guild, self._written, list=self.list)
        values = {"month": w.month(self.issued.day)}
        period = int(w.pick(years[1:] or years))
        part = "ended" if self.how == "restored" else self.how
        self.change = self.office.letter(part, period, self.guild, self._changed, **values)
        if self.how == "restored":
            values = {"month": w.month(self.change.day), "guild": self.guild}
            day = self.office.day(period + 1, self.guild)
            said = self.office.sign(day, w.form("letter", "restored", **values))
            self.revived = Letter(day, None, said[1:])

    def _written(self, day: date) -> dict[str, str]:
        w, bound = self.office.w, self.office.amount(self.low, self.other, day)
        values = {"other": self.other.label["en"], "bound": bound}
        return {"who": w.form("letter", f"who_{self.role}", **values)}

    def _changed(self, day: date) -> dict[str, str]:
        amount = self.office.amount
        values = {"instead": amount(self.high, self.other, day)}
        bound = amount(self.bound, self.measure, day)
        return {**values, "measure": self.measure.label["en"], "bound": bound}

    def rules(self, use: str, period: int, reading: str) -> Iterator[Rule]:
        office, issued, how = self.office, self.issued, self.how
        is_draft = how == "draft"
        if period < issued.since(reading) or (is_draft and reading != "drafts"):
            return
        passed_over = is_draft or reading == "corrections"
        has_changed = not passed_over and period >= self.change.since(reading)
        if has_changed and (how == "ended" or (how == "restored" and reading == "revivals")):
            return
        kinds, quotes = office.guilds[self.guild].at(period, reading)
        quotes = (*issued.quotes, *quotes)
        value, day = self.low, issued.day
        if how == "moved" and has_changed:
            value, day, quotes = self.high, self.change.day, (*quotes, *self.change.quotes)
        elif how == "restored" and not passed_over and reading != "revivals":
            quotes = (*quotes, self.change.quotes[-1], *self.revived.quotes)
        limit, unit = office.read(value, self.other, day, reading)
        kind = office.w.declaration.roles["entities"].kind
        where = [when(kind, "in", kinds), when(self.other.column, "<", limit)]
        if how == "spared" and has_changed and reading != "exceptions":
            bound, more = office.read(self.bound, self.measure, self.change.day, reading)
            where.append(when(self.measure.column, "<=", bound))
            unit, quotes = (*unit, *more), (*quotes, *self.change.quotes)
        order = (1, issued.day.toordinal())
        yield Rule(order, tuple(where), None, (*quotes, *unit))


# A clause with its place in the order, and the first of the periods in which it stands.
_Spell = tuple[tuple[int, int], int, dict[str, Any]]


@dataclass
class _Scheme:
    """A policy in the making: its papers, and the measure that it goes by."""

    w: Writer
    office: _Office
    number: int
    lists: list[tuple[str, Letter | None, Said]] = field(default_factory=list)

    def __post_init__(self) -> None:
        w, words = self.w, self.w.words
        at = self.number % len(words["schemes"])
        self.name = words["schemes"][at]
        self.former = words["former"][at] if self.number % 2 == 0 else self.name
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
        memo = Paper([f"{self.former}: a memo", f"Signed by the board on {w.dated(day)}."])
        self.papers = (rules, memo)
        self._rules = self._levy if self.use == "levy" else self._cover
        values = self._draw()
        self.said = {
            part: rules.say(w.form(self.use, part, **values))
            for part in w.words[self.use]
            if part != "raised"
        }
        raised = memo.say(w.form(self.use, "raised", names, **values | self.instead))
        signed = () if names else (Said(memo, memo.lines[1]),)
        self.memo = Letter(day, names, (*signed, raised))

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

    def rules(self, period: int, reading: str) -> Iterator[Rule]:
        """Its own rules in a period, and what letters say to the list on which it is then."""
        is_later = self._is_known(reading) and period >= self.memo.since(reading)
        figures, memo = (self.later, self.memo.quotes) if is_later else (self.first, ())
        yield from self._rules(figures, memo, period, reading)
        if not self._is_known(reading):
            return
        stays = reading == "guilds"
        on = [
            (name, letter, said)
            for name, letter, said in self.lists
            if letter is None or (not stays and period >= letter.since(reading))
        ]
        name, letter, said = on[-1]
        listed = letter.quotes if letter else (said,)
        for effect in self.office.effects:
            for rule in effect.rules(self.use, period, reading) if effect.is_on(name) else ():
                yield Rule(rule.order, rule.where, rule.rate, (*rule.quotes, *listed))

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

    def policy(self) -> dict[str, Any]:
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
            "clauses": list(self._clauses()),
        }

    def _clauses(self) -> Iterator[dict[str, Any]]:
        """The clauses in their order, each with the careless readings that have it otherwise."""
        right = self._spells("")
        read = {reading: self._spells(reading) for reading in READINGS}
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

    def _spells(self, reading: str) -> list[_Spell]:
        """What stands in periods one after another, as one clause."""
        spells: list[tuple[tuple[int, int], list[int], dict[str, Any]]] = []
        years = self.w.years
        for at, year in enumerate(years):
            for rule in self.rules(year, reading):
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
