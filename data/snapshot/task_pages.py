"""Pages to browse the tasks of a release: a list, and a page for each task.

The public pages show what an agent gets and what is checked in words. Pages with answers are for
the private half and for readers of attempts. Everything from a task is hostile text: the templates
escape it, and previews are text.
"""

from __future__ import annotations

import base64
import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import yaml

from data.contracts import Candidate, Label
from data.figures import amount, number, percent
from data.neutralise import one_line, visible
from data.reasons import Labels, Words, named, own_labels, words_of
from data.snapshot.pages import asset, page

# What grades a task, in words: what each graded part is about, and what it expects.
#
# Values read alike for what was expected and what was found.

DELIVERABLES = "deliverables"
_ANCHORS = ("met", "partly", "not_met")
_STEP = re.compile(r'"\$([0-9]+)')  # in arguments as JSON: the result of an earlier step
_LISTED = ("names", "extensions", "columns")  # the settings of a rule that say what it looks for


_SHORT = 200
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)(?: (\S.*))?")
_UNITS = {"count": "", "ratio": "", "percent": "%"}
_SCALES = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}
_PLAIN = 10_000  # below it a number without a unit may be a year


def quantity(text: str, scale: int = 1) -> str:
    """A number of units, told in multiples of `scale`, as `11,314 million JPY`; else the text."""
    match = _NUMBER.fullmatch(text.strip())
    return (
        text if match is None else _number_words(Decimal(match[1]) / scale, match[2] or "", scale)
    )


def _number_words(value: Decimal, unit: str, scale: int) -> str:
    """So many multiples of a scale; zeros behind the point and units that say nothing are left out.

    A scale without a word of its own is multiplied out.
    """
    if scale not in _SCALES:
        value *= scale
    digits = f"{value:f}" if not unit and abs(value) < _PLAIN else f"{value:,f}"
    whole = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return " ".join(filter(None, (whole, _SCALES.get(scale), _UNITS.get(unit, unit))))


def _answer_text(value: object, unit: str = "", scale: int = 1) -> str:
    """The value of an answer, in the unit asked for: a list as items, a number with its unit."""
    text = str(value)
    if text.startswith("["):
        try:
            items = orjson.loads(text)
        except ValueError:
            return text
        if isinstance(items, list):
            return plain(items)
    match = _NUMBER.fullmatch(f"{text} {unit}".strip())
    return (
        f"{text} {unit}".strip() if match is None else _number_words(Decimal(match[1]), unit, scale)
    )


def reading_text(reading: str, unit: str = "", scale: int = 1) -> str:
    """What an answer was read as, told in the unit asked for if it is in that unit."""
    is_alike = reading.partition(" ")[2] == unit
    return (
        _answer_text(reading)
        if reading.startswith("[")
        else quantity(reading, scale if is_alike else 1)
    )


def plain(value: object) -> str:
    """A value in words: items behind commas, fields behind their names; no brackets of JSON."""
    if isinstance(value, Mapping):
        return "; ".join(
            f"{str(key).replace('_', ' ')}: {plain(item)}"
            for key, item in value.items()
            if item not in (None, "", [], {})
        )
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "nothing"}[value]
    return str(value)


def _settings(params: Mapping[str, object]) -> str:
    """The settings of a check that people can read at once; programs and files are left out."""
    shown = {key: value for key, value in params.items() if len(plain(value)) <= _SHORT}
    return plain(shown)


def brief(text: str, most: int = _SHORT) -> str:
    """The beginning of a text on one line, which ends between words."""
    line = one_line(text)
    if len(line) <= most:
        return line
    return f"{line[:most].rpartition(' ')[0] or line[:most]} …".replace(", …", " …")


class _PartWords(NamedTuple):
    """A graded part by its name, as a page tells of it."""

    name: str
    about: str
    expected: str = ""


def graded_parts(grading: Mapping[str, Any]) -> Iterator[_PartWords]:
    """The parts of a task's score; `grading` are its private fields."""
    answers = grading.get("answers") or ()
    for row in answers:
        which = f", {row['part'].replace('_', ' ')}" if len(answers) > 1 else ""
        value = _answer_text(row["value"], row.get("unit") or "", row.get("scale") or 1)
        yield _PartWords(f"answer.{row['part']}", f"The answer{which}", value)
    for row in grading.get("checks") or ():
        params = row.get("params", {})  # the findings of a program are what the text lists
        expected = "" if "findings" in params else _settings(params)
        yield _PartWords(f"check.{row['check_id']}", row["text"], expected)
    for row in grading.get("rules") or ():
        wanted = next(filter(None, (row["params"].get(name) for name in _LISTED)), ())
        yield _PartWords(f"rule.{row['rule_id']}", row["text"], plain(wanted))
    seen: dict[str, int] = {}
    for row in (grading.get("rubric") or {}).get("criteria", ()):
        number_of = seen[row["dimension"]] = seen.get(row["dimension"], 0) + 1
        suffix = f".{number_of}" if number_of > 1 else ""
        anchors: Mapping[str, str] = row.get("anchors") or {}
        shown = {key: anchors[key].rstrip(".") for key in _ANCHORS if anchors.get(key)}
        yield _PartWords(f"rubric.{row['dimension']}{suffix}", row["text"], plain(shown))


def part_words(name: str, parts: Mapping[str, _PartWords]) -> _PartWords:
    """The words of a part of a score, also of one that its task does not name."""
    if name in parts:
        return parts[name]
    if name == DELIVERABLES:
        return _PartWords(name, "The files that were asked for")
    for check in parts:  # one that computes several things: check.ID.FINDING
        if name.startswith(f"{check}."):
            return _PartWords(name, f"Recomputed from the inputs: {name.removeprefix(f'{check}.')}")
    return _PartWords(name, name.partition(".")[2].replace("_", " ") or name)


def missed_step(name: str, grading: Mapping[str, Any]) -> str:
    """The reference step that yields an intermediate result, in words; empty if none is known."""
    rows = {row["name"]: row for row in grading.get("milestones") or ()}
    wanted = rows.get(name, {}).get("step")
    texts = {row["index"]: _step_words(row) for row in grading.get("steps") or ()}
    return texts.get(wanted, "")


def _step_words(step: Mapping[str, Any]) -> str:
    """A reference step in words; where it names the result of another (`$1`), that is said.

    A dollar sign that none of its arguments has is an amount of money.
    """
    text = " ".join(str(step["text"]).split())
    for step_id in set(_STEP.findall(orjson.dumps(step.get("arguments")).decode())):
        text = re.sub(rf"\${step_id}(?!\w)(\.[a-z]\w*)?", f"the result of step {step_id}", text)
    return text


_INDEX = "index.html"
_HEAD = 4_000  # characters of a preview
_ROWS, _COLUMNS, _CELL = 12, 12, 80
_TITLE = 110
_MOST_TOOLS = 8  # that are listed by name
_TABLES = {".csv": ",", ".tsv": "\t"}
_PRIVATE = ("answers", "checks", "rules", "rubric", "milestones", "steps")
_LONG = 600  # characters of a text among the answers that is folded
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{400,}={0,2}\s*")
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a file: rows of a table, or text; `note` says what is not shown.

    `whole`: the address of all of it, where the pages have it.
    """

    path: str
    bytes: int
    media_type: str
    rows: Sequence[Sequence[str]] = ()
    text: str = ""
    note: str = ""
    whole: str = ""


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as its page shows it. `grading`: its private fields; empty on public pages.

    `checked`: what is checked, in words that give no answer away. `attempts`: title, result and
    address of each attempt at it, where there are pages of them. `known`: what labels mean.
    `services`: what they hold at the start; `world`: the address of all of it.
    """

    task: Candidate
    previews: Sequence[Preview]
    grading: Mapping[str, Any] = field(default_factory=dict)
    checked: Sequence[str] = ()
    attempts: Sequence[tuple[str, str, str]] = ()
    known: Labels = field(default_factory=own_labels)
    services: Sequence[tuple[str, str]] = ()
    world: str = ""

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
        return first_words(self.request)

    @property
    def labels(self) -> list[tuple[str, Words]]:
        """What the task is filed under, by the names of the fields."""
        task = self.task
        measured = task.measured_difficulty
        codes: list[tuple[str, Label | str | None]] = [
            ("lane", str(task.lane)),
            ("family", task.task_family),
            ("role", task.role),
            ("skill", task.skill_subclass),
            ("surface", task.execution_surface),
            ("split", task.split),
            ("language", task.language),
        ]
        labels = [
            (kind, words_of(self.known, kind, label.value if isinstance(label, Label) else label))
            for kind, label in codes
            if label
        ]
        if task.difficulty:
            rule = task.difficulty_rule or ""
            labels.append(("difficulty", named(task.difficulty, rule[:1].upper() + rule[1:])))
        if measured != "unmeasured":
            labels.append(("measured", named(measured, f"{percent(task.pass_rate)} passed it.")))
        if task.task_class and task.task_class.name not in {words.name for _, words in labels}:
            labels.append(("class", Words(task.task_class.name, task.task_class.definition, "")))
        return [(kind, Words(*map(visible, words))) for kind, words in labels]

    @property
    def parts(self) -> list[_PartWords]:
        """What is graded and what is expected, in words; none on public pages."""
        return [_PartWords(*map(visible, part)) for part in graded_parts(self.grading)]

    @property
    def steps(self) -> list[str]:
        """The reference steps in words; none on public pages."""
        return [visible(_step_words(step)) for step in self.grading.get("steps") or ()]

    @property
    def answers(self) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
        """What grades the task, by field: as YAML, and the long texts and files in it apart."""
        shown = []
        for name in _PRIVATE:
            if self.grading.get(name):
                long: list[tuple[str, str, str]] = []
                value = _shortened(self.grading[name], (), long)
                shown.append((name, visible(_readable(value)), long))
        return shown

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The limits within which an agent works."""
        task = self.task
        network = {"none": "none", "web": "the web"}.get(task.network.mode, "")
        return [
            ("Turns", number(task.budget.turns)),
            ("Seconds", number(task.budget.seconds)),
            ("Network", network or ", ".join(map(visible, task.network.urls))),
            ("Tools", visible(_tools_line(task.tools))),
            (
                "Requested files",
                ", ".join(visible(d.file_type) for d in task.deliverables) or "none",
            ),
        ]


def first_words(text: str) -> str:
    """The beginning of a text on one line, without marks of code; it ends between words."""
    words = " ".join(text.replace("`", "").split())
    if len(words) <= _TITLE:
        return words
    return f"{words[:_TITLE].rpartition(' ')[0] or words[:_TITLE]}…"


def checked_words(task: Candidate, grading: Mapping[str, Any]) -> list[str]:
    """What grades a task, in words that give no answer away: from its checks, not its labels."""
    checks = grading.get("checks") or ()
    kinds = {(str(check["evidence"]), str(check["kind"])) for check in checks}
    in_services = task.execution_surface == "services"
    answers = grading.get("answers") or ()
    rubric: Mapping[str, Any] = grading.get("rubric") or {}
    words = {
        f"Its answer: {amount(len(answers), 'part')}, against computed values.": answers,
        "What a program finds in its files or answer, against figures recomputed from the inputs.":
            any(kind == "findings" for _, kind in kinds),
        "What it looked up: the records that the services returned.":
            any(evidence == "retrieval" for evidence, _ in kinds),
        "What it changed in the services, and that nothing else was changed.":
            in_services and any(evidence == "action" for evidence, _ in kinds),
        "What it changed in the files: they are read or run, and the rest must stay unchanged.":
            not in_services and any(e == "action" and kind != "findings" for e, kind in kinds),
        "Its text and files, by a judge with a rubric of "
        f"{_criteria(len(rubric.get('criteria') or ()))}.": rubric,
    }  # fmt: skip
    files = [
        f"{amount(wanted.count, 'file')} of type {visible(wanted.file_type)}: present, readable "
        "and not empty."
        for wanted in task.deliverables
        if grading.get("rules")
    ]
    return [sentence for sentence, holds in words.items() if holds] + files


def _tools_line(names: Sequence[str]) -> str:
    """The tools by name; of very many how many each service has, which their names begin with."""
    if len(names) <= _MOST_TOOLS:
        return ", ".join(names) or "none"
    counts = Counter(name.partition("_")[0] for name in names)
    return ", ".join(f"{service} ({count})" for service, count in counts.items())


def _criteria(n: int) -> str:
    return "one criterion" if n == 1 else f"{number(n)} criteria"


def _shortened(value: Any, keys: tuple[str, ...], long: list[tuple[str, str, str]]) -> Any:
    """The value with long texts and files named; into `long` their keys, size and text."""
    if isinstance(value, Mapping):
        return {key: _shortened(one, (*keys, str(key)), long) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(one, (*keys, str(at)), long) for at, one in enumerate(value, start=1)]
    if not isinstance(value, str) or len(value) <= _LONG:
        return value
    content = _decoded(value)
    if content is not None:
        kind = "an Office document or archive" if content.startswith(_ZIP) else "a file"
        return f"({kind} of {amount(len(content), 'byte')})"
    what = amount(len(value), "character")
    long.append((visible(" / ".join(keys)), what, visible(value)))
    return f"({what}: see below)"


def _decoded(text: str) -> bytes | None:
    """The bytes of a file that is written as base64; None for any other text."""
    if _BASE64.fullmatch(text) is None:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


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
    return _preview_of(name, head, size, media_type)


def _preview_of(name: str, head: bytes, size: int, media_type: str = "") -> Preview:
    """As `preview`, for the first bytes of a file of some size."""
    text = _text(head, whole=len(head) == size)
    if text is None:
        return Preview(name, size, media_type, note="Not text; open the file itself.")
    cut = len(text) > _HEAD or size > len(head)
    text = visible(text[:_HEAD])
    separator = _TABLES.get(Path(name).suffix.lower())
    rows = _rows(text, separator, cut=cut) if separator else []
    is_small = not cut and size <= _HEAD  # it is shown whole
    note = "Beginning of the file only." if cut or (len(rows) > _ROWS and not is_small) else ""
    rows = rows if is_small else [[cell[:_CELL] for cell in row[:_COLUMNS]] for row in rows[:_ROWS]]
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
        return [row for row in csv.reader(StringIO("\n".join(kept)), delimiter=separator) if row]
    except csv.Error:
        return []


def services_of(world: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The services of a workflow task, each with how many records of which kind it starts with."""
    return [
        (
            visible(service),
            ", ".join(
                f"{number(len(records))} {visible(kind.replace('_', ' '))}"
                for kind, records in held.items()
            ),
        )
        for service, held in sorted(world["state"].items())
    ]


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
        _INDEX,
        page(
            "tasks.html.j2",
            asset("report.css") + asset("reading.css"),
            asset("tasks.js"),
            views=views,
            **common,
        ),
    )
