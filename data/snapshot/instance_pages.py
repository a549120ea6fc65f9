"""Audit pages of single instances, in the private half: what each gate saw, and where to look.

They hold ids, numbers and pointers (file, line, turn), no session text. At most `LIMIT`
instances get a page, those that were turned away first; the tables hold all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from data.contracts import Outcome
from data.snapshot.ledger_tables import Frames
from data.snapshot.manifest import Manifest
from data.snapshot.pages import asset, page

LIMIT = 5_000
PER_INDEX = 500
UNIT = "instance"
_TURNED_AWAY = (Outcome.REJECTED, Outcome.ERRORED)

Record = Mapping[str, Any]


@dataclass(slots=True)
class Story:
    """All rows of the ledger tables about one instance."""

    item_id: str
    opaque: str
    ledger: list[Record] = field(default_factory=list)
    verdicts: list[Record] = field(default_factory=list)
    parents: list[Record] = field(default_factory=list)
    children: list[Record] = field(default_factory=list)

    @property
    def turned_away(self) -> Record | None:
        """The ledger row that rejected it, None if none did."""
        return next((row for row in self.ledger if row["outcome"] in _TURNED_AWAY), None)


def write_pages(
    frames: Frames,
    manifest: Manifest,
    stages: Sequence[Mapping[str, Any]],
    gates: Sequence[str],
    opaque: Callable[[str], str],
) -> Iterator[tuple[str, str]]:
    """Yield (file name, HTML): a page per instance, then the index pages that list them."""
    known = _stories(frames, stages, gates, opaque)
    shown = sorted(known, key=lambda story: (story.turned_away is None, story.opaque))[:LIMIT]
    for story in shown:
        yield (
            f"{story.opaque}.html",
            page("instance.html.j2", asset("report.css"), story=story, manifest=manifest),
        )
    parts = [shown[at : at + PER_INDEX] for at in range(0, len(shown), PER_INDEX)] or [[]]
    for number, part in enumerate(parts, start=1):
        yield (
            index_name(number),
            page(
                "index.html.j2",
                asset("report.css"),
                stories=part,
                manifest=manifest,
                number=number,
                names=[index_name(n) for n in range(1, len(parts) + 1)],
                shown=len(shown),
                known=len(known),
            ),
        )


def index_name(number: int) -> str:
    """`index.html`, `index-2.html`, …"""
    return "index.html" if number == 1 else f"index-{number}.html"


def _stories(
    frames: Frames,
    stages: Sequence[Mapping[str, Any]],
    gates: Sequence[str],
    opaque: Callable[[str], str],
) -> list[Story]:
    found: dict[str, Story] = {}
    stage_at = {stage["stage"]: index for index, stage in enumerate(stages)}
    gate_at = {gate: index for index, gate in enumerate(gates)}
    for row in frames.ledger.iter_rows(named=True):
        if row["unit"] == UNIT:
            item = row["item_id"]
            story = found.setdefault(item, Story(item, opaque(item)))
            story.ledger.append(row | {"evidence": _pairs(row["evidence"])})
    for row in frames.verdicts.iter_rows(named=True):
        if row["item_id"] in found:
            found[row["item_id"]].verdicts.append(row | {"measures": _pairs(row["measures"])})
    _link(frames, found)
    for story in found.values():
        story.ledger.sort(key=lambda row: stage_at.get(row["stage"], len(stage_at)))
        story.verdicts.sort(key=lambda row: gate_at.get(row["gate"], len(gate_at)))
    return list(found.values())


def _link(frames: Frames, found: Mapping[str, Story]) -> None:
    for row in frames.lineage.iter_rows(named=True):
        if row["child_unit"] == UNIT and row["child"] in found:
            found[row["child"]].parents.append(row)
        if row["parent_unit"] == UNIT and row["parent"] in found:
            found[row["parent"]].children.append(row)


def _pairs(text: str) -> list[tuple[str, Any]]:
    """The entries of a JSON object as pairs."""
    return list(orjson.loads(text).items())
