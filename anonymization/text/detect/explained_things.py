"""What its sentence or its form explains as a thing of nobody (level `strict`).

A digest behind the name of its method, a version behind that word, a count with its measure word,
the model of a product, the code of an industry, a standard, a law, an error. Not here, and so
masked: numbers of accounts, orders, tickets and records, since each of them is somebody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.detect.fixed_words import PHRASE, TYPE_FACE
from anonymization.text.detect.methods import find_methods
from anonymization.text.detect.wording import words

# What a word goes on with: a part of it is not explained, if the rest is not.
_END = r"(?![A-Za-z0-9_-]|[./:#@+][A-Za-z0-9_])"
# Characters of hexadecimal digests by their method.
_SIZES = {"1": 40, "224": 56, "256": 64, "384": 96, "512": 128}
_DIGEST = re.compile(
    r"(?i)(?<![a-z0-9])(?:sha-?(?P<bits>1|224|256|384|512)|(?P<md5>md5))"
    r"(?:[ _-]?(?:sums?|digest|checksum|hash))?[\"']?(?: is|(?:校验)?(?:值|和)?为?)"
    r"?\s{0,3}[:：=(]{0,2}\s{0,3}[\"']?"
    r"(?P<v>[0-9a-f]{32,128})(?![0-9a-z])"
)
_MD5 = 32
# What is hashed there is a value of somebody, and few values can be tried.
_HASHED = re.compile(
    r"(?i)pass|pwd|user|login|mail|phone|mobile|name|card|account|ssn|salt|identit|customer|patient"
    r"|client|密码|口令|用户|邮箱|手机|电话|姓名|账号|身份|客户"
)
_SUBRESOURCE = re.compile(r"(?<![\w-])sha(?:256|384|512)-[A-Za-z0-9+/]{43,88}={0,2}(?![\w=])")
_SUM_LINE = re.compile(r"(?m)^(?P<v>[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}) [ *]\S")
_COMMIT = re.compile(
    r"(?i)(?<![a-z])(?:commit(?:[_ -]?(?:hash|sha|id))?|commits|merge|reverts?"
    r"|git (?:checkout|show|revert|cherry-pick)|head is now at)[\"']?(?: is| was)?"
    r"\s{0,2}[:=]?\s{0,2}[\"'`(]?"
    rf"(?P<v>(?=[a-f]{{0,39}}\d)(?=\d{{0,39}}[a-f])[0-9a-f]{{7,40}}){_END}"
)
_LOG_LINE = re.compile(
    r"(?m)^(?:[*|/\\ ]{0,8})(?P<v>(?=[a-f0-9]*\d)(?=[a-f0-9]*[a-f])[0-9a-f]{7,10}) (?=[\[(A-Za-z])"
)
_FEWEST_LINES = 2  # of a list of commits
_NUMBER = (
    r"[vV]?\d{1,10}(?:\.\d{1,8}){0,4}"
    r"(?:[-+.]?(?:rc|beta|alpha|dev|build|snapshot|[abp])\.?\d{0,8})?"
)
_VERSION = re.compile(
    r"(?i)(?:(?<![a-z])(?:version|ver\.?|firmware(?: version)?|build(?: number| no\.?)?)"
    r"|版本号?|固件|バージョン|版数)(?:更新)?[为是は到至]?[ :：=#]{0,3}"
    rf"(?P<v>{_NUMBER}){_END}"
)
_COUNTED = re.compile(
    r"(?:样本[量数]?|总[数量]|[数行条件笔次]数|数量|记录数|字节数|字数|人口|人次|流量|销量|产量|产值"
    r"|库存量?|容量|(?:阅读|播放|浏览|点击|下载|访问|交易|吞吐)量|营业?收入|净利润|利润|成本|支出"
    r"|市值|总额|合计|総数|件数|人口|売上高?|世帯数)"
    r"(?:为|是|约|达到?|共计?|超过?|は|が)?[:：= ]{0,2}(?P<v>\d{7,15})(?!\d|[号號番])"
)
_MEASURED = re.compile(
    r"(?<![A-Za-z0-9_.,:/-])(?P<v>\d{7,15}) ?(?:次(?!子)|行(?![长政业人员号使动为程])|页|份|辆|架"
    r"|股(?![东权民])|平方米|公里|公斤|千克|公顷|亩|千瓦时|微秒|纳秒|倍|像素|比特|台(?![湾北中南])|回(?![执复])"
    r"|ページ|バイト|世帯|(?i:pixels|iterations|requests|queries|samples|observations"
    r"|cells|words|households|people|kilomet(?:er|re)s|hectares|barrels|tonnes)\b)"
)
_MODEL = re.compile(
    r"(?:(?:产品|设备|机器|规格)?型号|机型|型番|(?i:(?<![a-z])model (?:no\.?|number)))"
    r"(?:为|是|は)?[ :：=]{0,3}(?P<v>(?!\d{7})[A-Za-z0-9][A-Za-z0-9./-]{1,19})"
    rf"{_END}"
)
# Codes of classifications: of industries, goods, substances, books.
_CLASSIFIED = re.compile(
    r"(?:行业(?:分类)?(?:代码|编码|代号)|(?:商品|税收)分类编码|海关编码|業種コード|産業分類"
    r"|(?<![A-Za-z])(?:(?:NAICS|NACE|SIC|CPV|UNSPSC|ISBN|ISSN|EPSG)(?:[ -]?(?:code|no\.?|1[03]))?"
    r"|(?:HS|CAS) (?:code|no\.?|number)))"
    rf"(?:为|是|は)?[ :：=#]{{0,3}}(?P<v>[A-Z]?\d[\d.-]{{1,16}}X?){_END}"
)
_STANDARD = re.compile(
    r"(?<![A-Za-z])(?:GB(?:/[TZ])?|[A-Z]{2}/T|JIS [A-Z]|NF(?: EN)? [A-Z]|DIN(?: EN)?(?: ISO)?"
    r"|EN|IEC|ISO(?:/IEC)?|ITU-T)"
    r" [A-Z]?\d{1,5}(?:[.-]\d{1,4}){0,3}(?::\d{4})?"
    rf"{_END}|(?<![\w.])[GHTX]\.\d{{3}}(?:\.\d{{1,3}})?{_END}"
)
# A title about somebody's own matter is none: `关于…的规定`.
_LAW = re.compile(
    r"《(?!关于)[^《》\n]{2,30}(?:法|典|条例|办法|规定|规则|细则|准则|标准|规范|公约|通则|解释)"
    r"(?:[（(][^《》\n]{1,12}[）)])?》(?:第[一二三四五六七八九十百千零〇\d]{1,8}条)?"
)
_LISTED_LAW = re.compile(
    "|".join(sorted(words("known_words.toml", "laws"), key=lambda law: (-len(law), law)))
)
# Programs with the names of people, gods and animals, if their version stands behind them.
_PROGRAM = re.compile(
    r"(?<![\w.-])(?:Prometheus|Cassandra|Jasmine|Impala|Firebird|Alpine|Thanos|Loki|Puppet|Hugo"
    r"|Jekyll|Mamba|Jaeger|Falcon|Starlette)(?= v?\d{1,2}\.\d)"
)
# Grades of oil, and paragraphs of laws with a part behind a hyphen.
_GRADE = re.compile(
    r"(?<![\w-])\d{1,2}W-\d{2}(?![\w-])"
    rf"|(?<=\bArticle )\d{{1,4}}-\d{{1,3}}{_END}|(?<=§ )\d{{1,4}}-\d{{1,3}}{_END}"
)
_ERROR = re.compile(
    r"(?<![\w-])(?:(?:ORA|TNS|PLS)-\d{5}|AADSTS\d{5,6}|KB[2-5]\d{6}|0x[0-9A-Fa-f]{1,8}"
    r"|(?<=[Ee]rror )(?:CS|TS|NU|MSB)\d{4})"
    rf"{_END}"
)
_DIGIT, _LONG = re.compile(r"\d"), re.compile(r"\d{7}")
# What a text holds, in small letters, if a pattern can match: most texts are done with that.
_SCREENED: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("commit", "merge", "revert", "git ", "head is"), _COMMIT),
    (("version", "ver.", "ver ", "firmware", "build", "版", "固件", "バージョン"), _VERSION),
    (("型", "model n"), _MODEL),
    (("代码", "编码", "コード", "分類", "naics", "nace", "sic ", "hs ", "cas ", "cpv", "unspsc",
      "isbn", "issn", "epsg"), _CLASSIFIED),
)  # fmt: skip


def find_explained(text: str) -> Iterator[tuple[int, int]]:
    """The spans of such things, in no order."""
    if not text.isascii():
        for pattern in (_LAW, _LISTED_LAW):
            yield from (match.span() for match in pattern.finditer(text))
    if " " in text or "-" in text:  # screens: most strings of sessions are single words
        yield from find_methods(text)
        for pattern in (PHRASE, TYPE_FACE):
            yield from (match.span() for match in pattern.finditer(text))
    if not _DIGIT.search(text):
        return
    small = text.lower()
    if "sha" in small or "md5" in small:
        yield from _digests(text)
    if " " in text:
        yield from _listed_digests(text)
    counts = (_COUNTED, _MEASURED) if _LONG.search(text) else ()
    screened = (pattern for cues, pattern in _SCREENED if any(cue in small for cue in cues))
    for pattern in (*counts, *screened):
        yield from (match.span("v") for match in pattern.finditer(text))
    for pattern in (_STANDARD, _ERROR, _PROGRAM, _GRADE):
        yield from (match.span() for match in pattern.finditer(text))


def _digests(text: str) -> Iterator[tuple[int, int]]:
    """Digests that the name of their method announces."""
    for match in _DIGEST.finditer(text):
        size = _MD5 if match["md5"] else _SIZES[match["bits"]]
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[max(line, match.start() - 40) : match.start()]
        if len(match["v"]) == size and not _HASHED.search(before):
            yield match.span("v")
    yield from (match.span() for match in _SUBRESOURCE.finditer(text))


def _listed_digests(text: str) -> Iterator[tuple[int, int]]:
    """Digests before the names of their files, and commits before what they say."""
    yield from (match.span("v") for match in _SUM_LINE.finditer(text))
    lines = list(_LOG_LINE.finditer(text)) if "\n" in text else []
    if len(lines) >= _FEWEST_LINES:
        yield from (match.span("v") for match in lines)
