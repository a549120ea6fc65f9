"""The papers of an office: those that say what to do, among many that say other things.

`aftermath.toml` of a program has its own; `office.toml` has what is said everywhere. A sentence
between `<<name:` and `>>` states facts: `facts_said` reads its slots in the papers again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import Any

from construction.workflows.repair.drafts import Draw

_FILLERS = 22  # papers of the common office in a draft
_CHAT_DAYS, _CHAT_LINES = 16, (110, 190)
_WHOLE_LINES = 5  # of a day of the channel; the others are put together
_ASIDES = (3, 5)  # paragraphs on other things in each paper
_SUFFIX = {"chat": "txt", "mails": "txt"}


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
    """Writes the papers of one draft."""

    def __init__(self, name: str, given: Mapping[str, Any], draw: Draw) -> None:
        self._given, self._draw = given, draw
        roles = list(given["people"])
        people = draw.several(_office()["people"], len(_office()["people"]))
        self._roles = dict(zip(roles, people, strict=False))
        self._people = people  # who decides talks of other things as well
        self._last = given["today"] - timedelta(days=1)

    def written(self, words: Mapping[str, str]) -> dict[str, bytes]:
        """All papers by path. Those with `when` are there if there is a word of that name."""
        words = {**words, **self._roles}
        papers = [p for p in self._given["papers"] if p.get("when", "today") in words]
        chats: dict[date, list[str]] = {}
        made: dict[str, str] = {}
        for paper in papers:
            text = "".join(said for _, said in _pieces(paper["text"])).strip()
            if paper["kind"] == "chat":
                chats.setdefault(paper["date"], []).extend(text.format_map(words).splitlines())
            else:
                made |= self._file(paper, text, words)
        count = min(_FILLERS, len(_office()["fillers"]))
        for filler in self._draw.several(_office()["fillers"], count):
            made |= self._file({"date": self._day(), **filler}, filler["text"], self._chance())
        while len(chats) < _CHAT_DAYS:
            chats.setdefault(self._day(), [])
        for day, lines in sorted(chats.items()):
            made[f"office/chat/{day}.txt"] = self._chat(lines)
        about = "".join(said for _, said in _pieces(self._given["about_office"]))
        made["office/README.md"] = about.strip().format_map(words) + "\n"
        return {path: text.encode() for path, text in sorted(made.items())}

    def _day(self) -> date:
        """A working day of the last half year."""
        days: list[date] = [self._last - timedelta(days=n) for n in range(160)]
        return self._draw.pick([day for day in days if day.weekday() < 5])

    def _chance(self) -> dict[str, str]:
        """Words for what matters to nobody."""
        names = self._draw.several(self._people, 4)
        words = dict(zip(("person", "other", "third", "fourth"), names, strict=True))
        words |= {f"n{k}": str(self._draw.number(2, 60)) for k in (1, 2, 3)}
        words |= {"amount": f"{self._draw.number(4, 90)}.{self._draw.number(0, 9)}0"}
        words |= {"ticket": str(self._draw.number(300, 899)), "day": spoken(self._day())}
        return words | {"weekday": f"{self._day():%A}"}

    def _file(
        self, paper: Mapping[str, Any], text: str, words: Mapping[str, str]
    ) -> dict[str, str]:
        title = paper["title"].format_map(words)
        slug = "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split()[:6])
        chance = self._chance()
        by, to = paper.get("by", "{person}"), paper.get("to", "{other}")
        by, to = (each.format_map({**chance, **words}) for each in (by, to))
        day = spoken(paper["date"])
        head = {
            "mails": f"From: {by}\nTo: {to}\nDate: {day}\nSubject: {title}",
            "tickets": f"# {title}\n\nOpened by {by}, {day}.",
            "minutes": f"# {title}\n\n{day}. Present: {by}, {to}. Notes: {by}.",
        }.get(paper["kind"], f"# {title}\n\n{day}. Signed: {by}.")
        suffix = _SUFFIX.get(paper["kind"], "md")
        first, *rest = text.strip().format_map({**chance, **words}).split("\n\n")
        body = "\n\n".join((first, *self._asides(), *rest))
        return {f"office/{paper['kind']}/{paper['date']}-{slug}.{suffix}": f"{head}\n\n{body}\n"}

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

    def _chat(self, lines: list[str]) -> str:
        """A day of the channel: what was said, amid other things."""
        chance = self._small_talk()
        cut = self._draw.number(2, len(chance) - 2)
        said = [*chance[:cut], *lines, *chance[cut:]]
        minutes = 8 * 60 + self._draw.number(0, 40)
        stamped = []
        for line in said:
            minutes += self._draw.number(0, 6)
            stamped.append(f"{minutes // 60:02}:{minutes % 60:02} {line}")
        return "\n".join(stamped) + "\n"


def facts_said(given: Mapping[str, Any], papers: Mapping[str, bytes]) -> dict[str, str]:
    """The slots of all sentences that state facts, as they stand in the papers."""
    texts = [data.decode() for data in papers.values()]
    words: dict[str, str] = {}
    for paper in given["papers"]:
        for name, sentence in _pieces(paper["text"]):
            for text in texts if name else ():
                words |= _slots(sentence, text)
    return words


def _slots(sentence: str, text: str) -> dict[str, str]:
    """The values of the slots of a sentence in a text; nothing where it does not stand there."""
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
    return {}
