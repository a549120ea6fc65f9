"""Pages to browse the tasks of a release: a list, and a page for each task.

The public pages show what an agent gets and what is checked in words. Pages with answers are for
the private half and for readers of attempts. Everything from a task is hostile text: the templates
escape it, and previews are text.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from data.contracts import Candidate, Label
from data.figures import amount, number
from data.neutralise import visible
from data.snapshot.pages import asset, page

INDEX = "index.html"
_HEAD = 4_000  # characters of a preview
_ROWS, _COLUMNS, _CELL = 12, 12, 80
_TITLE = 110
_MOST_TOOLS = 8  # that are listed by name
_TABLES = {".csv": ",", ".tsv": "\t"}
_PRIVATE = ("answers", "checks", "rules", "rubric", "milestones", "steps")
_KINDS = {
    "retrieval": "What it looked up: the tools and services that it called, and what they showed.",
    "accuracy": "Its answer and figures, against values that were computed.",
    "action": "What it changed in the services, and that nothing else changed.",
    "semantic": "Its text, by a judge with a rubric: no program can decide it.",
}


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a file: rows of a table, or text; `note` says what is not shown."""

    path: str
    bytes: int
    media_type: str
    rows: Sequence[Sequence[str]] = ()
    text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as its page shows it. `grading`: its private fields; empty on public pages."""

    task: Candidate
    previews: Sequence[Preview]
    grading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def request(self) -> str:
        """What an agent is asked, with what is hidden made visible."""
        return visible(self.task.prompt)

    @property
    def guidelines(self) -> str:
        """How to answer."""
        return visible(self.task.guidelines)

    @property
    def title(self) -> str:
        """The beginning of the request, on one line."""
        words = " ".join(self.request.split())
        return words if len(words) <= _TITLE else f"{words[:_TITLE]}…"

    @property
    def labels(self) -> list[tuple[str, str]]:
        """What the task is filed under, by the names of the fields."""
        task = self.task
        known: list[tuple[str, Label | str | None]] = [
            ("lane", str(task.lane)),
            ("family", task.task_family),
            ("role", task.role),
            ("skill", task.skill_subclass),
            ("surface", task.execution_surface),
            ("difficulty", task.difficulty),
            ("measured", task.measured_difficulty),
            ("split", task.split),
            ("language", task.language),
            ("class", task.task_class.name if task.task_class else None),
        ]
        return [
            (name, visible(label.value if isinstance(label, Label) else label))
            for name, label in known
            if label
        ]

    @property
    def checked(self) -> list[str]:
        """What is checked, in words that give no answer away."""
        task = self.task
        kinds = [words for kind, words in _KINDS.items() if getattr(task.evidence, kind)]
        files = [
            f"{amount(wanted.count, 'file')} of type {visible(wanted.file_type)}: there, readable, "
            "and not empty."
            for wanted in task.deliverables
        ]
        return kinds + files

    @property
    def answers(self) -> list[tuple[str, str]]:
        """What grades the task, by field."""
        known = ((name, self.grading.get(name)) for name in _PRIVATE)
        return [(name, visible(_readable(value))) for name, value in known if value]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The limits within which an agent works."""
        task = self.task
        network = {"none": "none", "web": "the web"}.get(task.network.mode, "")
        return [
            ("Turns", number(task.budget.turns)),
            ("Seconds", number(task.budget.seconds)),
            ("Network", network or ", ".join(map(visible, task.network.urls))),
            ("Tools", visible(tools_line(task.tools))),
            (
                "Files asked for",
                ", ".join(visible(d.file_type) for d in task.deliverables) or "none",
            ),
        ]


def tools_line(names: Sequence[str]) -> str:
    """The tools by name; of very many how many each service has, which their names begin with."""
    if len(names) <= _MOST_TOOLS:
        return ", ".join(names) or "none"
    counts = Counter(name.partition("_")[0] for name in names)
    return ", ".join(f"{service} ({count})" for service, count in counts.items())


def _readable(value: Any) -> str:
    """Nested values as YAML, the inner ones on one line, without what is empty."""
    return yaml.safe_dump(
        _filled(value), allow_unicode=True, sort_keys=False, default_flow_style=None, width=100
    )


def _filled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _filled(v) for k, v in value.items() if v not in (None, "", [], (), {})}
    return [_filled(item) for item in value] if isinstance(value, list | tuple) else value


def preview(name: str, path: Path, media_type: str = "") -> Preview:
    """The beginning of a file as text, or as rows if it is one of separated values."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4 * _HEAD)
    return preview_of(name, head, size, media_type)


def preview_of(name: str, head: bytes, size: int, media_type: str = "") -> Preview:
    """As `preview`, for the first bytes of a file of some size."""
    text = _text(head, whole=len(head) == size)
    if text is None:
        return Preview(name, size, media_type, note="No text: open the file itself.")
    cut = len(text) > _HEAD or size > len(head)
    text = visible(text[:_HEAD])
    separator = _TABLES.get(Path(name).suffix.lower())
    rows = _rows(text, separator, cut=cut) if separator else []
    note = "The beginning; the file goes on." if cut or len(rows) == _ROWS else ""
    return Preview(name, size, media_type, rows, "" if rows else text, note)


def _text(head: bytes, *, whole: bool) -> str | None:
    """The text of some bytes; None if they are none. A character may be cut at the end."""
    if b"\x00" in head:
        return None
    for lost in range(1 if whole else 4):
        try:
            return head[: len(head) - lost].decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
    return None


def _rows(text: str, separator: str, *, cut: bool) -> list[list[str]]:
    lines = text.splitlines()
    kept = lines[:-1] if cut and len(lines) > 1 else lines
    try:
        rows = list(csv.reader(StringIO("\n".join(kept[: _ROWS * 4])), delimiter=separator))
    except csv.Error:
        return []
    return [[cell[:_CELL] for cell in row[:_COLUMNS]] for row in rows[:_ROWS] if row]


def task_pages(
    views: Sequence[TaskView], snapshot: str, canary: str, *, back: tuple[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield (file name, HTML): a page for each task, then the list of all.

    `back`: the address and the title of the page that led here.
    """
    common: dict[str, Any] = {"snapshot": snapshot, "canary": canary, "back": back}
    for at, view in enumerate(views):
        yield (
            f"{view.task.task_id}.html",
            page(
                "task.html.j2",
                asset("report.css") + asset("reading.css"),
                view=view,
                before=views[at - 1].task.task_id if at else None,
                after=views[at + 1].task.task_id if at + 1 < len(views) else None,
                **common,
            ),
        )
    yield (
        INDEX,
        page(
            "tasks.html.j2",
            asset("report.css") + asset("reading.css"),
            asset("tasks.js"),
            views=views,
            **common,
        ),
    )
