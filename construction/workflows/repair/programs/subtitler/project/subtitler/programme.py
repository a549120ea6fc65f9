"""All entries of a programme."""

from dataclasses import replace
from functools import cache

from subtitler.cues import read_cues
from subtitler.lines import Setter
from subtitler.log import Log
from subtitler.pieces import pieces
from subtitler.reels import read_edits, read_rates
from subtitler.tracks import milliseconds, needed, track


def conformed(settings, log=None):
    """The entries of the programme, in the order of their numbers."""
    log = log or Log()
    rates = read_rates(settings.data)
    edits = read_edits(settings.data, rates)

    @cache
    def cues_of(reel):
        cues = read_cues(settings.data, reel, rates[reel])
        if not cues:
            log.info(f"no cues for {reel}")
        return cues

    shown, length = pieces(edits, cues_of, settings.short, log)
    setter, entries = Setter(), []
    for name, style in settings.styles.items():
        own = [piece for piece in shown if piece.cue.style == name]
        for entry in track(style, own, settings, milliseconds(length)):
            lines = setter.lines(entry.text, style)
            entries.append(replace(entry, lines=tuple(lines)))
    entries.sort(key=lambda entry: (entry.start, entry.style.rank))
    for number, entry in enumerate(entries, 1):
        if entry.end - entry.start < min(needed(entry.text, settings.speed), settings.longest):
            log.warning(f"too fast: {number} ({entry.reel}, {entry.style.name})")
    log.info(f"{len(edits)} edits, {len(entries)} entries, {milliseconds(length)} ms")
    return entries
