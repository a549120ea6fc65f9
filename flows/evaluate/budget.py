"""What a run and each of its attempts may spend: nothing begins that might exceed it.

Before a call of the model its worst case is set aside, and afterwards what it really took is
booked. A call waits while others are under way that may give something back; where nothing more
can come back, the attempt ends.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

from data.attempts import RUN_BUDGET_SPENT
from data.endpoints import ModelPrice, Tokens, read_prices
from data.errors import InputError

DEFAULT_REPLY_TOKENS = 4096  # the most of one reply, where a budget is given and nothing else is
DEFAULT_CALLS = 1000  # the most calls of tools that one attempt makes
MOST_TOKENS = 1 << 40  # more than any run can take
_MOST_DOLLARS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens of all kinds, and US dollars."""

    tokens: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.cost - other.cost)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None is without limit."""

    tokens: int | None = None
    cost: Decimal | None = None

    def holds(self, amount: Amount) -> bool:
        return (self.tokens is None or amount.tokens <= self.tokens) and (
            self.cost is None or amount.cost <= self.cost
        )

    def __bool__(self) -> bool:
        return self.tokens is not None or self.cost is not None


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run may spend, and what its model costs.

    `reply_tokens` is the most of one reply, None for whatever the model does; `calls` is the most
    calls of tools in one attempt. `price_date` is None without a price.
    """

    run: Budget = Budget()
    attempt: Budget = Budget()
    reply_tokens: int | None = None
    calls: int = DEFAULT_CALLS
    price: ModelPrice | None = None
    price_date: str | None = None

    def amount(self, tokens: Tokens) -> Amount:
        """What was used."""
        return Amount(tokens.total, self.price.cost(tokens) if self.price else Decimal(0))

    def most(self, tokens: Tokens) -> Amount:
        """What at most these tokens can take."""
        return Amount(tokens.total, self.price.most(tokens) if self.price else Decimal(0))


def spending_of(
    model: str | None,
    run: Budget,
    attempt: Budget,
    reply_tokens: int | None,
    prices: Path | None,
    calls: int | None = None,
) -> Spending:
    """What a run may spend. Raises InputError for a limit that cannot be kept."""
    if model is None and (run or attempt or reply_tokens or prices or calls):
        raise InputError(
            "evaluate", "a budget or prices", "none for an agent that uses no model",
            "Leave them out, or add a model.",
        )  # fmt: skip
    price_list = read_prices(prices) if prices is not None else None
    price = price_list.models.get(model or "") if price_list is not None else None
    in_dollars = run.cost is not None or attempt.cost is not None
    if price is None and (in_dollars or prices is not None):
        raise InputError(
            str(prices or "evaluate"), f"no price for {model}", "its price per million tokens",
            "Pass a file with its price: --prices FILE (see docs/run.md for an example).",
        )  # fmt: skip
    return Spending(
        run,
        attempt,
        reply_tokens or (DEFAULT_REPLY_TOKENS if run or attempt else None),
        calls or DEFAULT_CALLS,
        price,
        str(price_list.date) if price_list is not None else None,
    )


def dollars(text: str | None, option: str) -> Decimal | None:
    """An amount of money. Raises InputError."""
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not 0 < amount <= _MOST_DOLLARS:
        raise InputError(
            option,
            repr(text),
            f"US dollars above 0 and at most {_MOST_DOLLARS:,}, such as 2.50",
            "Correct it.",
        )
    return amount


class BudgetSpent(Exception):
    """The worst case of the next call does not fit; `whole_run` tells whose budget it is."""

    def __init__(self, *, whole_run: bool) -> None:
        super().__init__(RUN_BUDGET_SPENT if whole_run else "the budget of the attempt is spent")
        self.whole_run = whole_run


@dataclass
class Purse:
    """The budgets of a run that is under way. `spent` is what each attempt spent before."""

    spending: Spending
    spent: Mapping[str, Amount]
    _of: dict[str, Amount] = field(init=False)
    _total: Amount = field(init=False)
    _under_way: int = field(init=False, default=0)
    _changed: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._of = defaultdict(Amount, self.spent)
        self._total = sum(self.spent.values(), Amount())

    async def set_aside(self, attempt: str, worst: Amount) -> None:
        """Reserve the worst case of a call. Raises BudgetSpent."""
        if not self.spending.attempt.holds(self._of[attempt] + worst):
            raise BudgetSpent(whole_run=False)
        while not self.spending.run.holds(self._total + worst):
            if not self._under_way:
                raise BudgetSpent(whole_run=True)
            await self._changed.wait()
        self._under_way += 1
        self._book(attempt, worst)

    def settle(self, attempt: str, worst: Amount, used: Amount) -> None:
        """Book what a call took instead of its worst case."""
        self._under_way -= 1
        self._book(attempt, used - worst)
        self._changed.set()
        self._changed = asyncio.Event()

    def _book(self, attempt: str, amount: Amount) -> None:
        self._of[attempt] += amount
        self._total += amount
