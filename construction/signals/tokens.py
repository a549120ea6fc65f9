"""Splits texts into words and matches cues as sequences of words, never inside a longer word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from data.text.folding import narrow_in_place
from data.text.scripts import HAN, has_han, is_han

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
GAP = 4  # words that ` .. ` may skip


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or one Han character, with its offsets; most cues are compared with `lower`."""

    text: str
    lower: str
    start: int
    end: int
    is_han: bool


@dataclass(frozen=True, slots=True)
class CueWord:
    """A word of a cue: in lower case unless case-sensitive; a prefix if written with `*`."""

    text: str
    is_prefix: bool
    case_sensitive: bool

    def fits(self, token: Token) -> bool:
        word = token.text if self.case_sensitive else token.lower
        return word.startswith(self.text) if self.is_prefix else word == self.text


@dataclass(frozen=True, slots=True)
class Phrase:
    """The parts of a cue between its ` .. `, each a run of adjacent words."""

    halves: tuple[tuple[CueWord, ...], ...]


def plain_form(text: str) -> str:
    """The text with plain instead of full-width letters and simplified instead of traditional Han.

    Each character becomes exactly one, so that offsets do not change.
    """
    return narrow_in_place(text).translate(_SCRIPT)


def tokens_of(text: str) -> list[Token]:
    """The words of a text in order; every Han character is a word."""
    return [
        Token(m[0], m[0].lower(), m.start(), m.end(), is_han(m[0])) for m in _TOKEN.finditer(text)
    ]


def parse_cue(cue: str) -> Phrase:
    """Parse a cue in the notation of cues.toml; with capitals and no Han it is case-sensitive."""
    case_sensitive = cue.lower() != cue and not has_han(cue)
    written = cue if case_sensitive else cue.lower()
    return Phrase(tuple(tuple(_cue_words(half, case_sensitive)) for half in written.split(" .. ")))


def _cue_words(half: str, case_sensitive: bool) -> Iterator[CueWord]:
    for match in _TOKEN.finditer(half):
        is_prefix = half[match.end() : match.end() + 1] == "*"
        yield CueWord(match[0], is_prefix, case_sensitive)


def match_at(
    phrase: Phrase, text: str, tokens: Sequence[Token], at: int
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
    half: Sequence[CueWord], text: str, tokens: Sequence[Token], after: int
) -> int | None:
    for begin in range(after, min(after + GAP + 1, len(tokens))):
        if not _LOOSE.fullmatch(text, tokens[begin - 1].end, tokens[begin].start):
            return None
        if _run_fits(half, text, tokens, begin):
            return begin
    return None


def _run_fits(half: Sequence[CueWord], text: str, tokens: Sequence[Token], begin: int) -> bool:
    if begin + len(half) > len(tokens):
        return False
    for number, word in enumerate(half):
        token = tokens[begin + number]
        if not word.fits(token):
            return False
        if number and not _neighbours(text, tokens[begin + number - 1], token):
            return False
    return True


def _neighbours(text: str, first: Token, second: Token) -> bool:
    if first.is_han and second.is_han:
        return first.end == second.start
    return _JOINED.fullmatch(text, first.end, second.start) is not None
