"""Units beside numbers and in declarations such as "(USD millions)" or 単位：百万円."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from construction.grading.answers.lexicon import Declared, Dimension, Unit
from data.text.folding import fold_width
from data.text.lexicon import load_table, pattern_of
from data.text.numbers import scale_at

_WORDS = load_table(__package__, "units.toml")
# Signs shared by several currencies: the usual meaning, and all that they can have.
_FAMILIES = {sign: (codes[0], frozenset(codes)) for sign, codes in _WORDS["shared"].items()}
ANY_CURRENCY = "*"  # "2.35 per share" names none


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


_BEFORE, _CODES = _codes(_WORDS["signs"]), _codes(_WORDS["signs"], _WORDS["names"])
_CURRENCY = _pattern(_CODES)
_PREFIX = pattern_of(rf"(?<![A-Za-z])({_pattern(_BEFORE)})\Z", re.I)
_MONEY = pattern_of(rf"(?:of |de |d['’])?({_CURRENCY})", re.I)
_COINS = _WORDS["hundredths"]
_COIN_FAMILIES = tuple(_COINS)
_COIN = pattern_of(
    "(?P<sen>[0-9]{1,2})銭|"
    + "|".join(
        f"(?P<c{at}>(?:{'|'.join(words.split()).replace('_', ' ')})(?![A-Za-zÀ-ɏ]))"
        for at, words in enumerate(_COINS.values())
    ),
    re.I,
)
_PER_SHARE = pattern_of(
    r"\s?(?:/ ?|per |a |each )(?:diluted |basic |common |ordinary ){0,3}share(?![A-Za-z])"
    r"|\s?(?:je|pro|par|por|per) (?:stamm|vorzugs)?"
    r"(?:aktie|action|acci[oó]n|azione|aandeel|ação|aktie|aksje)(?![A-Za-z])"
    r"|\s?/ ?[1一]?[株股]",
    re.I,
)
_SHARES = pattern_of(
    r"(?:(?:common|ordinary|diluted|basic|weighted|average|outstanding|treasury|preferred|issued)"
    r"[ -]){0,4}"
    r"shares?(?![A-Za-z])|株(?![主式価])|股(?![东東本权權])",
    re.I,
)
PROPORTIONS = {name: "|".join(words) for name, words in _WORDS["proportions"].items()}
_POINT_UNITS = frozenset(
    ("percentage points", "percentage point", "percent points", "pp", "points")
)
_BASIS_UNITS = frozenset(("basis points", "basis point", "bps", "bp"))
_PROPORTION = pattern_of(
    "|".join(f"(?P<{name}>{words})" for name, words in PROPORTIONS.items()), re.I
)
_NOUNS = (
    "stores? employees people units? countries locations customers subscribers users offices "
    "branches restaurants vehicles patents companies subsidiaries shops outlets hotels rooms "
    "headcount staff workers persons members sites plants factories segments aircraft ships "
    "contracts orders properties warehouses clinics hospitals schools transactions merchants "
    "households accounts items devices"
)
_COUNT = pattern_of(
    r"(?:(?!(?:and|or|in|at|for|of|from|to|by|as|with|was|were|is|are)\b)[a-z][a-z-]{0,30}+ ){0,2}"
    rf"(?:{'|'.join(_NOUNS.split())})(?![A-Za-z])"
    r"|店舗?|[人名社件台家个個所戸国条隻枚棟艘架辆輛座匹羽冊套](?!民|民币|[件款])|[かカヶケ]所|[かカヶケ]国",
    re.I,
)
_FILLER = pattern_of(
    r"[\s:=,/]+|d['’]|(?:en|em|de|alle|tous|in|of|the|are|is|all|figures?|amounts?|values?|numbers?|units?|currency|scale"
    r"|stated|expressed|shown|reported|except|unless|otherwise|noted|per|share|data|and"
    r"|単位|单位|單位|通貨|币种|金額|金额|每股)(?![A-Za-z])",
    re.I,
)
_BRACKET = pattern_of(r"[(\[]([^()\[\]\n]{1,60})[)\]]")
_LEADS = pattern_of(
    r"\b(?:figures|amounts|values|numbers|data|dollars|angaben|beträge|zahlen|werte|montants"
    r"|chiffres|importes|cifras|importi|bedragen|valores)\b[^.\n]{0,40}?\b(?:in|en|em) "
    r"([^.;()\n]{1,60})"
    r"|(?:\bunits?|\bcurrency|\bscale|単位|单位|單位|通貨|币种) ?[:=はは为] ?([^.;()\n。、]{1,40})"
    r"|(?:金額|金额|数値|数值|数字)(?:は|の単位は|均以|以|单位为)(?:すべて)?([^.;()\n。、]{1,20})",
    re.I,
)
_THOUSANDS = pattern_of("'?000s?")
_MAX_PHRASE = 80


def of_gold(name: str) -> Unit:
    """The unit of a gold answer: `USD`, `USD/share`, `percent`, `percentage points`, `ratio`, …"""
    if name.endswith("/share"):
        return Unit(Dimension.PER_SHARE, name.removesuffix("/share"))
    if name in _POINT_UNITS or name in _BASIS_UNITS:
        return Unit(Dimension.PROPORTION, "points" if name in _POINT_UNITS else "bps")
    if name in ("%", "percent", "ratio", "permille"):
        return Unit(Dimension.PROPORTION, name if name != "%" else "percent")
    if name in ("shares", "count"):
        return Unit(Dimension(name), name)
    return Unit(Dimension.MONEY, name)


def settle(unit: Unit, target: Unit) -> Unit:
    """A shared sign becomes the currency asked for if it can mean that, else its usual one."""
    if unit.name == ANY_CURRENCY:
        return Unit(unit.dimension, target.name, unit.factor)
    usual, members = _FAMILIES.get(unit.name, (unit.name, frozenset[str]()))
    return Unit(unit.dimension, target.name if target.name in members else usual, unit.factor)


def combine(first: Unit | None, second: Unit | None) -> Unit | None:
    """Units before and after one number: an explicit currency precedes a shared sign."""
    if first is None or second is None:
        return first or second
    if first.dimension is not Dimension.MONEY:
        return second
    if second.dimension not in (Dimension.MONEY, Dimension.PER_SHARE):
        return second
    explicit = first.name not in _FAMILIES or second.name == ANY_CURRENCY
    name = first.name if explicit else second.name
    return Unit(second.dimension, name, second.factor)


def unit_before(text: str, position: int, floor: int) -> tuple[Unit, int] | None:
    """A currency that ends at a position, and where it starts, not before `floor`."""
    start = max(floor, position - 12)
    match = _PREFIX.search(text[start:position])
    if match is None or match[1] == "r":  # the sign of the rand is a capital letter
        return None
    return Unit(Dimension.MONEY, _BEFORE[match[1].lower()]), start + match.start(1)


_WORDS_BEFORE = pattern_of(r"(?<![^\s(:;,])(?:(?!\d)\S){1,12}(?: (?:(?!\d)\S){1,10})? ?\Z")


def scaled_unit_before(text: str, position: int, floor: int) -> tuple[Unit, Decimal, int] | None:
    """A currency and a scale that end at a position: "TEUR 3.612", "EUR Mio. 46,8", "US$m 12"."""
    start = max(floor, position - 24)
    match = _WORDS_BEFORE.search(text[start:position])
    while match is not None:
        declared, whole = phrase(match[0])
        begin = start + match.start()
        if whole and declared.unit and declared.scale and declared.unit.factor == 1:
            return declared.unit, declared.scale, begin
        gap = text.find(" ", begin, position - 1)
        match = _WORDS_BEFORE.search(text[gap + 1 : position]) if gap >= 0 else None
        start = gap + 1
    return None


def unit_after(text: str, position: int) -> tuple[Unit, int] | None:
    """The unit after a position, at most one space away, and where it ends."""
    start = position + 1 if text[position : position + 1] in (" ", "-") else position
    return _money_at(text, start) or _other_at(text, start)


def _money_at(text: str, start: int) -> tuple[Unit, int] | None:
    coin = _COIN.match(text, start)
    if coin and coin.lastgroup != "sen":
        name = _COIN_FAMILIES[int((coin.lastgroup or "c0")[1:])]
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
    word: (code, Decimal(10) ** int(power))
    for power, scales in _WORDS["joined_scales"].items()
    for scale in scales.split()
    for code, names in _WORDS["joined"].items()
    for name in names.split()
    for word in (scale + name, name + scale)
} | {"mdr": ("kr", Decimal(10) ** 9), "crs": ("Rs", Decimal(10) ** 7)}
_SCALED_CURRENCY = pattern_of(rf" ?({_pattern(dict.fromkeys(_SCALED, ''))})", re.I)


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
    if match is None or match["sen"] is None:
        return None
    return Decimal(match["sen"]) / 100, match.end()


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
    joined = scaled_currency_at(text, position)
    if joined:
        return Declared(joined[0], joined[1]), joined[2]
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


_ASKED_IN = pattern_of(
    r"\b(?:in|en|em|i) ([^?.;(),。、，？\n]{1,30}?)"
    r"(?=[?.;(),。、，？\n]|\Z| (?:and|with|rounded|to|for)\b)"
    r"|(?:多少|何|单位[:为是]?|単位[:は]?)([^\s?。，、]{1,6})",
    re.I,
)


def unit_asked(question: str) -> Declared:
    """The currency or proportion in which a question asks for its answer, and the scale."""
    for match in _ASKED_IN.finditer(fold_width(question)):
        declared, whole = phrase(match[1] or match[2])
        kinds = (Dimension.MONEY, Dimension.PROPORTION)
        unit = declared.unit
        if unit and unit.dimension in kinds and unit.factor == 1 and (whole or match[2]):
            return declared
    return Declared()


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
_RATIO_ASKED = pattern_of(
    r"\b(?:ratio|multiple|times|coverage)\b|how many times|倍|比率|比例|回転率", re.I
)
_ASKED = pattern_of(
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
_MEASURED = pattern_of(
    rf"(?<![0-9A-Za-z.,])(?P<number>[0-9][0-9.,]{{0,30}}(?:\s?{_SCALE})?)(?:\s?-?|\s?(?P<open>\())"
    rf"(?:(?P<unit>{_ANY})|(?P<ratio>{_RATIO_WORDS}))(?(open)\))",
    re.I,
)
_DECLARED = pattern_of(rf'(?:"unit":\s*"|\bin |\bunits?: ?)(?P<unit>{_ANY})(?!\w)', re.I)


def measured(text: str) -> Iterator[Measured]:
    """The numbers of a text of half width before units of measure, and units that it declares."""
    for pattern in (_MEASURED, _DECLARED):
        for match in pattern.finditer(text):
            unit = _UNITS[_key(match["unit"])] if match["unit"] else RATIO
            number = match["number"] if pattern is _MEASURED else None
            start = match.start("unit") if number is None else match.end("number")
            yield Measured(match.start(), start, match.end(), unit, number)


_ASKABLE = frozenset(("area", "length", "mass", "power", "energy", "volume"))


def measure_of(spelling: str) -> str | None:
    """The unit of area, length, mass, power, energy or volume with this spelling."""
    unit = _UNITS.get(fold_width(spelling).lower())
    return unit if unit is not None and kind_of(unit) in _ASKABLE else None


def measure_words(unit: str) -> str | None:
    """How a question writes such a unit: "tonnes", "MWh"."""
    kind = kind_of(unit)
    if kind not in _ASKABLE:
        return None
    return unit if unit[-1:].isdigit() or not unit.islower() else f"{unit}s"


def kind_of(unit: str) -> str:
    """The kind of a unit: area, mass, time, …"""
    return _KINDS.get(unit, unit)
