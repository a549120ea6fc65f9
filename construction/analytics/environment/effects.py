"""What letters say to the schemes on a list: whom they bring in, leave out or leave open, and what
later letters do about that."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from construction.analytics.environment.declaration import Role
from construction.analytics.environment.office import Group, Office
from construction.analytics.environment.papers import (
    NEVER,
    Letter,
    Named,
    Rule,
    Said,
    Voice,
    Words,
    when,
)

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


def effects_of(office: Office) -> list[Effect]:
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
