"""A text with its values, clauses, periods, noise, and mentions of the metric asked for."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from construction.statements.answers.candidates import Value, scan_values
from construction.statements.answers.cleaning import SENTENCE_END, Span
from construction.statements.answers.periods import Period, find_periods
from construction.statements.answers.question import Target
from data.text.dates import MONTH_NAME
from data.text.lexicon import load_table
from data.text.numerals import ONE_TO_TEN

_CLAUSE_END = re.compile(r"[;、]|,(?![0-9])|(?<![0-9]),|\s(?:and|but|while|whereas)(?=\s)", re.I)
_REACH = 300  # characters of a clause that are read on each side of a value
_NUMERAL = f"[0-9{ONE_TO_TEN}百]{{1,9}}"
_LISTED = load_table(__package__, "noise.toml")
_NOISE = tuple(
    re.compile(pattern.replace("{numeral}", _NUMERAL).replace("{month}", MONTH_NAME), re.I)
    for patterns in _LISTED.values()
    for pattern in patterns
)


@dataclass(frozen=True, slots=True)
class Passage:
    """What is known about a text before a value is chosen."""

    text: str
    values: tuple[Value, ...]
    starts: tuple[int, ...]
    sentences: tuple[Span, ...]
    cuts: tuple[Span, ...]
    periods: tuple[Period, ...]
    named: tuple[Span, ...]
    openers: dict[int, int]

    def within(self, low: int, high: int) -> list[int]:
        """Indices of the values that start in a span."""
        return list(range(bisect_left(self.starts, low), bisect_left(self.starts, high)))

    def clause(self, position: int) -> Span:
        """The clause around a position, at most `_REACH` characters to each side."""
        return _around(self.cuts, position, len(self.text))

    def sentence(self, position: int) -> Span:
        """The sentence around a position."""
        index = bisect_right(self.sentences, (position, len(self.text) + 1))
        low = self.sentences[index - 1][1] if index else 0
        high = self.sentences[index][0] if index < len(self.sentences) else len(self.text)
        return low, high


def _around(cuts: tuple[Span, ...], position: int, length: int) -> Span:
    index = bisect_right(cuts, (position, length + 1))
    low = cuts[index - 1][1] if index else 0
    high = cuts[index][0] if index < len(cuts) else length
    return max(low, position - _REACH), min(high, position + _REACH)


def read_passage(text: str, target: Target) -> Passage:
    """Analyses a clean text once; linear in its length."""
    noise = noise_spans(text, target.company)
    values = scan_values(text, noise)
    named = tuple(match.span() for match in target.naming.finditer(text)) if target.naming else ()
    sentences = tuple(match.span() for match in SENTENCE_END.finditer(text))
    whole = sorted([*noise, *named, *((value.start, value.end) for value in values)])
    inner = _outside(sorted(match.span() for match in _CLAUSE_END.finditer(text)), whole)
    return Passage(
        text=text,
        values=tuple(values),
        starts=tuple(value.start for value in values),
        sentences=sentences,
        cuts=tuple(sorted([*sentences, *inner])),
        periods=find_periods(text),
        named=named,
        openers=_openers(text, values),
    )


def _outside(cuts: list[Span], protected: list[Span]) -> list[Span]:
    """The cuts that are not inside a date, a value or a name."""
    starts = [start for start, _ in protected]
    reach, furthest = [], 0
    for _, end in protected:
        furthest = max(furthest, end)
        reach.append(furthest)
    kept = []
    for low, high in cuts:
        index = bisect_right(starts, low) - 1
        if index < 0 or reach[index] <= low:
            kept.append((low, high))
    return kept


def _openers(text: str, values: list[Value]) -> dict[int, int]:
    """For each value in brackets, where its innermost bracket opens; a line break closes all."""
    openers: dict[int, int] = {}
    stack: list[int] = []
    brackets = re.finditer(r"[()\[\]\n]", text)
    bracket = next(brackets, None)
    for value in values:
        while bracket is not None and bracket.start() < value.end:
            if bracket.start() < value.start:
                _push(stack, bracket)
            bracket = next(brackets, None)
        if stack:
            openers[value.start] = stack[-1]
    return openers


def _push(stack: list[int], bracket: re.Match[str]) -> None:
    if bracket[0] in "([":
        stack.append(bracket.start())
    elif bracket[0] == "\n":
        stack.clear()
    elif stack:
        stack.pop()


def noise_spans(text: str, company: str) -> list[tuple[int, int]]:
    """Spans in which no number is a value, in order of their start."""
    spans = [(period.start, period.end) for period in find_periods(text)]
    for pattern in _NOISE:
        spans += [match.span() for match in pattern.finditer(text)]
    return sorted(spans + _about_company(text, company) if company else spans)


def _about_company(text: str, company: str) -> list[tuple[int, int]]:
    """Digits of the company's name, and the code in brackets after it."""
    name = re.escape(company)
    code = re.compile(rf"{name}[^()\n]{{0,20}}\([A-Z:. ]{{0,8}}[0-9]{{4,6}}[^()\n]{{0,6}}\)", re.I)
    spans = [match.span() for match in code.finditer(text)]
    if any(char.isdigit() for char in company):
        spans += [match.span() for match in re.finditer(name, text, re.I)]
    return spans
