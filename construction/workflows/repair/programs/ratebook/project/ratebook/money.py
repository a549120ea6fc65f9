"""Amounts: decimals, rounded once and half up, in the units of their currency."""

from decimal import ROUND_HALF_UP, Decimal

_EXPONENTS = {"EUR": Decimal("0.01"), "USD": Decimal("0.01"), "JPY": Decimal("1")}
ZERO = Decimal(0)


def unit(currency):
    """The smallest amount of a currency."""
    return _EXPONENTS[currency]


def rounded(amount, currency):
    return amount.quantize(unit(currency), rounding=ROUND_HALF_UP)


def quantity(value):
    """A quantity as it is written: at most three decimals, no trailing zeros."""
    text = f"{value.quantize(Decimal('0.001'), rounding=ROUND_HALF_UP):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shared(total, weights, currency):
    """Split a rounded total by weights so that the parts add up to it.

    Parts are rounded down; what is left goes, a unit each, to the largest remainders. Parts that
    have the same remainder are served in their order.
    """
    whole = sum(weights)
    if not whole:
        return [ZERO for _ in weights]
    step = unit(currency)
    exact = [total * weight / whole for weight in weights]
    parts = [value // step * step for value in exact]
    missing = int((total - sum(parts)) / step)
    order = sorted(range(len(parts)), key=lambda n: parts[n] - exact[n])
    for number in order[:missing]:
        parts[number] += step
    return parts
