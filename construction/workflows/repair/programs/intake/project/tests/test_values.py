"""Numbers, days and articles of suppliers."""

import unittest
from decimal import Decimal
from pathlib import Path

from intake import values
from intake.rates import NoRate, Rates
from intake.settings import read_settings

SETTINGS = read_settings(Path())
ALDANE, BRUGNOLI, CORVANE = (
    SETTINGS.suppliers[name] for name in ("aldane", "brugnoli", "corvane")
)


class Values(unittest.TestCase):
    def test_numbers_have_the_decimal_sign_of_the_supplier(self):
        self.assertEqual(values.number("1,234.5", ALDANE), Decimal("1234.5"))
        self.assertEqual(values.number("1.234,5", BRUGNOLI), Decimal("1234.5"))
        self.assertEqual(values.number("12", BRUGNOLI), Decimal(12))

    def test_what_is_no_number_is_refused(self):
        with self.assertRaisesRegex(values.BadValue, "no number: n/a"):
            values.number("n/a", ALDANE)

    def test_units_are_those_of_the_supplier(self):
        self.assertEqual(values.grams("2", "Tonne", BRUGNOLI), 2_000_000)
        self.assertEqual(values.grams("100", "lbs", CORVANE), 45_359)
        with self.assertRaisesRegex(values.BadValue, "unknown unit: bag"):
            values.grams("2", "bag", ALDANE)

    def test_days(self):
        self.assertEqual(values.day("07.03.2026", BRUGNOLI), "2026-03-07")

    def test_a_moment_needs_an_offset(self):
        self.assertLess(values.stamp("2026-03-01T10:00:00Z"), values.stamp("2026-03-02T10:00:00Z"))
        with self.assertRaisesRegex(values.BadValue, "time without offset"):
            values.stamp("2026-03-01T10:00:00")

    def test_names_of_articles(self):
        self.assertEqual(values.article("weizenmehl 550", BRUGNOLI, SETTINGS), "ART-1001")
        with self.assertRaisesRegex(values.BadValue, "unknown article: cocoa"):
            values.article("cocoa", BRUGNOLI, SETTINGS)


class Exchange(unittest.TestCase):
    def test_the_last_rate_holds(self):
        rows = [{"day": "2026-01-02", "currency": "CHF", "rate": "1.05"}]
        rates = Rates("EUR", rows)
        self.assertEqual(rates.home_cents(1000, "CHF", "2026-01-04"), 1050)
        self.assertEqual(rates.home_cents(1000, "EUR", "2026-01-04"), 1000)
        with self.assertRaises(NoRate):
            rates.rate("CHF", "2026-01-01")
