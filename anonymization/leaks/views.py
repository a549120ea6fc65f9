"""The decoded forms of a layer of text, in which plain values can be found."""

from __future__ import annotations

import html
import quopri
import re
from collections.abc import Callable, Iterator

from anonymization.leaks.contracts import Encoding

_JSON = re.compile(rb'\\(?:u[0-9A-Fa-f]{4}(?:\\u[0-9A-Fa-f]{4})*|["\\/bfnrt])')
_JSON_SHORT = {
    b'\\"': b'"',
    b"\\\\": b"\\",
    b"\\/": b"/",
    b"\\b": b"\b",
    b"\\f": b"\f",
    b"\\n": b"\n",
    b"\\r": b"\r",
    b"\\t": b"\t",
}
_JSON_ROUNDS = 3  # JSON in JSON in JSON
_PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*")
_ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_QUOTED = re.compile(rb"=(?:[0-9A-F]{2}|\r?\n)")
_TAG = re.compile(rb"<[^<>]{0,4000}>")
# Ends of blocks: the two sides are separate texts. Runs inside a block are one text.
_BLOCK_END = re.compile(
    rb"</(?:[a-z0-9]{1,4}:)?(?:p|si|c|v|row|tr|td|th|li|div|h[1-6]|title|option|comment|text|dd|dt)>"
    rb"|<(?:[a-z0-9]{1,4}:)?(?:br|tab|cr)[ /]{0,2}>",
    re.IGNORECASE,
)
_INDENT = re.compile(rb">[ \t]*\r?\n[ \t\r\n]*<")
# A line of base64 as mail wraps it, followed by another. The pattern begins with the break and
# looks behind from there; otherwise it would be tried at every position.
_BREAK = rb"(?:{0}(?<=[A-Za-z0-9+/_-]{40}{0}))"
_WRAP = re.compile(
    rb"(?:"
    + b"|".join(_BREAK.replace(b"{0}", one) for one in (rb"\r\n", rb"\n", rb"\\r\\n", rb"\\n"))
    + rb")[ \t]{0,8}(?=[A-Za-z0-9+/=_-])"
)
_WRAPPED_LINE = 40
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_BASE64 = bytes(ord("A") if code in _ALPHABET else 0 for code in range(256))
_BREAKS = re.compile(rb"[ \t]*(?:\r?\n)[ \t]*")
_Plain = Callable[[re.Match[bytes]], bytes]
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def views(data: bytes, reach: int) -> Iterator[tuple[Encoding, bytes]]:
    """The forms of `data` in which escapes of one kind are decoded, if there are any.

    Only text within `reach` bytes of an escape is kept, as only a value there can contain it.
    UTF-16 with a byte order mark becomes UTF-8; JSON escapes are decoded up to three times; in
    markup tags are removed and entities decoded; lines of base64 are joined.
    """
    codec = _UTF16_MARKS.get(data[:2])
    if codec:
        text = data.decode(codec, "replace").encode("utf-8", "replace")
        yield (Encoding.UTF16_LE if codec.endswith("le") else Encoding.UTF16_BE), text
    yield from _json_views(data, reach)
    if b"%" in data and (plain := undone(data, _PERCENT, _of_percent, reach)):
        yield Encoding.PERCENT, plain.replace(b"+", b" ")
    if b"-printable" in data or b"-PRINTABLE" in data or b"-Printable" in data:
        yield Encoding.QUOTED_PRINTABLE, quopri.decodestring(data)
    if b"&" in data and (plain := undone(data, _ENTITY, _of_entity, reach)):
        yield Encoding.HTML, plain
    if b"</" in data:
        text = _TAG.sub(b"", _BLOCK_END.sub(b"\n", _INDENT.sub(b"><", data)))
        yield Encoding.MARKUP_TEXT, _ENTITY.sub(_of_entity, text)
    if has_run(data, _WRAPPED_LINE) and _WRAP.search(data):
        yield Encoding.WRAPPED, _WRAP.sub(b"", data)


def has_run(data: bytes, length: int) -> bool:
    """Does it contain `length` consecutive base64 characters?"""
    return b"A" * length in data.translate(_BASE64)


_WORD = re.compile(rb"[A-Za-z0-9]{0,64}")
_WORD_BEFORE = re.compile(rb"[A-Za-z0-9]*\Z")


def undone(data: bytes, pattern: re.Pattern[bytes], plain: _Plain, reach: int) -> bytes:
    """`data` with its escapes decoded, without what is farther than `reach` from all of them.

    It is cut between words: half of a longer code is no code.
    """
    pieces: list[bytes] = []
    last = -reach
    for match in pattern.finditer(data):
        start, end = match.span()
        if start - last > 2 * reach:
            pieces += (_after(data, last, reach), b"\n", _before(data, start, reach))
        else:
            pieces.append(data[max(0, last) : start])
        pieces.append(plain(match))
        last = end
    if pieces:
        pieces.append(_after(data, last, reach))
    return b"".join(pieces)


def _after(data: bytes, last: int, reach: int) -> bytes:
    """What follows `last` within reach, to the end of its last word."""
    cut = max(0, last + reach)
    word = _WORD.match(data, cut)
    return data[max(0, last) : word.end() if word and cut else cut]


def _before(data: bytes, start: int, reach: int) -> bytes:
    """What comes before `start` within reach, from the beginning of its first word."""
    cut = start - reach
    word = _WORD_BEFORE.search(data, max(0, cut - 64), cut)
    return data[word.start() if word else cut : start]


def joined_lines(data: bytes) -> bytes:
    """Text with line breaks turned into spaces, for values that a page broke in two."""
    return _BREAKS.sub(b" ", data)


def _json_views(data: bytes, reach: int) -> Iterator[tuple[Encoding, bytes]]:
    for _ in range(_JSON_ROUNDS):
        data = undone(data, _JSON, _of_json, reach) if b"\\" in data else b""
        if not data:
            return
        yield Encoding.JSON, data


def _of_json(match: re.Match[bytes]) -> bytes:
    escape = match.group()
    short = _JSON_SHORT.get(escape)
    if short is not None:
        return short
    units = bytes.fromhex(escape.replace(b"\\u", b"").decode("ascii"))
    return units.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass")


def _of_percent(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match.group().replace(b"%", b"").decode("ascii"))


def _of_entity(match: re.Match[bytes]) -> bytes:
    return html.unescape(match.group().decode("ascii")).encode("utf-8", "replace")
