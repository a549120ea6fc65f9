"""What the baseline releases unread, and at what it abstains."""

from __future__ import annotations

import pytest

from construction.judging.baseline.screen import screen
from construction.judging.contracts import Case
from construction.judging.evidence.views import Said
from data.contracts import MissingInput
from tests.construction.judging.cases import case

READ = [("read", "tides.csv", 1)]
WROTE = [*READ, ("wrote", "high.md", 1)]
SUM_UP = "Put the highest tide of each month from tides.csv into high.md, one line a month."


@pytest.mark.parametrize(
    "passing",
    [
        case(SUM_UP, files=["tides.csv"], acts=WROTE, reply="It is in high.md."),
        case(SUM_UP, files=["tides.csv"]),
        case("Which month of tides.csv has the highest tide?", files=["tides.csv"]),
        case("把tides.csv每个月的最高潮位写成high.md", files=["tides.csv"]),
        case(
            SUM_UP,
            "Round the heights to one decimal in the lines, please.",
            files=["tides.csv"],
            acts=WROTE,
            reply="Done.",
        ),
        case(
            "Convert three offers to euros at 1 EUR = 0.85 GBP and say which is the cheapest per "
            "piece: Alder 8,200 GBP for 120 pieces, Birch 9,100 GBP for 140 pieces and Cedar 9,900 "
            "EUR for 150 pieces. Show how each price per piece comes about and name the winner?",
        ),
        case("Summarise the tickets in tickets.json by cause", files=["tickets.json"]),
    ],
    ids=str,
)
def test_one_request_with_its_files_and_its_result_passes(passing: Case) -> None:
    verdict = screen(passing)
    assert (verdict.self_contained, verdict.brief_reason) == (
        True,
        "one request; its files and its result are known",
    )


def plus(passing: Case, *said: Said, **evidence: object) -> Case:
    own = {**evidence, "said": (*passing.evidence.said, *said)}
    return passing.model_copy(update={"evidence": passing.evidence.model_copy(update=own)})


DONE = case(SUM_UP, files=["tides.csv"], acts=WROTE, reply="It is in high.md.")
PERSON = Said(speaker="person", text="Bring the lines into the order of the calendar")


@pytest.mark.parametrize(
    ("open_case", "reason"),
    [
        (case("tides.csv?", files=["tides.csv"]), "it says too little"),
        (case(f"Hi Morwenna, {SUM_UP}", files=["tides.csv"]), "addressed to a person"),
        (plus(DONE, Said(speaker="person:Kim", text="and the lowest as well")), "to a person"),
        (plus(DONE, before=(Said(speaker="person", text="x"),)), "more was said before it"),
        (plus(DONE, PERSON, PERSON, PERSON), "in many messages"),
        (plus(DONE, Said(speaker="person", text="yes")), "a short reply"),
        (plus(DONE, Said(speaker="person", text="now do the same with the file ebb.csv")), "other"),
        (plus(DONE, Said(speaker="agent", text="Which month?"), PERSON), "the agent asked back"),
        (plus(DONE, last_words="Shall I round?"), "the agent asked back"),
        (plus(DONE, last_words="", tools=("Read ×1",)), "did not finish"),
        (case(f"{SUM_UP} See https://a.example/t", files=["tides.csv"]), "on the network"),
        (case("Compare tides.csv with the file ebb.csv?", files=["tides.csv"]), "neither an input"),
        (case(SUM_UP, files=["tides.csv"], acts=READ, reply="Done."), "neither an input"),
        (case("How high is the highest tide of May?"), "brings little material"),
        (case("Why does it fail like this?", acts=[("ran", "x.sh", 1)], reply="So."), "worked on"),
        (case("Sort the rows of tides.csv", files=["tides.csv"]), "an answer or a file"),
        (case("Sort the rows of tides.csv", files=["tides.csv"], acts=WROTE, reply="So."), "name"),
        (case("Sort the rows of t.csv", files=["t.csv"], acts=[*READ, ("ran", "s.py", 1)],
              reply="So."), "may have changed files"),
        (case("Which rows of tides.csv are missing in the CRM?", files=["tides.csv"]), "(crm)"),
        (case("Which tide of tides.csv comes tomorrow, and when?", files=["tides.csv"]), "the day"),
        (case("Which row of tides.csv did we skip last time?", files=["tides.csv"]), "elsewhere"),
    ],
    ids=str,
)  # fmt: skip
def test_what_structure_leaves_open_needs_a_model(open_case: Case, reason: str) -> None:
    verdict = screen(open_case)
    assert (str(verdict.reason_code), reason in verdict.brief_reason) == ("needs_model", True)


def test_tools_beyond_files_and_cut_out_parts_need_a_model() -> None:
    for detail, reason in (
        ({"other_tools": ["mcp__mail__send ×1"]}, "the agent used more than files and a shell"),
        ({"redacted": True}, "parts of it were cut out"),
    ):
        source = DONE.candidate.provenance
        provenance = source.model_copy(update={"detail": source.detail | detail})
        candidate = DONE.candidate.model_copy(update={"provenance": provenance})
        assert screen(DONE.model_copy(update={"candidate": candidate})).brief_reason == reason


def test_a_name_that_is_nowhere_is_told() -> None:
    verdict = screen(case("Compare tides.csv with the file ebb.csv?", files=["tides.csv"]))
    (missing,) = verdict.missing
    assert isinstance(missing, MissingInput)
    assert (missing.name, missing.extension) == ("ebb.csv", "csv")


def test_an_edit_is_never_released_as_an_answer() -> None:
    """A workbook is to get a row, and the agent is unknown, or it ran code."""
    words = "Add a row Total under the shifts in rota.xlsx that sums the hours."
    ran = [("read", "rota.xlsx", 1), ("ran", "add.py", 1)]
    for acts, reply in ((ran[:0], ""), (ran, "Added.")):
        assert not screen(case(words, files=["rota.xlsx"], acts=acts, reply=reply)).self_contained
    changed = [("read", "rota.xlsx", 1), ("wrote", "rota.xlsx", 1)]
    edited = case(words, files=["rota.xlsx"], acts=changed, reply="Added.")
    assert screen(edited).self_contained
    assert [item.name_hints for item in edited.candidate.deliverables] == [("rota.xlsx",)]


def test_a_reset_is_the_persons_own_word_that_nothing_before_counts() -> None:
    before = plus(DONE, before=(Said(speaker="person", text="x"),))
    source = before.candidate.provenance
    detail = source.detail | {"started_by": "explicit_reset"}
    candidate = before.candidate.model_copy(
        update={"provenance": source.model_copy(update={"detail": detail})}
    )
    assert screen(before.model_copy(update={"candidate": candidate})).self_contained


def test_the_verdict_does_not_depend_on_the_order_of_files() -> None:
    paths = ["a.csv", "b.csv"]
    first = case("Which rows of a.csv are missing in b.csv?", files=paths)
    other = case("Which rows of a.csv are missing in b.csv?", files=paths[::-1])
    assert screen(first) == screen(other)
