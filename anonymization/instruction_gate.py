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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import orjson

from anonymization.text.contracts import PROVEN_BY_FORM, Edit, EntityType
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Bound, Count, Gate, GateReason, Limit, StageConfig

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
    "|".join(f"{a}[^{b}\\n]{{1,120}}{b}" for a, b in ('""', "“”", "「」", "『』", "``"))
)
_DIGIT = re.compile(r"\d")
_FILE = "instruction_changes.json"


class InstructionReason(GateReason):
    CHANGED = "masking.instruction_changed", "Masking changed what the request demands."


class InstructionConfig(StageConfig):
    """How many demanded parts of a request masking may change."""

    max_changed: Count = 0


@dataclass(frozen=True, slots=True)
class InstructionChange:
    """How many edits changed a number, a format, a column, a file to be made, or a quoted text.

    `subjects` are names that the request or its inputs have only within a replaced address, while
    the other side says them.
    """

    numbers: int = 0
    formats: int = 0
    columns: int = 0
    files: int = 0
    quotes: int = 0
    subjects: int = 0


@dataclass(frozen=True, slots=True)
class MaskedWords:
    """One text of a request, the edits that mask it, and the spans of the file names in it.

    The spans are sorted and without overlap.
    """

    text: str
    edits: Sequence[Edit]
    names: Sequence[tuple[int, int]]


def measure(request: Sequence[MaskedWords], given: Collection[str] = ()) -> InstructionChange:
    """What masking changes in a request. Files whose name is in `given` (case-folded, without
    folders) are released under their new names.
    """
    changes = [_changes(words, given) for words in request]
    names = [part.name for part in fields(InstructionChange)]
    return InstructionChange(*(sum(getattr(each, name) for each in changes) for name in names))


def write_changes(out: Path, changes: Mapping[str, InstructionChange]) -> None:
    """Write what masking changes in each instance: counts only."""
    write_bytes(out / _FILE, canonical_json({key: asdict(row) for key, row in changes.items()}))


def read_changes(folders: Iterable[Path]) -> dict[str, InstructionChange]:
    """What masking changed, by the id of the instance, from the outputs of masking."""
    rows = [orjson.loads((folder / _FILE).read_bytes()) for folder in folders]
    return {key: InstructionChange(**row) for part in rows for key, row in part.items()}


def _changes(masked: MaskedWords, given: Collection[str]) -> InstructionChange:
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
    return InstructionChange(
        numbers=sum(
            edit.type is not EntityType.UNEXPLAINED  # a code, which changes in the files as well
            and _DIGIT.search(text, edit.start, edit.end) is not None
            for edit in words
        ),
        formats=sum(_touches(edit, formats) for edit in free),
        columns=sum(_touches(edit, columns) for edit in words),
        files=len(in_files),
        quotes=sum(_touches(edit, quotes) for edit in words),
    )


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
    meaning="Did masking leave numbers, formats, columns, results, quotes and subjects alone?",
    config=InstructionConfig,
    reasons=InstructionReason,
    measure=measure,
    limits=(
        Limit(
            "max_changed",
            Bound.MAX,
            "parts of the request",
            "Masking changed at most this many demanded parts of the request.",
            InstructionReason.CHANGED,
            lambda seen: sum(seen[part.name] for part in fields(InstructionChange)),
        ),
    ),
)
