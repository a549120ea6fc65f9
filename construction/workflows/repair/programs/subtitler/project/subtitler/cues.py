"""Cues of the reels."""

from dataclasses import dataclass

from subtitler.reels import rows
from subtitler.timecodes import frame


@dataclass(frozen=True)
class Cue:
    reel: str
    number: int
    revision: int
    start: int
    end: int
    style: str
    text: str


def read_cues(data, reel, rate):
    """The cues of a reel that stand, by start."""
    path = data / "cues" / f"{reel}.csv"
    if not path.exists():
        return []
    latest = {}
    for row in rows(path):
        cue = Cue(
            reel,
            int(row["cue"]),
            int(row["revision"]),
            frame(row["in"], rate),
            frame(row["out"], rate),
            row["style"],
            row["text"].replace("\\n", "\n").strip(" \n"),
        )
        kept = latest.get(cue.number)
        if kept is None or cue.revision > kept.revision:
            latest[cue.number] = cue
    standing = [cue for cue in latest.values() if cue.text]
    return sorted(standing, key=lambda cue: (cue.start, cue.number))
