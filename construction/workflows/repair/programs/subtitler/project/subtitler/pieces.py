"""Pieces: what edits show of cues."""

from dataclasses import dataclass, replace
from fractions import Fraction

from subtitler.cues import Cue


@dataclass(frozen=True)
class Piece:
    cue: Cue
    frames: int
    start: Fraction  # seconds of the programme
    end: Fraction


def _cut(cue, edit, position):
    """What an edit at a position shows of a cue, if anything."""
    start, end = max(cue.start, edit.start), min(cue.end, edit.end)
    if start >= end:
        return None
    offset = edit.rate.seconds(start - edit.start)
    return Piece(
        cue, end - start, position + offset, position + offset + edit.rate.seconds(end - start)
    )


def _long_enough(piece, short):
    whole = piece.cue.end - piece.cue.start
    return piece.frames >= min(short, whole)


def pieces(edits, cues_of, short, log):
    """All pieces of a programme, and how long it is."""
    position, before, made = Fraction(0), None, []
    for edit in edits:
        open_pieces = {}
        if before is not None and edit.continues(before):
            open_pieces = {each.cue: n for n, each in enumerate(made) if each.end == position}
        for cue in cues_of(edit.reel):
            piece = _cut(cue, edit, position)
            if piece is None:
                continue
            if cue in open_pieces:
                number = open_pieces[cue]
                joined = made[number].frames + piece.frames
                made[number] = replace(made[number], frames=joined, end=piece.end)
            else:
                made.append(piece)
        position += edit.seconds
        before = edit
    shown = [piece for piece in made if _long_enough(piece, short)]
    for piece in made:
        if piece not in shown:
            log.info(f"short piece of {piece.cue.reel} {piece.cue.number}: {piece.frames} frames")
    return shown, position
