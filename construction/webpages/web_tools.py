"""`search` and `fetch` over captured pages: FinRetrieval's web condition, without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field, TypeAdapter
from rapidfuzz import fuzz

from construction.statements.tools.agent_tools import Arguments, ToolSpec
from construction.statements.tools.database import Refusal
from construction.webpages.pages import PageIndex, excerpt
from data.text.dates import MONTHS
from data.text.folding import fold_words

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
