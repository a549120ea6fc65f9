"""The deterministic answer check of the questions lane (after FinRetrieval's scorer)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from typing import Any

from construction.grading.answers import lexicon
from construction.grading.answers.choose import (
    AMBIGUOUS,
    NOTHING,
    Outcome,
    all_cells,
    choose,
    fitting_cells,
    labels_of,
    offers_several,
)
from construction.grading.answers.lexicon import (
    AnswerCheck,
    Declared,
    ErrorReason,
    GoldAnswer,
    rounded,
)
from construction.grading.answers.markup import SENTENCE_END, Clean, RawTable, Span, clean, visible
from construction.grading.answers.passage import Passage, Reading, accepted, read_passage
from construction.grading.answers.question import Target, read_question
from construction.grading.answers.roles import gives_up, is_doubted, is_worded
from construction.grading.answers.units import (
    declared_in,
    measure_of,
    measured,
    measures_asked,
)
from data.text.folding import fold_width
from data.text.numbers import literal_value

_MAX_SHIFT = 12
_MAX_MARKERS = 200  # only the last ones are read; with more bold spans, bold does not mark anything
MAX_CHARS = 20_000  # a longer answer has its conclusion at the end
_EXACT = Context(prec=200)
_BREAK = re.compile(r"\s")
_IN_THOUSANDS = re.compile(r"([€£$¥₹])\s?['’]?000s?(?![\d,.]*\d)")  # £'000
_OTHER_UNIT = (ErrorReason.WRONG_UNIT, ErrorReason.WRONG_CURRENCY)
_DECLINED = "(?:差し|お|ご)?(?:控え|でき|出来|いたし|致し|見送)"
MARKER = re.compile(
    r"(?<![A-Za-z])(?:(?:final |my |short |correct )?answer\s*(?:\([^()\n]{0,40}\)\s*)?[:=]"
    r"|the (?:final |correct )?answer is(?![A-Za-z])\s*:?|final answer is(?![A-Za-z])\s*:?)"
    r"|(?<!\w)(?:antwort|réponse|respuesta|risposta|antwoord|resposta|svar)\s*[:=]"
    r"|(?:die antwort (?:ist|lautet)|la réponse est|la respuesta es|la risposta è|het antwoord is"
    r"|a resposta é|svaret (?:är|er))(?!\w)\s*:?"
    rf"|(?:最终|最終)?答案\s*(?:[:=]|是|为|為)\s*:?|(?:最終)?回答\s*(?:[:=]|は(?!{_DECLINED}))"
    rf"|答え\s*(?:[:=]|は(?!{_DECLINED}))、?",
    re.I,
)
ANSWER_KEYS = ("answer", "final_answer", "value", "result", "amount", "答案", "回答")
_FENCED = re.compile(r"(?:```|~~~)\w*\s*\n(.*?)\n\s*(?:```|~~~)", re.S)
_MAX_DEPTH = 6


def check_answer(
    answer: str, gold: GoldAnswer, question: str, *, strict: bool = False
) -> AnswerCheck:
    """Compares the value of a free-text answer with the gold value.

    The rules are in tests/challenge/answers.md. The gold value is used for the comparison only,
    never to choose a value from the answer. Deterministic. Of a long answer only the last
    `MAX_CHARS` characters are read.

    A `strict` check reads a field that was asked to hold one value: several amounts between which
    the words do not decide are ambiguous, where otherwise the last one counts, and an answer that
    gives up on the question, or denies or doubts anything without marking its value as the answer,
    has no value, even if it quotes one.
    """
    answer = _IN_THOUSANDS.sub(r"\1 thousand", answer)
    if measure_of(gold.unit) is not None:
        bare = _without_measure(answer, gold, question)
        if bare is None:
            return AnswerCheck(False, None, None, False, ErrorReason.WRONG_UNIT)
        answer, gold = bare, replace(gold, unit="count")
    with localcontext(_EXACT):
        target = read_question(question, gold, strict=strict)
        target = replace(target, comma=lexicon.writes_comma(answer, question))
        outcome = _extract(_ending(answer), target)
        return _compare(outcome, gold, target)


def _without_measure(answer: str, gold: GoldAnswer, question: str) -> str | None:
    """The answer without the unit of measure asked for; None if all its units are others."""
    wanted = measures_asked(gold.unit, question, int(gold.scale))
    text = fold_width(answer)
    seen = [entry for entry in measured(text) if entry.number is not None]
    own = [entry for entry in seen if entry.unit in wanted]
    if seen and not own:
        return None
    for entry in sorted(own, key=lambda entry: -entry.unit_start):
        text = f"{text[: entry.unit_start]} {text[entry.end :]}"
    return text


def _ending(answer: str) -> str:
    """The end of a long answer, starting at a word or line, so that no number is cut in two."""
    if len(answer) <= MAX_CHARS:
        return answer
    tail = answer[-MAX_CHARS:]
    whole = _BREAK.search(tail)
    return tail[whole.end() :] if whole else ""


def _extract(answer: str, target: Target) -> Outcome:
    """The value of an answer: its last word, if it takes an earlier one back, else the whole."""
    retraction = lexicon.taken_back(answer)
    if retraction is not None:
        outcome = _corrected(answer[retraction.end() :], target)
        if outcome is not None:
            return outcome
        if lexicon.WITHDRAWAL.search(answer, retraction.start()):
            return NOTHING
    return _whole(answer, target)


def _corrected(correction: str, target: Target) -> Outcome | None:
    """What a correction says; None if it holds no value, so that it corrects nothing."""
    cleaned = clean(visible(correction)[0])
    passage = read_passage(cleaned.text, target)
    strong = [value for value in passage.values if not value.weak]
    if not passage.values:
        return None
    declared = declared_in(cleaned.text)
    marked = _markers(passage, cleaned, target, declared)
    outcome = marked or _verdict(passage, (0, len(passage.text)), target, declared)
    if outcome is not None and outcome is not NOTHING:
        return outcome
    return AMBIGUOUS if strong else None


def _whole(answer: str, target: Target) -> Outcome:
    """From markers, emphasised text, tables or prose, in this order."""
    data = _json_answer(answer)
    if data is not None:
        outcome = _json(data, target)
        if outcome is not None:
            return outcome
    text, tables = visible(answer)
    cleaned = clean(text)
    passage = read_passage(cleaned.text, target)
    declared = declared_in(cleaned.text)
    marked = _markers(passage, cleaned, target, declared)
    if marked is not None:
        return marked
    if target.strict and gives_up(passage, (0, len(passage.text))):
        return AMBIGUOUS if offers_several(passage, target, declared) else NOTHING
    outcome = _emphasised(passage, cleaned, target, declared) or _tables_or_prose(
        passage, tables, target, declared
    )
    is_quoted = target.strict and outcome is not AMBIGUOUS and is_doubted(passage, target)
    return NOTHING if is_quoted else outcome


def _json(data: _JsonAnswer, target: Target) -> Outcome | None:
    cleaned = clean(visible(data.text)[0])
    declared = Declared()
    for text in data.declares:
        declared = declared.over(declared_in(text, label=True)).over(_numeric_scale(text))
    passage = read_passage(cleaned.text, target)
    own = declared_in(cleaned.text).over(declared)
    return _verdict(passage, (0, len(passage.text)), target, own)


def _numeric_scale(text: str) -> Declared:
    """The scale of `"scale": 1000`, which the JSON parser returns as text."""
    value = literal_value(text) if text.isascii() and text.isdigit() else None
    return Declared(None, value or None)


def _verdict(
    passage: Passage, scope: tuple[int, int], target: Target, declared: Declared
) -> Outcome | None:
    """What a marker says; None if it holds neither a value nor a refusal."""
    refused = lexicon.REFUSAL.search(passage.text[scope[0] : scope[1]])
    if target.strict and (refused or gives_up(passage, scope)):
        return NOTHING
    outcome = choose(passage, scope, target, declared, marked=True)
    if outcome is not NOTHING:
        return outcome
    return NOTHING if refused else None


def _markers(
    passage: Passage, cleaned: Clean, target: Target, declared: Declared
) -> Outcome | None:
    scopes = _text_markers(passage, cleaned)[-_MAX_MARKERS:]
    verdicts = [_verdict(passage, scope, target, declared) for scope in scopes]
    conclusive = [verdict for verdict in verdicts if verdict is not None]
    amounts = {verdict.reading.amount for verdict in conclusive if verdict.reading is not None}
    if len(amounts) >= 3:
        return AMBIGUOUS
    return conclusive[-1] if conclusive else None


def _emphasised(
    passage: Passage, cleaned: Clean, target: Target, declared: Declared
) -> Outcome | None:
    """The value of bold spans, if all that hold a value agree."""
    readings: list[Reading] = []
    for span in cleaned.bold[: _MAX_MARKERS + 1]:
        outcome = choose(passage, span, target, declared, marked=True, whole_clause=True)
        if outcome is AMBIGUOUS:
            return None
        readings += [outcome.reading] if outcome.reading is not None else []
    agreed = {(reading.amount, reading.unit) for reading in readings}
    few = len(cleaned.bold) <= _MAX_MARKERS
    return Outcome(readings[0]) if len(agreed) == 1 and few else None


def _tables_or_prose(
    passage: Passage, tables: list[RawTable], target: Target, declared: Declared
) -> Outcome:
    cells = fitting_cells(tables, target, declared)
    if cells:
        return Outcome(cells[0]) if len({cell.amount for cell in cells}) == 1 else AMBIGUOUS
    if target.strict and not passage.values:
        return _whole_table(tables, target, declared)
    return choose(passage, (0, len(passage.text)), target, declared, marked=False)


def _whole_table(tables: list[RawTable], target: Target, declared: Declared) -> Outcome:
    """The value of an answer that is a table alone, without a label that is the metric's name."""
    cells = all_cells(tables, target, declared)
    if len({cell.amount for cell in cells}) > 1:
        return AMBIGUOUS
    is_named = bool(cells) and all(is_worded(text, target) for text in labels_of(tables))
    return Outcome(cells[0]) if is_named else NOTHING


def _compare(outcome: Outcome, gold: GoldAnswer, target: Target) -> AnswerCheck:
    reading = outcome.reading
    if reading is None:
        return AnswerCheck(False, None, None, False, outcome.reason)
    reason = _difference(reading, gold, target)
    unit = str(
        target.unit
        if accepted(reading.unit, target) and reason not in _OTHER_UNIT
        else reading.unit
    )
    return AnswerCheck(reason is None, _plain(reading.amount), unit, True, reason)


def _difference(reading: Reading, gold: GoldAnswer, target: Target) -> ErrorReason | None:
    if not accepted(reading.unit, target):
        return ErrorReason.WRONG_UNIT
    if reading.unit.name != target.unit.name:
        return ErrorReason.WRONG_CURRENCY
    quantum = Decimal(1).scaleb(-gold.decimals)

    def passes(amount: Decimal) -> bool:
        return rounded(amount / gold.scale, quantum) == gold.value

    is_exact = reading.amount == gold.value * gold.scale
    if reading.amount in gold.elsewhere and not is_exact:
        return ErrorReason.OTHER_FILING  # even if it rounds to the gold value
    if passes(reading.amount):
        return None
    of_others = {rounded(amount / gold.scale, quantum) for amount in gold.elsewhere}
    if rounded(reading.amount / gold.scale, quantum) in of_others:
        return ErrorReason.OTHER_FILING
    if gold.value and passes(-reading.amount):
        return ErrorReason.WRONG_SIGN
    shifts = [shift for shift in range(-_MAX_SHIFT, _MAX_SHIFT + 1) if shift]
    if gold.value and any(passes(reading.amount.scaleb(shift)) for shift in shifts):
        return ErrorReason.WRONG_SCALE
    return ErrorReason.WRONG_VALUE


def _plain(amount: Decimal) -> Decimal:
    """Without exponent and trailing zeros; zero is 0."""
    return (
        Decimal(f"{amount:f}".rstrip("0").rstrip("."))
        if "." in f"{amount:f}"
        else Decimal(f"{amount:f}")
    )


@dataclass(frozen=True, slots=True)
class _JsonAnswer:
    """The text under an answer key, with the texts of sibling keys unit, currency and scale."""

    text: str
    declares: tuple[str, ...]


def _text_markers(passage: Passage, clean: Clean) -> list[Span]:
    """Scopes of all markers, in the order of their position."""
    matches = list(MARKER.finditer(passage.text))
    scopes: list[tuple[int, Span]] = [(start, (start, end)) for start, end in clean.boxes]
    for number, match in enumerate(matches):
        limit = matches[number + 1].start() if number + 1 < len(matches) else len(passage.text)
        scopes.append((match.start(), _scope(passage, match.end(), limit)))
    return [scope for _, scope in sorted(scopes)]


def _scope(passage: Passage, start: int, limit: int) -> Span:
    """Up to the end of the sentence with the first value, of the line, or to the next marker."""
    text = passage.text
    end = _line_end(text, start, limit)
    while end < limit and not text[start:end].strip(" *:\"'"):
        start = end + 1
        end = _line_end(text, start, limit)
    inside = passage.within(start, end)
    first = passage.values[inside[0]].end if inside else start
    stop = SENTENCE_END.search(text, first, end) if inside else None
    return start, stop.start() if stop else end


def _line_end(text: str, start: int, limit: int) -> int:
    end = text.find("\n", start, limit)
    return limit if end < 0 else end


def _json_answer(raw: str) -> _JsonAnswer | None:
    """The answer key of a JSON answer: the whole text, a fenced block, or the outermost braces."""
    if "{" not in raw:
        return None
    for piece in json_pieces(raw):
        try:
            loaded = json.loads(piece, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            continue
        answer = _under_key(loaded, (), 0)
        if answer is not None:
            return answer
    return None


def json_pieces(raw: str) -> Iterator[str]:
    yield raw.strip()
    yield from [match[1] for match in _FENCED.finditer(raw)][-1:]
    yield raw[raw.index("{") : raw.rindex("}") + 1] if "}" in raw[raw.index("{") :] else ""


def _under_key(loaded: Any, outer: tuple[str, ...], depth: int) -> _JsonAnswer | None:
    if not isinstance(loaded, dict) or depth > _MAX_DEPTH:
        return None
    lower = {str(key).lower(): value for key, value in loaded.items()}
    siblings = tuple(
        lower[key] for key in ("unit", "currency", "scale") if isinstance(lower.get(key), str)
    )
    declares = (*siblings, *outer)
    for key in ANSWER_KEYS:
        if key not in lower:
            continue
        value = lower[key]
        if isinstance(value, dict):
            return _under_key(value, declares, depth + 1)
        return _JsonAnswer("null" if value is None else str(value), declares)
    return None
