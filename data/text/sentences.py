"""Where sentences end, in Western and East Asian punctuation, and the form phrases are sought in.

A line break ends a sentence; so do the wide marks wherever they are, and the Western ones before
white space, a closing quotation mark or bracket, or a wide character: not those inside numbers,
file names and addresses. A full stop behind an initial or a common abbreviation ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Only such as hardly ever end a sentence: "Inc." may, and "etc." unless a small letter follows.
_ABBREVIATIONS = ("approx", "ca", "cf", "dr", "e.g", "i.e", "mr", "mrs", "ms", "prof", "vs")
_NOT_ABBREVIATED = "".join(rf"(?<!\b{re.escape(word)}\.)" for word in _ABBREVIATIONS)
_GOES_ON = r"(?!(?<=\betc\.)\s+[a-z])"
_WIDE = "。！？；…～\n"
# The first item is a set of characters, which `re` looks for fast; a run of marks is read once.
_SENTENCE_END = re.compile(
    rf"[.!?~;{_WIDE}](?:(?<=[{_WIDE}])[{_WIDE}]*+"
    rf"|(?<![.!?~;].)(?i:{_NOT_ABBREVIATED}){_GOES_ON}[.!?~;]*+(?:(?=[\"'’”)\]*]*+(?:\s|\Z))|(?=[^\x00-\x7f])))"
)
_CLAUSE_END = re.compile(r"[,，、:：\"()（）【】\[\]*#>]++|[—–]|\s-+\s")
_QUOTE = re.compile(r"[“”「」『』《》]++")
_APOSTROPHES = str.maketrans("", "", "'’‘`")


def edited_sentence_end(marks: str) -> re.Pattern[str]:
    """The ends of sentences in reports on figures, where `marks` (of a character class) may stand.

    Such texts are edited: a full stop ends a sentence only before a capital letter or at the end
    of the text, so that "Rs. 500 crore" and "U.S. dollars" stay whole. Written for NFKC text.
    """
    return re.compile(
        rf"[。!?\n]|(?<!\bvs)(?<!approx)\.(?=[{marks}\"')\]]*\s+[{marks}\"'(]*[A-Z])"
        rf"|\.(?=[{marks}\s\"')]*\Z)"
    )


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence with the marks that end it; together they are the text."""
    start = 0
    for mark in _SENTENCE_END.finditer(text):
        yield start, mark.end()
        start = mark.end()
    if start < len(text):
        yield start, len(text)


def last_sentence(text: str) -> str:
    """What follows the last end of a sentence: the beginning of a sentence that goes on."""
    return text[max((mark.end() for mark in _SENTENCE_END.finditer(text)), default=0) :]


def phrase_form(text: str) -> str:
    """Lower case, no apostrophes, ` | ` where a sentence ends, ` , ` a clause, ` ^ ` a quotation.

    The result starts and ends with ` | `, so that `| new ` means "at the start of a sentence".
    """
    marked = _SENTENCE_END.sub(" | ", text.lower().translate(_APOSTROPHES))
    marked = _CLAUSE_END.sub(" , ", marked)
    if not marked.isascii():
        marked = _QUOTE.sub(" ^ ", marked)
    return f" | {' '.join(marked.split()).removesuffix(' |')} | "
