"""Actions on services: done in the file that holds their state, or not at all."""

from __future__ import annotations

import pytest

from construction.mentions.services import missing_services, served_inputs
from tests.construction.judging.rules.cases import case


@pytest.mark.parametrize(
    ("text", "given", "served", "missing"),
    [
        ("Repair the nightly tide job.", ["scheduler/jobs.json"], ["scheduler/jobs.json"], []),
        ("Repair the nightly tide job.", ["tides.csv"], [], ["repair the nightly tide job"]),
        ("Find out why it fails, then restart the failed sync.", [], [],
         ["restart the failed sync"]),
        ("Read the notes and create a to-do for Ada.", ["todo/items.json", "notes.md"],
         ["todo/items.json"], []),
        ("Read the notes and create a to-do for Ada.", ["notes.md"], [], ["create a to-do"]),
        ("Create a ticket.", ["tickets/a.eml"], [], ["create a ticket"]),
        ("Create a ticket template for the helpdesk.", ["notes.md"], [], []),
        ("Create a to-do list for the trip.", [], [], []),
        ("Add a to-do for Ada to plan.xlsx.", ["plan.xlsx"], [], []),
        ("Fix the broken tide job.", ["tide.py"], [], []),
        ("Fix the broken tide job.\n\ndiff --git a/tide b/tide", [], [], []),
        ("Do not restart the tide job.", [], [], []),
        ("Explain how to restart a job.", [], [], []),
        ("Describe the job of a pilot.", [], [], []),
        ("修复夜间的定时任务。", ["a.csv"], [], ["修复夜间的定时任务"]),
        ("为林岸创建一个待办。", ["todo/tasks.json"], ["todo/tasks.json"], []),
        ("写一份待办清单。", [], [], []),
    ],
)  # fmt: skip
def test_what_is_done_to_a_service(
    text: str, given: list[str], served: list[str], missing: list[str]
) -> None:
    assert list(served_inputs(text, given)) == served
    assert list(missing_services(text, given)) == missing


def test_the_state_of_the_service_is_what_is_delivered() -> None:
    item = case("Repair the nightly tide job.", files=("scheduler/jobs.json",))
    (deliverable,) = item.candidate.deliverables
    assert (deliverable.file_type, deliverable.name_hints) == ("json", ("jobs.json",))


@pytest.mark.parametrize("text", ["Send a notice to the crew on the tides.", "给船员发一份通知。"])
def test_a_notice_is_a_mail(text: str) -> None:
    assert [item.file_type for item in case(text).candidate.deliverables] == ["eml"]
