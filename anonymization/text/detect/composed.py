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
# What a reader does not see inside a word or number: joiners, soft hyphens, marks of direction.
_HIDDEN = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
# A letter with marks behind it, a Hangul syllable in its parts, and hidden characters in a word.
_LETTER = re.compile(
    rf"[^\s{_MARK}{_HIDDEN}][{_MARK}]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
    rf"|(?<=[^\s])[{_HIDDEN}]+(?=\S)"
)


_UNSEEN = "".join(map(chr, [0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
                            *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF]))  # fmt: skip


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
            is_hidden = letter.strip(_UNSEEN) == ""
            if not is_hidden:
                parts.append(letter[0])  # marks that no letter has go
                starts.append(begin)
                ends.append(match.end())
            done = match.end()
    return Composed("".join(parts), starts, ends)
