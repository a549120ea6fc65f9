"""Screening by a model: claims with quotes, and the facts that overrule them."""

from __future__ import annotations

from typing import Any

import pytest

from construction.judging.baseline.screen import screen as by_facts
from construction.judging.calls.contracts import CallReason
from construction.judging.contracts import Case, Judged, Screened
from construction.judging.evidence.views import POINTER, FileView
from construction.judging.model.asking import ask
from construction.judging.model.screen import screen_stage
from data.contracts import MissingKind
from tests.construction.judging.model.answers import lack, screened
from tests.construction.judging.model.fakes import CONFIG, Scripted, always, case, with_scan

LEASES = {"leases.csv": "flat,ends\nPetrel,2026-03-20\nTern,2026-09-01\n"}
DUE = "Which leases in leases.csv end in the next 30 days?"


def judged(item: Case, *answers: dict[str, Any]) -> tuple[Judged[Screened], Scripted]:
    """The verdict where the model gives these answers, the last one again and again."""
    remaining = list(answers)
    client = Scripted(lambda question: remaining.pop(0) if len(remaining) > 1 else remaining[0])
    (single,) = ask(screen_stage(CONFIG, by_facts), [item], client)
    return single, client


def verdict(item: Case, **changes: Any) -> Screened:
    value = judged(item, screened(**changes))[0].value
    assert value is not None
    return value


def test_a_task_is_accepted_at_once() -> None:
    single, client = judged(case("Count the rows of a.csv.", {"a.csv": "x\n1\n"}), screened())
    assert single.value is not None and single.value.self_contained
    assert (single.notes, len(client.asked)) == ((), 1)


@pytest.mark.parametrize(
    ("words", "changes", "reason", "kind"),
    [
        ("Sum up the annex.", {"verdict": "missing_input", "missing": [lack("annex", "the annex")]},
         "missing_input", MissingKind.FILE),
        ("还是按上次说的口径再算一遍", {"verdict": "missing_context",
         "missing": [lack("口径", "上次说的口径", "context")]},
         "missing_context", MissingKind.CONVERSATION),
        ("Close ticket 4471.", {"verdict": "depends_on_live_system",
         "needs_world": [{"what": "the help desk", "quote": "Close ticket 4471"}]},
         "depends_on_live_system", MissingKind.SYSTEM),
    ],
)  # fmt: skip
def test_a_rejection_with_a_quote_stands_and_names_what_is_missing(
    words: str, changes: dict[str, Any], reason: str, kind: MissingKind
) -> None:
    value = verdict(case(words), **changes)
    assert value.reason_code == reason
    assert [single.kind for single in value.missing] == [kind]


@pytest.mark.parametrize(
    ("changes", "files"),
    [
        ({"verdict": "missing_input", "missing": [lack("the ledger", "see the big ledger")]}, {}),
        ({"verdict": "missing_input", "missing": [lack("Ledger.csv", "from ledger.csv")]},
         {"data/ledger.csv": "a\n1\n"}),
        ({"verdict": "depends_on_live_system",
          "needs_world": [{"what": "bank", "quote": "our bank portal"}]}, {}),
        ({"verdict": "missing_context"}, {}),
        ({"verdict": "multi_task"}, {}),
        ({"verdict": "conversation_only"}, {}),
        ({"verdict": "conversation_only", "is_work": False, "work_quote": "thanks a lot"}, {}),
    ],
)  # fmt: skip
def test_a_claim_against_a_fact_goes_back_once_and_then_falls(
    changes: dict[str, Any], files: dict[str, str]
) -> None:
    item = case("Sum the amounts from ledger.csv by month.", files)
    single, client = judged(item, screened(**changes))
    assert len(client.asked) == 2 and client.asked[1].repair is not None
    assert single.value is not None and single.value.self_contained
    assert single.detail  # what people are shown


@pytest.mark.parametrize(
    ("said", "kinds", "world", "reason"),
    [
        ("missing_input", ["system"], [], "depends_on_live_system"),
        ("missing_input", ["context"], [], "missing_context"),
        ("missing_input", [], ["my inbox"], "depends_on_live_system"),
        ("missing_context", ["file"], [], "missing_input"),
        ("depends_on_live_system", ["file"], [], "missing_input"),
        ("missing_input", ["file", "system"], [], "missing_input"),
    ],
)
def test_the_verdict_is_that_of_what_is_said_to_be_lacking(
    said: str, kinds: list[str], world: list[str], reason: str
) -> None:
    answer = screened(
        verdict=said,
        missing=[lack("the mails", "my inbox", kind) for kind in kinds],
        needs_world=[{"what": "the mailbox", "quote": quote} for quote in world],
    )
    single, client = judged(case("Sort my inbox by sender."), answer)
    assert single.value is not None
    assert (single.value.reason_code, len(client.asked)) == (reason, 1)


def test_a_file_whose_pages_are_not_shown_is_there() -> None:
    """It is listed, and whoever calls a file missing is asked once whether it is that one."""
    item = with_scan("How often is the pump greased, says the manual?")
    claim = screened(verdict="missing_input", missing=[lack("the manual", "the manual")])
    single, client = judged(item, claim, screened())
    assert single.value is not None and single.value.self_contained
    assert "MX-200.pdf: 2 pages; 2 of them hold no text" in client.asked[0].user
    assert client.asked[1].repair is not None
    assert "is “the manual” not what MX-200.pdf shows?" in client.asked[1].repair[1]
    held, _ = judged(item, claim)  # it can be no other file: the claim stands
    assert held.value is not None and held.value.reason_code == "missing_input"
    table = screened(verdict="missing_input", missing=[lack("hours.xlsx", "the manual")])
    assert len(judged(item, table)[1].asked) == 1  # of another type


def test_the_mended_answer_counts() -> None:
    wrong = screened(verdict="missing_input", missing=[lack("the ledger", "no such words")])
    right = screened(verdict="missing_input", missing=[lack("the ledger", "the ledger")])
    single, _ = judged(case("Sum the ledger by month."), wrong, right)
    assert single.value is not None and single.value.reason_code == "missing_input"


def test_people_among_themselves_are_no_task() -> None:
    item = case(["@Mia did you send the figures?", "great, thx"])
    value = verdict(
        item,
        verdict="conversation_only",
        addressee="someone_else",
        addressee_quote="@Mia did you send the figures?",
        work_quote="not there",
    )
    assert value.reason_code == "conversation_only"


def test_a_relative_day_is_known_from_the_times_of_messages() -> None:
    item = case(DUE, LEASES, at="2026-03-12T08:10+00:00")
    assert verdict(item, today="2026-03-12").today == "2026-03-12"
    missing = [lack("the day", "the next 30 days", "day")]
    value = verdict(item, verdict="missing_context", missing=missing)
    assert (value.self_contained, value.today) == (True, "2026-03-12")


def test_a_relative_day_that_nothing_tells_is_missing() -> None:
    missing = [lack("the day", "the next 30 days", "day")]
    value = verdict(case(DUE, LEASES), verdict="missing_context", missing=missing)
    assert (value.reason_code, value.missing[0].kind) == ("missing_context", MissingKind.DAY)
    assert verdict(case(DUE, LEASES), today="2031-01-01").today == ""  # made up
    assert verdict(case(DUE, LEASES), today="2026-03-20").today == "2026-03-20"  # in the file


def test_what_is_rejected_for_something_else_is_asked_for_no_day() -> None:
    """A day that a rejection gives, or leaves out, is no fault that goes back to the model."""
    missing = [lack("the leases", "Which leases")]
    for today in ("", "2031-01-01"):
        answer = screened(today=today, verdict="missing_input", missing=missing)
        single, client = judged(case(DUE), answer)
        assert single.value is not None
        assert (single.value.reason_code, single.value.today) == ("missing_input", "")
        assert len(client.asked) == 1


def test_results_among_the_inputs_go_only_if_the_agent_wrote_them() -> None:
    files = {"orders.csv": "a\n1\n", "depots.csv": "b\n2\n"}
    made = case("Total orders.csv into depots.csv.", files, evidence={"wrote": ("/w/depots.csv",)})
    assert verdict(made, results=["depots.csv", "orders.csv"]).results == ("depots.csv",)
    assert verdict(case("Total it.", files), results=["depots.csv"]).results == ()


def test_without_a_usable_answer_the_facts_judge() -> None:
    item = case("Count the rows of a.csv.", {"a.csv": "x\n1\n"})
    (single,) = ask(screen_stage(CONFIG, by_facts), [item], always(CallReason.REFUSED))
    assert single.value == by_facts(item)
    (none,) = ask(screen_stage(CONFIG, by_facts), [item], always(CallReason.BUDGET))
    assert (none.value, none.reason) == (None, "call.budget")


def test_a_pointer_is_no_file_that_is_there() -> None:
    item = case("Sum the boxes of orders.csv.")
    pointer = FileView(path="orders.csv", bytes=128, media_type="", kind="unreadable", note=POINTER)
    seen = item.evidence.model_copy(update={"files": (pointer,)})
    lacking = screened(verdict="missing_input", missing=[lack("orders.csv", "orders.csv")])
    single, client = judged(item.model_copy(update={"evidence": seen}), lacking)
    assert single.value is not None
    assert (single.value.reason_code, len(client.asked)) == ("missing_input", 1)
    shown = client.asked[0].user
    assert '"files_at_hand": "none"' in shown
    assert "orders.csv: no such file: it is not kept, or is to be made" in shown
