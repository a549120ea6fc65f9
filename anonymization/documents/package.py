"""Zip packages read under limits and written so that the same parts give the same bytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from anonymization.documents.contracts import DocumentConfig, Refusal, Refused

_CHUNK = 1 << 18
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FIRST = "[Content_Types].xml"
_CFB = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read_package(data: bytes, config: DocumentConfig) -> dict[str, bytes]:
    """The parts by name. Raises Refused for what is broken, encrypted or inflates too far."""
    if data.startswith(_CFB):  # an encrypted office file is a compound file
        raise Refused(Refusal.ENCRYPTED)
    by_ratio = max(config.free_inflated_bytes, len(data) * config.max_inflation_ratio)
    left = min(config.max_inflated_bytes, by_ratio)
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
                parts[member.filename] = _read(archive, member, left)
                left -= len(parts[member.filename])
            return parts
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError):
        raise Refused(Refusal.BROKEN) from None


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, left: int) -> bytes:
    content = bytearray()
    with archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            content += chunk
            if len(content) > left:
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
