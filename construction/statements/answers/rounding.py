"""How values are rounded. Imports the standard library alone: exported solvers take it along."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal


def rounded(amount: Decimal, quantum: Decimal) -> Decimal:
    """Half up on the magnitude, to a multiple of the power of ten `quantum`."""
    return (amount / quantum).quantize(Decimal(1), rounding=ROUND_HALF_UP) * quantum
