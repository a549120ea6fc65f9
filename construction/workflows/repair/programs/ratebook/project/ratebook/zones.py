"""Local time of the zones in config/zones.ini; the system's zone data is not used."""

from configparser import ConfigParser
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Zone:
    name: str
    standard: timedelta  # offset in winter
    rule: str  # eu, us, or none


def _sunday(year, month, day):
    """Midnight UTC of the first Sunday on or after a day."""
    start = datetime(year, month, day, tzinfo=UTC)
    return start + timedelta(days=(6 - start.weekday()) % 7)


def _eu(zone, year):
    """All zones change at 01:00 UTC: last Sunday of March, last Sunday of October."""
    return _sunday(year, 3, 25) + HOUR, _sunday(year, 10, 25) + HOUR


def _us(zone, year):
    """Each zone changes at 02:00 of its own clock: second Sunday of March, first of November."""
    start = _sunday(year, 3, 8) + 2 * HOUR - zone.standard
    end = _sunday(year, 11, 1) + HOUR - zone.standard  # 02:00 of summer time
    return start, end


_RULES = {"eu": _eu, "us": _us}


class Zones:
    """Offsets by zone. Rating asks for one per event, so what is known is kept."""

    def __init__(self, zones):
        self._zones = {zone.name: zone for zone in zones}
        self._known = {}

    @classmethod
    def read(cls, path: Path):
        parser = ConfigParser()
        parser.read_string(path.read_text("utf-8"))
        zones = []
        for name in parser.sections():
            minutes = parser.getint(name, "standard_minutes")
            rule = parser.get(name, "summer", fallback="none")
            zones.append(Zone(name, timedelta(minutes=minutes), rule))
        return cls(zones)

    def __contains__(self, name):
        return name in self._zones

    def offset(self, name, instant):
        """The offset from UTC in a zone at an instant (which is in UTC)."""
        since = instant.replace(minute=0, second=0, microsecond=0)
        key = (name, since)
        if key not in self._known:
            self._known[key] = self._computed(self._zones[name], since)
        return self._known[key]

    def _computed(self, zone, instant):
        if zone.rule not in _RULES:
            return zone.standard
        start, end = _RULES[zone.rule](zone, instant.year)
        return zone.standard + (HOUR if start <= instant < end else timedelta(0))

    def local(self, name, instant):
        """What clocks in a zone show at an instant, as a naive datetime."""
        return (instant + self.offset(name, instant)).replace(tzinfo=None)
