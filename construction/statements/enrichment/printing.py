"""How statements print values and the units of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import localcontext

from construction.statements.questions.amounts import (
    currency_words,
    is_multiple,
    number_of,
    trimmed,
)

_SCALES = {0: "", 3: "thousands", 6: "millions"}
_DASH = "—"
MAX_PLACES = 4


def shown(value: str | None, unit: str, exponent: int, *, negated: bool, label: str = "") -> str:
    """Scaled, in groups of three, negatives in brackets, zero as a dash; "" without a value.

    Ratios are in percent, unless their label names a multiple.
    """
    number = number_of(value) if value is not None else None
    if number is None:
        return ""
    if not number:
        return _DASH
    is_percent = unit == "ratio" and not is_multiple(label)
    with localcontext(prec=100):
        power = 2 if is_percent else -exponent if is_scaled(unit) else 0
        scaled = trimmed(number.scaleb(power))
        scaled = -scaled if negated else scaled
        places = max(0, -int(scaled.as_tuple().exponent))
        least = 2 if unit.endswith("/share") else 0
        text = f"{abs(scaled):,.{min(max(places, least), MAX_PLACES)}f}"
    text = f"{text}%" if is_percent else text
    return f"({text})" if scaled < 0 else text


def is_scaled(unit: str) -> bool:
    """Whether amounts of the unit are printed in thousands or millions."""
    return not unit.endswith("/share") and unit not in ("ratio", "count")


def unit_line(units: Sequence[str], exponents: Mapping[str, int]) -> str:
    """The line under a title that states the units of all rows, the commonest currency first.

    "in millions of US dollars, per-share amounts in US dollars, shares in thousands".
    """
    counts = Counter(units)
    ordered = sorted(counts, key=lambda unit: (-counts[unit], unit))
    money = [unit for unit in ordered if is_scaled(unit) and unit != "shares"]
    parts = [_amounts(unit, exponents.get(unit, 0)) for unit in money]
    for unit in ordered:
        code = unit.removesuffix("/share")
        if code != unit:
            words = currency_words(code) or code
            parts.append(f"per-share amounts in {words}" if parts else f"in {words} per share")
    if "shares" in counts:
        scale = _SCALES[exponents.get("shares", 0)]
        parts.append(f"shares in {scale}" if scale else "numbers of shares")
    parts += ["ratios in percent"] if "ratio" in counts else []
    return ", ".join(parts) or "numbers"


def _amounts(unit: str, exponent: int) -> str:
    words, scale = currency_words(unit) or unit, _SCALES[exponent]
    return f"in {scale} of {words}" if scale else f"in {words}"
