"""Plain text, and what is written in it in other forms: base64, escapes, URL parameters."""

from __future__ import annotations

import binascii
import html
import json
import re
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import quote, quote_plus, unquote_to_bytes

from anonymization.text.contracts import Edit, EntityType
from anonymization.text.detect.said import is_label_of_value
from anonymization.text.detect.wording import words
from anonymization.text.masking.pieces import (
    MAX_DEPTH,
    Escape,
    FindingFilter,
    Piece,
    Visit,
    carried,
    labelled,
    shifted,
)

_HEX = re.compile(
    r"(?<![0-9A-Za-z_-])(?:(?:[0-9a-f]{2}){8,2000}|(?:[0-9A-F]{2}){8,2000})(?![0-9A-Za-z_-])"
)
_ESCAPE = r"\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[0-3][0-7]{2}"
_RUN = re.compile(rf"(?:{_ESCAPE})+")
_ESCAPED_WORD = re.compile(
    rf"[^\s\"'<>\\]{{0,200}}(?:{_ESCAPE})(?:{_ESCAPE}|[^\\\s\"'<>]){{0,400}}"
)

_SPACED = re.compile(
    r"(?<![\w'])[A-Za-z](?: [A-Za-z]){3,30}"
    r"(?: {2,4}[A-Za-z](?: [A-Za-z]){1,30}){0,4}(?![\w'])"
)
_LETTER = re.compile(r"[A-Za-z](?: (?! ))?|  +")
# A line with character references of HTML, outside of a page.
_REFERENCE = re.compile(r"&#(?:x[0-9A-Fa-f]{1,6}|\d{1,7});")
_REFERRING = re.compile(r"[^\n\"<>&]{0,400}&#(?:x[0-9A-Fa-f]{1,6}|\d{1,7});[^\n\"<>]{0,2000}")
Decoded = list[tuple[str, int, int]]  # characters with their starts and ends in the text


def _escape_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of hexadecimal words that are text (digests are none) and of words with escapes."""
    if visit.depth >= MAX_DEPTH:
        return []
    edits = [edit for match in _HEX.finditer(text) for edit in _hex_edits(match, visit)]
    if "\\" in text:
        for word in _ESCAPED_WORD.finditer(text):
            edits += _word_edits(word, visit)
    if "&#" in text:
        for line in _REFERRING.finditer(text):
            edits += _reference_edits(line, visit)
    for match in _SPACED.finditer(text):
        edits += _spaced_edits(match, visit)
    return sorted(edits)


def _reference_edits(line: re.Match[str], visit: Visit) -> list[Edit]:
    decoded: Decoded = []
    done, raw = 0, line.group()
    for reference in _REFERENCE.finditer(raw):
        decoded += [(raw[at], at, at + 1) for at in range(done, reference.start())]
        plain = html.unescape(reference.group())
        if len(plain) != 1:
            return []
        decoded.append((plain, *reference.span()))
        done = reference.end()
    decoded += [(raw[at], at, at + 1) for at in range(done, len(raw))]
    return shifted(_carried_back(decoded, visit, _as_references), line.start())


def _as_references(new: str) -> str:
    return "".join(char if char.isascii() else f"&#{ord(char)};" for char in new)


def _spaced_edits(match: re.Match[str], visit: Visit) -> list[Edit]:
    """Edits of words in single letters; several blanks end a word."""
    letters = [(part.group()[0], part.start(), part.end()) for part in _LETTER.finditer(match[0])]
    return shifted(_carried_back(letters, visit, " ".join), match.start())


def _hex_edits(match: re.Match[str], visit: Visit) -> list[Edit]:
    try:
        plain = bytes.fromhex(match.group()).decode("utf-8")
    except ValueError:
        return []
    if not plain.isprintable():
        return []
    escape = _as_upper_hex if match.group().isupper() else _as_hex
    return shifted(_carried_back(list(_bytewise(plain, 0, 2)), visit, escape), match.start())


def _as_hex(new: str) -> str:
    return new.encode().hex()


def _as_upper_hex(new: str) -> str:
    return new.encode().hex().upper()


def _word_edits(word: re.Match[str], visit: Visit) -> list[Edit]:
    decoded: Decoded = []
    done, raw = 0, word.group()
    for run in _RUN.finditer(raw):
        decoded += [(char, at, at + 1) for at, char in enumerate(raw[done : run.start()], done)]
        plain = list(_unescaped(run.group(), run.start()))
        if not plain:
            return []
        decoded += plain
        done = run.end()
    decoded += [(char, at, at + 1) for at, char in enumerate(raw[done:], done)]
    escape = _as_bytes(raw) if "\\u" not in raw else _as_units
    return shifted(_carried_back(decoded, visit, escape), word.start())


def _unescaped(run: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The characters of a run of escapes; none if they are not text."""
    if "\\u" in run:
        units = [int(unit[:4], 16) for unit in run.split("\\u")[1:]]
        for number, unit in enumerate(units):
            yield chr(unit), start + 6 * number, start + 6 * number + 6
        return
    coded = run.split("\\")[1:]
    values = [int(c[1:], 16) if c[0] == "x" else int(c, 8) for c in coded]
    try:
        plain = bytes(values).decode("utf-8")
    except ValueError:
        return
    yield from _bytewise(plain, start, 4)


def _bytewise(plain: str, start: int, size: int) -> Iterator[tuple[str, int, int]]:
    for char in plain:
        end = start + size * len(char.encode("utf-8", "surrogatepass"))
        yield char, start, end
        start = end


def _carried_back(decoded: Decoded, visit: Visit, escape: Callable[[str], str]) -> list[Edit]:
    plain = "".join(char for char, _, _ in decoded)
    edits = visit.look(Piece(plain))
    return carried(edits, [at for _, at, _ in decoded], [end for _, _, end in decoded], escape)


def _as_units(new: str) -> str:
    return "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in new)


def _as_bytes(raw: str) -> Callable[[str], str]:
    form = "\\x{:02x}" if "\\x" in raw else "\\{:03o}"
    return lambda new: "".join(
        char if char.isascii() else "".join(form.format(byte) for byte in char.encode())
        for char in new
    )


_PARAMETER = re.compile(
    r"(?<=[?&;])(?P<key>[A-Za-z_][\w.\[\]-]{0,40})=(?P<value>[^&;#\s\"'<>)\]]{2,400})"
)
_PERCENT_RUN = re.compile(r"(?:%[0-9A-Fa-f]{2})+|.")
_CODED = re.compile(r"(?=[^\d]*\d)[\w.~+/=-]{8,300}")
_SECRET_NAMES = words("words.toml", "secret_parameters")
_TELLING = words("words.toml", "telling_parameters")


def _parameter_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of the values of parameters whose name or blanks say that a person wrote them."""
    if "=" not in text or visit.depth >= MAX_DEPTH:
        return []
    edits: list[Edit] = []
    for match in _PARAMETER.finditer(text):
        decoded = _decoded_value(match["value"])
        if decoded is None:
            continue
        plain, starts, ends = decoded
        piece = _parameter_piece(match["key"], plain, match["value"])
        if piece is not None:
            escape: Escape = quote_plus if "+" in match["value"] else _quoted_value
            if not match["value"].isascii():
                escape = _as_it_is
            edits += shifted(carried(visit.look(piece), starts, ends, escape), match.start("value"))
    return edits


def _parameter_piece(key: str, plain: str, raw: str) -> Piece | None:
    name = key.lower().rpartition("[")[2].strip("]") or key.lower()
    if name in _SECRET_NAMES and _CODED.fullmatch(plain):
        return Piece(plain, kind=EntityType.SECRET)
    if name == "family":
        return None  # of type faces
    if name in _TELLING or is_label_of_value(key):
        return labelled(key, plain)
    return Piece(plain) if " " in plain or not plain.isascii() else None


def _as_it_is(new: str) -> str:
    return new


def _quoted_value(new: str) -> str:
    return quote(new, safe="")


def _decoded_value(value: str) -> tuple[str, list[int], list[int]] | None:
    """The value with the offsets of each character; None if its escapes are not UTF-8."""
    plain: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _PERCENT_RUN.finditer(value):
        run = match.group()
        if len(run) < 3:
            plain.append(" " if run == "+" else run)
            starts.append(match.start())
            ends.append(match.end())
            continue
        try:
            text = bytes.fromhex(run.replace("%", "")).decode("utf-8")
        except ValueError:
            return None
        start = match.start()
        for char in text:
            plain.append(char)
            starts.append(start)
            start += 3 * len(char.encode())
            ends.append(start)
    return "".join(plain), starts, ends


_PIECE = 50_000  # characters, from which a text is cut at the next line
_OVERLAP = 2_000  # characters, where there is no next line
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/]{4}){6,}[A-Za-z0-9+/]{0,4}={0,2}(?![\w+/=-])"
)
_WRAPPED = re.compile(r"(?:[A-Za-z0-9+/]{60,80}\r?\n){2,}[A-Za-z0-9+/]{1,80}={0,2}(?![\w+/=-])")
# PNG, JPEG, GIF, WebP, PDF and fonts, which stay whole: no part of them is a text.
_PICTURE = re.compile(
    r"(?<![A-Za-z0-9+/])(?:iVBORw0KGgo|/9j/|R0lGOD[dl]|UklGR|JVBERi0|d09G[MR])"
    r"(?:[A-Za-z0-9+/]|\r?\n){60,}={0,2}"
)
_SHORTEST_PICTURE, _SHORTEST_BASE64 = 70, 24  # characters


def plain_edits(
    text: str,
    visit: Visit,
    label: str = "",
    accepts: FindingFilter = FindingFilter.ALL,
    fixed: Sequence[tuple[int, int]] = (),
) -> list[Edit]:
    """Edits of a text in prose, code or logs; for `label`, `accepts` and `fixed` see `Piece`."""
    edits: list[Edit] = []
    done = 0
    for start, part, end in _parts(text):
        piece = labelled(label, part, accepts)
        if fixed:
            piece = replace(piece, fixed=_within(fixed, start, start + len(part)))
        own = [edit for edit in shifted(visit.look(piece), start) if done <= edit.start < end]
        edits += own
        done = max(end, own[-1].end if own else 0)
    edits = joined(edits, _percent_edits(text, visit))
    edits = joined(edits, _parameter_edits(text, visit), first=True)
    edits = joined(edits, _escape_edits(text, visit), first=True)
    return joined(edits, _base64_edits(text, visit), first=True)


def lines(text: str) -> Iterator[str]:
    """Lines with their line ends; only a line feed ends one (str.splitlines knows ten more)."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def joined(edits: Sequence[Edit], more: Iterable[Edit], *, first: bool = False) -> list[Edit]:
    """Both, sorted; where they overlap, `edits` take precedence, or `more` if `first`."""
    more = list(more)
    if not more or not edits:
        return sorted([*edits, *more]) if edits or more else []
    kept, others = (more, edits) if first else (edits, more)
    taken, index = sorted(kept), 0
    free: list[Edit] = []
    for edit in sorted(others):
        while index < len(taken) and taken[index].end <= edit.start:
            index += 1
        if index == len(taken) or edit.end <= taken[index].start:
            free.append(edit)
    return sorted([*taken, *free])


def _parts(text: str) -> Iterator[tuple[int, str, int]]:
    """Pieces of a text with their offsets, without the pictures and fonts that stand in it.

    What begins before the last number is the piece's own, else the next one's.
    """
    done = 0
    for blob in _PICTURE.finditer(text) if len(text) > _SHORTEST_PICTURE else ():
        yield from _cut(text, done, blob.start())
        done = blob.end()
    yield from _cut(text, done, len(text))


def _cut(text: str, start: int, stop: int) -> Iterator[tuple[int, str, int]]:
    """The pieces up to `stop`; those of a long line overlap, so that one of two shows a value."""
    while stop - start > _PIECE:
        end = text.find("\n", start + _PIECE, stop) + 1 or stop
        if end <= start + 2 * _PIECE:
            yield start, text[start:end], end
            start = end
        else:
            end = start + 2 * _PIECE
            yield start, text[start:end], end - _OVERLAP // 2
            start = end - _OVERLAP
    yield start, text[start:stop], stop


def _within(spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[tuple[int, int], ...]:
    """The parts of sorted spans that lie in a part of the text, with offsets in it."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0])
    return tuple((max(a, start) - start, min(b, end) - start) for a, b in spans[first:last])


def _base64_edits(text: str, visit: Visit) -> Iterator[Edit]:
    if visit.depth >= MAX_DEPTH or len(text) < _SHORTEST_BASE64:
        return
    done = 0
    for pattern in (_WRAPPED, _BASE64):
        for match in pattern.finditer(text):
            if match.start() < done:
                continue
            edit = _blob_edit(match, visit)
            if edit is not None:
                done = match.end() if pattern is _WRAPPED else done
                yield edit


def _blob_edit(match: re.Match[str], visit: Visit) -> Edit | None:
    run = "".join(match.group().split())
    try:
        data = b64decode(run + "=" * (-len(run) % 4), validate=True)
    except binascii.Error:
        return None
    opened = visit.open_blob(data, visit.deeper())
    if opened is None or not opened[1]:
        return None
    surest = max(opened[1], key=lambda edit: (edit.score, edit.type.value))
    new = b64encode(opened[0]).decode("ascii")
    new = new if run.endswith("=") else new.rstrip("=")
    name = f"base64>{surest.recognizer}"
    return Edit(match.start(), match.end(), new, surest.type, name, surest.score)


_JSON_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
)
_WORD = re.compile(r"[^\s\"'<>]+")
_LONGEST = 2_000  # characters of a word before an escape, and behind it
_ESCAPED = re.compile("%[0-9A-Fa-f]{2}")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def json_literal(raw: str) -> str | None:
    """The inside of a JSON string, decoded; None if it is not valid JSON."""
    if "\\" not in raw:
        return raw
    try:
        decoded: str = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return None
    return decoded


def literal_offsets(raw: str) -> tuple[list[int], list[int]]:
    """Where each character of the decoded literal starts and ends in `raw`."""
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in _JSON_ESCAPE.finditer(raw):
        start, end = match.span()
        starts += [*range(done, start), start]
        ends += [*range(done + 1, start + 1), end]
        done = end
    starts += range(done, len(raw))
    ends += range(done + 1, len(raw) + 1)
    return starts, ends


def json_escape(ascii_only: bool) -> Escape:
    """An escape that writes a replacement as the inside of a JSON string."""
    return lambda new: json.dumps(new, ensure_ascii=ascii_only)[1:-1]


def _percent_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of words with percent escapes, detected in their decoded form."""
    if "%" not in text or visit.depth >= MAX_DEPTH:
        return []
    edits: list[Edit] = []
    for start, end in _escaped_words(text):
        plain, starts, ends = _unquoted(text[start:end])
        if plain is not None:
            carried_edits = carried(visit.look(Piece(plain)), starts, ends, _quoted)
            edits += shifted(carried_edits, start)
    return edits


def _escaped_words(text: str) -> Iterator[tuple[int, int]]:
    """Words with escapes; of a longer one the parts around its escapes."""
    for word in _WORD.finditer(text):
        start, last = word.span()
        while first := _ESCAPED.search(text, start, last):
            start = max(start, first.start() - _LONGEST)
            *_, escape = _ESCAPED.finditer(text, start, min(last, start + _LONGEST + 3))
            end = min(last, escape.end() + _LONGEST)
            yield start, end
            start = end


def _quoted(new: str) -> str:
    return quote(new, safe="")


def _unquoted(word: str) -> tuple[str | None, list[int], list[int]]:
    """The decoded word and where each character starts and ends; None if it is not UTF-8."""
    decoded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in _PERCENT.finditer(word):
        try:
            plain = unquote_to_bytes(match.group()).decode("utf-8")
        except UnicodeDecodeError:
            return None, [], []
        decoded += [word[done : match.start()], plain]
        starts += range(done, match.start())
        ends += range(done + 1, match.start() + 1)
        start = match.start()
        for char in plain:
            starts.append(start)
            start += 3 * len(char.encode())
            ends.append(start)
        done = match.end()
    starts += range(done, len(word))
    ends += range(done + 1, len(word) + 1)
    return "".join(decoded) + word[done:], starts, ends
