"""What masking left in a file and is worth a look, for the owner's review.

Rules do not know that `pebble` is a nickname. The owner does, and says so in the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from anonymization.documents.eastern_words import clauses, eastern_words, is_japanese
from anonymization.documents.everyday_words import English
from anonymization.documents.worth_a_look import GONE, WORD, Sighting, is_field, sightings, without
from anonymization.text.contracts import DetectionConfig, Edit
from anonymization.text.masking.pieces import FindingFilter, Piece
from anonymization.words_review import RANK, Why, WordLeft
from data.neutralise import one_line

EditsOf = Callable[[Piece], Sequence[Edit]]
# Ways to write a character in a text; what follows them is a word of its own.
_ESCAPES = re.compile(
    r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)|&#?\w{2,8};|[=%][0-9A-F]{2}|[A-Za-z0-9+/=]{60,}"
)
_CONTEXT, _LONGEST = 60, 200  # characters of an example, and of a word; what is longer is packed
_GONE_RUN = re.compile(f"{GONE}+")
_SHOWN_GONE = "…"


def english_words(detection: DetectionConfig) -> English:
    """The English words of the model that detection uses; none without a model."""
    # The model's library takes seconds to import: commands without detection do not wait for it.
    from anonymization.text.detect import english

    model = detection.english_model
    if not model:
        return English(frozenset(), frozenset(), frozenset())
    return English(english.dictionary(model), english.nouns(model), english.doing_words(model))


def words_left(
    pieces: Sequence[Piece],
    edits_of: EditsOf,
    detection: DetectionConfig,
    private: frozenset[str] = frozenset(),
    whole: str = "",
) -> dict[str, WordLeft]:
    """The words of a file's texts that masking leaves and that are worth a look.

    `edits_of` says what masking changes in a text; `private` are words, in small letters, that
    the owner decided to be private. `whole` is the masked text with gaps, if the file is a text:
    names of elements and classes stand in it that no piece holds.
    """
    english = english_words(detection)
    said = (piece.value for piece in pieces if piece.accepts is FindingFilter.ALL)
    texts = [piece.value for piece in pieces]
    eastern = eastern_words(texts, detection, is_japanese=is_japanese(said))
    words: dict[str, WordLeft] = {}
    for piece in pieces:
        rest = without(piece.value, edits_of(piece))
        seen = [*sightings(piece, rest, english, private), *_eastern(piece, rest, eastern)]
        for sighting in seen:
            if len(sighting.word) <= _LONGEST:
                _note(words, sighting, rest)
    known = {word.casefold() for text in texts for word in WORD.findall(text)}
    plain = _ESCAPES.sub(lambda match: GONE * len(match.group()), whole)
    for sighting in sightings(Piece(plain), plain, english, private):
        if known.isdisjoint(word.casefold() for word in WORD.findall(sighting.word)):
            _note(words, sighting, plain)
    return words


def merged(parts: Iterable[tuple[str, Mapping[str, WordLeft]]]) -> dict[str, WordLeft]:
    """The words of several files, each given with its path."""
    words: dict[str, WordLeft] = {}
    for path, of_file in parts:
        join(words, {word: replace(part, files={path}) for word, part in of_file.items()})
    return words


def join(words: dict[str, WordLeft], more: Mapping[str, WordLeft]) -> None:
    """Add words of other files; of two examples the more telling stays."""
    for word, part in more.items():
        known = words.setdefault(word, WordLeft())
        known.times += part.times
        known.files |= part.files
        if not known.example or RANK[part.why] < RANK[known.why]:
            known.why, known.example = part.why, part.example


def _eastern(
    piece: Piece, rest: str, words: Mapping[str, Sequence[tuple[int, int]]]
) -> Iterator[Sighting]:
    why = Why.FIELD if is_field(piece, rest) else Why.WORD
    for clause in clauses(piece.value):
        for start, end in words[clause.group()]:
            start, end = start + clause.start(), end + clause.start()
            if GONE not in rest[start:end]:
                yield Sighting(rest[start:end], start, end, why)


def _note(words: dict[str, WordLeft], sighting: Sighting, rest: str) -> None:
    known = words.setdefault(sighting.word, WordLeft())
    known.times += 1
    if known.example and RANK[known.why] <= RANK[sighting.why]:
        return
    room = max(0, _CONTEXT - len(sighting.word)) // 2
    example = rest[max(0, sighting.start - room) : sighting.end + room]
    known.why, known.example = sighting.why, _shown(example)


def _shown(example: str) -> str:
    """An excerpt on one line, with a mark for what was masked."""
    return one_line(_GONE_RUN.sub(_SHOWN_GONE, example))[:_CONTEXT]
