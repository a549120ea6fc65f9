"""The reader of answers beside the 7,000 published verdicts of FinRetrieval.

    python -m benchmarks.finretrieval_verdicts FOLDER    with its questions.parquet, scores.parquet

Whoever runs it fetches the two tables: data set `daloopa/finretrieval` on Hugging Face, by Eric Y.
Kim and Jie Huang (arXiv 2603.04403), MIT by its card. Nothing of them is kept here.

A row tells what the published judge, a model, extracted from a response (value, unit, currency),
and whether it held it for right. From these an answer is written, graded as a question of our lane
with the gold of the data set, and the two verdicts are compared. The responses are not there, so
this measures how values, units, scales and signs are read and compared, not how a value is found in
prose; for prose there are the 500 reference answers, which are to be accepted. When they were first
read, 203 of 260 and 192 of 240 were: mostly guidance was taken for a supposition.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.agreement import wilson
from benchmarks.report import table, write_result
from construction.grading.answers.lexicon import LOSS_ASKED
from construction.grading.answers.parts import grade_answers
from construction.grading.answers.units import settle, unit_asked
from construction.grading.spec import AnswerSpec, TaskSpec
from data.text.lexicon import pattern_of

SCALES = {
    "Thousand": 10**3,
    "Lakh": 10**5,
    "Lakhs": 10**5,
    "Million": 10**6,
    "Crore": 10**7,
    "Hundred Million": 10**8,
    "Billion": 10**9,
}
CODES = {"RMB": "CNY", "NIS": "ILS", "NTD": "TWD", "NT$": "TWD"}  # as the data set writes them
PERCENT, DOLLAR = "Percent", "Dollar"
_PER_SHARE = pattern_of(r"\bper (?:\w+ ){0,2}share|\bEPS\b")
_SHARES = pattern_of(r"\bshares\b")
HALVES = ("developed on", "held out")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold value, and the answer in words that the data set gives."""

    text: str
    gold: AnswerSpec
    reference: str
    half: int

    @property
    def amount(self) -> Decimal:
        return Decimal(self.gold.value) * self.gold.scale


@dataclass(frozen=True, slots=True)
class Row:
    """One published verdict: on what was extracted from one response, and by which gold."""

    index: int
    is_correct: bool
    expected: Decimal | None  # in base units
    value: str | None
    unit: str | None
    currency: str | None
    error: str | None

    @property
    def amount(self) -> Decimal | None:
        """What was extracted, in base units."""
        value = _decimal(self.value)
        return None if value is None else value * SCALES.get(self.unit or "", 1)


def read(folder: Path) -> tuple[dict[int, Question], list[Row]]:
    """The questions by their number, and all verdicts."""
    raw = pl.read_parquet(folder / "scores.parquet").to_dicts()
    questions = pl.read_parquet(folder / "questions.parquet").to_dicts()
    by_question: dict[int, list[dict[str, Any]]] = {entry["index"]: [] for entry in questions}
    for row in raw:
        by_question[row["index"]].append(row)
    known = {
        entry["index"]: Question(
            entry["question"],
            _gold(entry, by_question[entry["index"]]),
            entry["answer"],
            half(entry["index"]),
        )
        for entry in questions
    }
    return known, [_row(row) for row in raw]


def half(index: int) -> int:
    """0 or 1: rules were mended on the questions of half 0 alone."""
    return int(hashlib.sha256(f"finretrieval {index}".encode()).hexdigest(), 16) % 2


def _row(raw: dict[str, Any]) -> Row:
    value = _decimal(raw["expected_value"])
    return Row(
        index=raw["index"],
        is_correct=raw["is_correct"],
        expected=value and value * SCALES.get(raw["expected_unit"] or "", 1),
        value=raw["extracted_value"] if raw["could_extract"] else None,
        unit=raw["extracted_unit"],
        currency=raw["extracted_currency"],
        error=raw["error_reason"],
    )


def _decimal(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        return None  # a range, which no answer to a question for one value is


def _gold(question: dict[str, Any], rows: Sequence[dict[str, Any]]) -> AnswerSpec:
    """The gold as our lane would state it.

    The data set gives value and scale. The currency is that which most rows expect, else that of
    the question, else, as is a missing unit, that of most right responses.
    """
    right = [row for row in rows if row["is_correct"]]
    unit = (
        question["unit"]
        or _most(row["expected_unit"] for row in rows)
        or _most(row["extracted_unit"] for row in right)
    )
    value = Decimal(question["value"])
    whole = value == value.to_integral_value()
    value = value.quantize(Decimal(1)) if whole else value.normalize()
    return AnswerSpec(
        part="answer",
        type="number",
        value=f"{value:f}",
        unit="percent" if unit == PERCENT else _unit(question["question"], unit, rows, right),
        scale=SCALES.get(unit or "", 1),
        decimals=max(0, -int(value.as_tuple().exponent)),
    )


def _unit(
    question: str, unit: str | None, rows: Sequence[dict[str, Any]], right: Sequence[dict[str, Any]]
) -> str:
    named = unit_asked(question).unit
    currency = (
        _most(row["expected_currency"] for row in rows)
        or (str(settle(named, named)) if named else None)
        or _most(row["extracted_currency"] for row in right)
        or ("USD" if unit == DOLLAR else None)
    )
    if currency is None:
        return "shares" if _SHARES.search(question) else "count"
    code = CODES.get(currency, currency)
    return f"{code}/share" if unit not in SCALES and _PER_SHARE.search(question) else code


def _most(values: Iterable[str | None]) -> str | None:
    counts = Counter(value for value in values if value)
    return min(counts, key=lambda value: (-counts[value], value)) if counts else None


# Ways to write what was extracted; the first is the one that is compared with the verdicts.

_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "BRL": "R$", "AUD": "A$"}


def plain(row: Row) -> str:
    """ "INR -6.91 crore", "4.5%", "12" """
    return _code_first(row, _number(row, grouped=False))


def written(row: Row) -> dict[str, str]:
    """Other ways to write the same, by name."""
    number = _number(row, grouped=True)
    behind = f" {row.currency}" if row.currency else ""
    sign = _SIGNS.get(CODES.get(row.currency or "", row.currency or ""))
    named = {"unit": row.unit, "currency": row.currency}
    forms = {
        "grouped digits": _code_first(row, number),
        "code behind": number + behind,
        "in a sentence": f"The reported figure was {number}{behind}.",
        "bold": f"The answer: **{number}{behind}**",
        "as JSON": json.dumps({"answer": row.value, **{k: v for k, v in named.items() if v}}),
    }
    if sign and row.unit != PERCENT:
        minus, digits = number[: number.startswith("-")], number.removeprefix("-")
        forms["sign"] = f"{minus}{sign}{digits}"
        if minus:
            figure, _, scale = digits.partition(" ")
            forms["accounts"] = f"{sign}({figure}) {scale}"
    return forms


def _number(row: Row, *, grouped: bool) -> str:
    value = row.value or ""
    amount = _decimal(value) if grouped else None
    text = value if amount is None else f"{amount:,f}"
    if row.unit == PERCENT:
        return text if text.endswith("%") else f"{text}%"
    return f"{text} {row.unit.lower()}" if row.unit in SCALES else text


def _code_first(row: Row, number: str) -> str:
    if row.unit == PERCENT:
        return number
    currency = row.currency or ("USD" if row.unit == DOLLAR else None)
    return f"{currency} {number}" if currency else number


@cache
def reason_of(gold: AnswerSpec, question: str, answer: str) -> str | None:
    """Why the reader holds an answer for wrong; None if it is right."""
    spec = TaskSpec(task_id="finretrieval", prompt=question, answers=(gold,))
    return grade_answers(spec, answer)[0].reason


# Classes of differences: each is a rule, and the first that fits a row explains it.


@dataclass(frozen=True, slots=True)
class Case:
    """A row with its question and the other rows of the question."""

    row: Row
    question: Question
    others: Sequence[Row]

    @property
    def amount(self) -> Decimal | None:
        return self.row.amount


def _other_gold(case: Case) -> bool:
    expected = case.row.expected
    return expected is not None and expected != case.question.amount


def _has_twin(case: Case) -> bool:
    row = case.row
    return any(
        other.is_correct != row.is_correct
        and other.amount == row.amount
        and other.currency == row.currency
        for other in case.others
    )


def _own_reason(case: Case) -> bool:
    return case.row.is_correct and case.row.error is not None


def _rounded(case: Case) -> bool:
    """Is one of the two the other at a coarser place, rounded or cut?"""
    amount, gold = case.amount, case.question.amount
    if not amount or not gold or amount == gold:
        return False
    scale = SCALES.get(case.row.unit or "", 1)
    own = Decimal(1).scaleb(int(Decimal(case.row.value or "0").as_tuple().exponent)) * scale
    quantum = Decimal(1).scaleb(-(case.question.gold.decimals or 0)) * case.question.gold.scale
    return _at(gold, own, amount) or _at(amount, quantum, gold)


def _at(fine: Decimal, step: Decimal, coarse: Decimal) -> bool:
    return any(
        (fine / step).to_integral_value(rounding=mode) * step == coarse
        for mode in (ROUND_HALF_UP, ROUND_DOWN)
    )


def _bare(case: Case) -> bool:
    """Is the amount right as it stands, without a scale, where our reader takes the asked one?"""
    scaled = case.question.gold.scale != 1 and case.row.unit not in SCALES
    return scaled and case.amount == case.question.amount


def _asked_scale(case: Case) -> bool:
    """Is it right in the scale of the question, to which the scale of the gold is contrary?"""
    scale = unit_asked(case.question.text).scale
    if scale is None or case.amount is None or scale == case.question.gold.scale:
        return False
    is_bare = case.row.unit not in SCALES and case.amount * scale == case.question.amount
    return is_bare or case.amount == Decimal(case.question.gold.value) * scale


def _no_scale(case: Case) -> bool:
    """Are the digits right, with a currency and no scale, which for us means base units?"""
    value = _decimal(case.row.value)
    no_scale = case.question.gold.scale != 1 and case.row.unit not in (*SCALES, PERCENT)
    return no_scale and bool(case.row.currency) and value == Decimal(case.question.gold.value)


def _unsigned(case: Case) -> bool:
    asks = LOSS_ASKED.search(case.question.text) is not None
    return asks and case.amount is not None and case.amount == -case.question.amount


def _other_currency(case: Case) -> bool:
    currency = CODES.get(case.row.currency or "", case.row.currency)
    own = (case.question.gold.unit or "").partition("/")[0]
    return bool(currency) and currency != own and case.amount == case.question.amount


@dataclass(frozen=True, slots=True)
class Class:
    """A class of differences: its name, whose error or convention it is, and its rule."""

    name: str
    why: str
    fits: Callable[[Case], bool]


CLASSES = (
    Class("another gold", "its row expects another amount than the data set gives", _other_gold),
    Class("twin", "an equal extraction of the same question was judged the other way", _has_twin),
    Class(
        "own reason", "held for right, and its own `error_reason` says why it is not", _own_reason
    ),
    Class(
        "scale of the gold", "the gold has another scale than its question asks for", _asked_scale
    ),
    Class(
        "rounding", "it takes some roundings; we ask for the places of the gold, no more", _rounded
    ),
    Class("bare number", "it reads base units; we the scale that the question names", _bare),
    Class(
        "no scale",
        "it takes the digits; a currency without a scale is base units for us",
        _no_scale,
    ),
    Class("sign", "it takes the other sign where the question names the direction", _unsigned),
    Class("currency", "it takes the right number in another currency", _other_currency),
)
UNEXPLAINED = "unexplained"


def explained(case: Case) -> str:
    """The class of a row on which the two verdicts differ."""
    return next((entry.name for entry in CLASSES if entry.fits(case)), UNEXPLAINED)


def measure(folder: Path) -> dict[str, Any]:
    """Per half: verdicts, agreement, differences by class, forms and reference answers."""
    questions, rows = read(folder)
    by_question: dict[int, list[Row]] = {}
    for row in rows:
        by_question.setdefault(row.index, []).append(row)
    figures: dict[str, Any] = {}
    for number, name in enumerate(HALVES):
        own = {index: entry for index, entry in questions.items() if entry.half == number}
        cases = [
            Case(row, entry, [other for other in by_question[index] if other is not row])
            for index, entry in own.items()
            for row in by_question[index]
        ]
        figures[name] = _figures(cases) | {"references": _references(own.values())}
    return figures


def _figures(cases: Sequence[Case]) -> dict[str, Any]:
    differ = [case for case in cases if _ours(case) != case.row.is_correct]
    classes = Counter(map(explained, differ))
    reasons = Counter(
        "accepted, theirs wrong" if not case.row.is_correct else f"theirs right, {_reason(case)}"
        for case in differ
    )
    forms: dict[str, Counter[str]] = {}
    for case in {(case.row.index, plain(case.row)): case for case in cases}.values():
        if case.row.value is None or _decimal(case.row.value) is None:
            continue
        for name, answer in written(case.row).items():
            counts = forms.setdefault(name, Counter())
            same = (reason_of(case.question.gold, case.question.text, answer) is None) == _ours(
                case
            )
            counts.update({"n": 1, "same": same})
    taken = {
        entry.name: Counter(case.row.is_correct for case in cases if entry.fits(case))
        for entry in CLASSES
        if entry.fits in (_rounded, _bare, _no_scale, _unsigned, _other_currency)
    }
    return {
        "verdicts": len(cases),
        "agree": len(cases) - len(differ),
        "classes": {name: classes[name] for name in (*(c.name for c in CLASSES), UNEXPLAINED)},
        "reasons": dict(reasons.most_common()),
        "forms": {name: dict(counts) for name, counts in sorted(forms.items())},
        "taken": {name: [count[True], count[False]] for name, count in taken.items()},
    }


def _ours(case: Case) -> bool:
    return _reason(case) is None


def _reason(case: Case) -> str | None:
    answer = "" if case.row.value is None else plain(case.row)
    return reason_of(case.question.gold, case.question.text, answer)


def _references(questions: Iterable[Question]) -> dict[str, Any]:
    reasons = Counter(reason_of(entry.gold, entry.text, entry.reference) for entry in questions)
    n, accepted = reasons.total(), reasons.pop(None, 0)
    return {"n": n, "accepted": accepted, "reasons": dict(reasons.most_common())}


def page(figures: dict[str, Any]) -> str:
    """The results as Markdown."""
    halves = [figures[name] for name in HALVES]
    parts = (
        "Questions are split in two by a hash of their number; rules were mended with a look at "
        "the first half alone.",
        table(("", *HALVES), _agreement(halves)),
        "What the published judge follows and we do not, as far as a rule tells it, over all "
        "verdicts (right / wrong in its eyes): it is of two minds itself.",
        table(("the extraction is the gold, but for its …", *HALVES), _taken(halves)),
        "The same extraction written in other ways, distinct ones: as many have the verdict of "
        "the plain form.",
        table(("form", *HALVES), _forms(halves)),
        "The data set's own answers in words, which are to be accepted:",
        table(("", *HALVES), _reference_rows(halves)),
    )
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _agreement(halves: Sequence[dict[str, Any]]) -> list[list[str]]:
    rows = [["verdicts", *(f"{entry['verdicts']:,}" for entry in halves)]]
    differing = [entry["verdicts"] - entry["agree"] for entry in halves]
    rows.append(["agree as they stand", *map(_share_agreed, halves, differing)])
    for entry in CLASSES:
        counts = [own["classes"][entry.name] for own in halves]
        differing = [n - count for n, count in zip(differing, counts, strict=True)]
        shown = [
            f"{count}: {_share_agreed(own, n)}"
            for own, count, n in zip(halves, counts, differing, strict=True)
        ]
        rows.append([f"{entry.name}: {entry.why}", *shown])
    return [*rows, [UNEXPLAINED, *map(str, differing)]]


def _share_agreed(entry: dict[str, Any], differing: int) -> str:
    return f"{1 - differing / entry['verdicts']:.2%}"


def _taken(halves: Sequence[dict[str, Any]]) -> list[list[str]]:
    return [
        [name, *(f"{entry['taken'][name][0]} / {entry['taken'][name][1]}" for entry in halves)]
        for name in halves[0]["taken"]
    ]


def _forms(halves: Sequence[dict[str, Any]]) -> list[list[str]]:
    none = {"n": 0, "same": 0}
    return [
        [
            name,
            *(
                f"{own['same']} of {own['n']}"
                for entry in halves
                for own in [entry["forms"].get(name, none)]
            ),
        ]
        for name in halves[0]["forms"]
    ]


def _reference_rows(halves: Sequence[dict[str, Any]]) -> list[list[str]]:
    counts = [(entry["references"]["accepted"], entry["references"]["n"]) for entry in halves]
    spans = [wilson(*count) for count in counts]
    refused = [
        ", ".join(f"{n} {why}" for why, n in entry["references"]["reasons"].items())
        for entry in halves
    ]
    return [
        ["accepted", *(f"{accepted} of {n}" for accepted, n in counts)],
        ["95 % interval", *(f"{span.low:.1%} to {span.high:.1%}" for span in spans)],
        ["the others", *refused],
    ]


def main(arguments: Sequence[str]) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with questions.parquet and scores.parquet")
    figures = measure(parser.parse_args(arguments).folder)
    write_result("finretrieval_verdicts", __doc__ or "", page(figures), figures)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
