"""Patterns of a leak search: the private values in every form in which they are looked for, the
decoded forms of a text in which plain ones can be found, and the search for all at once.

At every position the first bytes are read as one integer (numpy reads eight interleaved arrays of
them without copying), hashed into a bitmap of the patterns' windows; of the few that pass, window
and last bytes are compared in bulk, and the rest one by one. The cost hardly depends on the number
of patterns (after Karp and Rabin 1987).
"""

from __future__ import annotations

import codecs
import html
import quopri
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from anonymization.leaks.contracts import Encoding, LeakConfig, PrivateValue
from anonymization.text.contracts import EntityType
from anonymization.text.known_values import ROOM, SPREAD, known_value
from anonymization.text.normal_form import Origins, is_whole, joins_kana, skeleton
from data.randomness import keyed_hash

_WINDOWS = (6, 4)
_TAIL = 4
_BLOCK = 1 << 17  # integers at a time: what fits the cache
_SHORT = 1 << 13  # bytes; below, one slow array of all positions costs less than eight calls
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_COMMON = 4  # patterns that may share a window before another place is looked for
_PADDING = 8
_UNUSUAL = re.compile(rb"[^a-z ]")
MIN_PATTERN = _WINDOWS[-1]

_Ints = NDArray[np.int64]


class Matcher:
    """Finds where any of `patterns` (bytes, at least MIN_PATTERN long) occurs."""

    def __init__(self, patterns: Sequence[bytes]) -> None:
        if any(len(pattern) < MIN_PATTERN for pattern in patterns):
            raise ValueError(f"patterns must have {MIN_PATTERN} bytes or more")
        self._patterns = patterns
        widths = [next(w for w in _WINDOWS if len(pattern) >= w) for pattern in patterns]
        groups = [[n for n, own in enumerate(widths) if own == width] for width in _WINDOWS]
        self._groups = [
            _Group(patterns, numbers, width)
            for numbers, width in zip(groups, _WINDOWS, strict=True)
            if numbers
        ]

    def find(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Pairs of an offset and the number of the pattern that begins there, in no order."""
        padded = np.frombuffer(data + bytes(_PADDING), dtype=np.uint8)
        for group in self._groups:
            for start, number in group.candidates(padded, len(data)):
                if data.startswith(self._patterns[number], start):
                    yield start, number


class _Group:
    """The patterns whose windows have the same width, ordered by window."""

    def __init__(self, patterns: Sequence[bytes], numbers: Sequence[int], width: int) -> None:
        places = _rare_places(patterns, numbers, width)
        keyed = sorted(
            (int.from_bytes(patterns[n][at : at + width], "little"), n, at)
            for n, at in zip(numbers, places, strict=True)
        )
        windows = np.array([key for key, _, _ in keyed], dtype=np.uint64)
        self._numbers: _Ints = np.array([n for _, n, _ in keyed], dtype=np.int64)
        self._shifts: _Ints = np.array([at for _, _, at in keyed], dtype=np.int64)
        self._lengths: _Ints = np.array([len(patterns[n]) for _, n, _ in keyed], dtype=np.int64)
        self._tails = np.array(
            [int.from_bytes(patterns[n][-_TAIL:], "little") for _, n, _ in keyed], dtype=np.uint32
        )
        self._keys, self._first, self._count = np.unique(
            windows, return_index=True, return_counts=True
        )
        self._mask = np.uint64((1 << (8 * width)) - 1)
        bits = min(26, max(16, len(self._keys).bit_length() + 5))
        self._drop = np.uint64(64 - bits)
        self._bitmap = np.zeros(1 << bits, dtype=np.bool_)
        self._bitmap[(self._keys * _FACTOR) >> self._drop] = True

    def candidates(self, padded: NDArray[np.uint8], length: int) -> Iterator[tuple[int, int]]:
        """Offsets with the numbers of the patterns that begin and end as the data does there."""
        step = 1 if length <= _SHORT else 8
        for offset in range(min(step, length)):
            count = -(-(length - offset) // step)
            windows = np.ndarray(count, "<u8", padded, offset, (step,))
            for start in range(0, count, _BLOCK):
                block = windows[start : start + _BLOCK] & self._mask
                places, which = self._windows(block)
                if len(places):
                    yield from self._ends((places + start) * step + offset, which, padded, length)

    def _windows(self, block: NDArray[np.uint64]) -> tuple[_Ints, _Ints]:
        """Indices into the block that hold a window, and which one."""
        hashes = (block * _FACTOR) >> self._drop
        # As signed integers, so that the lookup need not convert them; the hash keeps in bounds.
        likely = np.flatnonzero(self._bitmap.take(hashes.view(np.int64), mode="clip"))
        keys = block[likely]
        which = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        same = self._keys[which] == keys
        return likely[same], which[same]

    def _ends(
        self, places: _Ints, which: _Ints, padded: NDArray[np.uint8], length: int
    ) -> Iterator[tuple[int, int]]:
        """Of all patterns with these windows those whose last bytes are where they should be."""
        counts = self._count[which]
        repeated = np.repeat(np.arange(len(places)), counts)
        within = np.arange(len(repeated)) - np.repeat(np.cumsum(counts) - counts, counts)
        member = self._first[which][repeated] + within
        starts = places[repeated] - self._shifts[member]
        ends = starts + self._lengths[member]
        fits = (starts >= 0) & (ends <= length)
        starts, ends, member = starts[fits], ends[fits], member[fits]
        tails = np.zeros(len(ends), dtype=np.uint32)
        for byte in range(_TAIL):
            tails |= padded[ends - _TAIL + byte].astype(np.uint32) << np.uint32(8 * byte)
        same = tails == self._tails[member]
        yield from zip(starts[same].tolist(), self._numbers[member[same]].tolist(), strict=True)


def _rare_places(patterns: Sequence[bytes], numbers: Sequence[int], width: int) -> list[int]:
    """Where to look in each pattern: around its first byte that is no small letter, which text
    holds less often, or, where many agree there, where few do.
    """
    places = {n: _unusual_place(patterns[n], width) for n in numbers}
    windows = Counter(patterns[n][places[n] : places[n] + width] for n in numbers)
    crowded = [n for n in numbers if windows[patterns[n][places[n] : places[n] + width]] > _COMMON]
    counts = Counter(
        patterns[n][at : at + width] for n in crowded for at in range(len(patterns[n]) - width + 1)
    )
    for n in crowded:
        own = [patterns[n][at : at + width] for at in range(len(patterns[n]) - width + 1)]
        places[n] = min((counts[window], at) for at, window in enumerate(own))[1]
    return [places[number] for number in numbers]


def _unusual_place(pattern: bytes, width: int) -> int:
    match = _UNUSUAL.search(pattern, 1)
    return min(max(0, match.start() - width // 2), len(pattern) - width) if match else 0


_STAGE = "leak-scan"
_MIN_BASE64 = 7  # characters of base64 that a value fixes, from which it is looked for
_MIN_UTF16 = 6  # bytes; shorter ones occur by chance in compressed data
_MIN_DISGUISED = 8  # characters; shorter ones are other words by chance
_DIGEST_CHARS = 32
_KANA_BYTES = 3  # of a katakana in UTF-8
_CHUNK = 1 << 22  # bytes decoded at a time
_MARGIN = 256  # bytes around a value that may decide
_SAMPLE, _STRAY = 1 << 16, 0.01  # bytes, and the share of them up to which a text is UTF-8
_ONLY_ASCII = bytes(code if code < 128 else 0 for code in range(256))
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_STANDARD = bytes.maketrans(b"-_", b"+/")
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]{2,}")


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a value is written: which value, how, and base64's alignment."""

    value_index: int
    encoding: Encoding
    shift: int = 0


@dataclass(frozen=True, slots=True)
class _Hit:
    """A value at an offset of the data that was searched."""

    offset: int
    value_index: int
    encoding: Encoding


class LeakPatterns:
    """The values to look for, compiled; `too_short` counts the values left out, per kind.

    The digests of leaks are keyed with `key`, bytes derived from the release key (hashes of
    private values are HMACs).
    """

    def __init__(self, values: Iterable[PrivateValue], key: bytes, config: LeakConfig) -> None:
        distinct = sorted({(n.value.strip(), n.kind) for n in values if n.value.strip()})
        kept = [PrivateValue(*pair) for pair in distinct if is_long_enough(pair[0], config)]
        dropped = [kind for value, kind in distinct if not is_long_enough(value, config)]
        self.too_short = dict(sorted(Counter(dropped).items()))
        self.values = tuple(kept)
        self._key = key
        self._value_bytes = tuple(_bytes(private.value) for private in kept)
        self._known = tuple(
            known_value(private.kind, private.value, _is_folded(private, config))
            for private in kept
        )
        self._whole = tuple(_is_whole_token(private.value, config) for private in kept)
        self._plain = _Table(self._plain_forms())
        self._coded = _Table(self._coded_forms())
        self._spelled = _Table(self._spelled_forms())

    @property
    def longest(self) -> int:
        """Bytes of the longest value."""
        return max(map(len, self._value_bytes), default=0)

    def digest(self, value_index: int) -> str:
        """The keyed digest of a value."""
        return keyed_hash(self._key, _STAGE, self.values[value_index].value).hex()[:_DIGEST_CHARS]

    def find(self, data: bytes, is_coded: bool = True) -> Iterator[_Hit]:
        """Every value in `data`; other letter cases and spellings have encodings of their own.

        Without `is_coded`, base64, hexadecimal digits and UTF-16 are not looked for.
        """
        for table in (self._plain, self._coded) if is_coded else (self._plain,):
            for start, form, pattern in table.find(data):
                if self._holds(data, start, form, pattern):
                    yield _Hit(start, form.value_index, form.encoding)
        for start in range(0, len(data) if len(self._spelled) else 0, _CHUNK):
            yield from self._find_spelled(data, start)

    def _find_spelled(self, data: bytes, chunk: int) -> Iterator[_Hit]:
        """Values that begin in a chunk of `data`, in other spellings than their own."""
        first = max(0, chunk - _MARGIN)
        reach = _MARGIN + 4 * (SPREAD * self.longest + ROOM)
        part = data[first : chunk + _CHUNK + reach]
        text = _text(part)
        done, offset = 0, first
        for span, value_index in self._spelled_in(text):
            offset += len(text[done : span[0]].encode("utf-8", "surrogateescape"))
            done = span[0]
            if chunk <= offset < chunk + _CHUNK:
                spelling = self._spelling(value_index, text[slice(*span)])
                yield _Hit(offset, value_index, spelling)

    def _spelled_in(self, text: str) -> Iterator[tuple[tuple[int, int], int]]:
        """Spans of values in other spellings, with the index of the value, from left to right."""
        matches = sorted(self._spelled.find(skeleton(text)), key=itemgetter(0))
        origins = Origins(text if matches else "")
        for at, form, key in matches:
            ends = origins.at(at), origins.at(at + len(key) - 1) + 1
            span = self._known[form.value_index].locate(text, *ends)
            if span and not self._is_raw(text, span, form.value_index):
                yield span, form.value_index

    def _is_raw(self, text: str, span: tuple[int, int], value_index: int) -> bool:
        """Is the span part of an occurrence of the value in its own spelling?"""
        value = self.values[value_index].value
        start = text.find(value, max(0, span[1] - len(value)), span[0] + len(value))
        return start >= 0 and is_whole(text, start, start + len(value))

    def _spelling(self, value_index: int, spelled: str) -> Encoding:
        value = self.values[value_index].value
        is_case = spelled != value and spelled.lower() == value.lower()
        return Encoding.OTHER_CASE if is_case else Encoding.OTHER_SPELLING

    def _holds(self, data: bytes, start: int, form: Form, pattern: bytes) -> bool:
        if form.encoding is Encoding.BASE64:
            return self._is_encoded(data, start, form, len(pattern))
        if form.encoding is Encoding.RAW:
            end = start + len(pattern)
            in_kana = _is_seam(data, start) or _is_seam(data, end)
            return not in_kana and self._is_whole(data, start, end, form.value_index)
        return True

    def _is_whole(self, data: bytes, start: int, end: int, value_index: int) -> bool:
        if not self._whole[value_index]:
            return True
        return not (_touches(data, start - 1, start) or _touches(data, end, end - 1))

    def _is_encoded(self, data: bytes, start: int, form: Form, length: int) -> bool:
        """Decode the characters around, and compare the whole value and its neighbours."""
        begin = start - _lead(form.shift)
        if begin < 0:
            return False
        before = _decoded(data[max(0, begin - 4) : begin])
        around = before + _decoded(data[begin : start + length + 8])
        offset = len(before) + form.shift
        value = self._value_bytes[form.value_index]
        if not around.startswith(value, offset):
            return False
        return self._is_whole(around, offset, offset + len(value), form.value_index)

    def _plain_forms(self) -> Iterator[tuple[bytes, Form]]:
        for number, value in enumerate(self._value_bytes):
            yield value, Form(number, Encoding.RAW)
            if b" " in value:
                yield value.replace(b" ", b"+"), Form(number, Encoding.PERCENT)

    def _coded_forms(self) -> Iterator[tuple[bytes, Form]]:
        for number, value in enumerate(self._value_bytes):
            text = self.values[number].value
            for encoding, codec in (
                (Encoding.UTF16_LE, "utf-16-le"),
                (Encoding.UTF16_BE, "utf-16-be"),
            ):
                wide = text.encode(codec, "surrogatepass")
                if len(wide) >= _MIN_UTF16:
                    yield wide, Form(number, encoding)
            yield from _disguised(text, number)
            for digits in sorted({value.hex(), value.hex().upper()}):
                yield digits.encode(), Form(number, Encoding.HEX)
            for shift in range(3):
                core = _base64_core(value, shift)
                if len(core) >= _MIN_BASE64:
                    for pattern in sorted({core, core.translate(_URL_SAFE)}):
                        yield pattern, Form(number, Encoding.BASE64, shift)

    def _spelled_forms(self) -> Iterator[tuple[bytes, Form]]:
        for number, spelling in enumerate(self._known):
            for key in spelling.keys:
                yield key, Form(number, Encoding.OTHER_SPELLING)


def _disguised(value: str, number: int) -> Iterator[tuple[bytes, Form]]:
    """The value with its Latin letters moved by thirteen, and backwards; not of short values."""
    if len(value) < _MIN_DISGUISED:
        return
    if sum(char.isascii() and char.isalpha() for char in value) >= _MIN_DISGUISED:
        yield _bytes(codecs.encode(value, "rot13")), Form(number, Encoding.ROT13)
    if value != value[::-1]:
        yield _bytes(value[::-1]), Form(number, Encoding.REVERSED)


class _Table:
    """Patterns, each with the form that it represents."""

    def __init__(self, forms: Iterable[tuple[bytes, Form]]) -> None:
        pairs = [pair for pair in forms if len(pair[0]) >= MIN_PATTERN]
        self._patterns = [pattern for pattern, _ in pairs]
        self._forms = [form for _, form in pairs]
        self._matcher = Matcher(self._patterns)

    def __len__(self) -> int:
        return len(self._patterns)

    def find(self, data: bytes) -> Iterator[tuple[int, Form, bytes]]:
        for start, number in self._matcher.find(data):
            yield start, self._forms[number], self._patterns[number]


def _is_seam(data: bytes, at: int) -> bool:
    """Does a word in katakana go on beyond this offset of UTF-8?"""
    before = data[max(0, at - _KANA_BYTES) : at].decode("utf-8", "ignore")
    return joins_kana(before + data[at : at + _KANA_BYTES].decode("utf-8", "ignore"))


def _text(data: bytes) -> str:
    """Decoded UTF-8 with stray bytes kept; of data that is not text only the ASCII bytes."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        sample = data[:_SAMPLE]
        strays = len(sample) - len(sample.decode("utf-8", "ignore").encode())
        if strays > _STRAY * len(sample):
            return data.translate(_ONLY_ASCII).decode("ascii")
        return data.decode("utf-8", "surrogateescape")


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def is_long_enough(value: str, config: LeakConfig) -> bool:
    """Is a value long enough to be looked for? Shorter ones occur by chance."""
    if len(_bytes(value)) < MIN_PATTERN:
        return False
    if value.isdigit():
        return len(value) >= config.min_digits
    return len(value) >= (config.min_letters if value.isascii() else config.min_cjk)


def _is_folded(private: PrivateValue, config: LeakConfig) -> bool:
    """Is it searched for in any letter case? A single name in lower case may be a common word."""
    is_name = private.kind == EntityType.PERSON and " " not in private.value
    return private.kind in config.fold_kinds and not is_name


def _is_whole_token(value: str, config: LeakConfig) -> bool:
    """Short words, numbers and codes occur inside longer ones by chance."""
    plain = value.replace(" ", "").replace(".", "").replace("-", "")
    return plain.isascii() and plain.isalnum() and len(value) < config.whole_token_below


def _touches(data: bytes, outside: int, inside: int) -> bool:
    """Do a letter or digit of the value and its neighbour form a longer word or number?"""
    if not 0 <= outside < len(data):
        return False
    beside, edge = data[outside : outside + 1], data[inside : inside + 1]
    return (beside.isalpha() and edge.isalpha()) or (beside.isdigit() and edge.isdigit())


def _lead(shift: int) -> int:
    """Characters at the start of a group of four that hold bits of the `shift` bytes before."""
    return (shift * 8 + 5) // 6


def _base64_core(value: bytes, shift: int) -> bytes:
    """The base64 characters that `value` determines after `shift` bytes (mod 3)."""
    encoded = b64encode(b"\0" * shift + value)
    return encoded[_lead(shift) : (shift + len(value)) * 8 // 6]


def _decoded(text: bytes) -> bytes:
    """The decoded base64 characters at the start of `text`; empty if there are none."""
    run = _BASE64_RUN.match(text)
    if run is None:
        return b""
    characters = run.group().translate(_STANDARD)
    missing = -len(characters) % 4
    return b64decode(characters + b"A" * missing)[: len(characters) * 6 // 8]


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
_IN_BASE64 = bytes(ord("A") if code in _ALPHABET else 0 for code in range(256))
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
    return b"A" * length in data.translate(_IN_BASE64)


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
