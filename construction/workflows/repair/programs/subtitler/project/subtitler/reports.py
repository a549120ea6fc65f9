"""What the commands print."""

from collections import defaultdict

from subtitler.srt import stamp
from subtitler.tracks import needed


def listed(entries):
    for number, entry in enumerate(entries, 1):
        text = " / ".join(entry.lines)
        yield f"{number} {stamp(entry.start)} {stamp(entry.end)} {entry.style.name}: {text}"


def totals(entries):
    """Entries, milliseconds and lines of each style of each reel."""
    made = defaultdict(lambda: [0, 0, 0])
    for entry in entries:
        sums = made[entry.reel, entry.style.name]
        sums[0] += 1
        sums[1] += entry.end - entry.start
        sums[2] += len(entry.lines)
    for (reel, style), sums in sorted(made.items()):
        for measure, value in zip(("entries", "milliseconds", "lines"), sums):
            yield f"{reel},{style},{measure},{value}"


def check(entries, speed=17, longest=7000):
    for number, entry in enumerate(entries, 1):
        missing = min(needed(entry.text, speed), longest) - (entry.end - entry.start)
        if missing > 0:
            yield f"{number}: {missing} ms too short"
