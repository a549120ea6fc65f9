"""Chinese and Japanese names by what stands beside them (level `strict`): speakers of a talk
without times, plans and cases, buildings, troupes, children, and who signs with a rank.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import listed
from data.text.needs import has_eastern
from data.text.screened import Screened
from data.text.scripts import HAN, HAN_KANA, KANA, has_han

_Span = tuple[int, int, EntityType]
_TALK = Screened(
    rf"(?m)^[ \t　]{{0,4}}(?:\d{{1,5}}[→\t] ?)?"
    rf"(?P<v>[{HAN_KANA}A-Za-z\d][{HAN_KANA}\w.・-]{{0,13}})[：:](?=[ 　]?\S)"
)
_FEWEST_LINES = 4
_PLAN = Screened(
    rf"(?<![{HAN}])(?:(?:关于|启动|参与|加入|暂停|推进|跟进|负责|按照|根据))?(?P<v>[{HAN}]{{2,3}})(?=(?:计划|行动|工程)"
    rf"(?:[{HAN}]{{0,2}}(?:交接|启动|进展|进度|预算|延期|暂停|周报|周会|例会|组|群)|[^{HAN}]|\Z|的|由|在|已|将))"
)
_CASE = Screened(
    rf"(?:案件|案名|PJ|プロジェクト|コードネーム|現場|项目|專案|專項)[-・_:：「『](?P<v>[{HAN_KANA}]{{2,10}})"
)
_BUILDING = Screened(
    rf"(?P<v>[{HAN}]{{2,10}}?)(?=(?:创意园|产业园|科技园|工业园|软件园|大厦|大楼|广场"
    rf"|公馆|府邸|华庭|花苑|名苑|雅苑)"
    rf"(?:[A-Z\d一二三四五六七八九十]{{0,4}}(?:座|栋|幢|号|楼|期)|[^{HAN}]|\Z))"
    rf"|(?P<v2>[{HAN}]{{2,10}})(?=[A-Z]座(?![{HAN}]))"
    rf"|(?P<v3>[{HAN}]{{2,4}}(?:里|坊|苑|居|阁|邸))(?=\d{{1,3}}(?:号|栋|幢|单元))"
)
_PLACED = re.compile(r"地点|地址|位于|送到|寄到|搬到|在|到|住")
_TROUPE = Screened(
    rf"(?P<v>(?<![{HAN}])[{HAN}]{{2,4}}|(?<![ァ-ヺー])[ァ-ヺー]{{2,6}})"
    rf"(?=座(?:[はがをにのとでも]|[^{HAN_KANA}]|\Z))"
    rf"|(?:劇団|楽団|合唱団|同好会|少年団|クラブ|チーム|サークル)"
    rf"[「『/ 　・](?P<v2>[{HAN_KANA}]{{2,10}})"
)
_NOT_TROUPE = listed("eastern.toml", "beside", "no_troupes")
_SIGNED = Screened(
    rf"(?:担当|作成|作成者|記入者|承認|文責|受付|起票|検印|女将|若女将|店主|支配人|店長|園長|院長|塾長|校長"
    rf"|施設長|住職|館長|組合長|会長|幹事|担任|責任者|杜氏|座長|師範|家元"
    rf"|老板娘|掌柜)"
    rf"[ 　](?P<v>[{HAN_KANA}]{{1,6}}(?:[ 　][{HAN_KANA}]{{1,4}})?)(?=[ 　]*(?:\n|\Z|。|（|\())"
)
# Who speaks in an exported chat: its head, and lines with a time and tabs.
_CHAT = Screened(
    r"(?m)^\[LINE\] (?P<v>[^\n]{1,20}?)との(?:トーク|グループ)"
    r"|^\d{1,2}:\d{2}\t(?P<v2>[^\t\n]{1,16})(?=\t)"
)
_SELF = frozenset({"私", "自分", "我", "本人"})
_NUMBERED = Screened(
    rf"(?:番号|記号|编号|號|号)(?:は|：|:|是|为| )?(?P<v>[{HAN_KANA}]{{1,2}}-\d{{2,6}})(?![\w-])"
)
# Children and friends: kana before a form of address, also behind Han characters.
_CALLED = Screened(
    rf"(?<=[{HAN}、。「『（(はがとのもや\s])(?P<v>(?!たく|みな|みんな|おと|おか|おに|おね|おば|おじ|あか|どな|ひと)"
    rf"[ぁ-ゖー]{{2,4}})(?=ちゃん|くん)"
)
_INITIALS = re.compile(r"(?<![A-Za-z.\d])(?P<v>[A-Z]\.[A-Z]\.)(?![A-Za-z\d])")
_NOT_INITIALS = listed("eastern.toml", "beside", "no_initials")


def find_eastern_names(text: str) -> Iterator[_Span]:
    """The spans of such names, in no order."""
    for match in _INITIALS.finditer(text):
        if match["v"] not in _NOT_INITIALS:
            yield *match.span("v"), EntityType.UNEXPLAINED
    if not has_eastern(text):
        return
    yield from _speakers(text)
    general = listed("eastern.toml", "chinese", "plans")
    for match in _PLAN.finditer(text):
        if not any(match["v"].endswith(word) for word in general):
            yield *match.span("v"), EntityType.UNEXPLAINED
    for pattern in (_CASE, _SIGNED, _CALLED, _NUMBERED):
        for match in pattern.finditer(text):
            yield *match.span("v"), EntityType.UNEXPLAINED
    for match in _CHAT.finditer(text):
        if match[str(match.lastgroup)] not in _SELF:
            yield *match.span(str(match.lastgroup)), EntityType.PERSON
    plain = listed("eastern.toml", "chinese", "plain")
    for match in _BUILDING.finditer(text):
        group = str(match.lastgroup)
        start = match.start(group)
        lead = list(_PLACED.finditer(match[group]))
        start += lead[-1].end() if lead else 0
        if match.end(group) - start > 1 and text[start : match.end(group)] not in plain:
            yield start, match.end(group), EntityType.ADDRESS
    for match in _TROUPE.finditer(text):
        if not match[str(match.lastgroup)].endswith(tuple(_NOT_TROUPE)):
            yield *match.span(str(match.lastgroup)), EntityType.UNEXPLAINED


def _speakers(text: str) -> Iterator[_Span]:
    """Who speaks in a talk: names before a colon, some of them on several lines."""
    lines = [
        match for match in _TALK.finditer(text) if has_han(match["v"]) or _KANA.search(match["v"])
    ]
    counts = Counter(match["v"] for match in lines)
    if len(lines) < _FEWEST_LINES or len(counts) < 2 or max(counts.values()) < 2:
        return
    labels = listed("eastern.toml", "chinese", "labels")
    for match in lines:
        if match["v"] not in labels and not any(match["v"].endswith(word) for word in labels):
            yield *match.span("v"), EntityType.UNEXPLAINED


_KANA = re.compile(f"[{KANA}]")
