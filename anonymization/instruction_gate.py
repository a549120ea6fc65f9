"""The instruction gate: did masking leave what the request demands as it was?

A person's name may change in a request, since it changes in the files as well. Numbers, formats,
the names of columns and of files to be made, and texts that a result has to hold may not. Nor may a
name that stood only within an address, if the rest of the task goes on saying it.

The stage that masks measures, and the last one that judges private text decides: a request that is
no task, or lacks an input, is rejected for that, however it was masked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Self

import orjson

from anonymization.text.contracts import PROVEN_BY_FORM, Edit, EntityType
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json
from data.contracts import Bound, Count, Gate, GateReason, Limit, Scalar, StageConfig
from data.neutralise import storable

# Kinds that are numbers or codes of somebody: their digits are what masking is to change.
_NUMBERED = PROVEN_BY_FORM | {
    EntityType.ACCOUNT,
    EntityType.ADDRESS,
    EntityType.AGE,
    EntityType.CASE_NUMBER,
    EntityType.DATE,
    EntityType.PERSON_NUMBER,
    EntityType.PLATE,
    EntityType.QUANTITY,
    EntityType.URL,
    EntityType.USER_PATH,
}
_UNIT = "(?:Y{2,4}|D{2}|M{2,3}|H{2}|S{2})"
_FORMAT = re.compile(rf"(?i)\b{_UNIT}(?:[-/.: ]{_UNIT})+\b|%[YmdHMS]")
_WORD, _JOINED = re.compile(r"\w+"), re.compile(r"[^\W_]_[^\W_]")  # `unit_price` is a column
_QUOTED = re.compile(
    "|".join(f"{a}[^{b}\\n]{{1,120}}{b}" for a, b in zip('"“「『`', '"”」』`', strict=True))
)
_DIGIT = re.compile(r"\d")
_FILE = "instruction_changes.json"
_SHOWN = 200  # characters of a changed part that a person is shown


class InstructionReason(GateReason):
    CHANGED = "masking.instruction_changed", "Masking changed a required part of the request."


class InstructionConfig(StageConfig):
    """How many required parts of a request masking may change."""

    max_changed: Count = 0


class ChangeKind(StrEnum):
    """What a changed part is: its name in the measures of the gate, and in words.

    `SUBJECTS` are names that the request or its inputs have only within an address that shows them
    no more, while the other side says them.
    """

    words: str

    def __new__(cls, value: str, words: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.words = words
        return member

    NUMBERS = "numbers", "a number"
    FORMATS = "formats", "a format"
    COLUMNS = "columns", "a column name"
    FILES = "files", "the name of an output file"
    QUOTES = "quotes", "quoted text"
    SUBJECTS = "subjects", "a name in an address"


InstructionChange = Mapping[ChangeKind, int]  # how many parts of each kind masking changed


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """One demanded part of a request that masking changed.

    `source` is the turn, and the file of an address; what stood there, and what replaced it, are
    private as well.
    """

    kind: ChangeKind
    source: str = field(repr=False)
    before: str = field(repr=False)
    after: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class MaskedWords:
    """One text of a request, the edits that mask it, and the spans of the file names in it.

    The spans are sorted and without overlap.
    """

    text: str
    edits: Sequence[Edit]
    names: Sequence[tuple[int, int]]


def measure(parts: Iterable[ChangedPart]) -> InstructionChange:
    """How many parts of each kind masking changed."""
    counts = Counter(part.kind for part in parts)
    return {kind: counts[kind] for kind in ChangeKind}


def described(parts: Iterable[ChangedPart]) -> str:
    """The kinds of changed parts with their counts, and nothing of what they say (law 8)."""
    counts = Counter(part.kind.words for part in parts)
    return "; ".join(text if n == 1 else f"{text} ({n} times)" for text, n in counts.items())


def changed_parts(
    request: Sequence[MaskedWords], given: Collection[str] = ()
) -> Iterator[ChangedPart]:
    """What masking changes in the turns of a request. Files whose name is in `given` (case-folded,
    without folders) are released under their new names.
    """
    for position, words in enumerate(request):
        for kind, edit in _changes(words, given):
            before = words.text[edit.start : edit.end]
            yield changed_part(kind, named_turn(position), before, edit.new)


def changed_part(kind: ChangeKind, source: str, before: str, after: str) -> ChangedPart:
    """A changed part as it is stored: texts that no table can hold are made storable, and cut."""
    return ChangedPart(kind, *(str(storable(text[:_SHOWN])) for text in (source, before, after)))


def named_turn(position: int) -> str:
    """The name of the person's message at this position, from 0."""
    return f"turn {position + 1}"


def write_changes(out: Path, changes: Mapping[str, Sequence[ChangedPart]]) -> None:
    """Write what masking changes in each instance: private, like the vaults beside it."""
    rows = {key: [asdict(part) for part in parts] for key, parts in changes.items()}
    write_bytes(out / _FILE, canonical_json(rows), mode=PRIVATE_FILE)


def read_changes(folders: Iterable[Path]) -> dict[str, list[ChangedPart]]:
    """What masking changed, by the id of the instance, from the outputs of masking."""
    rows = [orjson.loads((folder / _FILE).read_bytes()) for folder in folders]
    return {key: [_read(part) for part in parts] for row in rows for key, parts in row.items()}


def _read(part: Mapping[str, str]) -> ChangedPart:
    return ChangedPart(ChangeKind(part["kind"]), part["source"], part["before"], part["after"])


def _recorded(change: InstructionChange) -> dict[str, Scalar]:
    return {kind.value: count for kind, count in change.items()}


def _changes(masked: MaskedWords, given: Collection[str]) -> Iterator[tuple[ChangeKind, Edit]]:
    """The edits of a turn that change a demanded part, each with every kind of part it changes."""
    text, edits, names = masked.text, masked.edits, masked.names
    released = [span for span in names if _tail(text[slice(*span)]) in given]
    kept = [span for span in names if _tail(text[slice(*span)]) not in given]
    changes = [edit for edit in edits if edit.new != text[edit.start : edit.end]]
    free = [edit for edit in changes if not _touches(edit, released)]
    # Whose home folder a path lies in is nothing that a result has to keep.
    in_files = {e for e in free if e.type is not EntityType.USER_PATH and _touches(e, kept)}
    words = [edit for edit in free if edit not in in_files and edit.type not in _NUMBERED]
    formats, quotes = _spans(_FORMAT, text), _spans(_QUOTED, text)
    columns = [span for span in _spans(_WORD, text) if _JOINED.search(text, *span)]
    yield from ((ChangeKind.NUMBERS, edit) for edit in words if _changes_number(text, edit))
    yield from ((ChangeKind.FORMATS, edit) for edit in free if _touches(edit, formats))
    yield from ((ChangeKind.COLUMNS, edit) for edit in words if _touches(edit, columns))
    yield from ((ChangeKind.FILES, edit) for edit in free if edit in in_files)
    yield from ((ChangeKind.QUOTES, edit) for edit in words if _touches(edit, quotes))


def _changes_number(text: str, edit: Edit) -> bool:
    """Does an edit replace digits? A code does not count: it changes in the files as well."""
    has_digit = _DIGIT.search(text, edit.start, edit.end) is not None
    return has_digit and edit.type is not EntityType.UNEXPLAINED


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def _touches(edit: Edit, spans: Sequence[tuple[int, int]]) -> bool:
    """Does the edit overlap one of the spans, which are sorted and without overlap?"""
    index = bisect_right(spans, edit.start, key=lambda span: span[1])
    return index < len(spans) and spans[index][0] < edit.end


def _tail(path: str) -> str:
    return path.casefold().replace("\\", "/").rpartition("/")[2]


GATE = Gate(
    name="instruction",
    stage="leak-check",
    section="masking.instruction",
    meaning="Did masking leave numbers, formats, columns, results, quotes and subjects unchanged?",
    config=InstructionConfig,
    reasons=InstructionReason,
    measure=measure,
    limits=(
        Limit(
            "max_changed",
            Bound.MAX,
            "parts of the request",
            "Masking changed at most this many required parts of the request.",
            InstructionReason.CHANGED,
            lambda seen: sum(seen[kind] for kind in ChangeKind),
        ),
    ),
    measures=_recorded,
)
