"""Decomposed letters are read composed: `e` with U+0301 is one letter of a word, as `é` is.

Detectors see the composed text; what they find is mapped back to whole letters of the original, so
that no letter is masked by half (Unicode Standard Annex 15, normal form C).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymization.text.contracts import Finding

_MARK = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u3099\u309a"
# A letter with marks behind it, and a Hangul syllable in its parts.
_LETTER = re.compile(rf"[^\s{_MARK}][{_MARK}]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")


@dataclass(frozen=True, slots=True)
class Composed:
    """A composed text, with the offset in the original at which each of its characters begins and
    ends; without offsets it is the original."""

    text: str
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    def original(self, finding: Finding) -> Finding:
        """The finding at its offsets in the original, over whole letters."""
        if not self.starts:
            return finding
        return replace(finding, start=self.starts[finding.start], end=self.ends[finding.end - 1])


def composed(text: str) -> Composed:
    """The text with its decomposed letters composed, where there are any."""
    if text.isascii() or _LETTER.search(text) is None:
        return Composed(text)
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in [*_LETTER.finditer(text), None]:
        begin = match.start() if match else len(text)
        parts.append(text[done:begin])
        starts += range(done, begin)
        ends += range(done + 1, begin + 1)
        if match:
            letter = unicodedata.normalize("NFC", match.group())
            letter = letter if len(letter) == 1 else letter[0]  # marks that no letter has go
            parts.append(letter)
            starts.append(begin)
            ends.append(match.end())
            done = match.end()
    return Composed("".join(parts), starts, ends)
