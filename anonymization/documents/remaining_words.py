"""What stayed in the masked files of a run and is worth a look: `private/words.csv`, for the owner.

Rules do not know that `pebble` is a nickname. Who reads this list does, and adds it to the list
of private values.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from anonymization.documents.contracts import DocumentConfig, DocumentReport
from anonymization.documents.document import pieces_in
from anonymization.documents.scopes import FILES, VAULTS, detector
from anonymization.text.contracts import DetectionConfig, Lexical
from anonymization.text.detect.chosen_words import is_chosen
from anonymization.text.detect.explained_words import is_known, is_program_word
from anonymization.text.detect.wording import COMMON, words
from anonymization.text.masking.pieces import FindingFilter, Piece
from anonymization.text.vault import Vault
from data.atomic import PRIVATE_FILE, write_bytes
from data.neutralise import csv_cell, one_line
from data.text.scripts import HAN_KANA, has_kana, is_han

WORDS = "words.csv"
_MOST, _CONTEXT, _SHORT_PIECE = 2_000, 60, 40  # rows, characters, characters
_LATIN = rf"(?:(?![{HAN_KANA}])[^\W\d_])"
_RUN = re.compile(
    rf"[\"“「『](?P<quoted>[^\"”」』\n]{{2,40}})[\"”」』]|[{HAN_KANA}]{{2,6}}"
    rf"|[A-Z]{_LATIN}+(?: [A-Z]{_LATIN}+){{1,3}}|{_LATIN}{{3,40}}"
)
_WORD = re.compile(rf"{_LATIN}+|[{HAN_KANA}]+")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MID_SENTENCE = re.compile(r"[a-z,;] $")
_NO_NAMES = words("words.toml", "function_words")
_NO_MODEL = DocumentConfig(caption_model="")


@dataclass(slots=True)
class _Word:
    """What is known of a word so far: the highest suspicion, and where it stands."""

    suspicion: int = 0
    times: int = 0
    example: str = ""
    files: set[str] = field(default_factory=set)


def write_words(
    out: Path, reports: Iterable[DocumentReport], key: bytes, detection: DetectionConfig
) -> None:
    """Write `private/words.csv` of a run: at most 2,000 words, the most suspicious first.

    Columns: word, times, files (numbers of both), example (at most 60 characters). Words that
    masking itself inserted are left out.
    """
    private, finder = out / "private", detector(detection)
    dictionary = finder.dictionary if isinstance(finder, Lexical) else frozenset()
    vaults = [Vault.load(path, key) for path in sorted((private / VAULTS).glob("*.json"))]
    made = {
        word.casefold()
        for vault in vaults
        for entry in vault.entries
        for word in _WORD.findall(entry.surrogate)
    }
    seen: dict[str, _Word] = {}
    for path in sorted(report.path for report in reports if report.refusal is None):
        for piece in pieces_in((out / FILES / path).read_bytes(), path, _NO_MODEL):
            for word, suspicion, example in _suspects(piece, made, dictionary):
                known = seen.setdefault(word, _Word())
                known.times += 1
                known.files.add(path)
                if suspicion > known.suspicion:
                    known.suspicion, known.example = suspicion, example
    ranked = sorted(seen.items(), key=lambda item: (-item[1].suspicion, item[1].times, item[0]))
    rows = [(w, k.times, len(k.files), k.example) for w, k in ranked if k.suspicion]
    write_bytes(private / WORDS, _as_csv(rows[:_MOST]), mode=PRIVATE_FILE)


def _suspects(
    piece: Piece, made: set[str], dictionary: frozenset[str]
) -> Iterator[tuple[str, int, str]]:
    """Words and runs of a text, each with its suspicion (0: none) and its surroundings."""
    text = piece.value
    if piece.accepts is FindingFilter.PROVEN:  # fonts and styles, which programs name
        return
    in_field = bool(piece.lead) or len(text) <= _SHORT_PIECE
    for match in _RUN.finditer(text):
        word = match["quoted"] or match.group()
        parts = _WORD.findall(word)
        if any(_is_made(part, made) for part in parts):  # of the run only the rest stayed
            parts = [part for part in parts if not _is_made(part, made)]
            word = " ".join(parts)
        if all(_is_usual(part) for part in parts):
            continue
        unknown = any(_is_odd(part, dictionary) for part in parts)
        named = word[:1].isupper() and _MID_SENTENCE.search(text, 0, match.start()) is not None
        near = _WORD.findall(text[max(0, match.start() - 20) : match.end() + 20])
        beside = any(part.casefold() in made for part in near)
        suspicion = 3 * unknown + 2 * named + 2 * beside + in_field + (match["quoted"] is not None)
        room = max(0, _CONTEXT - len(word)) // 2
        example = text[max(0, match.start() - room) : match.end() + room][:_CONTEXT]
        yield word, suspicion, one_line(example)[:_CONTEXT]


def _is_made(part: str, made: set[str]) -> bool:
    """Did masking insert the word, or characters of a run that has no blanks between words?"""
    if not is_han(part[:1]) and not has_kana(part):
        return part.casefold() in made
    pairs = combinations(range(len(part) + 1), 2)
    return any(part[start:end] in made for start, end in pairs if end - start > 1)


def _is_usual(part: str) -> bool:
    return part.lower() in _NO_NAMES or part in COMMON or is_program_word(part)


def _is_odd(part: str, dictionary: frozenset[str]) -> bool:
    """Is it no everyday word, or one that people choose as a name?"""
    if is_chosen(part):
        return True
    humps = _HUMP.findall(part) if part.isascii() else ()
    return not all(is_known(hump, dictionary) for hump in humps)


def _as_csv(rows: Sequence[tuple[str, int, int, str]]) -> bytes:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("word", "times", "files", "example"))
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return table.getvalue().encode("utf-8", "backslashreplace")
