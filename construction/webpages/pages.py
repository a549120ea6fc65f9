"""Captured pages on disk: a folder with `pages.parquet` and `pages.json`.

`pages.json` holds the number of pages and the SHA-256 of `pages.parquet`; a folder whose table was
changed since is refused. Pages are sorted by URL, and no address occurs twice.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple, dataclass
from itertools import islice, pairwise
from pathlib import Path

import orjson
import polars as pl

from construction.mentions.urls import parse_url
from data.canonical import file_digest, pretty_json
from data.errors import InputError
from data.staging.database import in_memory
from data.tables import write_table
from data.text.folding import fold_width, lower_in_place, narrow_in_place
from data.text.scripts import CJK, WORD

_PAGES, _ABOUT = "pages.parquet", "pages.json"
SCHEMA = {
    "url": pl.String,
    "title": pl.String,
    "captured": pl.String,
    "media_type": pl.String,
    "text": pl.String,
}
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its normalised URL, and the text that a reader of it sees.

    `captured` is the ISO day on which it was saved, None if unknown; `media_type` is that of the
    file that was saved.
    """

    url: str
    title: str
    captured: str | None
    media_type: str
    text: str


@dataclass(frozen=True, slots=True)
class PageFolder:
    """A checked folder of pages. `digest` is that of its table."""

    path: Path
    n_pages: int
    digest: str

    def pages(self) -> Iterator[Page]:
        """The pages in order of their URLs, a batch in memory at a time."""
        with in_memory() as connection:
            columns = ", ".join(SCHEMA)
            query = f"SELECT {columns} FROM read_parquet(?) ORDER BY url"  # noqa: S608 (our names)
            rows = connection.execute(query, [str(self.path / _PAGES)])
            while batch := rows.fetchmany(_BATCH):
                yield from (Page(*row) for row in batch)


def address(url: str) -> str | None:
    """What tells pages apart: the URL without scheme, default port and fragment.

    None if it is not the address of a web page.
    """
    parsed = parse_url(url)
    return None if parsed is None else parsed.text.partition("://")[2]


def write_pages(folder: Path, pages: Iterable[Page]) -> PageFolder:
    """Write pages, each with an address of its own, into an existing folder."""
    rows = sorted((asdict(page) for page in pages), key=lambda row: row["url"])
    write_table(folder / _PAGES, rows, SCHEMA)
    digest = file_digest(folder / _PAGES)
    (folder / _ABOUT).write_bytes(pretty_json({"pages": len(rows), "sha256": digest}))
    return PageFolder(folder, len(rows), digest)


def open_pages(folder: Path) -> PageFolder:
    """Check a folder of pages. Raises InputError if it is not one, or was changed."""
    remedy = "Make it with `benchmint lane pages`."
    try:
        about = orjson.loads((folder / _ABOUT).read_bytes())
        n_pages, expected = int(about["pages"]), str(about["sha256"])
        actual = file_digest(folder / _PAGES)
        columns = dict(pl.read_parquet_schema(folder / _PAGES))
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        wanted = f"a folder with {_PAGES} and {_ABOUT}"
        raise InputError(str(folder), type(error).__name__, wanted, remedy) from error
    if actual != expected:
        raise InputError(str(folder / _PAGES), f"SHA-256 {actual}", expected, remedy)
    if columns != SCHEMA:
        raise InputError(
            str(folder / _PAGES), ", ".join(columns), f"the columns {', '.join(SCHEMA)}", remedy
        )
    return PageFolder(folder, n_pages, actual)


# Searching captured pages by BM25, and reading them by address.
#
# SQLite's FTS5 holds the index in a temporary database: words are compared by their stems (Porter),
# Chinese, Japanese and Korean text by overlapping pairs of characters. Its BM25 has k1 = 1.2 and b
# = 0.75; a word of the title counts as five. Pages of equal rank come in order of their addresses,
# so that the same pages and query always give the same answer.

_CJK_RUN = re.compile(f"[{CJK}]+")
_MOST_TERMS = 64  # of a query
_TITLE_WEIGHT = 5.0
_EXCERPT, _LEAD = 320, 40  # characters: of an excerpt, and before the first word in it
_MOST_PLACES = 500  # of one word in one page, for an excerpt
_STEM = 5  # leading letters by which an excerpt finds the words of a query


@dataclass(frozen=True, slots=True)
class _Hit:
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

    def search(self, query: str, most: int) -> list[_Hit]:
        """At most `most` pages that hold a word of the query, best first."""
        words = list(dict.fromkeys(WORD.findall(_segmented(query))))[:_MOST_TERMS]
        if not words:
            return []
        rows = self._database.execute(
            "SELECT url, pages.title, captured, round(-bm25(terms, ?, 1.0), 3), pages.text"
            " FROM terms JOIN pages ON pages.id = terms.rowid WHERE terms MATCH ?"
            " ORDER BY round(bm25(terms, ?, 1.0), 9), url LIMIT ?",
            (_TITLE_WEIGHT, " OR ".join(f'"{word}"' for word in words), _TITLE_WEIGHT, most),
        )
        return [_Hit(*row) for row in rows]

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
    words = {word[:_STEM] for word in WORD.findall(_segmented(query).lower())}
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
