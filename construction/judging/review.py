"""Review: people decide what judges disagree on, and their decisions override the judges.

Items to decide are written by a build (`items.jsonl`), exported as a sheet, filled in by people
and imported again (`review_sheet`). Decisions are kept in an append-only, hash-chained log; the
last one for an item and topic applies from the next build on.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from construction.judging.contracts import (
    UNASSIGNED,
    ContainmentReason,
    CriterionVerdict,
    RoleClass,
    Screened,
)
from construction.judging.evidence.views import in_child
from data import hash_chain
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json
from data.child import ChildFailed, ChildLimits
from data.contracts import Candidate, Label, StageConfig
from data.errors import InputError
from data.figures import amount
from data.neutralise import storable, visible

_ITEMS, DECISIONS = "items.jsonl", "decisions.log"
ENCODINGS = ("utf-8", "utf-16", "gb18030", "cp1252")  # of a sheet that comes back as CSV
_SHOWN = 2_000  # characters of a task that a sheet shows
LONGEST_ITEM = 25_000  # characters of an item; a workbook's cell holds 32,767
_Text = Annotated[str, Field(max_length=4_000)]


class Topic(StrEnum):
    """What is to be decided about an item."""

    CONTAINMENT = "self_containment"
    ROLE = "role"
    ANSWER = "answer"  # consensus: any text; `rejected` rejects the item
    CRITERION = "criterion"  # of an attempt: how far it is met


OPTIONS: Mapping[Topic, tuple[str, ...]] = {
    Topic.CONTAINMENT: tuple(
        r for r in ContainmentReason if r is not ContainmentReason.NEEDS_MODEL
    ),
    Topic.ROLE: tuple(RoleClass),
    Topic.ANSWER: (),
    Topic.CRITERION: tuple(CriterionVerdict),
}
REJECTED = "rejected"


class _About(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    item_id: Annotated[str, Field(min_length=1, max_length=300)]
    topic: Topic

    @property
    def key(self) -> tuple[str, Topic]:
        return self.item_id, self.topic


class ReviewItem(_About):
    """An item and topic on which judges disagree; `text` is masked, `answers` are by judge."""

    text: Annotated[str, Field(max_length=LONGEST_ITEM)]
    answers: dict[str, _Text]


class Decision(_About):
    """What a person decided, and when."""

    decision: Annotated[str, Field(min_length=1, max_length=4_000)]
    reviewer: Annotated[str, Field(min_length=1, max_length=200)]
    note: _Text = ""
    date: date


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A decision and the hash of its entry in the log."""

    decision: Decision
    entry: str


Decisions = Mapping[tuple[str, Topic], _Recorded]


def disputes(
    topic: Topic, texts: Mapping[str, str], by_judge: Mapping[str, Mapping[str, str]]
) -> list[ReviewItem]:
    """The items of `texts` on which judges differ or a judge has no answer, sorted by id.

    `by_judge` holds answers by judge and item id; a judge that errored has none for the item.
    """
    items = []
    for item_id in sorted(texts):
        answers = {judge: told.get(item_id, "") for judge, told in sorted(by_judge.items())}
        if len(set(answers.values())) > 1 or not all(answers.values()):
            shown = str(storable(texts[item_id]))[:_SHOWN]
            items.append(ReviewItem(item_id=item_id, topic=topic, text=shown, answers=answers))
    return items


def write_items(folder: Path, items: Sequence[ReviewItem]) -> None:
    """Write the items of a build, sorted, readable by the owner only."""
    ordered = sorted(items, key=lambda item: item.key)
    lines = b"".join(canonical_json(item) + b"\n" for item in ordered)
    write_bytes(folder / _ITEMS, lines, mode=PRIVATE_FILE)


def queued(folder: Path) -> list[ReviewItem]:
    """The items that wait for people; none before a first build. Raises InputError."""
    return read_items(folder) if (folder / _ITEMS).is_file() else []


def read_items(folder: Path) -> list[ReviewItem]:
    """The items that the last build left for people to decide. Raises InputError without a file."""
    path = folder / _ITEMS
    if not path.is_file():
        expected, todo = "a build's items", "Build with judging first."
        raise InputError(str(path), "nothing", expected, todo)
    items = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            items.append(ReviewItem.model_validate_json(line))
        except ValidationError as error:
            problem, todo = amount(error.error_count(), "error"), "Build again."
            raise InputError(str(path), problem, "a review item", todo, number) from None
    return items


def items_to_decide(folder: Path, topic: Topic | None, *, decided: bool) -> list[ReviewItem]:
    """The items of a topic (None: any), those that are decided already only with `decided`."""
    known = recorded(folder)
    return [
        item
        for item in read_items(folder)
        if topic in (None, item.topic) and (decided or item.key not in known)
    ]


def record(folder: Path, decisions: Sequence[Decision]) -> int:
    """Append new or changed decisions; returns how many. Raises BrokenChain for an altered log."""
    path = folder / DECISIONS

    def changed(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        known = {key: own.decision for key, own in _decisions(entries, path).items()}
        new = []
        for decision in decisions:
            old = known.get(decision.key)
            # A sheet without dates may be imported twice: then only the date is new.
            if old is None or old.model_copy(update={"date": decision.date}) != decision:
                new.append(decision.model_dump(mode="json"))
                known[decision.key] = decision
        return new

    return len(hash_chain.extend(path, changed))


def recorded(folder: Path) -> Decisions:
    """The last decision for each item and topic, which is the valid one. Raises BrokenChain."""
    return _decisions(hash_chain.entries(folder / DECISIONS), folder / DECISIONS)


def _decisions(entries: Sequence[Mapping[str, Any]], path: Path) -> Decisions:
    known = {}
    for number, entry in enumerate(entries, start=1):
        fields = {name: value for name, value in entry.items() if name not in ("previous", "hash")}
        try:
            decision = Decision.model_validate(fields)
        except ValidationError:
            wrong = f"{path}:{number}: this entry is not a decision."
            raise hash_chain.BrokenChain(wrong) from None
        known[decision.key] = _Recorded(decision, entry["hash"])
    return known


def overridden(screened: Screened | None, recorded_decision: _Recorded | None) -> Screened | None:
    """The verdict that the review decided on; without a decision the given one."""
    if recorded_decision is None:
        return screened
    reason = ContainmentReason(recorded_decision.decision.decision)
    known = screened or Screened(reason_code=reason)
    is_whole = reason is ContainmentReason.SELF_CONTAINED
    return known.model_copy(
        update={
            "reason_code": reason,
            "brief_reason": "decided in review",
            "confidence": 1.0,
            "missing": () if is_whole else known.missing,
        }
    )


def with_decisions(candidate: Candidate, decisions: Decisions) -> Candidate:
    """The candidate with the review's decisions, which its private provenance records."""
    own = {topic: decisions.get((candidate.task_id, topic)) for topic in Topic}
    review = {
        str(topic): {
            "decision": one.decision.decision,
            "reviewer": one.decision.reviewer,
            "date": one.decision.date.isoformat(),
            "entry": one.entry,
        }
        for topic, one in own.items()
        if one is not None
    }
    if not review:
        return candidate
    source = candidate.provenance
    provenance = source.model_copy(update={"detail": {**source.detail, "review": review}})
    update: dict[str, Any] = {"provenance": provenance}
    role = own[Topic.ROLE]
    if role is not None:
        value = RoleClass(role.decision.decision).value
        update["role"] = Label(
            value=value, confidence=1.0, reason="decided in review", judge="person"
        )
        skill = candidate.skill_subclass
        if skill is not None and not skill.value.startswith(f"{value}."):
            changes = {"value": UNASSIGNED, "reason": f"{skill.value} is not a skill of this role"}
            update["skill_subclass"] = skill.model_copy(update=changes)
    return candidate.model_copy(update=update)


def answers_decided(decisions: Decisions, topic: Topic) -> dict[str, str | None]:
    """The review's answers for `consensus.route`, by item id; None where it rejected the item."""
    return {
        item_id: None if told.decision.decision == REJECTED else told.decision.decision
        for (item_id, about), told in decisions.items()
        if about is topic
    }


# Review items as a CSV or XLSX sheet, and the decisions that come back in one.
#
# Cells that a spreadsheet would take for a formula get a leading apostrophe, which is removed when
# the sheet is read. A sheet that comes back is hostile input: formulas are not decisions, and every
# row that cannot be used is reported with its reason. Undecided rows are counted and may be decided
# later. A workbook is opened in the confined child of `evidence.views`.

_NEEDED = ("item", "topic", "decision", "reviewer", "note", "date")
COLUMNS = (*_NEEDED[:2], "text", "answers", "options", *_NEEDED[2:])
_FORMULA = re.compile(r"[ ']*[=+\-@\t\r\n|%＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?%?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ]00:00:00)?")
_LETTERS = "ABCDEFGHI"
_DECISION = _LETTERS[COLUMNS.index("decision")]
_LONGEST = 30_000  # characters; a workbook's cell holds 32,767
_LISTED = 20  # bad rows that are listed one by one
_WIDTHS = {"text": 60, "answers": 40, "options": 40, "decision": 24, "note": 40, "item": 24}


class RowReason(StrEnum):
    """Why a row of a sheet is not a decision."""

    UNKNOWN_ITEM = "review.unknown_item"
    REPEATED = "review.repeated"  # rows of one item that differ: none counts
    FORMULA = "review.formula"
    UNKNOWN_DECISION = "review.unknown_decision"
    NO_REVIEWER = "review.no_reviewer"
    BAD_DATE = "review.bad_date"
    TOO_LONG = "review.too_long"


@dataclass(frozen=True, slots=True)
class _BadRow:
    """A row that cannot be used: its number in the sheet, from 1, and the reason."""

    line: int
    reason: RowReason


@dataclass(frozen=True, slots=True)
class _Imported:
    """Decisions by item and topic; rows not used; how many rows are undecided."""

    decisions: tuple[Decision, ...]
    bad_rows: tuple[_BadRow, ...]
    undecided: int


def _protected(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula; `_bared` restores it."""
    return f"'{text}" if _FORMULA.match(text) else text


def _bared(cell: str) -> str:
    """The text of a cell that `_protected` wrote."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def _sheet_rows(items: Sequence[ReviewItem]) -> list[tuple[str, ...]]:
    """The rows of a sheet without its header, by topic and item, protected."""
    rows = []
    for item in sorted(items, key=lambda item: (item.topic, item.item_id)):
        # Who judges a criterion after a judge must not see what it said: agreement is measured.
        known = {} if item.topic is Topic.CRITERION else item.answers
        answers = (f"{judge}: {answer or '-'}" for judge, answer in known.items())
        cells_shown = (item.item_id, item.topic, item.text, "; ".join(answers))
        cells = (*cells_shown, ", ".join(OPTIONS[item.topic]), "", "", "", "")
        rows.append(tuple(_protected(visible(cell)[:_LONGEST]) for cell in cells))
    return rows


def _csv_sheet(items: Sequence[ReviewItem]) -> bytes:
    """The items as CSV, with the byte order mark by which spreadsheets recognise UTF-8."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(_sheet_rows(items))
    return b"\xef\xbb\xbf" + out.getvalue().encode()


def _xlsx_sheet(items: Sequence[ReviewItem]) -> bytes:
    """The items as a workbook, with a drop-down list where the options are fixed."""
    from openpyxl import Workbook  # comes with an extra
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title, sheet.freeze_panes = "review", "A2"
    rows = _sheet_rows(items)
    for number, cells in enumerate((COLUMNS, *rows), start=1):
        for column, cell in enumerate(cells, start=1):
            if cell:
                sheet.cell(number, column, cell).data_type = "s"
    for column, name in enumerate(COLUMNS):
        sheet.column_dimensions[_LETTERS[column]].width = _WIDTHS.get(name, 16)
    for topic in Topic:
        lines = [line for line, row in enumerate(rows, start=2) if row[1] == topic]
        if lines and OPTIONS[topic]:
            choices = DataValidation("list", formula1=f'"{",".join(OPTIONS[topic])}"')
            choices.add(f"{_DECISION}{lines[0]}:{_DECISION}{lines[-1]}")
            sheet.add_data_validation(choices)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def sheet_writer(path: Path) -> Callable[[Sequence[ReviewItem]], bytes]:
    """What makes a sheet of the kind that the path's extension names. Raises InputError."""
    writer = {".csv": _csv_sheet, ".xlsx": _xlsx_sheet}.get(path.suffix.lower())
    if writer is None:
        actual = f"the extension {path.suffix or '(none)'}"
        raise InputError(str(path), actual, ".csv or .xlsx", "Use one of these extensions.")
    return writer


def read_decisions(
    path: Path,
    items: Sequence[ReviewItem],
    limits: SheetLimits,
    *,
    encoding: str = "utf-8",
    reviewer: str = "",
    today: date | None = None,
) -> _Imported:
    """The decisions of a filled sheet (.csv or .xlsx).

    `reviewer` and `today` are used where a row names none. Raises InputError for a file that is
    not such a sheet or exceeds the limits.
    """
    table = read_table(path, limits, encoding)
    header = [_bared(cell.text).strip().casefold() for cell in table[0][1]] if table else []
    wrong = [name for name in _NEEDED if header.count(name) != 1]
    if wrong:
        problem = f"no column, or several, named {', '.join(wrong)}"
        todo = "Fill in an exported sheet and keep its header."
        raise InputError(str(path), problem, f"exactly one each of {', '.join(_NEEDED)}", todo)
    columns = {name: header.index(name) for name in _NEEDED}
    known = {(visible(item.item_id)[:_LONGEST], str(item.topic)): item for item in items}
    rows: dict[int, Decision | RowReason] = {}
    undecided = 0
    for line, cells in table[1:]:
        own = {
            name: cells[at] if at < len(cells) else _SheetCell("") for name, at in columns.items()
        }
        if not own["decision"].text.strip():
            undecided += any(cell.text.strip() for cell in cells)
            continue
        rows[line] = _decision(own, known, reviewer, today)
    return _settled(rows, undecided)


def _settled(rows: Mapping[int, Decision | RowReason], undecided: int) -> _Imported:
    """One decision per item and topic; where rows of one item differ, none of them counts."""
    by_key: dict[tuple[str, Topic], set[Decision]] = {}
    for row in rows.values():
        if isinstance(row, Decision):
            by_key.setdefault(row.key, set()).add(row)
    bad = []
    for line, row in rows.items():
        if isinstance(row, RowReason):
            bad.append(_BadRow(line, row))
        elif len(by_key[row.key]) > 1:
            bad.append(_BadRow(line, RowReason.REPEATED))
    good = (next(iter(by_key[key])) for key in sorted(by_key) if len(by_key[key]) == 1)
    return _Imported(tuple(good), tuple(bad), undecided)


def _decision(
    row: Mapping[str, _SheetCell],
    known: Mapping[tuple[str, str], ReviewItem],
    reviewer: str,
    today: date | None,
) -> Decision | RowReason:
    if any(cell.formula for cell in row.values()) or _is_formula(row["decision"].text):
        return RowReason.FORMULA
    texts = {name: visible(_bared(cell.text)).strip() for name, cell in row.items()}
    item = known.get((texts["item"], texts["topic"]))
    if item is None:
        return RowReason.UNKNOWN_ITEM
    options, decision = OPTIONS[item.topic], texts["decision"]
    if options:  # spreadsheets write a capital letter where a cell begins
        decision = decision.casefold().replace(" ", "_")
    if options and decision not in options:
        return RowReason.UNKNOWN_DECISION
    who, day = texts["reviewer"] or reviewer.strip(), _day(texts["date"], today)
    if not who or _is_formula(row["reviewer"].text):
        return RowReason.NO_REVIEWER if not who else RowReason.FORMULA
    if day is None:
        return RowReason.BAD_DATE
    try:
        return Decision(
            item_id=item.item_id,
            topic=item.topic,
            decision=decision,
            reviewer=who,
            note=texts["note"],
            date=day,
        )
    except ValidationError:
        return RowReason.TOO_LONG


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet would take the cell for a formula, which a number is not."""
    is_number = _NUMBER.fullmatch(cell.strip()) is not None
    return _FORMULA.match(cell) is not None and not cell.startswith("'") and not is_number


def _day(text: str, today: date | None) -> date | None:
    match = _DATE.fullmatch(text)
    if match is None:
        return None if text else today
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        return None


def import_lines(imported: _Imported, new: int) -> Iterator[str]:
    """What was recorded (`new` decisions) and what was not used, in lines for a person."""
    known = len(imported.decisions) - new
    yield f"{amount(new, 'decision')} recorded, {known} known, {imported.undecided} undecided"
    for row in imported.bad_rows[:_LISTED]:
        yield f"row {row.line} not used: {row.reason}"
    for reason, count in sorted(Counter(row.reason for row in imported.bad_rows).items()):
        yield f"{reason}: {amount(count, 'row')}"


_SEPARATORS = ",;\t"
_SEPARATOR_LINE = re.compile(rf'"?sep=([{_SEPARATORS}|])"?\s*?(?:\r|\n|\Z)', re.IGNORECASE)
_EXPECTED = "a review sheet (.csv or .xlsx)"


class SheetLimits(StageConfig):
    """Limits of an imported sheet; `rows` and `columns` count those with content."""

    bytes: int = 20_000_000
    inflated_bytes: int = 200_000_000
    rows: int = 100_000
    columns: int = 100
    cell_chars: int = 40_000
    seconds: int = 60
    memory_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class _SheetCell:
    """A cell as text; `formula`: the text is a formula."""

    text: str
    formula: bool = False


_Table = list[tuple[int, list[_SheetCell]]]


def read_table(path: Path, limits: SheetLimits, encoding: str) -> _Table:
    """The rows with content of a sheet, with their numbers from 1. Raises InputError."""
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".xlsx"} or not path.is_file():
        problem = f"a {suffix or 'nameless'} file" if path.is_file() else "no file"
        raise InputError(str(path), problem, _EXPECTED, "Pass the filled-in sheet.")
    with path.open("rb") as handle:
        content = handle.read(limits.bytes + 1)
    if len(content) > limits.bytes:
        raise _too_much(path, f"more than {limits.bytes} bytes")
    if suffix == ".xlsx":
        return _from_workbook(path, content, limits)
    return _from_csv(path, _decoded(path, content, encoding), limits)


def _decoded(path: Path, content: bytes, encoding: str) -> str:
    """The text of a CSV file; its byte order mark takes precedence over the named encoding."""
    if encoding not in ENCODINGS:
        expected = ", ".join(ENCODINGS)
        raise InputError(str(path), "an unknown encoding", expected, "Choose one.")
    marked = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    codec = next((name for mark, name in marked.items() if content.startswith(mark)), encoding)
    try:
        return content.decode(codec)
    except UnicodeError:
        todo = f"Save as UTF-8 or XLSX, or pass its encoding: {', '.join(ENCODINGS)}."
        raise InputError(str(path), f"bytes that are not {codec}", "text", todo) from None


def _from_csv(path: Path, text: str, limits: SheetLimits) -> _Table:
    """The rows of a CSV text; some locales separate cells by semicolons or tabs.

    A first line may say by what: `sep=;`.
    """
    said = _SEPARATOR_LINE.match(text)
    head = text[: text.find("\n")]
    separator = said[1] if said else max(_SEPARATORS, key=head.count)
    csv.field_size_limit(limits.cell_chars)
    table: _Table = []
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        for line, cells in enumerate(reader, start=1):
            if not any(cells) or (said and line == 1):
                continue
            if len(table) > limits.rows or len(cells) > limits.columns:
                raise _too_much(path, f"more than {limits.rows} rows or {limits.columns} columns")
            table.append((line, [_SheetCell(cell) for cell in cells]))
    except csv.Error as error:
        problem = f"a row that is not CSV ({str(error)[:60]})"
        raise InputError(str(path), problem, _EXPECTED, "Save the sheet again.") from None
    return table


def _from_workbook(path: Path, content: bytes, limits: SheetLimits) -> _Table:
    """The rows of a workbook's first sheet, read by a child process with limits."""
    try:
        task, own = {"sheet": limits.model_dump()}, ChildLimits(limits.seconds, limits.memory_bytes)
        report = json.loads(in_child(task, content, own))
    except (ChildFailed, ValueError):
        report = {"trouble": "a workbook that cannot be read within its limits"}
    if report.get("trouble"):
        todo = "Save the sheet again as XLSX, or as CSV."
        raise InputError(str(path), report["trouble"], _EXPECTED, todo)
    return [(line, [_SheetCell(*cell) for cell in cells]) for line, cells in report["rows"]]


def _too_much(path: Path, excess: str) -> InputError:
    return InputError(str(path), excess, "a sheet within the limits", "Import it in batches.")
