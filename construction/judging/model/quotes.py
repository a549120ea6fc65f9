"""Where quotes stand in a text: the sentences into which they reach.

Text and quote are compared as the judge was shown the text (`prompt.cleaned`), in one plain form:
without blanks, case and hidden characters, letters and their accents apart (NFKD), all quotation
marks and all dashes alike. Lines break where they like, and models straighten what they copy.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Set
from dataclasses import dataclass, field
from itertools import accumulate

from construction.judging.model.prompt import CUT, HIDDEN, cleaned
from data.text.sentences import sentence_spans

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_LEAST = 8  # characters in plain form: a shorter quote stands anywhere, so it must be a sentence
_NAMED = re.compile(r"⟨U\+[0-9A-F]{4,6}⟩")  # a character that cannot be seen, in a cleaned text
_MARKS = 80  # characters of both marks of what is left out
_STOPS = ".!?。！？"
_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟«»″「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
)


class _Forms(dict[int, str]):
    """The plain form of every character, by code point."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
        form = "" if HIDDEN.match(char) else "".join(folded.translate(_ALIKE).split())
        return self.setdefault(code, form)


_FORMS = _Forms()


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote in plain form, and the sentences into which it reaches."""

    plain: str = field(repr=False)
    sentences: tuple[str, ...] = field(repr=False)

    def shown(self, most: int) -> str:
        """The sentences as one text; of a longer one `most` characters around the quote."""
        text = " ".join(self.sentences)
        if len(text) <= most:
            return text
        text = " ".join(_NAMED.sub("", text).split())
        ends = tuple(accumulate(len(_FORMS[ord(char)]) for char in text))
        at = text.translate(_FORMS).find(self.plain)
        first, last = bisect_right(ends, at), bisect_left(ends, at + len(self.plain)) + 1
        room = max(0, most - _MARKS - (last - first)) // 2
        start, stop = max(0, first - room), min(len(text), last + room)
        before = CUT.format(start) if start else ""
        behind = CUT.format(len(text) - stop) if stop < len(text) else ""
        return f"{before}{text[start:stop]}{behind}"


@dataclass(frozen=True, slots=True)
class QuotedText:
    """The sentences of a text, and where each ends in the plain form of the text."""

    sentences: tuple[str, ...] = field(repr=False)
    plain: str = field(repr=False)
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> QuotedText:
        """The text split into sentences."""
        sentences = tuple(_sentences(cleaned(text)))
        plain = [_plain(sentence) for sentence in sentences]
        return cls(sentences, "".join(plain), tuple(accumulate(map(len, plain))))

    def around(self, quote: str) -> Passage | None:
        """The sentences into which a quote reaches; None where it does not stand in the text.

        A quote of fewer than eight characters must be a whole sentence.
        """
        wanted = _plain(cleaned(quote))
        if len(wanted) < _LEAST:
            wanted = wanted.rstrip(_STOPS)
            equal = (s for s in self.sentences if wanted and _plain(s).rstrip(_STOPS) == wanted)
            sentence = next(equal, None)
            return None if sentence is None else Passage(_plain(sentence), (sentence,))
        at = self.plain.find(wanted)
        if at < 0:
            return None
        first, last = bisect_right(self.ends, at), bisect_left(self.ends, at + len(wanted))
        return Passage(wanted, self.sentences[first : last + 1])


def without_lines(text: str, sentences: Set[str]) -> str:
    """A text without the lines in which some sentences stand; cleaned, if there are such."""
    lines = cleaned(text).split("\n")
    kept = [line for line in lines if sentences.isdisjoint(_sentences(line))]
    return text if len(kept) == len(lines) else _BLANK_LINES.sub("\n\n", "\n".join(kept).strip())


def _sentences(text: str) -> list[str]:
    """Without those of blanks only, such as the end of a line that ends in two characters."""
    parts = (text[start:end].strip() for start, end in sentence_spans(text))
    return [part for part in parts if part]


def _plain(text: str) -> str:
    return _NAMED.sub("", text).translate(_FORMS)
