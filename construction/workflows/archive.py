"""An archive of papers as a world of services: what is read of it has to be found first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from construction.workflows.contracts import World
from construction.workflows.declaration import service
from construction.workflows.world_file import world_faults
from data.errors import InputError

ARCHIVE, PAPERS = "archive", "papers"


@dataclass(frozen=True, slots=True)
class ArchivedPaper:
    """A paper as it is filed: what a clerk would note of it, and its whole text."""

    heading: str
    body: str
    folder: str | None = None
    filed_on: str | None = None  # an ISO 8601 day


def archive_world(
    papers: Sequence[ArchivedPaper], now: str, actor: str, allowance: int | None = None
) -> World:
    """A world whose only service is an archive; ids are numbers in the order of the papers.

    Raises InputError with the first thing that does not fit.
    """
    prefix = service(ARCHIVE).collections[PAPERS].prefix
    records = {}
    for number, paper in enumerate(papers, 1):
        fields = {
            "id": f"{prefix}-{number:03d}",
            "heading": paper.heading,
            "folder": paper.folder,
            "filed_on": paper.filed_on,
            "body": paper.body,
        }
        filled = {name: value for name, value in fields.items() if value is not None}
        records[filled["id"]] = filled
    world = World({ARCHIVE: {PAPERS: records}}, now, actor, allowance=allowance)
    if faults := world_faults(world):
        todo = "Shorten the paper, or correct it."
        raise InputError(ARCHIVE, faults[0], "papers as the archive keeps them", todo)
    return world
