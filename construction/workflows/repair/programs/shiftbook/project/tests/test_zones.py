"""Clocks at the sites, weeks and premiums."""

import unittest
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from shiftbook import premiums
from shiftbook.settings import read_settings
from shiftbook.shifts import Shift
from shiftbook.stretches import Stretch
from shiftbook.weeks import Week, weeks

SETTINGS = read_settings(Path())


def shift(site, start, end):
    zone = SETTINGS.sites[site].zone
    start, end = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (start, end))
    return Shift((Stretch(start.astimezone(zone), end.astimezone(zone)),))


class Clocks(unittest.TestCase):
    def test_summer_and_winter(self):
        for site, month, hour in (("norrby", 1, 13), ("norrby", 7, 14), ("chicago", 7, 7)):
            moment = datetime(2026, month, 5, 12, tzinfo=UTC).astimezone(SETTINGS.sites[site].zone)
            self.assertEqual(moment.hour, hour)

    def test_a_clock_that_is_turned_back_shows_an_hour_twice(self):
        zone = SETTINGS.sites["lisbon"].zone
        first, second = (datetime(2026, 10, 25, n, 30, tzinfo=UTC).astimezone(zone) for n in (0, 1))
        self.assertEqual((first.hour, first.fold, second.hour, second.fold), (1, 0, 1, 1))

    def test_the_day_of_a_shift(self):
        self.assertEqual(shift("chicago", "2026-02-03T03:00", "2026-02-03T09:00").day, date(2026, 2, 2))

    def test_weeks(self):
        made = list(weeks(Week(2026, 7), Week(2026, 9)))
        self.assertEqual([str(week) for week in made], ["2026-W07", "2026-W08", "2026-W09"])

    def test_night_work(self):
        late = shift("norrby", "2026-02-03T20:00", "2026-02-04T04:00")
        night = premiums.night(late, SETTINGS.sites["norrby"], SETTINGS.night)
        self.assertEqual(night, timedelta(hours=6))

    def test_holiday_work(self):
        late = shift("lisbon", "2026-01-01T22:00", "2026-01-02T04:00")
        self.assertEqual(premiums.holiday(late, SETTINGS.sites["lisbon"]), timedelta(hours=2))
