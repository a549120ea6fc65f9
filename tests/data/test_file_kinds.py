"""Archive kinds: by content, from both ends of a file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.file_kinds import ArchiveKind, kinds_of


def zipped(content: bytes, comment: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", content)
        archive.comment = comment
    return buffer.getvalue()


def tarred(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("a")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (zipped(b"x"), (ArchiveKind.ZIP,)),
        (b"MZ\x90 a program" + zipped(b"x"), (ArchiveKind.ZIP,)),
        (b"MZ" + zipped(b"x", b"a comment " * 6000), (ArchiveKind.ZIP,)),
        (gzip.compress(b"x") + zipped(b"x"), (ArchiveKind.GZIP, ArchiveKind.ZIP)),
        (bz2.compress(b"x"), (ArchiveKind.BZIP2,)),
        (lzma.compress(b"x"), (ArchiveKind.XZ,)),
        (lzma.compress(b"x", lzma.FORMAT_ALONE), (ArchiveKind.LZMA,)),
        (tarred(b"x"), (ArchiveKind.TAR,)),
        (b"7z\xbc\xaf\x27\x1c", (ArchiveKind.OPAQUE,)),
        (b"PK\x05\x06 in the middle of a text about zip files", (ArchiveKind.ZIP,)),
        (b"a text about PK\x05\x06, which ends a zip archive", ()),
        (b"", ()),
    ],
)
def test_kinds_are_told_by_content(content: bytes, kinds: tuple[ArchiveKind, ...]) -> None:
    assert kinds_of(content) == kinds


@given(st.text(min_size=1, max_size=700))
def test_texts_are_no_archives(text: str) -> None:
    assert not set(kinds_of(f" {text}".encode())) - {ArchiveKind.ZIP}
