"""Periods as the tools write and understand them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construction.statements.periods.query import Basis, PeriodQuery

_WHOLE_YEAR = "FY"


def fiscal_text(period: Mapping[str, Any] | None) -> str | None:
    """FY2024, FY2024-H1, FY2024-Q1 or FY2024-9M from `fiscal_year` and `fiscal_period`."""
    if period is None or period["fiscal_year"] is None:
        return None
    part = period["fiscal_period"]
    tail = "" if part in (None, _WHOLE_YEAR) else f"-{part}"
    return f"FY{period['fiscal_year']}{tail}"


def understood(query: PeriodQuery, default: Basis) -> str:
    """How a period was read: its basis, year and part, and the day or month of its end."""
    told = []
    part = None if query.part == _WHOLE_YEAR else query.part
    if query.year is not None:
        words = (str(query.basis or default), "year", str(query.year), part)
        told.append(" ".join(word for word in words if word))
    elif part is not None:
        told.append(f"{part} of every {query.basis or default} year")
    if query.end is not None:
        told.append(f"ending {query.end.isoformat()}")
    if query.end_month is not None:
        told.append(f"ending in {query.end_month}")
    return ", ".join(told)
