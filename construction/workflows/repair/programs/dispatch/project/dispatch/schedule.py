"""Recurring jobs: at `offset`, and every so many seconds after it."""

import math


def due(recurring, mark, now):
    """The last occurrence up to now that did not happen yet, or None.

    Occurrences that were missed are made up for by one, and the next one keeps to the times of the
    schedule.
    """
    if now < recurring.offset:
        return None
    passed = math.floor((now - recurring.offset) / recurring.every)
    last = recurring.offset + passed * recurring.every
    return last if mark is None or last > mark else None
