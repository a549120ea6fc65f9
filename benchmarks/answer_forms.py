"""One value as answers write it: with units, in words, in Japanese and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from construction.grading.answers.lexicon import GoldAnswer

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (10**3, "thousand"))
_SCALES = {1: "", 1000: "thousand", 1_000_000: "million"}
_JAPANESE = {1: "", 1000: "千", 1_000_000: "百万"}
_HAN = ((10**12, "兆", "万亿"), (10**8, "億", "亿"), (10**4, "万", "万"))
# Per currency: before the number, behind it, in Japanese, in Chinese.
_MONEY = {
    "USD": ("$", "US dollars", "米ドル", "美元"),
    "JPY": ("¥", "yen", "円", "日元"),
    "EUR": ("€", "euros", "ユーロ", "欧元"),
}
_FOREIGN = {"JPY": "USD", "USD": "EUR", "EUR": "GBP"}


def cardinal(number: int) -> str:
    """A whole number from 0 in English words, without "and"."""
    if number < len(_ONES):
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_ONES[hundreds]} hundred" + (f" {cardinal(rest)}" if rest else "")
    size, name = next(group for group in _GROUPS if number >= group[0])
    count, rest = divmod(number, size)
    return f"{cardinal(count)} {name}" + (f" {cardinal(rest)}" if rest else "")


def in_words(number: Decimal) -> str:
    """A number from 0 in English words: 34.5 is thirty-four point five."""
    whole, _, tail = f"{number:f}".partition(".")
    digits = " ".join(_ONES[int(digit)] for digit in tail)
    return f"{cardinal(int(whole))} point {digits}" if digits else cardinal(int(whole))


def is_money(gold: GoldAnswer) -> bool:
    return len(gold.unit) == 3 and gold.unit.isupper()


def with_unit(gold: GoldAnswer, number: Decimal, scale: int, style: int, unit: str = "") -> str:
    """A number with scale and unit; `style` chooses between sign, code and name of a currency."""
    text = f"{abs(number):,f}"
    minus = "-" if number < 0 else ""
    if gold.unit in ("percent", "ratio", "shares", "count"):
        word = {"percent": "%", "ratio": "", "shares": " shares", "count": ""}[gold.unit]
        size = f" {_SCALES.get(scale, 'billion')}" if scale > 1 else ""
        return f"{minus}{text}{size}{word}"
    code, _, share = (unit or gold.unit).partition("/")
    scaled = f"{text} {_SCALES[scale]}".strip() if scale in _SCALES else f"{text} billion"
    tail = " per share" if share else ""
    sign, name = _MONEY.get(code, ("", code))[:2]
    forms = (f"{minus}{sign}{scaled}" if sign else f"{minus}{scaled} {code}",
             f"{minus}{scaled} {name}", f"{code} {minus}{scaled}")  # fmt: skip
    return forms[style % len(forms)] + tail


def in_base_units(gold: GoldAnswer, style: int) -> str:
    """The value in base units, with its unit where it has one."""
    return with_unit(gold, gold.value * gold.scale, 1, style)


def foreign(gold: GoldAnswer, style: int) -> str:
    """The value in another currency; empty for units that are no money."""
    code, _, share = gold.unit.partition("/")
    if len(code) != 3 or not code.isupper():
        return ""
    unit = _FOREIGN.get(code, "USD") + (f"/{share}" if share else "")
    return with_unit(gold, gold.value, int(gold.scale), style, unit)


def spelled(gold: GoldAnswer) -> str:
    """The value in English number words; empty where such words would be unusual."""
    code = gold.unit.partition("/")[0]
    if gold.scale == 1 or not is_money(gold):
        return f"{_minus(gold)}{in_words(abs(gold.value))} percent" if code == "percent" else ""
    name = _MONEY.get(code, ("", code))[1]
    if gold.decimals:
        return f"{_minus(gold)}{in_words(abs(gold.value))} {_SCALES[int(gold.scale)]} {name}"
    return f"{_minus(gold)}{cardinal(int(abs(gold.value * gold.scale)))} {name}"


def _minus(gold: GoldAnswer) -> str:
    return "minus " if gold.value < 0 else ""


def han(gold: GoldAnswer, style: int, *, chinese: bool) -> str:
    """The magnitude in Japanese or Chinese; empty for units that they are not used with here."""
    code, _, share = gold.unit.partition("/")
    if code in ("percent",):
        return f"{abs(gold.value):f}%"
    if code not in _MONEY:
        return ""
    word = _MONEY[code][3 if chinese else 2]
    if share:
        return f"{abs(gold.value):f}{word}"
    if style % 2 and not chinese:
        return (
            f"{abs(gold.value):,f}{ {1: '', 1000: '千', 1_000_000: '百万'}[int(gold.scale)] }{word}"
        )
    return _han_number(int(abs(gold.value * gold.scale)), chinese) + word


def _han_number(number: int, chinese: bool) -> str:
    """12,345,678,900 as 123億4567万8900."""
    parts = []
    for size, japanese_name, chinese_name in _HAN:
        count, number = divmod(number, size)
        if count:
            parts.append(f"{count}{chinese_name if chinese else japanese_name}")
    return "".join([*parts, str(number) if number or not parts else ""])


def forms_of(gold: GoldAnswer, style: int) -> Mapping[str, str]:
    """All forms by the names that the sentences use; empty where there is none."""
    scale, signed = int(gold.scale), gold.value
    quantum = Decimal(1).scaleb(-gold.decimals)
    first = (signed * Decimal("0.37")).quantize(quantum)
    minus = {True: ("△" if style % 3 else "マイナス", "负"), False: ("", "")}[signed < 0]
    japanese, mandarin = (han(gold, style, chinese=chinese) for chinese in (False, True))
    parts_differ = 0 not in (first, signed - first) and abs(2 * first - signed) > quantum
    return {
        "m": with_unit(gold, abs(signed), scale, style),
        "signed": with_unit(gold, signed, scale, style),
        "turned": with_unit(gold, -signed, scale, style),
        "base": in_base_units(gold, style) if is_money(gold) else "",
        "words": spelled(gold),
        "scaled": with_unit(gold, signed, {1: 1000, 1000: 10**6}.get(scale, 10**9), style),
        "foreign": foreign(gold, style),
        "bare": f"{signed * gold.scale:f}" if scale > 1 else "",
        "permille": f"{signed * 10:f}‰" if gold.unit == "percent" else "",
        "digits_permille": f"{signed:f}‰" if gold.unit == "percent" else "",
        "a": with_unit(gold, first, scale, style) if parts_differ else "",
        "b": with_unit(gold, signed - first, scale, style) if parts_differ else "",
        "ja": japanese,
        "zh": mandarin,
        "ja_signed": minus[0] + japanese if japanese else "",
        "zh_signed": minus[1] + mandarin if mandarin else "",
    }
