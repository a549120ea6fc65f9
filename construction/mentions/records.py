"""Records and instructions that a request counts on although no input file can hold any.

"Pull all orders of the last quarter" needs a shop, or a file with orders. The words are in
`records.toml`. Counted is only an order to gather what exists and whose place is not named.
"Follow the tender skill's workflow" needs the file of that skill.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from construction.mentions.negation import is_negated
from construction.mentions.spans import find_file_spans
from data.contracts import Fixture
from data.text.lexicon import load_table
from data.text.sentences import sentence_spans

_TABLE = load_table(__package__, "records.toml")
_REACH = 90  # characters between the verb and what is gathered
_LEAST_BYTES = 200  # a smaller table holds a header and a row or two
_MOST = 400  # sentences
_PASTED_ROWS = 3


def missing_records(text: str, fixtures: Iterable[Fixture]) -> tuple[str, ...]:
    """What is to be gathered or followed, as the request says it, and no input file can hold."""
    given = tuple(fixtures)
    guides = () if any(_SKILL in fixture.path.casefold() for fixture in given) else _guides(text)
    if any(_holds_records(fixture) for fixture in given) or _is_pasted(text):
        return tuple(dict.fromkeys(guides))
    return tuple(dict.fromkeys((*_gathered(text), *guides)))


def _guides(text: str) -> Iterator[str]:
    """The instructions of a skill that the request wants followed."""
    return (" ".join(match.group().split()) for match in _GUIDE.finditer(text))


def _holds_records(fixture: Fixture) -> bool:
    """Neither too small for records nor, by its name, a guide, a template or a setting."""
    words = re.split(r"[\W_]+", fixture.path.casefold())
    return fixture.bytes >= _LEAST_BYTES and not any(
        word.startswith(stem) for word in words for stem in _NO_RECORDS
    )


def _is_pasted(text: str) -> bool:
    """Does the request bring its records along, as a block or as rows?"""
    return "```" in text or len(_ROW.findall(text)) >= _PASTED_ROWS


def _gathered(text: str) -> Iterator[str]:
    for number, (start, end) in enumerate(sentence_spans(text)):
        if number == _MOST:
            return
        sentence = " ".join(text[start:end].lower().split())
        match = _GATHERED.search(sentence)
        if match is None or is_negated(sentence, match.start("said")):
            continue
        if not _PLACED.search(sentence, match.start()) and not find_file_spans(text[start:end]):
            yield match["said"]


_NO_RECORDS = tuple(_TABLE["no_records"])
_GATHERED = re.compile(
    r"(?:^|[,;:] |\b(?:to|and|then|please|involves|(?:start|begin|starting) by) )"
    rf"(?P<said>(?:{'|'.join(_TABLE['verbs'])})\b"
    rf"[^.;]{{1,{_REACH}}}?\b(?:{'|'.join(_TABLE['nouns'])})\b)"
)
_SKILL = "skill"
_GUIDE = re.compile(
    rf"(?:[\w/-]{{1,40}} ){{1,2}}skill['’]?s (?:own )?(?:{'|'.join(_TABLE['guides']['en'])})\b"
    rf"|技能的(?:{'|'.join(_TABLE['guides']['zh'])})",
    re.IGNORECASE,
)
_PLACED = re.compile(rf"\b(?:{'|'.join(_TABLE['places'])})\b")
# A row is short and no sentence.
_ROW = re.compile(r"(?m)^(?!.{160})(?!.*[.!?][ \t])(?!.*[.!?]$).*\d.*[,|\t;].*\d.*$")
