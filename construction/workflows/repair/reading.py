"""The reference reading of an office's archive: what a clerk finds who searches for the matter.

It proves that a draft can be solved within the requests that its archive answers: searches for
words of the matter, for tickets that the ledger names, and for each party by name. It opens those
of the papers listed that state facts, and is done when it has made all searches.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from construction.workflows.archive import ARCHIVE, PAPERS, ArchivedPaper, archive_world
from construction.workflows.contracts import World
from construction.workflows.repair.aftermath import Aftermath, read_entries
from construction.workflows.repair.drafts import Files
from construction.workflows.repair.papers import states_facts
from construction.workflows.runs import InProcessClient, allowance_for, get, rows

_ACTOR = "papers@office.example"


@dataclass(frozen=True, slots=True)
class Reading:
    """The texts that were opened, requests, and the headings of papers that were not found."""

    opened: tuple[str, ...]
    requests: int
    unreached: tuple[str, ...]


def searches(aftermath: Aftermath, tree: Files) -> Iterator[Mapping[str, str]]:
    """All that is searched for; `tree` are the files that an agent is given."""
    given = aftermath.given
    yield from given["searches"]
    for entry in read_entries(aftermath, tree[aftermath.path("postings.csv")]):
        if not entry.of:
            yield {"query": entry.text.rpartition(" ")[2]}
    parties = tree[aftermath.path(given["parties_file"])].decode()
    for row in csv.DictReader(io.StringIO(parties)):
        yield {"query": row[given["parties_columns"][1]]}


def read_archive(aftermath: Aftermath, tree: Files, world: World) -> Reading:
    """The reading. Raises RefusedError where the archive answers no more."""
    papers, client = world.state[ARCHIVE][PAPERS], InProcessClient(world)
    wanted = {name for name in papers if states_facts(aftermath.given, papers[name]["body"])}
    opened: dict[str, str] = {}
    for search in searches(aftermath, tree):
        for row in rows(client, ARCHIVE, PAPERS, **search):
            if row["id"] in wanted - opened.keys():
                opened[row["id"]] = get(client, ARCHIVE, PAPERS, row["id"])["body"]
    unreached = sorted(papers[name]["heading"] for name in wanted - opened.keys())
    return Reading(tuple(opened.values()), len(client.audit), tuple(unreached))


def office_world(
    aftermath: Aftermath, tree: Files, papers: tuple[ArchivedPaper, ...]
) -> tuple[World, Reading]:
    """The archive of a draft, and how it is read; the reading needs three quarters at most."""
    now = f"{aftermath.given['today']}T08:00:00+00:00"
    world = archive_world(papers, now, _ACTOR)
    reading = read_archive(aftermath, tree, world)
    return replace(world, allowance=allowance_for(reading.requests)), reading
