"""A second look: a model is shown what was replaced, and says what should not have been.

Its answer can keep what nothing proves to be private, link values that are one person, firm or
host, and name what was missed. It is as hostile as the first one: whatever does not fit what was
shown is dropped and counted, and what it keeps waits for the owner like all that is undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from anonymization.recogniser.answers import NamedValues, rows_of, why_unread
from anonymization.recogniser.contracts import (
    AskModel,
    Dropped,
    NamedValue,
    Passage,
    ReadText,
    Recognised,
    RecogniserConfig,
    Reply,
    Request,
    SecondAnswer,
    text_key,
)
from anonymization.recogniser.passages import (
    SECOND_LOOK,
    as_detected,
    fenced,
    kinds,
    numbered,
    passages_of,
    prompt,
    read_form,
    system,
)
from anonymization.text.contracts import (
    PROVEN_BY_FORM,
    EntityType,
    SecondLook,
    Value,
    trimmed,
)
from anonymization.text.contracts import kinds as types
from anonymization.text.detect.wording import GIVEN_NAMES, is_known
from anonymization.text.masking.known_search import LISTED
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import FIELD, Piece
from anonymization.text.surrogates.names import called
from data.neutralise import one_line
from data.text.folding import plain_form
from data.text.scripts import WORD_OUTSIDE_CJK, count_han

# What the clock moves, and numbers that nothing in an answer could change.
_NOT_SHOWN = types("DATE AGE QUANTITY SECRET PHONE IP_ADDRESS BANK_CARD BANK_ACCOUNT NATIONAL_ID")
_OF_PARTS = types("ORGANIZATION LOCATION ADDRESS URL UNEXPLAINED")
# What a label declares, or a text introduces as somebody's.
_DECLARED = frozenset({"declared", "said", FIELD, LISTED})
_NEAR = 40  # characters of an example on each side of its value
_LONG_WORD = 4  # letters
_FEWEST = 2  # letters or digits that say whom a value means, and rows of a group


@dataclass(slots=True)
class Replaced:
    """A value that is replaced, as it stands in the texts, and how."""

    value: str
    kinds: Counter[EntityType] = field(default_factory=Counter)
    recognizers: set[str] = field(default_factory=set)
    # By the texts in which it stands: what it becomes there, and an example.
    places: dict[str, tuple[str, str]] = field(default_factory=dict)
    is_fixed: bool = False
    ordinary: frozenset[str] = frozenset()  # its words that name nobody

    @property
    def kind(self) -> EntityType:
        """The kind that it was mostly taken for."""
        return max(self.kinds, key=lambda kind: (self.kinds[kind], kind))

    def line(self, texts: Collection[str]) -> str:
        """The row that a model is shown, with what stands in these texts."""
        name = next((name for name, kind in kinds().items() if kind is self.kind), "other")
        fixed = "fixed, " if self.is_fixed else ""
        by, times = ", ".join(sorted(self.recognizers)), self.kinds.total()
        here = [place for text, place in self.places.items() if text in texts]
        new = " / ".join(dict.fromkeys(read_form(one_line(made)) for made, _ in here))
        value = read_form(one_line(self.value))
        return f"{value} → {new}  ({fixed}{name}, by {by}, {times}x)  {here[0][1]}"


@dataclass(frozen=True, slots=True)
class SecondCall:
    """What one request shows: passages as in the first reading, and values that were replaced."""

    passages: tuple[Passage, ...] = field(repr=False)
    rows: tuple[Replaced, ...] = field(repr=False)
    request: Request


def replaced_values(
    documents: Mapping[str, Sequence[Piece]], masker: Masker
) -> dict[str, Replaced]:
    """The values that are replaced in documents which the masker has learnt, in their order."""
    rows: dict[str, Replaced] = {}
    for piece in dict.fromkeys(piece for pieces in documents.values() for piece in pieces):
        for edit in masker.edits(piece):
            value = piece.value[edit.start : edit.end]
            if edit.type in _NOT_SHOWN or one_line(value) != value:
                continue
            row = rows.setdefault(value, Replaced(value))
            row.kinds[edit.type] += 1
            row.recognizers.add(edit.recognizer)
            example = _example(piece, edit.start, edit.end)
            row.places.setdefault(as_detected(piece), (edit.new, example))
    for row in rows.values():
        words = WORD_OUTSIDE_CJK.findall(row.value)
        row.ordinary = frozenset(w for w in words if _is_ordinary(w, masker.dictionary))
        row.is_fixed = _is_fixed(row)
    return rows


def _example(piece: Piece, start: int, end: int) -> str:
    """A value where it stands, with the words around it and the label of its field."""
    text = piece.value
    first, last = max(0, start - _NEAR), min(len(text), end + _NEAR)
    before, value, after = (
        read_form(one_line(part)) for part in (text[first:start], text[start:end], text[end:last])
    )
    label = f"{read_form(one_line(piece.label))}: " if piece.lead else ""
    around = f"{before}⟦{value}⟧{after}".strip()
    return f"{label}{'…' if first else ''}{around}{'…' if last < len(text) else ''}"


def _is_fixed(row: Replaced) -> bool:
    """Is it proven that the value is private: by its form, or by a label and as no mere word?"""
    if not PROVEN_BY_FORM.isdisjoint(row.kinds) or LISTED in row.recognizers:
        return True
    return not _DECLARED.isdisjoint(row.recognizers) and not _is_of_words(row.value, row.ordinary)


def _may_stay(row: Replaced, part: str) -> bool:
    """May a part of a value that is fixed stay: of a firm or a place, or somebody's title?"""
    if not PROVEN_BY_FORM.isdisjoint(row.kinds) or LISTED in row.recognizers:
        return False
    if EntityType.PERSON not in row.kinds:
        return row.kinds.keys() <= _OF_PARTS
    return part.strip(".").casefold() in called() or _is_of_words(part, row.ordinary)


def _is_ordinary(word: str, dictionary: frozenset[str]) -> bool:
    """Is it a word of the language or of programs, and no name of somebody?"""
    return word.title() not in GIVEN_NAMES and is_known(word, dictionary)


def _is_of_words(value: str, ordinary: frozenset[str]) -> bool:
    """Is it made of such words alone: no digits, no initials, no characters that nothing parts?"""
    words = WORD_OUTSIDE_CJK.findall(value)
    is_whole = "".join(words) == "".join(filter(str.isalnum, value))
    return is_whole and ordinary.issuperset(words) and max(map(len, words), default=0) >= _LONG_WORD


def second_calls(
    scope: str,
    documents: Mapping[str, Sequence[Piece]],
    masker: Masker,
    config: RecogniserConfig,
) -> list[SecondCall]:
    """The calls that show what was replaced in a scope, in passages as in the first reading."""
    rows = replaced_values(documents, masker)
    texts = prompt(SECOND_LOOK)
    filled = passages_of(documents, config)
    calls: list[SecondCall] = []
    for number, passages in enumerate(filled, start=1):
        shown = {part.text for passage in passages for part in passage.parts}
        own = tuple(row for row in rows.values() if not shown.isdisjoint(row.places))
        if own:
            item_id = f"{numbered(scope, number, len(filled))}/second"
            user = fenced(texts, passages, [row.line(shown) for row in own])
            request = Request(item_id, system(texts), user, config.reply_tokens, SecondAnswer)
            calls.append(SecondCall(tuple(passages), own, request))
    return calls


def look_again(
    calls: Sequence[Sequence[SecondCall]],
    known: Sequence[Recognised],
    ask: AskModel,
    entities: Collection[EntityType],
) -> list[Recognised]:
    """What a model has read in each scope, and says of what was replaced in it."""
    replies = iter(ask([call.request for of_scope in calls for call in of_scope]))
    return [
        _added(read, each, [next(replies) for _ in each], entities)
        for read, each in zip(known, calls, strict=True)
    ]


def _added(
    read: Recognised,
    calls: Sequence[SecondCall],
    replies: Sequence[Reply],
    entities: Collection[EntityType],
) -> Recognised:
    """What was read, with what the second answers add to it.

    A value of several calls is kept, in whole or in part, if all of their answers keep it so.
    """
    texts = {
        key: ReadText(list(of.shown), list(of.named), list(of.missed))
        for key, of in read.texts.items()
    }
    counts = Counter(read.counts)
    looked: dict[str, str] = {}
    looks: list[_Look] = []
    for call, reply in zip(calls, replies, strict=True):
        is_usable = isinstance(reply, SecondAnswer)
        looked[call.request.item_id] = "" if is_usable else why_unread(reply)
        if isinstance(reply, SecondAnswer):
            looks.append(_Look(call, reply, entities))
            looks[-1].into(texts)
    for of_counts in (look.counts for look in looks):
        counts.update({f"second look {name}": times for name, times in of_counts.items()})
    counts["second look calls"] += len(calls)
    second = _agreed(looks, calls)
    proposals = read.proposals.union(second.kept, *second.parts.values())
    return replace(
        read, texts=texts, proposals=proposals, counts=counts, second=second, looked=looked
    )


def _agreed(looks: Sequence[_Look], calls: Sequence[SecondCall]) -> SecondLook:
    """What no other call that shows a value speaks against."""
    shown = Counter(row.value for call in calls for row in call.rows)
    kept = Counter(value for look in looks for value in look.kept)
    parts = Counter(pair for look in looks for pair in look.parts)
    by_value: dict[str, list[str]] = {}
    for (value, part), times in sorted(parts.items()):
        if times == shown[value] and kept[value] < shown[value]:
            by_value.setdefault(value, []).append(part)
    return SecondLook(
        frozenset(value for value, times in kept.items() if times == shown[value]),
        {value: tuple(of) for value, of in by_value.items() if _is_left(value, of)},
        tuple(dict.fromkeys(group for look in looks for group in look.same)),
    )


class _Look:
    """One second answer, checked against what its call has shown."""

    def __init__(
        self, call: SecondCall, answer: SecondAnswer, entities: Collection[EntityType]
    ) -> None:
        self._call = call
        named = [_as_named(each) for each in answer.missed]
        self._missed = NamedValues(call.passages, named, entities)
        self.counts = self._missed.counts
        self.kept = self._kept(answer)
        self.parts = set(self._parts(answer))
        self.same = list(self._same(answer))
        self.counts.update(
            answered=1,
            kept=len(self.kept),
            parts=len(self.parts),
            groups=len(self.same),
            missed=len(self._missed.standing),
        )

    def into(self, texts: dict[str, ReadText]) -> None:
        """Add what was missed."""
        for part in (part for passage in self._call.passages for part in passage.parts):
            missed = self._missed.named_in(part)
            read = texts.get(text_key(part.text))
            if read is not None:
                read.missed += [each for each in missed if each not in read.missed]

    def _kept(self, answer: SecondAnswer) -> set[str]:
        """The rows that stay; other spellings of a value that is fixed do not."""
        rows = self._rows(answer.keep)
        fixed = {plain_form(row.value) for row in self._call.rows if row.is_fixed}
        open_rows = [row for row in rows if plain_form(row.value) not in fixed]
        self._missed.drop(Dropped.PROVEN, len(rows) - len(open_rows))
        spelled = {plain_form(row.value) for row in open_rows}
        return {row.value for row in self._call.rows if plain_form(row.value) in spelled}

    def _parts(self, answer: SecondAnswer) -> Iterator[tuple[str, str]]:
        for each in answer.keep_parts:
            for row in self._rows([each.row]):
                part = each.part.strip()
                if row.is_fixed and not _may_stay(row, part):
                    self._missed.drop(Dropped.PROVEN)
                elif not _is_part(row.value, part) or not _is_left(row.value, [part]):
                    self._missed.drop(Dropped.NO_PART)
                else:
                    yield row.value, part

    def _same(self, answer: SecondAnswer) -> Iterator[tuple[Value, ...]]:
        taken = set[str]()
        for numbers in answer.same:
            rows = {row.value: row.kind for row in self._rows(numbers)}
            group = tuple((kind, value) for value, kind in rows.items() if value not in taken)
            if len(group) < _FEWEST or next(iter(rows)) in taken:
                self._missed.drop(Dropped.NO_GROUP)
                continue
            taken.update(rows)
            yield group

    def _rows(self, numbers: Iterable[int | str]) -> list[Replaced]:
        rows, faults = rows_of(numbers, len(self._call.rows))
        self._missed.drop(Dropped.NO_ROW, faults)
        return [self._call.rows[row] for row in dict.fromkeys(rows)]


def _as_named(missed: NamedValue) -> NamedValue:
    return missed.model_copy(update={"private": True})


def _is_part(value: str, part: str) -> bool:
    """Does a part stand in a value, from and to the ends of words?"""
    at = value.find(part) if part and part != value else -1
    if at < 0:
        return False
    return not (_is_inside(value, at) or _is_inside(value, at + len(part)))


def _is_inside(value: str, at: int) -> bool:
    """Does the place lie in a word of letters that blanks keep apart?"""
    around = value[max(0, at - 1) : at + 1]
    return len(around) == len("ab") and at > 0 and around.isalnum() and around.isascii()


def _is_left(value: str, parts: Iterable[str]) -> bool:
    """Is enough of the value left beside the parts to say whom it means?"""
    for part in parts:
        value = value.replace(part, "\0", 1)
    rests = (rest[slice(*trimmed(rest, 0, len(rest)))] for rest in value.split("\0"))
    return any(len(rest) >= _FEWEST or count_han(rest) for rest in rests)
