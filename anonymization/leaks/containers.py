"""The contents of files: members of archives, and the text of Parquet, PDF and PNG files.

Members are inflated under limits and never extracted.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from anonymization.leaks.contracts import LeakConfig, NotScannable
from anonymization.leaks.views import joined_lines
from data.archive_kinds import ArchiveKind, kinds_of

_CHUNK = 1 << 18
_XZ_MEMORY = 1 << 27
_BROKEN = (
    zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError,
    zipfile.BadZipFile, tarfile.TarError, NotImplementedError,
)  # fmt: skip


class CannotScan(Exception):
    """The content cannot be searched, for a `reason`."""

    def __init__(self, reason: NotScannable) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Part:
    """A member of a container: its name and its bytes."""

    name: str
    data: bytes


class Budget:
    """Limits the inflated size of one released file, nested archives included."""

    def __init__(self, size: int, config: LeakConfig) -> None:
        by_ratio = max(config.free_inflated_bytes, size * config.max_inflation_ratio)
        self.left = min(config.max_inflated_bytes, by_ratio)
        self.members = config.max_members

    def spend(self, count: int) -> None:
        """Raises CannotScan when the file inflates past its limits."""
        self.left -= count
        if self.left < 0:
            raise CannotScan(NotScannable.INFLATES)

    def spend_member(self) -> None:
        """Raises CannotScan when the file has too many members."""
        self.members -= 1
        if self.members < 0:
            raise CannotScan(NotScannable.INFLATES)


def is_container(data: bytes) -> bool:
    """Is `data` an archive or a compressed stream?"""
    return bool(kinds_of(data))


def parts(data: bytes, budget: Budget) -> Iterator[Part]:
    """The members of an archive or compressed stream; nothing for other data.

    Raises CannotScan for what is encrypted, broken, of an unknown kind or past the limits.
    """
    for kind in kinds_of(data):
        if kind is ArchiveKind.OPAQUE:
            raise CannotScan(NotScannable.UNKNOWN_ARCHIVE)
        try:
            yield from _OPENERS[kind](data, budget)
        except _BROKEN as error:
            if kind is not ArchiveKind.LZMA:  # which has no magic number: it may be no stream
                raise CannotScan(NotScannable.BROKEN) from error


def _zip(data: bytes, budget: Budget) -> Iterator[Part]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            budget.spend_member()
            if member.is_dir():
                yield Part(member.filename, b"")
                continue
            if member.flag_bits & 1:
                raise CannotScan(NotScannable.ENCRYPTED)
            with archive.open(member) as stream:
                content = _read(stream.read, budget)
            yield Part(member.filename, content)
            if member.comment:
                yield Part(f"{member.filename} (comment)", member.comment)
        if archive.comment:
            yield Part("(comment)", archive.comment)


def _tar(data: bytes, budget: Budget) -> Iterator[Part]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            budget.spend_member()
            stream = archive.extractfile(member) if member.isfile() else None
            names = "\n".join((member.name, member.linkname, member.uname, member.gname))
            yield Part(member.name, _read(stream.read, budget) if stream else b"")
            yield Part(f"{member.name} (header)", names.encode("utf-8", "replace"))


def _read(read: Callable[[int], bytes], budget: Budget) -> bytes:
    content = bytearray()
    while chunk := read(_CHUNK):
        budget.spend(len(chunk))
        content += chunk
    return bytes(content)


def _inflated(stream: io.BufferedIOBase, budget: Budget) -> Iterator[Part]:
    yield Part("(inflated)", _read(stream.read, budget))


def _lzma(data: bytes, budget: Budget) -> Iterator[Part]:
    lzma.LZMADecompressor(memlimit=_XZ_MEMORY).decompress(data, 1)  # refuses a huge dictionary
    with lzma.LZMAFile(io.BytesIO(data)) as stream:
        yield from _inflated(stream, budget)


_OPENERS: dict[ArchiveKind, Callable[[bytes, Budget], Iterator[Part]]] = {
    ArchiveKind.ZIP: _zip,
    ArchiveKind.TAR: _tar,
    ArchiveKind.GZIP: lambda data, budget: _inflated(
        gzip.GzipFile(fileobj=io.BytesIO(data)), budget
    ),
    ArchiveKind.BZIP2: lambda data, budget: _inflated(bz2.BZ2File(io.BytesIO(data)), budget),
    ArchiveKind.XZ: _lzma,
    ArchiveKind.LZMA: _lzma,
}
_ROWS = 65_536
_BROKEN_PARQUET = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_TEXT = (b"zTXt", b"iTXt", b"iCCP")


def document_parts(data: bytes, budget: Budget, config: LeakConfig) -> Iterator[Part]:
    """The text of a document, as UTF-8 parts; nothing for other data.

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
    """Compressed text chunks (PNG 1.2, §4.2.3); other chunks are searched undecoded."""
    offset = len(_PNG)
    while offset + 12 <= len(data):
        size = int.from_bytes(data[offset : offset + 4], "big")
        kind, body = data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + size]
        if kind in _PNG_TEXT:
            yield Part(f"({kind.decode()})", _inflated_text(kind, body, budget))
        offset += 12 + size


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
