"""Office files with invented personal data planted in many places, made without sight of masking.

What is planted where and why: `tests/challenge/plants.md`.
"""

from __future__ import annotations

from pathlib import Path

from tests.challenge.plants.document import build_document
from tests.challenge.plants.hostile import HostileCase, load_hostile
from tests.challenge.plants.look import survivors, views
from tests.challenge.plants.mail import build_mail
from tests.challenge.plants.model import Kind, Plant
from tests.challenge.plants.page import build_page
from tests.challenge.plants.repeated import REPEATED, REPEATED_FRAME
from tests.challenge.plants.sheets import build_sheets
from tests.challenge.plants.slides import build_slides
from tests.challenge.plants.tables import build_tables

__all__ = [
    "REPEATED",
    "REPEATED_FRAME",
    "HostileCase",
    "Kind",
    "Plant",
    "build_plants",
    "load_hostile",
    "survivors",
    "views",
]

_BUILDERS = (build_sheets, build_document, build_slides, build_mail, build_page, build_tables)


def build_plants(out: Path) -> list[Plant]:
    """Write every file below `out`; the plants in the order of writing. Same bytes each time."""
    out.mkdir(parents=True, exist_ok=True)
    return [plant for build in _BUILDERS for plant in build(out)]
