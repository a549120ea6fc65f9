"""Where quotes stand in a text: the sentences into which they reach."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Set
from dataclasses import dataclass, field
from itertools import accumulate

from construction.judging.model.prompt import HIDDEN
from data.text.sentences import sentence_spans

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_LEAST = 8  # characters without blanks: shorter quotes stand anywhere


@dataclass(frozen=True, slots=True)
class QuotedText:
    """The sentences of a text, and where each ends in the text without blanks."""

    sentences: tuple[str, ...] = field(repr=False)
    packed: str = field(repr=False)
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> QuotedText:
        """The text split into sentences."""
        sentences = tuple(_sentences(text))
        packed = [_packed(sentence) for sentence in sentences]
        return cls(sentences, "".join(packed), tuple(accumulate(map(len, packed))))

    def around(self, quote: str) -> tuple[str, ...]:
        """The sentences into which a quote reaches; none where it does not stand in the text."""
        wanted = _packed(quote)
        at = self.packed.find(wanted) if len(wanted) >= _LEAST else -1
        if at < 0:
            return ()
        first, last = bisect_right(self.ends, at), bisect_left(self.ends, at + len(wanted))
        return self.sentences[first : last + 1]


def without_lines(text: str, sentences: Set[str]) -> str:
    """A text without the lines in which some sentences stand."""
    lines = text.split("\n")
    kept = [line for line in lines if sentences.isdisjoint(_sentences(line))]
    return text if len(kept) == len(lines) else _BLANK_LINES.sub("\n\n", "\n".join(kept).strip())


def _sentences(text: str) -> list[str]:
    """Without those of blanks only, such as the end of a line that ends in two characters."""
    parts = (text[start:end].strip() for start, end in sentence_spans(text))
    return [part for part in parts if part]


def _packed(text: str) -> str:
    """A text without blanks, hidden characters and case: lines of files break where they like."""
    return "".join(HIDDEN.sub("", text).casefold().split())
