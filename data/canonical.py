"""Canonical JSON and digests: everything that is hashed in this project goes through here."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Any

import orjson

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


def _default(value: object) -> object:
    if hasattr(value, "model_dump"):  # a model of pydantic, which not every command loads
        return value.model_dump(mode="json")
    if isinstance(value, Path):
        return value.as_posix()
    if hasattr(value, "items"):
        return dict(value.items())
    raise TypeError(f"cannot serialise {type(value).__name__}")


def canonical_json(value: Any) -> bytes:
    """Sorted keys, no white space, UTF-8; floats must be rounded by the caller (law 5)."""
    return orjson.dumps(value, default=_default, option=_OPTIONS)


def pretty_json(value: Any) -> bytes:
    """As `canonical_json`, indented by two and closed by a newline, for files people read."""
    return orjson.dumps(
        value, default=_default, option=_OPTIONS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )


def digest(value: Any) -> str:
    """SHA-256 (hex) of the canonical JSON of `value`, or of `value` itself if it is bytes."""
    raw = value if isinstance(value, bytes) else canonical_json(value)
    return hashlib.sha256(raw).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 (hex) of a file's content, read in chunks."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def is_hex(text: str, length: int) -> bool:
    """Is it so many lower-case hexadecimal digits: 64 of a SHA-256, 40 of a commit?"""
    return len(text) == length and {*text} <= {*"0123456789abcdef"}


def keyed_digest(key: bytes, value: str) -> str:
    """HMAC-SHA-256 (hex) of a private value; the only form in which one may be published."""
    return hmac.digest(key, value.encode("utf-8", "surrogatepass"), "sha256").hex()


def is_deeper(value: Any, levels: int) -> bool:
    """Does a JSON value nest more than so many objects and lists? It is not followed further."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_deeper(item, levels - 1) for item in inner)
