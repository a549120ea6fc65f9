"""Hard rules: what they say of good output, of bad output, and of output that attacks."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
import zlib
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from construction.grading.attacks import look_here
from construction.grading.file_child import look_in_children
from construction.grading.file_look import RuleLimits, Seen
from construction.grading.hard_rules import (
    Look,
    RuleReason,
    RuleResult,
    _judge_rule,
    _look_at_outputs,
    _OutputFile,
    _printable,
    check,
)
from construction.judging.baseline.grade import _hard_rules
from data.contracts import Deliverable, Rule


def xlsx(cells: int = 4) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for start in range(0, cells, 100):
        sheet.append(list(range(start, min(start + 100, cells))))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def word(*paragraphs: str) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def deck(title: str) -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[0])
    slide.shapes.title.text = title
    out = io.BytesIO()
    presentation.save(out)
    return out.getvalue()


def picture(kind: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(out, kind)
    return out.getvalue()


def png_of(width: int, height: int) -> bytes:
    """A PNG whose header declares a size that its few bytes of data do not hold."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + header + data


def zip_of(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def repacked(office: bytes, member: str, content: bytes) -> bytes:
    """An office file with one member replaced."""
    with zipfile.ZipFile(io.BytesIO(office)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return zip_of({**entries, member: content})


GOOD = {
    "xlsx": xlsx(),
    "docx": word("Quarterly review"),
    "pptx": deck("Quarterly review"),
    "pdf": picture("PDF"),
    "png": picture("PNG"),
    "jpg": picture("JPEG"),
    "csv": b"region,revenue\nnorth,12\n",
    "json": b'{"revenue": 12}',
    "jsonl": b'{"a": 1}\n{"a": 2}\n',
    "yaml": b"revenue: 12\n",
    "toml": b"revenue = 12\n",
    "html": b"<h1>Review</h1>",
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>',
    "py": b"print('revenue')\n",
    "md": "# 复盘\n\n收入增长。\n".encode(),
    "txt": "收入增长。".encode("gb18030"),
    "zip": zip_of({"a.txt": b"a"}),
}


def run(
    tmp_path: Path, written: dict[str, bytes], kind: str, **limits: int
) -> dict[str, RuleResult]:
    return results_of(tmp_path, written, kind, look_in_children, limits)


def run_here(tmp_path: Path, written: dict[str, bytes], kind: str) -> dict[str, RuleResult]:
    """The same without a process of their own for files that attack nothing: it takes longest."""
    return results_of(tmp_path, written, kind, look_here, {})


def results_of(
    folder: Path, written: dict[str, bytes], kind: str, look: Look, limits: dict[str, int]
) -> dict[str, RuleResult]:
    for name, content in written.items():
        (folder / name).write_bytes(content)
    rules = _hard_rules([Deliverable(file_type=kind)], "")
    outputs = _look_at_outputs(rules, folder, RuleLimits(**limits), look=look)
    results = (_judge_rule(rule, outputs.files, outputs.overflow) for rule in rules)
    return {result.kind: result for result in results}


def reasons(results: dict[str, RuleResult]) -> dict[str, str | None]:
    return {kind: result.reason for kind, result in results.items() if not result.passed}


@pytest.mark.parametrize("kind", sorted(GOOD))
def test_a_good_file_of_every_type_passes_every_rule(kind: str, tmp_path: Path) -> None:
    results = run_here(tmp_path, {f"result.{kind}": GOOD[kind]}, kind)
    assert reasons(results) == {}
    assert {"file_type", "count", "non_empty"} <= set(results)


def test_tags_and_values_that_some_program_knows_are_no_fault_of_a_file(tmp_path: Path) -> None:
    content = b"role: !Ref Admin\npassword: !secret db\nday: 2026-02-31\n"
    assert reasons(run_here(tmp_path, {"stack.yaml": content}, "yaml")) == {}
    assert "opens" in reasons(run_here(tmp_path, {"stack.yaml": b"a: [1\n"}, "yaml"))


def test_an_empty_folder_fails_every_rule(tmp_path: Path) -> None:
    results = run(tmp_path, {}, "xlsx")
    assert set(reasons(results).values()) == {RuleReason.MISSING_FILE}
    assert set(reasons(results)) == set(results)


def test_a_missing_folder_fails_every_rule_and_raises_nothing(tmp_path: Path) -> None:
    rules = _hard_rules([Deliverable(file_type="md")], "")
    results = check(rules, tmp_path / "absent")
    assert {result.reason for result in results} == {RuleReason.MISSING_FILE}


@pytest.mark.parametrize(
    ("name", "content", "failed"),
    [
        ("a.xlsx", b"", {"file_type", "opens", "non_empty", "no_traceback"}),
        ("a.xlsx", GOOD["xlsx"][:-200], {"opens", "no_traceback"}),
        ("a.xlsx", GOOD["docx"], {"opens", "no_traceback"}),
        ("a.pdf", b"%PDF-1.7 and nothing", {"opens", "no_traceback"}),
        ("a.json", b'{"a": ', {"opens", "no_traceback"}),
        ("a.json", b"{}", {"non_empty"}),
        ("a.md", b" \n", {"non_empty"}),
        ("a.xlsx", xlsx(0), {"non_empty"}),
        ("a.docx", word(), {"non_empty"}),
        ("a.py", b"def f(:\n", {"opens", "no_traceback"}),
        ("a.html", b"no element at all", {"opens", "no_traceback"}),
        ("a.md", b"\x00\x01\x02", {"file_type", "opens", "no_traceback"}),
    ],
)
def test_what_a_bad_file_fails(name: str, content: bytes, failed: set[str], tmp_path: Path) -> None:
    assert set(reasons(run_here(tmp_path, {name: content}, name[2:]))) == failed


@pytest.mark.parametrize(
    "text",
    [
        "Dear {{ customer.name }},\n\nyour parcel {{ number }} is on its way.",
        "Owner: TBD (nobody is named in the minutes)",
        "负责人：待补充（纪要里没有写）",
        "Dear [Your Name],",
        "# TODO\n- [ ] call the plumber",
        "Card XXXX XXXX XXXX 1188",
    ],
)
def test_an_honest_gap_and_a_template_are_content(text: str, tmp_path: Path) -> None:
    assert reasons(run_here(tmp_path, {"a.md": text.encode()}, "md")) == {}
    assert reasons(run_here(tmp_path, {"a.docx": word(text)}, "docx")) == {}


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "x.py", line 1',
        'Exception in thread "main" java.lang.NullPointerException',
        "panic: runtime error\n\ngoroutine 1 [running]:",
        "    at main (/srv/app/index.js:10:5)",
    ],
)
def test_error_output_in_place_of_content(text: str, tmp_path: Path) -> None:
    actual = reasons(run_here(tmp_path, {"a.txt": text.encode()}, "txt"))
    assert actual == {"no_traceback": RuleReason.TRACEBACK}


def test_hidden_text_of_a_page_is_not_judged(tmp_path: Path) -> None:
    page = b"<p>Hello</p><script>const t = '{{name}}'; // TODO: x</script><pre>TODO: y</pre>"
    assert reasons(run_here(tmp_path, {"a.html": page}, "html")) == {}


def test_count_name_and_extension_families(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Summary.MD").write_text("one")
    (tmp_path / "b.markdown").write_text("two")
    requests = Deliverable(file_type="md", count=3, name_hints=("out/summary.md", "plan.md"))
    results = {r.rule_id: r for r in check(_hard_rules([requests], ""), tmp_path)}
    assert (results["count.md"].reason, results["count.md"].observed) == (
        RuleReason.TOO_FEW_FILES,
        2,
    )
    assert (results["named.md"].reason, results["named.md"].observed) == (
        RuleReason.MISSING_NAME,
        1,
    )
    assert results["opens.md"].passed
    assert results["opens.md"].observed == 2


def test_a_rule_of_unknown_kind_fails_by_name() -> None:
    rule = Rule(rule_id="x", kind="is_beautiful", text="?")
    assert _judge_rule(rule, [], overflow=False).reason == RuleReason.UNKNOWN_RULE


DEEP = 200_000
BOMB = zip_of({"xl/workbook.xml": b"\0" * (30 << 20)})
ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "'
    + b"a" * 1000
    + b'">'
    + b"".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 50}">'.encode() for i in range(8))
    + b"]><w>&i;</w>"
)


@pytest.mark.parametrize(
    ("name", "content", "limits", "reason"),
    [
        ("bomb.xlsx", BOMB, {"inflated_bytes": 20 << 20}, RuleReason.TOO_LARGE),
        ("bomb.zip", BOMB, {"inflated_bytes": 20 << 20}, RuleReason.TOO_LARGE),
        (
            "many.zip",
            zip_of({f"{i}": b"" for i in range(300)}),
            {"archive_entries": 200},
            RuleReason.TOO_LARGE,
        ),
        ("deep.json", b"[" * DEEP + b"]" * DEEP, {}, RuleReason.TOO_DEEP),
        ("deep.yaml", b"[" * 5_000 + b"]" * 5_000, {}, RuleReason.TOO_DEEP),
        ("huge.png", png_of(60_000, 60_000), {}, RuleReason.TOO_LARGE),
        ("short.png", png_of(100, 100), {}, RuleReason.DOES_NOT_OPEN),
        ("cells.xlsx", xlsx(20_000), {"cells": 10_000}, RuleReason.TOO_LARGE),
        ("big.txt", b"a" * 2000, {"file_bytes": 1000}, RuleReason.TOO_LARGE),
        (
            "entities.docx",
            repacked(GOOD["docx"], "word/document.xml", ENTITIES),
            {},
            RuleReason.DOES_NOT_OPEN,
        ),
        ("memory.json", b"[" + b"[]," * 8_000_000 + b"0]", {"memory_bytes": 200 << 20}, None),
    ],
)
def test_files_that_attack_fail_by_name(
    name: str,
    content: bytes,
    limits: dict[str, int],
    reason: RuleReason | None,
    tmp_path: Path,
) -> None:
    result = run(tmp_path, {name: content}, name.rpartition(".")[2], **limits)["opens"]
    assert not result.passed
    assert result.file == name
    expected = {reason} if reason else {RuleReason.OUT_OF_MEMORY, RuleReason.CRASHED}
    assert result.reason in expected


def test_a_file_that_takes_too_long_fails_by_name(tmp_path: Path) -> None:
    content = b"a: &a [" + b"x," * 400_000 + b"]\n"
    result = run(tmp_path, {"slow.yaml": content}, "yaml", seconds=1)["opens"]
    assert result.reason == RuleReason.TIMEOUT


def test_time_for_all_files_together_is_bounded(tmp_path: Path) -> None:
    result = run(tmp_path, {"a.md": b"text"}, "md", total_seconds=0)["opens"]
    assert result.reason == RuleReason.TIMEOUT


def test_a_sheet_that_declares_every_column_is_read_as_it_is(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(GOOD["xlsx"])) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    wide = sheet.replace(b"<sheetData>", b'<dimension ref="A1:XFD1048576"/><sheetData>')
    assert wide != sheet
    content = repacked(GOOD["xlsx"], "xl/worksheets/sheet1.xml", wide)
    results = run(tmp_path, {"wide.xlsx": content}, "xlsx", seconds=20)
    assert reasons(results) == {}


@pytest.mark.slow(seconds=20)
def test_a_sheet_of_a_million_cells_opens_within_the_limits(tmp_path: Path) -> None:
    # Seconds are of the wall clock, which other tests share.
    results = run(tmp_path, {"large.xlsx": xlsx(1_000_000)}, "xlsx", seconds=240)
    assert reasons(results) == {}
    assert reasons(run(tmp_path, {}, "xlsx", seconds=1))["opens"] == RuleReason.TIMEOUT


def test_symlinks_pipes_and_hidden_files_deliver_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("not an output")
    out = tmp_path / "out"
    out.mkdir()
    (out / "link.md").symlink_to(secret)
    (out / "folder").symlink_to(tmp_path)
    os.mkfifo(out / "pipe.md")
    (out / ".hidden.md").write_text("hidden")
    (out / "folder.md").mkdir()
    assert set(reasons(run(out, {}, "md")).values()) == {RuleReason.MISSING_FILE}


def test_names_with_newlines_and_undecodable_bytes(tmp_path: Path) -> None:
    (tmp_path / "two\nlines\x1b[31m.json").write_text("{")
    result = run(tmp_path, {}, "json")["opens"]
    assert (result.reason, result.file) == (RuleReason.DOES_NOT_OPEN, "two\\nlines\\x1b[31m.json")
    (tmp_path / os.fsdecode(b"\xff\xfe.json")).write_text("{")
    assert len(check(_hard_rules([Deliverable(file_type="json")], ""), tmp_path)) == 5


def test_too_many_files_are_not_looked_at(tmp_path: Path) -> None:
    files = {f"{number}.md": b"text" for number in range(6)}
    results = run(tmp_path, files, "md", files=5)
    assert set(reasons(results).values()) == {RuleReason.TOO_MANY_FILES}


def test_modules_in_the_output_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("json", "docx", "construction"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('hostile')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert reasons(run(tmp_path, {"a.docx": GOOD["docx"]}, "docx")) == {}


@pytest.mark.parametrize("trouble", ["broken", "timeout", "crashed", "out_of_memory", "too_deep"])
@pytest.mark.parametrize("kind", ["opens", "no_traceback"])
def test_what_could_not_be_read_never_passes(kind: str, trouble: str) -> None:
    rule = Rule(rule_id=kind, kind=kind, params={"extensions": ["md"]}, text="")
    result = _judge_rule(rule, [_OutputFile("a.md", "md", Seen(trouble))], overflow=False)
    assert not result.passed
    assert result.reason is not None


def test_printable_names_are_one_short_line() -> None:
    assert _printable("a\u202eb\r\n.md") == "a\\u202eb\\r\\n.md"
    assert len(_printable("长" * 500)) == 120


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["xlsx", "docx", "pdf", "png", "json", "yaml", "html", "py", "csv"]),
    cut=st.integers(0, 5000),
    noise=st.binary(max_size=40),
    at=st.integers(0, 5000),
)
def test_damaged_files_never_raise(
    kind: str, cut: int, noise: bytes, at: int, tmp_path: Path
) -> None:
    content = GOOD[kind][: max(0, len(GOOD[kind]) - cut)]
    content = content[:at] + noise + content[at:]
    (tmp_path / f"damaged.{kind}").write_bytes(content)
    rules = _hard_rules([Deliverable(file_type=kind)], "")
    results = check(rules, tmp_path, RuleLimits(seconds=10))
    assert [result.rule_id for result in results] == [rule.rule_id for rule in rules]
    for result in results:
        assert result.passed == (result.reason is None)
    json.dumps([result.reason for result in results])
