"""Zip packages: read under limits, written so that the same parts give the same bytes, masked.

Every member of an archive is masked as the file it is, its name too, or none is released.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Mapping

from anonymization.documents.contracts import DocumentConfig, Refusal, Refused
from anonymization.documents.visitor import Visitor, name_edits

_CHUNK = 1 << 18
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FIRST = "[Content_Types].xml"
_CFB = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read_package(data: bytes, config: DocumentConfig) -> dict[str, bytes]:
    """The parts by name. Raises Refused if it is broken or encrypted, or inflates too far."""
    if data.startswith(_CFB):  # an encrypted office file is a compound file
        raise Refused(Refusal.ENCRYPTED)
    by_ratio = max(config.free_inflated_bytes, len(data) * config.max_inflation_ratio)
    remaining = min(config.max_inflated_bytes, by_ratio)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > config.max_parts:
                raise Refused(Refusal.INFLATES)
            parts: dict[str, bytes] = {}
            for member in members:
                if member.is_dir():
                    continue
                if member.flag_bits & 1:
                    raise Refused(Refusal.ENCRYPTED)
                parts[member.filename] = _read_member(archive, member, remaining)
                remaining -= len(parts[member.filename])
            return parts
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError):
        raise Refused(Refusal.BROKEN) from None


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, remaining: int) -> bytes:
    content = bytearray()
    with archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            content += chunk
            if len(content) > remaining:
                raise Refused(Refusal.INFLATES)
    return bytes(content)


def write_package(parts: Mapping[str, bytes]) -> bytes:
    """The parts as a zip file without times, comments or extra fields, in a fixed order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(parts, key=lambda name: (name != _FIRST, name)):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            archive.writestr(info, parts[name])
    return out.getvalue()


def rewrite_archive(visitor: Visitor, parts: dict[str, bytes]) -> bytes:
    """The masked archive, its members in order of their names. Raises Refused for any of them.

    Its inflated size was bounded when `parts` was read; the visitor's depth bounds archives in
    archives.
    """
    masked_parts: dict[str, bytes] = {}
    for number, name in enumerate(sorted(parts)):
        if name.startswith("/") or "\\" in name or ".." in name.split("/"):
            raise Refused(Refusal.BROKEN)  # the path escapes the folder of the archive
        masked = visitor.inner(f"member {number}", parts[name], name)
        new = "/".join(_named(visitor, part) for part in name.split("/"))
        masked_parts[_free(new, masked_parts)] = masked
    return write_package(masked_parts)


def _named(visitor: Visitor, name: str) -> str:
    return visitor.masked("name", name, name_edits(name, visitor.look))


def _free(name: str, taken: dict[str, bytes]) -> str:
    stem, ending = posixpath.splitext(name)
    new, number = name, 2
    while new in taken:
        new, number = f"{stem}-{number}{ending}", number + 1
    return new
