"""From pieces to the entries of a track."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

from subtitler.cells import cells
from subtitler.settings import Style

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Entry:
    """Times in milliseconds of the programme."""

    reel: str
    style: Style
    start: int
    end: int
    text: str
    lines: tuple = ()


def milliseconds(seconds):
    """Rounded to the millisecond, halves upwards."""
    return int(seconds * 1000 + HALF)


def _together(style, pieces):
    """An entry for each start; numbers of cues say whose text comes first."""
    starts = sorted(pieces, key=lambda piece: (milliseconds(piece.start), piece.cue.number))
    for start, group in groupby(starts, key=lambda piece: milliseconds(piece.start)):
        group = list(group)
        end = max(milliseconds(piece.end) for piece in group)
        text = "\n".join(piece.cue.text for piece in group)
        yield Entry(group[0].cue.reel, style, start, end, text)


def _spaced(entries, gap):
    """The entries with at least the gap between them."""
    made = []
    for entry, following in zip(entries, [*entries[1:], None]):
        end = entry.end if following is None else min(entry.end, following.start - gap)
        if end > entry.start:
            made.append(replace(entry, end=end))
    return made


def needed(text, speed):
    """How long a text takes to be read."""
    return -(-cells(text) * 1000 // speed)


def _lengthened(entries, settings, programme_end):
    """The entries, as long as reading takes where there is room."""
    made = []
    for entry, following in zip(entries, [*entries[1:], None]):
        room = programme_end if following is None else following.start - settings.gap
        wanted = entry.start + min(needed(entry.text, settings.speed), settings.longest)
        made.append(replace(entry, end=max(entry.end, min(wanted, room))))
    return made


def track(style, pieces, settings, programme_end):
    """The entries of a style."""
    entries = _spaced(list(_together(style, pieces)), settings.gap)
    return _lengthened(entries, settings, programme_end)
