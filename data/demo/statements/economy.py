"""The accounts of a fictional company: quarters whose three statements agree to the unit.

All amounts are whole numbers in the company's reporting unit (1, thousands or millions), so that
sums hold exactly. Balance sheet and cash flow follow from the income statement by double entry:
assets equal liabilities and equity after every quarter, and cash moves by the three cash flows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

QUARTERS = 4
_SEASONS = (0.92, 0.98, 1.01, 1.09)
Amounts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Quarter:
    """Flows of one quarter and stocks at its end."""

    flows: Amounts
    stocks: Amounts
    segments: Sequence[int]
    regions: Sequence[int]


@dataclass(frozen=True, slots=True)
class Traits:
    """What distinguishes companies: shares of revenue."""

    revenue: int
    growth: float
    cost: float
    research: float
    selling: float
    tax: float
    minority: float
    segments: Sequence[float]
    regions: Sequence[float]


def run_books(
    rng: np.random.Generator, traits: Traits, years: int
) -> tuple[Amounts, list[Quarter]]:
    """Opening stocks and `years` × 4 quarters."""
    stocks = _opening(traits.revenue)
    opening, quarters = closed(stocks), []
    for number in range(years * QUARTERS):
        trend = (1 + traits.growth) ** (number / QUARTERS)
        season = _SEASONS[number % QUARTERS] * (1 + rng.uniform(-0.03, 0.03))
        revenue = max(40, round(traits.revenue / QUARTERS * trend * season))
        flows = _income(rng, traits, revenue, stocks)
        flows |= _cash_flow(rng, flows, stocks)
        stocks = _posted(stocks, flows)
        quarter = Quarter(
            flows,
            closed(stocks),
            split(revenue, traits.segments),
            split(revenue, traits.regions),
        )
        quarters.append(quarter)
    return opening, quarters


def split(total: int, shares: Sequence[float]) -> list[int]:
    """Whole parts of `total` by `shares`; the last gets the rounding difference."""
    parts = [int(total * share) for share in shares[:-1]]
    return [*parts, total - sum(parts)]


def _opening(revenue: int) -> dict[str, int]:
    part = {
        "cash": 0.22,
        "investments": 0.09,
        "receivables": 0.15,
        "inventory": 0.12,
        "other_current": 0.03,
        "plant_gross": 0.62,
        "plant_depreciation": 0.24,
        "goodwill": 0.11,
        "other_assets": 0.05,
        "payables": 0.10,
        "accrued": 0.07,
        "short_debt": 0.04,
        "long_debt": 0.26,
        "other_liabilities": 0.06,
        "common": 0.02,
        "paid_in": 0.21,
        "treasury": 0.05,
        "other_comprehensive": 0.01,
        "minority": 0.02,
    }
    stocks = {name: max(2, round(revenue * share)) for name, share in part.items()}
    assets = closed(stocks | {"retained": 0})["assets"]
    other = closed(stocks | {"retained": 0})["liabilities_and_equity"]
    return stocks | {"retained": assets - other}


def _income(
    rng: np.random.Generator, traits: Traits, revenue: int, stocks: Amounts
) -> dict[str, int]:
    def drawn(share: float) -> int:
        return round(revenue * share * (1 + rng.uniform(-0.05, 0.05)))

    services = round(revenue * rng.uniform(0.18, 0.26))
    cost, research, selling = drawn(traits.cost), drawn(traits.research), drawn(traits.selling)
    gross = revenue - cost
    operating = gross - research - selling
    interest = max(1, round((stocks["short_debt"] + stocks["long_debt"]) * 0.011))
    other_income = max(1, round((stocks["cash"] + stocks["investments"]) * 0.004))
    pretax = operating + other_income - interest
    tax = round(max(pretax, 0) * traits.tax)
    net = pretax - tax
    minority = round(net * traits.minority)
    return {
        "products": revenue - services,
        "services": services,
        "revenue": revenue,
        "cost": cost,
        "gross": gross,
        "research": research,
        "selling": selling,
        "expenses": research + selling,
        "operating": operating,
        "interest": interest,
        "other_income": other_income,
        "pretax": pretax,
        "tax": tax,
        "net": net,
        "net_minority": minority,
        "net_parent": net - minority,
    }


def _cash_flow(rng: np.random.Generator, income: Amounts, stocks: Amounts) -> dict[str, int]:
    revenue = income["revenue"]

    def drawn(low: float, high: float) -> int:
        return round(revenue * rng.uniform(low, high))

    flows = {
        "depreciation": drawn(0.035, 0.045),
        "stock_pay": drawn(0.006, 0.012),
        "d_receivables": drawn(-0.02, 0.03),
        "d_inventory": drawn(-0.02, 0.03),
        "d_payables": drawn(-0.01, 0.02),
        "d_accrued": drawn(-0.01, 0.02),
        "capex": drawn(0.07, 0.1),
        "bought": drawn(0.004, 0.012),
        "borrowed": drawn(0.01, 0.04),
        "repaid": min(stocks["long_debt"], drawn(0.01, 0.03)),
        "dividends": max(1, round(max(income["net_parent"], 0) * 0.45)),
        "buybacks": drawn(0.01, 0.03),
        "fx": drawn(-0.004, 0.004),
    }
    working = flows["d_payables"] + flows["d_accrued"]
    working -= flows["d_receivables"] + flows["d_inventory"]
    cfo = income["net"] + flows["depreciation"] + flows["stock_pay"] + working
    cfi = -flows["capex"] - flows["bought"]
    cff = flows["borrowed"] - flows["repaid"] - flows["dividends"] - flows["buybacks"]
    return flows | {"cfo": cfo, "cfi": cfi, "cff": cff, "change": cfo + cfi + cff + flows["fx"]}


def _posted(stocks: Amounts, flows: Amounts) -> dict[str, int]:
    moves = {
        "cash": flows["change"],
        "investments": flows["bought"],
        "receivables": flows["d_receivables"],
        "inventory": flows["d_inventory"],
        "plant_gross": flows["capex"],
        "plant_depreciation": flows["depreciation"],
        "payables": flows["d_payables"],
        "accrued": flows["d_accrued"],
        "long_debt": flows["borrowed"] - flows["repaid"],
        "paid_in": flows["stock_pay"],
        "treasury": flows["buybacks"],
        "retained": flows["net_parent"] - flows["dividends"],
        "other_comprehensive": flows["fx"],
        "minority": flows["net_minority"],
    }
    return {name: amount + moves.get(name, 0) for name, amount in stocks.items()}


def closed(stocks: Amounts) -> dict[str, int]:
    """The stocks with their subtotals and totals."""
    at = stocks
    current = sum(
        at[name] for name in ("cash", "investments", "receivables", "inventory", "other_current")
    )
    plant = at["plant_gross"] - at["plant_depreciation"]
    short = at["payables"] + at["accrued"] + at["short_debt"]
    liabilities = short + at["long_debt"] + at["other_liabilities"]
    holders = at["common"] + at["paid_in"] + at["retained"] - at["treasury"]
    parent = holders + at["other_comprehensive"]
    equity = parent + at["minority"]
    return dict(at) | {
        "current_assets": current,
        "plant_net": plant,
        "fixed_assets": plant + at["goodwill"] + at["other_assets"],
        "assets": current + plant + at["goodwill"] + at["other_assets"],
        "current_liabilities": short,
        "fixed_liabilities": at["long_debt"] + at["other_liabilities"],
        "liabilities": liabilities,
        "holders": holders,
        "parent_equity": parent,
        "equity": equity,
        "liabilities_and_equity": liabilities + equity,
    }
