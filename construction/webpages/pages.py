"""Captured pages on disk, and `search` and `fetch` over them: FinRetrieval's web condition, without
a network.

A folder holds `pages.parquet` and `pages.json`, which has the number of pages and the SHA-256 of
`pages.parquet`; a folder whose table was changed since is refused. Pages are sorted by URL, and no
address occurs twice.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass
from decimal import Decimal
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Any

import orjson
import polars as pl
from pydantic import Field, TypeAdapter
from rapidfuzz import fuzz

from construction.mentions.urls import parse_url
from construction.statements.tools.agent_tools import Arguments, ToolSpec
from construction.statements.tools.database import Refusal
from data.canonical import file_digest, pretty_json
from data.errors import InputError
from data.staging.database import in_memory
from data.tables import write_table
from data.text.dates import MONTHS
from data.text.folding import fold_width, fold_words, lower_in_place, narrow_in_place
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


_MOST_HITS = 20
_MAX_QUERY, _MAX_URL = 1000, 8192
PAGE_CHARS = 20_000  # of text in one answer of `fetch`


class SearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=_MAX_QUERY, description="words to look for")
    limit: int = Field(default=8, ge=1, le=_MOST_HITS, description="most pages to return")


class FetchArguments(Arguments):
    url: str = Field(min_length=1, max_length=_MAX_URL, description="address of a page")
    offset: int = Field(
        default=0, ge=0, description="first character; next_offset of the part before"
    )


@dataclass(frozen=True, slots=True)
class _Result:
    """One page that fits."""

    url: Annotated[str, Field(description="use it in fetch")]
    title: str
    captured: Annotated[str | None, Field(description="day on which the page was saved")]
    excerpt: Annotated[str, Field(description="where the page has most of the words")]
    score: Annotated[float, Field(description="BM25; higher fits better")]


@dataclass(frozen=True, slots=True)
class Results:
    """Pages, best first."""

    results: tuple[_Result, ...]


@dataclass(frozen=True, slots=True)
class _Fetched:
    """A part of a page's text."""

    url: str
    title: str
    captured: Annotated[str | None, Field(description="day on which the page was saved")]
    media_type: Annotated[str, Field(description="of the saved page; the text is plain")]
    text: str
    offset: int
    total_chars: int
    next_offset: Annotated[int | None, Field(description="where the next part begins, if any")]


def search(index: PageIndex, query: str, limit: int) -> Results:
    """Captured pages that hold words of the query."""
    return Results(
        tuple(
            _Result(hit.url, hit.title, hit.captured, excerpt(hit.text, query), hit.score)
            for hit in index.search(query, limit)
        )
    )


def fetch(index: PageIndex, url: str, offset: int) -> _Fetched | Refusal:
    """The text of a captured page from `offset` on. A page that was not captured is refused."""
    page = index.page(url)
    if page is None:
        return Refusal("not captured: there is no copy of this page, and no network to load it.")
    end = offset + PAGE_CHARS
    return _Fetched(
        url=page.url,
        title=page.title,
        captured=page.captured,
        media_type=page.media_type,
        text=page.text[offset:end],
        offset=offset,
        total_chars=len(page.text),
        next_offset=end if end < len(page.text) else None,
    )


WEB_TOOLS = (
    ToolSpec(
        "search",
        "Search the web",
        "Web pages by their words, best first. Pages were captured; the live web is out of reach.",
        SearchArguments,
        TypeAdapter(Results),
        search,
    ),
    ToolSpec(
        "fetch",
        "Read a web page",
        f"The text of a captured page, {PAGE_CHARS:,} characters at a time.",
        FetchArguments,
        TypeAdapter(_Fetched),
        fetch,
    ),
)


# A scripted agent on the web: it searches, opens pages, and copies the number that seems to fit.
#
# It uses what an agent is given, the question and the two tools, and no model. It shows that the
# web condition runs from end to end, and how far copying a printed number goes.

_Move = tuple[str, Mapping[str, Any]]  # a tool's name and its arguments
_QUERY, _HITS, _OPENED = 1000, 20, 2
_STATEMENTS = ("Income statement", "Balance sheet", "Cash flow statement", "Segments")
_DAY = re.compile(rf"((?:{'|'.join(MONTHS)}) \d{{1,2}})(?:, (\d{{4}}))?")
_PERIOD = re.compile(r"(?:(?:first|second|third|fourth)[a-z ]* of )?fiscal year \d{4}")
_SCALES = {"thousands": 10**3, "millions": 10**6, "billions": 10**9}
_SCALE = re.compile(rf"\bin ({'|'.join(_SCALES)})\b")
_LINE = re.compile(r"^([^\t\n]{2,300})\t(\(?)(-?\d[\d,]*(?:\.\d+)?)\)?$", re.MULTILINE)
_LOCAL = re.compile(r" / .*| \[.*\]$| \([^()]{1,8}\)$")
_NO_AMOUNT = re.compile(r"\((?:[A-Z]{3}/share|shares|ratio|count)\)$")
_PERIOD_WEIGHT = 100.0  # beside the fit of a line, from 0 to 100


def read_pages(prompt: str, index: PageIndex) -> tuple[tuple[_Move, ...], str | None]:
    """The calls, and the answer if there is one.

    Find the company, look for its statements, open the best pages, answer with the best line.
    """
    question = prompt.partition("\n\n")[0]
    moves: list[_Move] = [("search", {"query": question[:_QUERY], "limit": _HITS})]
    names = [hit.title.partition(":")[0] for hit in _hits(index, moves[0])]
    company = max(names, key=lambda name: _fit(name, question), default="")
    period, urls = _period(question), []
    for statement in _STATEMENTS:
        query = " ".join([company, statement, *period])[:_QUERY]
        moves.append(("search", {"query": query, "limit": _HITS}))
        hits = [hit for hit in _hits(index, moves[-1]) if hit.title.startswith(company)]
        hits.sort(key=lambda hit: -_share([statement, *period], f"{hit.title}\n{hit.excerpt}"))
        urls += [hit.url for hit in hits[:_OPENED]]
    amounts: list[tuple[float, str]] = []
    for url in dict.fromkeys(urls):
        moves.append(("fetch", {"url": url, "offset": 0}))
        page = fetch(index, url, 0)
        amounts += [] if isinstance(page, Refusal) else _amounts(page, question)
    best = max(amounts, key=lambda amount: amount[0], default=None)
    return tuple(moves), best[1] if best is not None else None


def _hits(index: PageIndex, move: _Move) -> tuple[_Result, ...]:
    return search(index, **move[1]).results


def _amounts(page: _Fetched, question: str) -> Iterator[tuple[float, str]]:
    """How well each printed number fits the question, and the number as it asks for it."""
    period = _share(_period(question), f"{page.title}\n{page.text}")
    scale = _scale(question) / Decimal(_scale(page.text))
    for label, bracket, digits in _LINE.findall(page.text):
        if _NO_AMOUNT.search(label):
            continue
        amount = Decimal(digits.replace(",", "")) / scale
        yield (
            _PERIOD_WEIGHT * period + _fit(label, question),
            f"{'-' if bracket else ''}{amount.normalize():f}",
        )


def _period(question: str) -> list[str]:
    """The days of the question, or its fiscal year, in the words of the pages."""
    days = _DAY.findall(question)
    last_year = next((year for _, year in reversed(days) if year), "")
    named = [f"{day}, {year or last_year}" for day, year in days]
    return named or _PERIOD.findall(question)[:1]


def _share(parts: list[str], text: str) -> float:
    """The share of the parts that occur in the text."""
    return sum(part in text for part in parts) / max(len(parts), 1)


def _scale(text: str) -> int:
    named = _SCALE.search(text)
    return _SCALES[named[1]] if named else 1


def _fit(label: str, question: str) -> float:
    """0 to 100: do the words of a name occur in the question? The longest that do fit best."""
    words, within = fold_words(_LOCAL.sub("", label)), f" {fold_words(question)} "
    if f" {words} " in within:
        return min(60.0 + len(words), 100.0)
    return 0.6 * float(fuzz.token_sort_ratio(words, within))
