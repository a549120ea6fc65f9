"""The texts of the demo: invented people and firms, phrases of office talk, and task templates."""

from __future__ import annotations

import datetime as dt
import tomllib
from functools import cache
from pathlib import Path

from pydantic import Field, field_validator

from data.contracts import StageConfig

LANGUAGES = ("en", "zh")
_WORDS = Path(__file__).parent / "words"
# Conversations take place on the working days of half a year.
_FIRST_DAY = dt.date(2025, 7, 7)
N_DAYS = 125
ROLES = ("finance", "hr", "product", "engineering", "executive", "sales", "marketing")
_TASKS = Path(__file__).parent / "tasks"
Numbers = dict[str, tuple[int, int, int]]  # slot: lowest, highest, step


class Words(StageConfig):
    """One language. `{person}`, `{date}` and the like in a phrase are filled by the caller."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    company: tuple[str, ...]
    customer: tuple[str, ...]
    product: tuple[str, ...]
    city: tuple[str, ...]
    department: tuple[str, ...]
    month: tuple[str, ...]
    date: str
    tails: tuple[str, ...]
    openings: tuple[str, ...]
    thanks: tuple[str, ...]
    resets: tuple[str, ...]
    next_topics: tuple[str, ...]
    mornings: tuple[str, ...]
    wait: tuple[str, ...]
    counts: tuple[str, ...]
    sent: tuple[str, ...]
    all_sent: str
    resume: str
    first_file: tuple[str, ...]
    received: tuple[str, ...]
    started: tuple[str, ...]
    wrote: str
    adjusted: tuple[str, ...]
    adjusted_text: tuple[str, ...]
    welcome: tuple[str, ...]
    aborted: str


@cache
def load_words(language: str) -> Words:
    """The vocabulary of `en` or `zh`."""
    with (_WORDS / f"{language}.toml").open("rb") as handle:
        return Words.model_validate(tomllib.load(handle))


def full_name(words: Words, language: str, index: int) -> str:
    """Person number `index`: all combinations of first and last names, then again."""
    turn = index // len(words.first)
    first = words.first[(index + 7 * turn) % len(words.first)]  # neighbours share no first name
    last = words.last[turn % len(words.last)]
    return last + first if language == "zh" else f"{first} {last}"


def working_day(index: int) -> dt.date:
    """Working day number `index`, from 0 on."""
    week, day = divmod(index, 5)
    return _FIRST_DAY + dt.timedelta(days=7 * week + day)


def written_date(words: Words, day: dt.date) -> str:
    """A date as written in a sentence of the language."""
    return words.date.format(year=day.year, month=words.month[day.month - 1], day=day.day)


class FileTemplate(StageConfig):
    """A file that comes with a task: a table (`columns`, "Header: kind arguments") or a text."""

    name: str
    rows: int = 0
    columns: tuple[tuple[str, str], ...] = ()
    text: str = ""
    numbers: Numbers = Field(default_factory=dict)

    @field_validator("columns", mode="before")
    @classmethod
    def _split(cls, value: list[str]) -> list[tuple[str, str]]:
        pairs = (column.partition(": ") for column in value)
        return [(header, kind) for header, _, kind in pairs]


class TaskTemplate(StageConfig):
    """A request with its files, what may follow it, and how the agent delivers.

    Slots in braces are filled per variant; `{f1}`, `{f2}`, `{f3}` are the files as the person
    names them, `{out}` is the file asked for (None: the answer is given in the chat). `examples`:
    it gives examples of file names, of which only its words tell that there are no such files.
    """

    key: str
    language: str
    role: str
    ask: str
    refine: tuple[str, str]
    question: str | None = None
    answer: str | None = None
    reply: str
    out: str | None = None
    examples: bool = False
    numbers: Numbers = Field(default_factory=dict)
    files: tuple[FileTemplate, ...] = Field(default=(), alias="file")


@cache
def load_tasks(language: str) -> tuple[TaskTemplate, ...]:
    """All tasks of a language, in the order of roles and files."""
    tasks: list[TaskTemplate] = []
    for role in ROLES:
        with (_TASKS / f"{language}_{role}.toml").open("rb") as handle:
            entries = tomllib.load(handle)["task"]
        tasks += [
            TaskTemplate.model_validate({**entry, "language": language, "role": role})
            for entry in entries
        ]
    return tuple(tasks)
