"""The single strings of `hostile_text.jsonl`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.challenge.plants.model import Kind

SEAM = "¦"
"""Stands inside each secret of the file, so that no code host takes it for a live one."""

HOSTILE_FILE = Path(__file__).parents[1] / "hostile_text.jsonl"


@dataclass(frozen=True, slots=True)
class HostileCase:
    """A string and the values in it, as they are written there; none for a clean string."""

    id: str
    lang: str
    text: str
    entities: tuple[tuple[str, Kind], ...]
    note: str


def load_hostile() -> list[HostileCase]:
    """All cases in the order of the file, seams removed."""
    lines = HOSTILE_FILE.read_text(encoding="utf-8").replace(SEAM, "").splitlines()
    return [_case(line) for line in lines]


def _case(line: str) -> HostileCase:
    raw = json.loads(line)
    entities = tuple((entity["value"], Kind(entity["type"])) for entity in raw["entities"])
    return HostileCase(raw["id"], raw["lang"], raw["text"], entities, raw["note"])
