"""What a period costs before credits and tax."""

from dataclasses import dataclass, field
from decimal import Decimal

from ratebook.money import ZERO, rounded


@dataclass(frozen=True)
class Line:
    """A line of an invoice; `amount` is rounded."""

    item: str
    quantity: Decimal
    amount: Decimal


@dataclass
class Counter:
    """Of one meter in a period."""

    own: Decimal = ZERO  # units of the plans' allowances that are left
    rolled: Decimal = ZERO  # units of the period before that are left
    granted: Decimal = ZERO  # units of the plans' allowances, all
    charged: Decimal = ZERO  # units that were paid for

    def take(self, units):
        """Cover units by the allowance, then by what was rolled over; returns those to pay."""
        from_own = min(self.own, units)
        from_rolled = min(self.rolled, units - from_own)
        self.own -= from_own
        self.rolled -= from_rolled
        return units - from_own - from_rolled


@dataclass
class Rated:
    lines: list = field(default_factory=list)
    rolled: dict = field(default_factory=dict)  # units for the next period, by meter


def _counters(segments, period, plans, rolled):
    counters = {meter: Counter(rolled=units) for meter, units in rolled.items()}
    for segment in segments:
        share = Decimal(segment.days) / period.days
        for meter, terms in plans[segment.plan].meters.items():
            counter = counters.setdefault(meter, Counter())
            counter.own += terms.allowance * share
            counter.granted += terms.allowance * share
    return counters


def _usage_lines(account, segment, usages, plan, counters, period):
    """A line per meter with what is to be paid for in a segment."""
    units, costs = {}, {}
    for usage in usages:
        terms = plan.meters.get(usage.meter)
        if terms is None or not segment.start <= usage.day < segment.end:
            continue
        counted = usage.quantity * (terms.night_share if usage.is_night else 1)
        counter = counters[usage.meter]
        to_pay = counter.take(counted)
        cost = terms.price(counter.charged, to_pay)
        counter.charged += to_pay
        units[usage.meter] = units.get(usage.meter, ZERO) + counted
        costs[usage.meter] = costs.get(usage.meter, ZERO) + cost
    return [
        Line(f"{meter} {segment.plan}", units[meter], rounded(costs[meter], account.currency))
        for meter in sorted(units)
    ]


def _fee(account, segment, plan, period):
    share = Decimal(segment.days) / period.days
    amount = rounded(plan.fee * share, account.currency)
    return Line(f"fee {segment.plan}", Decimal(segment.days), amount)


def _top_up(account, segments, period, plans, lines):
    """The line that lifts a period to the minimum charge of its plans, if one is needed."""
    least = sum(
        (plans[part.plan].minimum * Decimal(part.days) / period.days for part in segments), ZERO
    )
    missing = rounded(least, account.currency) - sum((line.amount for line in lines), ZERO)
    return [Line("minimum", Decimal(1), missing)] if missing > 0 else []


def rate(account, period, usages, plans, rolled):
    """The lines of a period, and the units that it leaves to the next."""
    segments = account.segments(period)
    counters = _counters(segments, period, plans, rolled)
    lines = []
    for segment in segments:
        plan = plans[segment.plan]
        if plan.fee:
            lines.append(_fee(account, segment, plan, period))
        lines += _usage_lines(account, segment, usages, plan, counters, period)
    lines += _top_up(account, segments, period, plans, lines)
    unused = {meter: counter.own for meter, counter in sorted(counters.items())}
    return Rated(lines, {meter: units for meter, units in unused.items() if units > 0})
