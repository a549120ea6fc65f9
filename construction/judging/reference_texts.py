"""What texts, mails and calendars among the inputs say of what a request asks.

Short texts are quoted whole. Of longer ones those lines are quoted that answer to words of one
demand: a label that the demand names ("Total due: 90"), or a line with several of its words and a
figure. A calendar is quoted event by event.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile

from construction.grading.file_look import word_form
from construction.grading.file_types import extension_of
from construction.judging.contracts import Case
from construction.judging.inputs import terms_of
from construction.judging.reference import of_table

_WHOLE_TEXT, _WHOLE_ALONE = 320, 700  # characters of a text that is quoted whole
_BEGINNING = 1400  # characters; a longer excerpt may be the beginning of a text
_PLAIN = frozenset(("eml", "md", "txt", "csv", "tsv", "json", "html", "pdf"))
_WITH_LINES = frozenset(("eml", "md", "txt", "pdf", "docx", "html"))
# What stands behind the text of a PDF: its language, fonts, dates and programs.
_METADATA = re.compile(r"(?m)^(?:[a-z]{2}(?:-[A-Z]{2})?|Identity|Adobe|D:\d{8,}.*)\s*$")
_DOUBTED = re.compile(
    r"(?i)\b(?:QA|quality assurance|sanity[ -]check|discrepanc|inconsisten|mismatch|data quality"
    r"|(?:find|list|report|flag|spot|catch) (?:all |any |the |every )*(?:errors?|mistakes?|wrong))"
    r"|数据质量|质检|不一致|差错|错误数据"
)
_WORDLESS = 8  # letters and digits
_TWICE = re.compile(r"(?<!\S)(\S.{0,80}?) \1(?!\S)")
_LABEL = re.compile(r"\W*([^:：]{2,40})[:：]\s*(\S.*)")
_TELLS = re.compile(r"\d|@")
_LINE, _LABEL_WORDS, _MOST_LINES = 240, 4, 3
_SHARED = 2  # words that a line has to share with a demand
_EVENT = re.compile(r"BEGIN:VEVENT(.*?)END:VEVENT", re.DOTALL)
_FIELD = re.compile(r"(?m)^(SUMMARY|DTSTART|DTEND|LOCATION)[^:\n]*:(.*)$")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_MOST_EVENTS = 20

Words = Mapping[str, str]


def references_of(
    case: Case, given: Sequence[str], demands: Sequence[str], words: Words, *, few: int
) -> list[tuple[str, str]]:
    """What the `given` inputs say of what is asked, each with its file and once.

    Texts are quoted only where they are `few` at most.
    """
    matched: dict[str, str] = {}
    for path in given:
        known = case.inputs.get(path)
        sheets = known.tables if known is not None else ()
        if sheets and _DOUBTED.search(case.request):
            continue  # what is to be checked is no measure of the result
        if sheets:
            texts = [
                text for sheet in sheets for text in of_table(sheet, path, case.request, words)
            ]
        else:
            excerpt = case.excerpts.get(path, "")
            most = _WHOLE_ALONE if len(given) == 1 else _WHOLE_TEXT
            texts = list(of_text(excerpt, path, words, most)) if len(given) <= few else []
            texts += of_calendar(excerpt, path, words)
            if not texts and len(given) <= few:
                texts = list(of_lines(excerpt, path, demands, words))
        for text in texts:
            matched.setdefault(text, path)
    return list(matched.items())


def of_text(text: str, path: str, words: Words, most: int = _WHOLE_TEXT) -> Iterator[str]:
    """A short text, whole; the names of its file, which stand before it, are left out."""
    kind = extension_of(path)
    plain = " ".join(text.split())
    if kind == "eml":
        plain = _TWICE.sub(r"\1", plain)
    if kind == "pdf":
        plain = " ".join(_METADATA.split(text, maxsplit=1)[0].split())
    if kind in ("eml", "pdf"):
        parts = set(re.split(r"[/.]", path)) | {word_form(path.rpartition("/")[2])}
        names = parts | {part.replace("_", " ") for part in parts}
        names = {word for name in names for word in name.split()}
        plain = " ".join(dropwhile(names.__contains__, plain.split()))
    says_something = sum(map(str.isalnum, plain)) > _WORDLESS
    if kind in _PLAIN and says_something and len(plain) <= most:
        yield words["reference_text"].format(file=path, text=plain)


def of_calendar(text: str, path: str, words: Words) -> Iterator[str]:
    """The events of a calendar that is known to its end: each with its times."""
    if extension_of(path) != "ics" or len(text) >= _BEGINNING:
        return
    events = [dict(_FIELD.findall(match[1])) for match in _EVENT.finditer(text)]
    shown = [_event({key: value.strip() for key, value in event.items()}) for event in events]
    if 0 < len(shown) <= _MOST_EVENTS:
        yield words["reference_events"].format(
            file=path, number=len(shown), events="; ".join(shown)
        )


def _event(fields: Mapping[str, str]) -> str:
    times = [_MOMENT.sub(_moment, fields[key]) for key in ("DTSTART", "DTEND") if key in fields]
    where = [fields["LOCATION"]] if fields.get("LOCATION") else []
    return ", ".join([fields.get("SUMMARY", "–"), " – ".join(times), *where])


def _moment(match: re.Match[str]) -> str:
    day = f"{match[1]}-{match[2]}-{match[3]}"
    zone = " UTC" if match[6] else ""
    return f"{day} {match[4]}:{match[5]}{zone}" if match[4] else day


def of_lines(text: str, path: str, demands: Sequence[str], words: Words) -> Iterator[str]:
    """The lines of a longer text that answer to words of one demand, in their order."""
    if extension_of(path) not in _WITH_LINES:
        return
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in dict.fromkeys(lines) if 0 < len(line) <= _LINE]
    terms = [_terms(line) for line in lines]
    often = Counter(term for line in terms for term in line)
    wanted = [_terms(demand) for demand in demands]
    own = _terms(path)
    chosen = [
        line
        for line, words_of_line in zip(lines, terms, strict=True)
        if any(_answers(line, words_of_line - own, demand, often) for demand in wanted)
    ]
    for line in chosen[:_MOST_LINES]:
        yield words["reference_line"].format(file=path, text=line)


def _answers(
    line: str, terms: frozenset[str], demand: frozenset[str], often: Mapping[str, int]
) -> bool:
    """Does the demand name the line's label, or share rare words with a line that has figures?"""
    label = _LABEL.match(line)
    if label is not None:
        named = _terms(label[1])
        if named and named <= demand and len(label[1].split()) <= _LABEL_WORDS:
            return True
    rare = [term for term in terms & demand if often[term] <= _SHARED]
    return len(rare) >= _SHARED and _TELLS.search(line) is not None


def _terms(text: str) -> frozenset[str]:
    return frozenset(term.removesuffix("s") for term in terms_of(word_form(text)))
