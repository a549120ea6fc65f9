"""What one closing leaves for the next: rolled-over units, and what is left of credits."""

import json
from dataclasses import dataclass, field
from decimal import Decimal


@dataclass
class Carry:
    """Of one account. `rolled`: units by meter; `credits`: amount left by number of the credit."""

    closed_until: str = ""
    rolled: dict = field(default_factory=dict)
    credits: dict = field(default_factory=dict)


def read_state(path):
    if not path.exists():
        return {}
    accounts = json.loads(path.read_text("utf-8"))
    return {
        name: Carry(
            entry["closed_until"],
            {meter: Decimal(units) for meter, units in entry["rolled"].items()},
            {number: Decimal(amount) for number, amount in entry["credits"].items()},
        )
        for name, entry in accounts.items()
    }


def write_state(path, state):
    path.parent.mkdir(parents=True, exist_ok=True)
    accounts = {
        name: {
            "closed_until": carry.closed_until,
            "rolled": {meter: str(units) for meter, units in sorted(carry.rolled.items())},
            "credits": {number: str(amount) for number, amount in sorted(carry.credits.items())},
        }
        for name, carry in sorted(state.items())
    }
    path.write_text(json.dumps(accounts, indent=1) + "\n", "utf-8")
