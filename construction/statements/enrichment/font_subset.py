"""Cut the font of the pictures out of Noto Sans CJK: `make font` with Debian's fonts-noto-cjk.

The subset holds what statements are written with: the characters of Windows code page 932 (filings
in Japanese), Latin with accents, currency signs, arrows and marks. fontTools comes with
the extra `dev`.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

from construction.statements.enrichment.enrich import FONT, FONT_FILE

_RANGES = (
    (0x0020, 0x024F),  # Latin with accents
    (0x2000, 0x206F),  # dashes, quotation marks, ellipsis
    (0x20A0, 0x20BF),  # currency signs
    (0x2190, 0x22FF),  # arrows and mathematical signs
    (0x3000, 0x312F),  # kana and CJK punctuation
    (0xFF00, 0xFFEF),  # full-width and half-width forms
    (0xFFFD, 0xFFFD),
)
_LEAD = (*range(0x81, 0xA0), *range(0xE0, 0xFD))
_DROPPED = ["VORG", "vhea", "vmtx", "BASE"]


def _characters() -> frozenset[int]:
    """The code points of the subset."""
    pairs = (bytes(pair) for pair in product(_LEAD, range(0x40, 0xFD)))
    japanese = "".join(pair.decode("cp932", "ignore") for pair in pairs)
    ranges = (range(first, last + 1) for first, last in _RANGES)
    return frozenset(map(ord, japanese)).union(*ranges)


def _write_subset(collection: Path, out: Path) -> None:
    """Write the subset of the Japanese font of a collection (`NotoSansCJK-Regular.ttc`)."""
    from fontTools import subset
    from fontTools.ttLib import TTCollection

    with TTCollection(str(collection)) as fonts:
        font = next(font for font in fonts if font["name"].getDebugName(1) == FONT)
        font.recalcTimestamp = False
        options = subset.Options(hinting=False, layout_features=["kern", "ccmp"], name_IDs=["*"])
        options.drop_tables += _DROPPED
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=sorted(_characters()))
        cutter.subset(font)
        font.save(str(out))


if __name__ == "__main__":
    _write_subset(Path(sys.argv[1]), FONT_FILE)
