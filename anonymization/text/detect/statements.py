"""Illness and pay of somebody in everyday words (level `strict`).

The condition and the amount are masked, not the sentence. Illness in general, and amounts that
belong to nobody, are what tasks are about and stay: a sentence counts only with a person in it (a
name that was found, or a word such as `she`, 我, さん). Words are in `data/statements.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import listed
from data.text.scripts import LETTERS
from data.text.trie import trie_pattern

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
_TAKEN = re.compile(
    r" ([a-z]{4,20}(?:ine|ol|il|am|ide|cin|xin|pam|tin|mab|one|ate|ium|zole|pril))\b"
)


def find_statements(text: str, settled: Sequence[Finding]) -> list[tuple[int, int, EntityType]]:
    """The spans of conditions and amounts; `settled` is sorted."""
    of = _patterns()
    has_latin = of["condition"].search(text) or of["verb"].search(text) or of["pay"].search(text)
    has_cjk = not text.isascii() and (
        of["condition_cjk"].search(text) or of["pay_cjk"].search(text)
    )
    if not has_latin and not has_cjk:
        return []
    spans: list[tuple[int, int]] = []
    for sentence in _SENTENCE.finditer(text):
        if _is_about_somebody(sentence, settled, "person") or _says(sentence, "ill"):
            spans += _conditions(text, sentence.span())
        if _is_about_somebody(sentence, settled, "earner") or _says(sentence, "owned"):
            spans += _amounts(text, sentence.span())
    return [(start, end, EntityType.UNEXPLAINED) for start, end in spans]


def _says(sentence: re.Match[str], what: str) -> bool:
    """Do its words say without a person that somebody is ill, or owns something?"""
    return any(
        _patterns()[name].search(sentence.string, *sentence.span())
        for name in (what, f"{what}_cjk")
    )


def _is_about_somebody(sentence: re.Match[str], settled: Sequence[Finding], who: str) -> bool:
    """Is there a person in the paragraph?"""
    start = sentence.string.rfind("\n", 0, sentence.start()) + 1
    end = sentence.string.find("\n", sentence.end())
    end = end if end >= 0 else len(sentence.string)
    if who == "person" and _REMARK.match(sentence.string):
        return True
    for name in (who, f"{who}_cjk"):
        if _patterns()[name].search(sentence.string, start, end):
            return True
    return any(
        start <= f.start < end
        and (f.type in _PERSONAL or (f.type is EntityType.UNEXPLAINED and _is_name(sentence, f)))
        for f in settled
    )


def _is_name(sentence: re.Match[str], finding: Finding) -> bool:
    value = sentence.string[finding.start : finding.end]
    return value[:1].isupper() and value[1:].replace(" ", "").islower()


def _conditions(text: str, span: tuple[int, int]) -> Iterator[tuple[int, int]]:
    of = _patterns()
    for match in of["condition"].finditer(text, *span):
        before = _BEFORE.search(text, span[0], match.start())
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
    payments = [*of["pay"].finditer(text, *span), *of["pay_cjk"].finditer(text, *span)]
    if not payments:
        return
    for amount in _AMOUNT.finditer(text, *span):
        if _YEAR.fullmatch(amount.group()):
            continue
        if any(_beside(payment, amount) for payment in payments):
            yield amount.span()


def _beside(payment: re.Match[str], amount: re.Match[str]) -> bool:
    gap = max(amount.start() - payment.end(), payment.start() - amount.end())
    return 0 <= gap <= _NEAR
