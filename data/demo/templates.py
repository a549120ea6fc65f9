"""The office tasks of the demo, as written down in `tasks/<language>_<role>.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from pydantic import Field, field_validator

from data.contracts import StageConfig

ROLES = ("finance", "hr", "product", "engineering", "executive", "sales", "marketing")
_FOLDER = Path(__file__).parent / "tasks"

Numbers = dict[str, tuple[int, int, int]]  # slot: lowest, highest, step


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
    names them, `{out}` is the file asked for (None: the answer is given in the chat).
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
    numbers: Numbers = Field(default_factory=dict)
    files: tuple[FileTemplate, ...] = Field(default=(), alias="file")


@cache
def load_tasks(language: str) -> tuple[TaskTemplate, ...]:
    """All tasks of a language, in the order of roles and files."""
    found: list[TaskTemplate] = []
    for role in ROLES:
        with (_FOLDER / f"{language}_{role}.toml").open("rb") as handle:
            entries = tomllib.load(handle)["task"]
        found += [
            TaskTemplate.model_validate({**entry, "language": language, "role": role})
            for entry in entries
        ]
    return tuple(found)
