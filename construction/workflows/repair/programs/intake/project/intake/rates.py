"""Exchange rates of data/rates.csv: units of the home currency for one unit."""

import csv
from bisect import bisect_right
from decimal import ROUND_HALF_UP, Decimal


class NoRate(Exception):
    pass


class Rates:
    """Rates are fixed on working days; between them the last one holds."""

    def __init__(self, home, rows):
        self._home = home
        self._days, self._rates = {}, {}
        for row in sorted(rows, key=lambda row: row["day"]):
            self._days.setdefault(row["currency"], []).append(row["day"])
            self._rates.setdefault(row["currency"], []).append(Decimal(row["rate"]))

    @classmethod
    def read(cls, path, home):
        with path.open(newline="", encoding="utf-8") as file:
            return cls(home, list(csv.DictReader(file)))

    def rate(self, currency, day):
        """Raises NoRate where there is none up to that day."""
        if currency == self._home:
            return Decimal(1)
        position = bisect_right(self._days.get(currency, []), day)
        if not position:
            raise NoRate(f"{currency} {day}")
        return self._rates[currency][position - 1]

    def home_cents(self, cents, currency, day):
        amount = Decimal(cents) * self.rate(currency, day)
        return int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP))
