"""Billing periods."""

import unittest
from datetime import date

from ratebook.periods import days_between, first_period, periods


class Periods(unittest.TestCase):
    def test_the_first_period_is_short(self):
        first = first_period(date(2026, 1, 20), 5)
        self.assertEqual((first.start, first.end), (date(2026, 1, 20), date(2026, 2, 5)))

    def test_a_cycle_day_that_a_month_lacks_is_its_last(self):
        self.assertEqual(first_period(date(2026, 2, 3), 31).end, date(2026, 2, 28))

    def test_periods_follow_each_other(self):
        made = list(periods(date(2025, 11, 15), 15, date(2026, 2, 20)))
        self.assertEqual([each.end.month for each in made], [12, 1, 2])
        self.assertEqual([each.days for each in made], [30, 31, 31])

    def test_days_between(self):
        self.assertEqual(len(list(days_between(date(2026, 2, 1), date(2026, 3, 1)))), 28)
