"""Logs that are one JSON document, their encodings, and JSON with half surrogate pairs."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import (
    SourceFile,
    count_lines,
    json_document,
    json_lines,
    loads,
    objects,
    read_head,
    records,
)
from data.contracts import ReadIssue, Session
from tests.construction.sessions.readers.written import document, lines


@given(st.text(st.sampled_from("a\\u\u00e9\ud83d\ude00\udc00"), max_size=12))
def test_only_half_pairs_are_replaced(text: str) -> None:
    # `json` writes each half as an escape of its own; UTF-16 says which halves belong together.
    expected = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert loads(json.dumps(text).encode()) == expected


def test_an_escaped_backslash_before_ud83d_is_no_surrogate() -> None:
    assert loads(rb'["\\ud83d", "\ud83d"]') == ["\\ud83d", "\ufffd"]


def test_an_escape_that_json_does_not_know_stays_as_it_stands() -> None:
    assert loads(rb'["oak\*\**@x", "\\*", "\n", "\u00e9", "\u12"]') == [
        "oak\\*\\**@x", "\\*", "\n", "\u00e9", "\\u12"
    ]  # fmt: skip


def test_what_is_not_json_stays_an_error() -> None:
    with pytest.raises(orjson.JSONDecodeError):
        loads(rb'{"a": "\ud83d')


def test_records_of_lines_of_a_list_and_of_a_single_document(tmp_path: Path) -> None:
    a, b = {"n": 1}, {"n": 2}
    assert list(records(lines(tmp_path, [a, b]), "all")) == [(1, a), (2, b)]
    assert list(records(document(tmp_path, {"all": [a, b]}), "all")) == [(0, a), (0, b)]
    assert list(records(document(tmp_path, a), "all")) == [(0, a)]
    single_line = lines(tmp_path, [{"all": [b]}], "one.json")
    assert list(records(single_line, "all")) == [(0, b)]


def test_a_broken_first_line_does_not_lose_the_others(tmp_path: Path) -> None:
    issue, record = records(lines(tmp_path, ['{"cut', {"n": 2}]), "all")
    assert isinstance(issue, ReadIssue)
    assert (issue.line, issue.reason) == (1, "line.not_json")
    assert record == (2, {"n": 2})


def test_a_listed_value_that_is_no_object_is_named(tmp_path: Path) -> None:
    issues: list[ReadIssue] = []
    source = document(tmp_path, {"all": [{}, 7]})
    assert list(objects(source, issues, lambda file: records(file, "all"))) == [(0, {})]
    assert [(issue.reason, issue.actual) for issue in issues] == [("record.unexpected", "int")]


def test_a_document_that_is_not_json_says_where(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"a": 1,\n"b" 2}')
    issue = json_document(SourceFile(path, "x.json"))
    assert isinstance(issue, ReadIssue)
    assert (issue.line, issue.actual) == (2, "text, 15 bytes, not JSON")


_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_a_log_behind_a_byte_order_mark_is_read_as_if_it_were_utf_8(
    tmp_path: Path, encoding: str
) -> None:
    said = [f"鹤 {number} 🦢 è" * 9000 for number in range(3)]
    source = lines(tmp_path, [{"said": text} for text in said])
    marked = tmp_path / "marked.jsonl"
    marked.write_bytes(("\ufeff" + source.path.read_text("utf-8")).encode(encoding))
    assert list(json_lines(SourceFile(marked, "x"))) == list(json_lines(source))
    assert count_lines(marked) == 3
    marked.write_bytes(("\ufeff" + json.dumps(said, indent=2)).encode(encoding))
    assert json_document(SourceFile(marked, "x")) == said
    assert read_head(SourceFile(marked, "x")).document == said


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_formats_of_text_are_read_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    chat = "# aider chat started at 2026-03-02 09:30:00\r\n\r\n#### 数鹤\r\n\r\nFour.\r\n"
    path = tmp_path / ".aider.chat.history.md"
    path.write_bytes(("\ufeff" + chat).encode(encoding))
    (session,) = read_source(SourceFile(path, path.name))
    assert isinstance(session, Session)
    assert [turn.said for turn in session.turns] == ["数鹤", "Four."]


def test_what_cannot_be_decoded_is_marked_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(codecs.BOM_UTF16_LE + '{"n": 1}\n{"n": 2}\n'.encode("utf-16-le") + b"{")
    first, second, issue = json_lines(SourceFile(path, "cut.jsonl"))
    assert (first, second) == ((1, {"n": 1}), (2, {"n": 2}))
    assert isinstance(issue, ReadIssue)
    assert (issue.line, issue.reason) == (3, "line.not_json")
