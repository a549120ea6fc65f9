"""Clocks, slugs, retries."""

import unittest
from datetime import datetime
from pathlib import Path

from presswork.moments import moment, written
from presswork.settings import read_settings
from presswork.slugs import free, plain

SETTINGS = read_settings(Path())


class Parts(unittest.TestCase):
    def test_clocks(self):
        for section, shown, utc in (
            ("city", "2026-01-10T08:00", "2026-01-10T07:00Z"),
            ("city", "2026-06-10T08:00", "2026-06-10T06:00Z"),
            ("business", "2026-06-10T08:00", "2026-06-10T12:00Z"),
            ("islands", "2026-01-10T08:00", "2026-01-10T09:00Z"),
        ):
            zone = SETTINGS.zones[section]
            self.assertEqual(written(zone.moment(datetime.fromisoformat(shown))), utc)
            self.assertEqual(zone.shown(moment(utc)), datetime.fromisoformat(shown))

    def test_moments(self):
        self.assertEqual(written(moment("2026-01-10T08:00Z")), "2026-01-10T08:00Z")

    def test_slugs(self):
        self.assertEqual(plain("  Où va l'été? "), "ou-va-l-ete")
        self.assertEqual(free("Snow!", {"snow", "snow-2"}), "snow-3")
        self.assertEqual(free("Snow!", {"rain"}), "snow")

    def test_channels(self):
        self.assertEqual([each.name for each in SETTINGS.carrying("islands")], ["wire", "letter"])
