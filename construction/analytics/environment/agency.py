"""The agency whose papers planted policies are: annexes, circulars, resolutions, and what binds
nobody: drafts, rejected proposals, questions, notices of a neighbouring agency.

A paper says one thing that matters, among sentences about how it came about. Papers before a day
use other codes of sector groups, areas and categories than those after it. The rest of the archive
are whole papers about other matters (`filler.jsonl`), each of which stands in it once at most.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib import resources
from typing import Any

from construction.analytics.environment.papers import (
    NEW_YEAR,
    Letter,
    Named,
    Paper,
    Said,
    Voice,
    Words,
    Writer,
    names_in,
)

PAPERS = 260  # of an agency at most; those about other matters make up the number
# Notices of another agency, proposals that were rejected, and questions.
_OF_NO_EFFECT = {"north": 16, "lost": 12, "email": 10}
_RANKS = {"office": 1, "board": 2}
_TOPICS = ("except", "ended", "spared", "confined", "passes")
_ABOUT_LETTERS = ("ended", "spared", "confined")
_FOLDERS = {"minutes": "minutes", "email": "correspondence", "letter": "correspondence"}
_WITHOUT_SUBJECT = ("lost", "email", "notice")


@dataclass
class Group:
    """A sector group, an area, or the core industries: as adopted, and with what circulars
    changed."""

    names: Named
    members: Sequence[str]
    adopted: tuple[Said, ...]
    changes: list[tuple[Letter, str, bool]] = field(default_factory=list)  # a member, has it come?

    def at(self, period: int, reading: str) -> tuple[list[str], tuple[Said, ...]]:
        """The members in a period, and the words for it."""
        members, quotes = list(self.members), self.adopted
        for letter, member, has_come in self.changes if reading != "annexes" else ():
            if period >= letter.since(reading):
                members = [*members, member] if has_come else [m for m in members if m != member]
                quotes += letter.quotes
        return sorted(members), quotes


@dataclass
class Agency:
    """What all policies have in common: how papers are read, annexes and circulars."""

    w: Writer
    papers: list[Paper] = field(default_factory=list)
    taken: set[Any] = field(default_factory=set)  # days, and numbers of circulars
    written: list[tuple[Group, Letter]] = field(default_factory=list)  # about sector groups
    unused: dict[str, list[str]] = field(default_factory=dict)  # forms that are still to be used

    def __post_init__(self) -> None:
        w, kinds = self.w, self.w.kinds()
        chosen = kinds[: max(3, (len(kinds) * 2 + 2) // 3)]
        self.leaving, self.steady = chosen[-1], sorted(chosen[:-1])
        self.joining = kinds[len(chosen)] if len(kinds) > len(chosen) else None
        said = self._general_rules(w.listed([w.called(kind) for kind in sorted(chosen)]))
        self.core = Group(Named("the core industries"), chosen, (said,))
        self.changed = date(w.years[0] - 1, 7, 1)
        self.codes = self._paper("codes", self.changed)
        self._adopt(date(w.years[0] - 14, 9, 20))
        self.categories = [self._named(*codes) for codes in w.words["categories"]]
        if self.joining:
            values: dict[str, Words] = {"joining": w.called(self.joining)}
            values["leaving"] = w.called(self.leaving)
            letter = self.letter("core", w.later(), "office", **values)
            self.core.changes += [(letter, self.joining, True), (letter, self.leaving, False)]

    def _general_rules(self, core: str) -> Said:
        w, words = self.w, self.w.words["general"]
        first = w.years[0]
        values = w.fields | {"early": f"February {first}", "late": f"May {first}"}
        values |= {"first": w.period(first), "second": w.period(first + 1)}
        rules = Paper(list(words["head"]), folder="general", heading=words["head"][0])
        self.papers.append(rules)
        for line in words["reading"]:
            rules.say(line.format(**values))
        return rules.say(w.form("general", "core", kinds=core))

    def _paper(self, annex: str, day: date) -> Paper:
        """An annex, to which sections can be added."""
        title, adopted = self.w.words["annexes"][annex]
        paper = Paper([title, adopted.format(day=self.w.dated(day))], folder="general")
        paper.heading = title
        self.papers.append(paper)
        return paper

    def _named(self, formal: str, before: str) -> Named:
        said = self.line(self.codes, "code", formal=formal, before=before)
        return Named(formal, before, self.changed, said)

    def line(self, paper: Paper, part: str, **values: str) -> Said:
        """A section of an annex."""
        line = str(self.w.pick(self.w.words["annex"][part])).format(**values)
        return paper.say(f"{_capital(line)}.")

    def _adopt(self, day: date) -> None:
        """Sector groups of the steady industries and areas; some members pass to another."""
        w = self.w
        n = max(1, min(len(w.words["sectors"]), len(self.steady) // 2))
        self.sectors = self._groups("sector", "kind", self.steady, w.words["sectors"][:n], n, day)
        places = w.places()
        n = max(1, min(len(w.words["areas"]), len(places) // 4))
        self.areas = self._groups("area", "place", places, w.words["areas"][:n], n + 1, day)
        self.annex = self._paper("categories", day)
        for groups, of, part in ((self.sectors, "kind", "passes"), (self.areas, "place", "moves")):
            for group, other in zip(groups[::2], groups[1::2], strict=False):
                if len(group.members) > 1:
                    self._pass_over(group, other, group.members[0], of, part)

    def _groups(
        self, part: str, of: str, members: Sequence[str], codes: Sequence[Any], n: int, day: date
    ) -> list[Group]:
        """Groups with every n-th of the shuffled members each."""
        w, made, paper = self.w, [], self._paper(f"{part}s", day)
        shuffled = w.generator.permutation(sorted(members)).tolist()
        for at, (formal, before) in enumerate(codes):
            own = shuffled[at::n]
            listed = w.of_all(sorted(own), of)
            named = self._named(formal, before)
            said = self.line(paper, part, **{part: before, f"{of}s": listed})
            made.append(Group(named, own, tuple(each for each in (said, named.said) if each)))
        return made

    def _pass_over(self, group: Group, other: Group, member: str, of: str, part: str) -> None:
        values: dict[str, Words] = {f"{of}s": self.w.of_all([member], of)}
        values |= dict.fromkeys(("sector", "area"), group.names.called)
        letter = self.letter(part, self.w.later(), "office", other=other.names.called, **values)
        group.changes.append((letter, member, False))
        other.changes.append((letter, member, True))

    def file(self, kind: str, day: date, core: str) -> tuple[tuple[Said, ...], str]:
        """A paper of a kind around a clause: its number, day and sentence as quotes, and how other
        papers name it."""
        w, form = self.w, self.w.words["kinds"][kind]
        ref = form["number"].format(number=_number(day))
        sentence = _capital(self.filled(w.pick(form["frames"]), core=core))
        signed = self.filled(w.pick(form["signed"]), day=w.dated(day))
        addressed = self.filled(w.pick(form["to"]))
        body = [self.aside(f"{kind}.openings", form["openings"]), sentence]
        if w.pick((0, 1)):
            body = [" ".join(body)]
        body += [self.aside(f"{kind}.closings", form["closings"]) for _ in range(w.pick((1, 1, 2)))]
        head = [ref] if ref else []
        paper = Paper([*head, addressed, *body, signed], folder=form["folder"], day=day)
        subject = next((name for name in names_in(sentence) if "/" not in name), "")
        title = ref or addressed
        is_bare = kind in _WITHOUT_SUBJECT or not subject
        paper.heading = title if is_bare else f"{title}: {subject}"
        self.papers.append(paper)
        return tuple(Said(paper, line) for line in (*head, signed, sentence)), ref

    def aside(self, name: str, forms: Sequence[str]) -> str:
        """A sentence that decides nothing; none comes again before all of its kind were used."""
        if not self.unused.get(name):
            self.unused[name] = self.w.generator.permutation(list(forms)).tolist()
        return self.filled(self.unused[name].pop())

    def filled(self, form: str, **values: str) -> str:
        """A form with people, places and numbers that matter to nobody."""
        w = self.w
        first, second = w.generator.permutation(w.words["clerk"]).tolist()[:2]
        unit = str(w.pick(w.words["unit"]))
        drawn = {"clerk": first, "clerk_b": second, "city": w.pick(w.words["city"])}
        drawn |= {"month": w.month(), "n": f"{int(w.generator.integers(3, 40))}"}
        drawn |= {"unit": unit, "unit_first": _capital(unit)}
        return form.format(**drawn | values)

    def day(self, periods: int | range, kind: str = "") -> date:
        """A day of signature from which a letter holds from a period; no other paper bears it, nor
        one of its kind its number."""
        while True:
            period = periods if isinstance(periods, int) else int(self.w.pick(periods))
            month, day = self.w.generator.integers(1, (13, 29)).tolist()
            drawn = date(period if month <= NEW_YEAR else period - 1, month, day)
            needed = {drawn, (kind, _number(drawn))}
            if not needed & self.taken:
                self.taken |= needed
                return drawn

    def letter(self, part: str, period: int, kind: str, /, **values: Words) -> Letter:
        """A paper that holds from a period, which some name."""
        w = self.w
        names = period if part != "restored" and w.pick((0, 1)) else None
        day = self.day(period + (0 if names is None else w.pick((0, 1))), kind)
        voice = Voice(day)
        values["unit"] = w.pick(w.words["unit"])
        values["when"] = "" if names is None else self._since(period)
        said, ref = self.file(kind, day, w.phrase(part, voice, **values))
        veils, rank = frozenset(voice.veils), _RANKS.get(kind, 1)
        return Letter(day, names, (*said, *voice.quotes), veils, rank, ref)

    def _since(self, period: int) -> str:
        return str(self.w.pick(self.w.words["since"])).format(period=self.w.period(period))

    def finish(self, written: int) -> None:
        """Write what binds nobody, and file what is about other matters. `written`: how many papers
        there are elsewhere."""
        for kind, n in _OF_NO_EFFECT.items():
            for _ in range(n):
                self._of_no_effect(kind)
        others, more = fillers(), max(PAPERS - written - len(self.papers), 0)
        for at in self.w.generator.permutation(len(others)).tolist()[:more]:
            self._file_other(others[at])

    def _of_no_effect(self, kind: str) -> None:
        """What binds nobody, in words as of circulars."""
        w, (about, _) = self.w, self.w.pick(self.written)
        others = [each for each in self.sectors if each is not about] or [about]
        rank = w.metric("places", "rank")
        day = self.day(range(w.years[0] - 8, w.years[-1] + 2))
        refs = [
            its.ref for each, its in self.written if each is about and its.day < day and its.ref
        ]
        of_letters = _ABOUT_LETTERS if kind != "north" and refs else ()
        topics = [each for each in _TOPICS if each not in _ABOUT_LETTERS or each in of_letters]
        voice = Voice(day)
        values: dict[str, Words] = {
            "category": w.pick(self.categories).called,
            "sector": about.names.called,
            "ref": w.pick(refs) if refs else "",
            "measure": rank.label["en"],
            "bound": w.amount(w.limit(rank, 0.3, 0.7), rank),
            "area": w.pick(self.areas).names.called,
            "kinds": w.called(w.pick(about.members)),
            "when": w.pick(("", self._since(day.year + 1))),
            "other": w.pick(others).names.called,
        }
        values["who"] = w.worded(w.pick(w.words["who"]["area"]), voice, **values)
        core = w.phrase(w.pick(topics), voice, **values)
        self.file(kind, day, core)

    def _file_other(self, filler: Mapping[str, Any]) -> None:
        """A paper about another matter."""
        folder, day = _FOLDERS.get(filler["kind"], "other"), date.fromisoformat(filler["day"])
        lines, heading = list(filler["paragraphs"]), filler["heading"]
        self.papers.append(Paper(lines, folder=folder, day=day, heading=heading))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _number(day: date) -> str:
    """That of a paper of a kind in its year: the later, the higher."""
    return f"{(day.timetuple().tm_yday - 1) // 5 + 1}/{day.year}"


@cache
def fillers() -> Sequence[Mapping[str, Any]]:
    """Papers about other matters: `kind`, `heading`, `day`, `paragraphs`."""
    lines = resources.files(__package__).joinpath("filler.jsonl").read_text(encoding="utf-8")
    return tuple(map(json.loads, lines.splitlines()))
