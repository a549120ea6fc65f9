"""The papers of an office: those that say what to do, among many that say other things.

`aftermath.toml` of a program has its own; `office.toml` has what is said everywhere. A sentence
between `<<name:` and `>>` states facts: `facts_said` reads its slots in the papers again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import Any

from construction.workflows.repair.drafts import Draw
from construction.workflows.world_file import ArchivedPaper

_CHANNEL_DAYS, _CHAT_LINES = 90, (35, 65)
_WHOLE_LINES = 5  # of a day of the channel; the others are put together
_TOPICAL = 60  # papers whose matter is drawn, besides those of `office.toml`
_TOPICAL_KINDS = ("mails",) * 6 + ("tickets",) * 4 + ("minutes",) * 3 + ("decisions",)
_ASIDES = (3, 5)  # paragraphs on other things in each paper
_BY_NAME, _BY_TRADE = 2, 1  # mentions of a party, at most, in what decides nothing


def spoken(day: date) -> str:
    """A day as papers write it."""
    return f"{day.day} {day:%B %Y}"


def day_of(text: str) -> date:
    """The day that papers write so."""
    return datetime.strptime(text, "%d %B %Y").date()


@cache
def _office() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "office.toml").read_text("utf-8"))


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
        self, given: Mapping[str, Any], draw: Draw, parties: Sequence[tuple[str, ...]]
    ) -> None:
        self._given, self._draw, self._parties = given, draw, parties
        roles = list(given["people"])
        people = draw.several(_office()["people"], len(_office()["people"]))
        self._roles = dict(zip(roles, people, strict=False))
        self._people = people  # who decides talks of other things as well
        self._last = given["today"] - timedelta(days=1)

    def written(self, words: Mapping[str, str]) -> list[ArchivedPaper]:
        """All papers by day. Those with `when` are there if there is a word of that name."""
        words = {**words, **self._roles}
        papers = [p for p in self._given["papers"] if p.get("when", "today") in words]
        chats: dict[date, list[str]] = {day: [] for day in self._channel_days()}
        made: list[ArchivedPaper] = []
        for paper in papers:
            text = "".join(said for _, said in _pieces(paper["text"])).strip()
            if paper["kind"] == "chat":
                chats.setdefault(paper["date"], []).extend(text.format_map(words).splitlines())
            else:
                made.append(self._paper(paper, text, words))
        asides = self._mentions(chats)
        for filler in (*_office()["fillers"], *self._topical()):
            text = "\n\n".join((filler["text"].strip(), *asides[:1]))
            made.append(self._paper({"date": self._day(), **filler}, text, self._chance()))
            asides = asides[1:]
        made += [self._channel(day, lines) for day, lines in chats.items()]
        return sorted(made, key=lambda paper: (paper.filed_on, paper.folder, paper.heading))

    def about(self, words: Mapping[str, str]) -> str:
        """Who may say what, and which folders there are."""
        text: str = self._given["about_office"]
        return text.lstrip().format_map({**words, **self._roles})

    def _channel_days(self) -> list[date]:
        days: list[date] = [self._last - timedelta(days=n) for n in range(2 * _CHANNEL_DAYS)]
        return [day for day in days if day.weekday() < 5][:_CHANNEL_DAYS]

    def _day(self) -> date:
        """A working day of the last half year."""
        days: list[date] = [self._last - timedelta(days=n) for n in range(160)]
        return self._draw.pick([day for day in days if day.weekday() < 5])

    def _topical(self) -> Iterator[dict[str, str]]:
        """Papers on other things: kind, title and text."""
        topics = _office()["topics"]
        titles = [(name, title) for name in topics for title in _office()["titles"][name]]
        for name, title in self._draw.several(titles, _TOPICAL):
            kind = self._draw.pick(_TOPICAL_KINDS)
            order = sorted(self._draw.several(range(len(topics[name])), 5))
            text = " ".join(topics[name][n] for n in order)
            title = f"T-{{ticket}} {title}" if kind == "tickets" else title
            yield {"kind": kind, "title": title, "text": text}

    def _mentions(self, chats: Mapping[date, list[str]]) -> list[str]:
        """What is said of parties and decides nothing: in the channel, or else to be written."""
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
        asides = []
        for line in said:
            if self._draw.number(0, 1):
                chats[self._draw.pick(list(chats))].append(
                    f"{{person}}: {line}".format_map(self._chance())
                )
            else:
                asides.append(f"{line[0].upper()}{line[1:]}.")
        return self._draw.several(asides, len(asides))

    def _chance(self) -> dict[str, str]:
        """Words for what matters to nobody."""
        names = self._draw.several(self._people, 4)
        words = dict(zip(("person", "other", "third", "fourth"), names, strict=True))
        words |= {f"n{k}": str(self._draw.number(2, 60)) for k in (1, 2, 3)}
        words |= {"amount": f"{self._draw.number(4, 90)}.{self._draw.number(0, 9)}0"}
        words |= {"ticket": str(self._draw.number(300, 899)), "day": spoken(self._day())}
        return words | {"weekday": f"{self._day():%A}"}

    def _paper(
        self, paper: Mapping[str, Any], text: str, words: Mapping[str, str]
    ) -> ArchivedPaper:
        chance = self._chance()
        title = paper["title"].format_map(words)
        by, to = paper.get("by", "{person}"), paper.get("to", "{other}")
        by, to = (each.format_map({**chance, **words}) for each in (by, to))
        day = spoken(paper["date"])
        head = {
            "mails": f"From: {by}\nTo: {to}\nDate: {day}\nSubject: {title}",
            "tickets": f"{title}\n\nOpened by {by}, {day}.",
            "minutes": f"{title}\n\n{day}. Present: {by}, {to}. Notes: {by}.",
        }.get(paper["kind"], f"{title}\n\n{day}. Signed: {by}.")
        first, *rest = text.strip().format_map({**chance, **words}).split("\n\n")
        body = "\n\n".join((head, first, *self._asides(), *rest))
        return ArchivedPaper(title, f"{body}\n", paper["kind"], paper["date"].isoformat())

    def _asides(self) -> list[str]:
        """Paragraphs on what has nothing to do with the matter."""
        made = []
        for topic in self._draw.several(list(_office()["topics"].values()), 5):
            chance, order = self._chance(), sorted(self._draw.several(range(len(topic)), 4))
            made.append(" ".join(topic[n] for n in order).format_map(chance))
        return made[: self._draw.number(*_ASIDES)]

    def _small_talk(self) -> list[str]:
        office, count = _office(), self._draw.number(*_CHAT_LINES)
        lines = self._draw.several(office["chat"], _WHOLE_LINES)
        lines += [
            f"{{person}}: {self._draw.pick(office['subjects'])} {self._draw.pick(office['news'])}"
            for _ in range(count)
        ]
        return [line.format_map(self._chance()) for line in self._draw.several(lines, len(lines))]

    def _channel(self, day: date, lines: list[str]) -> ArchivedPaper:
        """A day of the channel: what was said, amid other things."""
        chance = self._small_talk()
        cut = self._draw.number(2, len(chance) - 2)
        said = [*chance[:cut], *lines, *chance[cut:]]
        minutes = 8 * 60 + self._draw.number(0, 40)
        stamped = []
        for line in said:
            minutes += self._draw.number(0, 12)
            stamped.append(f"{minutes // 60:02}:{minutes % 60:02} {line}")
        body = "\n".join(stamped) + "\n"
        return ArchivedPaper(f"Channel, {spoken(day)}", body, "channel", day.isoformat())


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
