"""The leak scan: does a release contain any private value, in any form? (law 9)"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from anonymization.leaks.containers import Budget, CannotScan, document_parts, is_container, parts
from anonymization.leaks.contracts import Encoding, Leak, LeakConfig, NotScannable
from anonymization.leaks.disguises import disguises
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.leaks.views import has_run, views

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
    if not is_container(data):
        decoded = views(data, _REACH * patterns.longest)
        for encoding, view in (*decoded, *disguises(data, 2 * patterns.longest)):
            yield from _search(name, view, encoding, patterns)
    try:
        for inner_name, inner in _inside(data, config, budget):
            inner_path = f"{name}{_INNER}{inner_name}"
            yield from _in_name(inner_path, patterns)
            if depth == 0:
                raise CannotScan(NotScannable.TOO_DEEP)
            yield from _layer(inner_path, inner, patterns, config, budget, depth - 1)
    except CannotScan as stop:
        yield _unscanned(name, stop.reason)


def _inside(data: bytes, config: LeakConfig, budget: Budget) -> Iterator[tuple[str, bytes]]:
    for part in parts(data, budget):
        yield part.name, part.data
    for part in document_parts(data, budget, config):
        yield part.name, part.data
    if not is_container(data):
        for number, blob in enumerate((*_blobs(data, budget), *_packed(data, budget))):
            yield f"(base64 {number})", blob


def _blobs(data: bytes, budget: Budget) -> Iterator[bytes]:
    if not has_run(data, _BLOB_LINE):
        return
    for hit in _BLOB.finditer(data):
        text = _BREAK.sub(b"", hit.group()).rstrip(b"=").translate(_STANDARD)
        blob = b64decode(text[: len(text) // 4 * 4]) + _tail(text)
        budget.spend(len(blob))
        if is_container(blob) or blob.startswith(_DOCUMENTS) or _is_text(blob):
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
