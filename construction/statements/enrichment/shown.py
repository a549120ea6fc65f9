"""Values as a statement prints them."""

from __future__ import annotations

from decimal import Decimal, localcontext

from construction.statements.questions.amounts import currency_words, number_of, trimmed

_SCALES = {0: "", 3: "thousand", 6: "million"}
_DASH = "—"
MAX_PLACES = 4


def shown(value: str | None, unit: str, exponent: int, *, negated: bool) -> str:
    """Scaled, in groups of three, negative ones in brackets, zero as a dash; "" for no value."""
    number = number_of(value) if value is not None else None
    if number is None:
        return ""
    if not number:
        return _DASH
    with localcontext(prec=100):
        scaled = trimmed(number.scaleb(-exponent if is_scaled(unit) else 0))
        scaled = -scaled if negated else scaled
        text = _grouped(abs(scaled), unit)
    return f"({text})" if scaled < 0 else text


def is_scaled(unit: str) -> bool:
    """Whether amounts of the unit are printed in thousands or millions."""
    return not unit.endswith("/share") and unit not in ("ratio", "count")


def unit_line(unit: str, exponent: int) -> str:
    """The line under a title: "in millions of US dollars"."""
    if not is_scaled(unit):
        code = unit.removesuffix("/share")
        return unit if code == unit else f"in {currency_words(code) or code} per share"
    words = "shares" if unit == "shares" else currency_words(unit) or unit
    scale = _SCALES[exponent]
    return f"in {scale}s of {words}" if scale else f"in {words}"


def _grouped(number: Decimal, unit: str) -> str:
    exponent = number.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    least = 2 if unit.endswith("/share") else 0
    return f"{number:,.{min(max(places, least), MAX_PLACES)}f}"
