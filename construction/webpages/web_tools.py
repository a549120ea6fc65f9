"""`search` and `fetch` over captured pages: FinRetrieval's web condition, without a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter

from construction.statements.tools.agent_tools import Arguments, ToolSpec
from construction.statements.tools.database import Refusal
from construction.webpages.page_index import PageIndex, excerpt

_MOST_HITS = 20
_QUERY, _URL = 1000, 8192
PAGE_CHARS = 20_000  # of text in one answer of `fetch`


class SearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=_QUERY, description="words to look for")
    limit: int = Field(default=8, ge=1, le=_MOST_HITS, description="most pages to return")


class FetchArguments(Arguments):
    url: str = Field(min_length=1, max_length=_URL, description="address of a page")
    offset: int = Field(
        default=0, ge=0, description="first character; next_offset of the part before"
    )


@dataclass(frozen=True, slots=True)
class Result:
    """One page that fits."""

    url: Annotated[str, Field(description="use it in fetch")]
    title: str
    captured: Annotated[str | None, Field(description="day on which the page was saved")]
    excerpt: Annotated[str, Field(description="where the page has most of the words")]
    score: Annotated[float, Field(description="BM25; higher fits better")]


@dataclass(frozen=True, slots=True)
class Results:
    """Pages, best first."""

    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Fetched:
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
            Result(hit.url, hit.title, hit.captured, excerpt(hit.text, query), hit.score)
            for hit in index.search(query, limit)
        )
    )


def fetch(index: PageIndex, url: str, offset: int) -> Fetched | Refusal:
    """The text of a captured page from `offset` on. A page that was not captured is refused."""
    page = index.page(url)
    if page is None:
        return Refusal("not captured: there is no copy of this page, and no network to load it.")
    end = offset + PAGE_CHARS
    return Fetched(
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
        TypeAdapter(Fetched),
        fetch,
    ),
)
