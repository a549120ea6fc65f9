"""Builds the events of one session: its clock, its random draws, its messages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from data.demo.draft import Draft, Style
from data.demo.material import N_VARIANTS, fill, material
from data.demo.script import Abandoned, Agent, Call, Compaction, Event, Human, Machine
from data.demo.words import N_DAYS, full_name, load_words, working_day, written_date
from data.randomness import keyed_generator, keyed_hash

# Every task of a corpus gets a person, a day and a closing sentence that no other task of the
# same text gets: no two requests read the same. A step that shares no factor with the number of
# such triples spreads neighbours over all three.
MAX_SESSIONS = 1_000_000
_PERSONS_PER_TASK = 2048
_TAILS = 6
_TRIPLES = _PERSONS_PER_TASK * N_DAYS * _TAILS
_STEP = 382_139
_DAYS_LEFT = 2
_EIGHT = 8 * 3600


class SessionBuilder:
    """Collects the events of one session. `task` is the number of the instance being written."""

    def __init__(self, seed: int, number: int, language: str, cwd: str) -> None:
        self.seed, self.number, self.language, self.cwd = seed, number, language, cwd
        self.words = load_words(language)
        self.digest = keyed_hash(seed, "demo.session", str(number)).hex()
        self._rng = keyed_generator(seed, "demo.draws", str(number))
        triple, self._tail = divmod((number * _STEP + _offset(seed)) % _TRIPLES, _TAILS)
        self._day, self._person = divmod(triple, _PERSONS_PER_TASK)
        self.clock = _epoch(working_day(self._day)) + _EIGHT + self.between(0, 7 * 3600)
        self.started = self.clock
        people = len(self.words.first) * len(self.words.last)
        self.sender = full_name(self.words, language, self.between(0, people - 1))
        self.events: list[Event] = []
        self.task = 0
        self.bulk: tuple[Call, ...] = ()
        self.bulk_thinking = ""

    # Draws ---------------------------------------------------------------------------------------

    def between(self, low: int, high: int) -> int:
        return int(self._rng.integers(low, high + 1))

    def choose(self, values: Sequence[str]) -> str:
        return values[self.between(0, len(values) - 1)]

    def token(self, name: str, length: int = 12) -> str:
        """Hex digits that belong to this session and name."""
        return keyed_hash(self.seed, f"demo.{name}", str(self.number)).hex()[:length]

    def draft(self, template: int, style: Style, task: int) -> Draft:
        """A request for task number `template` of the language, as instance `task`."""
        variant = self.number // 60 % N_VARIANTS
        facts = material(self.seed, self.language, template, variant)
        person = full_name(self.words, self.language, self._person + task * _PERSONS_PER_TASK)
        day = working_day(self._day + _DAYS_LEFT)
        slots = {"person": person, "date": written_date(self.words, day)}
        quotes = _QUOTES[self.language]
        return Draft(
            material=facts,
            words=self.words,
            style=style,
            cwd=self.cwd,
            tail=fill(self.words.tails[self._tail], slots),
            quote=quotes[self.between(0, len(quotes) - 1)],
            paths=[file.path for file in facts.files],
        )

    # Events --------------------------------------------------------------------------------------

    def wait(self, low: int, high: int) -> None:
        """Let some seconds pass."""
        self.clock += self.between(low, high)

    def next_morning(self) -> None:
        """Go on at about half past eight of the next working day."""
        today = dt.datetime.fromtimestamp(self.clock, dt.UTC).date()
        ahead = 3 if today.weekday() == 4 else 1
        self.clock = _epoch(today + dt.timedelta(days=ahead)) + _EIGHT + self.between(0, 5400)

    def human(self, said: str, text: str | None = None) -> None:
        self.wait(40, 600)
        shown = said if text is None else text
        self.events.append(Human(self.clock, said, shown, self.sender, self.task))

    def agent(self, text: str, calls: tuple[Call, ...] = (), stop: str = "stop") -> None:
        self.wait(8, 90)
        thinking = ""
        if self.bulk:
            calls, thinking = (*self.bulk, *calls), self.bulk_thinking
            self.bulk, self.bulk_thinking = (), ""
        self.events.append(Agent(self.clock, text, calls, thinking, stop))

    def machine(self, kind: str, text: str) -> None:
        self.wait(300, 1200)
        self.events.append(Machine(self.clock, kind, text))

    def compaction(self, summary: str) -> None:
        self.wait(1, 5)
        self.events.append(Compaction(self.clock, summary))

    def abandoned(self, text: str, answer: str) -> None:
        self.wait(40, 300)
        self.events.append(Abandoned(self.clock, text, answer))


_QUOTES = {
    "en": (("", ""), ("", ""), ("`", "`")),
    "zh": (("“", "”"), ("`", "`"), ("「", "」")),
}


def _epoch(day: dt.date) -> int:
    return int(dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC).timestamp())


def _offset(seed: int) -> int:
    return int.from_bytes(keyed_hash(seed, "demo.triples", "")[:4], "big")
