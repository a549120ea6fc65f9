"""What of the evidence stands in a prompt within a budget, and where quotes stand in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.judging.evidence.shown import deal, find_quote, tokens_of
from construction.judging.evidence.views import (
    Change,
    Column,
    Evidence,
    FileView,
    ImageRef,
    Part,
    Said,
    Sheet,
    look,
)


def sheet(rows: int, *, whole: bool = True) -> Sheet:
    body = tuple((f"berth {n}", str(n * 10)) for n in range(1, rows + 1))
    return Sheet(
        name="Quay",
        columns=(
            Column(name="berth", type="text", distinct=rows, examples=("berth 1",)),
            Column(name="tons", type="integer", low="10", high=str(rows * 10), distinct=rows),
        ),
        rows=rows,
        head=(("berth", "tons"), *body),
        last_row=rows + 1,
        header_row=1,
        whole=whole,
    )


def view(path: str, *sheets: Sheet, text: str = "", pictures: tuple[str, ...] = ()) -> FileView:
    kind = "table" if sheets else "text" if text else "picture"
    parts = (Part(where="lines 1–9", text=text),) if text else ()
    return FileView(path=path, bytes=9, media_type="x/y", kind=kind, sheets=sheets, parts=parts,
                    pictures=pictures)  # fmt: skip


def given_by(text: str, *files: FileView, **more: object) -> Evidence:
    return Evidence.model_validate(
        {"said": (Said(speaker="person", text=text),), "files": files, **more}
    )


def test_what_fits_is_shown_whole() -> None:
    shown = deal(
        given_by("Sum the tons.", view("a.xlsx", sheet(2)), view("b.txt", text="calm sea"))
    )
    assert shown.left_out == ()
    assert shown.content == {
        "said": [{"speaker": "person", "text": "Sum the tons."}],
        "input_files": [
            {
                "path": "a.xlsx",
                "kind": "table",
                "bytes": 9,
                "sheets": [
                    {
                        "sheet": "Quay",
                        "rows_below_header": 2,
                        "cells": ["1: berth | tons", "2: berth 1 | 10", "3: berth 2 | 20"],
                    }
                ],
            },
            {"path": "b.txt", "kind": "text", "bytes": 9, "text": "calm sea"},
        ],
    }


def test_small_files_are_whole_and_large_ones_keep_columns_and_both_ends() -> None:
    files = (view("big.xlsx", sheet(4_000)), view("small.xlsx", sheet(12)))
    shown = deal(given_by("Sum the tons.", *files), 2_000)
    big, small = shown.content["input_files"]
    assert len(small["sheets"][0]["cells"]) == 13
    cells = big["sheets"][0]["cells"]
    assert big["sheets"][0]["columns"][1] == "tons: integer, 10 to 40000, 4000 distinct"
    assert cells[0] == "1: berth | tons"
    assert cells[-1] == "4001: berth 4000 | 40000"
    assert any("are not shown" in line for line in cells)
    assert shown.left_out == ("big.xlsx: shown in part, chosen by the words of the request",)
    assert shown.tokens <= 2_000


def test_what_two_files_show_alike_is_shown_once() -> None:
    table = sheet(12)
    shown = deal(given_by("Sum.", view("tons.xlsx", table), view("port/tons.xlsx", table)))
    first, second = shown.content["input_files"]
    assert len(first["sheets"][0]["cells"]) == 13
    assert (second["path"], second["note"]) == ("port/tons.xlsx", "the same as tons.xlsx")
    assert "sheets" not in second


def test_files_that_the_task_names_get_more() -> None:
    sheets = enumerate(("named", "other", "read"), 4_000)
    files = tuple(view(f"{name}.xlsx", sheet(rows)) for rows, name in sheets)
    shown = deal(given_by("See named.xlsx.", *files, read=("/w/read.xlsx",)), 3_000)
    rows = [len(file["sheets"][0]["cells"]) for file in shown.content["input_files"]]
    assert rows[0] > 1.5 * rows[1]
    assert rows[2] > 1.5 * rows[1]


def test_a_long_request_keeps_both_ends_and_says_so() -> None:
    text = "First. " + "and so on " * 9_000 + "Last."
    shown = deal(given_by(text, view("a.xlsx", sheet(3))), 3_000)
    said = shown.content["said"][0]["text"]
    assert said.startswith("First.")
    assert said.endswith("Last.")
    assert "characters left out" in said
    assert shown.left_out[0].startswith("message 1: ")
    assert len(shown.content["input_files"][0]["sheets"][0]["cells"]) == 4


def test_pictures_go_along_where_the_model_sees_them() -> None:
    files = (
        view("p.pdf", text="page", pictures=("page 1", "page 2")),
        view("s.png", pictures=("picture",)),
    )
    evidence = given_by("What is on it?", *files)
    assert deal(evidence).images == ()
    assert deal(evidence, images=True).images == (
        ImageRef(path="s.png", picture="picture"),
        ImageRef(path="p.pdf", picture="page 1"),
        ImageRef(path="p.pdf", picture="page 2"),
    )
    few = deal(evidence, 2_600, images=True)
    assert len(few.images) == 2
    assert "1 of 3 pictures are not shown: p.pdf" in few.left_out


def test_data_shows_its_tables_with_its_beginning_as_written_and_its_keys(tmp_path: Path) -> None:
    trees = [{"id": n, "place": {"row": n, "plot": "north"}, "fruit": ["plum"]} for n in (1, 2)]
    raw = json.dumps({"orchard": "Low Field", "trees": trees}, indent=2)
    (tmp_path / "a.json").write_text(raw)
    (tmp_path / "b.json").write_text(json.dumps(trees))
    shown = deal(
        given_by("Count the trees.", *look({n: tmp_path / n for n in ("a.json", "b.json")}))
    )
    nested, listed = shown.content["input_files"]
    assert nested["begins"] == raw[:300]
    assert nested["text"].startswith("orchard: Low Field")
    assert listed["begins"] == json.dumps(trees)
    assert listed["sheets"][0]["cells"][0] == "1: id | place | fruit"
    assert "[0].place: 2 keys: row, plot" in listed["outline"]
    evidence = given_by("", *look({"a.json": tmp_path / "a.json"}))
    assert find_quote(evidence, '"row": 2, "plot": "north"') == "a.json, trees row 3"


def test_all_that_an_agent_did_is_shown() -> None:
    shown = deal(
        given_by(
            "Go.",
            view("a.txt", text="sea"),
            before=(Said(speaker="person", at="2026-03-01T09:00Z", text="Hello"),),
            tree=("data/ 2 .csv",),
            tools=("Bash ×4",),
            last_words="Done.",
            outputs=(view("out.txt", text="land"),),
            changes=(Change(path="a.txt", how="changed", lines=("-sea", "+sky"), more=2),),
        )
    )
    content = shown.content
    assert content["said_before"][0]["at"] == "2026-03-01T09:00Z"
    assert content["folders"] == ["data/ 2 .csv"]
    assert content["agent"] == {"tools": ["Bash ×4"], "last_words": "Done."}
    assert content["output_files"][0]["text"] == "land"
    assert content["changes"] == [
        {"path": "a.txt", "how": "changed", "lines": ["-sea", "+sky"], "more": 2}
    ]


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(1, 900), max_size=6),
    st.lists(st.text(min_size=1, max_size=400), max_size=8),
    st.integers(1_500, 20_000),
)
def test_a_budget_is_kept(rows: list[int], notes: list[str], budget: int) -> None:
    files = [view(f"{n}.xlsx", sheet(count)) for n, count in enumerate(rows)]
    files += [view(f"{n}.txt", text=text * 50) for n, text in enumerate(notes)]
    shown = deal(given_by("Go.", *files), budget)
    assert shown.tokens <= budget
    assert json.dumps(shown.content) == json.dumps(deal(given_by("Go.", *files), budget).content)


def test_rough_tokens() -> None:
    assert tokens_of("x" * 380) == 101
    assert tokens_of("海" * 100) == 91


def test_quotes_are_found_where_they_stand() -> None:
    evidence = given_by(
        "Use the 2025 figures, not Mira's.",
        view("data/a.xlsx", sheet(3)),
        view("b.txt", text="The fee is $1,200.50,\nand 12.5% of “all” is kept. Über 9–12 days."),
        view("c.txt", text="气温为１２度，风力三级"),
        last_words="All is done.",
    )
    places = {
        "not mira’s": "message 1",
        "berth 2 | 20": "data/a.xlsx, Quay row 3",
        "3: berth 2 | 20": "data/a.xlsx, Quay row 3",
        "fee is 1200.5": "b.txt, lines 1–9",
        '12.5 % of "ALL" is kept': "b.txt, lines 1–9",
        "9-12 days": "b.txt, lines 1–9",
        "the fee … is kept": "b.txt, lines 1–9",
        "berth 1 10 berth 2 20": "data/a.xlsx",
        "气温为12度": "c.txt, lines 1–9",
        "all is done": "last words",
        "data/a.xlsx": "data/a.xlsx, outline",
        "fee is 120": None,
        "berth 22": None,
        "Mira is": None,
        "…": None,
        "": None,
    }
    assert {quote: find_quote(evidence, quote) for quote in places} == places


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("state\x1b[31mred", "state⟨U+001B⟩[31mred"),
        ("state\x1b[31mred", "state[31mred"),
        ("on \x1b[31;1mred alert\x1b[0m, 2 of 3", "red alert"),
        ("on [31;1mred alert[0m, 2 of 3", "red alert"),  # the escape was lost before
        ("on \x1b[31;1mred alert\x1b[0m, 2 of 3", "on ⟨U+001B⟩[31;1mred alert⟨U+001B⟩[0m, 2"),
        ("rate(x[5m]) of [main]", "5m"),
        ("rate(x[5m]) of [main]", "of [main]"),
        ("be\x07ep", "be⟨U+0007⟩ep"),
        ("be\x07ep", "beep"),
        ("one\x0cof", "one of"),
        ("zero\u200bwidth so\u00adft", "zerowidth soft"),
    ],
)
def test_a_quote_may_keep_or_leave_out_what_cannot_be_seen(text: str, quote: str) -> None:
    part = Part(where="whole", text=text)
    view = FileView(path="a.txt", bytes=9, media_type="text/plain", kind="text", parts=(part,))
    assert find_quote(Evidence(files=(view,)), quote) == "a.txt, whole"
