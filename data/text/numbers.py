"""Numbers in text: grouped digits, exponents, scale words, English and Chinese numerals.

The text is expected in NFKC form. Every pattern runs in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

# Numerals that are words: Chinese and Japanese characters, English number words.
#
# Own code rather than `cn2an`, which was tried: it refuses 兆, 一点五亿, bare multipliers and the
# Japanese forms, gives binary floats where a figure is compared to its last digit, and does not say
# what that digit is worth. The readers are deterministic and linear in what they read.

_DIGITS = {
    char: value
    for value, chars in enumerate(
        (
            "〇零",
            "一壱壹",
            "二弐貳贰两兩",
            "三参參叁",
            "四肆",
            "五伍",
            "六陸陆",
            "七柒",
            "八捌",
            "九玖",
        )
    )
    for char in chars
}
_SMALL = {"十": 1, "拾": 1, "百": 2, "佰": 2, "千": 3, "仟": 3}
_BIG = {"万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12}
_POINT = "点點"
_NONE = 99  # no multiplier yet
SMALL, BIG = "".join(_SMALL), "".join(_BIG)
_NUMERAL = "".join(_DIGITS) + SMALL + BIG + _POINT
_INTEGER = re.compile(f"[{''.join(_DIGITS)}{SMALL}{BIG}]+")

_ONES = "zero one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {
    word: start + step * place
    for words, start, step in ((_ONES, 0, 1), (_TEENS, 10, 1), (_TENS, 20, 10))
    for place, word in enumerate(words.split())
}
# Of parts of a year; a year has no more.
ORDINALS = {
    word: number
    for number, words in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th"), start=1)
    for word in words.split()
}
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_ANY = "|".join([*sorted(NUMBER_WORDS, key=len, reverse=True), "hundred", "point", "and", *_SCALES])
_FIRST = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_ENGLISH_RUN = (
    rf"(?<![A-Za-z0-9])(?:{_FIRST})(?![A-Za-z])(?>(?:[ \-]{{1,2}}(?:{_ANY})s?(?![A-Za-z]))*)"
)
_WORD = re.compile("[a-z]+", re.I)
_MAX_RUN = 300
_MAX_INTEGER = 24  # characters of a numeral; longer ones are not amounts that people write
_PLAIN_DIGITS = "〇一二三四五六七八九"
ONE_TO_TEN = _PLAIN_DIGITS[1:] + "十"


def _chinese_tokens(run: str) -> list[Decimal | str]:
    """Digit runs as numbers (positional, with a fraction behind 点), multipliers as they are."""
    tokens: list[Decimal | str] = []
    digits, point = "", False
    for char in run:
        if char in _DIGITS:
            digits += str(_DIGITS[char])
        elif char in _POINT:
            digits, point = (digits or _take(tokens)) + ".", True
        else:
            tokens += [Decimal(digits.rstrip("."))] if digits.rstrip(".") else []
            tokens.append(char)
            digits, point = "", False
    if digits.rstrip("."):
        tokens.append(Decimal(digits.rstrip(".")))
    return [] if run[:1] in _POINT or (point and run[-1:] in _POINT) else tokens


def _take(tokens: list[Decimal | str]) -> str:
    """The whole part before a point that follows a multiplier (三十点五), taken off the list."""
    value = _assemble(tokens)
    tokens.clear()
    return f"{value[0]:f}" if value else "0"


def _assemble(tokens: list[Decimal | str]) -> tuple[Decimal, Decimal] | None:
    """Value and worth of the last place; None unless multipliers descend.

    Multipliers up to 千 add up within a group, those from 万 close it; two in a row
    multiply (万亿 = 10^12). A multiplier without number before it counts once.
    """
    total = _Sum()
    steps = all(
        total.number(token) if isinstance(token, Decimal) else total.multiplier(token)
        for token in tokens
    )
    return total.result() if steps and tokens else None


@dataclass(slots=True)
class _Sum:
    """What has been read of a numeral; each step says whether it is allowed there."""

    total: Decimal = Decimal(0)
    group: Decimal = Decimal(0)
    pending: Decimal | None = None
    quantum: Decimal = Decimal(1)
    last_small: int = _NONE
    last_big: int = _NONE
    after_big: bool = False

    def number(self, value: Decimal) -> bool:
        allowed = self.pending is None
        self.pending, self.quantum, self.after_big = value, _last_place(value), False
        return allowed

    def multiplier(self, token: str) -> bool:
        return self._small(_SMALL[token]) if token in _SMALL else self._big(_BIG[token])

    def _small(self, power: int) -> bool:
        allowed = power < self.last_small
        count = Decimal(1) if self.pending is None else self.pending
        self.group += count.scaleb(power)
        self.quantum = _last_place(count).scaleb(power)
        self.last_small, self.pending, self.after_big = power, None, False
        return allowed

    def _big(self, power: int) -> bool:
        if self.after_big:
            self.total, self.quantum = self.total.scaleb(power), self.quantum.scaleb(power)
            self.last_big += power
            return True
        allowed = power < self.last_big
        alone = self.pending is None and not self.group
        count = Decimal(1) if alone else self.group + (self.pending or 0)
        self.total += count.scaleb(power)
        self.quantum = self.quantum.scaleb(power)
        self.group, self.pending, self.last_small = Decimal(0), None, _NONE
        self.last_big, self.after_big = power, True
        return allowed

    def result(self) -> tuple[Decimal, Decimal] | None:
        rest = self.group + (self.pending or 0)
        fits = self.last_big == _NONE or rest < Decimal(1).scaleb(self.last_big)
        below = self.last_small == _NONE or (self.pending or 0) < Decimal(1).scaleb(self.last_small)
        return (self.total + rest, self.quantum) if fits and below else None


def _last_place(value: Decimal) -> Decimal:
    """What one of the last written digit is worth."""
    exponent = value.as_tuple().exponent
    return Decimal(1).scaleb(exponent) if isinstance(exponent, int) else Decimal(1)


def _english_value(run: str) -> tuple[Decimal, Decimal, int, bool] | None:
    """Value, last place, length used and whether a scale word ends it; None for no number."""
    words = list(_WORD.finditer(run)) if len(run) <= _MAX_RUN else []
    while words and words[-1][0].lower() in ("and", "point"):
        words.pop()
    total, group, decimals, quantum = Decimal(0), Decimal(0), "", Decimal(1)
    pointed = scaled = False
    for match in words:
        word = match[0].lower()
        word = word if word in NUMBER_WORDS else word.removesuffix("s")
        scaled = word in _SCALES
        if word == "point":
            pointed = True
        elif word == "hundred":
            group = max(group, Decimal(1)) * 100
        elif word in _SCALES:
            number = group + (Decimal(f"0.{decimals}") if decimals else 0)
            quantum = Decimal(1).scaleb(_SCALES[word] - len(decimals))
            total += number.scaleb(_SCALES[word])
            group, decimals, pointed = Decimal(0), "", False
        elif pointed and word in NUMBER_WORDS:
            decimals += str(NUMBER_WORDS[word])
        elif word in NUMBER_WORDS:
            group += NUMBER_WORDS[word]
    if not words:
        return None
    value = total + group + (Decimal(f"0.{decimals}") if decimals else 0)
    return value, quantum, words[-1].end(), scaled


def chinese_integer(written: str) -> int | None:
    """The value of a Chinese numeral (二〇二五, 一千二百, 三万五千); None if it is none.

    As in speech, a last digit without its unit counts in the next smaller one: 三千五 is 3,500,
    三千零五 is 3,005.
    """
    if not written or len(written) > _MAX_INTEGER or not _INTEGER.fullmatch(written):
        return None
    tokens = _chinese_tokens(written)
    last = tokens[-1]
    if isinstance(last, Decimal) and len(tokens) > 1 and written[-2] not in _DIGITS:
        power = _SMALL.get(written[-2]) or _BIG[written[-2]]
        tokens[-1] = last.scaleb(power - 1)
    result = _assemble(tokens)
    return None if result is None else int(result[0])


def ordinal_suffix(number: int) -> str:
    """What follows the digits of an ordinal: 1st, 2nd, 3rd, 11th, 93rd."""
    return "th" if number % 100 in (11, 12, 13) else _SUFFIXES.get(number % 10, "th")


def read_integer(written: str) -> int | None:
    """The value of digits, of one English number word or of a Chinese numeral; else None."""
    if written.isdecimal():
        return int(written)
    word = NUMBER_WORDS.get(written.lower())
    return chinese_integer(written) if word is None else word


def write_chinese(number: int) -> str:
    """A number from 1 to 99 in characters: 二十五."""
    tens, ones = divmod(number, 10)
    lead = "" if not tens else "十" if tens == 1 else _PLAIN_DIGITS[tens] + "十"
    return lead + (_PLAIN_DIGITS[ones] if ones else "")


def write_chinese_digits(number: int) -> str:
    """A number digit by digit, as years are written: 二〇二五."""
    return "".join(_PLAIN_DIGITS[int(digit)] for digit in str(number))


_MAX_DIGITS = 40
_MAX_EXPONENT = 30
_MAX_PARTS = 12

LITERAL = (
    r"(?<![0-9])(?:"
    r"[0-9]{1,3}(?>(?:,[0-9]{3})+)(?![0-9])(?:\.[0-9]++)?"
    r"|[0-9]{1,2}(?>(?:,[0-9]{2}(?![0-9]))+),[0-9]{3}(?![0-9])(?:\.[0-9]++)?"
    r"|[0-9]{1,3}(?>(?:\.[0-9]{3})+),[0-9]++"
    r"|[0-9]{1,3}(?>(?:\.[0-9]{3}){2,})(?![0-9])"
    r"|[0-9]{1,3}(?>(?: [0-9]{3})+)(?![0-9])(?:[.,][0-9]++)?"
    r"|[0-9]{1,3}(?>(?:['’][0-9]{3})+)(?![0-9])(?:[.,][0-9]++)?"
    r"|(?<![0-9][.,])[0-9]++,[0-9]++(?!,[0-9])"
    r"|[0-9]++(?:\.[0-9]++)?"
    r"|(?<![0-9A-Za-z.])\.[0-9]++)"
)
_LITERAL = re.compile(LITERAL)
_TOKEN = re.compile(f"(?P<digits>{LITERAL})|(?P<han>[{_NUMERAL}]+)|(?P<words>{_ENGLISH_RUN})", re.I)
_EXPONENT = re.compile(
    r"[eE]([+-]?[0-9]{1,3})(?![0-9A-Za-z])"
    r"|\s?[×xX*·]\s?10\s?\^\s?([+\-−]?[0-9]{1,3})(?![0-9])"
)
# Powers of ten and their words in English, Indian English, German, French, Spanish, Portuguese,
# Italian, Dutch, the Scandinavian languages, Polish, Czech, Turkish and Russian. "billion" is 10^9
# throughout, since few mean the long scale when they write to machines; its other forms are 10^12.
_SCALE_WORDS = {
    2: r"hundred(?=_(?:thousand|million|billion))",
    3: r"thousands? k tsd\.? tds\.? tausend mille mila migliaia milliers? duizend tusen tusind"
    r" tys\.? tis\.? tisíc тыс\.? miles(?=_(?:de|di)_)"
    r" mil(?=_(?:de_)?(?:mill|milh|euros?|reais|pesos|d[oó]lares|francos|personas|pessoas))",
    5: r"lakhs? lacs?",
    6: r"millions? mln\.? mio\.? mill\.? mn mm m millionen millones mill[oó]n milh(?:ão|ões)"
    r" milion[iey]? milione? mi(?=_(?:de_)?reais) miljoen miljon(?:er)? milj\.? millioner milyon"
    r" млн\.?",
    7: r"crores? cr\.?",
    9: r"billions? bln bn b mrds?\.? mds?\.? mld\.? mia\.? mlrd\.? milliarden? milliards?"
    r" milliarder miliard[iy]? miliardo miljard(?:er)? millardos? mil_millones"
    r" mil_milh(?:ão|ões) bilh(?:ão|ões) milyar млрд\.?",
    12: r"trillions? trn tn t(?!_?€) billionen bill[oó]n billones biljoen(?:en)? biljon(?:er)?"
    r" bili(?:ão|ões) bilioni трлн\.?",
}
_SCALE = re.compile(
    r"(?:(?:[ \-]?(?:de |di |d['’])?(?:"
    + "|".join(
        f"(?P<p{power}>{'|'.join(words.split()).replace('_', ' ')})"
        for power, words in sorted(_SCALE_WORDS.items(), key=lambda item: item[0] != 9)
    )
    + r")(?![A-Za-z0-9À-ɏЀ-ӿ]))"
    r"|(?P<q3>\s?'000s?|\s000s?)(?![0-9A-Za-z])"
    r"| ?(?:(?P<h4>만)|(?P<h6>백만)|(?P<h8>억)|(?P<h9>십억)|(?P<h12>조)))",
    re.I,
)
_HAN_SCALE = re.compile(f" ?([{SMALL}{BIG}]+)(?!分)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number at `start:end`, scale words included; `quantum` is the value of its last digit."""

    start: int
    end: int
    value: Decimal
    quantum: Decimal
    scaled: bool
    digits: bool = True

    def times(self, scale: Decimal, end: int) -> Number:
        """The same number multiplied by a scale that is written apart from it."""
        value, quantum = self.value * scale, self.quantum * scale
        return Number(self.start, end, value, quantum, True, self.digits)

    def in_thousands(self, power: int) -> Number:
        """The same digits with a separator read otherwise, which makes it 1,000^power as much."""
        return replace(
            self, value=self.value.scaleb(3 * power), quantum=self.quantum.scaleb(3 * power)
        )


def scan_numbers(text: str) -> Iterator[Number]:
    """All numbers of the text from left to right, whatever they mean."""
    position = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        number = _read(text, token)
        if number is not None:
            position = number.end
            yield number


def scale_at(text: str, position: int) -> tuple[Decimal, int] | None:
    """The product of the scale words at a position, and where they end."""
    han = _HAN_SCALE.match(text, position)
    if han and len(han[1]) <= _MAX_PARTS:
        scale = _assemble(_chinese_tokens(han[1]))
        if scale is not None:
            return scale[0], han.end()
    product, end = Decimal(1), position
    while match := _SCALE.match(text, end):
        power = int((match.lastgroup or "p0")[1:])
        product, end = product.scaleb(power), match.end()
        if product > Decimal(10) ** _MAX_EXPONENT:
            return None
    return (product, end) if end > position else None


def _read(text: str, token: re.Match[str]) -> Number | None:
    if token["digits"] is not None:
        return _from_digits(text, token)
    if token["words"] is not None:
        return _from_words(token)
    tokens = _chinese_tokens(token["han"]) if len(token["han"]) <= _MAX_DIGITS else []
    if not any(isinstance(part, Decimal) for part in tokens) and token["han"][:1] not in "十拾":
        return None
    assembled = _assemble(tokens)
    if assembled is None:
        return None
    scaled = any(isinstance(part, str) for part in tokens)
    return Number(token.start(), token.end(), assembled[0], assembled[1], scaled, digits=False)


def _from_words(token: re.Match[str]) -> Number | None:
    parsed = _english_value(token["words"])
    if parsed is None:
        return None
    value, quantum, length, scaled = parsed
    return Number(token.start(), token.start() + length, value, quantum, scaled, digits=False)


def _from_digits(text: str, token: re.Match[str]) -> Number | None:
    value = literal_value(token["digits"])
    if value is None:
        return None
    end, quantum = token.end(), _last_place(value)
    exponent = _EXPONENT.match(text, end)
    if exponent:
        power = int((exponent[1] or exponent[2]).replace("−", "-"))
        if abs(power) > _MAX_EXPONENT:
            return None
        number = Number(token.start(), end, value, quantum, False)
        return number.times(Decimal(1).scaleb(power), exponent.end())
    mixed = _mixed(text, end, value)
    if mixed is not None:
        total, quantum, end = mixed
        return Number(token.start(), end, total, quantum, True)
    number = Number(token.start(), end, value, quantum, False)
    return _english_scaled(text, number)


def _english_scaled(text: str, number: Number) -> Number:
    """`1 billion 234 million` adds up; each further part must have a smaller scale."""
    scale = scale_at(text, number.end)
    if scale is None:
        return number
    total, last = number.times(*scale), scale[0]
    for _ in range(_MAX_PARTS):
        part = (
            _LITERAL.match(text, total.end + 1) if text[total.end : total.end + 1] == " " else None
        )
        scale = scale_at(text, part.end()) if part else None
        value = literal_value(part[0]) if part else None
        if scale is None or value is None or value * scale[0] >= last:
            return total
        last = scale[0]
        summed, quantum = total.value + value * last, _last_place(value) * last
        total = Number(total.start, scale[1], summed, quantum, True)
    return total


def _mixed(text: str, position: int, first: Decimal) -> tuple[Decimal, Decimal, int] | None:
    """Digits with Chinese multipliers: 1億2,345万, 123億4千5百万, 4,567万8千."""
    tokens: list[Decimal | str] = [first]
    best: tuple[Decimal, Decimal, int] | None = None
    for _ in range(_MAX_PARTS):
        scale = _HAN_SCALE.match(text, position)
        if not scale or len(scale[1]) > _MAX_PARTS or (best and scale[0][0] == " "):
            break
        tokens += list(scale[1])
        position = scale.end()
        assembled = _assemble(tokens)
        if assembled is None:
            break
        best = (*assembled, position)
        tail = _LITERAL.match(text, position)
        if tail is None:
            break
        value = literal_value(tail[0])
        assembled = _assemble([*tokens, value]) if value is not None else None
        if assembled is None or value is None:
            break
        tokens.append(value)
        position = tail.end()
        best = (*assembled, position)
    return best


_SPACERS = str.maketrans("", "", " '’")


def literal_value(literal: str) -> Decimal | None:
    """The value of one run of digits and separators; None if it is too long for an amount."""
    if len(literal) > 2 * _MAX_DIGITS:
        return None
    spaced = literal.translate(_SPACERS)
    commas, points = spaced.count(","), spaced.count(".")
    if commas and points:
        group = "," if spaced.rindex(".") > spaced.rindex(",") else "."
        plain = spaced.replace(group, "").replace(",", ".")
    elif commas == 1 and (
        len(spaced) - spaced.index(",") != 4 or spaced != literal or spaced.startswith("0,")
    ):
        plain = spaced.replace(",", ".")
    else:
        plain = spaced.replace(",", "")
        plain = plain.replace(".", "") if points > 1 else plain
    return Decimal(plain) if sum(map(str.isdigit, plain)) <= _MAX_DIGITS else None
