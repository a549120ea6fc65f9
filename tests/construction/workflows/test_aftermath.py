"""What a faulty program left behind: the right ledger, derived twice, and the papers on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import cache

import pytest

from construction.workflows.repair import papers
from construction.workflows.repair.aftermath import (
    Entry,
    Facts,
    Ledger,
    changed_rule,
    drawn_change,
    read_aftermath,
    settle,
)
from construction.workflows.repair.catalogue import BY_NAME
from construction.workflows.repair.drafts import Draw, RepairDraft, untar
from construction.workflows.repair.faulty_programs import NAMES
from construction.workflows.repair.papers import facts_said
from construction.workflows.repair.working_program import edited, read_program, run_project

WITH = [name for name in NAMES if read_aftermath(name)]
RATEBOOK = read_aftermath("ratebook")
KEYS: dict[str, tuple[str, ...]] = {
    name: (name, "2026-02-01", "2026-03-01") for name in ("A1", "A2", "A3", "A4", "A5")
}
RIGHT = {KEYS["A1"]: 900, KEYS["A2"]: 1300, KEYS["A3"]: 1000, KEYS["A4"]: 1020, KEYS["A5"]: 700}
KINDS = {"A1": "business", "A2": "private", "A3": "public body", "A4": "business", "A5": "business"}


def entry(party: str, number: str, amount: int = 1000, month: int = 3) -> Entry:
    return Entry(number, date(2026, month, 4), party, KEYS[party][1:], "invoice", amount)


def facts(**changed: object) -> Facts:
    plain = Facts(
        frozenset({"2026-03"}), 0, "", "", 0, date.min, "", "", (), "", ("", 0), ("", ""),
        date(2026, 5, 29),
    )  # fmt: skip
    return replace(plain, **changed)  # type: ignore[arg-type]


def booked(parties: str, what: Facts, month: int = 3) -> tuple[dict[str, tuple[int, str]], int]:
    """Corrections by account: amount and ref; and the amount of the first entry afterwards."""
    assert RATEBOOK is not None
    entries = [entry(party, f"{2601 + n}", month=month) for n, party in enumerate(parties.split())]
    right = {key: units for key, units in RIGHT.items() if key[0] in parties}
    settled = settle(RATEBOOK, Ledger(tuple(entries), KINDS, right), what)
    new = {e.party: (e.amount, e.ref) for e in settled.entries if e.kind == "correction"}
    return new, settled.entries[0].amount


def test_a_month_that_was_handed_on_gets_entries_and_another_is_changed() -> None:
    assert booked("A1", facts()) == ({"A1": (-100, "2601")}, 1000)
    assert booked("A1", facts(), month=4) == ({}, 900)


def test_limits_are_included_and_kinds_and_parties_have_their_own() -> None:
    assert booked("A1 A4", facts(small=20))[0] == {"A1": (-100, "2601")}
    assert booked("A1 A4", facts(small=19))[0].keys() == {"A1", "A4"}
    assert booked("A1 A4", facts(small=100, strict="business"))[0].keys() == {"A1", "A4"}
    strict = facts(small=100, strict="business", lenient="A4", own_limit=20)
    assert booked("A1 A4", strict)[0].keys() == {"A1"}


def test_more_is_asked_for_by_day_and_kind_save_of_who_wants_it() -> None:
    assert booked("A1 A2", facts(since=date(2026, 2, 2)))[0].keys() == {"A1"}
    assert booked("A1 A2", facts(since=date(2026, 2, 1)))[0].keys() == {"A1", "A2"}
    assert booked("A1 A2", facts(spared="private"))[0].keys() == {"A1"}
    wants = facts(spared="private", since=date(2026, 2, 2), insists="A2")
    assert booked("A1 A2", wants)[0]["A2"] == (300, "2602")


def test_what_was_agreed_given_moved_and_held() -> None:
    assert booked("A1", facts(agreed="2601"))[0] == {}
    assert booked("A1", facts(returned=("2601", -40)))[0] == {"A1": (-60, "2601")}
    assert booked("A1", facts(returned=("2601", -100)))[0] == {}
    assert booked("A1", facts(moved=("A1", "A1-N")))[0] == {"A1-N": (-100, "2601")}
    assert booked("A1", facts(held=("A1",))) == ({}, 1000)


def test_what_has_no_entry_counts_as_nothing() -> None:
    assert RATEBOOK is not None
    ledger = Ledger((entry("A1", "2601"),), KINDS, {KEYS["A5"]: 700})
    settled = settle(RATEBOOK, ledger, facts())
    new = sorted((e.party, e.amount, e.ref) for e in settled.entries if e.kind == "correction")
    assert new == [("A1", -1000, "2601"), ("A5", 700, "")]


@cache
def drafted(name: str, number: int) -> RepairDraft:
    return BY_NAME[name].build(number, 11)


def tree_of(name: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {
        member.name.removeprefix(f"{name}/"): member.content
        for member in untar(files[f"{name}.tar"])
        if member.content is not None
    }


@pytest.mark.parametrize(
    "name", [each if each == "ratebook" else pytest.param(each, marks=pytest.mark.slow)
             for each in WITH]
)  # fmt: skip
def test_who_has_the_archive_alone_derives_the_same_ledger(name: str) -> None:
    draft = drafted(name, 1)
    solved = tree_of(name, BY_NAME[name].solve(draft.rule, draft.inputs))
    check = draft.checks[0]
    reads = check.params["command"].rpartition(" && ")[2]
    script = {"read.py": check.params["files"]["read.py"]["text"].encode()}
    printed = [run_project({**tree, **script}, [reads])[0].split("\n")[:-1]
               for tree in (solved, tree_of(name, draft.inputs))]  # fmt: skip
    assert printed[0] == check.params["after"][0]["params"]["is"] != printed[1]
    assert printed[0][-1].startswith("held ")


@pytest.mark.parametrize(
    "name", [each if each == "ratebook" else pytest.param(each, marks=pytest.mark.slow)
             for each in WITH]
)  # fmt: skip
def test_papers_are_many_and_the_request_names_none(name: str) -> None:
    draft, given = drafted(name, 1), (read_aftermath(name) or pytest.fail()).given
    office = {p: d for p, d in tree_of(name, draft.inputs).items() if p.startswith("office/")}
    text = b"\n".join(office.values()).decode()
    assert 20 <= len(office) <= 60 and len(text) > 100_000
    assert not any(mark in text for mark in ("<<", ">>", "{", "}"))
    assert not any(path in draft.prompt for path in office)
    said = facts_said(given, office)
    assert {"small", "since", "booked", "held_trade", "returned_of", *given["change"]["facts"]} <= {
        *said
    }
    assert ("late_month" in said) != ("back_month" in said)


@pytest.mark.slow
def test_drafts_of_a_program_differ_in_their_facts() -> None:
    assert RATEBOOK is not None
    said = [
        facts_said(RATEBOOK.given, tree_of("ratebook", drafted("ratebook", n).inputs))
        for n in (1, 2)
    ]
    assert sum(said[0].get(slot) != said[1].get(slot) for slot in said[0]) > len(said[0]) // 2


@pytest.mark.parametrize("name", WITH)
def test_the_newer_rule_changes_the_program_and_nothing_that_is_tested(name: str) -> None:
    aftermath, program = read_aftermath(name), read_program(name)
    assert aftermath is not None
    for number in (1, 2, 3):
        edits = changed_rule(aftermath, drawn_change(aftermath, Draw(11, name, number)))
        changed = edited(program.project, edits, undo=True)
        assert edited(changed, edits) == program.project != changed
        assert all(f"<{slot}>" not in new for _, new, _ in edits
                   for slot in aftermath.given["change"]["facts"])  # fmt: skip


def test_slots_are_read_where_the_whole_sentence_stands() -> None:
    text = "Up to a point.\nUp to 3.50 is let be, said Ann, from 2 May 2026 on. More."
    sentence = "Up to {small} is let be, said {who}, from {day} on."
    assert papers._slots(sentence, text) == {"small": "3.50", "who": "Ann", "day": "2 May 2026"}
    assert papers._slots("Up to {small} is not let be", text) == {}
    assert papers._slots("is let be, said {who}", "is let be, said Ann\nmore") == {"who": "Ann"}


@pytest.mark.parametrize("name", WITH)
def test_no_sentence_on_facts_begins_with_one(name: str) -> None:
    """It would be found at any line."""
    given = (read_aftermath(name) or pytest.fail()).given
    marked = [(fact, text) for paper in given["papers"]
              for fact, text in papers._pieces(paper["text"]) if fact]  # fmt: skip
    assert len(marked) >= 12
    assert [fact for fact, text in marked if text.startswith("{")] == []
