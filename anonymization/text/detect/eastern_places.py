"""Names that are everyday words, where a Chinese or Japanese sentence has a name (level `strict`).

Before forms of address and ranks, behind words that introduce somebody, before the words that end
the names of shops, schools and houses, and in half-width kana. Words are in `data/eastern.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import listed
from data.text.lexicon import trie_pattern
from data.text.needs import has_eastern
from data.text.screened import Screened
from data.text.scripts import HAN, HAN_KANA, has_kana

_TABLE = "eastern.toml"
_KATAKANA, _HIRAGANA = "ァ-ヺー", "ぁ-ゖー"
_HALF = "\uff66-\uff9f"
_HOUSES = 2  # the pattern of houses among the Japanese ones
_EDGE = rf"(?<![{HAN_KANA}])"
_Span = tuple[int, int, EntityType]
# Before a name of kana there is a mark or the start; before one of Han characters also a particle.
_NAME = (
    rf"(?:(?<![{HAN}])[{HAN}]{{1,4}}|(?<![{_KATAKANA}])[{_KATAKANA}]{{2,8}}"
    rf"|(?:{_EDGE}|(?<=[、。「『,.:\s]))[{_HIRAGANA}]{{2,5}})"
)
_PERSONAL = re.compile(rf"(?:[{HAN}]{{1,4}}|[{_KATAKANA}]{{2,8}}|[{_HIRAGANA}]{{2,5}})\Z")
_HALF_WIDTH = Screened(rf"[{_HALF}][{_HALF}()（）･. ]{{1,40}}[{_HALF}]")
_HALF_PLAIN = re.compile(
    "[ｦ-ﾟ]*(?:ﾃﾞｰﾀ|ﾌｧｲﾙ|ｺｰﾄﾞ|ﾃｽﾄ|ｴﾗｰ|ﾒｰﾙ|ﾕｰｻﾞｰ?|ｼｽﾃﾑ|ｻｰﾊﾞｰ?|ﾘｽﾄ|ﾒｯｾｰｼﾞ|ﾃｰﾌﾞﾙ|ｶﾅ|ﾌﾘｶﾞﾅ|ﾍﾟｰｼﾞ|ｻﾝﾌﾟﾙ|ﾌｫﾙﾀﾞ)[ｦ-ﾟ]*"
)
# Houses with their number, an intercom, a lane behind a verb of living, and a doorman by his name.
_HOMES = Screened(
    r"(?:メゾン|コーポ|ハイツ|グラン|レジデンス|エステート|シャトー|ヴィラ|ハイム)"
    rf"[{HAN_KANA}]{{1,8}}[ 　]?\d{{0,4}}|\d{{3,5}}呼"
    rf"|(?:搬到|搬去|住在?|家住|位于|送到|寄到)(?P<v>[{HAN}]{{1,3}}[里苑巷弄坊邸湾居轩阁府])"
    rf"|老(?P<v2>[{HAN}])(?<![师板家人婆公百大二三四是旧化年外实龄了鼠虎鹰乡友爸妈弟哥姐爷奶道套手少的早远])"
    rf"(?=[^{HAN}]|[说收在的已要去来把给帮]|\Z)"
)
_QUOTED_CODE = Screened(
    rf"(?:(?:项目|計画|プロジェクト|コードネーム|代号|代號|暗号名|仮称|行动"
    rf"|行動)[为は是叫:]?[ ]?[\"“「『'《]"
    rf"(?P<v>[{HAN_KANA}A-Za-z ]{{2,12}})[\"”」』'》]"
    rf"|[\"“「『](?P<v2>[{HAN_KANA}]{{2,10}})[\"”」』](?=计划|项目|行动|工程|プロジェクト|作戦"
    rf"|計画)"
    rf"|プロジェクト(?P<v4>(?![のをがはにと])(?=[^をがはに]{{0,7}}[ぁ-ゖ])[{HAN_KANA}]{{2,8}}?)"
    rf"(?=[をがは、。])"
    rf"|代号(?:为|是|叫)?(?P<v3>[{HAN}]{{2,4}})(?=[,,。的;;\s]|\Z))"
)


def _any(language: str, key: str) -> str:
    return trie_pattern(sorted(listed(_TABLE, language, key)))


@cache
def _japanese() -> tuple[tuple[re.Pattern[str], frozenset[str]], ...]:
    roles = listed(_TABLE, "japanese", "roles")
    address = rf"(?P<v>{_NAME})[ 　]?(?=(?:{_any('japanese', 'address')})(?![{HAN}]))"
    rank = (
        rf"(?P<v>(?<![{HAN}])[{HAN}]{{1,3}}|(?<![{_KATAKANA}])[{_KATAKANA}]{{2,6}})(?="
        rf"(?:{_any('japanese', 'ranks')}))"
    )
    house = (
        rf"(?P<v>(?:(?<![{HAN_KANA}])|(?<=[はがをにのとでも]))(?:[{_HIRAGANA}]{{2,6}}"
        rf"|[{_KATAKANA}]{{2,10}}"
        rf"|[{HAN}]{{1,6}}|[{HAN}]{{1,4}}[{_HIRAGANA}]{{1,4}})(?:[{HAN}]{{0,4}}))"
        rf"(?={_any('japanese', 'houses')}(?![{HAN}]))"
    )
    project = rf"(?P<v>(?<![{HAN_KANA}])[{HAN_KANA}]{{2,8}})(?=(?:{_any('japanese', 'projects')}))"
    return (
        (re.compile(address), roles),
        (re.compile(rank), roles),
        (re.compile(house), listed(_TABLE, "japanese", "general") | roles),
        (re.compile(project), listed(_TABLE, "japanese", "plain_projects")),
    )


@cache
def _chinese() -> tuple[tuple[re.Pattern[str], frozenset[str]], ...]:
    roles = listed(_TABLE, "chinese", "roles")
    start = rf"(?:(?<![{HAN}])|(?<=[和与跟给请找由是让对向去、及]))"
    title = (
        rf"{start}(?P<v>[{HAN}]{{1,3}}?)(?={_any('chinese', 'titles')}(?![{HAN}]?[部室区会司务]))"
    )
    says = (
        rf"(?<![{HAN}])(?P<v>[{HAN}]{{2,3}})(?=(?:今天|明天|昨天|后天|下周|上周|已经|刚刚?|又"
        rf"|也|正在|目前)?(?:{_any('chinese', 'verbs')})[^明服]?)"
    )
    mention = (
        rf"(?:{_any('chinese', 'mentions')})[:: ]?(?P<v>[{HAN}]{{2,3}}?)"
        rf"(?=[,,。.;;、\s和与及!!??]|就行|就好|吧|得了|说|来|转|\Z)"
    )
    house = rf"{start}(?P<v>[{HAN}]{{2,5}}?)(?={_any('chinese', 'houses')})"
    return (
        (re.compile(title), roles),
        (re.compile(says), roles | _SUBJECTS),
        (re.compile(mention), roles | _SUBJECTS),
        (re.compile(house), listed(_TABLE, "chinese", "plain")),
    )


# No name holds them.
_SMALL = re.compile(
    "[的了是在和与向给对把被让请由从到为以及也都就不没未需现你我他她它们这那哪位个于将并可能会要]"
)
_SUBJECTS = frozenset(
    [
        "我们",
        "你们",
        "他们",
        "她们",
        "大家",
        "客户",
        "用户",
        "老板",
        "领导",
        "系统",
        "公司",
        "部门",
        "经理",
        "同事",
        "老师",
        "学生",
        "家长",
        "医生",
        "模型",
        "报告",
        "文章",
        "数据",
        "文档",
        "结果",
        "研究",
        "专家",
        "分析师",
        "管理员",
        "财务",
        "人事",
        "法务",
        "销售",
        "运营",
        "产品",
        "技术",
        "对方",
        "甲方",
        "乙方",
        "我方",
        "双方",
        "各方",
        "本人",
        "自己",
        "有人",
        "没人",
        "别人",
        "某人",
        "谁",
        "什么",
        "怎么",
        "这样",
        "那样",
        "可以",
        "需要",
        "不能",
        "应该",
        "必须",
        "如果",
        "因为",
        "所以",
        "但是",
        "然后",
        "已经",
        "还是",
        "或者",
        "比如",
        "例如",
        "也就是",
        "简单",
        "直接",
        "具体",
        "换句话",
        "总的来",
        "一般来",
        "相关",
        "下面",
        "上面",
        "以上",
        "以下",
        "其中",
        "此外",
        "另外",
        "同时",
        "目前",
        "最后",
        "首先",
        "其次",
        "如何",
        "是否",
        "每天",
        "今天",
        "明天",
        "昨天",
        "本周",
        "下周",
        "上周",
        "本月",
        "之后",
        "之前",
        "全部",
        "所有",
        "部分",
        "主要",
        "专门",
        "统一",
        "团队",
        "小组",
        "客服",
        "前台",
        "物业",
        "快递",
        "银行",
        "学校",
        "医院",
        "政府",
        "媒体",
        "记者",
        "作者",
        "读者",
        "观众",
        "网友",
        "员工",
        "人员",
        "用户端",
        "这里",
        "那里",
        "方便",
        "尽快",
        "及时",
    ]
)


def find_eastern(text: str) -> Iterator[_Span]:
    """The spans of such names, in no order."""
    if not has_eastern(text):
        return
    for match in _QUOTED_CODE.finditer(text):
        group = next(name for name in ("v", "v2", "v3", "v4") if match[name])
        yield *match.span(group), EntityType.UNEXPLAINED
    if has_kana(text):
        for match in _HALF_WIDTH.finditer(text):
            if not _HALF_PLAIN.fullmatch(match.group()):
                yield *match.span(), EntityType.UNEXPLAINED
    for match in _HOMES.finditer(text):
        start, end = match.span(match.lastgroup or 0)
        yield start, end, EntityType.UNEXPLAINED
    is_japanese = has_kana(text)
    for pattern, general in _japanese() if is_japanese else (*_chinese(), _japanese()[_HOUSES]):
        for match in pattern.finditer(text):
            value = match["v"]
            if not is_japanese and _SMALL.search(value):
                continue
            if not _is_general(value, general):
                yield *match.span("v"), EntityType.UNEXPLAINED


def _is_general(value: str, general: frozenset[str]) -> bool:
    """Is it a role, a trade, or two of them: 弊社担当, 新任営業?"""
    parts = (value[:size] in general and value[size:] in general for size in range(1, len(value)))
    return value in general or any(parts)
