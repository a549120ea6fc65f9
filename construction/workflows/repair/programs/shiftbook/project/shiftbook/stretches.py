"""From punches to stretches of presence."""

from dataclasses import dataclass
from datetime import datetime

from shiftbook.zones import elapsed


@dataclass(frozen=True)
class Stretch:
    """Times are those at the site."""

    start: datetime
    end: datetime

    @property
    def length(self):
        return elapsed(self.start, self.end)


def paired(punches, zone, open_after):
    """The stretches of a person in their order, and the punches that have no counterpart."""
    ordered = sorted(punches, key=lambda punch: (punch.at, punch.kind == "in", punch.id))
    stretches, lonely = [], []
    since = until = None
    for punch in ordered:
        if punch.kind == "in":
            if until is not None:
                stretches.append(_stretch(since, until, zone))
                since = until = None
            if since is not None and punch.at - since.at > open_after:
                lonely.append(since)
                since = None
            since = since or punch
        elif since is None:
            lonely.append(punch)
        elif punch.at - since.at <= open_after:
            until = punch
        elif until is None:
            lonely += [since, punch]
            since = None
        else:
            stretches.append(_stretch(since, until, zone))
            lonely.append(punch)
            since = until = None
    if until is not None:
        stretches.append(_stretch(since, until, zone))
    elif since is not None:
        lonely.append(since)
    return stretches, lonely


def _stretch(since, until, zone):
    return Stretch(since.at.astimezone(zone), until.at.astimezone(zone))
