"""Tar archives that have the same bytes wherever they are written."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_MTIME = 1_767_225_600  # 2026-01-01T00:00:00Z


@dataclass(frozen=True, slots=True)
class Member:
    """A file (`content`) or a folder (None) with its permission bits."""

    name: str
    mode: int
    content: bytes | None = None


def tar(members: Sequence[Member]) -> bytes:
    """An archive of members in the given order, owned by root, uncompressed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for member in members:
            info = tarfile.TarInfo(member.name)
            info.mode, info.mtime = member.mode, _MTIME
            info.uname = info.gname = "root"
            if member.content is None:
                info.type = tarfile.DIRTYPE
            else:
                info.size = len(member.content)
            archive.addfile(info, None if member.content is None else io.BytesIO(member.content))
    return buffer.getvalue()


def untar(data: bytes) -> list[Member]:
    """The files and folders of an archive."""
    members = []
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for info in archive:
            opened = archive.extractfile(info)
            content = opened.read() if opened is not None else None
            members.append(Member(info.name.rstrip("/"), info.mode, content))
    return members


def with_modes(data: bytes, mode_of: Callable[[Member], int]) -> bytes:
    """The archive with the permissions that `mode_of` names."""
    return tar([Member(each.name, mode_of(each), each.content) for each in untar(data)])


def with_mode(data: bytes, modes: Mapping[str, int]) -> bytes:
    """The archive with other permissions for some members."""
    return with_modes(data, lambda member: modes.get(member.name, member.mode))
