"""Prices of a period, and what is done with credits."""

import unittest
from datetime import date
from decimal import Decimal
from pathlib import Path

from ratebook.accounts import Account, Credit
from ratebook.invoices import invoice
from ratebook.periods import Period
from ratebook.placing import Usage
from ratebook.plans import read_plans
from ratebook.rating import rate

PLANS = read_plans(Path("config/plans.toml"))
JUNE = Period(date(2026, 6, 1), date(2026, 7, 1))


def account(*changes, credits=()):
    return Account(
        "T1", "Europe/Berlin", "EUR", 1, date(2026, 1, 1), Decimal("0.2"), changes, credits
    )


def used(meter, day, units):
    return Usage(meter, date(2026, 6, day), Decimal(units), False, False)


class Rating(unittest.TestCase):
    def test_allowance_then_tiers(self):
        owner = account((date(2026, 1, 1), "small"))
        rated = rate(owner, JUNE, [used("compute", 3, 60)], PLANS, {})
        self.assertEqual(rated.lines[1].amount, Decimal("29.60"))
        self.assertEqual(rated.rolled, {"transfer": Decimal(5)})

    def test_the_minimum_charge(self):
        owner = account((date(2026, 1, 1), "small"))
        rated = rate(owner, JUNE, [], PLANS, {})
        self.assertEqual([line.amount for line in rated.lines], [Decimal("9.00"), Decimal("3.00")])

    def test_days_without_a_plan_cost_nothing(self):
        owner = account((date(2026, 1, 1), "small"), (date(2026, 6, 16), "paused"))
        rated = rate(owner, JUNE, [used("compute", 20, 60)], PLANS, {})
        self.assertEqual(sum(line.amount for line in rated.lines), Decimal("6.00"))

    def test_a_credit_lowers_the_tax(self):
        credit = Credit("C", date(2026, 5, 1), date(2026, 6, 1), Decimal(2))
        owner = account((date(2026, 1, 1), "small"), credits=(credit,))
        balances = {}
        bill = invoice(owner, JUNE, rate(owner, JUNE, [], PLANS, {}).lines, balances)
        self.assertEqual((bill.net, bill.tax), (Decimal("10.00"), Decimal("2.00")))
        self.assertEqual(balances, {"C": Decimal(0)})
