"""Pairing, shifts and work."""

import unittest
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shiftbook.punches import Punch
from shiftbook.settings import read_settings
from shiftbook.shifts import rounded, shifts, work
from shiftbook.stretches import paired

SETTINGS = read_settings(Path())
ZONE = SETTINGS.sites["norrby"].zone


def punches(*entries):
    return [
        Punch(str(n), "P", kind, datetime(2026, 2, 10, *at, tzinfo=UTC), datetime(2026, 2, 11, tzinfo=UTC))
        for n, (kind, *at) in enumerate(entries)
    ]


def made(*entries):
    stretches, _ = paired(punches(*entries), ZONE, SETTINGS.open_after)
    return shifts(stretches, SETTINGS.same_shift, SETTINGS.break_from)


class Shifts(unittest.TestCase):
    def worked(self, *entries):
        return [work(each, SETTINGS.breaks, SETTINGS.quarter) for each in made(*entries)]

    def test_a_day_with_lunch(self):
        day = [("in", 7, 0), ("out", 11, 0), ("in", 11, 45), ("out", 15, 45)]
        self.assertEqual(self.worked(*day), [timedelta(hours=8)])

    def test_a_missing_break_is_deducted(self):
        self.assertEqual(self.worked(("in", 7, 0), ("out", 15, 0)), [timedelta(hours=7.5)])

    def test_nobody_falls_below_the_limit(self):
        self.assertEqual(self.worked(("in", 7, 0), ("out", 13, 10)), [timedelta(hours=6)])

    def test_short_gaps_are_paid(self):
        day = [("in", 7, 0), ("out", 9, 0), ("in", 9, 10), ("out", 11, 0)]
        self.assertEqual(self.worked(*day), [timedelta(hours=4)])

    def test_two_shifts_on_a_day(self):
        day = [("in", 5, 0), ("out", 9, 0), ("in", 14, 0), ("out", 18, 0)]
        self.assertEqual(self.worked(*day), [timedelta(hours=4)] * 2)

    def test_repeated_punches(self):
        day = [("in", 7, 0), ("in", 7, 1), ("out", 11, 0), ("out", 11, 2)]
        self.assertEqual(made(*day)[0].present, timedelta(hours=4, minutes=2))

    def test_an_open_punch(self):
        stretches, lonely = paired(punches(("in", 7, 0)), ZONE, SETTINGS.open_after)
        self.assertEqual((stretches, len(lonely)), ([], 1))

    def test_quarters(self):
        quarter = timedelta(minutes=15)
        for minutes, wanted in ((127, 120), (128, 135), (130, 135)):
            self.assertEqual(rounded(timedelta(minutes=minutes), quarter), timedelta(minutes=wanted))
