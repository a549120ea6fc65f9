"""Numbers in text: grouped digits, exponents, scale words, English and Chinese numerals.

The text is expected in NFKC form. Every pattern runs in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from data.text.numerals import (
    BIG,
    ENGLISH_RUN,
    NUMERAL,
    SMALL,
    assemble,
    chinese_tokens,
    english_value,
    last_place,
)

MAX_DIGITS = 40
MAX_EXPONENT = 30
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
_TOKEN = re.compile(f"(?P<digits>{LITERAL})|(?P<han>[{NUMERAL}]+)|(?P<words>{ENGLISH_RUN})", re.I)
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
        scale = assemble(chinese_tokens(han[1]))
        if scale is not None:
            return scale[0], han.end()
    product, end = Decimal(1), position
    while match := _SCALE.match(text, end):
        power = int((match.lastgroup or "p0")[1:])
        product, end = product.scaleb(power), match.end()
        if product > Decimal(10) ** MAX_EXPONENT:
            return None
    return (product, end) if end > position else None


def _read(text: str, token: re.Match[str]) -> Number | None:
    if token["digits"] is not None:
        return _from_digits(text, token)
    if token["words"] is not None:
        return _from_words(token)
    tokens = chinese_tokens(token["han"]) if len(token["han"]) <= MAX_DIGITS else []
    if not any(isinstance(part, Decimal) for part in tokens) and token["han"][:1] not in "十拾":
        return None
    assembled = assemble(tokens)
    if assembled is None:
        return None
    scaled = any(isinstance(part, str) for part in tokens)
    return Number(token.start(), token.end(), assembled[0], assembled[1], scaled, digits=False)


def _from_words(token: re.Match[str]) -> Number | None:
    parsed = english_value(token["words"])
    if parsed is None:
        return None
    value, quantum, length, scaled = parsed
    return Number(token.start(), token.start() + length, value, quantum, scaled, digits=False)


def _from_digits(text: str, token: re.Match[str]) -> Number | None:
    value = literal_value(token["digits"])
    if value is None:
        return None
    end, quantum = token.end(), last_place(value)
    exponent = _EXPONENT.match(text, end)
    if exponent:
        power = int((exponent[1] or exponent[2]).replace("−", "-"))
        if abs(power) > MAX_EXPONENT:
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
        summed, quantum = total.value + value * last, last_place(value) * last
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
        assembled = assemble(tokens)
        if assembled is None:
            break
        best = (*assembled, position)
        tail = _LITERAL.match(text, position)
        if tail is None:
            break
        value = literal_value(tail[0])
        assembled = assemble([*tokens, value]) if value is not None else None
        if assembled is None or value is None:
            break
        tokens.append(value)
        position = tail.end()
        best = (*assembled, position)
    return best


def literal_value(literal: str) -> Decimal | None:
    """The value of one run of digits and separators; None if it is too long for an amount."""
    if len(literal) > 2 * MAX_DIGITS:
        return None
    spaced = re.sub("[ '’]", "", literal)
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
    return Decimal(plain) if sum(map(str.isdigit, plain)) <= MAX_DIGITS else None
