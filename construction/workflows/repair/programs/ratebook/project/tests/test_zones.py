"""Local times."""

import unittest
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ratebook.zones import Zones

ZONES = Zones.read(Path("config/zones.ini"))


class Offsets(unittest.TestCase):
    def test_winter_and_summer(self):
        for zone, winter, summer in (("Europe/Berlin", 1, 2), ("America/Chicago", -6, -5)):
            self.assertEqual(
                ZONES.offset(zone, datetime(2026, 1, 15, tzinfo=UTC)), timedelta(hours=winter)
            )
            self.assertEqual(
                ZONES.offset(zone, datetime(2026, 7, 15, tzinfo=UTC)), timedelta(hours=summer)
            )

    def test_zones_of_a_continent_change_on_the_same_day(self):
        for zone, hour in (("America/New_York", 12), ("America/Chicago", 11)):
            moment = datetime(2026, 3, 9, 16, 30, tzinfo=UTC)
            self.assertEqual(ZONES.local(zone, moment).hour, hour)

    def test_a_zone_without_summer_time(self):
        self.assertEqual(ZONES.local("Asia/Tokyo", datetime(2026, 7, 1, 20, tzinfo=UTC)).day, 2)
