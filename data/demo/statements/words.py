"""Lexicons and layouts of the demo statements, as typed values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_SHOWN_NEGATIVE = "-"


@dataclass(frozen=True, slots=True)
class Indicator:
    """One operating indicator: its tag, its label, about how large it is, and whether it is
    counted over the year rather than at its end."""

    tag: str
    label: str
    size: int
    over_year: bool = False


@dataclass(frozen=True, slots=True)
class Industry:
    """Names and shape of one industry."""

    english: str
    japanese: str
    japanese_english: str
    japanese_industry: str
    sic: str
    segments: Sequence[tuple[str, float]]
    indicators: Sequence[Indicator]
    japanese_indicators: Sequence[Indicator]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a US statement; a heading has no tag. `labels` are variants by company."""

    labels: Sequence[str]
    tag: str = ""
    item: str = ""
    negated: bool = False

    def label(self, variant: int) -> str:
        return self.labels[variant % len(self.labels)]


@dataclass(frozen=True, slots=True)
class JapaneseRow:
    """One row of a Japanese statement: its item as filed, and with which sign it is filed."""

    item: str
    amount: str
    sign: int


@cache
def lexicon() -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / "words.toml").read_text(encoding="utf-8"))


@cache
def industries() -> Sequence[Industry]:
    return tuple(
        Industry(
            **{
                **entry,
                "segments": tuple((name, share) for name, share in entry["segments"]),
                "indicators": tuple(Indicator(*fields) for fields in entry["indicators"]),
                "japanese_indicators": tuple(
                    Indicator(item, item, *more) for item, *more in entry["japanese_indicators"]
                ),
            }
        )
        for entry in lexicon()["industry"]
    )


@cache
def us_rows(statement: str) -> Sequence[Row]:
    return tuple(_row(entry) for entry in _layouts()["us"][statement])


@cache
def standard_labels() -> Mapping[str, str]:
    """The label of each tag, whoever files it."""
    rows = (_row(entry) for rows in _layouts()["us"].values() for entry in rows)
    labels = {row.tag: row.labels[0] for row in rows if row.tag}
    indicators = {one.tag: one.label for trade in industries() for one in trade.indicators}
    standard: Mapping[str, str] = _layouts()["standard"]
    return labels | indicators | dict(standard)


@cache
def japanese_rows(statement: str) -> Sequence[JapaneseRow]:
    return tuple(
        JapaneseRow(item, amount.removeprefix("-"), -1 if amount.startswith("-") else 1)
        for item, amount in _layouts()["japan"][statement]
    )


@cache
def _layouts() -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / "layouts.toml").read_text(encoding="utf-8"))


def _row(entry: Sequence[str]) -> Row:
    if len(entry) == 1:
        return Row(labels=(entry[0],))
    tag, labels, item, *sign = entry
    return Row(tuple(labels.split("|")), tag, item, sign == [_SHOWN_NEGATIVE])
