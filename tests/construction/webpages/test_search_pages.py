"""Searching and reading pages: order, languages, hostile queries, and pages made of statements."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from construction.grading.grade import grade
from construction.grading.spec import AnswerSpec, TaskSpec
from construction.statements.model import write_statements
from construction.statements.tools.database import Refusal
from construction.webpages.importing import statement_pages
from construction.webpages.pages import (
    PAGE_CHARS,
    Page,
    PageIndex,
    excerpt,
    fetch,
    read_pages,
    search,
    write_pages,
)
from data.contracts.attempt import Submission
from tests.construction.statements.tools.tiny import tiny_statements


def index_of(folder: Path, *pages: Page) -> PageIndex:
    return PageIndex(write_pages(folder, pages))


def page(name: str, text: str, title: str = "") -> Page:
    return Page(f"https://x.org/{name}", title, None, "text/plain", text)


def urls(index: PageIndex, query: str) -> list[str]:
    return [result.url.rpartition("/")[2] for result in search(index, query, 20).results]


def test_pages_come_by_their_words_and_equal_ones_by_address(tmp_path: Path) -> None:
    index = index_of(
        tmp_path,
        page("c", "net sales of shoes"),
        page("b", "net sales of shoes"),
        page("a", "weather"),
        page("d", "a word on many other things and the sales of boots", title="Net sales"),
    )
    assert urls(index, "net sales") == ["d", "b", "c"]
    assert urls(index, "SHOE") == ["b", "c"]
    assert urls(index, "rain") == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [("売上高", ["ja"]), ("營業 收入", ["zh"]), ("５０％", ["ja"]), ("매출", ["ko"]), ("高", [])],
)
def test_scripts_without_blanks_are_found_by_pairs(
    tmp_path: Path, query: str, expected: list[str]
) -> None:
    index = index_of(
        tmp_path, page("ja", "連結売上高は50%増"), page("zh", "營業收入增長"), page("ko", "매출액")
    )
    assert urls(index, query) == expected


@pytest.mark.parametrize(
    "query",
    ['"', "AND OR NOT", "title:x", "x*", "NEAR(a b)", "'; DROP TABLE pages; --", "\0", "((("],
)
def test_no_query_is_a_command(tmp_path: Path, query: str) -> None:
    index = index_of(tmp_path, page("a", "drop tables near and or not"))
    search(index, query, 5)
    assert urls(index, "drop") == ["a"]


def test_an_excerpt_is_where_most_words_are() -> None:
    text = f"{'sales ' * 200}Net sales of Marrow Ltd were 12.{' x' * 500}"
    shown = excerpt(text, "net sales Marrow")
    assert "Net sales of Marrow Ltd were 12." in shown
    assert shown.startswith("… ") and shown.endswith(" …")


def test_a_page_is_fetched_in_parts_by_any_form_of_its_address(tmp_path: Path) -> None:
    index = index_of(tmp_path, page("a", "x" * PAGE_CHARS + "rest"))
    first = fetch(index, "HTTP://X.org:80/a#part", 0)
    assert not isinstance(first, Refusal)
    assert (len(first.text), first.next_offset, first.total_chars) == (
        PAGE_CHARS, PAGE_CHARS, PAGE_CHARS + 4,
    )  # fmt: skip
    rest = fetch(index, "https://x.org/a", PAGE_CHARS)
    assert not isinstance(rest, Refusal)
    assert (rest.text, rest.next_offset) == ("rest", None)


@pytest.mark.parametrize(
    "url",
    ["https://x.org/b", "file:///etc/passwd", "http://127.0.0.1/", "x", "http://[", "//x.org/a"],
)
def test_what_was_not_captured_is_refused(tmp_path: Path, url: str) -> None:
    refused = fetch(index_of(tmp_path, page("a", "x")), url, 0)
    assert isinstance(refused, Refusal) and refused.text.startswith("not captured")


def test_many_pages_and_a_huge_one_are_searched_quickly(tmp_path: Path) -> None:
    many = [page(f"{n:05}", f"page {n} of many") for n in range(5_000)]
    index = index_of(tmp_path, page("huge", "net sales " * 100_000), *many)
    started = time.monotonic()
    assert urls(index, "page 4321 of many")[0] == "04321"
    assert urls(index, "net sales") == ["huge"]
    assert time.monotonic() - started < 5


@pytest.fixture
def statements(tmp_path: Path) -> PageIndex:
    write_statements(tmp_path / "tables", tiny_statements())
    return index_of(tmp_path, *statement_pages(tmp_path / "tables"))


def test_statements_are_printed_by_page_rounded_under_headings(statements: PageIndex) -> None:
    shown = fetch(
        statements,
        "https://statements.example/sec-9990001/income-statement/2024-01-01--2024-03-31-3m",
        0,
    )
    assert not isinstance(shown, Refusal)
    assert shown.text.split("\n") == [
        "Quandell Software, Inc. (QNDX): Income statement from January 1, 2024 to March 31, 2024, "
        "first quarter of fiscal year 2024",
        "Amounts in millions of USD, rounded",
        "Filed 2024-05-02",
        "",
        "Revenues",
        "Total revenues\t125",
        "Total revenues [segment=Cloud]\t90",
    ]
    small = statements.search("霧ヶ浦精機 売上高", 1)[0].text
    assert "Amounts in thousands of JPY, rounded" in small
    assert "Net sales / 売上高\t7" in small


@pytest.mark.parametrize(
    ("scale", "value", "passed"), [("millions", "125", True), ("thousands", "125001", False)]
)
def test_the_scripted_reader_copies_the_printed_number(
    statements: PageIndex, scale: str, value: str, passed: bool
) -> None:
    question = (
        "For the first quarter of fiscal year 2024 (January 1 to March 31, 2024), what were the "
        f"total revenues of Quandell Software, Inc., in {scale} of US dollars?"
    )
    moves, answer = read_pages(f"{question}\n\nAnswer with one number.", statements)
    assert {name for name, _ in moves} == {"search", "fetch"}
    factor = {"millions": 10**6, "thousands": 10**3}[scale]
    gold = AnswerSpec("value", "number", value, unit="USD", scale=factor, decimals=0, tolerance=0.0)
    spec = TaskSpec("q", answers=(gold,))
    assert grade(spec, Submission(answer=answer)).passed is passed
