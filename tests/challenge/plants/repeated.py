"""The one value that stands in several places: a mask must treat it alike everywhere."""

from __future__ import annotations

from tests.challenge.plants.model import Bed, Kind

REPEATED = "Eleanor Whitfield"
_WORDS = "The account is looked after by {}, who joined the team in spring."
REPEATED_FRAME = r"looked after by (.+?), who joined"
"""Finds what stands for the repeated value once a text is masked."""


def repeated(bed: Bed, position: str) -> str:
    """The sentence with the repeated value, noted as a plant at `place`."""
    return bed.put(position, Kind.PERSON, REPEATED, _WORDS)
