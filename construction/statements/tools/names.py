"""Names made comparable: case, width and punctuation folded, legal-form words apart."""

from __future__ import annotations

import re
import unicodedata

_SILENT = re.compile(r"[.'’`´]")
_BREAKS = re.compile(r"[\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LEGAL_WORDS = frozenset(
    (
        *("co", "company", "corp", "corporation", "inc", "incorporated", "the"),
        *("limited", "llc", "llp", "lp", "ltd", "plc", "pte", "pty", "bhd", "tbk"),
        *("ab", "adr", "ag", "as", "asa", "bv", "cv", "gmbh", "kg", "kgaa", "nv", "oy", "oyj"),
        *("sa", "sab", "se", "spa", "srl", "kabushiki", "kaisha", "kk"),
    )
)
# Written without blanks, before or behind the name: joint-stock company, limited companies,
# general and limited partnership, and the abbreviations of the first two.
_LEGAL_PARTS = re.compile(
    "株式会社|有限会社|合同会社|合資会社|合名会社|股份有限公司|有限公司|주식회사"
)
_LEGAL_SHORT = re.compile(r"\((?:株|有)\)")


def fold(text: str) -> str:
    """Case, width and punctuation folded; words separated by single blanks."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _BREAKS.sub(" ", _SILENT.sub("", plain)).strip()


def core(text: str) -> str:
    """As `fold`, without legal-form words; the whole name if nothing else is in it."""
    plain = unicodedata.normalize("NFKC", text)
    bare = fold(_LEGAL_PARTS.sub(" ", _LEGAL_SHORT.sub(" ", plain)))
    words = [word for word in bare.split() if word not in _LEGAL_WORDS]
    return " ".join(words) or fold(text)


def fold_concept(concept: str) -> str:
    """A tag in words: `SalesRevenueNet` is `sales revenue net`; other text as `fold`."""
    return fold(_HUMP.sub(" ", concept))
