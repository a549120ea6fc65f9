"""What a faulty program left behind: entries in a ledger, and the papers that say what to do.

A program with an `aftermath.toml` was live with its faults: what it printed went into a ledger.
What is to be corrected in place, by an entry of its own, not at all, or held for a person, stands
in the papers of an office, which are in its archive. The facts in them are drawn so that each
changes the right ledger. Who solves a draft finds them in the archive (`reading.py`), and
derives the ledger from them again by SQL (`settlement.py`).
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from construction.workflows.repair.drafts import Draw, table
from construction.workflows.repair.papers import Papers, day_of, spoken
from construction.workflows.world_file import ArchivedPaper

Key = tuple[str, ...]  # the party, and of what
Shown = Mapping[Key, str]
Edit = tuple[str, str, str]
FOLDER = Path(__file__).parent / "programs"
_TRIES = 800  # at facts of which each matters
_HELD = "held.csv"
ABOUT_OFFICE = "office/README.md"  # who may say what; the papers are in the archive


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the ledger; amounts are whole cents or minutes."""

    number: str
    posted: date
    party: str
    of: Key
    kind: str
    amount: int
    ref: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the papers say. A rule without a party, a kind or an entry holds for none."""

    closed: frozenset[str]  # months that were handed on
    small: int  # differences up to it stay
    strict: str  # but not for this kind of party
    lenient: str  # a party of this kind with a limit of its own
    own_limit: int
    since: date  # nothing is asked for what began before
    spared: str  # a kind of party that is never asked for anything
    insists: str  # a party that wants to be asked for everything
    held: tuple[str, ...]  # parties whose entries nobody may touch
    agreed: str  # an entry with an amount that was agreed
    returned: tuple[str, int]  # an entry, and what was given by hand for it
    moved: tuple[str, str]  # a party, and who it is from now on
    booked: date  # the day of new entries


@dataclass(frozen=True, slots=True)
class Settled:
    """The ledger as it has to be, and what waits for a person."""

    entries: tuple[Entry, ...]
    held: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ledger:
    """What was booked, the parties with their kind, and what each key ought to have come to."""

    entries: tuple[Entry, ...]
    kinds: Mapping[str, str]
    right: Mapping[Key, int]


@dataclass(frozen=True, slots=True)
class Planted:
    """The aftermath of a draft: files and papers, the right ledger, and wrong ones."""

    files: Mapping[str, bytes]  # below the project
    papers: tuple[ArchivedPaper, ...]
    settled: Settled
    wrong: tuple[Settled, ...]  # each entry corrected; by the program without the newer rule
    last: str  # number of an entry that was there


@dataclass(frozen=True)
class Aftermath:
    """`aftermath.toml` of a program; `given` is all that stands there."""

    name: str
    given: Mapping[str, Any]

    @property
    def columns(self) -> tuple[str, ...]:
        return ("entry", "posted", self.given["party"], *self.given["of"], "kind", "amount", "ref")

    @property
    def months(self) -> list[str]:
        """The months of posting."""
        return sorted({f"{run:%Y-%m}" for run in self.given["runs"]})

    def path(self, file: str) -> str:
        return f"{self.given['folder']}/{file}"

    def units(self, text: str) -> int:
        """Cents of an amount, minutes of H:MM."""
        if self.given["form"] == "minutes":
            hours, _, minutes = text.lstrip("-").partition(":")
            size = 60 * int(hours) + int(minutes)
        else:
            whole, _, cents = text.lstrip("-").partition(".")
            size = 100 * int(whole) + int(f"{cents:0<2}")
        return -size if text.startswith("-") else size

    def written(self, units: int) -> str:
        """An amount as the ledger has it."""
        return str(units) if self.given["form"] == "minutes" else f"{units / 100:.2f}"

    def booked(self, shown: Shown) -> dict[Key, int]:
        """What a run of the program means for the ledger."""
        given, booked = self.given, dict[Key, int]()
        for key, text in shown.items():
            if key[-1] not in given.get("dropped", ()):
                party = " ".join(key[n] for n in given.get("party_cells", (0,)))
                of = tuple(key[n] for n in given.get("of_cells", (1, 2)))
                booked[(party, *of)] = self.units(text)
        return booked

    def begins(self, of: Key) -> date:
        """The first day of what an entry is about: a day, or a week."""
        year, _, week = of[0].partition("-W")
        if week:
            return date.fromisocalendar(int(year), int(week), 1)
        return date.fromisoformat(of[0])

    def posted(self, of: Key) -> date:
        """The day on which the ledger got an entry: the first run after its last day."""
        last = self.begins(of) + timedelta(days=7)
        if of[1][:1].isdigit():
            last = date.fromisoformat(of[1])
        due = last + timedelta(days=self.given["lag_days"])
        runs: list[date] = self.given["runs"]
        return next(run for run in runs if run >= due)


@cache
def read_aftermath(name: str) -> Aftermath | None:
    """The aftermath of a program, if it has one."""
    path = FOLDER / name / "aftermath.toml"
    return Aftermath(name, tomllib.loads(path.read_text("utf-8"))) if path.exists() else None


def changed_rule(aftermath: Aftermath, words: Mapping[str, str]) -> tuple[Edit, ...]:
    """What a newer paper changes in the program: (file, by the paper, as it is)."""
    edits = []
    for file, new, old in aftermath.given["change"]["edits"]:
        for slot, values in aftermath.given["change"]["facts"].items():
            is_day = isinstance(values[0], date)
            new = new.replace(f"<{slot}>", f"{day_of(words[slot])}" if is_day else words[slot])
        edits.append((file, new, old))
    return tuple(edits)


def drawn_change(aftermath: Aftermath, draw: Draw) -> dict[str, str]:
    """The facts of the changed rule."""
    drawn = {slot: draw.pick(each) for slot, each in aftermath.given["change"]["facts"].items()}
    return {slot: spoken(v) if isinstance(v, date) else v for slot, v in drawn.items()}


def _settle(aftermath: Aftermath, ledger: Ledger, facts: Facts) -> Settled:
    """The ledger put right by the facts."""
    by_key: dict[Key, Entry] = {(each.party, *each.of): each for each in ledger.entries if each.of}
    changed: dict[str, int] = {}
    added: list[Entry] = []
    held: set[str] = set()
    for key in sorted({*by_key, *ledger.right}):
        entry, due = by_key.get(key), ledger.right.get(key, 0)
        delta = due - (entry.amount if entry else 0)
        if not delta or (entry and entry.number == facts.agreed):
            continue
        if key[0] in facts.held:
            held |= {entry.number} if entry else set()
        elif _is_due(aftermath, ledger, facts, key, delta):
            if entry and f"{entry.posted:%Y-%m}" not in facts.closed:
                changed[entry.number] = due
                continue
            number, amount = facts.returned
            rest = delta - (amount if entry and entry.number == number else 0)
            party = facts.moved[1] if key[0] == facts.moved[0] else key[0]
            ref = entry.number if entry else ""
            added += [Entry("", facts.booked, party, key[1:], "correction", rest, ref)]
    kept = [replace(e, amount=changed.get(e.number, e.amount)) for e in ledger.entries]
    return Settled((*kept, *(each for each in added if each.amount)), tuple(sorted(held)))


def _is_due(aftermath: Aftermath, ledger: Ledger, facts: Facts, key: Key, delta: int) -> bool:
    """Is a difference to be put right?"""
    party, kind = key[0], ledger.kinds[key[0]]
    limit = 0 if kind == facts.strict else facts.small
    limit = facts.own_limit if party == facts.lenient else limit
    if abs(delta) <= limit:
        return False
    is_asked = delta * aftermath.given["asks"] > 0
    if not is_asked or party == facts.insists:
        return True
    return kind != facts.spared and aftermath.begins(key[1:]) >= facts.since


@dataclass(frozen=True, slots=True)
class _Superseded:
    """What older papers say, and the sheet alone."""

    closed: frozenset[str]
    small: int
    since: date
    booked: date
    released: str


def _careless(aftermath: Aftermath, facts: Facts, old: _Superseded) -> Iterator[Facts]:
    """The facts without one of them, or with what it was before."""
    yield replace(facts, strict="")
    yield replace(facts, lenient="")
    yield replace(facts, spared="")
    yield replace(facts, closed=frozenset(aftermath.months))
    yield replace(facts, closed=frozenset())
    yield replace(facts, closed=old.closed)
    yield replace(facts, small=old.small)
    yield replace(facts, since=old.since)
    yield replace(facts, since=date.min)
    yield replace(facts, booked=old.booked)
    yield replace(facts, insists="")
    yield replace(facts, agreed="")
    yield replace(facts, held=())
    yield replace(facts, held=(*facts.held, old.released))
    yield replace(facts, returned=("", 0))
    yield replace(facts, moved=("", ""))


def _all_corrected(ledger: Ledger) -> Settled:
    """Each entry as it ought to have been, whatever the papers say."""
    right = [
        replace(e, amount=ledger.right.get((e.party, *e.of), 0)) if e.of else e
        for e in ledger.entries
    ]
    return Settled(tuple(right), ())


def plant(
    aftermath: Aftermath, draw: Draw, words: Mapping[str, str], shown: Mapping[str, Shown]
) -> Planted | None:
    """The aftermath of a run; None where no facts are such that each matters.

    `words` are the facts of the changed rule. `shown`: what came of the run as it was (`shipped`),
    by the mended program (`right`), and by one that follows the old rule (`before`).
    """
    booked = {name: aftermath.booked(each) for name, each in shown.items()}
    right, before = booked["right"], booked["before"]
    names = sorted({key[0] for each in booked.values() for key in each})
    entries = _entries(aftermath, booked["shipped"])
    for _ in range(_TRIES):
        parties = _parties(aftermath, draw, names)
        kinds = {row[0]: row[-1] for row in parties}
        made = _Facts(aftermath, draw, Ledger(tuple(entries), kinds, right), parties).drawn()
        if made is None:
            continue
        ledger, facts, old, said = made
        settled = _settle(aftermath, ledger, facts)
        old_rule = _settle(aftermath, replace(ledger, right=before), facts)
        wrong = (_all_corrected(ledger), old_rule)
        careless = (_settle(aftermath, ledger, e) for e in _careless(aftermath, facts, old))
        if not settled.held or settled == old_rule or settled in careless:
            continue
        office, words = Papers(aftermath.name, aftermath.given, draw, parties), {**words, **said}
        files = _files(aftermath, ledger, parties, old)
        files[ABOUT_OFFICE] = office.about(words).encode()
        papers = tuple(office.written(words))
        return Planted(files, papers, settled, wrong, ledger.entries[-1].number)
    return None


def _parties(aftermath: Aftermath, draw: Draw, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The register of parties: id, what they are called, where, what they do, their kind."""
    pools = [
        draw.several(aftermath.given["pools"][pool], len(names)) for pool in ("names", "trades")
    ]
    towns = [draw.pick(aftermath.given["pools"]["towns"]) for _ in names]
    kinds = aftermath.given["kinds"]
    order = draw.several(range(len(names)), len(names))
    return [
        (name, pools[0][n], towns[n], pools[1][n], kinds[order[n] % len(kinds)])
        for n, name in enumerate(names)
    ]


def _entries(aftermath: Aftermath, booked: Mapping[Key, int]) -> list[Entry]:
    order = sorted(booked, key=lambda key: (aftermath.posted(key[1:]), key))
    return [
        Entry(
            f"{2601 + n}",
            aftermath.posted(key[1:]),
            key[0],
            key[1:],
            aftermath.given["word"],
            booked[key],
        )
        for n, key in enumerate(order)
    ]


class _Facts:
    """Draws the facts of one draft; they are tried out by whoever calls."""

    def __init__(
        self, aftermath: Aftermath, draw: Draw, ledger: Ledger, parties: Sequence[Key]
    ) -> None:
        self._aftermath, self._draw, self._ledger = aftermath, draw, ledger
        self._parties = {row[0]: row for row in parties}
        self._wrong = {
            entry: ledger.right.get((entry.party, *entry.of), 0) - entry.amount
            for entry in ledger.entries
            if ledger.right.get((entry.party, *entry.of), 0) != entry.amount
        }

    def drawn(self) -> tuple[Ledger, Facts, _Superseded, dict[str, str]] | None:
        """The ledger with what was done by hand, facts, older ones, and words for the papers."""
        given, draw = self._aftermath.given, self._draw
        strict, spared = given["kinds"][:2]
        closed, sheet, odd = self._months()
        of_kind = {kind: [p for p in self._affected() if self._kind(p) == kind] for kind in
                   given["kinds"]}  # fmt: skip
        if not all(of_kind.values()):
            return None
        lenient, insists = draw.pick(of_kind[strict]), draw.pick(of_kind[spared])
        rest = [party for party in self._affected() if party not in (lenient, insists)]
        if len(rest) < 4:
            return None
        held, released, moved = draw.several(rest, 3)
        hand = draw.pick(given["limits"]["by_hand"])
        reachable = [e for e in self._wrong if f"{e.posted:%Y-%m}" in closed and e.party != held]
        gives = [e for e in reachable if self._wrong[e] * hand > hand * hand]
        if held in self._without_entry() or not gives or len(reachable) < 2:
            return None
        returned = draw.pick(gives)
        agreed = draw.pick([entry for entry in reachable if entry != returned])
        agreed = replace(agreed, amount=draw.pick(given["limits"]["agreed"]))
        by_hand = self._by_hand(returned, hand)
        entries = [agreed if e.number == agreed.number else e for e in self._ledger.entries]
        small, small_before = draw.several(given["limits"]["small"], 2)
        since, since_before = draw.several(given["limits"]["since"], 2)
        facts = Facts(
            closed, small, strict, lenient, draw.pick(given["limits"]["own"]), since, spared,
            insists, (held,), agreed.number, (returned.number, hand),
            (moved, self._successor(moved)), draw.pick(given["limits"]["booked"]),
        )  # fmt: skip
        old = _Superseded(sheet, small_before, since_before, given["today"], released)
        said = self._said(facts, old, returned, agreed, by_hand) | odd
        return replace(self._ledger, entries=(*entries, *by_hand)), facts, old, said

    def _without_entry(self) -> set[str]:
        booked = {(entry.party, *entry.of) for entry in self._ledger.entries}
        return {key[0] for key in self._ledger.right if key not in booked}

    def _kind(self, party: str) -> str:
        return self._ledger.kinds[party]

    def _affected(self) -> list[str]:
        return sorted({entry.party for entry in self._wrong})

    def _successor(self, party: str) -> str:
        return str(self._aftermath.given["successor"]).format(party)

    def _months(self) -> tuple[frozenset[str], frozenset[str], dict[str, str]]:
        """The months that were handed on, those of which the sheet says so, and words for it.

        Either one was handed on without the sheet, or one came back.
        """
        months = self._aftermath.months
        sheet = frozenset(months[:-2])
        is_late = bool(self._draw.number(0, 1))
        odd = months[-2] if is_late else months[-3]
        named = f"{date.fromisoformat(f'{odd}-01'):%B}"
        closed = sheet | {odd} if is_late else sheet - {odd}
        return closed, sheet, {"late_month" if is_late else "back_month": named}

    def _by_hand(self, entry: Entry, amount: int) -> tuple[Entry, Entry]:
        """What was given by hand for an entry, and to somebody else for no entry at all."""
        given, draw = self._aftermath.given, self._draw
        other = draw.pick([p for p in self._affected() if p != entry.party])
        tickets = draw.several(range(910, 990), 2)
        last = len(self._ledger.entries)
        made = []
        for n, party in enumerate((entry.party, other)):
            number, text = f"{2601 + last + n}", f"by hand, T-{tickets[n]}"
            made.append(Entry(number, given["runs"][-2 + n], party, (), "manual", amount, "", text))
        return made[0], made[1]

    def _said(
        self, facts: Facts, old: _Superseded, returned: Entry, agreed: Entry,
        by_hand: tuple[Entry, Entry],
    ) -> dict[str, str]:  # fmt: skip
        """The words of all slots of the papers."""
        written, given = self._aftermath.written, self._aftermath.given
        words = {
            "small": written(facts.small), "small_before": written(old.small),
            "own_limit": written(facts.own_limit), "since": spoken(facts.since),
            "since_before": spoken(old.since), "booked": spoken(facts.booked),
            "today": spoken(given["today"]), "agreed_amount": written(agreed.amount),
            "successor": facts.moved[1], "returned_ticket": by_hand[0].text[-3:],
            "gesture_ticket": by_hand[1].text[-3:], "by_hand": written(abs(by_hand[0].amount)),
            "gesture": written(abs(by_hand[1].amount)),
        }  # fmt: skip
        parties = {
            "lenient": facts.lenient, "insists": facts.insists, "held": facts.held[0],
            "released": old.released, "moved": facts.moved[0], "agreed": agreed.party,
            "returned": returned.party, "gestured": by_hand[1].party,
        }  # fmt: skip
        for role, party in parties.items():
            cells = zip(("id", "name", "town", "trade"), self._parties[party], strict=False)
            words |= {f"{role}_{cell}": text for cell, text in cells}
        for role, entry in (("agreed", agreed), ("returned", returned)):
            day = spoken(self._aftermath.begins(entry.of))
            words[f"{role}_of"] = given["of_words"].format(*entry.of, begins=day)
        return words


def _ledger_file(aftermath: Aftermath, entries: Sequence[Entry]) -> bytes:
    """The ledger as a file; new entries are numbered behind the last."""
    last = max(int(entry.number) for entry in entries if entry.number)
    rows = []
    for entry in entries:
        last += not entry.number
        of = entry.of or ("",) * len(aftermath.given["of"])
        cells = (entry.number or str(last), entry.posted, entry.party, *of, entry.kind)
        rows.append((*cells, aftermath.written(entry.amount), entry.ref, entry.text))
    return table((*aftermath.columns, "text"), rows)


def settled_files(aftermath: Aftermath, settled: Settled) -> dict[str, bytes]:
    """The files of the ledger as they are handed back."""
    return {
        aftermath.path("postings.csv"): _ledger_file(aftermath, settled.entries),
        aftermath.path(_HELD): table(("entry",), [(number,) for number in settled.held]),
    }


def _files(
    aftermath: Aftermath, ledger: Ledger, parties: Sequence[Key], old: _Superseded
) -> dict[str, bytes]:
    given = aftermath.given
    sheet = [(m, f"{given['handed_on'][m]}" if m in old.closed else "") for m in aftermath.months]
    return settled_files(aftermath, Settled(ledger.entries, ())) | {
        aftermath.path("months.csv"): table(("month", given["handed_on_column"]), sheet),
        aftermath.path(given["parties_file"]): table(given["parties_columns"], parties),
        aftermath.path("README.md"): given["about_ledger"].lstrip().encode(),
    }


READ_LEDGER = """import csv, sys
from decimal import Decimal
ledger, held, last, *columns = sys.argv[1:]
def rows(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        yield from csv.DictReader(file)
known, made = set(map(str, range(2601, int(last) + 1))), []
for row in rows(ledger):
    cells = {name: (row.get(name) or "").strip() for name in columns}
    cells["amount"] = f"{Decimal(cells['amount']):.2f}"
    cells["entry"] = cells["entry"] if cells["entry"] in known else "new"
    made.append(",".join(cells.values()))
waiting = {(row.get("entry") or "").strip() for row in rows(held)} - {""}
print(*sorted(made), *(f"held {number}" for number in sorted(waiting)), sep="\\n")
"""  # whatever order the lines have, and whatever numbers new entries


def read_arguments(aftermath: Aftermath, last: str) -> str:
    """What `READ_LEDGER` is called with; `last` is the last entry that was there."""
    paths = (aftermath.path("postings.csv"), aftermath.path(_HELD))
    return " ".join((*paths, last, *aftermath.columns))


def read_entries(aftermath: Aftermath, data: bytes) -> list[Entry]:
    """The entries of a ledger file of this project's own."""
    entries = []
    for row in csv.DictReader(io.StringIO(data.decode())):
        of = tuple(row[name] for name in aftermath.given["of"])
        units = int(row["amount"]) if aftermath.given["form"] == "minutes" else (
            aftermath.units(row["amount"])
        )  # fmt: skip
        party, posted = row[aftermath.given["party"]], date.fromisoformat(row["posted"])
        entries.append(
            Entry(row["entry"], posted, party, of if any(of) else (), row["kind"], units,
                  row["ref"], row["text"])
        )  # fmt: skip
    return entries
