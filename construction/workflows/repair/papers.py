"""The papers of an office: those that say what to do, among many that say other things.

`aftermath.toml` of a program has those that decide, `papers.jsonl` the ordinary ones of the same
company: whole papers, conversations of its channel, and asides, each used once in a draft. A
sentence between `<<name:` and `>>` states facts: `facts_said` reads its slots in the papers again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import Any

from construction.workflows.repair.drafts import Draw
from construction.workflows.world_file import ArchivedPaper

PEOPLE = (
    "Agneta Roos", "Tomasz Wilk", "Ines Barreto", "Mirjam Vogt", "Leticia Prado", "Jonas Ekberg",
    "Hana Ueda", "Oskar Lind", "Paula Reyes", "Wim de Haan", "Noor Aziz", "Britta Holm",
    "Carlos Neto", "Dagny Moen", "Emil Strand", "Farah Haddad", "Gesa Thiel", "Henrik Dahl",
    "Ilse Kramer", "Jaume Ferrer", "Kirsi Salo", "Luca Bassi", "Maren Iversen", "Nikos Pappas",
)  # fmt: skip
_WEEKS = 26  # from which papers are that decide nothing
_WITH_ASIDE = 3  # one paper of so many ends on another matter
_PAST, _COMING = (8, 45), (6, 40)  # days before and after a paper of the days that it mentions
_TICKETS = range(300, 900)  # numbers of those that decide nothing
_BY_NAME, _BY_TRADE = 2, 1  # mentions of a party, at most, in what decides nothing


def spoken(day: date) -> str:
    """A day as papers write it."""
    return f"{day.day} {day:%B %Y}"


def day_of(text: str) -> date:
    """The day that papers write so."""
    return datetime.strptime(text, "%d %B %Y").date()


@dataclass(frozen=True)
class _Ordinary:
    """What is written in a company from day to day and decides nothing."""

    papers: tuple[Mapping[str, Any], ...]  # kind, title, paragraphs
    talks: tuple[tuple[str, ...], ...]  # lines of a conversation
    asides: tuple[str, ...]


@cache
def _ordinary(program: str) -> _Ordinary:
    path = Path(__file__).parent / "programs" / program / "papers.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return _Ordinary(
        tuple(row for row in rows if "title" in row),
        tuple(tuple(row["lines"]) for row in rows if "lines" in row),
        tuple(row["text"] for row in rows if "text" in row),
    )


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a text: (name, text); the name is empty for what states no fact."""
    plain, *marked = text.split("<<")
    yield "", plain
    for each in marked:
        sentence, _, rest = each.partition(">>")
        name, _, said = sentence.partition(": ")
        yield name, said
        yield "", rest


class Papers:
    """Writes the papers of one draft; `parties` are the rows of their register."""

    def __init__(
        self,
        program: str,
        given: Mapping[str, Any],
        draw: Draw,
        parties: Sequence[tuple[str, ...]],
    ) -> None:
        self._given, self._draw, self._parties = given, draw, parties
        self._ordinary = _ordinary(program)
        roles = list(given["people"])
        self._people = draw.several(PEOPLE, len(PEOPLE))  # who decides talks of other things too
        self._roles = dict(zip(roles, self._people, strict=False))
        self._last = given["today"] - timedelta(days=1)

    def written(self, words: Mapping[str, str]) -> list[ArchivedPaper]:
        """All papers by day. Those with `when` are there if there is a word of that name."""
        words = {**words, **self._roles}
        papers = [p for p in self._given["papers"] if p.get("when", "today") in words]
        decides = [(p, "".join(said for _, said in _pieces(p["text"])).strip()) for p in papers]
        chats = [(p["date"], text.format_map(words)) for p, text in decides if p["kind"] == "chat"]
        lines, asides = self._mentions()
        rest = [(p, text.format_map({**self._chance(p["date"]), **words})) for p, text in decides
                if p["kind"] != "chat"]  # fmt: skip
        rest += self._topical()
        own = self._ordinary.asides
        asides += self._draw.several(own, min(len(own), len(rest) // _WITH_ASIDE))
        endings = self._draw.several([*asides, *[""] * (len(rest) - len(asides))], len(rest))
        made = [
            self._paper(paper, text, aside, words)
            for (paper, text), aside in zip(rest, endings, strict=True)
        ]
        made += self._channel(chats, lines)
        return sorted(made, key=lambda paper: (paper.filed_on, paper.folder, paper.heading))

    def about(self, words: Mapping[str, str]) -> str:
        """Who may say what, and which folders there are."""
        text: str = self._given["about_office"]
        return text.lstrip().format_map({**words, **self._roles})

    def _working_days(self) -> list[date]:
        days: list[date] = [self._last - timedelta(days=n) for n in range(7 * _WEEKS)]
        return [day for day in days if day.weekday() < 5]

    def _topical(self) -> Iterator[tuple[Mapping[str, Any], str]]:
        """The ordinary papers with their texts."""
        days, papers = self._working_days(), self._ordinary.papers
        numbers = self._draw.several(_TICKETS, len(papers))
        for paper, number in zip(self._draw.several(papers, len(papers)), numbers, strict=True):
            day = self._draw.pick(days)
            chance = self._chance(day)
            text = "\n\n".join(paper["paragraphs"]).format_map(chance)
            mark = f"T-{number} " if paper["kind"] == "tickets" else ""
            head = {"date": day, "title": f"{mark}{paper['title']}"}
            yield {**paper, **head, "by": chance["person"], "to": chance["other"]}, text

    def _mentions(self) -> tuple[list[str], list[str]]:
        """What is said of parties and decides nothing: lines of the channel, and asides."""
        said = []
        for _, name, town, trade, *_ in self._parties:
            talk = self._given["talk"]
            said += [
                line.replace("{party}", name)
                for line in self._draw.several(talk["by_name"], self._draw.number(0, _BY_NAME))
            ]
            said += [
                line.replace("{trade}", trade).replace("{town}", town)
                for line in self._draw.several(talk["by_trade"], self._draw.number(0, _BY_TRADE))
            ]
        half = len(said) // 2
        said = self._draw.several(said, len(said))
        return said[:half], [f"{line[0].upper()}{line[1:]}." for line in said[half:]]

    def _chance(self, day: date) -> dict[str, str]:
        """Words for what matters to nobody, in a paper of that day."""
        names = self._draw.several(self._people, 3)
        words = dict(zip(("person", "other", "third"), names, strict=True))
        words["past"] = spoken(_working_day(day - timedelta(days=self._draw.number(*_PAST))))
        words["coming"] = spoken(_working_day(day + timedelta(days=self._draw.number(*_COMING))))
        return words | {"weekday": f"{_working_day(day + timedelta(days=4)):%A}"}

    def _paper(
        self, paper: Mapping[str, Any], text: str, aside: str, words: Mapping[str, str]
    ) -> ArchivedPaper:
        chance = self._chance(paper["date"])
        title = paper["title"].format_map({**chance, **words})
        by, to = paper.get("by", "{person}"), paper.get("to", "{other}")
        by, to = (each.format_map({**chance, **words}) for each in (by, to))
        day = spoken(paper["date"])
        head = {
            "mails": f"From: {by}\nTo: {to}\nDate: {day}\nSubject: {title}",
            "tickets": f"{title}\n\nOpened by {by}, {day}.",
            "minutes": f"{title}\n\n{day}. Present: {by}, {to}. Notes: {by}.",
        }.get(paper["kind"], f"{title}\n\n{day}. Signed: {by}.")
        said = text.strip().split("\n\n")
        if aside:  # before the signature
            said.insert(len(said) - (said[-1] == by), aside.format_map(chance))
        body = "\n\n".join((head, *said))
        return ArchivedPaper(title, f"{body}\n", paper["kind"], paper["date"].isoformat())

    def _channel(
        self, chats: Sequence[tuple[date, str]], lines: Sequence[str]
    ) -> Iterator[ArchivedPaper]:
        """The days of the channel, as far as anything was said."""
        days = self._working_days()
        said = [(day, text.splitlines()) for day, text in chats]
        for talk in self._draw.several(self._ordinary.talks, len(self._ordinary.talks)):
            day = self._draw.pick(days)
            chance = self._chance(day)
            said.append((day, [line.format_map(chance) for line in talk]))
        for line in lines:
            day = self._draw.pick(days)
            said.append((day, [f"{{person}}: {line}".format_map(self._chance(day))]))
        channel: dict[date, list[str]] = {}
        for begun, spoken_lines in sorted(self._timed(said)):
            channel.setdefault(begun.date(), []).extend(
                f"{begun + timedelta(minutes=n):%H:%M} {line}"
                for n, line in enumerate(spoken_lines)
            )
        for day, stamped in channel.items():
            body = "\n".join(stamped) + "\n"
            yield ArchivedPaper(f"Channel, {spoken(day)}", body, "channel", day.isoformat())

    def _timed(
        self, said: Sequence[tuple[date, list[str]]]
    ) -> Iterator[tuple[datetime, list[str]]]:
        """The conversations with the times at which they begin; no two overlap."""
        slots: dict[date, list[int]] = {}
        for day, lines in said:
            free = slots.setdefault(day, self._draw.several(range(8 * 4, 17 * 4), 9 * 4))
            quarter = free.pop()
            yield datetime(day.year, day.month, day.day, quarter // 4, quarter % 4 * 15), lines


def _working_day(day: date) -> date:
    """The day itself, or the Monday after it."""
    return day + timedelta(days=max(0, 7 - day.weekday())) if day.weekday() > 4 else day


def facts_said(given: Mapping[str, Any], texts: Iterable[str]) -> dict[str, str]:
    """The slots of all sentences that state facts, as they stand in papers."""
    words: dict[str, str] = {}
    for text in texts:
        for slots in _stated(given, text):
            words |= slots
    return words


def states_facts(given: Mapping[str, Any], text: str) -> bool:
    """Does one of the sentences that state facts stand in a paper?"""
    return any(True for _ in _stated(given, text))


def _stated(given: Mapping[str, Any], text: str) -> Iterator[dict[str, str]]:
    for paper in given["papers"]:
        for name, sentence in _pieces(paper["text"]):
            slots = _slots(sentence, text) if name else None
            if slots is not None:
                yield slots


def _slots(sentence: str, text: str) -> dict[str, str] | None:
    """The values of the slots of a sentence in a text; None where it does not stand there."""
    (first, *_), *_ = parts = [each[:2] for each in Formatter().parse(sentence)]
    start = text.find(first)
    while start >= 0:
        values: dict[str, str] = {}
        at = start + len(first)
        for (_, slot), (following, _) in pairwise([*parts, ("\n", None)]):
            end = text.find(following, at) if slot else at
            if end < 0 or "\n" in text[at:end]:
                break
            values |= {slot: text[at:end]} if slot else {}
            at = end + len(following)
        else:
            return values
        start = text.find(first, start + 1)
    return None
