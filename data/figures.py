"""How figures are written for people: alike on pages, on cards and by commands.

Whole numbers have commas between thousands (12,345), others four digits that count (0.1235), shares
are in per cent with one decimal (12.3 %), and amounts have their unit (1 file, 2 files).
"""

from __future__ import annotations

import re

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def number(value: object) -> str:
    """A number as a person reads it, also one that was recorded as text; other values as text.

    Texts with a leading zero are no numbers but codes, and None is empty.
    """
    if isinstance(value, str) and NUMBER.fullmatch(value):
        whole = value.lstrip("-")
        if whole.isdigit() and (whole == "0" or not whole.startswith("0")):
            return f"{int(value):,}"
        if not whole.isdigit():
            return number(float(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{int(value):,}" if value.is_integer() and abs(value) < 1e15 else _digits(value)
    return "" if value is None else str(value)


def _digits(value: float) -> str:
    """Four digits that count; of numbers above 1,000 all digits before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent; empty where there is none."""
    return "" if share is None else f"{100 * share:.{digits}f} %"


def percent_range(low: float | None, high: float | None) -> str:
    """An interval of shares in per cent, `70.1 to 100.0 %`; empty where it has no bounds."""
    return "" if low is None or high is None else f"{100 * low:.1f} to {percent(high)}"


def plural(unit: str, n: int) -> str:
    """The name of a unit for `n` of them."""
    return unit if n == 1 or unit.endswith("s") else f"{unit}s"


def amount(n: int, unit: str) -> str:
    """A number with its unit: `1 file`, `2 files`."""
    return f"{n:,} {plural(unit, n)}"
