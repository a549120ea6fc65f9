"""Numbers that are no values: dates, labels, durations, notes, standards, identifiers, names."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

from construction.statements.answers.periods import find_periods

_NUMERAL = "[0-9一二三四五六七八九十百]{1,9}"
_LISTED: dict[str, list[str]] = tomllib.loads(
    files(__package__).joinpath("noise.toml").read_text(encoding="utf-8")
)
_NOISE = tuple(
    re.compile(pattern.replace("{numeral}", _NUMERAL), re.I)
    for patterns in _LISTED.values()
    for pattern in patterns
)


def noise_spans(text: str, company: str) -> list[tuple[int, int]]:
    """Spans in which no number is a value, in order of their start."""
    spans = [(period.start, period.end) for period in find_periods(text)]
    for pattern in _NOISE:
        spans += [match.span() for match in pattern.finditer(text)]
    return sorted(spans + _about_company(text, company) if company else spans)


def _about_company(text: str, company: str) -> list[tuple[int, int]]:
    """Digits of the company's name, and the code in brackets behind it."""
    name = re.escape(company)
    code = re.compile(rf"{name}[^()\n]{{0,20}}\([A-Z:. ]{{0,8}}[0-9]{{4,6}}[^()\n]{{0,6}}\)", re.I)
    spans = [match.span() for match in code.finditer(text)]
    if any(char.isdigit() for char in company):
        spans += [match.span() for match in re.finditer(name, text, re.I)]
    return spans
