"""What a faulty program left behind: the right ledger, derived twice, and the papers on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import cache

import pytest

from construction.grading.programs import Program, Ran
from construction.workflows.contracts import Fields
from construction.workflows.documents.check import long_sentences
from construction.workflows.repair import papers
from construction.workflows.repair.aftermath import (
    Aftermath,
    Entry,
    Facts,
    Ledger,
    _settle,
    changed_rule,
    drawn_change,
    read_aftermath,
)
from construction.workflows.repair.catalogue import BY_NAME, screen_repair
from construction.workflows.repair.drafts import Draw, RepairDraft, untar
from construction.workflows.repair.faulty_programs import NAMES
from construction.workflows.repair.papers import facts_said, states_facts
from construction.workflows.repair.settlement import read_archive
from construction.workflows.repair.working_program import edited, read_program, run_project
from construction.workflows.screening import ScreeningConfig, ScreenReason

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
    settled = _settle(RATEBOOK, Ledger(tuple(entries), KINDS, right), what)
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
    settled = _settle(RATEBOOK, ledger, facts())
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


BUILT = [each if each == "ratebook" else pytest.param(each, marks=pytest.mark.slow)
         for each in WITH]  # fmt: skip


def papers_of(draft: RepairDraft) -> list[Fields]:
    assert draft.world is not None
    return [*draft.world.state["archive"]["papers"].values()]


def texts_of(draft: RepairDraft) -> list[str]:
    return [paper["body"] for paper in papers_of(draft)]


@pytest.mark.parametrize("name", BUILT)
def test_who_has_files_and_archive_alone_derives_the_same_ledger(name: str) -> None:
    draft = drafted(name, 1)
    solved = tree_of(name, BY_NAME[name].solve(draft.rule, draft.inputs, draft.world))
    check = draft.checks[0]
    reads = check.params["command"].rpartition(" && ")[2]
    script = {"read.py": check.params["files"]["read.py"]["text"].encode()}
    printed = [run_project({**tree, **script}, [reads])[0].split("\n")[:-1]
               for tree in (solved, tree_of(name, draft.inputs))]  # fmt: skip
    assert printed[0] == check.params["after"][0]["params"]["is"] != printed[1]
    assert printed[0][-1].startswith("held ")


@pytest.mark.parametrize("name", BUILT)
def test_papers_are_many_and_in_the_archive_and_the_request_names_none(name: str) -> None:
    draft, given = drafted(name, 1), (read_aftermath(name) or pytest.fail()).given
    files = tree_of(name, draft.inputs)
    assert [path for path in files if path.startswith("office/")] == ["office/README.md"]
    everything = "\n".join((*texts_of(draft), files["office/README.md"].decode()))
    assert 100 <= len(papers_of(draft)) <= 230 and len(everything) > 60_000
    assert not any(mark in everything for mark in ("<<", ">>", "{", "}"))
    own = {paper["title"] for paper in given["papers"] if "{" not in paper["title"]} - {""}
    assert not any(title in draft.prompt for title in own)
    folders = Counter(paper["folder"] for paper in papers_of(draft))
    assert set(folders) == {"channel", "decisions", "mails", "minutes", "tickets"}
    assert folders["channel"] >= 45
    said = facts_said(given, texts_of(draft))
    assert {"small", "since", "booked", "held_trade", "returned_of", *given["change"]["facts"]} <= {
        *said
    }
    assert ("late_month" in said) != ("back_month" in said)


@pytest.mark.parametrize("name", BUILT)
def test_the_reference_reading_finds_all_that_decides_in_three_quarters(name: str) -> None:
    draft, aftermath = drafted(name, 1), read_aftermath(name) or pytest.fail()
    assert draft.world is not None and draft.world.allowance is not None
    deciding = [text for text in texts_of(draft) if states_facts(aftermath.given, text)]
    marked = [p for p in aftermath.given["papers"] if "<<" in p["text"]]
    assert len(deciding) == len(marked) - 1  # a month was handed on late, or came back
    reading = read_archive(aftermath, tree_of(name, draft.inputs), draft.world)
    assert sorted(reading.opened) == sorted(deciding)
    assert (reading.unreached, draft.unreached) == ((), ())
    assert reading.requests == draft.requests
    assert 0 <= draft.world.allowance - 4 * draft.requests / 3 < 5
    assert f"answers {draft.world.allowance} requests in all" in draft.prompt
    rest = [
        each
        for each in texts_of(draft)
        if any(party in each for party in given_parties(aftermath, draft)) and each not in deciding
    ]
    assert len(rest) >= 5  # parties are spoken of where nothing is decided


def given_parties(aftermath: Aftermath, draft: RepairDraft) -> list[str]:
    rows = tree_of(aftermath.name, draft.inputs)[aftermath.path(aftermath.given["parties_file"])]
    return [row.split(",")[1].strip('"') for row in rows.decode().splitlines()[1:]]


@pytest.mark.parametrize("name", WITH)
def test_words_that_are_searched_for_stand_in_what_is_handed_over(name: str) -> None:
    """A clerk has them from the folder, or from the request."""
    given, program = (read_aftermath(name) or pytest.fail()).given, read_program(name)
    known = [data.decode() for path, data in program.project.items() if path.endswith(".md")]
    known += [given["about_ledger"], given["about_office"], *given["kinds"], *given["requests"]]
    text = "\n".join(known).lower()
    queries = [search["query"] for search in given["searches"] if "query" in search]
    assert [query for query in queries if query not in text] == []
    assert len(given["searches"]) <= 12


def test_a_paper_that_no_search_lists_is_named_and_its_draft_is_no_task() -> None:
    draft, aftermath = drafted("ratebook", 1), read_aftermath("ratebook") or pytest.fail()
    few = {**aftermath.given, "searches": aftermath.given["searches"][1:]}  # no decisions
    tree = tree_of("ratebook", draft.inputs)
    reading = read_archive(replace(aftermath, given=few), tree, draft.world or pytest.fail())
    assert "Billing round of May: summer schedule" in reading.unreached

    def run(_: Program) -> Ran:
        raise AssertionError("nothing is run for a draft that cannot be solved")

    lost = replace(draft, unreached=reading.unreached)
    seen = screen_repair(lost, BY_NAME["ratebook"], run, ScreeningConfig())
    assert seen.reason == ScreenReason.UNREACHED
    assert seen.verdict.measures["named"] == reading.unreached[0]


@pytest.mark.parametrize("name", WITH)
def test_ordinary_papers_are_enough_and_repeat_nothing(name: str) -> None:
    """Sentences that recur would show those that do not: what decides."""
    ordinary = papers._ordinary(name)
    assert len(ordinary.papers) >= 40 and len(ordinary.talks) >= 60 and len(ordinary.asides) >= 15
    texts = [*("\n".join(paper["paragraphs"]) for paper in ordinary.papers), *ordinary.asides]
    texts += ["\n".join(talk) for talk in ordinary.talks]
    given = (read_aftermath(name) or pytest.fail()).given
    texts += [paper["text"] for paper in given["papers"]]
    sentences = Counter(each for text in texts for each in long_sentences([text]))
    assert [sentence for sentence, times in sentences.items() if times > 1] == []


@pytest.mark.slow
def test_drafts_of_a_program_differ_in_their_facts_and_share_no_paper() -> None:
    first, second = (drafted("ratebook", n) for n in (1, 2))
    said = [facts_said((RATEBOOK or pytest.fail()).given, texts_of(each))
            for each in (first, second)]  # fmt: skip
    assert sum(said[0].get(slot) != said[1].get(slot) for slot in said[0]) > len(said[0]) // 2
    assert not {*texts_of(first)} & {*texts_of(second)}
    assert len({*texts_of(first)}) == len(texts_of(first))


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
    assert papers._slots("Up to {small} is not let be", text) is None
    assert papers._slots("More.", text) == {}
    assert papers._slots("is let be, said {who}", "is let be, said Ann\nmore") == {"who": "Ann"}


@pytest.mark.parametrize("name", WITH)
def test_no_sentence_on_facts_begins_with_one(name: str) -> None:
    """It would be found at any line."""
    given = (read_aftermath(name) or pytest.fail()).given
    marked = [(fact, text) for paper in given["papers"]
              for fact, text in papers._pieces(paper["text"]) if fact]  # fmt: skip
    assert len(marked) >= 12
    assert [fact for fact, text in marked if text.startswith("{")] == []
