"""Patterns of a leak search: the private values in every form in which they are looked for."""

from __future__ import annotations

import codecs
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter

from anonymization.leaks.contracts import Encoding, LeakConfig, PrivateValue
from anonymization.leaks.matcher import MIN_PATTERN, Matcher
from anonymization.text.contracts import EntityType
from anonymization.text.spelling.known_values import ROOM, SPREAD, known_value
from anonymization.text.spelling.normal_form import Origins, is_whole, joins_kana, skeleton
from data.randomness import keyed_hash

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
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{2,}")


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a value is written: which value, how, and base64's alignment."""

    value_index: int
    encoding: Encoding
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
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

    def find(self, data: bytes, is_coded: bool = True) -> Iterator[Hit]:
        """Every value in `data`; other letter cases and spellings have encodings of their own.

        Without `is_coded`, base64, hexadecimal digits and UTF-16 are not looked for.
        """
        for table in (self._plain, self._coded) if is_coded else (self._plain,):
            for start, form, pattern in table.find(data):
                if self._holds(data, start, form, pattern):
                    yield Hit(start, form.value_index, form.encoding)
        for start in range(0, len(data) if len(self._spelled) else 0, _CHUNK):
            yield from self._find_spelled(data, start)

    def _find_spelled(self, data: bytes, chunk: int) -> Iterator[Hit]:
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
                yield Hit(offset, value_index, spelling)

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
    run = _BASE64.match(text)
    if run is None:
        return b""
    characters = run.group().translate(_STANDARD)
    missing = -len(characters) % 4
    return b64decode(characters + b"A" * missing)[: len(characters) * 6 // 8]
