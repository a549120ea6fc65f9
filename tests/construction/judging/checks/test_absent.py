"""Findings that something is absent prove themselves by copies in which it stands."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import docx
import pptx
import pytest
from openpyxl import Workbook

from construction.grading.checking import Findings, says, text
from construction.judging.checks.prove import copies_of, prove
from tests.construction.judging.checks.test_prove import CHECKS, TASK, run

ABSENT = """
from checking import *
with Findings() as more:
    rows = table(deliverable("depots.csv"))
    more.absent("no driver is named", ["Fenwick", "Ostler"], rows)
    more.add("no stranger", not [])
"""


def test_what_must_be_absent_is_added_to_prove_the_finding() -> None:
    printed = "print(json.dumps(found))"
    shown = "import contextlib\nwith contextlib.redirect_stdout(None):"
    inner = ABSENT.replace("\n", "\n    ")
    checks = CHECKS.replace(printed, f"{shown}{inner}\n{printed[:-2]} + more.items))")
    proof = prove(replace(TASK, checks=checks), run)
    assert proof.reason is None
    assert "no driver is named" in proof.findings
    assert "no stranger" not in proof.findings  # nothing makes it fail


@pytest.mark.parametrize("kind", ["md", "csv", "json", "xlsx", "docx", "pptx"])
def test_what_must_be_absent_is_added_to_each_kind_of_file(kind: str, tmp_path: Path) -> None:
    given = delivered(kind)
    added = copies_of("told", f"a.{kind}", given, run, ["none of ['Fenwick']"])
    assert [(one.kind, one.after) for one in added] == [("added", "Fenwick")]
    for content, is_there in ((given, False), (added[0].content, True)):
        path = tmp_path / f"a.{kind}"
        path.write_bytes(content)
        assert says(text(str(path)), "Rye") and says(text(str(path)), "Fenwick") is is_there


def delivered(kind: str) -> bytes:
    if kind in ("md", "csv"):
        return b"depot,boxes\nRye,7\n"
    if kind == "json":
        return b'{"of": [{"depot": "Rye", "boxes": 7}]}'
    target = io.BytesIO()
    made: Any
    if kind == "xlsx":
        made = Workbook()
        made.active.append(["Rye", 7])
    elif kind == "docx":
        made = docx.Document()
        made.add_paragraph("Rye has 7.")
    else:
        made = pptx.Presentation()
        made.slides.add_slide(made.slide_layouts[0]).shapes.title.text = "Rye has 7."
    made.save(target)
    return target.getvalue()


@pytest.mark.parametrize("whole", ["[1, 2]", '{"a": 1}', "3", '{"a": {"b": []}}'])
def test_any_json_takes_an_entry_more(whole: str) -> None:
    (made,) = copies_of("told", "a.json", whole.encode(), run, ["none of ['Fenwick']"])
    assert json.loads(made.content) != json.loads(whole) and b"Fenwick" in made.content


def test_a_copy_that_holds_the_same_is_none() -> None:
    """Rows that are all alike, turned round; a workbook whose rows are, saved again."""
    book = Workbook()
    for row in (["depot", "town"], ["Rye", "Rye"], ["Rye", "Rye"]):
        book.worksheets[0].append(row)
    target = io.BytesIO()
    book.save(target)
    for path, given in (
        ("a.csv", b"depot,town\r\nRye,Rye\r\nRye,Rye\r\n"),
        ("a.xlsx", target.getvalue()),
    ):
        made = copies_of("wrong", path, given, run)
        assert made and "order" not in {one.kind for one in made}


@pytest.mark.parametrize(
    ("where", "passed"),
    [
        ("Rye has 7 boxes.", True),
        ([["Rye", 7], [None, "Lydd"]], True),
        ([{"depot": "Rye"}, {"depot": "fenwick"}], False),
        ("signed: Fenwick", False),
        ("12 boxes", False),
        ("", False),  # there is nothing in which it could stand
        ([], False),
    ],
)
def test_absent_looks_for_whole_words_and_figures(where: object, passed: bool) -> None:
    findings = Findings()
    findings.absent("no driver", ["Fenwick", 12], where)
    assert findings.items[0]["passed"] is passed
    assert findings.items[0]["expected"] == "none of ['Fenwick', '12']"
