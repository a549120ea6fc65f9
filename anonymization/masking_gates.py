"""The gates of masking: can it find the names in a task's languages, and did it leave the request?

Kinds that are known by their form are found in every language; persons, companies and places only
in the languages of the models. A text in another language is not masked half and passed in
silence: it rejects, or is released as unverified if the recipe says so.

A person's name may change in a request, since it changes in the files as well. Numbers, formats,
the names of columns and of files to be made, and texts that a result has to hold may not. Nor may a
name that stood only within an address, if the rest of the task goes on saying it. The stage that
masks measures, and the last one that judges private text decides: a request that is no task, or
lacks an input, is rejected for that, however it was masked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Literal, Self

import orjson

from anonymization.text.contracts import PROVEN_BY_FORM, DetectionConfig, Edit, EntityType
from anonymization.text.detect.declared import normalised
from anonymization.text.detect.wording import words as listed_words
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json
from data.contracts import Bound, Count, Gate, GateReason, Limit, Scalar, StageConfig, Status
from data.neutralise import storable
from data.text.language import sure_language_of
from data.text.scripts import DIGITS, NAME_RUN

# Kinds that only a model of the language finds.
_NAMES = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION})
_BLOCK = 400  # characters of lines that are looked at together
_MOST_MARKS = 2  # of code in a line of prose
_LONGEST = 4_000  # characters of a block; the rest of a longer line is in the same language


class LanguageReason(GateReason):
    UNSUPPORTED = (
        "masking.language_unsupported",
        "A text is in a language that name masking does not support.",
    )


class LanguageConfig(StageConfig):
    """What to do with a task that has text in an unsupported language: reject it, or keep it as
    unverified.
    """

    unsupported: Literal["reject", "keep"] = "reject"


@dataclass(frozen=True, slots=True)
class _TextLanguages:
    """How many blocks of text are in which kind of language; `language` is the ISO 639-1 code of
    the commonest unsupported one, the first by name among equals."""

    blocks: int = 0
    unsupported: int = 0
    language: str | None = None


def supported_languages(config: DetectionConfig) -> frozenset[str] | None:
    """The languages in which names are found; None if no names are looked for by any model."""
    models = {
        "en": config.english_model,
        "zh": config.chinese_model,
        "ja": config.japanese_model,
    }
    supported = frozenset(language for language, model in models.items() if model)
    return supported if supported and _NAMES & set(config.entities) else None


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HUMPS = re.compile(r"(?<=[a-zäöüß])(?=[A-Z])|_")
_LATIN = ("de", "fr")
_FEWEST_WORDS = 4  # distinct words of a language, from which a short text counts as written in it
# A few words of a script that one unsupported language, or a group of them, is written in.
_LETTERS = {
    "ko": r"\uac00-\ud7a3",
    "ru": r"\u0400-\u04ff",
    "ar": r"\u0621-\u064a",
    "he": r"\u05d0-\u05ea",
    "th": r"\u0e01-\u0e4e",
    "hi": r"\u0904-\u0963",
    "el": r"\u0386-\u03ce",
}
_SCRIPTS = {name: re.compile(f"[{letters}]{{2,}}") for name, letters in _LETTERS.items()}
_FEWEST_IN_SCRIPT, _FEWEST_LETTERS = 2, 6
_MOST_READ = 200_000  # characters


def short_language(texts: Iterable[str], labels: Iterable[str] = ()) -> str | None:
    """German, French or a language of another script, where distinct words and labels show it
    though no block of prose does.

    Structured files hold the language in headings, keys, strings and comments. There must be more
    of its words than English ones; a text of `labels` that declare their values needs no model.
    """
    read = " ".join(_bounded(texts))
    for name, word in _SCRIPTS.items():
        in_script = set(word.findall(read))
        if len(in_script) >= _FEWEST_IN_SCRIPT and sum(map(len, in_script)) >= _FEWEST_LETTERS:
            return name
    words = {word.casefold() for word in _WORD.findall(_HUMPS.sub(" ", read))}
    words |= {normalised(label) for label in labels}
    evidence = {name: len(words & _evidence(name)) for name in _LATIN}
    first = max(_LATIN, key=lambda name: evidence[name])
    is_shown = evidence[first] >= _FEWEST_WORDS and evidence[first] > len(words & _evidence("en"))
    return first if is_shown else None


def _bounded(texts: Iterable[str]) -> Iterator[str]:
    size = 0
    for text in texts:
        if size >= _MOST_READ:
            return
        size += len(text)
        yield text[:_MOST_READ]


@cache
def _evidence(language: str) -> frozenset[str]:
    others = [
        listed_words("languages.toml", name) for name in ("de", "fr", "en") if name != language
    ]
    return listed_words("languages.toml", language) - frozenset().union(*others)


def languages_in(texts: Iterable[str]) -> dict[str, int]:
    """How many blocks of the texts are in which language, as far as it is sure: code and lines
    that a machine wrote are in none."""
    counts: dict[str, int] = {}
    lines = (line for text in texts for line in text.splitlines() if not _is_logged(line))
    for block in _blocks(lines):
        language = sure_language_of(block)
        if language is not None:
            counts[language] = counts.get(language, 0) + 1
    return counts


_STAMPED = re.compile(r"\W{0,3}\d{1,4}[-/.](?:\d{1,2}|[A-Z][a-z]{2})[-/.]\d{1,4}[ T_]\d{1,2}:\d{2}")
_PAIR = re.compile(r"\s*[A-Za-z_][\w.]*\s*[=:]\s*\S*\s*")
_ROW = re.compile(r"\s*\(.{3,}\)\s*[,;]?\s*")
_CELL = re.compile(r"'((?:[^']|'')*)'")
_PHRASE = re.compile(r"(?:[^\W\d_]+\W+){3}[^\W\d_]+")
_MARKS = re.compile(r"[\w.]+\(|\w\.\w+\.|[{}\[\]<>|=;$\\]")


def _is_logged(line: str) -> bool:
    """Is a line a record of a log, a pair of a setting and its value, code, or a row of a database
    whose cells hold no phrase?"""
    if _STAMPED.match(line) or _PAIR.fullmatch(line):
        return True
    if _ROW.fullmatch(line):
        return not any(_PHRASE.search(cell) for cell in _CELL.findall(line))
    return len(_MARKS.findall(line)) > _MOST_MARKS


def spoken_languages(texts: Sequence[str], labels: Collection[str] = ()) -> dict[str, int]:
    """As `languages_in`; a short or structured text whose words show its language counts as a
    block of it."""
    counts = languages_in(texts)
    short = None if counts.keys() & set(_LATIN) else short_language(texts, labels)
    return counts if short is None else counts | {short: 1}


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """As many lines together as make a block, so that short messages and cells count too."""
    block: list[str] = []
    size = 0
    for line in lines:
        block.append(line[:_LONGEST])
        size += len(line)
        if size >= _BLOCK:
            yield "\n".join(block)
            block, size = [], 0
    if block:
        yield "\n".join(block)


def language_use(
    counts: Iterable[dict[str, int]], supported: Collection[str] | None
) -> _TextLanguages:
    """The languages of a task's texts and files; no block counts where no names are looked for."""
    total: dict[str, int] = {}
    for count in counts:
        for language, blocks in count.items():
            total[language] = total.get(language, 0) + blocks
    if supported is None:
        return _TextLanguages(sum(total.values()))
    others = {name: blocks for name, blocks in total.items() if name not in supported}
    first = min(others, key=lambda name: (-others[name], name), default=None)
    return _TextLanguages(sum(total.values()), sum(others.values()), first)


def _limit(policy: str, status: Literal[Status.FAILED, Status.UNVERIFIED]) -> Limit:
    return Limit(
        "unsupported blocks",
        Bound.MAX,
        "blocks of text",
        "No block of text is in a language that name masking does not support.",
        LanguageReason.UNSUPPORTED,
        lambda seen: seen["unsupported"],
        at=0,
        movable=False,
        policy=("unsupported", policy),
        status=status,
    )


LANGUAGE = Gate(
    name="language",
    stage="masking",
    section="masking.language",
    meaning="Are all texts in languages that name masking supports?",
    config=LanguageConfig,
    reasons=LanguageReason,
    measure=language_use,
    limits=(_limit("reject", Status.FAILED), _limit("keep", Status.UNVERIFIED)),
)


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
_JOINED = re.compile(r"[^\W_]_[^\W_]")  # `unit_price` is a column
_QUOTED = re.compile(
    "|".join(f"{a}[^{b}\\n]{{1,120}}{b}" for a, b in zip('"“「『`', '"”」』`', strict=True))
)
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


def changes_of(parts: Iterable[ChangedPart]) -> InstructionChange:
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
    columns = [span for span in _spans(NAME_RUN, text) if _JOINED.search(text, *span)]
    yield from ((ChangeKind.NUMBERS, edit) for edit in words if _changes_number(text, edit))
    yield from ((ChangeKind.FORMATS, edit) for edit in free if _touches(edit, formats))
    yield from ((ChangeKind.COLUMNS, edit) for edit in words if _touches(edit, columns))
    yield from ((ChangeKind.FILES, edit) for edit in free if edit in in_files)
    yield from ((ChangeKind.QUOTES, edit) for edit in words if _touches(edit, quotes))


def _changes_number(text: str, edit: Edit) -> bool:
    """Does an edit replace digits? A code does not count: it changes in the files as well."""
    has_digit = DIGITS.search(text, edit.start, edit.end) is not None
    return has_digit and edit.type is not EntityType.UNEXPLAINED


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def _touches(edit: Edit, spans: Sequence[tuple[int, int]]) -> bool:
    """Does the edit overlap one of the spans, which are sorted and without overlap?"""
    index = bisect_right(spans, edit.start, key=lambda span: span[1])
    return index < len(spans) and spans[index][0] < edit.end


def _tail(path: str) -> str:
    return path.casefold().replace("\\", "/").rpartition("/")[2]


INSTRUCTION = Gate(
    name="instruction",
    stage="leak-check",
    section="masking.instruction",
    meaning="Did masking leave numbers, formats, columns, results, quotes and subjects unchanged?",
    config=InstructionConfig,
    reasons=InstructionReason,
    measure=changes_of,
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
