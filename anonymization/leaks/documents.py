"""Text that documents keep in forms of their own: Parquet columns, PDF pages, PNG chunks."""

from __future__ import annotations

import io
import subprocess
import sys
import zlib
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from anonymization.leaks.containers import Budget, CannotScan, Part
from anonymization.leaks.contracts import LeakConfig, NotScannable
from anonymization.leaks.views import joined_lines

_ROWS = 65_536
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
        file = pq.ParquetFile(io.BytesIO(data))
        for batch in file.iter_batches(batch_size=_ROWS):
            budget.spend(batch.nbytes)
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if not pa.types.is_floating(column.type) and not pa.types.is_boolean(column.type):
                    yield Part(name, _lines(column))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CannotScan(NotScannable.BROKEN) from error


def _lines(column: pa.Array) -> bytes:
    if pa.types.is_integer(column.type):  # as `str` writes them, a hundred times faster
        column = column.cast(pa.string())
    values = column.drop_null().to_pylist()
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
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
