"""What the commands print."""

from collections import defaultdict
from datetime import timedelta

from shiftbook.ledger import posted
from shiftbook.posting import by_person
from shiftbook.punches import read_corrections, read_punches, received
from shiftbook.stretches import paired
from shiftbook.zones import ZERO

MINUTE = timedelta(minutes=1)


def _clock(time):
    """Hours and minutes, with a sign if below zero."""
    minutes = abs(time) // MINUTE
    return f"{'-' if time < ZERO else ''}{minutes // 60}:{minutes % 60:02}"


def hours(rows):
    for (week, person, kind), time in sorted(posted(rows).items(), key=lambda each: _order(each[0])):
        if time:
            yield f"{person},{week},{kind},{_clock(time)}"


def _order(key):
    week, name, kind = key
    return name, week, kind


def sites(rows, people):
    totals = defaultdict(lambda: ZERO)
    for (week, person, kind), time in posted(rows).items():
        totals[week, people[person].site.name, kind] += time
    for (week, site, kind), time in sorted(totals.items(), key=lambda each: _order(each[0])):
        if time:
            yield f"{site},{week},{kind},{_clock(time)}"


def balances(made):
    for (person, week), balance in made.items():
        yield f"{person},{week},balance,{_clock(balance)}"


def open_punches(settings, people):
    """As of everything that has been received."""
    punches, corrections = read_punches(settings.data), read_corrections(settings.data)
    known = [*punches.values(), *(each.punch for each in corrections)]
    latest = max((punch.received for punch in known), default=None)
    standing = received(punches, corrections, latest)
    for name, own in by_person(standing, people).items():
        _, lonely = paired(own, people[name].site.zone, settings.open_after)
        for punch in lonely:
            yield f"{name},{punch.kind},{punch.at:%Y-%m-%dT%H:%M:%SZ}"
