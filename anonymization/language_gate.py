"""The language gate: can masking find the names in the languages of a task's texts?

Kinds that are known by their form are found in every language; persons, companies and places only
in the languages of the models. A text in another language is not masked half and passed in
silence: it rejects, or is released as unverified if the recipe says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from anonymization.text.contracts import DetectionConfig, EntityType
from anonymization.text.detect.declared import normalised
from anonymization.text.detect.wording import words as listed_words
from data.contracts import Bound, Gate, GateReason, Limit, StageConfig, Status
from data.text.language import sure_language_of

# Kinds that only a model of the language finds.
_NAMES = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION})
_BLOCK = 400  # characters of lines that are looked at together
_MOST_MARKS = 2  # of code in a line of prose
_LONGEST = 4_000  # characters of a block; the rest of a longer line is in the same language


class LanguageReason(GateReason):
    UNSUPPORTED = (
        "masking.language_unsupported",
        "A text is in a language that name masking does not support.",
    )


class LanguageConfig(StageConfig):
    """What to do with a task that has text in an unsupported language: reject it, or keep it as
    unverified.
    """

    unsupported: Literal["reject", "keep"] = "reject"


@dataclass(frozen=True, slots=True)
class _TextLanguages:
    """How many blocks of text are in which kind of language; `language` is the ISO 639-1 code of
    the commonest unsupported one, the first by name among equals."""

    blocks: int = 0
    unsupported: int = 0
    language: str | None = None


def supported_languages(config: DetectionConfig) -> frozenset[str] | None:
    """The languages in which names are found; None if no names are looked for by any model."""
    models = {
        "en": config.english_model,
        "zh": config.chinese_model,
        "ja": config.japanese_model,
    }
    supported = frozenset(language for language, model in models.items() if model)
    return supported if supported and _NAMES & set(config.entities) else None


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HUMPS = re.compile(r"(?<=[a-zäöüß])(?=[A-Z])|_")
_LATIN = ("de", "fr")
_FEWEST_WORDS = 4  # distinct words of a language, from which a short text counts as written in it
# A few words of a script that one unsupported language, or a group of them, is written in.
_SCRIPTS = {
    "ko": re.compile(r"[\uac00-\ud7a3]{2,}"),
    "ru": re.compile(r"[\u0400-\u04ff]{2,}"),
    "ar": re.compile(r"[\u0621-\u064a]{2,}"),
    "he": re.compile(r"[\u05d0-\u05ea]{2,}"),
    "th": re.compile(r"[\u0e01-\u0e4e]{2,}"),
    "hi": re.compile(r"[\u0904-\u0963]{2,}"),
    "el": re.compile(r"[\u0386-\u03ce]{2,}"),
}
_FEWEST_IN_SCRIPT, _FEWEST_LETTERS = 2, 6
_MOST_READ = 200_000  # characters


def short_language(texts: Iterable[str], labels: Iterable[str] = ()) -> str | None:
    """German, French or a language of another script, where distinct words and labels show it
    though no block of prose does.

    Structured files hold the language in headings, keys, strings and comments. There must be more
    of its words than English ones; a text of `labels` that declare their values needs no model.
    """
    read = " ".join(_bounded(texts))
    for name, word in _SCRIPTS.items():
        in_script = set(word.findall(read))
        if len(in_script) >= _FEWEST_IN_SCRIPT and sum(map(len, in_script)) >= _FEWEST_LETTERS:
            return name
    words = {word.casefold() for word in _WORD.findall(_HUMPS.sub(" ", read))}
    words |= {normalised(label) for label in labels}
    evidence = {name: len(words & _evidence(name)) for name in _LATIN}
    first = max(_LATIN, key=lambda name: evidence[name])
    is_shown = evidence[first] >= _FEWEST_WORDS and evidence[first] > len(words & _evidence("en"))
    return first if is_shown else None


def _bounded(texts: Iterable[str]) -> Iterator[str]:
    size = 0
    for text in texts:
        if size >= _MOST_READ:
            return
        size += len(text)
        yield text[:_MOST_READ]


@cache
def _evidence(language: str) -> frozenset[str]:
    others = [
        listed_words("languages.toml", name) for name in ("de", "fr", "en") if name != language
    ]
    return listed_words("languages.toml", language) - frozenset().union(*others)


def languages_in(texts: Iterable[str]) -> dict[str, int]:
    """How many blocks of the texts are in which language, as far as it is sure: code and lines
    that a machine wrote are in none."""
    counts: dict[str, int] = {}
    lines = (line for text in texts for line in text.splitlines() if not _is_logged(line))
    for block in _blocks(lines):
        language = sure_language_of(block)
        if language is not None:
            counts[language] = counts.get(language, 0) + 1
    return counts


_STAMPED = re.compile(r"\W{0,3}\d{1,4}[-/.](?:\d{1,2}|[A-Z][a-z]{2})[-/.]\d{1,4}[ T_]\d{1,2}:\d{2}")
_PAIR = re.compile(r"\s*[A-Za-z_][\w.]*\s*[=:]\s*\S*\s*")
_ROW = re.compile(r"\s*\(.{3,}\)\s*[,;]?\s*")
_CELL = re.compile(r"'((?:[^']|'')*)'")
_PHRASE = re.compile(r"(?:[^\W\d_]+\W+){3}[^\W\d_]+")
_MARKS = re.compile(r"[\w.]+\(|\w\.\w+\.|[{}\[\]<>|=;$\\]")


def _is_logged(line: str) -> bool:
    """Is a line a record of a log, a pair of a setting and its value, code, or a row of a database
    whose cells hold no phrase?"""
    if _STAMPED.match(line) or _PAIR.fullmatch(line):
        return True
    if _ROW.fullmatch(line):
        return not any(_PHRASE.search(cell) for cell in _CELL.findall(line))
    return len(_MARKS.findall(line)) > _MOST_MARKS


def spoken_languages(texts: Sequence[str], labels: Collection[str] = ()) -> dict[str, int]:
    """As `languages_in`; a short or structured text whose words show its language counts as a
    block of it."""
    counts = languages_in(texts)
    short = None if counts.keys() & set(_LATIN) else short_language(texts, labels)
    return counts if short is None else counts | {short: 1}


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """As many lines together as make a block, so that short messages and cells count too."""
    block: list[str] = []
    size = 0
    for line in lines:
        block.append(line[:_LONGEST])
        size += len(line)
        if size >= _BLOCK:
            yield "\n".join(block)
            block, size = [], 0
    if block:
        yield "\n".join(block)


def measure(counts: Iterable[dict[str, int]], supported: Collection[str] | None) -> _TextLanguages:
    """The languages of a task's texts and files; no block counts where no names are looked for."""
    total: dict[str, int] = {}
    for count in counts:
        for language, blocks in count.items():
            total[language] = total.get(language, 0) + blocks
    if supported is None:
        return _TextLanguages(sum(total.values()))
    others = {name: blocks for name, blocks in total.items() if name not in supported}
    first = min(others, key=lambda name: (-others[name], name), default=None)
    return _TextLanguages(sum(total.values()), sum(others.values()), first)


def _limit(policy: str, status: Literal[Status.FAILED, Status.UNVERIFIED]) -> Limit:
    return Limit(
        "unsupported blocks",
        Bound.MAX,
        "blocks of text",
        "No block of text is in a language that name masking does not support.",
        LanguageReason.UNSUPPORTED,
        lambda seen: seen["unsupported"],
        at=0,
        movable=False,
        policy=("unsupported", policy),
        status=status,
    )


GATE = Gate(
    name="language",
    stage="masking",
    section="masking.language",
    meaning="Are all texts in languages that name masking supports?",
    config=LanguageConfig,
    reasons=LanguageReason,
    measure=measure,
    limits=(_limit("reject", Status.FAILED), _limit("keep", Status.UNVERIFIED)),
)
