"""Rounding, writing and sharing of amounts."""

import unittest
from decimal import Decimal

from ratebook.money import quantity, rounded, shared


class Money(unittest.TestCase):
    def test_amounts_are_rounded_to_the_unit_of_the_currency(self):
        self.assertEqual(rounded(Decimal("12.346"), "EUR"), Decimal("12.35"))
        self.assertEqual(rounded(Decimal("12.344"), "USD"), Decimal("12.34"))
        self.assertEqual(rounded(Decimal("1812.7"), "JPY"), Decimal("1813"))

    def test_quantities_have_no_trailing_zeros(self):
        self.assertEqual(quantity(Decimal("4.500")), "4.5")
        self.assertEqual(quantity(Decimal("40")), "40")

    def test_parts_add_up_to_the_whole(self):
        parts = shared(Decimal("1.00"), [Decimal(1)] * 3, "EUR")
        self.assertEqual(sum(parts), Decimal("1.00"))
        self.assertEqual(parts, [Decimal("0.34"), Decimal("0.33"), Decimal("0.33")])
