"""The office whose papers planted policies are: its guilds, circles, lists, events and letters.

A letter says what it says in one of many forms and in three languages, calls guilds and periods by
names that other papers explain, and stands among sentences about something else (`sundry.toml`). So
do letters that bind nobody: those of another office, drafts, and motions that were lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from construction.analytics.environment.declaration import Metric
from construction.analytics.environment.papers import (
    NEW_YEAR,
    Letter,
    Named,
    Paper,
    Said,
    Voice,
    Words,
    Writer,
    figure,
)
from data.text.lexicon import load_table

PAPERS = 400  # of an office; those that matter to nobody make up the number
_UNITS = (20, 25, 40, 50)
_OTHER_LANGUAGE = 0.25  # of the letters whose words there are in one
_RANKS = {"office": 1, "council": 2}
_NORTHERN, _LOST = 36, 30  # letters of another office, and motions that were lost
_TOPICS = ("except", "ended", "moved", "spared", "confined", "passes", "goes")
_ABOUT_LETTERS = ("ended", "moved", "spared", "confined")
_SENTENCES = (4, 9)  # in a subject of a paper
_FOLDERS = {
    "office": "joint office",
    "draft": "joint office",
    "council": "council",
    "north": "northern office",
    "none": "sundry",
}
_MOTIONS = "motions and petitions"
_UNITS_IN = {"en": " units", "de": " Einheiten", "zh": "单位"}


@dataclass
class Group:
    """A guild of trades, a circle of places, or the founding trades: as founded, and with what
    letters changed."""

    names: Named
    members: Sequence[str]
    founded: Said
    changes: list[tuple[Letter, str, bool]] = field(default_factory=list)  # a member, has it come?

    def at(self, period: int, reading: str) -> tuple[list[str], tuple[Said, ...]]:
        """The members in a period, and the words for it."""
        members, quotes = list(self.members), [self.founded]
        for letter, member, has_come in self.changes if reading != "guilds" else ():
            if period >= letter.since(reading):
                members = [*members, member] if has_come else [m for m in members if m != member]
                quotes += letter.quotes
        return sorted(members), tuple(quotes)


@dataclass
class _Draft:
    """A paper that is laid out when all days are known."""

    paper: Paper
    day: date
    signed: str
    sentences: Sequence[str]
    language: str


@dataclass
class Office:
    """What all policies have in common: how papers are read, groups, lists and letters."""

    w: Writer
    papers: list[Paper] = field(default_factory=list)
    guilds: list[Group] = field(default_factory=list)
    circles: list[Group] = field(default_factory=list)
    lists: list[Named] = field(default_factory=list)
    schemes: list[Named] = field(default_factory=list)
    taken: set[Any] = field(default_factory=set)  # months of letters by guild, and days
    drafts: list[_Draft] = field(default_factory=list)
    written: list[tuple[Group, date]] = field(default_factory=list)  # letters about guilds
    happened: dict[tuple[int, int], Named] = field(default_factory=dict)  # by year and month

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
        named = w.listed([w.called(kind) for kind in sorted(chosen)])
        said = terms.say(w.form("common", "trades", kinds=named))
        self.trades = Group(Named(["the founding trades"]), chosen, said)
        self.papers.append(terms)
        early, late = w.generator.choice(_UNITS, 2, replace=False).tolist()
        self.units = [self._unit(date(first - 15, 4, 2), "unit", early)]
        self.units.append(self._unit(date(first, 5, 29), "new_unit", late))
        self._found_groups(date(first - 14, 9, 20))
        self.lists = [self._named(each) for each in w.words["lists"]]
        if self.joining:
            values: dict[str, Words] = {"joining": w.called(self.joining)}
            values["leaving"] = w.called(self.leaving)
            letter = self.letter("trades", w.later(), "office", **values)
            self.trades.changes += [(letter, self.joining, True), (letter, self.leaving, False)]

    @cached_property
    def sundry(self) -> Mapping[str, Any]:
        return load_table(__package__, "sundry.toml")

    def _unit(self, day: date, part: str, worth: int) -> tuple[date, int, Said]:
        value = f"{worth} {self.w.declaration.says('money', 'en')}"
        return day, worth, self.say(day, part, worth=value)[-1]

    def _named(self, words: Mapping[str, Any]) -> Named:
        """A thing that has several names, each of which some paper explains."""
        w, formal = self.w, words["en"][0]
        named = Named(words["en"], {"de": words["de"], "zh": words["zh"]})
        for alias in words["en"][1:]:
            named.said[alias] = self.say(
                self._some_day(), "alias", "none", alias=alias, formal=formal
            )[-1]
        values = {"formal": formal, "de": words["de"], "zh": words["zh"]}
        said = self.say(self._some_day(), "translated", w.pick(("office", "none")), **values)
        named.said |= dict.fromkeys((words["de"], words["zh"]), said[-1])
        return named

    def _some_day(self) -> date:
        first, last = self.w.years[0], self.w.years[-1]
        span = 365 * (last - first + 18)
        return date(first - 16, 1, 1) + timedelta(days=int(self.w.generator.integers(span)))

    def _found_groups(self, day: date) -> None:
        """Guilds of the steady trades and circles of places; some members pass to another."""
        w = self.w
        n = max(1, min(len(w.words["guilds"]), len(self.steady) // 2))
        self.guilds = self._groups("guild", "kind", self.steady, w.words["guilds"][:n], n, day)
        places = w.places()
        n = max(1, min(len(w.words["circles"]), len(places) // 4))
        circles = w.words["circles"][:n]
        self.circles = self._groups("circle", "place", places, circles, n + 1, day)
        for groups, of, part in ((self.guilds, "kind", "passes"), (self.circles, "place", "moves")):
            for group, other in zip(groups[::2], groups[1::2], strict=False):
                if len(group.members) > 1:
                    self._pass_over(group, other, group.members[0], of, part)

    def _groups(
        self, part: str, of: str, members: Sequence[str], names: Sequence[Any], n: int, day: date
    ) -> list[Group]:
        """Groups with every n-th of the shuffled members each."""
        w, made = self.w, []
        shuffled = w.generator.permutation(sorted(members)).tolist()
        for at, words in enumerate(names):
            own = shuffled[at::n]
            values = {"kinds": w.of_all(sorted(own), of), "places": w.of_all(sorted(own), of)}
            named = self._named(words)
            said = self.say(day, part, guild=named.formal, **values)
            made.append(Group(named, own, said[-1]))
        return made

    def _pass_over(self, group: Group, other: Group, member: str, of: str, part: str) -> None:
        w = self.w
        values = {"kinds": w.of_all([member], of), "places": w.of_all([member], of)}
        guilds = (group, other) if of == "kind" else ()
        named = {"guild": w.name_of(group.names), "other": w.name_of(other.names)}
        letter = self.letter(part, w.later(), "office", *guilds, **values, **named)
        group.changes.append((letter, member, False))
        other.changes.append((letter, member, True))

    def say(self, day: date, part: str, by: str = "office", /, **values: Words) -> tuple[Said, ...]:
        """A paper in English about one thing: its day and what it says, as quotes."""
        return self.sign(day, self.framed(self.w.phrase(part, Voice(day), **values), "en"), by)

    def framed(self, core: str, frames: str) -> str:
        """A clause as a sentence."""
        values = {"core": core, "clerk": self.w.pick(self.sundry["clerk"])}
        said = str(self.w.pick(self.w.words["frames"][frames])).format(**values)
        return said[:1].upper() + said[1:]

    def sign(
        self, day: date, sentence: str, by: str = "office", language: str = "en"
    ) -> tuple[Said, ...]:
        """A paper around a sentence; its day and it are returned as quotes."""
        w, signed = self.w, self.w.words["signed"]
        spoken = language if by in signed[language] else "en"
        drawn = {name: w.pick(self.sundry[name]) for name in ("clerk", "city")}
        line = w.pick(signed[spoken][by]).format(day=w.dated(day, spoken), **drawn)
        paper = Paper([], folder=_FOLDERS[by], day=day, subject=sentence)
        self.papers.append(paper)
        self.drafts.append(_Draft(paper, day, line, [sentence] if sentence else [], language))
        return Said(paper, line), Said(paper, sentence)

    def day(self, periods: int | range, *guilds: Group) -> date:
        """A day of signature from which a letter holds from a period; its guilds get no other in
        that month, since later letters name one by month and guild."""
        while True:
            period = periods if isinstance(periods, int) else int(self.w.pick(periods))
            month, day = self.w.generator.integers(1, (13, 29)).tolist()
            drawn = date(period if month <= NEW_YEAR else period - 1, month, day)
            needed = {drawn, *((each.names.formal, drawn.year, month) for each in guilds)}
            if not needed & self.taken:
                self.taken |= needed
                return drawn

    def letter(self, part: str, period: int, by: str, /, *guilds: Group, **values: Words) -> Letter:
        """A letter that holds from a period, which some name, as such or by an event in it."""
        w = self.w
        said_from = w.pick(("", "", "since", "by_event")) if part != "restored" else ""
        day = self.day(period + int(bool(said_from) and w.pick((0, 1))), *guilds)
        others = [name for name in w.words["letter"][part] if name != "en"]
        is_other = others and w.generator.random() < _OTHER_LANGUAGE
        voice = Voice(day, w.pick(others) if is_other else "en")
        values["when"] = ""
        event = self.event(period) if said_from == "by_event" else None
        if said_from:
            form = w.pick(w.words["by_event" if event else "since"][voice.language])
            values["period"] = w.period(period, voice.language)
            values |= {"event": self._by(event)} if event else {}
            values["when"] = w.worded(form, voice, **values)
        sentence = self.framed(w.phrase(part, voice, **values), voice.language)
        said = self.sign(day, sentence, by, voice.language)
        self.written += [(each, day) for each in guilds]
        names = period if said_from else None
        voice.veils |= {"languages"} if voice.language != "en" else set()
        quotes = (*said, *voice.quotes)
        return Letter(day, names, quotes, frozenset(voice.veils), _RANKS.get(by, 1))

    def event(self, year: int, month: int | None = None) -> Named | None:
        """Something that happened then, which some paper dates; None if nothing is left."""
        w = self.w
        for (its_year, its_month), named in self.happened.items():
            if its_year == year and month in (None, its_month):
                return named
        at = len(self.happened)
        if at >= len(w.words["events"]):
            return None
        words = w.words["events"][at]
        drawn = w.generator.integers(1, (13, 29)).tolist()
        day = date(year, month or drawn[0], drawn[1])
        later = day + timedelta(days=int(w.generator.integers(200, 900)))
        said = self.say(later, "event", "none", event=words["en"], day=w.dated(day))[-1]
        named = Named([words["en"]], {"de": words["de"], "zh": words["zh"]})
        named.said |= dict.fromkeys((words["en"], words["de"], words["zh"]), said)
        self.happened[(day.year, day.month)] = named
        return named

    def _by(self, event: Named) -> Words:
        def words(voice: Voice) -> str:
            voice.veils.add("events")
            return event.called(voice, self.w.generator)

        return words

    def month(self, day: date) -> Words:
        """How letters name the month of another."""

        def words(voice: Voice) -> str:
            w, by_event = self.w, self.w.words["month_by_event"]
            is_by_event = voice.language in by_event and w.generator.random() < 0.3
            event = self.event(day.year, day.month) if is_by_event else None
            if event is None:
                return w.month(day, voice.language)
            return w.worded(by_event[voice.language], voice, event=self._by(event))

        return words

    def amount(self, value: float, metric: Metric) -> Words:
        """A figure as a letter states it, in the unit of its day."""

        def words(voice: Voice) -> str:
            if metric.kind != "money":
                return figure(value)
            return figure(value / self._worth(voice.day)[0]) + _UNITS_IN[voice.language]

        return words

    def label(self, metric: Metric) -> Words:
        return lambda voice: self.w.labelled(metric, voice.language)

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

    def finish(self) -> None:
        """Write what matters to nobody, and lay out all papers."""
        for number in range(_NORTHERN + _LOST):
            self._of_no_effect(is_lost=number >= _NORTHERN)
        for _ in range(PAPERS - len(self.papers)):
            by = self.w.pick(("none", "none", "none", "office", "council", "north"))
            language = self.w.pick(("en",) * 8 + ("de", "zh"))
            self.sign(self._some_day(), "", by, language)
        for draft in self.drafts:
            self._lay_out(draft)

    def _of_no_effect(self, *, is_lost: bool) -> None:
        """A letter of another office, or a motion that was lost, in words as of those that bind."""
        w, (about, _) = self.w, self.w.pick(self.written)
        others = [each for each in self.guilds if each is not about] or [about]
        other, size, rank = w.pick(others), w.metric("entities", "size"), w.metric("places", "rank")
        day = self.day(range(w.years[0] - 8, w.years[-1] + 2), about, other)
        earlier = [its for each, its in self.written if each is about and its < day]
        topics = _TOPICS if earlier else [each for each in _TOPICS if each not in _ABOUT_LETTERS]
        lists = w.generator.permutation(len(self.lists)).tolist()
        voice = Voice(day)
        values: dict[str, Words] = {
            "list": w.name_of(self.lists[lists[0]]),
            "guild": w.name_of(about.names),
            "month": w.month(w.pick(earlier)) if earlier else "",
            "instead": self.amount(w.limit(size, 0.3, 0.8), size),
            "place": w.says("place", "en"),
            "measure": rank.label["en"],
            "bound": self.amount(w.limit(rank, 0.3, 0.7), rank),
            "circle": w.name_of(w.pick(self.circles).names),
            "kinds": w.called(w.pick(about.members)),
            "name": w.pick(self.schemes).formal,
            "when": w.pick(("", f", from {w.period(w.later())} on")),
        }
        part = w.pick([each for each in topics if each != "goes" or len(self.lists) > 1])
        who = w.pick(w.words["who"]["circle"]["en"])
        values["who"] = w.worded(who, voice, **values)
        values["other"] = w.name_of(self.lists[lists[-1]] if part == "goes" else other.names)
        core = w.phrase(part, voice, **values)
        by = w.pick(("office", "council")) if is_lost else "north"
        self.sign(day, self.framed(core, "lost" if is_lost else "en"), by)
        if is_lost:
            self.papers[-1].folder = _MOTIONS

    def _lay_out(self, draft: _Draft) -> None:
        """Put the sentences of a paper among others, in one of several forms."""
        w, sundry = self.w, self.sundry
        subjects = [s for s in sundry["subjects"] if s.get("language", "en") == draft.language]
        order = w.generator.permutation(len(subjects)).tolist()[: int(w.pick((1, 1, 2, 2, 3)))]
        paragraphs = [self._sentences(subjects[at]["says"], draft) for at in order]
        for sentence in draft.sentences:
            among = w.pick(paragraphs)
            among.insert(int(w.generator.integers(len(among) + 1)), sentence)
        form, glue = w.pick(sundry["forms"]), "" if draft.language == "zh" else " "
        body = [glue.join(each) for each in paragraphs]
        if form.get("numbered"):
            body = [f"{number}. {each}" for number, each in enumerate(body, 1)]
        clerks = w.generator.permutation(sundry["clerk"]).tolist()
        values = {f"clerk_{letter}": name for letter, name in zip("abcd", clerks, strict=False)}
        values |= {"subject": subjects[order[0]]["name"], "room": w.pick(sundry["room"])}
        values["signed"] = draft.signed
        lines = [[line.format(**values) for line in form[part]] for part in ("before", "after")]
        draft.paper.lines += [*lines[0], *body, *lines[1]]
        if form.get("quoted"):
            other = [s for s in subjects if s["name"] != values["subject"]] or subjects
            earlier = self._sentences(w.pick(other)["says"], draft)
            draft.paper.lines.append("\n".join(f"> {line}" for line in earlier))

    def _sentences(self, forms: Sequence[str], draft: _Draft) -> list[str]:
        w = self.w
        n = min(len(forms), int(w.generator.integers(*_SENTENCES)))
        order = w.generator.permutation(len(forms)).tolist()[:n]
        said = (self._aside(forms[at], draft.day, draft.language) for at in order)
        return [sentence for sentence in said if sentence]

    def _aside(self, form: str, day: date, language: str) -> str:
        """A sentence about nothing; a guild that it names gets no letter in that month."""
        w, sundry, voice = self.w, self.sundry, Voice(day, language)
        months = [(each.names.formal, day.year, day.month) for each in self.guilds]
        free = [at for at, month in enumerate(months) if month not in self.taken]
        if "{guild}" in form and not free:
            return ""
        at = w.pick(free or [0])
        if "{guild}" in form:
            self.taken.add(months[at])
        values: dict[str, Words] = {
            name: w.pick(sundry[name]) for name in ("clerk", "thing", "room", "city")
        }
        values |= {
            "clerk_b": w.pick(sundry["clerk"]),
            "n": f"{int(w.generator.integers(3, 40))}",
            "year": f"{day.year - int(w.generator.integers(1, 9))}",
            "period": w.period(w.pick(w.years), language),
            "guild": w.name_of(self.guilds[at].names),
            "list": w.name_of(w.pick(self.lists)),
            "circle": w.name_of(w.pick(self.circles).names),
            "scheme": w.pick(self.schemes).formal,
        }
        said = w.worded(form, voice, **values)
        return said[:1].upper() + said[1:]
