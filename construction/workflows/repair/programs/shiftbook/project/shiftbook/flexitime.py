"""Balances of flexitime."""

from collections import defaultdict

from shiftbook.weeks import weeks
from shiftbook.zones import ZERO


def balances(rows, people, settings):
    """The balance of each person after each posted week."""
    if not rows:
        return {}
    worked = defaultdict(lambda: ZERO)
    for row in rows:
        if row.kind == "work":
            worked[row.person, row.posted_in] += row.time
    last = max(row.posted_in for row in rows)
    made = {}
    for name, person in sorted(people.items()):
        balance = ZERO
        for week in weeks(settings.first_week, last):
            balance += worked[name, week] - person.owes(week)
            balance = min(max(balance, settings.lowest), settings.highest)
            made[name, week] = balance
    return made
