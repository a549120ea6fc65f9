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
CODES = {
    part: [code for pair in WORDS[kind] for code in pair]
    for part, kind in (("sector", "sectors"), ("area", "areas"), ("category", "categories"))
}
ABOUT_CATEGORIES = ("take", "except", "except_but", "open")
ENDING = ("ended", "withdrawn")
RANKS = {"office": 1, "board": 2, "notice": 1}
FIGURE = r"[\d,]+(?:\.\d+)?"
TESTS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, values: value in values,
}
_END = re.compile(r"(?<=[.?])\s+")
_PART_OF_DAY = re.compile(r"\d+|[^\W\d]+")
_REF = re.compile(r"(?:Circular|Resolution) \d+/\d{4}")
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
    """What a sentence says, with number, rank and day of the paper that it stands in."""

    part: str
    values: dict[str, str]
    who: tuple[str, dict[str, str]]
    rank: int
    day: date
    ref: str = ""
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
        self._known: dict[str, re.Pattern[str]] = {}
        self.fields = self._fields()
        self.said: list[Said] = []
        self.schemes: dict[str, dict[str, dict[str, str]]] = {}
        for text in texts.values():
            self.said += self._read(text)
        self.names = {
            said.values[new].lower(): said.values[old].lower()
            for said in self.said
            for part, old, new in (("code", "before", "formal"), ("renamed", "former", "scheme"))
            if said.part == part
        }
        self.by_ref = {said.ref: said for said in self.said if said.ref}

    # Sentences.

    def _fields(self) -> dict[str, str]:
        """The pattern of what a form names; of a word of the environment, it itself."""
        codes = any_of(code for own in CODES.values() for code in own)
        labels = any_of(label for m in self.declaration.metrics for label in m.label.values())
        names = [*WORDS["schemes"], *WORDS["former"]]
        called = [form.format(scheme=n) for form in WORDS["called"].values() for n in names]
        schemes, value = any_of(called), any_of(self.values)
        words = {key: self.declaration.says(key, "en") for key in ("place", "entities")}
        words["Entities"] = words["entities"].capitalize()
        period = re.escape(self.declaration.says("period", "en")).replace(r"\{year\}", r"\d{4}")
        money = f"{FIGURE}(?: {re.escape(self.declaration.says('money', 'en'))})?"
        own = {
            **{key: re.escape(word) for key, word in words.items()},
            **dict.fromkeys(("formal", "before"), codes),
            **{part: any_of(CODES[part]) for part in CODES},
            **dict.fromkeys(("size", "measure"), labels),
            **dict.fromkeys(("scheme", "former", "name"), schemes),
            **dict.fromkeys(("kind", "joining", "leaving"), value),
            **dict.fromkeys(("kinds", "places"), f"{value}(?:(?:, | and ){value})*"),
            **dict.fromkeys(("limit", "bound", "large", "instead"), money),
            **dict.fromkeys(("rate", "low"), FIGURE),
            "names": f"{schemes}(?:(?:, | and ){schemes})*",
            "other": f"(?:{codes}|{labels})",
            "unit": any_of(WORDS["unit"]),
            "ref": _REF.pattern,
            "period": period,
            "who": ".+?",
        }
        month = {"month": any_of(WORDS["months"]), "year": r"\d{4}", "day": r"\d+"}
        return own | {
            "day": f"(?:{'|'.join(pattern(form, month) for form in WORDS['days'])})",
            "when": f"(?:{'|'.join(pattern(form, own) for form in WORDS['since'])})?",
            **dict.fromkeys(("clerk", "clerk_b", "city", "month", "n"), ".+?"),
        }

    def _compiled(self, form: str, **more: str) -> re.Pattern[str]:
        if form not in self._known:
            made = pattern(form, self.fields | more, is_named=True)
            self._known[form] = re.compile(made, re.IGNORECASE)
        return self._known[form]

    @cached_property
    def forms(self) -> list[tuple[str, re.Pattern[str]]]:
        return [(part, self._compiled(form)) for part, of in WORDS["letter"].items() for form in of]

    def _read(self, text: str) -> Iterator[Said]:
        lines = text.split("\n\n")
        titles = [title for title, _ in WORDS["annexes"].values()]
        if lines[0] in titles or lines[0] == WORDS["general"]["head"][0]:
            yield from self._annex(lines)
            return
        for use in ("levy", "cover"):
            title = WORDS["titles"][use].replace("{scheme}", "(.+)")
            if match := re.fullmatch(title, lines[0]):
                self.schemes[match[1].lower()] = dict(self._sections(lines, use))
                return
        if lines[0].startswith("Amendment 1 to "):
            yield from self._memo(lines)
            return
        kinds = [
            (kind, match["day"])
            for kind, own in WORDS["kinds"].items()
            for form in own["signed"]
            if (match := self._compiled(form).fullmatch(lines[-1]))
        ]
        if not kinds:
            return  # about another matter
        kind, written = kinds[0]
        assert {k for k, _ in kinds} <= {kind, "notice"}, text
        if kind in RANKS:
            yield from self._sentences(lines, RANKS[kind], self._day(written), kind)

    def _sentences(self, lines: Sequence[str], rank: int, day: date, kind: str) -> Iterator[Said]:
        ref = lines[0] if _REF.fullmatch(lines[0]) else ""
        kinds = (kind, "notice") if kind == "board" else (kind,)
        frames = [f for each in kinds for f in WORDS["kinds"][each]["frames"]]
        for line in lines[1:]:
            for sentence in _END.split(line):
                readings = {
                    part: (values, who)
                    for frame in frames
                    if (match := self._compiled(frame, core=".+").fullmatch(sentence))
                    for part, values, who in self._readings(match["core"])
                }
                if len(readings) > 1:
                    self.unclear.append(sentence)
                for part, (values, who) in readings.items():
                    yield Said(part, values, who, rank, day, ref, sentence)

    def _readings(self, core: str) -> Iterator[tuple[str, dict[str, str], Any]]:
        for part, form in self.forms:
            if match := form.fullmatch(core):
                values = {k: v or "" for k, v in match.groupdict().items()}
                for who in self._whose(values.get("who")):
                    yield part, values, who

    def _whose(self, words: str | None) -> Iterator[tuple[str, dict[str, str]]]:
        if words is None:
            yield "", {}
            return
        for role, forms in WORDS["who"].items():
            for form in forms:
                if match := self._compiled(form).fullmatch(words):
                    yield role, match.groupdict()

    def _annex(self, lines: Sequence[str]) -> Iterator[Said]:
        """What sections of annexes say, and that of the General Rules about core industries."""
        forms = {**WORDS["annex"], "founding": WORDS["general"]["core"]}
        for line in lines[2:]:
            sentence = line.partition(". ")[2].rstrip(".")
            for part, own in forms.items():
                for form in own:
                    if match := self._compiled(form.rstrip(".")).fullmatch(sentence):
                        yield Said(part, match.groupdict(), ("", {}), 9, date.min)

    def _sections(self, lines: Sequence[str], use: str) -> Iterator[tuple[str, dict[str, str]]]:
        further = [self._compiled(form) for form in WORDS["further"][use]]
        for line in lines[2:]:
            number, _, sentence = line.partition(". ")
            read = [
                (part, match.groupdict())
                for part, forms in WORDS[use].items()
                for form in forms
                if (match := self._compiled(form).fullmatch(sentence))
            ]
            is_further = any(form.fullmatch(sentence) for form in further)
            assert len(read) + is_further == 1, (line, read)
            if read:
                yield read[0][0], {**read[0][1], "number": number}

    def _memo(self, lines: Sequence[str]) -> Iterator[Said]:
        former, day = lines[0].removeprefix("Amendment 1 to "), lines[1].partition(" on ")[2]
        read = [
            {name: value or "" for name, value in match.groupdict().items()}
            for use in ("levy", "cover")
            for form in WORDS[use]["raised"]
            if (match := self._compiled(form).fullmatch(lines[2].partition(". ")[2]))
        ]
        assert len(read) == 1, (lines, read)
        yield Said("memo", {**read[0], "former": former}, ("", {}), 9, self._day(day.rstrip(".")))

    def _day(self, written: str) -> date:
        words = _PART_OF_DAY.findall(written)
        day, year = sorted(int(word) for word in words if word.isdigit())
        month = next(at for at, name in enumerate(WORDS["months"], 1) if name in words)
        return date(year, month, day)

    # What names and words mean.

    def _thing(self, name: str) -> str:
        return self.names.get(name.lower(), name.lower())

    def _members(self, words: str) -> list[str]:
        own = {name.lower(): value for name, value in self.values.items()}
        return [own[name.lower()] for name in re.findall(any_of(self.values), words, re.IGNORECASE)]

    def since(self, said: Said) -> int:
        if words := said.values.get("when", ""):
            return int(re.findall(r"\d{4}", words)[0])
        return said.day.year + (said.day.month > 3)

    def figure(self, words: str) -> float:
        return float(re.findall(FIGURE, words)[0].replace(",", ""))

    def column(self, label: str, role: str) -> str:
        table = self.declaration.roles[role].table
        return next(
            metric.column
            for metric in self.declaration.metrics
            if metric.table == table and label.lower() in map(str.lower, metric.label.values())
        )

    # What holds in a period.

    @cached_property
    def changes(self) -> dict[Said, list[Said]]:
        """By paper the later ones that change it."""
        made: dict[Said, list[Said]] = {}
        for said in sorted(self.said, key=lambda said: said.day):
            if "ref" in said.values:
                made.setdefault(self.by_ref[said.values["ref"]], []).append(said)
        return made

    def holds(self, said: Said, period: int) -> bool:
        changes = self.changes.get(said, ())
        of = {part: [o for o in changes if o.part == part] for part in ("suspended", "reinstated")}
        since = {part: [self.since(o) for o in own] for part, own in of.items()}
        is_suspended = [s for s in since["suspended"] if s <= period]
        if is_suspended and not [s for s in since["reinstated"] if s <= period]:
            return False
        return self.since(said) <= period and not any(
            other.part == "restored"
            or (other.part in ENDING and other.rank >= said.rank and self.holds(other, period))
            for other in changes
        )

    def limit(self, said: Said, words: str, period: int) -> float:
        for other in self.changes.get(said, ())[::-1]:
            if other.part == "moved" and self.holds(other, period):
                return self.limit(other, other.values["instead"], period)
        return self.figure(words)

    def of(self, name: str, period: int, kinds: str) -> list[str]:
        """What is in a sector group or an area."""
        members: list[str] = []
        code = {"kinds": "sector", "places": "area"}[kinds]
        for said in sorted(self.said, key=lambda each: (self.since(each), each.day)):
            words = said.values.get(kinds, "")
            own = self._thing(said.values.get(code, ""))
            other = self._thing(said.values.get("other", ""))
            if said.part == code and own == name:
                members += self._members(words)
            elif said.part in ("passes", "moves") and self.holds(said, period):
                gone = self._members(words)
                members = [m for m in members if own != name or m not in gone]
                members += gone if other == name else []
        return members

    def core(self, period: int) -> list[str]:
        (adopted,) = (said for said in self.said if said.part == "founding")
        members = self._members(adopted.values["kinds"])
        for said in self.said:
            if said.part == "core" and self.holds(said, period):
                members = [m for m in members if m not in self._members(said.values["leaving"])]
                members += self._members(said.values["joining"])
        return members

    def category_of(self, scheme: str, period: int) -> str:
        own = ""
        for said in sorted(self.said, key=lambda each: (self.since(each), each.day)):
            names = re.findall(self.fields["name"], said.values.get("names", ""))
            if said.part == "category" and scheme in map(self._thing, names):
                own = self._thing(said.values["category"])
            is_it = said.part == "goes" and self._thing(said.values["name"]) == scheme
            if is_it and self.holds(said, period):
                assert own == self._thing(said.values["category"])
                own = self._thing(said.values["other"])
        return own

    def rules(self, scheme: str, period: int) -> list[Rule]:
        """Whom papers concern in a period, and what they decide, the last of those first."""
        made = [*self._own_rules(scheme, self._called(scheme), period)]
        made += [
            self._rule(said, scheme, period)
            for said in self.said
            if said.part in ABOUT_CATEGORIES
            and self.holds(said, period)
            and self.is_for(said, scheme, period)
        ]
        return sorted(made, key=lambda rule: rule[0], reverse=True)

    def _called(self, scheme: str) -> str:
        """What papers called a scheme at first."""
        use = "levy" if self._is_levy(scheme) else "cover"
        return self._thing(WORDS["called"][use].format(scheme=scheme))

    def is_for(self, said: Said, scheme: str, period: int) -> bool:
        """Is it said to the category in which a scheme is, or to all but another?"""
        own = self.category_of(self._called(scheme), period)
        is_on = self._thing(said.values["category"]) == own
        return is_on != (said.part == "except_but")

    def _rule(self, said: Said, scheme: str, period: int) -> Rule:
        values, order = said.values, (said.rank, said.day.toordinal())
        roles = self.declaration.roles
        if said.part == "take":
            rate = self.figure(values["rate"]) if self._is_levy(scheme) else 1.0
            size, bound = (self.figure(values[key]) for key in ("limit", "bound"))
            large = (self.column(values["size"], "entities"), ">=", size)
            return order, [large, (self.column(values["measure"], "places"), "<", bound)], rate
        kinds = self.of(self._thing(values["sector"]), period, "kinds")
        tests: list[tuple[str, str, Any]] = [(roles["entities"].kind, "in", kinds)]
        role, who = said.who
        if role == "area":
            inside = self.of(self._thing(who["area"]), period, "places")
            tests.append((roles["entities"].place, "in", inside))
        else:
            limit = self.limit(said, who["bound"], period)
            tests.append((self.column(who["other"], role), "<", limit))
        for other in self.changes.get(said, ()):
            if other.part == "confined" and self.holds(other, period):
                inside = self.of(self._thing(other.values["area"]), period, "places")
                tests.append((roles["entities"].place, "in", inside))
            if other.part == "spared" and self.holds(other, period):
                bound = self.figure(other.values["bound"])
                tests.append((self.column(other.values["measure"], "places"), "<=", bound))
        return order, tests, OPEN if said.part == "open" else None

    def _is_levy(self, scheme: str) -> bool:
        return "rate" in self.schemes[scheme]["base"]

    def _own_rules(self, scheme: str, name: str, period: int) -> Iterator[Rule]:
        """What the guidelines or rules of the scheme itself say."""
        own, kind = self.schemes[scheme], self.declaration.roles["entities"].kind
        memo = next(s for s in self.said if s.part == "memo" and s.values["former"].lower() == name)
        base = own["base"] | (memo.values if self.since(memo) <= period else {})
        size = self.column(own["base"]["size"], "entities")
        measure = self.column(own["places"]["measure"], "places")
        among = (kind, "in", self.core(period))
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
