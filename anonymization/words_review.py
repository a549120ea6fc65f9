"""What only the owner of the material knows: the review of what masking left, `private/words.csv`,
read back with its decisions; and the list of private values, such as nicknames and code names.

A row of the review says `private` (or `private:KIND`) or `keep` in its first column; `proposed`
says that a model would keep it, and decides nothing. The file comes back from an editor or a
spreadsheet, which may have saved it with semicolons or tabs, and is hostile input.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

from anonymization.masking_recipe import text_lines
from anonymization.text.contracts import EntityType
from anonymization.text.masking.known_search import Listed
from anonymization.text.surrogates.scope_surrogates import COMMON
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, keyed_digest
from data.contracts import Scalar
from data.errors import InputError
from data.neutralise import csv_cell, one_line
from data.text.dates import MONTHS
from data.text.scripts import DIGITS

_KINDS = tuple(kind.value for kind in EntityType if kind not in COMMON)
_LEAST = 2  # letters or digits; one alone occurs everywhere


def _read_private_values(path: Path | None) -> Listed:
    """The values of a file with a line for each, `value` or `KIND<TAB>value`, sorted.

    Blank lines and those that begin with `#` do not count. A value without a kind is UNEXPLAINED:
    its surrogate is made of invented words. Raises InputError for the first line that cannot be
    used; no message holds what the line says, for that is private.
    """
    if path is None:
        return ()
    kinds: dict[str, tuple[EntityType, int]] = {}
    for number, line in enumerate(text_lines(path, "a list of private values"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        kind, value = _parsed(path, number, line.strip())
        known, first = kinds.setdefault(value, (kind, number))
        if known is not kind:
            actual = f"{kind.value} for a value that is {known.value} in line {first}"
            todo = "Remove one of the two lines."
            raise InputError(str(path), actual, "one kind per value", todo, number)
    return tuple(sorted((kind, value) for value, (kind, _) in kinds.items()))


def _parsed(path: Path, number: int, line: str) -> tuple[EntityType, str]:
    *names, value = (part.strip() for part in line.split("\t"))
    if len(names) > 1:
        actual, todo = f"{len(names)} tabs", "Remove the others."
        raise InputError(str(path), actual, "at most one, after the kind", todo, number)
    kind = _checked_kind(path, names[0], number) if names else EntityType.UNEXPLAINED
    _checked_value(path, value, number)
    return kind, value


def _checked_kind(path: Path, kind: str, line: int) -> EntityType:
    """The kind of private text that a line of an owner's file names. Raises InputError."""
    if kind in _KINDS:
        return EntityType(kind)
    near = get_close_matches(kind.upper(), _KINDS, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    todo = f"{hint}Without a kind, the value is replaced with invented words."
    expected = f"one of {', '.join(_KINDS)}"
    raise InputError(str(path), "an unknown kind of value", expected, todo, line)


def _checked_value(path: Path, value: str, line: int) -> None:
    """Raises InputError for a value so short that it would be found everywhere."""
    size = sum(map(str.isalnum, value))
    if size < _LEAST:
        actual, expected = f"a value with {size} letters and digits", f"{_LEAST} or more"
        todo = "List a longer form of it, or remove the line."
        raise InputError(str(path), actual, expected, todo, line)


def listed_digest(listed: Listed, key: bytes) -> str:
    """A digest keyed with the release key: another list has another, and it reveals nothing."""
    return keyed_digest(key, canonical_json(listed).decode())


WORDS = "words.csv"
COLUMNS = ("decision", "word", "times", "files", "example", "why")
_DECISION, _WORD = COLUMNS[:2]
KEEP, PRIVATE, PROPOSED = "keep", "private", "proposed"
_OPEN = frozenset({"", PROPOSED})
_ENCODINGS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig"))
# What spreadsheets read as a number, an amount or a date, and write back in another form.
_MONTH = "|".join(name[:3] for name in MONTHS)
_CONVERTED = re.compile(
    rf"[$€£¥￥(]?\d|\.\d|(?:{_MONTH})[a-z]{{0,6}}[ .-]?\d",
    re.IGNORECASE,
)
_SEPARATORS = ",;\t"
_MOST_BYTES, _MOST_ROWS, _LONGEST_CELL = 200 << 20, 1_000_000, 10_000
_EXPECTED = "the filled-in word list written by `benchmint privacy mask`"
_AGAIN = "Fill in private/words.csv again, and save it as CSV in UTF-8."


class Why(StrEnum):
    """Why a word is worth a look, the most telling first: the order of the list."""

    UNDECIDED = "nothing explains it"  # what the level `strict` found: it must be decided
    UNKNOWN = "no everyday word"
    CODE = "code or number"
    QUOTED = "in quotes"
    NAME = "written as a name"
    PHRASE = "everyday words, as a name"
    FIELD = "cell, key or heading"
    WORD = "word of a sentence"


RANK = {why: rank for rank, why in enumerate(Why)}


@dataclass(slots=True)
class WordLeft:
    """A word that masking left: how often, in which files, with an example of where and why.

    `is_proposed`: a model that read all of its texts calls it not private.
    """

    times: int = 0
    example: str = ""
    why: Why = Why.WORD
    files: set[str] = field(default_factory=set)
    is_proposed: bool = False


def open_words(words: Mapping[str, WordLeft], *, accepts_proposals: bool) -> dict[str, WordLeft]:
    """The words that wait for a decision: without the proposals, if their owner accepts those."""
    return {
        word: seen for word, seen in words.items() if not (accepts_proposals and seen.is_proposed)
    }


@dataclass(frozen=True, slots=True)
class Review:
    """What the owner decided: private values with their kinds, words to keep, and all decisions by
    word as they were written.

    A single character cannot be masked: it would be found everywhere. Decided to be private, it is
    a word that stays open.
    """

    private: Listed
    keep: frozenset[str]
    decisions: Mapping[str, str]

    def leaves_open(self, words: Iterable[str]) -> bool:
        """Is one of the words that still stand in a text not among those to keep?"""
        return not self.keep.issuperset(words)

    @property
    def private_words(self) -> frozenset[str]:
        """The private values in small letters."""
        return frozenset(value.casefold() for _, value in self.private)


def _read_review(path: Path) -> Review:
    """The decisions of a filled-in list; rows without a decision do not count.

    Raises InputError for the first row that cannot be used; no message holds a word.
    """
    private: dict[str, tuple[EntityType, int]] = {}
    keep: dict[str, int] = {}
    decisions: dict[str, str] = {}
    for line, decision, word in _decided(path):
        name, _, kind = (part.strip() for part in decision.partition(":"))
        if name.lower() not in (KEEP, PRIVATE) or (kind and name.lower() == KEEP):
            expected = f"{KEEP}, {PRIVATE}, {PRIVATE}:KIND or nothing"
            raise InputError(str(path), "an unknown decision", expected, "Correct it.", line)
        if name.lower() == KEEP:
            keep.setdefault(word, line)
            decisions[word] = KEEP
            continue
        chosen = _checked_kind(path, kind.upper() or EntityType.UNEXPLAINED.value, line)
        known, first = private.setdefault(word, (chosen, line))
        if known is not chosen:
            actual = f"{chosen.value} for a word that is {known.value} in line {first}"
            raise InputError(str(path), actual, "one kind per word", "Remove one.", line)
        decisions[word] = f"{PRIVATE}:{kind.upper()}" if kind else PRIVATE
    clashes = _clashes(private)
    for word, line in keep.items():
        clash = clashes.get(word, clashes.get(word.casefold()))
        if clash is not None:
            actual = f"`{KEEP}` for a word that is `{PRIVATE}` in line {private[clash][1]}"
            raise InputError(str(path), actual, "one decision", "Change one of them.", line)
    maskable = (word for word, (_, line) in private.items() if _can_be_masked(path, word, line))
    listed = tuple(sorted((private[word][0], word) for word in maskable))
    return Review(listed, frozenset(keep), decisions)


def open_rows(path: Path) -> list[Mapping[str, str]]:
    """The rows of a list that have no decision yet, in its order: the proposals of a model last.

    Raises InputError.
    """
    rows = _rows(path)
    names = _names(path, rows)
    cells = (dict(zip(names, row, strict=False)) for _, row in rows)
    return [row for row in cells if _is_open(row[_DECISION]) and row.get(_WORD, "").strip()]


def _is_open(decision: str) -> bool:
    return decision.strip().lower() in _OPEN


def of_a_kind(rows: Iterable[Mapping[str, str]]) -> list[list[Mapping[str, str]]]:
    """The rows in groups to be decided together: codes that differ in their digits alone."""
    groups: dict[tuple[str, str, str], list[Mapping[str, str]]] = {}
    for row in rows:
        alike = (DIGITS.sub("#", row[_WORD]), row.get("why", ""), row[_DECISION].strip().lower())
        groups.setdefault(alike, []).append(row)
    return list(groups.values())


def write_decisions(path: Path, decisions: Mapping[str, str]) -> None:
    """Write decisions, by the word as the list has it, into a list. Raises InputError."""
    rows = _rows(path)
    names = _names(path, rows)
    decision_at, word_at = names.index(_DECISION), names.index(_WORD)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(names)
    for _, row in rows:
        if len(row) > max(decision_at, word_at):
            row[decision_at] = decisions.get(row[word_at], row[decision_at])
        writer.writerow(row)
    data = b"\xef\xbb\xbf" + table.getvalue().encode("utf-8", "backslashreplace")
    write_bytes(path, data, mode=PRIVATE_FILE)


def _can_be_masked(path: Path, word: str, line: int) -> bool:
    try:
        _checked_value(path, word, line)
    except InputError:
        return False
    return True


def owners_words(
    private_values: Path | None, reviewed: Path | None
) -> tuple[Listed, Review | None]:
    """The values that the owner listed or decided to be private, and the review.

    Raises InputError.
    """
    listed = _read_private_values(private_values)
    if reviewed is None:
        return listed, None
    review = _read_review(reviewed)
    return _with_review(listed, review, reviewed), review


def kept_digest(review: Review, key: bytes) -> str:
    """A digest, keyed with the release key, of the words that a review keeps."""
    return keyed_digest(key, canonical_json(sorted(review.keep)).decode())


def _with_review(listed: Listed, review: Review, path: Path) -> Listed:
    """The listed values and those that the review decided to be private, sorted.

    Raises InputError if the list has a word that the review keeps, or that has another kind there.
    """
    kinds = {value: kind for kind, value in listed}
    decided = {value: kind for kind, value in review.private}
    clashes = _clashes(kinds)
    todo = "Change one of the two files."
    if any(word in clashes or word.casefold() in clashes for word in review.keep):
        actual = f"`{KEEP}` for a word in the list of private values"
        raise InputError(str(path), actual, "one decision per word", todo)
    if any(kinds.get(value, kind) is not kind for value, kind in decided.items()):
        actual = "a kind for a word that differs from the list of private values"
        raise InputError(str(path), actual, "one kind per word", todo)
    return tuple(sorted({*listed, *review.private}))


def _clashes(private: Iterable[str]) -> dict[str, str]:
    """Words that a private value is found as, with it: one in small letters or of several words
    is found in any letter case, another as it is written and in capitals."""
    words = list(private)
    capitals = {word.upper(): word for word in words}
    any_case = {word.casefold(): word for word in words if " " in word or word == word.lower()}
    return any_case | capitals | {word: word for word in words}


def _decided(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, decision and word of each row that has a decision."""
    rows = _rows(path)
    names = _names(path, rows)
    decision_at, word_at = names.index(_DECISION), names.index(_WORD)
    for count, (line, cells) in enumerate(rows, start=1):
        if count > _MOST_ROWS:
            actual, expected = f"more than {_MOST_ROWS:,} rows", "fewer"
            raise InputError(str(path), actual, expected, "Mask the files in batches.", line)
        decision = cells[decision_at].strip() if len(cells) > decision_at else ""
        if not _is_open(decision):
            yield line, decision, _word(path, cells[word_at] if len(cells) > word_at else "", line)


def _names(path: Path, rows: Iterator[tuple[int, list[str]]]) -> list[str]:
    """The names of the columns, from the first row. Raises InputError."""
    _, header = next(rows, (1, []))
    names = [cell.strip().lower() for cell in header]
    if not {_DECISION, _WORD} <= set(names):
        actual = f"a header without {_WORD if _DECISION in names else _DECISION}"
        raise InputError(str(path), actual, f"the columns {', '.join(COLUMNS)}", _AGAIN, 1)
    return names


def _word(path: Path, cell: str, line: int) -> str:
    """The word of a cell, without the apostrophe that keeps spreadsheets from calculating."""
    is_protected = cell.startswith("'") and _protected(cell[1:]) == cell
    word = (cell[1:] if is_protected else cell).strip()
    if not word or one_line(word) != word:
        actual = "hidden characters in a word" if word else "a decision without a word"
        raise InputError(str(path), actual, "a word on a single line", "Correct the row.", line)
    return word


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file with their line numbers; semicolons or tabs may separate cells."""
    try:
        with path.open("rb") as handle:
            data = handle.read(_MOST_BYTES + 1)
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise InputError(str(path), problem, _EXPECTED, "Check the path.") from error
    if len(data) > _MOST_BYTES:
        actual, expected = "a larger file", f"at most {_MOST_BYTES >> 20} MiB"
        raise InputError(str(path), actual, expected, "Mask the files in batches.")
    codec = next(name for mark, name in _ENCODINGS if data.startswith(mark))
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        raise InputError(str(path), "text that is not UTF-8", _EXPECTED, _AGAIN) from error
    head = text[: text.find("\n")]
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=head.count), strict=True
    )
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(
            str(path), "a row that is not CSV", _EXPECTED, _AGAIN, reader.line_num
        ) from error


def _suspicion(word: WordLeft) -> tuple[bool, int, int, int]:
    return word.is_proposed, RANK[word.why], len(word.files), word.times


def _protected(word: str) -> Scalar:
    """A word as a cell that no spreadsheet takes for a formula, a number or a date."""
    return f"'{word}" if _CONVERTED.match(word) else csv_cell(word)


def write_words(path: Path, words: Mapping[str, WordLeft], review: Review | None = None) -> int:
    """Write the words that masking left, for the owner only; returns how many have no decision.

    Those come first, the most telling at the top: by why they are worth a look, and among equals
    what stands in few files, then seldom; behind them what a model proposes to keep. Then all
    earlier decisions.
    """
    decisions = review.decisions if review is not None else {}
    waiting = sorted(
        (word for word in words if review is None or word not in review.keep),
        key=lambda word: (*_suspicion(words[word]), word.casefold(), word),
    )
    closed = sorted(decisions.keys() - set(waiting))
    rows = [
        (
            decisions.get(word, PROPOSED if w.is_proposed else ""),
            word,
            w.times,
            len(w.files),
            w.example,
            w.why if word in words else "",
        )
        for word in [*waiting, *closed]
        for w in [words.get(word, WordLeft())]
    ]
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(
        [csv_cell(decision), _protected(word), times, files, csv_cell(example), why]
        for decision, word, times, files, example, why in rows
    )
    data = b"\xef\xbb\xbf" + table.getvalue().encode("utf-8", "backslashreplace")
    write_bytes(path, data, mode=PRIVATE_FILE)
    return len(waiting)
