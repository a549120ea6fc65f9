"""Short numbers and codes that a line gives away (level `strict`): doors, beds, births, records.

Bare numbers of up to six digits are what work is about, and stay. Here the words beside them, or
their own form, say that they open or denote something of somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType
from anonymization.text.detect.explained_codes import is_known_lead
from data.text.screened import Screened
from data.text.scripts import HAN

_Span = tuple[int, int, EntityType]
# What opens something: the word, at most a few small words, and the digits.
_OPENING = Screened(
    r"(?i)(?<![a-z])(?:pin|passcode|keycode|key code|(?:door|gate|alarm|safe|lock|shed|garage|entry"
    r"|access|keypad|entrance|locker|lobby|front door|side door|back door|barrier|bike|house)"
    r"(?: code| pin| key| number)?|key safe|keysafe|lockbox|combination|code for the [a-z]{3,12}"
    r"|code (?:of|to) the [a-z]{3,12}|code|codewort|türcode|zahlencode|digicode|code d'entrée)"
    r"(?:(?: [a-z]{2,10}){0,6}? (?:is|was|now|are|changed to)|(?: [a-z]{2,10}){0,5}?:|,)?[ :=]{1,3}"
    r"(?P<v>[#*]?\d(?:[ -]?\d){3,7}[#*]?|[A-Z]?\d{2,5}[A-Z#*](?!\w)|[A-Z]\d{4}(?!\w)"
    r"|(?-i:\d{1,3}[A-Z]\d{1,3})(?!\w))(?![\w%.:/-])"
)
_EASTERN_OPENING = Screened(
    r"(?:门禁|门锁|大门|保险柜|开门|钥匙盒|密码|口令|车库"
    r"|暗証番号|暗証|解錠|金庫|玄関|キーボックス|オートロック|鍵|パス)"
    r"(?:密码|码|番号|の番号|コード|の暗証番号)?(?:改|改成|改为|还|就|现在|也)?"
    r"(?:是|为|成|：|:|は|が|=| )? ?"
    r"(?P<v>[#*]?\d(?:[ -]?\d){3,7}[#*]?)(?![\d年月日円元.%时点時])"
)
_COMBINATION = Screened(
    r"(?i)\b(?:safe|combination|padlock|locker|strongbox|vault)\b[^.]{0,80}?[ :]"
    r"(?P<v>\d{1,2}-\d{1,2}-\d{1,2})(?![\d-])"
)
# In Chinese: what ends in the word for code; building, unit and room; a machine by its office.
_EASTERN_CODE = Screened(
    r"(?:密码锁|临时|验证|开锁|取件|登录|动态|门锁|锁)码[：: 是为]{1,2}(?P<v>\d{4,8})(?!\d)"
    r"|(?<![\w-])(?P<room>\d{1,2}-\d{1,2}-\d{3,4})(?![\w-])"
    rf"|(?P<machine>[{HAN}]{{2,4}}-\d{{2,3}})(?=登录|登陆|连接|打印|离线|开机)"
)
# A door by its number and letter.
_DOOR = Screened(
    r"(?i:\b(?:buzzer|flat|apartment|apt\.?|berth|plot|pitch|locker|bay|doorbell"
    r"|appartement|wohnung)) "
    r"(?P<v>\d{1,4}[A-Z]|[A-Z]\d{1,3})(?![\w-])"
)
# Whose record, bed or sample a short code denotes.
_OF_PERSON = Screened(
    r"(?i)(?<![a-z])(?:donor|patient|subject|participant|pupil|student|resident|tenant|client"
    r"|customer|candidate|witness|suspect|inmate|case|claimant|child|guest|volunteer|respondent"
    r"|病人|患者|受试者|被験者|検体|捐赠者)(?: no\.?| number| id| code)?[ :#]{0,2}"
    r"(?P<v>(?-i:[A-Z]{1,4}-?\d{1,6}[A-Z]?|\d{1,4}[-/]?[A-Z]{1,3}|[A-Z]\d{1,3}-\d{1,4}))(?![\w-])"
)
# Records of somebody in the path of an address.
_PATH = Screened(
    r"(?i)/(?:customers?|users?|patients?|clients?|members?|people|persons?|employees?|accounts?"
    r"|contacts?|tenants?|students?|profiles?|guests?|donors?|cases?|staff|leads?)/"
    r"(?P<v>\d{3,12}|[a-z]{3,}-[a-z-]{3,30})(?![\w.])"
)
# Codes that begin with digits and mix them with capitals.
_LED_BY_DIGITS = Screened(
    r"(?<![\w./:-])(?P<v>\d{1,4}[A-Z]{1,3}-?\d{1,6}(?:-[A-Z0-9]{1,6})?|\d{2,4}-[A-Z]{1,4}-\d{1,6}"
    r"|\d{3,6}-\d{2,6}-[A-Z]{1,4}|\d{4,8}[-/]?[A-Z]{1,2}|[A-Z]{1,3}-\d{3,6}-[A-Z]{1,3})(?![\w/.-])"
)
_UNITS = re.compile(r"\d+(?:K|M|B|G|T|W|V|A|H|S|E|P|F|C|X|D|L|KB|MB|GB|TB|KW|MW|HZ|AM|PM|AD|BC|CE"
                    r"|MM|CM|KM|KG|ML|CR|YR|PX|PT|DPI|RPM|FPS|K?BPS|Q[1-4]|H[12]|D\d)"
                    r"\d{0,2}")  # fmt: skip
_FORMULA_LIKE = re.compile(r"\d(?:E\d{1,3}|D\d?|P\d?|F\d?|Q\d?)|\d{1,2}[A-Z]\d{1,2}")
# A line that is about births: every date in it.
_BIRTHS = re.compile(
    r"(?i)birth|\bborn\b|\bdob\b|d\.o\.b|\bgeb(?:oren|\.|urt)|\bnée?s?\b|naissance|anniversaire|bday"
    r"|生日|出生|誕生|生年|生まれ"
)
_DAY = re.compile(
    r"(?<![\w./-])(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{2}[./-]\d{1,2}[./-]\d{1,2})(?![\w/-])"
    r"|[一二三四五六七八九〇零]{2,4}年(?:[一二三四五六七八九十]{1,3}月)?(?:[一二三四五六七八九十]{1,3}[日号])?"
)


def find_numbers(text: str) -> Iterator[_Span]:
    """The spans of such numbers and codes, in no order."""
    for pattern in (_OPENING, _EASTERN_OPENING, _COMBINATION):
        for match in pattern.finditer(text):
            yield *match.span("v"), EntityType.SECRET
    for match in _EASTERN_CODE.finditer(text):
        yield *match.span(str(match.lastgroup)), EntityType.UNEXPLAINED
    for pattern in (_OF_PERSON, _PATH):
        for match in pattern.finditer(text):
            yield *match.span("v"), EntityType.UNEXPLAINED
    if _BIRTHS.search(text):
        for day in _DAY.finditer(text):
            begin, end = text.rfind("\n", 0, day.start()) + 1, text.find("\n", day.end())
            if _BIRTHS.search(text, begin, end if end >= 0 else len(text)):
                yield *day.span(), EntityType.DATE


def find_mixed(text: str) -> Iterator[_Span]:
    """The spans of codes of digits and capitals that no word is about, in no order."""
    for match in _DOOR.finditer(text):
        yield *match.span("v"), EntityType.UNEXPLAINED
    for match in _LED_BY_DIGITS.finditer(text):
        value = match["v"]
        is_unit = _UNITS.fullmatch(value) or _FORMULA_LIKE.fullmatch(value)
        if not is_unit and not is_known_lead(value.partition("-")[0]):
            yield *match.span("v"), EntityType.UNEXPLAINED
