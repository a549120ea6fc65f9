"""What an office's archive comes to: read as a clerk would, and the aftermath derived a second
time, from files and papers, by SQL.

The reading proves that a draft can be solved within the requests that its archive answers: it
searches for words of the matter, for tickets that the ledger names, and for each party by name. It
opens those of the papers listed that state facts, and is done when it has made all searches.
"""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from construction.workflows.contracts import World
from construction.workflows.repair.aftermath import (
    Aftermath,
    Entry,
    Settled,
    Shown,
    read_entries,
)
from construction.workflows.repair.drafts import Files
from construction.workflows.repair.papers import day_of, facts_said, spoken, states_facts
from construction.workflows.runs import InProcessClient, allowance_for, get, rows
from construction.workflows.world_file import ARCHIVE, PAPERS, ArchivedPaper, archive_world

_DUE = """
WITH closed(month) AS (
  SELECT month FROM sheet WHERE handed_on <> '' AND month NOT IN (SELECT month FROM back)
  UNION SELECT month FROM late),
run AS (SELECT * FROM entry WHERE of <> ''),
pair AS (
  SELECT run.number, coalesce(run.party, due.party) AS party, coalesce(run.of, due.of) AS of,
    run.posted, run.amount, coalesce(due.amount, 0) AS due,
    coalesce(due.amount, 0) - coalesce(run.amount, 0) AS delta
  FROM run FULL OUTER JOIN due ON run.party = due.party AND run.of = due.of)
SELECT pair.number, pair.party, pair.of, due, delta, pair.party = :held AS is_held,
  coalesce(substr(posted, 1, 7) NOT IN (SELECT month FROM closed), 0) AS is_open
FROM pair JOIN party ON party.id = pair.party LEFT JOIN begins ON begins.of = pair.of
WHERE delta <> 0
  AND NOT (pair.party = :agreed AND pair.of = :agreed_of)
  AND (pair.party = :held OR (
    abs(delta) > CASE WHEN pair.party = :lenient THEN :own_limit
                      WHEN party.kind = :strict THEN 0 ELSE :small END
    AND (delta * :asks <= 0 OR pair.party = :insists
         OR (party.kind <> :spared AND begins.day >= :since))))
ORDER BY pair.party, pair.of
"""


def _rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def _month(words: Mapping[str, str], slot: str, year: int) -> list[tuple[str]]:
    if slot not in words:
        return []
    return [(f"{datetime.strptime(words[slot], '%B').replace(year=year):%Y-%m}",)]


class _Given:
    """What a solver has: the tables of the folder, and the words of papers."""

    def __init__(
        self, aftermath: Aftermath, tree: Files, papers: Sequence[str], shown: Shown
    ) -> None:
        self._aftermath, given = aftermath, aftermath.given
        self.words = facts_said(given, papers)
        self.entries = read_entries(aftermath, tree[aftermath.path("postings.csv")])
        self._parties = _rows(tree[aftermath.path(given["parties_file"])])
        self._sheet = _rows(tree[aftermath.path("months.csv")])
        self._due = aftermath.booked(shown)
        self.of = {"/".join(e.of): e.of for e in self.entries}
        self.of |= {"/".join(key[1:]): key[1:] for key in self._due}

    def party(self, role: str) -> str:
        """The id of who is meant: by id, by name, or by what they do and where."""
        cells = ("id", "name", "town", "trade")
        meant = {cell: self.words[f"{role}_{cell}"] for cell in cells
                 if f"{role}_{cell}" in self.words}  # fmt: skip
        columns = dict(zip(cells, self._aftermath.given["parties_columns"], strict=False))
        (row,) = [row for row in self._parties
                  if all(row[columns[cell]] == text for cell, text in meant.items())]  # fmt: skip
        return row[columns["id"]]

    def of_words(self, role: str) -> str:
        """The key of the entry of a party that is spoken of."""
        given, said = self._aftermath.given, self.words[f"{role}_of"]
        for name, of in self.of.items():
            begins = spoken(self._aftermath.begins(of)) if of else ""
            is_own = any(e.of == of and e.party == self.party(role) for e in self.entries)
            if of and is_own and given["of_words"].format(*of, begins=begins) == said:
                return name
        raise LookupError(f"no entry of {said!r}")

    def tables(self) -> sqlite3.Connection:
        made = sqlite3.connect(":memory:")
        year, ids = self._aftermath.given["today"].year, self._aftermath.given["parties_columns"]
        tables: dict[str, tuple[str, Sequence[Sequence[Any]]]] = {
            "entry": ("number, party, of, posted, amount", [
                (e.number, e.party, "/".join(e.of), e.posted.isoformat(), e.amount)
                for e in self.entries]),
            "due": ("party, of, amount",
                    [(key[0], "/".join(key[1:]), amount) for key, amount in self._due.items()]),
            "begins": ("of, day", [(name, self._aftermath.begins(of).isoformat())
                                   for name, of in self.of.items() if of]),
            "party": ("id, kind", [(row[ids[0]], row[ids[-1]]) for row in self._parties]),
            "sheet": ("month, handed_on", [tuple(row.values()) for row in self._sheet]),
            "late": ("month", _month(self.words, "late_month", year)),
            "back": ("month", _month(self.words, "back_month", year)),
        }  # fmt: skip
        for name, (columns, filed) in tables.items():
            made.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * (columns.count(",") + 1))
            made.executemany(f"INSERT INTO {name} VALUES ({marks})", filed)  # noqa: S608 - own names
        return made


def settled_again(
    aftermath: Aftermath, tree: Files, papers: Sequence[str], shown: Shown
) -> Settled:
    """The ledger put right by the texts of papers; `shown` is what comes of the mended program.

    Raises LookupError or ValueError where the papers do not say all that is needed.
    """
    office, given = _Given(aftermath, tree, papers, shown), aftermath.given
    words = office.words
    is_minutes = given["form"] == "minutes"
    units = int if is_minutes else aftermath.units
    slots = {
        "held": office.party("held"), "lenient": office.party("lenient"),
        "insists": office.party("insists"), "agreed": office.party("agreed"),
        "agreed_of": office.of_words("agreed"), "small": units(words["small"]),
        "own_limit": units(words["own_limit"]), "since": day_of(words["since"]).isoformat(),
        "strict": given["kinds"][0], "spared": given["kinds"][1], "asks": given["asks"],
    }  # fmt: skip
    connection = office.tables()
    due = connection.execute(_DUE, slots).fetchall()
    connection.close()
    returned = (office.party("returned"), office.of_words("returned"))
    ticket, moved = f"T-{words['returned_ticket']}", office.party("moved")
    by_hand = sum(e.amount for e in office.entries if e.text.endswith(ticket))
    entries, held = {e.number: e for e in office.entries}, set()
    added = []
    for number, party, of, right, delta, is_held, is_open in due:
        if is_held:
            held |= {number} - {None}
        elif is_open:
            old = entries[number]
            entries[number] = Entry(
                number, old.posted, party, old.of, old.kind, right, old.ref, old.text
            )
        elif rest := delta - (by_hand if (party, of) == returned else 0):
            name = words["successor"] if party == moved else party
            day = day_of(words["booked"])
            added.append(Entry("", day, name, office.of[of], "correction", rest, number or ""))
    return Settled((*entries.values(), *added), tuple(sorted(held)))


_ACTOR = "papers@office.example"


@dataclass(frozen=True, slots=True)
class Reading:
    """The texts that were opened, requests, and the headings of papers that were not found."""

    opened: tuple[str, ...]
    requests: int
    unreached: tuple[str, ...]


def _searches(aftermath: Aftermath, tree: Files) -> Iterator[Mapping[str, str]]:
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
    for search in _searches(aftermath, tree):
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
