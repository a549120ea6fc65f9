"""Plans of config/plans.toml: fees, allowances, tiers, minimum charges."""

import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path


@dataclass(frozen=True)
class Tier:
    """The price of a unit up to `upto` units of a period; the last tier has no end."""

    upto: Decimal | None
    price: Decimal


@dataclass(frozen=True)
class Meter:
    allowance: Decimal
    night_share: Decimal  # of a unit, that a unit used at night counts
    tiers: tuple

    def price(self, before, quantity):
        """What `quantity` units cost if `before` were charged in the period already."""
        cost, position, remaining = Decimal(0), before, quantity
        for tier in self.tiers:
            if not remaining:
                break
            room = remaining if tier.upto is None else max(tier.upto - position, Decimal(0))
            taken = min(room, remaining)
            cost += taken * tier.price
            position += taken
            remaining -= taken
        return cost


@dataclass(frozen=True)
class Plan:
    name: str
    fee: Decimal
    minimum: Decimal
    meters: dict


def _meter(table):
    tiers = tuple(
        Tier(Decimal(str(tier["upto"])) if "upto" in tier else None, Decimal(str(tier["price"])))
        for tier in table["tiers"]
    )
    allowance = Decimal(str(table.get("allowance", 0)))
    return Meter(allowance, Decimal(str(table.get("night_share", 1))), tiers)


def read_plans(path: Path):
    """Plans by name."""
    plans = {}
    for name, table in tomllib.loads(path.read_text("utf-8")).items():
        meters = {meter: _meter(rows) for meter, rows in table.get("meters", {}).items()}
        fee, minimum = Decimal(str(table["fee"])), Decimal(str(table.get("minimum", 0)))
        plans[name] = Plan(name, fee, minimum, meters)
    return plans
