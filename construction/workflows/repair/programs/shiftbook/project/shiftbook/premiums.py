"""Night and holiday work of a shift."""

from datetime import datetime, time, timedelta

from shiftbook.zones import ZERO, shared

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def _wall(day, hour, zone):
    """A moment on the wall of a site."""
    return datetime.combine(day, time(hour), tzinfo=zone)


def _whole(day, zone):
    """A day at a site, from midnight to midnight."""
    start = _wall(day, 0, zone)
    return start, start + DAY


def _inside(shift, spans):
    spans = list(spans)
    total = sum(
        (shared(each.start, each.end, *span) for each in shift.stretches for span in spans), ZERO
    )
    return total // MINUTE * MINUTE


def _days(shift, first):
    day, last = first, shift.stretches[-1].end.date()
    while day <= last:
        yield day
        day += DAY


def night(shift, site, hours):
    """What lies in a night; that of the day before may reach into a shift, too."""
    start, end = hours
    days = _days(shift, shift.day - DAY)
    spans = ((_wall(day, start, site.zone), _wall(day + DAY, end, site.zone)) for day in days)
    return _inside(shift, spans)


def holiday(shift, site):
    """What lies on a holiday of the site."""
    days = (day for day in _days(shift, shift.day) if day in site.holidays)
    return _inside(shift, (_whole(day, site.zone) for day in days))
