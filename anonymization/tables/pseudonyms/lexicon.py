"""The words that pseudonyms of companies are built from, in three languages."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path


class Language(StrEnum):
    EN = "en"
    ZH = "zh"
    JA = "ja"


Word = Mapping[Language, str]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`sectors`: the words of each; `labels`: (part of an industry's label, sector), longest first;
    `forms`: legal forms per language, longest first."""

    first: tuple[Word, ...]
    second: tuple[Word, ...]
    before: tuple[Word, ...]
    sectors: Mapping[str, tuple[Word, ...]]
    labels: tuple[tuple[str, str], ...]
    forms: Mapping[Language, tuple[str, ...]]

    def sector_of(self, industry: str) -> str:
        """The sector whose label is found in the industry's name; `general` if none is."""
        low = industry.casefold()
        return next((sector for part, sector in self.labels if part in low), "general")


@cache
def lexicon() -> Lexicon:
    """The lexicon of the package."""
    raw = tomllib.loads((Path(__file__).parent / "lexicon.toml").read_text(encoding="utf-8"))
    sectors = {name: _words(entry["words"]) for name, entry in raw["sectors"].items()}
    labels = [(p, name) for name, entry in raw["sectors"].items() for p in entry["labels"]]
    return Lexicon(
        _words(raw["first"]),
        _words(raw["second"]),
        _words(raw["before"]),
        sectors,
        tuple(sorted(labels, key=lambda label: (-len(label[0]), label))),
        {
            Language(k): tuple(sorted(v, key=lambda f: (-len(f), f)))
            for k, v in raw["forms"].items()
        },
    )


def _words(lines: list[str]) -> tuple[Word, ...]:
    """Each line: an English form, which may have spaces, a Chinese and a Japanese one."""
    return tuple(dict(zip(Language, line.rsplit(" ", 2), strict=True)) for line in lines)
