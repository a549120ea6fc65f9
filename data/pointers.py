"""Pointers that lie in a repository in the place of a file's content (Git LFS, git-annex)."""

from __future__ import annotations

_STARTS = (b"version https://git-lfs.github.com/spec/", b"/annex/objects/")
_LONGEST = 1024  # bytes; Git LFS takes nothing longer for one


def is_pointer(head: bytes, size: int) -> bool:
    """Is a file of `size` bytes, which begins with `head`, only a pointer?"""
    return size <= _LONGEST and head.startswith(_STARTS)
