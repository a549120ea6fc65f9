"""Review: sheets out and back in, hostile ones too; a log that cannot be altered; overrides."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from construction.judging.contracts import ContainmentReason, Screened
from construction.judging.review import (
    COLUMNS,
    DECISIONS,
    OPTIONS,
    Decision,
    ReviewItem,
    RowReason,
    SheetLimits,
    Topic,
    _BadRow,
    _bared,
    _csv_sheet,
    _Imported,
    _protected,
    _xlsx_sheet,
    answers_decided,
    disputes,
    overridden,
    read_decisions,
    read_items,
    record,
    recorded,
    with_decisions,
    write_items,
)
from data.contracts import Label
from data.errors import InputError
from data.hash_chain import BrokenChain, entries
from data.neutralise import visible
from flows.commands import agents as command
from tests.construction.judging.model.fakes import case

DAY = date(2025, 11, 22)
LIMITS = SheetLimits(seconds=20)


def item(item_id: str, topic: Topic = Topic.CONTAINMENT, text: str = "Do it") -> ReviewItem:
    answers = {"rules": "missing_input", "model:m": "self_contained"}
    return ReviewItem(item_id=item_id, topic=topic, text=text, answers=answers)


ITEMS = [item("a", text='=HYPERLINK("http://x")'), item("b"), item("a", Topic.ROLE)]
FILLED = {
    ("a", "self_containment"): "missing_input",
    ("a", "role"): "hr_admin",
}


def filled(sheet: bytes, suffix: str, path: Path, decisions: dict[tuple[str, str], str]) -> Path:
    """The sheet as a person returns it: decisions typed in by item and topic."""
    target = path / f"sheet{suffix}"
    if suffix == ".xlsx":
        book = load_workbook(io.BytesIO(sheet))
        own = book.worksheets[0]
        for at, row in enumerate(own.iter_rows(min_row=2, values_only=True), 2):
            result = decisions.get((str(row[0]), str(row[1])))
            if result:
                own.cell(at, 6, result)
                own.cell(at, 7, "Kim")
        book.save(target)
        return target
    rows = list(csv.reader(io.StringIO(sheet.decode("utf-8-sig"))))
    for cells in rows[1:]:
        result = decisions.get((cells[0], cells[1]))
        if result:
            cells[5], cells[6] = result, "Kim"
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    target.write_text(out.getvalue(), "utf-8")
    return target


def decision(item_id: str, result: str, topic: Topic = Topic.CONTAINMENT, **more: Any) -> Decision:
    return Decision(item_id=item_id, topic=topic, decision=result, reviewer="Kim", date=DAY, **more)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_there_and_back(tmp_path: Path, suffix: str) -> None:
    sheet = _csv_sheet(ITEMS) if suffix == ".csv" else _xlsx_sheet(ITEMS)
    done = read_decisions(filled(sheet, suffix, tmp_path, FILLED), ITEMS, LIMITS, today=DAY)
    assert done == _Imported(
        (
            decision("a", "hr_admin", Topic.ROLE),
            decision("a", "missing_input"),
        ),
        (),
        1,
    )


def test_the_workbook_holds_no_formula_and_offers_the_choices() -> None:
    sheet = load_workbook(io.BytesIO(_xlsx_sheet(ITEMS))).worksheets[0]
    assert [cell.value for cell in sheet[1]] == list(COLUMNS)
    cells = [cell for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} == {"s"}
    assert [str(cell.value) for cell in sheet["C"]][1:] == [
        "Do it",
        '\'=HYPERLINK("http://x")',
        "Do it",
    ]
    result = {str(v.sqref): v.formula1 for v in sheet.data_validations.dataValidation}
    assert result == {
        "F2": f'"{",".join(OPTIONS[Topic.ROLE])}"',
        "F3:F4": f'"{",".join(OPTIONS[Topic.CONTAINMENT])}"',
    }
    assert _xlsx_sheet([])[:2] == b"PK" and _csv_sheet([]).endswith(b"date\r\n")


@given(st.text(max_size=30))
def test_protection_can_be_undone(text: str) -> None:
    cell = _protected(text)
    assert _bared(cell) == text
    assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "|", "%", "＝"))


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", " =1", "\t=1", "'=1", "''-x", "＝1"])
def test_what_is_protected(text: str) -> None:
    assert _protected(text) == f"'{text}"


Row = dict[str, str]


def rows_sheet(
    path: Path, rows: Sequence[Row], header: Sequence[str] = COLUMNS, **how: str
) -> Path:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=how.get("delimiter", ","))
    writer.writerow(header)
    writer.writerows([row.get(name, "") for name in header] for row in rows)
    target = path / "rows.csv"
    target.write_bytes(out.getvalue().encode(how.get("encoding", "utf-8")))
    return target


def row(item_id: str = "a", result: str = "missing_input", **more: str) -> Row:
    told_row = {"item": item_id, "topic": "self_containment", "decision": result, "reviewer": "Kim"}
    return told_row | {"date": "2025-11-22"} | more


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([row("zz")], RowReason.UNKNOWN_ITEM),
        ([row(topic="answer")], RowReason.UNKNOWN_ITEM),
        ([row(result="perhaps")], RowReason.UNKNOWN_DECISION),
        ([row(result="=1+1")], RowReason.FORMULA),
        ([row(result="@SUM(A1)")], RowReason.FORMULA),
        ([row(reviewer="=cmd|x")], RowReason.FORMULA),
        ([row(reviewer=" ")], RowReason.NO_REVIEWER),
        ([row(date="yesterday")], RowReason.BAD_DATE),
        ([row(date="2025-13-01")], RowReason.BAD_DATE),
        ([row(note="x" * 5_000)], RowReason.TOO_LONG),
    ],
)
def test_rows_that_cannot_be_used(tmp_path: Path, rows: list[Row], reason: RowReason) -> None:
    done = read_decisions(rows_sheet(tmp_path, rows), ITEMS, LIMITS)
    assert done == _Imported((), (_BadRow(2, reason),), 0)


def test_repeated_rows_count_once_or_not_at_all(tmp_path: Path) -> None:
    rows = [row(), row(), row("b"), row("b", "multi_task"), row("b", "")]
    done = read_decisions(rows_sheet(tmp_path, rows), ITEMS, LIMITS)
    assert done.decisions == (decision("a", "missing_input"),)
    assert done.bad_rows == (_BadRow(4, RowReason.REPEATED), _BadRow(5, RowReason.REPEATED))
    assert done.undecided == 1


@pytest.mark.parametrize(
    ("how", "named"),
    [
        ({"delimiter": ";"}, "utf-8"),
        ({"delimiter": "\t"}, "utf-8"),
        ({"encoding": "utf-8-sig"}, "gb18030"),
        ({"encoding": "utf-16"}, "utf-8"),
        ({"encoding": "gb18030"}, "gb18030"),
    ],
)
def test_sheets_as_spreadsheets_save_them(tmp_path: Path, how: dict[str, str], named: str) -> None:
    path = rows_sheet(tmp_path, [row(note="同意", reviewer="'-Kim")], **how)
    done = read_decisions(path, ITEMS, LIMITS, encoding=named)
    assert [(one.note, one.reviewer) for one in done.decisions] == [("同意", "-Kim")]


@pytest.mark.parametrize("said", ["sep={}\r\n", '"sep={}"\r\n', "SEP={}\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_first_line_may_say_what_separates_cells(
    tmp_path: Path, said: str, delimiter: str
) -> None:
    header = [name.upper() for name in COLUMNS]
    filled_row = {name.upper(): text for name, text in row(note="a; b, c").items()}
    path = rows_sheet(tmp_path, [filled_row], header, delimiter=delimiter)
    path.write_text(said.format(delimiter) + path.read_text("utf-8"), "utf-8")
    done = read_decisions(path, ITEMS, LIMITS)
    assert done.decisions == (decision("a", "missing_input", note="a; b, c"),)


def test_decisions_may_be_written_as_spreadsheets_correct_them(tmp_path: Path) -> None:
    for written in ("Missing_input", "MISSING INPUT", "missing input"):
        done = read_decisions(rows_sheet(tmp_path, [row(result=written)]), ITEMS, LIMITS)
        assert done.decisions == (decision("a", "missing_input"),)


def test_a_workbook_takes_every_character_of_a_text(tmp_path: Path) -> None:
    every = "".join(map(chr, [*range(0x3000), *range(0xD7F0, 0x10100), 0x1FFFE, 0x10FFFF]))
    items = [item("a", text=visible(every)[:25_000]), item("b", text="\ufffe \uffff")]
    shown = [row[2] for row in load_workbook(io.BytesIO(_xlsx_sheet(items))).worksheets[0].values]
    assert shown[2] == "⟨U+FFFE⟩ ⟨U+FFFF⟩"


def test_columns_may_move_but_not_go(tmp_path: Path) -> None:
    moved = ["note", "Decision ", "extra", "date", "topic", "reviewer", "item"]
    result = row() | {"Decision ": "missing_input"}
    done = read_decisions(rows_sheet(tmp_path, [result], moved), ITEMS, LIMITS)
    assert done.decisions == (decision("a", "missing_input"),)
    for header, actual in (
        (COLUMNS[:-1], "named date"),
        ((*COLUMNS, "Decision"), "named decision"),
        ((), "named item"),
    ):
        with pytest.raises(InputError, match=actual):
            read_decisions(rows_sheet(tmp_path, [row()], header), ITEMS, LIMITS)


@pytest.mark.parametrize(
    ("name", "content", "actual"),
    [
        ("a.csv", b"item,\xff\xff\n", "bytes that are not utf-8"),
        ("a.csv", b'item,"a\nb', "a row that is not CSV"),
        ("a.csv", b"item," + b"x" * 50_000, "a row that is not CSV"),
        ("a.csv", b"x" * 2_000_000, "more than 1000000 bytes"),
        ("a.csv", b"a,b\n" * 300, "more than 200 rows"),
        ("a.csv", b"a," * 300, "more than 200 rows or 100 columns"),
        ("a.csv", b"", "no column"),
        ("a.xlsx", b"PK\x03\x04nonsense", "not a workbook"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0encrypted", "not a workbook"),
        ("a.ods", b"PK", "a .ods file"),
    ],
)
def test_files_that_are_no_sheet(tmp_path: Path, name: str, content: bytes, actual: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    limits = SheetLimits(bytes=1_000_000, rows=200, seconds=20)
    with pytest.raises(InputError, match=actual):
        read_decisions(path, ITEMS, limits)
    with pytest.raises(InputError, match="no file"):
        read_decisions(tmp_path, ITEMS, limits)


def workbook(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    book = Workbook()
    sheet = book.worksheets[0]
    for cells in (COLUMNS, *rows):
        sheet.append(list(cells))
    target = path / "w.xlsx"
    book.save(target)
    return target


def test_formulas_and_dates_of_a_workbook(tmp_path: Path) -> None:
    head = ("a", "self_containment", "", "", "")
    rows = [
        (*head, "missing_input", "Kim", "", DAY),
        ("b", *head[1:], "=CONCAT(A1)", "Kim", "", DAY),
        ("b", *head[1:], "multi_task", "Kim", "=1+1", DAY),
    ]
    done = read_decisions(workbook(tmp_path, rows), ITEMS, LIMITS)
    assert done.decisions == (decision("a", "missing_input"),)
    assert done.bad_rows == (_BadRow(3, RowReason.FORMULA), _BadRow(4, RowReason.FORMULA))


def test_a_workbook_that_inflates_is_refused(tmp_path: Path) -> None:
    target = workbook(tmp_path, [])
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros.bin", b"\0" * 30_000_000)
    limits = SheetLimits(inflated_bytes=10_000_000, seconds=20)
    with pytest.raises(InputError, match="inflates beyond the limit"):
        read_decisions(target, ITEMS, limits)
    many = workbook(tmp_path, [("a", "b")] * 60)
    with pytest.raises(InputError, match="more rows than the limit"):
        read_decisions(many, ITEMS, SheetLimits(rows=50, seconds=20))


def test_decisions_are_chained_and_the_last_counts(tmp_path: Path) -> None:
    first, second = decision("a", "missing_input"), decision("a", "multi_task", note="anew")
    assert record(tmp_path, [first, decision("b", "self_contained")]) == 2
    assert record(tmp_path, [first.model_copy(update={"date": date(2026, 1, 1)})]) == 0
    assert record(tmp_path, [second]) == 1
    result = recorded(tmp_path)
    assert {key: one.decision.decision for key, one in result.items()} == {
        ("a", Topic.CONTAINMENT): "multi_task",
        ("b", Topic.CONTAINMENT): "self_contained",
    }
    assert (tmp_path / DECISIONS).stat().st_mode & 0o077 == 0
    assert recorded(tmp_path / "none") == {}


def test_a_last_entry_that_was_not_written_to_its_end_is_recorded_again(tmp_path: Path) -> None:
    decided = [decision(name, "missing_input") for name in "abc"]
    record(tmp_path, decided)
    log = tmp_path / DECISIONS
    whole = log.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    for cut in (1, 2, len(last) // 2, len(last) - 1):
        log.write_bytes(whole[:-cut])
        assert {item for item, _ in recorded(tmp_path)} == {"a", "b"}
        assert record(tmp_path, decided) == 1
        assert log.read_bytes() == whole


@pytest.mark.parametrize("tamper", ["drop", "alter", "garble"])
def test_an_altered_log_stops_everything(tmp_path: Path, tamper: str) -> None:
    record(tmp_path, [decision(name, "missing_input") for name in "abc"])
    lines = (tmp_path / DECISIONS).read_bytes().splitlines(keepends=True)
    changed = {
        "drop": [lines[0], lines[2]],
        "alter": [lines[0], lines[1].replace(b"Kim", b"Tim"), lines[2]],
        "garble": [lines[0], b"[]\n", lines[2]],
    }[tamper]
    (tmp_path / DECISIONS).write_bytes(b"".join(changed))
    with pytest.raises(BrokenChain, match=r"decisions\.log:2"):
        recorded(tmp_path)
    with pytest.raises(BrokenChain):
        record(tmp_path, [decision("d", "missing_input")])


def test_decisions_override_and_are_told_in_the_provenance(tmp_path: Path) -> None:
    record(tmp_path, [decision("t1", "self_contained"), decision("t1", "hr_admin", Topic.ROLE)])
    result = recorded(tmp_path)
    before = Screened(reason_code=ContainmentReason.MISSING_INPUT, brief_reason="x")
    after = overridden(before, result[("t1", Topic.CONTAINMENT)])
    assert after is not None and after.self_contained and after.confidence == 1.0
    assert overridden(None, result[("t1", Topic.CONTAINMENT)]) == after
    assert overridden(before, None) is before
    skill = Label(value="marketing.presentation", confidence=0.8, reason="slides")
    labelled = case("x").candidate.model_copy(update={"skill_subclass": skill})
    candidate = with_decisions(labelled, result)
    assert candidate.role is not None and candidate.skill_subclass is not None
    assert candidate.skill_subclass.value == "unassigned"
    assert (candidate.role.value, candidate.role.judge) == ("hr_admin", "person")
    review = candidate.provenance.detail["review"]
    assert review["self_containment"]["decision"] == "self_contained"
    assert review["role"]["entry"] == result[("t1", Topic.ROLE)].entry
    other = case("x", item_id="t2").candidate
    assert with_decisions(other, result) is other


def test_disputes_and_answers(tmp_path: Path) -> None:
    texts = {"c": "C", "b": "B", "a": "A\ud800"}
    judges = {"model": {"a": "x", "b": "y"}, "rules": {"a": "x", "b": "z", "c": "x"}}
    items = disputes(Topic.ANSWER, texts, judges)
    assert [(one.item_id, one.answers) for one in items] == [
        ("b", {"model": "y", "rules": "z"}),
        ("c", {"model": "", "rules": "x"}),
    ]
    record(tmp_path, [
        decision("b", "y", Topic.ANSWER), decision("c", "rejected", Topic.ANSWER),
    ])  # fmt: skip
    assert answers_decided(recorded(tmp_path), Topic.ANSWER) == {"b": "y", "c": None}
    write_items(tmp_path, items)
    assert read_items(tmp_path) == items


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "private" / command.FOLDER
    write_items(folder, ITEMS)
    sheet = tmp_path / "sheet.csv"
    command.review_export_command(sheet, out=tmp_path)
    assert "3 items to decide" in capsys.readouterr().out
    assert len(entries(tmp_path / "private" / "access.log")) == 1
    path = filled(sheet.read_bytes(), ".csv", tmp_path, FILLED | {("b", "self_containment"): "x"})
    with pytest.raises(typer.Exit) as stopped:
        command.review_import_command(path, out=tmp_path)
    assert stopped.value.exit_code == 1
    result = capsys.readouterr().out
    assert "2 decisions recorded, 0 known, 0 undecided" in result
    assert "row 4 not used: review.unknown_decision" in result
    command.review_export_command(tmp_path / "rest.xlsx", out=tmp_path)
    assert "1 item to decide" in capsys.readouterr().out
    before = sheet.read_bytes()
    with pytest.raises(
        InputError, match=r"sheet\.csv: found an existing file; expected a new file"
    ):
        command.review_export_command(sheet, out=tmp_path)
    assert sheet.read_bytes() == before
    assert len(entries(tmp_path / "private" / "access.log")) == 2  # a refusal is no look
    command.review_export_command(sheet, out=tmp_path, force=True)
    assert "1 item to decide" in capsys.readouterr().out
    assert sheet.read_bytes() != before
    with pytest.raises(InputError, match=r"the extension \.txt"):
        command.review_export_command(tmp_path / "x.txt", out=tmp_path)
    with pytest.raises(InputError, match="a build's items"):
        command.review_export_command(sheet, out=tmp_path / "elsewhere")
