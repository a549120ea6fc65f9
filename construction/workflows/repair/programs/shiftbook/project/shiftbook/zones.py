"""Clocks at the sites, from config/sites.ini; the system's zone data is not used."""

from datetime import UTC, datetime, timedelta, tzinfo

HOUR = timedelta(hours=1)
ZERO = timedelta(0)


def _sunday(year, month, day):
    """Midnight of the first Sunday on or after a day."""
    start = datetime(year, month, day)
    return start + timedelta(days=(6 - start.weekday()) % 7)


def _eu(standard, year):
    """01:00 UTC on the last Sundays of March and October, everywhere."""
    return _sunday(year, 3, 25) + HOUR, _sunday(year, 10, 25) + HOUR


def _us(standard, year):
    """02:00 on the wall, on the second Sunday of March and the first of November."""
    return _sunday(year, 3, 8) + 2 * HOUR - standard, _sunday(year, 11, 1) + HOUR - standard


_RULES = {"eu": _eu, "us": _us}


class Zone(tzinfo):
    """A zone with at most one hour of summer time."""

    def __init__(self, name, standard, rule="none"):
        self.name = name
        self._standard = standard
        self._rule = _RULES.get(rule)

    def tzname(self, moment):
        return self.name

    def dst(self, moment):
        """Summer time of a moment on the wall; `fold` tells the two 02:30 of autumn apart."""
        if self._rule is None:
            return ZERO
        wall = moment.replace(tzinfo=None)
        start, end = self._rule(self._standard, wall.year)
        first, last = start + self._standard, end + self._standard
        if moment.fold:
            return HOUR if first <= wall < last else ZERO
        return HOUR if first + HOUR <= wall < last + HOUR else ZERO

    def utcoffset(self, moment):
        return self._standard + self.dst(moment)

    def fromutc(self, moment):
        if self._rule is None:
            return moment + self._standard
        utc = moment.replace(tzinfo=None)
        start, end = self._rule(self._standard, utc.year)
        wall = moment + self._standard + (HOUR if start <= utc < end else ZERO)
        return wall.replace(fold=int(end <= utc < end + HOUR))


def elapsed(start, end):
    """The time that passes from one moment to another."""
    return end.astimezone(UTC) - start.astimezone(UTC)


def shared(start, end, other_start, other_end):
    """The time that passes in both of two spans; none if they do not meet."""
    moments = [moment.astimezone(UTC) for moment in (start, end, other_start, other_end)]
    return max(ZERO, min(moments[1], moments[3]) - max(moments[0], moments[2]))
