"""Illness and pay of somebody in everyday words (level `strict`).

The condition and the amount are masked, not the sentence. Illness in general, and amounts that
belong to nobody, are what tasks are about and stay: a sentence counts only with a person in it (a
name that was found, or a word such as `she`, 我, さん). Words are in `data/statements.toml`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import listed
from data.text.lexicon import trie_pattern
from data.text.needs import has_eastern
from data.text.scripts import LETTERS

_TABLE = "statements.toml"
_SENTENCE = re.compile(r"[^\n.!?。!?;；]+(?:\.(?=\d)[^\n.!?。!?;；]+){0,20}")
_AMOUNT = re.compile(
    r"(?:[$€£¥￥]|(?:USD|EUR|GBP|CHF|CNY|RMB|JPY) ?)\d[\d.,'’ ]*\d(?:k\b|[万千億亿])?"
    r"|\d[\d.,'’  ]*\d ?(?:[€£¥]|k\b|(?:euros?|pounds?|dollars?|usd|eur|gbp|yuan|yen|chf)\b"
    r"|万元|万円|千元|元|円|块|萬)|\d{1,4}(?:\.\d+)?(?:k\b|万元?|万円)"
    r"|(?<![\d.,])\d{1,3}(?:[,.']\d{3})+(?:\.\d{2})?(?![\d,])|(?<![\d.,-])\d{3,7}\.\d{2}(?!\d)"
    r"|(?<![\w.,/-])[1-9]\d{3,6}(?![\w,/-]|\.\d)",
    re.IGNORECASE,
)
# A cell or line that is a remark on somebody.
_REMARK = re.compile(
    r"(?i)(?:[\w ]{0,20} )?(?:conditions?|treatment|remarks?|notes?|reason|comments?|health"
    r"|absence|special needs|needs"
    r"|bemerkung|notiz|grund|remarque|motif|備考|理由|备注|情况|原因|病情|健康状况)[:：] "
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_PERSONAL = frozenset({EntityType.PERSON, EntityType.ACCOUNT})
_LINE = re.compile(r"[^\n]+")
_NEAR = 48  # characters between a word of pay and the amount


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    latin = rf"(?<![{LETTERS}])(?:{{}})(?![{LETTERS}])"
    conditions = [c for key in ("latin", "german", "french") for c in listed(_TABLE, "health", key)]

    def of(words: Iterable[str]) -> re.Pattern[str]:
        return re.compile(latin.format(trie_pattern(sorted(words))), re.IGNORECASE)

    def within(words: Iterable[str]) -> re.Pattern[str]:
        return re.compile(trie_pattern(sorted(words)))

    return {
        "condition": of(conditions),
        "condition_cjk": within(listed(_TABLE, "health", "cjk")),
        "verb": of(listed(_TABLE, "health", "verbs")),
        "person": of(listed(_TABLE, "health", "persons")),
        "person_cjk": within(listed(_TABLE, "health", "cjk_persons")),
        "pay": of(listed(_TABLE, "pay", "words")),
        "earner": of(listed(_TABLE, "pay", "persons")),
        "earner_cjk": within(listed(_TABLE, "pay", "cjk_persons")),
        "ill": of(listed(_TABLE, "health", "strong")),
        "ill_cjk": within(listed(_TABLE, "health", "cjk_strong")),
        "owned": of(listed(_TABLE, "pay", "strong")),
        "owned_cjk": within(listed(_TABLE, "pay", "strong_cjk")),
        "pay_cjk": within(listed(_TABLE, "pay", "cjk")),
    }


# What belongs to a condition beside it: its kind before it, its degree behind it.
_BEFORE = re.compile(
    r"(?:(?:newly diagnosed|type (?:1|2|i+)|stage (?:\d|i+v?)|chronic|acute|severe|mild|second"
    r"|first|left|right|seasonal|early|advanced|recurrent|suspected|clinical|postnatal|breast|lung"
    r"|skin|bowel|prostate|ovarian|brain|kidney|liver|heart|bone) ){1,3}$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"(?: (?:type (?:1|2|i+)|typ (?:1|2)|stage \w{1,3}|disorder|disease|syndrome|surgery|treatment"
    r"|L\d(?:/[LS]\d)?|\((?:left|right)\)|de type \d|tablets|patient)){1,2}|[一二三四]级|[1-4]型"
    r"|[I-V]{1,3}期|[早中晚]期|[三二一四]级",
    re.IGNORECASE,
)
_LOOK_BACK = 64  # characters in which the words before a condition stand
_TAKEN = re.compile(
    r" ([a-z]{4,20}(?:ine|ol|il|am|ide|cin|xin|pam|tin|mab|one|ate|ium|zole|pril))\b"
)


def find_statements(text: str, settled: Sequence[Finding]) -> list[tuple[int, int, EntityType]]:
    """The spans of conditions and amounts; `settled` is sorted."""
    whole = (0, len(text))
    subjects = [subject for subject in _SUBJECTS if _any(subject[0], text, whole)]
    if not subjects:
        return []
    spans: list[tuple[int, int]] = []
    starts = [finding.start for finding in settled]
    for line in _LINE.finditer(text):
        within = settled[bisect_left(starts, line.start()) : bisect_left(starts, line.end())]
        for what, who, said, spans_in in subjects:
            if not _any(what, text, line.span()):
                continue
            is_about_somebody = _is_about_somebody(line, within, who)
            for sentence in _SENTENCE.finditer(text, *line.span()):
                if is_about_somebody or _any((said, f"{said}_cjk"), text, sentence.span()):
                    spans += spans_in(text, sentence.span())
    return [(start, end, EntityType.UNEXPLAINED) for start, end in spans]


def _any(names: Iterable[str], text: str, span: tuple[int, int]) -> bool:
    in_script = [name for name in names if not name.endswith("_cjk") or has_eastern(text)]
    return any(_patterns()[name].search(text, *span) for name in in_script)


def _is_about_somebody(line: re.Match[str], within: Sequence[Finding], who: str) -> bool:
    """Is there a person in the line, or among the findings in it?"""
    if who == "person" and _REMARK.match(line.string):
        return True
    return _any((who, f"{who}_cjk"), line.string, line.span()) or any(
        finding.type in _PERSONAL
        or (finding.type is EntityType.UNEXPLAINED and _is_name(line, finding))
        for finding in within
    )


def _is_name(line: re.Match[str], finding: Finding) -> bool:
    value = line.string[finding.start : finding.end]
    return value[:1].isupper() and value[1:].replace(" ", "").islower()


def _conditions(text: str, span: tuple[int, int]) -> Iterator[tuple[int, int]]:
    of = _patterns()
    for match in of["condition"].finditer(text, *span):
        before = _BEFORE.search(text, max(span[0], match.start() - _LOOK_BACK), match.start())
        behind = _BEHIND.match(text, match.end(), span[1])
        yield before.start() if before else match.start(), behind.end() if behind else match.end()
    for verb in of["verb"].finditer(text, *span):
        if taken := _TAKEN.match(text, verb.end(), span[1]):
            yield taken.span(1)
    for match in of["condition_cjk"].finditer(text, *span):
        behind = _BEHIND.match(text, match.end(), span[1])
        yield match.start(), behind.end() if behind else match.end()


def _amounts(text: str, span: tuple[int, int]) -> Iterator[tuple[int, int]]:
    of = _patterns()
    payments = [
        payment.span() for name in ("pay", "pay_cjk") for payment in of[name].finditer(text, *span)
    ]
    if not payments:
        return
    starts, ends = sorted(start for start, _ in payments), sorted(end for _, end in payments)
    for amount in _AMOUNT.finditer(text, *span):
        if _YEAR.fullmatch(amount.group()):
            continue
        start, end = amount.span()
        if _has_within(ends, start - _NEAR, start) or _has_within(starts, end, end + _NEAR):
            yield start, end


def _has_within(offsets: Sequence[int], first: int, last: int) -> bool:
    """Is one of the sorted offsets from `first` to `last`?"""
    index = bisect_left(offsets, first)
    return index < len(offsets) and offsets[index] <= last


# What lines are searched for, who has to be in them, and what says it without anybody in them.
_SUBJECTS = (
    (("condition", "verb", "condition_cjk"), "person", "ill", _conditions),
    (("pay", "pay_cjk"), "earner", "owned", _amounts),
)
