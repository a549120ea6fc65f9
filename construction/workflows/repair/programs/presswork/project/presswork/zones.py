"""Clocks of the newsrooms, by config/sections.ini."""

from datetime import UTC, datetime, timedelta

HOUR = timedelta(hours=1)


def _sunday(year, month, day):
    start = datetime(year, month, day, tzinfo=UTC)
    return start + timedelta(days=(6 - start.weekday()) % 7)


def _eu(standard, year):
    """At 01:00 UTC of the last Sundays of March and October."""
    return _sunday(year, 3, 25) + HOUR, _sunday(year, 10, 25) + HOUR


def _us(standard, year):
    """At 02:00 of the clocks, second Sunday of March and first of November."""
    return _sunday(year, 3, 8) + 2 * HOUR - standard, _sunday(year, 11, 1) + HOUR - standard


_RULES = {"eu": _eu, "us": _us}


class Zone:
    def __init__(self, standard, rule):
        self._standard = standard
        self._rule = _RULES.get(rule)

    def offset(self, moment):
        """How far clocks are ahead of UTC at a moment."""
        if self._rule is None:
            return self._standard
        start, end = self._rule(self._standard, moment.year)
        return self._standard + (HOUR if start <= moment < end else timedelta(0))

    def shown(self, moment):
        """What clocks show at a moment, as a naive time."""
        return (moment + self.offset(moment)).replace(tzinfo=None)

    def moment(self, shown):
        """The moment at which clocks show a time: the first; an hour later if they skip it."""
        time = shown.replace(tzinfo=UTC)
        for offset in (self._standard + HOUR, self._standard):
            if self.offset(time - offset) == offset:
                return time - offset
        return time - self._standard
