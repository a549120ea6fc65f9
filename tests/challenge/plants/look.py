"""Every way to look at a file, so that nothing hides behind an encoding."""

from __future__ import annotations

import base64
import binascii
import email
import email.policy
import html
import io
import quopri
import re
import unicodedata
import urllib.parse
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.challenge.plants.model import Plant

_TAG = re.compile(r"<[^>]*>")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_WRAPPED = re.compile(r"(?<=[A-Za-z0-9+/]{60})\r?\n(?=[A-Za-z0-9+/=])")
_DEPTH = 4
_MAIL = b"MIME-Version:"


def fold(text: str) -> str:
    """NFKC, lower case, without white space, hyphens and invisible characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(
        char
        for char in plain
        if not char.isspace() and char != "-" and unicodedata.category(char) != "Cf"
    )


def views(data: bytes, depth: int = 0) -> Iterator[str]:
    """The texts that one file's bytes hold, in every encoding that is known here."""
    if depth > _DEPTH:
        return
    if data.startswith(b"PK\x03\x04"):
        yield from _members(data, depth)
        return
    for text in _decodings(data):
        yield from _unwrapped(text, depth)
    if _MAIL in data[:20_000]:
        yield from _mail(data, depth)


def survivors(plants: Iterable[Plant], out: Path) -> list[Plant]:
    """The plants whose value is still in some file below `out`, or in its name."""
    texts: list[str] = []
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        texts.append(str(path.relative_to(out)))
        texts.extend(views(path.read_bytes()))
    hay = "\n".join(fold(text) for text in texts)
    return [plant for plant in plants if fold(plant.value) in hay]


def _members(data: bytes, depth: int) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            yield name
            yield from views(archive.read(name), depth + 1)


def _decodings(data: bytes) -> Iterator[str]:
    yield data.decode("utf-8", "replace")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        yield data.decode("utf-16", "replace")
    elif b"\0" not in data and not _is_utf8(data):
        yield data.decode("gb18030", "replace")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _unwrapped(text: str, depth: int) -> Iterator[str]:
    yield text
    yield urllib.parse.unquote(html.unescape(text))
    yield html.unescape(_TAG.sub("", text))
    yield _ESCAPE.sub(lambda hit: chr(int(hit[1], 16)), text)
    for hit in _BASE64.finditer(_WRAPPED.sub("", text)):
        yield from _inside_base64(hit[0], depth)


def _inside_base64(run: str, depth: int) -> Iterator[str]:
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        data = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return
    if _is_utf8(data) or data.startswith(b"PK\x03\x04"):
        yield from views(data, depth + 1)


def _mail(data: bytes, depth: int) -> Iterator[str]:
    message = email.message_from_bytes(data, policy=email.policy.default)
    for part in message.walk():
        for name, value in part.items():
            yield f"{name}: {value}"
        yield part.get_filename() or ""
        content = part.get_payload(decode=True)
        if isinstance(content, bytes):
            yield from views(content, depth + 1)
    yield quopri.decodestring(data).decode("utf-8", "replace")
