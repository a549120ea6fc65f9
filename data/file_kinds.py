"""What a file is by its content: an archive, a compressed stream, a pointer."""

from __future__ import annotations

import struct
from enum import StrEnum

# What kind of archive or compressed stream a file is, by its content and never by its name.

HEAD_BYTES = 512  # from the start of the file: one block of a tar archive
TAIL_BYTES = 22 + 0xFFFF  # from its end: the end record of a zip archive and its longest comment


class ArchiveKind(StrEnum):
    """`OPAQUE` stands for all formats that nothing here can look into."""

    ZIP = "zip"
    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"
    LZMA = "lzma"  # the format before xz, without a magic number
    TAR = "tar"
    OPAQUE = "opaque"


_MAGIC = (
    (b"PK\x03\x04", ArchiveKind.ZIP),
    (b"PK\x05\x06", ArchiveKind.ZIP),
    (b"\x1f\x8b", ArchiveKind.GZIP),
    (b"BZh", ArchiveKind.BZIP2),
    (b"\xfd7zXZ\x00", ArchiveKind.XZ),
)
_OPAQUE = (
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",  # zstd
    *(bytes([low]) + b"\x2a\x4d\x18" for low in range(0x50, 0x60)),  # skippable frames of zstd, lz4
    b"\x04\x22\x4d\x18",  # lz4
    b"\x02\x21\x4c\x18",  # lz4, legacy
    b"\x1f\x9d",  # compress
    b"\x1f\xa0",  # compress with LZH
    b"LZIP",
    b"\x89LZO\x00",
    b"\xff\x06\x00\x00sNaPpY",
    b"MSCF",  # cabinet
    b"MSWIM\x00",
    b"xar!",
    b"hsqs",  # squashfs
    b"PK\x07\x08",  # zip archives in several parts
    b"PK00PK\x03\x04",
)
_END_RECORD = struct.Struct("<4s4H2LH")
_LZMA_HEAD = struct.Struct("<BLQ")
_LARGEST_PROPERTY = 9 * 5 * 5
_UNKNOWN_SIZE, _LARGEST_LZMA = (1 << 64) - 1, 1 << 38  # as xz-utils tells the format
_CHECKSUM = slice(148, 156)  # of a tar header


def archive_kinds(head: bytes, tail: bytes) -> tuple[ArchiveKind, ...]:
    """The kinds that a file can be opened as, given its first and last bytes; empty for none.

    A zip archive is read from its end, so one may stand behind any other content, an archive too.
    """
    by_head = _by_head(head)
    kinds = (by_head,) if by_head is not None else ()
    return (
        (*kinds, ArchiveKind.ZIP) if by_head is not ArchiveKind.ZIP and _ends_zip(tail) else kinds
    )


def kinds_of(data: bytes) -> tuple[ArchiveKind, ...]:
    """The same for content that is in memory."""
    return archive_kinds(data[:HEAD_BYTES], data[-TAIL_BYTES:])


def _by_head(head: bytes) -> ArchiveKind | None:
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head.startswith(_OPAQUE):
        return ArchiveKind.OPAQUE
    if _is_tar(head):
        return ArchiveKind.TAR
    return ArchiveKind.LZMA if _is_lzma(head) else None


def _is_tar(head: bytes) -> bool:
    """Does the checksum of the first header fit? Tar archives from before POSIX have no magic."""
    if head[257:262] == b"ustar":
        return True
    try:
        stated = int(head[_CHECKSUM].strip(b"\0 "), 8)
    except ValueError:
        return False
    return len(head) >= HEAD_BYTES and stated == sum(head[:148]) + 8 * 32 + sum(head[156:512])


def _is_lzma(head: bytes) -> bool:
    """Properties in range, a dictionary of 2^n or 2^n + 2^(n-1) bytes, a size that can be."""
    if len(head) < _LZMA_HEAD.size:
        return False
    properties, dictionary, size = _LZMA_HEAD.unpack_from(head)
    high = 1 << (dictionary.bit_length() - 1) if dictionary else 0
    is_round = dictionary >= 1 << 12 and dictionary in (high, high + high // 2)
    return (
        properties < _LARGEST_PROPERTY
        and is_round
        and (size == _UNKNOWN_SIZE or 0 < size < _LARGEST_LZMA)
    )


def _ends_zip(tail: bytes) -> bool:
    """Is there an end record with members whose comment fits into what follows it?"""
    at = tail.rfind(b"PK\x05\x06")
    while at >= 0:
        if at + _END_RECORD.size <= len(tail):
            *_, members, directory, _, comment = _END_RECORD.unpack_from(tail, at)
            if members and directory and at + _END_RECORD.size + comment <= len(tail):
                return True
        at = tail.rfind(b"PK\x05\x06", 0, at)
    return False


# Pointers that lie in a repository in the place of a file's content (Git LFS, git-annex).

_STARTS = (b"version https://git-lfs.github.com/spec/", b"/annex/objects/")
_LONGEST = 1024  # bytes; Git LFS takes nothing longer for one


def is_pointer(head: bytes, size: int) -> bool:
    """Is a file of `size` bytes, which begins with `head`, only a pointer?"""
    return size <= _LONGEST and head.startswith(_STARTS)
