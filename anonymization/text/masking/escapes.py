"""Text in hexadecimal and in the escapes of programs: read in its decoded form.

`\\u5f20` is written by Java, JavaScript and their settings, `\\xe5` by Python and C for the bytes
of UTF-8, `\\345` by git for names of files.
"""

from __future__ import annotations

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

Decoded = list[tuple[str, int, int]]  # characters with their starts and ends in the text


def escape_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of hexadecimal words that are text (digests are none) and of words with escapes."""
    if visit.depth >= MAX_DEPTH:
        return []
    edits = [edit for match in _HEX.finditer(text) for edit in _hex_edits(match, visit)]
    if "\\" in text:
        for word in _WORD.finditer(text):
            edits += _word_edits(word, visit)
    return sorted(edits)


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
