"""Text that documents keep in forms of their own: Parquet columns, PDF pages, PNG chunks."""

from __future__ import annotations

import io
import subprocess
import sys
import zlib
from collections.abc import Iterator

import polars as pl

from anonymization.leaks.containers import Budget, CannotScan, Part
from anonymization.leaks.contracts import LeakConfig, NotScannable
from anonymization.leaks.views import joined_lines

_ROWS = 65_536
_BROKEN_PARQUET = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_TEXT = (b"zTXt", b"iTXt", b"iCCP")


def document_parts(data: bytes, budget: Budget, config: LeakConfig) -> Iterator[Part]:
    """What a document says, as UTF-8 parts; nothing for other data.

    Raises CannotScan when it cannot be read within the limits.
    """
    if data.startswith(b"PAR1"):
        yield from _parquet(data, budget)
    elif data[:1024].lstrip().startswith(b"%PDF-"):
        yield from _pdf(data, budget, config)
    elif data.startswith(_PNG):
        yield from _png(data, budget)


def _parquet(data: bytes, budget: Budget) -> Iterator[Part]:
    """Each column as lines of text; numbers too, for codes that look like them."""
    try:
        table = pl.scan_parquet(io.BytesIO(data))
        # In slices: a few bytes of a file can stand for any number of equal rows.
        for first in range(0, table.select(pl.len()).collect().item(), _ROWS):
            batch = table.slice(first, _ROWS).collect()
            budget.spend(int(batch.estimated_size()))
            for column in batch:
                if not column.dtype.is_float() and column.dtype != pl.Boolean:
                    yield Part(column.name, _lines(column))
    except (*_BROKEN_PARQUET, OSError, ValueError) as error:
        raise CannotScan(NotScannable.BROKEN) from error


def _lines(column: pl.Series) -> bytes:
    if column.dtype.is_integer():  # as `str` writes them, a hundred times faster
        column = column.cast(pl.String)
    values = column.drop_nulls().to_list()
    if column.dtype == pl.Binary:
        return b"\n".join(values)
    return "\n".join(map(str, values)).encode("utf-8", "replace")


def _pdf(data: bytes, budget: Budget, config: LeakConfig) -> Iterator[Part]:
    """The text layer and metadata, read by a child process with limits of its own."""
    command = [sys.executable, "-m", "anonymization.leaks.pdf_text", str(config.document_seconds)]
    try:
        done = subprocess.run(  # noqa: S603 — this interpreter and a fixed module
            command,
            input=data,
            capture_output=True,
            timeout=config.document_seconds,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise CannotScan(NotScannable.BROKEN) from error
    budget.spend(len(done.stdout))
    yield Part("(text)", done.stdout)
    yield Part("(text, lines joined)", joined_lines(done.stdout))


def _png(data: bytes, budget: Budget) -> Iterator[Part]:
    """Compressed text chunks (PNG 1.2, §4.2.3); the others are searched as they stand."""
    place = len(_PNG)
    while place + 12 <= len(data):
        size = int.from_bytes(data[place : place + 4], "big")
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + size]
        if kind in _PNG_TEXT:
            yield Part(f"({kind.decode()})", _inflated_text(kind, body, budget))
        place += 12 + size


def _inflated_text(kind: bytes, body: bytes, budget: Budget) -> bytes:
    if kind == b"iTXt":
        head, _, rest = body.partition(b"\0")
        if rest[:1] != b"\x01":
            return body
        packed = rest[2:].split(b"\0", 2)[-1]
    else:
        head, _, rest = body.partition(b"\0")
        packed = rest[1:]
    try:
        text = zlib.decompressobj().decompress(packed, max(1, budget.left))
    except zlib.error as error:
        raise CannotScan(NotScannable.BROKEN) from error
    budget.spend(len(text))
    return head + b"\n" + text
