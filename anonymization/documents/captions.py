"""Names in captions: runs of capitalised words whose last word is in no dictionary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from anonymization.documents.labels import CAPTION, NAME_RUN
from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import COMMON
from anonymization.text.masking.pieces import Piece

_LEAD = len(CAPTION) + 2


def caption_names(pieces: Iterable[Piece], model: str) -> list[Piece]:
    """The names in captions among `pieces`, as pieces of their own; sorted.

    `model` is the English model that brings the dictionary; without one nothing is found.
    """
    captions = [p.value for p in pieces if p.lead == _LEAD and p.text.startswith(CAPTION)]
    runs = sorted({run for caption in captions for run in _runs(caption)})
    if not model or not runs:
        return []
    # Its library takes seconds to import, and most commands read no captions.
    from anonymization.text.detect.english import dictionary, in_dictionary

    listed = dictionary(model)
    is_common = partial(in_dictionary, listed=listed)
    names = sorted({name for run in runs if listed for name in _named(run, is_common)})
    return [Piece(name, kind=EntityType.PERSON) for name in names]


def _runs(caption: str) -> Iterator[str]:
    return (match.group() for match in NAME_RUN.finditer(caption))


def _named(run: str, is_common: Callable[[str], bool]) -> Iterator[str]:
    """The run without words of every day at its beginning, if its last word is no such word."""
    words = run.split(" ")
    while len(words) > 2 and is_common(words[0]):
        words.pop(0)
    if any(word in COMMON or word.title() in COMMON or word.isupper() for word in words):
        return
    if not is_common(words[-1]):
        yield " ".join(words)
