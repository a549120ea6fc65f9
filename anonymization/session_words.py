"""The words that masking left in sessions: listed for their owner, and searched for open ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from anonymization.documents.remaining_words import EditsOf, join, merged, words_left
from anonymization.levels import MaskingLevel
from anonymization.masking_recipe import MaskingRecipe
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.words_review import Review, Why, WordLeft, write_words
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json

_FILE = "words_left.json"


@dataclass(slots=True)
class SessionWords:
    """Collects the words of some sessions: at level `strict`, and wherever there is a review."""

    config: MaskingRecipe
    review: Review | None
    words: list[tuple[str, dict[str, WordLeft]]] = field(default_factory=list)

    def leave_open(
        self,
        name: str,
        pieces: Sequence[Piece],
        edits_of: EditsOf,
        masker: Masker,
        whole: str = "",
    ) -> bool:
        """Note the words of a file, or of what was said; has one of them no decision yet?"""
        if self.review is None and self.config.level is not MaskingLevel.STRICT:
            return False
        private = self.review.private_words if self.review is not None else frozenset()
        detection, undecided = self.config.detection, masker.undecided
        words = words_left(pieces, edits_of, detection, private, whole, undecided)
        self.words.append((name, words))
        return self.review is not None and self.review.leaves_open(words)

    def write(self, out: Path) -> None:
        """Write the words for `write_list`; they are as private as the vaults beside them."""
        words = merged(self.words)
        rows = {word: asdict(seen) | {"files": sorted(seen.files)} for word, seen in words.items()}
        write_bytes(out / _FILE, canonical_json(rows), mode=PRIVATE_FILE)


def write_list(folders: Sequence[Path], path: Path, review: Review | None) -> int:
    """Write the list of words of all sessions for their owner, if masking noted any.

    Returns how many findings that only the owner can decide wait for a review: with one, tasks
    with open words are rejected.
    """
    words: dict[str, WordLeft] = {}
    for folder in folders:
        rows: dict[str, Any] = json.loads((folder / _FILE).read_bytes())
        shard = {
            word: WordLeft(row["times"], row["example"], Why(row["why"]), set(row["files"]))
            for word, row in rows.items()
        }
        join(words, shard)
    if words or review is not None:
        write_words(path, words, review)
    waiting = [word for word in words.values() if word.why is Why.UNDECIDED]
    return len(waiting) if review is None else 0
