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
from data.text.dates import MONTH_NAME

_WHOLE_TEXT, _WHOLE_ALONE = 320, 700  # characters of a text that is quoted whole
_BEGINNING = 1400  # characters; a longer excerpt may be the beginning of a text
_PLAIN = frozenset(("eml", "md", "txt", "csv", "tsv", "json", "html", "pdf"))
_PROSE = frozenset(("eml", "pdf", "docx", "html"))
_WIDE = 45  # characters of a line that may have been wrapped
_WITH_LINES = frozenset(("eml", "md", "txt", "pdf", "docx", "html"))
# What stands behind the text of a PDF: its language, fonts, dates and programs.
_METADATA = re.compile(
    r"(?m)^(?:[a-z]{2}(?:-[A-Z]{2})?|Identity|Adobe|D:\d{8,}.*"
    r"|(?:PyFPDF|ReportLab|Skia|LibreOffice|Microsoft®?|pdfTeX|iText|cairo|Quartz|wkhtmltopdf)\b.*)\s*$"
)
_DOUBTED = re.compile(
    r"(?i)\b(?:QA|quality assurance|sanity[ -]check|discrepanc|inconsisten|mismatch|data quality"
    r"|(?:find|list|report|flag|spot|catch) (?:all |any |the |every )*(?:errors?|mistakes?|wrong))"
    r"|数据质量|质检|不一致|差错|错误数据"
)
_WORDLESS = 8  # letters and digits
_TWICE = re.compile(r"(?<!\S)(\S.{0,80}?) \1(?!\S)")
_LABEL = re.compile(r"\W*([^:：]{2,40})[:：]\s*(\S.*)")
_TELLS = re.compile(r"\d|@")
_LINE, _LABEL_WORDS, _MOST_LINES = 240, 4, 5
_APART = 2  # short texts that are quoted each for itself
# What a demand asks for, and how lines that hold it are written.
_SOUGHT = (
    (
        re.compile(r"(?i)\b(?:dates?|when|deadlines?|schedules?|days?)\b|日期|时间|截止"),
        re.compile(
            rf"(?i)\b\d{{4}}-\d\d?-\d\d?\b|\b(?:{MONTH_NAME}) \d{{1,2}}\b"
            rf"|\b\d{{1,2}} (?:{MONTH_NAME})\b|\b\d{{1,2}}/\d{{1,2}}/\d{{2,4}}\b|\d月\d{{1,2}}日"
        ),
    ),
    (re.compile(r"(?i)\b(?:e-?mails? address|contact)|邮箱|联系"), re.compile(r"\S@\S+\.\w")),
    (
        re.compile(r"(?i)\b(?:tele)?phones?\b|\bcontact|电话|联系"),
        re.compile(r"(?<![\d.])\+?\(?\d{3}\)?[ -]\d{3,4}[ -]\d{3,4}\b"),
    ),
    (
        re.compile(r"(?i)\b(?:total|amount|due|fees?|prices?|costs?)\b|金额|合计|费用|价格"),
        re.compile(r"(?i)[$€£¥] ?\d|\btotal\b.*\d|合计.*\d|\d ?(?:usd|eur|元)\b"),
    ),
)
_SHARED = 2  # words that a line has to share with a demand
_BY_DATE = re.compile(
    r"(?i)\b(?:latest|newest|last|most recent|earliest|oldest|first)\b|最[早晚新近]"
)
_SENT_AT = re.compile(r"(?i)\b(?:sent(?: at)?|date): ?(\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d)?)")
# Between the parts of a mail.
_BOUNDARY = re.compile(r"(?<!\S)(?:--)?={5,}\w+={2,}(?:--)?(?!\S)")
_EVENT = re.compile(r"BEGIN:VEVENT(.*?)END:VEVENT", re.DOTALL)
_FIELD = re.compile(r"(?m)^(SUMMARY|DTSTART|DTEND|LOCATION)[^:\n]*:(.*)$")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_MOST_EVENTS = 20

Words = Mapping[str, str]


def references_of(
    case: Case, given: Sequence[str], demands: Sequence[str], words: Words, *, few: int
) -> list[tuple[str, tuple[str, ...]]]:
    """What the `given` inputs say of what is asked, each with its files and once.

    Texts are quoted only where they are `few` at most, and several short ones together.
    """
    short: dict[str, str] = {}
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
            plain = whole_text(excerpt, path, most) if len(given) <= few else ""
            short |= {path: plain} if plain else {}
            texts = list(of_calendar(excerpt, path, words))
            if not texts and not plain and len(given) <= few:
                texts = list(of_lines(excerpt, path, demands, words))
        for text in texts:
            matched.setdefault(text, path)
    ends = _first_and_last(case, given, words)
    return [*ends, *_of_short(short, words), *((text, (path,)) for text, path in matched.items())]


def _first_and_last(
    case: Case, given: Sequence[str], words: Words
) -> list[tuple[str, tuple[str, ...]]]:
    """Which of several mails is the earliest and which the latest, if the request asks for one."""
    mails = [path for path in given if extension_of(path) == "eml"]
    if len(mails) < _APART or not _BY_DATE.search(case.request):
        return []
    sent = {path: _SENT_AT.search(case.excerpts.get(path, "")) for path in mails}
    times = {path: match[1] for path, match in sent.items() if match is not None}
    if len(times) < len(mails) or len(set(times.values())) < len(mails):
        return []
    first, *_, last = sorted(mails, key=times.__getitem__)
    shown = {"first": f"{first} ({times[first]})", "last": f"{last} ({times[last]})"}
    text = words["reference_first_mail"].format(number=len(mails), **shown)
    return [(text, tuple(mails))]


def _of_short(short: Words, words: Words) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Short texts by their paths, each for itself, or several in one."""
    if len(short) <= _APART:
        for path, text in short.items():
            yield words["reference_text"].format(file=path, text=text), (path,)
        return
    shown = "; ".join(f"{path}: “{text}”" for path, text in short.items())
    yield words["reference_texts"].format(number=len(short), texts=shown), tuple(short)


def whole_text(text: str, path: str, most: int = _WHOLE_TEXT) -> str:
    """A short text, whole, without the names of its file, which stand before it; else empty."""
    kind = extension_of(path)
    plain = " ".join(text.split())
    if kind == "eml":
        plain = " ".join(_BOUNDARY.sub("", plain).split())
        plain = _TWICE.sub(r"\1", plain)
    if kind == "pdf":
        plain = " ".join(_METADATA.split(text, maxsplit=1)[0].split())
    if kind in ("eml", "pdf"):
        parts = set(re.split(r"[/.]", path)) | {word_form(path.rpartition("/")[2])}
        names = parts | {part.replace("_", " ") for part in parts}
        names = {word for name in names for word in name.split()}
        plain = " ".join(dropwhile(names.__contains__, plain.split()))
    says_something = sum(map(str.isalnum, plain)) > _WORDLESS
    return plain if kind in _PLAIN and says_something and len(plain) <= most else ""


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
    """The lines of a longer text that answer to words of one demand, or hold what is sought."""
    if extension_of(path) not in _WITH_LINES:
        return
    readable = _METADATA.split(text, maxsplit=1)[0] if extension_of(path) == "pdf" else text
    lines = [" ".join(line.split()) for line in readable.splitlines()]
    lines = [line for line in dict.fromkeys(lines) if 0 < len(line) <= _LINE]
    lines = [line for line in lines if not _BOUNDARY.search(line)]
    terms = [_terms(line) for line in lines]
    often = Counter(term for line in terms for term in line)
    wanted = [_terms(demand) for demand in demands]
    own = _terms(path)
    is_prose = extension_of(path) in _PROSE
    sought = [form for asked, form in _SOUGHT if is_prose and any(map(asked.search, demands))]
    chosen = [
        line
        for line, words_of_line in zip(lines, terms, strict=True)
        if any(_answers(line, words_of_line - own, demand, often) for demand in wanted)
        or any(form.search(line) for form in sought)
    ]
    whole = [_with_rest(line, lines) if is_prose else line for line in chosen[:_MOST_LINES]]
    if whole:
        key = "reference_line" if len(whole) == 1 else "reference_lines"
        yield words[key].format(file=path, text="”; “".join(dict.fromkeys(whole)))


def _with_rest(line: str, lines: Sequence[str]) -> str:
    """A line with the next one, where it was wrapped."""
    after = lines[lines.index(line) + 1 :][:1]
    follows = bool(after) and (after[0][0].islower() or line[-1] in "-,")
    is_open = len(line) >= _WIDE and follows
    joined = " ".join([line, *after])
    return joined if is_open and len(joined) <= _LINE else line


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
