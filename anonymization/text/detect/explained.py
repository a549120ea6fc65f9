"""What is a thing of nobody: quantities, dates, versions, digests, standards, methods, and keys.

Numbers and codes explain themselves by their form, other things by the words before them: a digest
behind the name of its method, a version behind that word, a count with its measure word. Methods,
products, laws, type faces, keywords and keys only look like names; replacing them would break the
file. What remains of a finding beside them stays a finding. Numbers of accounts, orders, tickets
and records are never explained, since each of them is somebody's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from anonymization.text.contracts import EntityType, Finding, kinds, trimmed, uncovered
from anonymization.text.detect.capitals import is_plain_capital
from anonymization.text.detect.wording import words
from data.text.dates import YEAR
from data.text.lexicon import trie_pattern
from data.text.scripts import RUNS

_STANDARDS = words("known_words.toml", "standards")
_AMOUNTS = words("known_words.toml", "amounts")
_PLAIN = re.compile(
    r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?"  # thousands
    r"|[+-]?\d{1,12}\.\d+(?:[eE][+-]?\d+)?|\d[eE][+-]?\d+"  # decimals
    r"|v?\d{1,4}(?:\.\d{1,4}){1,3}(?:[-.+]?(?:rc|beta|alpha|dev|post|pre|a|b|final)?[-.]?\d{0,3})?"
    r"|(?:19|20)\d\d[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:T\d{2}(?::?\d{2}){0,2}(?:\.\d+)?)?"
    r"(?:Z|[+-]\d\d:?\d\d)?|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2}|(?:19|20)\d\d)|\d{1,2}[-/]\d{1,2}"
    r"|\d{1,2}(?::\d{2}){1,2}(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?:[ap]m)?"
    r"|(?:19|20)\d\d(?:[-/](?:19|20)?\d\d)?|(?:19|20)\d{2}[01]\d[0-3]\d(?:[T_-]?\d{4,6}Z?)?"
    r"|\d{1,6}|\d{1,4}[-/:]\d{1,4}|\d+0{4,}|1[4-7]\d{8}(?:\d{3}){0,3}"
    r"|0x[0-9a-fA-F]{1,4}"
)
_CELLS = re.compile(r"[A-Z]{1,3}\d{1,3}(?:[-:][A-Z]{1,3}\d{1,5})?")
_QUARTER = re.compile(
    r"(?i)(?:(?:19|20)?\d\d[-_/]?)?(?:Q[1-4]|H[12]|FY|CY|W|WK)[-_/]?(?:(?:19|20)?\d\d)?"
)
_CODE = re.compile(r"(?=(?:[^\d]*\d){3})[A-Z]{1,6}\d*(?:[-/#.]?[A-Z0-9]{1,16}){0,5}")
_TAGGED = re.compile(r"[\w.]{2,32}#\d{4}|\d{3,}#\d{2,}")
_NUMBERED = re.compile(r"[A-Z]{2,5}-0\d{3,5}")  # no part of a text has such a number
_HEX = re.compile(r"(?=.*\d.*\d)(?=.*[a-f])[0-9a-f]{8,}|(?=.*\d.*\d)(?=.*[A-F])[0-9A-F]{8,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_BETWEEN = re.compile(r"(?=.{5})[A-Za-z]+\d{2,}[A-Za-z]+")
_SEGMENTS = re.compile(r"(?=(?:\D*\d){6})(?=.*[A-Za-z])[0-9A-Za-z]{4,12}(?:-[0-9A-Za-z]{3,12}){3,}")
_WORDED = re.compile(r"[A-Z][a-z]+(?:[-_.][A-Z][a-z]+)+[-_.]?\d{2,4}")
_MACHINE = re.compile(r"[a-z]{3,}(?:-[a-z]{2,})*-[a-z]{2,}\d{1,3}")
_LONGEST = 256  # characters; what is longer is packed data, which is opened elsewhere
_RUNS, _LENGTH, _DIGITS = 4, 8, 4  # runs of letters and digits, and size, of an opaque code


# A booking or a voucher: letters and digits in turn, two digits at least; and what is chemistry.
_REFERENCE = re.compile(r"(?=(?:[^\d]*\d){2})(?=.*\d[A-Z]{1,4}\d|.*[A-Z]\d+[A-Z])[A-Z0-9]{6,10}")
_FORMULA = re.compile(r"(?:[HCNOSPFKI]\d{0,2})+")
_TWO_NUMBERS = re.compile(r"(\d{1,6})([-/])(\d{1,6})")
_MONTHS, _DAYS = 12, 31


_THREE_NUMBERS = re.compile(r"(\d{2})-(\d{2})-(\d{2})")


def _is_day(first: int, second: int, third: int) -> bool:
    """Can three numbers be a day, a month and a year in any usual order?"""
    orders = ((first, second), (second, first), (third, second))
    return any(0 < day <= _DAYS and 0 < month <= _MONTHS for day, month in orders)


def _is_range(first: str, mark: str, second: str) -> bool:
    """Are two numbers a range, a fraction, a score, a month or a season, and no number of a record?

    `10-25`, `2019/20` and `120/80` are; `70-4412`, `2204-17` and `417/2019` are not.
    """
    low, high = int(first), int(second)
    if max(len(first), len(second)) <= 2:
        return True
    if YEAR.fullmatch(first):
        is_month = len(second) <= 2 and low > 0
        return is_month or (YEAR.fullmatch(second) is not None)
    if YEAR.fullmatch(second):
        return high > 0 and low <= _MONTHS
    if second.startswith("0") or (len(first), len(second)) == (3, 4):
        return False
    return low < high and len(second) - len(first) <= 1 if mark == "-" else len(first) < 4


def is_plain(chain: str) -> bool:
    """Is it a quantity, a date, a time, a version, a range or a time stamp?"""
    if (three := _THREE_NUMBERS.fullmatch(chain)) and not _is_day(*map(int, three.groups())):
        return False
    if two := _TWO_NUMBERS.fullmatch(chain):
        return _is_range(*two.groups())
    return _PLAIN.fullmatch(chain) is not None or _QUARTER.fullmatch(chain) is not None


def is_code(chain: str) -> bool:
    """Is it as a whole a number of somebody or something: `C-000981`, a UUID, `name#1234`?"""
    if len(chain) > _LONGEST or not chain.isascii():
        return False
    if _TWO_NUMBERS.fullmatch(chain):
        return not is_plain(chain)
    if _THREE_NUMBERS.fullmatch(chain):
        return not is_plain(chain)
    if any(form.fullmatch(chain) for form in (_UUID, _TAGGED, _SEGMENTS, _WORDED, _MACHINE)):
        return True
    if _REFERENCE.fullmatch(chain) and not _FORMULA.fullmatch(chain):
        return True
    if not _CODE.fullmatch(chain) or _CELLS.fullmatch(chain):
        return False
    lead = RUNS.match(chain)
    assert lead is not None
    return not is_known_lead(lead.group()) or _NUMBERED.fullmatch(chain) is not None


def is_known_lead(word: str) -> bool:
    """Does the word begin the name of a standard, a format, a model or a part of a text?"""
    return word.lower() in _STANDARDS


def is_opaque(atom: str) -> bool:
    """Does an atom of letters and digits mix them as keys and ids do?"""
    if len(atom) > _LONGEST or atom.isalpha():
        return False
    if _HEX.fullmatch(atom):
        return True
    runs = RUNS.findall(atom)
    digits = max((len(run) for run in runs if run.isdigit()), default=0)
    if len(runs) > 1 and digits > _DIGITS:
        return True
    if _BETWEEN.fullmatch(atom) and min(len(run) for run in runs if run.isalpha()) <= 2:
        return True
    is_token = len(runs) > _RUNS and len(atom) > _RUNS and not is_known_lead(runs[0])
    if is_token and atom.islower() and sum(map(str.isdigit, atom)) > 1:
        return True
    return len(atom) >= _LENGTH and len(runs) >= _RUNS and sum(map(str.isdigit, atom)) > 2


# What makes a long number an amount or a count: a currency before it, a unit behind it. Words that
# are verbs too ("records", "shares") do not: "customer 20481756 records a loss".
_CURRENCY = re.compile(r"(?:[$€£¥￥₩₹]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|HKD|KRW|INR)) ?$")
_UNIT = re.compile(
    r" ?(?:[万萬亿億]|元|円|圆|美元|欧元|日元|港元|条|條|吨|字节|毫秒|秒)"
    r"| ?(?:[个個件](?!人)|人(?![民员員事才]))"
    r"|(?i: (?:yuan|dollars?|euros?|yen|rupees?|rows?|bytes?|tokens?|entries|characters|inhabitants"
    r"|milliseconds?|ms|kwh|usd|eur|gbp|chf|jpy|cny|rmb|hkd|krw|inr)\b)"
)


def is_measured(text: str, start: int, end: int) -> bool:
    """Does a currency before a long number, or a unit behind it, say that it is an amount?"""
    before = text[max(0, start - 5) : start]
    return _CURRENCY.search(before) is not None or _UNIT.match(text, end) is not None


def is_amount(label: str) -> bool:
    """Do the words of a label say that a long number below it is an amount, a size or a time?"""
    small = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label).lower()
    if any(ord(word[0]) > 0x2E80 and word in small for word in _AMOUNTS):
        return True
    return any(
        word in _AMOUNTS or word.rstrip("s") in _AMOUNTS for word in re.split(r"[\W_]+", small)
    )


_TABLE = "known_words.toml"
_JOINED = trie_pattern(
    name.replace("-", dash) for name in words(_TABLE, "methods") for dash in "-–"
)
_IN_FULL = trie_pattern(words(_TABLE, "methods_in_full"))
_METHOD_NAMES = trie_pattern(words(_TABLE, "methods_with_kind"))
_METHOD_KINDS = trie_pattern(words(_TABLE, "method_kinds"))
_METHOD = re.compile(
    rf"(?<![\w.-])(?:(?:{_JOINED})(?![\w-]|['’]s? [A-Z])|(?:{_IN_FULL})(?![\w-])"
    rf"|(?:{_METHOD_NAMES})(?=(?:['’]s)? (?:[a-z]{{3,12}} )?(?:{_METHOD_KINDS})(?![\w-])))"
)
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "lady"})
_WORD_BEFORE = re.compile(r"(?P<word>[A-Z][\w’']*)\.? $")
_REACH = 24  # characters in which the word before stands


def _find_methods(text: str) -> Iterator[tuple[int, int]]:
    """The spans of their names, sorted; a kind of method behind a name is outside, or inside."""
    for match in _METHOD.finditer(text):
        before = _WORD_BEFORE.search(text, max(0, match.start() - _REACH), match.start())
        if before is None or _is_plain(before["word"]):
            yield match.span()


def _is_plain(word: str) -> bool:
    return word.lower() not in _TITLES and is_plain_capital(word)


_NAMED = kinds("PERSON ORGANIZATION LOCATION URL ACCOUNT TITLE")
_KEYED = _NAMED | {EntityType.ADDRESS, EntityType.UNEXPLAINED}
_DECLARATION = re.compile(
    r"(?m)^[ \t]*(?:package[ \t]+[\w.]+[ \t]*;?[ \t]*\r?$"
    r"|(?:(?:public|private|protected|static|final|abstract|export|default|async|sealed|internal)"
    r"[ \t]+){0,4}(?:class|interface|enum|struct|record|trait|namespace|func|function|def|fn)"
    r"[ \t]+\w+(?=[ \t]*(?:[({:<;]|extends\b|implements\b)))"
)
_PROPERTY = re.compile(r"(?m)^[A-Z][A-Z-]{0,30}(?=[;:])")
_PARAMETER = re.compile(r"(?<=[?&;])[A-Za-z_][\w.\[\]-]{0,40}=")
_CONTRACTION = re.compile(
    r"(?i)(?<![a-z'’])(?:I['’](?:m|ve|d|ll)|(?:you|we|they)['’](?:re|ve|d|ll)"
    r"|(?:he|she|it|that|there|who|what)['’](?:s|d|ll)|(?:do|does|did|ca|wo|is|are|was)n['’]t)"
    r"(?![a-z])"
)
# A label is no name, though unknown words and Han characters may look like one.
_LABEL = re.compile(
    r"マイナンバー|個人番号|フリガナ|(?<![a-zA-Z])(?:WLAN-|Wifi-|Login-|E-Mail-)?(?:Passwort|Kennwort"
    r"|Zugangscode|Zugangsdaten|Zugang|Benutzername|Mot de passe)(?![a-z])"
)
# Type faces, which office programs write into every file; they have words of names in them.
_TYPE_FACE = re.compile(
    r"(?<![A-Za-z0-9_])(?:Times New Roman|Courier New|Comic Sans MS|Trebuchet MS"
    r"|Book Antiqua|Bookman Old Style"
    r"|Palatino Linotype|Century (?:Gothic|Schoolbook)|Franklin Gothic(?: Medium| Book)?"
    r"|Gill Sans(?: MT)?|Lucida (?:Console|Sans Unicode|Sans|Grande)|Segoe UI(?: Symbol)?"
    r"|Arial (?:Black|Narrow|Unicode MS)|Calibri Light|Cambria Math|Helvetica Neue"
    r"|Microsoft (?:YaHei(?: UI)?|JhengHei|Sans Serif|Himalaya|Uighur|Yi Baiti)"
    r"|Yu (?:Gothic|Mincho)"
    r"|MS (?:Gothic|Mincho|PGothic|PMincho)|Malgun Gothic|Noto (?:Sans|Serif)(?: CJK)?"
    r"|Open Sans|Liberation (?:Sans|Serif|Mono)|DejaVu Sans(?: Mono)?)"
    r"(?![A-Za-z0-9_]| (?!Bold|Italic|Regular|Light)[A-Z][a-z])"
)
# Sayings, and products with their number or model: `Raspberry Pi 4 Model B`.
_PHRASE = re.compile(
    rf"(?<![\w-])(?:{trie_pattern(words('known_words.toml', 'phrases'))})"
    r"(?: \d{1,4}(?:\.\d{1,3}){0,2}(?!\w))?(?: (?:Model|Pro|Max|Plus|Mini|LTS)(?: [A-Z](?!\w))?)?"
    r"(?![\w-])"
)
_PUBLIC = re.compile(
    r"(?<![\w/])(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z][A-Za-z_]+"
    r"(?:/[A-Z][A-Za-z_]+)?(?![\w/])"
    r"|(?<![A-Za-z-])(?:RFC|ISO|IEC|IEEE|DIN|EN|GB/T|JIS|RAL|NF|PEP|WCAG|Pantone)"
    r"(?: (?:EN|ISO|IEC|[A-Z]))? \d[\d.:/-]{0,12}(?: [CU](?!\w))?(?!\w)"
    r"|(?<!\w)(?:Articles?|Art\.|Sections?|§§?) ?(?:[A-Z]\. ?)?\d[\d./-]{0,8}"
    r"(?: §§? ?\d{1,3})?(?!\w)"
    r"|(?<![\w.])(?:[VHX]?LOOKUP|SUM(?:IFS?|PRODUCT)|(?:COUNT|AVERAGE|MAX|MIN)IFS?|IF(?:ERROR|NA|S)"
    r"|INDEX|MATCH|INDIRECT|OFFSET|TEXTJOIN|CONCAT(?:ENATE)?|ARRAYFORMULA|QUERY|IMPORTRANGE"
    r"|DATEDIF|NETWORKDAYS|EOMONTH|XNPV|XIRR|SUBTOTAL|AGGREGATE|UNIQUE|FILTER|SORTBY)(?=\()"
)
# A law with its year, whose words are nobody's names.
_ACT = re.compile(
    r"(?<![\w-])[A-Z][a-z]+(?:(?: and| of(?: the)?| at)? [A-Z][a-z]+){0,5} Act,?"
    r" (?:18|19|20)\d\d(?!\d)"
)
_LATIN = re.compile("[A-Za-zÀ-ɏ]")
_GIVEN = words("names.toml", "given")


def _fixed(text: str) -> Iterator[tuple[int, int]]:
    patterns = [_DECLARATION, _LABEL, _TYPE_FACE, _PHRASE, _PUBLIC]
    patterns += [_PROPERTY] if "BEGIN:V" in text else []
    patterns += [_PARAMETER] if "=" in text else []
    patterns += [_CONTRACTION] if "'" in text or "’" in text else []
    for pattern in patterns:
        yield from (match.span() for match in pattern.finditer(text))
    yield from _find_methods(text)
    for match in _ACT.finditer(text) if " Act" in text else ():
        if _GIVEN.isdisjoint(match.group().split()):
            yield match.span()


# What stands directly before a mark of assignment is a key: `buyer=Ann Lee phone=…`.
_ASSIGNED = re.compile(r"[ \t]{0,2}(?:=(?![=>])|[:：](?![:/\\]))")
_LAST_WORD = re.compile(r"[ \t\u3000]+(?P<key>[^\s=:：\"']{1,40})\Z")
_VALUE = re.compile(r"[=:：][ \t]{0,2}[\"'「]?\Z")
_PAIRS = re.compile(r"[^\s=]=[^=\s]")
_READ_KEYS = frozenset({"spacy", "lac", "sudachi"})  # what a model calls a name
_LINE = 400  # characters of a line that are looked at on either side


def without_keys(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings without the key of the next pair: it was taken for the end of a name."""
    for finding in findings:
        mark = _ASSIGNED.match(text, finding.end) if finding.type in _KEYED else None
        if mark is None:
            yield finding
            continue
        key = _LAST_WORD.search(text, finding.start, finding.end)
        is_assigned = mark.group().strip() == "="
        is_value = _VALUE.search(text, max(0, finding.start - 4), finding.start) is not None
        if key is not None and (is_assigned or is_value):
            yield replace(finding, end=key.start())
        elif not (is_assigned and finding.recognizer in _READ_KEYS and _is_in_pairs(text, finding)):
            yield finding


def _is_in_pairs(text: str, finding: Finding) -> bool:
    """Does its line hold other pairs of key and value?"""
    start = max(text.rfind("\n", 0, finding.start) + 1, finding.start - _LINE)
    end = text.find("\n", finding.end)
    end = min(end if end >= 0 else len(text), finding.end + _LINE)
    return len(_PAIRS.findall(text[start:end])) > 1


def without_fixed_words(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order, names among them cut to what is beside fixed words."""
    listed = list(findings)
    if not any(finding.type in _NAMED for finding in listed):
        return listed
    spans = sorted(_fixed(text))
    starts = [start for start, _ in spans]
    kept: list[Finding] = []
    for finding in listed:
        if finding.type not in _NAMED:
            kept.append(finding)
            continue
        first = max(0, bisect_left(starts, finding.start) - 1)
        kept += _cut(text, finding, spans[first : bisect_left(starts, finding.end)])
    return kept


def _cut(text: str, finding: Finding, spans: Iterable[tuple[int, int]]) -> Iterator[Finding]:
    for rest in uncovered(finding.start, finding.end, spans):
        if rest == (finding.start, finding.end):
            yield finding
            continue
        start, end = trimmed(text, *rest)
        value = text[start:end]
        is_small = value.isascii() and value.islower() and value.isalpha()
        is_foreign = finding.recognizer == "spacy" and not _LATIN.search(value)
        if len(value) >= 2 and not is_small and not is_foreign:
            yield replace(finding, start=start, end=end)


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
_VERSION_NUMBER = (
    r"[vV]?\d{1,10}(?:\.\d{1,8}){0,4}"
    r"(?:[-+.]?(?:rc|beta|alpha|dev|build|snapshot|[abp])\.?\d{0,8})?"
)
_VERSION = re.compile(
    r"(?i)(?:(?<![a-z])(?:version|ver\.?|firmware(?: version)?|build(?: number| no\.?)?)"
    r"|版本号?|固件|バージョン|版数)(?:更新)?[为是は到至]?[ :：=#]{0,3}"
    rf"(?P<v>{_VERSION_NUMBER}){_END}"
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
_ONE_DIGIT, _LONG_NUMBER = re.compile(r"\d"), re.compile(r"\d{7}")
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
        yield from _find_methods(text)
        for pattern in (_PHRASE, _TYPE_FACE):
            yield from (match.span() for match in pattern.finditer(text))
    if not _ONE_DIGIT.search(text):
        return
    small = text.lower()
    if "sha" in small or "md5" in small:
        yield from _digests(text)
    if " " in text:
        yield from _listed_digests(text)
    counts = (_COUNTED, _MEASURED) if _LONG_NUMBER.search(text) else ()
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
