"""Searching captured pages by BM25, and reading them by address.

SQLite's FTS5 holds the index in a temporary database: words are compared by their stems (Porter),
Chinese, Japanese and Korean text by overlapping pairs of characters. Its BM25 has k1 = 1.2 and
b = 0.75; a word of the title counts as five. Pages of equal rank come in order of their addresses,
so that the same pages and query always give the same answer.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import islice, pairwise

from construction.webpages.pages import Page, PageFolder, address
from data.text.folding import fold_width, lower_in_place, narrow_in_place
from data.text.scripts import CJK

_CJK_RUN = re.compile(f"[{CJK}]+")
_TERM = re.compile(r"[^\W_]+")
_MOST_TERMS = 64  # of a query
_TITLE_WEIGHT = 5.0
_EXCERPT, _LEAD = 320, 40  # characters: of an excerpt, and before the first word in it
_MOST_PLACES = 500  # of one word in one page, for an excerpt
_STEM = 5  # leading letters by which an excerpt finds the words of a query


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that fits a query; `score` is its BM25, higher is better."""

    url: str
    title: str
    captured: str | None
    score: float
    text: str


class PageIndex:
    """The pages of a folder, ready to be searched and read. Close it when done."""

    def __init__(self, folder: PageFolder) -> None:
        self.digest = folder.digest
        # An empty name: a temporary file that SQLite itself removes.
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.execute(
            "CREATE TABLE pages (id INTEGER PRIMARY KEY, address TEXT, url TEXT, title TEXT,"
            " captured TEXT, media_type TEXT, text TEXT)"
        )
        self._database.execute(
            "CREATE VIRTUAL TABLE terms USING fts5(title, text, content='',"
            " tokenize='porter unicode61')"
        )
        for number, page in enumerate(folder.pages()):
            self._add(number, page)
        self._database.execute("CREATE INDEX addresses ON pages (address)")

    def close(self) -> None:
        self._database.close()

    def search(self, query: str, most: int) -> list[Hit]:
        """At most `most` pages that hold a word of the query, best first."""
        words = list(dict.fromkeys(_TERM.findall(_segmented(query))))[:_MOST_TERMS]
        if not words:
            return []
        rows = self._database.execute(
            "SELECT url, pages.title, captured, round(-bm25(terms, ?, 1.0), 3), pages.text"
            " FROM terms JOIN pages ON pages.id = terms.rowid WHERE terms MATCH ?"
            " ORDER BY round(bm25(terms, ?, 1.0), 9), url LIMIT ?",
            (_TITLE_WEIGHT, " OR ".join(f'"{word}"' for word in words), _TITLE_WEIGHT, most),
        )
        return [Hit(*row) for row in rows]

    def page(self, url: str) -> Page | None:
        """The page of an address, however it is written; None if it was not captured."""
        row = self._database.execute(
            "SELECT url, title, captured, media_type, text FROM pages WHERE address = ?",
            (address(url),),
        ).fetchone()
        return None if row is None else Page(*row)

    def _add(self, number: int, page: Page) -> None:
        columns = (number, address(page.url), *astuple(page))
        self._database.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)", columns)
        self._database.execute(
            "INSERT INTO terms (rowid, title, text) VALUES (?, ?, ?)",
            (number, _segmented(page.title), _segmented(page.text)),
        )


def _segmented(text: str) -> str:
    """The text with blanks between words, for the index: 売上高 becomes 売上 上高."""
    return _CJK_RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", fold_width(text))


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for first, second in pairwise(run):
        yield first + second


def excerpt(text: str, query: str) -> str:
    """The stretch of a page that holds the most different words of a query."""
    words = {word[:_STEM] for word in _TERM.findall(_segmented(query).lower())}
    plain = lower_in_place(narrow_in_place(text))
    hits = sorted(
        (match.start(), word)
        for word in words
        for match in islice(re.finditer(re.escape(word), plain), _MOST_PLACES)
    )
    start = max(0, _densest(hits) - _LEAD)
    stretch = " ".join(text[start : start + _EXCERPT].split())
    return f"{'… ' if start else ''}{stretch}{' …' if start + _EXCERPT < len(text) else ''}"


def _densest(hits: list[tuple[int, str]]) -> int:
    """Where the shortest stretch with the most different words begins; 0 without a hit."""
    best, start = 0, 0
    latest: dict[str, int] = {}
    for position, word in hits:
        latest[word] = position
        latest = {known: at for known, at in latest.items() if position - at < _EXCERPT - 2 * _LEAD}
        if len(latest) > best:
            best, start = len(latest), min(latest.values())
    return start
