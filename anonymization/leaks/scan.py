"""The leak scan: does a release contain any private value, in any form? (law 9)"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import subprocess
import sys
import tarfile
import unicodedata
import zipfile
import zlib
from base64 import b32decode, b64decode
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from anonymization.leaks.contracts import Encoding, Leak, LeakConfig, NotScannable
from anonymization.leaks.leak_patterns import LeakPatterns, has_run, joined_lines, undone, views
from data.file_kinds import ArchiveKind, kinds_of

# The contents of files: members of archives, and the text of Parquet, PDF and PNG files.
#
# Members are inflated under limits and never extracted.

_CHUNK = 1 << 18
_XZ_MEMORY = 1 << 27
_BROKEN = (
    zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError,
    zipfile.BadZipFile, tarfile.TarError, NotImplementedError,
)  # fmt: skip


class _CannotScan(Exception):
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
            raise _CannotScan(NotScannable.INFLATES)

    def spend_member(self) -> None:
        """Raises CannotScan when the file has too many members."""
        self.members -= 1
        if self.members < 0:
            raise _CannotScan(NotScannable.INFLATES)


def _is_container(data: bytes) -> bool:
    """Is `data` an archive or a compressed stream?"""
    return bool(kinds_of(data))


def _parts(data: bytes, budget: Budget) -> Iterator[Part]:
    """The members of an archive or compressed stream; nothing for other data.

    Raises CannotScan for what is encrypted, broken, of an unknown kind or past the limits.
    """
    for kind in kinds_of(data):
        if kind is ArchiveKind.OPAQUE:
            raise _CannotScan(NotScannable.UNKNOWN_ARCHIVE)
        try:
            yield from _OPENERS[kind](data, budget)
        except _BROKEN as error:
            if kind is not ArchiveKind.LZMA:  # which has no magic number: it may be no stream
                raise _CannotScan(NotScannable.BROKEN) from error


def _zip(data: bytes, budget: Budget) -> Iterator[Part]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            budget.spend_member()
            if member.is_dir():
                yield Part(member.filename, b"")
                continue
            if member.flag_bits & 1:
                raise _CannotScan(NotScannable.ENCRYPTED)
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


def _document_parts(data: bytes, budget: Budget, config: LeakConfig) -> Iterator[Part]:
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
        raise _CannotScan(NotScannable.BROKEN) from error


def _lines(column: pl.Series) -> bytes:
    if column.dtype.is_integer():  # as `str` writes them, a hundred times faster
        column = column.cast(pl.String)
    values = column.drop_nulls().to_list()
    if column.dtype == pl.Binary:
        return b"\n".join(values)
    return "\n".join(map(str, values)).encode("utf-8", "replace")


def _pdf(data: bytes, budget: Budget, config: LeakConfig) -> Iterator[Part]:
    """The text layer and metadata, read by a child process with limits of its own."""
    command = [sys.executable, "-m", "anonymization.pdf_pages", str(config.document_seconds)]
    try:
        done = subprocess.run(  # noqa: S603 — this interpreter and a fixed module
            command,
            input=data,
            capture_output=True,
            timeout=config.document_seconds,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise _CannotScan(NotScannable.BROKEN) from error
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
        raise _CannotScan(NotScannable.BROKEN) from error
    budget.spend(len(text))
    return head + b"\n" + text


# Forms in which people hide or split a value: look-alike letters, `at` and `dot`, base32, single
# letters, cells and fields.
#
# They are rarer than the escapes of file formats, so each is only undone where its signs stand.

# Letters of other alphabets with the Latin letters that they look like (Unicode TR 39, the
# confusables of Latin letters among Cyrillic and Greek ones).
_CYRILLIC = "аАВсСеЕНіІјЈкКМоОрРѕЅТхХуУԁԛԝһ"
_AS_CYRILLIC = "aABcCeEHiIjJkKMoOpPsSTxXyYdqwh"
_GREEK = "αΑΒΕΖΗΙΚΜΝοΟρΡΤυΥΧνι"
_AS_GREEK = "aABEZHIKMNoOpPTuYXvi"
_ALIKE = str.maketrans(_CYRILLIC + _GREEK, _AS_CYRILLIC + _AS_GREEK)
# Runs of UTF-8 for U+00C0 to U+052F and U+1E00 to U+1EFF.
_LETTERS = re.compile(rb"(?:[\xc3-\xd4][\x80-\xbf]|\xe1[\xb8-\xbb][\x80-\xbf])+")
_SPOKEN = re.compile(rb"(?i)[ \t]+(at|dot)[ \t]+")
_SIGNS = {b"at": b"@", b"dot": b"."}
_BASE32 = re.compile(rb"(?<![A-Za-z0-9+/=])[A-Z2-7]{12,}(?![A-Za-z0-9+/])")
# Between two letters; it begins with a look at the sign itself, which keeps the search fast.
_CELL_END = re.compile(
    rb"(?=[\"',;\t|])(?<=[A-Za-z\x80-\xff])[\"']?[,;\t|][\"']?(?=[A-Za-z\x80-\xff])"
)
# Between two values of neighbouring fields of a record in JSON.
_FIELD_END = re.compile(
    rb"(?<=[A-Za-z\x80-\xff])\\{0,3}\"\s{0,4},\s{0,40}\\{0,3}\"[\w .-]{1,40}\\{0,3}\"\s{0,4}:"
    rb"\s{0,4}\\{0,3}\"(?=[A-Za-z\x80-\xff])"
)
_SPACED = re.compile(rb"(?<![A-Za-z0-9])(?:[A-Za-z0-9] ){4,60}[A-Za-z0-9](?![A-Za-z0-9])")
_JOINT = b"\0,"  # stands for the end of a cell until it becomes a blank, or a comma and a blank


def _disguises(data: bytes, reach: int) -> Iterator[tuple[Encoding, bytes]]:
    """The forms of a layer with disguises of one kind undone, if it has their signs.

    As in `views`, only text within `reach` bytes of a sign is kept.
    """
    if plain := undone(data, _LETTERS, _plain_letters, reach):
        yield Encoding.LOOK_ALIKE, plain
    if b" dot " in data or b" DOT " in data or b" Dot " in data:
        yield Encoding.SPOKEN, undone(data, _SPOKEN, _sign, reach)
    if runs := _BASE32.findall(data):
        yield Encoding.BASE32, b"\n".join(map(_of_base32, runs))
    if b'"' in data and (joined := undone(data, _FIELD_END, lambda _: _JOINT, reach)):
        yield Encoding.CELLS, joined.replace(_JOINT, b" ")
        yield Encoding.CELLS, joined.replace(_JOINT, b", ")
    if plain := undone(data, _SPACED, _closed, reach):
        yield Encoding.SPACED, plain
    if joined := undone(data, _CELL_END, lambda _: _JOINT, reach):
        yield Encoding.CELLS, joined.replace(_JOINT, b" ")
        yield Encoding.CELLS, joined.replace(_JOINT, b", ")


def _closed(run: re.Match[bytes]) -> bytes:
    return run.group().replace(b" ", b"")


def _sign(word: re.Match[bytes]) -> bytes:
    return _SIGNS[word[1].lower()]


def _plain_letters(run: re.Match[bytes]) -> bytes:
    """Look-alikes as Latin letters, and letters without their accents."""
    text = run.group().decode("utf-8", "replace").translate(_ALIKE)
    parts = unicodedata.normalize("NFD", text)
    return "".join(char for char in parts if not unicodedata.combining(char)).encode()


def _of_base32(run: bytes) -> bytes:
    """What whole groups of eight digits and the rest of the run stand for."""
    whole = len(run) // 8 * 8
    rest = run[whole:]
    usable = {2, 4, 5, 7}
    while rest and len(rest) not in usable:
        rest = rest[:-1]
    return b32decode(run[:whole]) + (b32decode(rest + b"=" * (8 - len(rest))) if rest else b"")


# Long base64 is decoded as a file of its own: an attachment, a picture, a text with escapes.
_BLOB = re.compile(
    rb"(?<![A-Za-z0-9+/_-])(?:"
    rb"(?:[A-Za-z0-9+/_-]{60,}(?:\r?\n|\\r\\n|\\n)[ \t]{0,8})+[A-Za-z0-9+/_-]*={0,2}"
    rb"|[A-Za-z0-9+/_-]{160,}={0,2})"
)
_BREAK = re.compile(rb"\\[rn]|\s")
# The first bytes of gzip and of zlib's four levels, in base64; longer runs are blobs.
_PACKED = re.compile(
    rb"[He](?<![A-Za-z0-9+/_-][He])(?:4sI|J[w-z]|N[o-r]|A[E-H]|F[4-7])[A-Za-z0-9+/_-]{12,}={0,2}"
)
_EITHER_HEADER, _MOST_PACKED = 32, 1 << 20
_STANDARD = bytes.maketrans(b"-_", b"+/")
_INNER = "!"
_DOCUMENTS = (b"%PDF", b"\x89PNG", b"PAR1")
_HEAD = 1024
_REACH = 12  # bytes that one byte of a value takes at most when it is escaped twice
_BLOB_LINE = 60
# Views that may reveal base64, hexadecimal digits or UTF-16 that were broken up before.
_CODED = (Encoding.RAW, Encoding.WRAPPED, Encoding.QUOTED_PRINTABLE, Encoding.MARKUP_TEXT)


def scan_release(root: Path, patterns: LeakPatterns, config: LeakConfig) -> list[Leak]:
    """Search all files below `root` for the patterns; sorted, one leak per file, kind, form, value.

    Archives, office files, Parquet, PDF and long base64 are searched inside, up to
    `config.max_depth` deep. File names are searched as well. A file that cannot be searched
    is a leak of a kind `not_scannable.*`; the release fails on either.
    """
    leaks: list[Leak] = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        leaks += _in_name(name, patterns)
        if path.is_symlink():
            leaks.append(_unscanned(name, NotScannable.LINK))
        elif path.is_file():
            leaks += _file(path, name, patterns, config)
    return sorted(set(leaks))


def scan_bytes(name: str, data: bytes, patterns: LeakPatterns, config: LeakConfig) -> list[Leak]:
    """As `scan_release`, for one file that is already in memory."""
    budget = Budget(len(data), config)
    return sorted(set(_layer(name, data, patterns, config, budget, config.max_depth)))


def _file(path: Path, name: str, patterns: LeakPatterns, config: LeakConfig) -> list[Leak]:
    if path.stat().st_size > config.max_file_bytes:
        return [_unscanned(name, NotScannable.TOO_LARGE)]
    return scan_bytes(name, path.read_bytes(), patterns, config)


def _layer(
    name: str, data: bytes, patterns: LeakPatterns, config: LeakConfig, budget: Budget, depth: int
) -> Iterator[Leak]:
    """Leaks in the bytes themselves, in their decoded forms, and in what they contain."""
    yield from _search(name, data, Encoding.RAW, patterns)
    if not _is_container(data):
        decoded = views(data, _REACH * patterns.longest)
        for encoding, view in (*decoded, *_disguises(data, 2 * patterns.longest)):
            yield from _search(name, view, encoding, patterns)
    try:
        for inner_name, inner in _inside(data, config, budget):
            inner_path = f"{name}{_INNER}{inner_name}"
            yield from _in_name(inner_path, patterns)
            if depth == 0:
                raise _CannotScan(NotScannable.TOO_DEEP)
            yield from _layer(inner_path, inner, patterns, config, budget, depth - 1)
    except _CannotScan as stop:
        yield _unscanned(name, stop.reason)


def _inside(data: bytes, config: LeakConfig, budget: Budget) -> Iterator[tuple[str, bytes]]:
    for part in _parts(data, budget):
        yield part.name, part.data
    for part in _document_parts(data, budget, config):
        yield part.name, part.data
    if not _is_container(data):
        for number, blob in enumerate((*_blobs(data, budget), *_packed(data, budget))):
            yield f"(base64 {number})", blob


def _blobs(data: bytes, budget: Budget) -> Iterator[bytes]:
    if not has_run(data, _BLOB_LINE):
        return
    for hit in _BLOB.finditer(data):
        text = _BREAK.sub(b"", hit.group()).rstrip(b"=").translate(_STANDARD)
        blob = b64decode(text[: len(text) // 4 * 4]) + _tail(text)
        budget.spend(len(blob))
        if _is_container(blob) or blob.startswith(_DOCUMENTS) or _is_text(blob):
            yield blob


def _packed(data: bytes, budget: Budget) -> Iterator[bytes]:
    """Short base64 of what gzip or zlib packed, inflated as far as the budget reaches."""
    for hit in _PACKED.finditer(data):
        text = hit.group().rstrip(b"=").translate(_STANDARD)
        blob = b64decode(text[: len(text) // 4 * 4]) + _tail(text)
        inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | _EITHER_HEADER)
        with suppress(zlib.error):
            plain = inflater.decompress(blob, _MOST_PACKED)
            budget.spend(len(plain))
            yield plain


def _is_text(blob: bytes) -> bool:
    """Is its head valid UTF-8, apart from a character cut in two at the end?"""
    head = blob[:_HEAD]
    return b"\0" not in head and len(head) - len(head.decode("utf-8", "ignore").encode()) < 4


def _tail(text: bytes) -> bytes:
    rest = text[len(text) // 4 * 4 :]
    return b64decode(rest + b"=" * (4 - len(rest))) if len(rest) > 1 else b""


def _in_name(name: str, patterns: LeakPatterns) -> list[Leak]:
    data = name.encode("utf-8", "surrogateescape")
    return [
        Leak(leak.file, leak.kind, Encoding.FILE_NAME, leak.offset, leak.digest, leak.count)
        for view in (data, *(view for _, view in views(data, _REACH * patterns.longest)))
        for leak in _search(name, view, Encoding.RAW, patterns)
    ]


def _search(name: str, data: bytes, view: Encoding, patterns: LeakPatterns) -> list[Leak]:
    """One leak per value and form: the first offset, and the number of occurrences."""
    occurrences: dict[tuple[int, str], tuple[int, int]] = {}
    for hit in patterns.find(data, is_coded=view in _CODED or b"\\/" in data):
        form = _form(view, hit.encoding)
        first, count = occurrences.get((hit.value_index, form), (hit.offset, 0))
        occurrences[hit.value_index, form] = (min(first, hit.offset), count + 1)
    return [
        Leak(name, patterns.values[index].kind, form, first, patterns.digest(index), count)
        for (index, form), (first, count) in occurrences.items()
    ]


def _form(view: Encoding, encoding: Encoding) -> str:
    """How the value was written: the escapes around it, then its own form."""
    if view is Encoding.RAW:
        return encoding.value
    return view.value if encoding is Encoding.RAW else f"{view.value}>{encoding.value}"


def _unscanned(name: str, reason: NotScannable) -> Leak:
    return Leak(name, reason, Encoding.RAW, 0)
