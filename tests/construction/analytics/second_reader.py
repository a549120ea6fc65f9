"""A reader of planted papers, written apart from what plants them.

It has the texts, the forms of sentences (`policies.toml`) and what a declaration calls things, and
nothing that was drawn. By the common terms it says what a scheme makes of an entity in a period.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from string import Formatter
from typing import Any

from construction.analytics.environment.declaration import Declaration
from data.text.lexicon import load_table

OPEN = "open"
WORDS = load_table("construction.analytics.environment", "policies.toml")
LANGUAGES = ("en", "de", "zh")
THINGS = [thing for kind in ("guilds", "lists", "circles") for thing in WORDS[kind]]
ABOUT_LISTS = ("take", "except", "except_but", "open")
ENDING = ("ended", "withdrawn", "in_vain")
OF_ANYBODY = ("alias", "translated", "agreed", "event", "renamed")
RANKS = {"office": 1, "council": 2, "north": 0, "draft": 0, "none": 0}
FIGURE = r"[\d,]+(?:\.\d+)?"
TESTS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, values: value in values,
}
_END = re.compile(r"(?<=[.?])\s+|(?<=。)")
_PART_OF_DAY = re.compile(r"\d+|[^\W\d]+")
Row = Mapping[str, Any]
Decision = float | str | None
# Order, the tests (column, test, value) that are all to be met, and what is decided.
Rule = tuple[tuple[int, int], list[tuple[str, str, Any]], Decision]


def any_of(names: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})"


def pattern(form: str, fields: Mapping[str, str], *, is_named: bool = False) -> str:
    """A form as a pattern, of which each value is a group if it is named."""
    made = ""
    for literal, name, _, _ in Formatter().parse(form):
        made += re.escape(literal)
        if name is not None:
            seen = f"(?P<{name}>" in made
            made += (
                f"(?P={name})"
                if seen
                else f"(?P<{name}>{fields[name]})"
                if is_named
                else fields[name]
            )
    return made


@dataclass(eq=False)
class Said:
    """What a sentence says, with rank and day of the signature under it."""

    part: str
    values: dict[str, str]
    who: tuple[str, dict[str, str]]
    rank: int
    day: date
    sentence: str = ""


class Reader:
    """`unclear`: sentences that may be read as more than one thing."""

    def __init__(
        self,
        declaration: Declaration,
        texts: Mapping[str, str],
        kinds: Sequence[str],
        places: Sequence[str],
    ) -> None:
        self.declaration, self.texts, self.unclear = declaration, texts, list[str]()
        self.values = {
            name: value
            for of, own in (("kind", kinds), ("place", places))
            for value in own
            for name in (value, *declaration.names.get(of, {}).get(value, ()))
        }
        self.months = {m: at for own in WORDS["months"].values() for at, m in enumerate(own, 1)}
        self.events: dict[str, str] = {
            name: each["en"] for each in WORDS["events"] for name in each.values()
        }
        self._known: dict[tuple[str, str], re.Pattern[str]] = {}
        self.fields = {language: self._fields(language) for language in LANGUAGES}
        self.said: list[Said] = []
        self.schemes: dict[str, dict[str, dict[str, str]]] = {}
        for text in texts.values():
            self.said += self._read(text)
        self.binding = [said for said in self.said if said.rank and said.part != "lost"]
        self._learn_names()

    # Sentences.

    def _says(self, key: str, language: str) -> str:
        is_zh = language == "zh" and "zh" in self.declaration.languages
        return self.declaration.says(key, "zh" if is_zh else "en")

    def _fields(self, language: str) -> dict[str, str]:
        """The pattern of what a form names; of a word of the environment, it itself."""
        names = any_of(n for each in THINGS for n in (*each["en"], each["de"], each["zh"]))
        labels = any_of(label for m in self.declaration.metrics for label in m.label.values())
        agreed = [f"the scheme agreed in {city}" for city in WORDS["agreed"]]
        schemes = any_of([*WORDS["schemes"], *WORDS["former"], *agreed])
        value, event = any_of(self.values), any_of(self.events)
        period = re.escape(self._says("period", language)).replace(r"\{year\}", r"\d{4}")
        words = {key: self._says(key, language) for key in ("place", "entities")}
        words["Entities"] = words["entities"].capitalize()
        money = f"{FIGURE}(?: {re.escape(self._says('money', 'en'))}| units| Einheiten|单位)?"
        own = {
            **{key: re.escape(word) for key, word in words.items()},
            **dict.fromkeys(("guild", "list", "circle", "formal", "alias", "de", "zh"), names),
            **dict.fromkeys(("size", "measure"), labels),
            **dict.fromkeys(("scheme", "former", "name"), schemes),
            **dict.fromkeys(("kind", "joining", "leaving"), value),
            **dict.fromkeys(("kinds", "places"), f"{value}(?:(?:, | and | und |和){value})*"),
            **dict.fromkeys(("limit", "bound", "large", "instead", "worth"), money),
            **dict.fromkeys(("rate", "low"), FIGURE),
            "names": f"{schemes}(?:(?:, | and ){schemes})*",
            "other": f"(?:{names}|{labels})",
            "city": any_of(WORDS["agreed"]),
            "event": event,
            "period": period,
            "who": ".+?",
        }
        named = any_of(self.months) if language != "zh" else r"\d+月"
        month = {"month": named, "year": r"\d{4}", "number": r"\d+", "day": r"\d+", "event": event}
        days = [pattern(form, month) for form in WORDS["days"][language]]
        months = [WORDS["month_of"][language], WORDS["month_by_event"].get(language, "{event}")]
        since = [*WORDS["since"][language], *WORDS["by_event"][language]]
        return own | {
            "day": f"(?:{'|'.join(days)})",
            "month": f"(?:{'|'.join(pattern(form, month) for form in months)})",
            "when": f"(?:{'|'.join(pattern(form, own) for form in since)})?",
        }

    @cached_property
    def forms(self) -> list[tuple[str, str, re.Pattern[str]]]:
        made = []
        for part, by_language in WORDS["letter"].items():
            for language in LANGUAGES:
                for form in by_language.get(language, ()):
                    made.append((language, part, self._compiled(form, language)))
        for form in WORDS["common"]["trades"]:
            made.append(("en", "founding", self._compiled(form.rstrip("."), "en")))
        return made

    @cached_property
    def frames(self) -> list[tuple[str, re.Pattern[str]]]:
        kinds = (("en", "en"), ("de", "de"), ("zh", "zh"), ("lost", "en"))
        return [
            (frame, re.compile(pattern(form, {"core": ".+", "clerk": ".+?"}, is_named=True)))
            for frame, language in kinds
            for form in WORDS["frames"][frame]
        ]

    def _compiled(self, form: str, language: str) -> re.Pattern[str]:
        if (form, language) not in self._known:
            made = pattern(form, self.fields[language], is_named=True)
            self._known[form, language] = re.compile(made, re.IGNORECASE)
        return self._known[form, language]

    @cached_property
    def signs(self) -> list[tuple[str, re.Pattern[str]]]:
        drawn = {"city": ".+?", "clerk": ".+?"}
        return [
            (by, re.compile(pattern(form, self.fields[language] | drawn, is_named=True)))
            for language in LANGUAGES
            for by, forms in WORDS["signed"][language].items()
            for form in forms
        ]

    def _read(self, text: str) -> Iterator[Said]:
        lines = text.split("\n\n")
        for use in ("levy", "cover"):
            title = WORDS["titles"][use].replace("{scheme}", "(.+)")
            if match := re.fullmatch(title, lines[0]):
                self.schemes[match[1].lower()] = dict(self._sections(lines, use))
                return
        if lines[0].endswith(": a memo"):
            yield from self._memo(lines)
            return
        marks = [(by, match) for line in lines for by, mark in self.signs
                 if (match := mark.fullmatch(line))]  # fmt: skip
        assert len(marks) == 1 or lines[0] == WORDS["common"]["head"][0], text
        rank, day = (RANKS[marks[0][0]], self._day(marks[0][1]["day"])) if marks else (9, date.min)
        for line in lines:
            for sentence in _END.split(re.sub(r"^\d+\. ", "", line)):
                readings = list(self._readings(sentence))
                if len(readings) > 1:
                    self.unclear.append(sentence)
                for part, values, who in readings[:1]:
                    if rank or part in OF_ANYBODY:
                        yield Said(part, values, who, rank, day, sentence)

    def _readings(self, sentence: str) -> Iterator[tuple[str, dict[str, str], Any]]:
        """What a sentence may say; a motion that was lost is read, and says nothing."""
        for frame, pattern in self.frames:
            if match := pattern.fullmatch(sentence):
                for language, part, form in self.forms:
                    core = form.fullmatch(match["core"]) if language in (frame, "en") else None
                    if core and (frame == "lost" or language == frame):
                        values = {k: v or "" for k, v in core.groupdict().items()}
                        for who in self._whose(values.get("who"), language):
                            yield (part if frame != "lost" else "lost"), values, who

    def _whose(self, words: str | None, language: str) -> Iterator[tuple[str, dict[str, str]]]:
        if words is None:
            yield "", {}
            return
        for role, forms in WORDS["who"].items():
            for form in forms[language]:
                if match := self._compiled(form, language).fullmatch(words):
                    yield role, match.groupdict()

    def _sections(self, lines: Sequence[str], use: str) -> Iterator[tuple[str, dict[str, str]]]:
        for line in lines[2:]:
            number, _, sentence = line.partition(". ")
            read = [
                (part, match.groupdict())
                for part, forms in WORDS[use].items()
                for form in forms
                if (match := self._compiled(form, "en").fullmatch(sentence))
            ]
            assert len(read) == 1, (line, read)
            yield read[0][0], {**read[0][1], "number": number}

    def _memo(self, lines: Sequence[str]) -> Iterator[Said]:
        former, day = lines[0].partition(":")[0], lines[1].partition(" on ")[2].rstrip(".")
        read = [
            {name: value or "" for name, value in match.groupdict().items()}
            for use in ("levy", "cover")
            for form in WORDS[use]["raised"]
            if (match := self._compiled(form, "en").fullmatch(lines[2].partition(". ")[2]))
        ]
        assert len(read) == 1, (lines, read)
        yield Said("memo", {**read[0], "former": former}, ("", {}), 9, self._day(day))

    def _day(self, written: str) -> date:
        words = _PART_OF_DAY.findall(written)
        numbers = [int(word) for word in words if word.isdigit()]
        year = max(numbers)
        numbers.remove(year)
        month = next((self.months[w] for w in words if w in self.months), None)
        return date(year, month or numbers[0], numbers[-1])

    # What names and words mean.

    def _learn_names(self) -> None:
        """Who goes by which other name, as papers say; and when something happened."""
        self.names: dict[str, str] = {}
        self.happened: dict[str, date] = {}
        for said in self.said:
            values = {name: value.lower() for name, value in said.values.items()}
            if said.part in ("alias", "translated"):
                own = (values[name] for name in ("alias", "de", "zh") if name in values)
                self.names |= dict.fromkeys(own, values["formal"])
            elif said.part == "agreed":
                self.names[f"the scheme agreed in {values['city']}"] = values["former"]
            elif said.part == "renamed":
                self.names[values["scheme"]] = values["former"]
            elif said.part == "event":
                self.happened[self._event(values["event"])] = self._day(said.values["day"])

    def _event(self, words: str) -> str:
        return next(own for name, own in self.events.items() if name.lower() == words.lower())

    def _thing(self, name: str) -> str:
        return self.names.get(name.lower(), name.lower())

    def _members(self, words: str) -> list[str]:
        own = {name.lower(): value for name, value in self.values.items()}
        return [own[name.lower()] for name in re.findall(any_of(self.values), words, re.IGNORECASE)]

    def _event_in(self, words: str) -> date | None:
        match = re.search(any_of(self.events), words, re.IGNORECASE)
        return self.happened[self._event(match[0])] if match else None

    def _month(self, words: str) -> tuple[int, int]:
        if day := self._event_in(words):
            return day.year, day.month
        read = self._day(words.replace("月", "月1") if "年" in words else f"1 {words}")
        return read.year, read.month

    def since(self, said: Said) -> int:
        words = said.values.get("when", "")
        if day := self._event_in(words):
            return day.year
        if words:
            return int(re.findall(r"\d{4}", words)[0])
        return said.day.year + (said.day.month > 3)

    def figure(self, words: str, day: date | None = None) -> float:
        """An amount; of a paper of the office in units, by what one was worth on its day."""
        number = float(re.findall(FIGURE, words)[0].replace(",", ""))
        if day is None or not words.endswith(("units", "Einheiten", "单位")):
            return number
        units = [s for s in self.binding if s.part in ("unit", "new_unit") and s.day <= day]
        return number * self.figure(max(units, key=lambda said: said.day).values["worth"])

    def column(self, label: str, role: str) -> str:
        table = self.declaration.roles[role].table
        return next(
            metric.column
            for metric in self.declaration.metrics
            if metric.table == table and label.lower() in map(str.lower, metric.label.values())
        )

    # What holds in a period.

    def changed(self, said: Said) -> Said:
        """The letter that another names by guild and month."""
        month, guild = self._month(said.values["month"]), self._thing(said.values["guild"])
        rank = RANKS["council" if said.part == "in_vain" else "office"]
        named = [
            other
            for other in self.binding
            if other.rank == rank
            and (other.day.year, other.day.month) == month
            and guild in (self._thing(other.values.get(key, "")) for key in ("guild", "other"))
        ]
        assert len(named) == 1, (said, named)
        return named[0]

    @cached_property
    def changes(self) -> dict[Said, list[Said]]:
        """By letter the later ones that change it."""
        made: dict[Said, list[Said]] = {}
        for said in sorted(self.binding, key=lambda said: said.day):
            if "month" in said.values:
                made.setdefault(self.changed(said), []).append(said)
        return made

    def holds(self, said: Said, period: int) -> bool:
        changes = self.changes.get(said, ())
        return self.since(said) <= period and not any(
            other.part == "restored"
            or (other.part in ENDING and other.rank >= said.rank and self.holds(other, period))
            for other in changes
        )

    def limit(self, said: Said, words: str, period: int) -> float:
        for other in self.changes.get(said, ())[::-1]:
            if other.part == "moved" and self.holds(other, period):
                return self.limit(other, other.values["instead"], period)
        return self.figure(words, said.day)

    def of(self, name: str, period: int, kinds: str) -> list[str]:
        """Whom a guild or a circle has."""
        members: list[str] = []
        for said in sorted(self.binding, key=lambda each: (self.since(each), each.day)):
            words = said.values.get(kinds, "")
            own = self._thing(said.values.get("guild", ""))
            other = self._thing(said.values.get("other", ""))
            if said.part in ("guild", "circle") and own == name:
                members += self._members(words)
            elif said.part in ("passes", "moves") and self.holds(said, period):
                gone = self._members(words)
                members = [m for m in members if own != name or m not in gone]
                members += gone if other == name else []
        return members

    def trades(self, period: int) -> list[str]:
        members = next(
            self._members(said.values["kinds"]) for said in self.said if said.part == "founding"
        )
        for said in self.binding:
            if said.part == "trades" and self.holds(said, period):
                members = [m for m in members if m not in self._members(said.values["leaving"])]
                members += self._members(said.values["joining"])
        return members

    def list_of(self, scheme: str, period: int) -> str:
        own = ""
        for said in sorted(self.binding, key=lambda each: (self.since(each), each.day)):
            names = re.findall(
                any_of(WORDS["former"] + WORDS["schemes"]), said.values.get("names", "")
            )
            if said.part == "list" and scheme in map(self._thing, names):
                own = self._thing(said.values["list"])
            is_it = said.part == "goes" and self._thing(said.values["name"]) == scheme
            if is_it and self.holds(said, period):
                assert own == self._thing(said.values["list"])
                own = self._thing(said.values["other"])
        return own

    def rules(self, scheme: str, period: int) -> list[Rule]:
        """Whom papers concern in a period, and what they decide, the last of those first."""
        name = self._thing(scheme)
        made = [*self._own_rules(scheme, name, period)]
        made += [
            self._rule(said, scheme, period)
            for said in self.binding
            if said.part in ABOUT_LISTS
            and self.holds(said, period)
            and self.is_for(said, scheme, period)
        ]
        return sorted(made, key=lambda rule: rule[0], reverse=True)

    def is_for(self, said: Said, scheme: str, period: int) -> bool:
        """Is it said to the list on which a scheme is, or to all but another?"""
        is_on = self._thing(said.values["list"]) == self.list_of(self._thing(scheme), period)
        return is_on != (said.part == "except_but")

    def _rule(self, said: Said, scheme: str, period: int) -> Rule:
        values, order = said.values, (said.rank, said.day.toordinal())
        roles = self.declaration.roles
        if said.part == "take":
            rate = self.figure(values["rate"]) if self._is_levy(scheme) else 1.0
            size, bound = (self.figure(values[key], said.day) for key in ("limit", "bound"))
            large = (self.column(values["size"], "entities"), ">=", size)
            return order, [large, (self.column(values["measure"], "places"), "<", bound)], rate
        kinds = self.of(self._thing(values["guild"]), period, "kinds")
        tests: list[tuple[str, str, Any]] = [(roles["entities"].kind, "in", kinds)]
        role, who = said.who
        if role == "circle":
            inside = self.of(self._thing(who["circle"]), period, "places")
            tests.append((roles["entities"].place, "in", inside))
        else:
            limit = self.limit(said, who["bound"], period)
            tests.append((self.column(who["other"], role), "<", limit))
        for other in self.changes.get(said, ()):
            if other.part == "confined" and self.holds(other, period):
                inside = self.of(self._thing(other.values["circle"]), period, "places")
                tests.append((roles["entities"].place, "in", inside))
            if other.part == "spared" and self.holds(other, period):
                bound = self.figure(other.values["bound"], other.day)
                tests.append((self.column(other.values["measure"], "places"), "<=", bound))
        return order, tests, OPEN if said.part == "open" else None

    def _is_levy(self, scheme: str) -> bool:
        return "rate" in self.schemes[scheme]["base"]

    def _own_rules(self, scheme: str, name: str, period: int) -> Iterator[Rule]:
        """What the terms or rules of the scheme itself say."""
        own, kind = self.schemes[scheme], self.declaration.roles["entities"].kind
        memo = next(s for s in self.said if s.part == "memo" and s.values["former"].lower() == name)
        base = own["base"] | (memo.values if self.since(memo) <= period else {})
        size = self.column(own["base"]["size"], "entities")
        measure = self.column(own["places"]["measure"], "places")
        among = (kind, "in", self.trades(period))
        back = (kind, "in", self._members(own["back"]["kind"]))
        bound = self.figure(own["places"]["bound"])
        order = {part: (0, int(section["number"])) for part, section in own.items()}
        if self._is_levy(scheme):
            full = self.figure(base["rate"])
            yield order["base"], [among], full
            low = self.figure(own["places"]["low"])
            yield order["places"], [among, (measure, "<", bound)], low
            yield order["back"], [back], full
            yield order["small"], [(size, "<", self.figure(own["small"]["limit"]))], None
        else:
            yield order["base"], [among, (size, ">=", self.figure(base["limit"]))], 1.0
            yield order["places"], [(measure, ">", bound)], None
            large = (size, ">=", self.figure(own["back"]["large"]))
            yield order["back"], [back, large], 1.0


def decision(rules: Sequence[Rule], row: Row) -> Decision:
    """What the first paper that fits decides; a figure that is not reported meets no condition."""
    for _, tests, decided in rules:
        if all(
            row[column] is not None and TESTS[test](row[column], value)
            for column, test, value in tests
        ):
            return decided
    return None
