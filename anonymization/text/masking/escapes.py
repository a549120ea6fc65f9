"""Text in hexadecimal, in the escapes of programs and in single letters: read in its decoded form.

`\\u5f20` is written by Java, JavaScript and their settings, `\\xe5` by Python and C for the bytes
of UTF-8, `\\345` by git for names of files, `&#26447;` by programs that write HTML elsewhere.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

from anonymization.text.contracts import Edit
from anonymization.text.masking.pieces import MAX_DEPTH, Piece, Visit, carried, shifted

_HEX = re.compile(
    r"(?<![0-9A-Za-z_-])(?:(?:[0-9a-f]{2}){8,2000}|(?:[0-9A-F]{2}){8,2000})(?![0-9A-Za-z_-])"
)
_ESCAPE = r"\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[0-3][0-7]{2}"
_RUN = re.compile(rf"(?:{_ESCAPE})+")
_WORD = re.compile(rf"[^\s\"'<>\\]{{0,200}}(?:{_ESCAPE})(?:{_ESCAPE}|[^\\\s\"'<>]){{0,400}}")

_SPACED = re.compile(
    r"(?<![\w'])[A-Za-z](?: [A-Za-z]){3,30}"
    r"(?: {2,4}[A-Za-z](?: [A-Za-z]){1,30}){0,4}(?![\w'])"
)
_LETTER = re.compile(r"[A-Za-z](?: (?! ))?|  +")
# A line with character references of HTML, outside of a page.
_REFERENCE = re.compile(r"&#(?:x[0-9A-Fa-f]{1,6}|\d{1,7});")
_REFERRING = re.compile(r"[^\n\"<>&]{0,400}&#(?:x[0-9A-Fa-f]{1,6}|\d{1,7});[^\n\"<>]{0,2000}")
Decoded = list[tuple[str, int, int]]  # characters with their starts and ends in the text


def escape_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of hexadecimal words that are text (digests are none) and of words with escapes."""
    if visit.depth >= MAX_DEPTH:
        return []
    edits = [edit for match in _HEX.finditer(text) for edit in _hex_edits(match, visit)]
    if "\\" in text:
        for word in _WORD.finditer(text):
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
    return shifted(_carried(decoded, visit, _as_references), line.start())


def _as_references(new: str) -> str:
    return "".join(char if char.isascii() else f"&#{ord(char)};" for char in new)


def _spaced_edits(match: re.Match[str], visit: Visit) -> list[Edit]:
    """Edits of words in single letters; several blanks end a word."""
    letters = [(part.group()[0], part.start(), part.end()) for part in _LETTER.finditer(match[0])]
    return shifted(_carried(letters, visit, " ".join), match.start())


def _hex_edits(match: re.Match[str], visit: Visit) -> list[Edit]:
    try:
        plain = bytes.fromhex(match.group()).decode("utf-8")
    except ValueError:
        return []
    if not plain.isprintable():
        return []
    escape = _as_upper_hex if match.group().isupper() else _as_hex
    return shifted(_carried(list(_bytewise(plain, 0, 2)), visit, escape), match.start())


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
    return shifted(_carried(decoded, visit, escape), word.start())


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


def _carried(decoded: Decoded, visit: Visit, escape: Callable[[str], str]) -> list[Edit]:
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
