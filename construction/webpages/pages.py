"""Captured pages on disk: a folder with `pages.parquet` and `pages.json`.

`pages.json` holds the number of pages and the SHA-256 of `pages.parquet`; a folder whose table was
changed since is refused. Pages are sorted by URL, and no address occurs twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
import polars as pl

from construction.mentions.urls import parse_url
from data.canonical import file_digest, pretty_json
from data.errors import InputError
from data.staging.opening import in_memory
from data.tables import write_table

PAGES, ABOUT = "pages.parquet", "pages.json"
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
            rows = connection.execute(query, [str(self.path / PAGES)])
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
    write_table(folder / PAGES, rows, SCHEMA)
    digest = file_digest(folder / PAGES)
    (folder / ABOUT).write_bytes(pretty_json({"pages": len(rows), "sha256": digest}))
    return PageFolder(folder, len(rows), digest)


def open_pages(folder: Path) -> PageFolder:
    """Check a folder of pages. Raises InputError if it is not one, or was changed."""
    remedy = "Make it with `benchmint lane pages`."
    try:
        about = orjson.loads((folder / ABOUT).read_bytes())
        n_pages, expected = int(about["pages"]), str(about["sha256"])
        actual = file_digest(folder / PAGES)
        columns = dict(pl.read_parquet_schema(folder / PAGES))
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        wanted = f"a folder with {PAGES} and {ABOUT}"
        raise InputError(str(folder), type(error).__name__, wanted, remedy) from error
    if actual != expected:
        raise InputError(str(folder / PAGES), f"SHA-256 {actual}", expected, remedy)
    if columns != SCHEMA:
        raise InputError(
            str(folder / PAGES), ", ".join(columns), f"the columns {', '.join(SCHEMA)}", remedy
        )
    return PageFolder(folder, n_pages, actual)
