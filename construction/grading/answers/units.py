"""Units beside numbers and in declarations such as "(USD millions)" or 単位：百万円."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from construction.grading.answers.contracts import Declared, Dimension, Unit
from data.text.folding import fold_width
from data.text.lexicon import load_table
from data.text.numbers import scale_at

# Signs shared by several currencies: the usual meaning, and the others they can have.
FAMILIES = {
    "$": ("USD", frozenset({"USD", "CAD", "AUD", "HKD", "TWD", "SGD", "NZD"})),
    "¥": ("JPY", frozenset({"JPY", "CNY"})),
    "元": ("CNY", frozenset({"CNY", "TWD", "HKD"})),
    "cent": ("USD", frozenset({"USD", "CAD", "AUD", "HKD", "SGD", "NZD", "EUR"})),
    "kr": ("SEK", frozenset({"SEK", "NOK", "DKK", "ISK"})),
    "kroner": ("NOK", frozenset({"NOK", "DKK"})),
    "krona": ("SEK", frozenset({"SEK", "ISK"})),
    "crown": ("SEK", frozenset({"SEK", "NOK", "DKK", "ISK", "CZK"})),
    "Rs": ("INR", frozenset({"INR", "PKR", "LKR", "NPR"})),
    "peso": ("MXN", frozenset({"MXN", "PHP", "ARS", "CLP", "COP", "UYU"})),
    "franc": ("CHF", frozenset({"CHF", "XOF", "XAF"})),
    "pound": ("GBP", frozenset({"GBP", "EGP"})),
    "won": ("KRW", frozenset({"KRW", "KPW"})),
    "dinar": ("KWD", frozenset({"KWD", "BHD", "JOD", "RSD", "TND"})),
}
ANY_CURRENCY = "*"  # "2.35 per share" names none
_SIGNS = {  # before or after the number
    "USD": "US$ U.S.$ USD 美元 米ドル",
    "CAD": "C$ CA$ CAD",
    "AUD": "A$ AU$ AUD",
    "HKD": "HK$ HKD 港元 港币 港幣",
    "TWD": "NT$ TWD NTD 新台幣 新台币 新臺幣 台幣 台币",
    "SGD": "S$ SGD",
    "NZD": "NZ$ NZD",
    "JPY": "JPY",
    "CNY": "RMB CNY CNH 人民币 人民幣 人民元",
    "EUR": "€ EUR",
    "GBP": "£ GBP",
    "CHF": "CHF",
    "KRW": "₩ KRW",
    "INR": "₹ INR",
    "BRL": "R$ BRL",
    "MXN": "Mex$ MXN",
    "ZAR": "ZAR R",
    "SEK": "SEK",
    "NOK": "NOK",
    "DKK": "DKK",
    "RUB": "RUB ₽",
    "THB": "THB ฿",
    "IDR": "IDR Rp Rp.",
    "PHP": "PHP ₱",
    "PLN": "PLN zł",
    "MYR": "MYR RM",
    "ILS": "NIS ILS ₪",
    "TRY": "TRY ₺",
    "VND": "VND ₫",
    "NGN": "NGN ₦",
    "AED": "AED",
    "SAR": "SAR",
    "CZK": "CZK Kč",
    "HUF": "HUF",
    "ISK": "ISK",
    "ARS": "ARS AR$",
    "CLP": "CLP",
    "COP": "COP",
    "$": "$",
    "¥": "¥",
    "Rs": "Rs. Rs",
    "franc": "Fr. Fr SFr. SFr",
    "kr": "kr kr.",
}
_NAMES = {  # only after the number
    "USD": "US_dollar US_dollars U.S._dollar U.S._dollars United_States_dollars 米国ドル",
    "CAD": "Canadian_dollar Canadian_dollars カナダドル 加元",
    "AUD": "Australian_dollar Australian_dollars 豪ドル 澳元",
    "HKD": "Hong_Kong_dollar Hong_Kong_dollars 香港ドル",
    "TWD": "New_Taiwan_dollar New_Taiwan_dollars 台湾ドル",
    "SGD": "Singapore_dollar Singapore_dollars シンガポールドル",
    "JPY": "円 yen 日元 日圓 日円 Japanese_yen",
    "CNY": "yuan renminbi Chinese_yuan 中国元",
    "EUR": "euro euros ユーロ 欧元 歐元",
    "GBP": "英镑 英鎊 ポンド pounds_sterling British_pounds",
    "pound": "pound pounds",
    "CHF": "Swiss_franc Swiss_francs スイスフラン 瑞士法郎 Franken",
    "franc": "franc francs フラン 法郎",
    "KRW": "South_Korean_won Korean_won 韩元 韓元 원",
    "won": "won ウォン",
    "INR": "Indian_rupee Indian_rupees インドルピー 印度卢比",
    "Rs": "rupee rupees 卢比 盧比 ルピー",
    "BRL": "Brazilian_real Brazilian_reais real reais レアル 雷亚尔",
    "MXN": "Mexican_peso Mexican_pesos メキシコペソ 墨西哥比索",
    "PHP": "Philippine_peso Philippine_pesos フィリピンペソ 菲律宾比索",
    "ARS": "Argentine_pesos",
    "CLP": "Chilean_pesos",
    "COP": "Colombian_pesos",
    "peso": "peso pesos ペソ 比索",
    "ZAR": "South_African_rand rand ランド 兰特",
    "SEK": "Swedish_krona Swedish_kronor kronor スウェーデンクローナ 瑞典克朗",
    "NOK": "Norwegian_krone Norwegian_kroner ノルウェークローネ 挪威克朗",
    "DKK": "Danish_krone Danish_kroner デンマーククローネ 丹麦克朗",
    "ISK": "Icelandic_króna Icelandic_krona Icelandic_krónur",
    "CZK": "Czech_koruna koruna korun",
    "krona": "krona クローナ",
    "kroner": "krone kroner クローネ",
    "crown": "crowns 克朗",
    "PLN": "zloty zlotys złoty złotych",
    "HUF": "forint forints",
    "TRY": "lira liras リラ 里拉",
    "MYR": "ringgit リンギット 林吉特",
    "IDR": "rupiah ルピア 印尼盾",
    "AED": "dirham dirhams",
    "SAR": "riyal riyals",
    "VND": "dong ドン",
    "NGN": "naira",
    "dinar": "dinar dinars",
    "RUB": "rouble roubles ruble rubles ルーブル 卢布",
    "THB": "baht バーツ 泰铢",
    "ILS": "shekel shekels",
    "$": "dollar dollars ドル",
    "元": "元",
}


def _codes(*tables: dict[str, str]) -> dict[str, str]:
    return {
        word.replace("_", " ").lower(): code
        for table in tables
        for code, words in table.items()
        for word in words.split()
    }


def _pattern(words: dict[str, str]) -> str:
    """Longest first; a word of ASCII letters must not be followed by another letter."""
    listed = sorted(words, key=lambda word: (-len(word), word))
    edges = (
        re.escape(word) + (r"(?![A-Za-z])" if word[-1].isascii() and word[-1].isalpha() else "")
        for word in listed
    )
    return "|".join(edges)


_BEFORE, _CODES = _codes(_SIGNS), _codes(_SIGNS, _NAMES)
CURRENCY = _pattern(_CODES)
_PREFIX = re.compile(rf"(?<![A-Za-z])({_pattern(_BEFORE)})\Z", re.I)
_MONEY = re.compile(rf"(?:of |de |d['’])?({CURRENCY})", re.I)
_COIN = re.compile(r"(cents?(?![A-Za-z])|¢)|(銭)|([0-9]{1,2})銭", re.I)
_PER_SHARE = re.compile(
    r"\s?(?:/ ?|per |a |each )(?:diluted |basic |common |ordinary ){0,3}share(?![A-Za-z])"
    r"|\s?/ ?[1一]?[株股]",
    re.I,
)
_SHARES = re.compile(
    r"(?:(?:common|ordinary|diluted|basic|weighted|average|outstanding|treasury|preferred|issued)"
    r"[ -]){0,4}"
    r"shares?(?![A-Za-z])|株(?![主式価])|股(?![东東本权權])",
    re.I,
)
_PROPORTIONS = (
    (
        "percent",
        r"%(?: ?(?:ポイント|points?))?|per ?cent(?:age)?(?: points?)?(?![A-Za-z])"
        r"|pct(?![A-Za-z])|ppt?(?![A-Za-z])|パーセント(?:ポイント)?|ポイント|[个個]?百分[点點]",
    ),
    ("permille", r"‰|per ?mill?e(?![A-Za-z])|パーミル|千分[点點之率]"),
    ("bps", r"bps?(?![A-Za-z])|basis points?|[个個]?基[点點]|ベーシス・?ポイント"),
    (
        "ratio",
        r"x(?![A-Za-z0-9])|times(?![A-Za-z])|倍|: ?1(?!(?:[.,]?[0-9]))|to 1(?!(?:[.,]?[0-9]))"
        r"|\(ratio\)",
    ),
)
_PROPORTION = re.compile("|".join(f"(?P<{name}>{words})" for name, words in _PROPORTIONS), re.I)
_NOUNS = (
    "stores? employees people units? countries locations customers subscribers users offices "
    "branches restaurants vehicles patents companies subsidiaries shops outlets hotels rooms "
    "headcount staff workers persons members sites plants factories segments aircraft ships "
    "contracts orders properties warehouses clinics hospitals schools transactions merchants "
    "households accounts items devices"
)
_COUNT = re.compile(
    r"(?:(?!(?:and|or|in|at|for|of|from|to|by|as|with|was|were|is|are)\b)[a-z][a-z-]{0,30}+ ){0,2}"
    rf"(?:{'|'.join(_NOUNS.split())})(?![A-Za-z])"
    r"|店舗?|[人名社件台家个個所戸国条隻枚棟艘架辆輛座匹羽冊套](?!民|民币|[件款])|[かカヶケ]所|[かカヶケ]国",
    re.I,
)
_FILLER = re.compile(
    r"[\s:=,/]+|(?:in|of|the|are|is|all|figures?|amounts?|values?|numbers?|units?|currency|scale"
    r"|stated|expressed|shown|reported|except|unless|otherwise|noted|per|share|data|and"
    r"|単位|单位|單位|通貨|币种|金額|金额|每股)(?![A-Za-z])",
    re.I,
)
_BRACKET = re.compile(r"[(\[]([^()\[\]\n]{1,60})[)\]]")
_LEADS = re.compile(
    r"\b(?:figures|amounts|values|numbers|data|dollars)\b[^.\n]{0,40}?\bin ([^.;()\n]{1,60})"
    r"|(?:\bunits?|\bcurrency|\bscale|単位|单位|單位|通貨|币种) ?[:=はは为] ?([^.;()\n。、]{1,40})"
    r"|(?:金額|金额|数値|数值|数字)(?:は|の単位は|均以|以|单位为)(?:すべて)?([^.;()\n。、]{1,20})",
    re.I,
)
_THOUSANDS = re.compile("'?000s?")
_MAX_PHRASE = 80


def of_gold(name: str) -> Unit:
    """The unit of a gold answer: `USD`, `USD/share`, `percent`, `ratio`, `shares`, `count`."""
    if name.endswith("/share"):
        return Unit(Dimension.PER_SHARE, name.removesuffix("/share"))
    if name in ("percent", "ratio"):
        return Unit(Dimension.PROPORTION, name)
    if name in ("shares", "count"):
        return Unit(Dimension(name), name)
    return Unit(Dimension.MONEY, name)


def settle(unit: Unit, target: Unit) -> Unit:
    """A shared sign becomes the currency asked for if it can mean that, else its usual one."""
    if unit.name == ANY_CURRENCY:
        return Unit(unit.dimension, target.name, unit.factor)
    usual, members = FAMILIES.get(unit.name, (unit.name, frozenset[str]()))
    return Unit(unit.dimension, target.name if target.name in members else usual, unit.factor)


def combine(first: Unit | None, second: Unit | None) -> Unit | None:
    """Units before and after one number: an explicit currency precedes a shared sign."""
    if first is None or second is None:
        return first or second
    if first.dimension is not Dimension.MONEY:
        return second
    if second.dimension not in (Dimension.MONEY, Dimension.PER_SHARE):
        return second
    explicit = first.name not in FAMILIES or second.name == ANY_CURRENCY
    name = first.name if explicit else second.name
    return Unit(second.dimension, name, second.factor)


def unit_before(text: str, position: int, floor: int) -> tuple[Unit, int] | None:
    """A currency that ends at a position, and where it starts, not before `floor`."""
    start = max(floor, position - 12)
    match = _PREFIX.search(text[start:position])
    if match is None or match[1] == "r":  # the sign of the rand is a capital letter
        return None
    return Unit(Dimension.MONEY, _BEFORE[match[1].lower()]), start + match.start(1)


def unit_after(text: str, position: int) -> tuple[Unit, int] | None:
    """The unit after a position, at most one space away, and where it ends."""
    start = position + 1 if text[position : position + 1] in (" ", "-") else position
    return _money_at(text, start) or _other_at(text, start)


def _money_at(text: str, start: int) -> tuple[Unit, int] | None:
    coin = _COIN.match(text, start)
    if coin and not coin[3]:
        name = "cent" if coin[1] else "JPY"
        unit, end = Unit(Dimension.MONEY, name, Decimal("0.01")), coin.end()
    else:
        match = _MONEY.match(text, start)
        if match is None:
            return None
        unit, end = Unit(Dimension.MONEY, _CODES[match[1].lower()]), match.end()
    share = _PER_SHARE.match(text, end)
    if share:
        return Unit(Dimension.PER_SHARE, unit.name, unit.factor), share.end()
    return unit, end


def _other_at(text: str, start: int) -> tuple[Unit, int] | None:
    match = _PROPORTION.match(text, start)
    if match:
        return Unit(Dimension.PROPORTION, match.lastgroup or "percent"), match.end()
    for pattern, dimension in ((_SHARES, Dimension.SHARES), (_COUNT, Dimension.COUNT)):
        match = pattern.match(text, start)
        if match:
            return Unit(dimension, dimension.value), match.end()
    return None


_SCALED = {
    name: (sign, Decimal(10) ** power)
    for sign, power, names in (
        ("kr", 3, "tkr tsek"),
        ("kr", 6, "mkr msek mnok mdkk mnkr"),
        ("kr", 9, "mdkr mdr"),
        ("EUR", 3, "teur keur t€ k€"),
        ("EUR", 6, "meur m€ mio€"),
        ("EUR", 9, "mrd€ bn€"),
        ("CHF", 6, "mchf"),
        ("CHF", 3, "tchf"),
        ("Rs", 7, "crs"),
    )
    for name in names.split()
}
_SCALED_CURRENCY = re.compile(rf" ?({_pattern(dict.fromkeys(_SCALED, ''))})", re.I)


def scaled_currency_at(text: str, position: int) -> tuple[Unit, Decimal, int] | None:
    """A currency and its scale in one word (mkr, TEUR), and where the word ends."""
    match = _SCALED_CURRENCY.match(text, position)
    if match is None:
        return None
    name, scale = _SCALED[match[1].lower()]
    return Unit(Dimension.MONEY, name), scale, match.end()


def per_share_at(text: str, position: int) -> int | None:
    """The end of "per share" at a position."""
    match = _PER_SHARE.match(text, position)
    return match.end() if match else None


def sen_at(text: str, position: int) -> tuple[Decimal, int] | None:
    """The sen of 123円45銭, in yen."""
    match = _COIN.match(text, position)
    if match is None or match[3] is None:
        return None
    return Decimal(match[3]) / 100, match.end()


def phrase(text: str) -> tuple[Declared, bool]:
    """What a phrase declares, and whether it holds only units, scales and filler words."""
    text = text[:_MAX_PHRASE]
    declared, position = Declared(), 0
    while position < len(text):
        step = _phrase_step(text, position)
        if step is None:
            return declared, False
        part, position = step
        declared = declared.over(part)
    return declared, True


def _phrase_step(text: str, position: int) -> tuple[Declared, int] | None:
    if filler := _FILLER.match(text, position):
        return Declared(), filler.end()
    if thousands := _THOUSANDS.match(text, position):
        return Declared(None, Decimal(1000)), thousands.end()
    money = _money_at(text, position)
    if money:
        return Declared(money[0]), money[1]
    scale = scale_at(text, position)
    if scale and scale[1] > position:
        return Declared(None, scale[0]), scale[1]
    other = _other_at(text, position)
    return (Declared(other[0]), other[1]) if other else None


def declared_in(text: str, *, label: bool = False) -> Declared:
    """Unit and scale declared by brackets and phrases such as "All figures in USD millions".

    In a `label` (header, caption, unit cell) the end of the text counts too: "Revenue, USD m".
    """
    declared = Declared()
    for match in _BRACKET.finditer(text):
        if len(match[1]) > 1 or label or match[1] in "%$€£¥₩":
            inner, whole = phrase(match[1])
            declared = declared.over(inner) if whole or label else declared
    for match in _LEADS.finditer(text):
        declared = declared.over(phrase(next(group for group in match.groups() if group))[0])
    return declared.over(_tail(text)) if label else declared


def _tail(text: str) -> Declared:
    """The longest run of words at the end of a label that is only a unit."""
    for start in re.finditer(r"(?:(?<=^)|(?<=[\s,:]))\S", text[-_MAX_PHRASE:]):
        declared, whole = phrase(text[-_MAX_PHRASE:][start.start() :])
        if whole and declared != Declared():
            return declared
    return Declared()


_SCALE = r"(?:hundred|thousand|million|billion|bn|百万|千|万|萬|亿|億)"
_GAP = r"[\s-]{0,2}"
RATIO = "ratio"
_RATIO = ("x", "times", "倍")


def _spelled(words: str) -> str:
    """The spelling as a pattern; a word of ASCII letters must not go on."""
    pattern = _GAP.join(map(re.escape, words.split()))
    return pattern + (r"(?![A-Za-z0-9^])" if words[-1].isascii() else "")


_TABLE = dict(load_table(__package__, "measures.toml"))
_LARGER = _TABLE.pop("larger")  # by unit and scale
_KINDS = {unit: kind for kind, units in _TABLE.items() for unit in units}
_COUNTED = frozenset(_TABLE["counted"])
_UNITS = {
    fold_width(spelling).lower(): unit
    for units in _TABLE.values()
    for unit, spellings in units.items()
    for spelling in (unit, *spellings)
}
_LONGEST_FIRST = sorted(_UNITS, key=lambda word: (-len(word), word))
_ANY = "|".join(map(_spelled, _LONGEST_FIRST))
_RATIO_ASKED = re.compile(
    r"\b(?:ratio|multiple|times|coverage)\b|how many times|倍|比率|比例|回転率", re.I
)
_ASKED = re.compile(
    rf"(?:\b(?:how many|number of|in|of) (?:whole |full |metric )?|多少个?|几|何"
    rf"|单位[:为]?|単位[:は]?)\s*(?P<unit>{_ANY})",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A number before a unit of measure, or a unit declared for all numbers (`number` is None)."""

    start: int
    unit_start: int
    end: int
    unit: str
    number: str | None


def measures_asked(gold_unit: str | None, question: str, scale: int = 1) -> frozenset[str]:
    """The units of measure that are asked for: that of the gold value, or those of "how many …".

    `scale` is that of the gold value: thousands of tonnes are kilotonnes too.
    Empty if the gold value is money, a proportion, a number of shares or of things. The reader of
    numbers knows these itself.
    """
    if gold_unit not in (None, "count"):
        name = fold_width(gold_unit).lower()
        if name in _UNITS and not _is_currency(gold_unit):
            unit = _UNITS[name]
            return frozenset({unit, *_LARGER.get(unit, {}).get(str(scale), ())})
        return frozenset()
    plain = fold_width(question)
    units = {_UNITS[_key(match["unit"])] for match in _ASKED.finditer(plain)} - _COUNTED
    if gold_unit is None and _RATIO_ASKED.search(plain):
        units.add(RATIO)
    return frozenset(units)


def _is_currency(unit: str) -> bool:
    return len(unit) == 3 and unit.isupper()


def _key(written: str) -> str:
    """The spelling in the table of a unit as written."""
    plain = written.lower()
    if plain in _UNITS:
        return plain
    return next(word for word in _LONGEST_FIRST if re.fullmatch(_spelled(word), plain))


_RATIO_WORDS = "|".join(map(_spelled, _RATIO))
_MEASURED = re.compile(
    rf"(?<![0-9A-Za-z.,])(?P<number>[0-9][0-9.,]{{0,30}}(?:\s?{_SCALE})?)(?:\s?-?|\s?(?P<open>\())"
    rf"(?:(?P<unit>{_ANY})|(?P<ratio>{_RATIO_WORDS}))(?(open)\))",
    re.I,
)
_DECLARED = re.compile(rf'(?:"unit":\s*"|\bin |\bunits?: ?)(?P<unit>{_ANY})(?!\w)', re.I)


def measured(text: str) -> Iterator[Measured]:
    """The numbers of a text of half width before units of measure, and units that it declares."""
    for pattern in (_MEASURED, _DECLARED):
        for match in pattern.finditer(text):
            unit = _UNITS[_key(match["unit"])] if match["unit"] else RATIO
            number = match["number"] if pattern is _MEASURED else None
            start = match.start("unit") if number is None else match.end("number")
            yield Measured(match.start(), start, match.end(), unit, number)


def kind_of(unit: str) -> str:
    """The kind of a unit: area, mass, time, …"""
    return _KINDS.get(unit, unit)
