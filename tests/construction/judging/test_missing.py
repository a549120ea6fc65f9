"""What a rejected request lacks is named in private, and described without its name."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from construction.judging.judge import JudgingConfig, contain
from construction.judging.missing import missing_in_case
from construction.judging.preflight import GATE, PreflightConfig
from construction.judging.rules.sentences import sought_nowhere
from construction.judging.signals import measure
from construction.judging.stage_output import write_contained
from construction.sessions.packaging.package import Identity, package
from data.contracts import (
    AgentAct,
    Deliverable,
    Disclosure,
    MissingInput,
    MissingKind,
    TaskInstance,
    Verdict,
    descriptions,
)
from data.stage_tables import MISSING, read_private
from tests.construction.judging.rules.cases import case
from tests.construction.sessions.instances import said

REPORT = "Write a one-page report on how our spring sales went, region by region."


def verdict(instance: TaskInstance, **conversation: object) -> Verdict:
    packaged = package(instance, [], Identity("t", "s", Disclosure.PUBLIC))
    seen = replace(packaged.conversation, **conversation)  # type: ignore[arg-type]
    return GATE.judge(measure(packaged.case, seen), PreflightConfig())


def shown(missing: tuple[MissingInput, ...]) -> list[tuple[str, str]]:
    return [(item.description, item.name) for item in missing]


def test_files_that_the_agent_read_are_named() -> None:
    acts = (AgentAct("read", "data/figures_march.xlsx", 0), AgentAct("read", "data/Regions", 0))
    judged = verdict(replace(said(REPORT), acts=acts))
    assert judged.reason == "preflight.missing_inputs"
    assert shown(judged.missing) == [
        ("a file .xlsx, read by the agent", "figures_march.xlsx"),
        ("a folder, read by the agent", "regions"),
    ]


@pytest.mark.parametrize(
    ("field", "reason", "description"),
    [
        ("systems_missing", "preflight.needs_live_system", "a system, named in the request"),
        ("records_missing", "preflight.missing_records", "other material, named in the request"),
        ("offline", "preflight.needs_network", "the web, named in the request"),
    ],
)
def test_systems_and_sites_are_named(field: str, reason: str, description: str) -> None:
    judged = verdict(said(REPORT), **{field: ("ledgerworks",)})
    assert judged.reason == reason
    assert shown(judged.missing) == [(description, "ledgerworks")]


def test_the_sentence_that_refers_to_an_earlier_conversation_is_named() -> None:
    sentence = "As we discussed in our last session, continue with the second draft."
    judged = verdict(said(REPORT, sentence))
    assert judged.reason == "preflight.leans_on_context"
    assert ("an earlier conversation, named in turn 2", sentence) in shown(judged.missing)


def test_what_is_sought_and_in_no_input_is_named() -> None:
    menu = case("What is the phone number of the cafe in menu.txt?", files=["menu.txt"])
    assert sought_nowhere(menu) == ()  # nothing is known of the file
    known = menu.model_copy(update={"excerpts": {"menu.txt": "Tea 2.00, open daily from 9 to 5"}})
    assert sought_nowhere(known) == ("phone number",)
    (item,) = missing_in_case(known, "self_containment.missing_input")
    assert (item.kind, item.name) == (MissingKind.MATERIAL, "phone number")
    answered = {"menu.txt": "Tea 2.00, call 555 0199"}
    assert sought_nowhere(menu.model_copy(update={"excerpts": answered})) == ()


def test_what_a_picture_shows_is_not_known_and_prices_are_no_phone_number() -> None:
    seen = case("What is the phone number of the cafe in menu.png?", files=["menu.png"])
    assert sought_nowhere(seen.model_copy(update={"excerpts": {"menu.png": "menu"}})) == ()
    priced = case("What is the phone number of the cafe in menu.txt?", files=["menu.txt"])
    excerpts = {"menu.txt": "Tea 2.00 3.50 4.20"}
    assert sought_nowhere(priced.model_copy(update={"excerpts": excerpts})) == ("phone number",)


@pytest.mark.parametrize(
    ("text", "file", "rows", "has_date"),
    [
        ("Schedule a meeting of all rowers on the calendar.", "crew.csv", "Ann, Bo", True),
        ("Find a slot for a talk with Ann, and create talk.ics.", "crew.csv", "Ann, Bo", True),
        ("Book each rower a check-up, one calendar event each.", "crew.csv", "Ann, Bo", True),
        ("Plan a talk with each rower and save calendar files.", "crew.csv", "Ann, Bo", True),
        ("给前三名安排一次颁奖，生成日历文件。", "crew.csv", "安, 波", True),
        ("约小组开会，每人一个日历事件。", "crew.csv", "安, 波", True),
        ("Add a lunch with Ann to Bo's calendar.", "Bo.ics", "SUMMARY: row", True),
        ("Move Bo's swim in the calendar to the afternoon.", "Bo.ics", "SUMMARY: row", True),
        ("Create a calendar event for Bo's birthday.", "crew.csv", "Ann, Bo", False),
        ("Create a calendar event for Bo's birthday.", "crew.csv", "Bo, 2031-05-04", True),
        ("Put the race of our schedule on the calendar.", "crew.csv", "Ann, Bo", False),
        ("Put the race at 9:30 on the calendar.", "crew.csv", "Ann, Bo", True),
        ("Put the race as the notification says on the calendar.", "crew.csv", "Ann", True),
        ("List the rowers and what they scheduled.", "crew.csv", "Ann, Bo", True),
        ("Put the race that the mail speaks of on the calendar.", "a.eml", "Come!", False),
        ("Put the race that the mail speaks of on the calendar.", "a.eml", "On Friday!", True),
        (
            "Put the race that the mail speaks of on the calendar.",
            "a.eml",
            "Come to the race!\nSent at: 2031-05-04 10:00",
            False,
        ),
        ("把邮件里说的比赛加到日历。", "a.eml", "欢迎参加比赛", False),
    ],
)
def test_an_event_needs_a_date_unless_it_may_be_chosen(
    text: str, file: str, rows: str, has_date: bool
) -> None:
    made = case(text, files=[file])
    kinds = (Deliverable(file_type="ics"),) if re.search("calendar|ics|日历", text) else ()
    candidate = made.candidate.model_copy(update={"deliverables": kinds})
    update = {"candidate": candidate, "excerpts": {file: rows}}
    expected = () if has_date else ("date of the event",)
    assert sought_nowhere(made.model_copy(update=update)) == expected


def test_what_passes_lacks_nothing() -> None:
    judged = verdict(said("Write a Python function that parses ISO dates"))
    assert (judged.reason, judged.missing) == (None, ())


def test_alike_descriptions_stand_once() -> None:
    acts = tuple(AgentAct("read", f"{month}.csv", 0) for month in ("may", "june"))
    judged = verdict(replace(said(REPORT), acts=acts))
    assert descriptions(judged.missing) == "a file .csv, read by the agent (2 times)"


def test_where_a_file_is_missing_sentences_are_not_named_beside_it() -> None:
    lost = case("The report should be short. Summarise the notes in notes.docx with this approach.")
    reason = "self_containment.missing_input"
    assert shown(missing_in_case(lost, reason)) == [
        ("a file .docx, named in the request", "notes.docx")
    ]


def test_a_case_that_is_not_self_contained_names_its_file_beside_the_ledger(
    tmp_path: Path,
) -> None:
    lost = case("Summarise the figures in figures_march.xlsx in one page.", task_id="lost")
    write_contained([lost], contain([lost], JudgingConfig(), None), {}, "rules", tmp_path)
    (row,) = pl.read_parquet(tmp_path / "ledger.parquet").to_dicts()
    assert row["reason"] == "self_containment.missing_input"
    assert row["evidence"] == '{"missing":"a file .xlsx, named in the request"}'
    assert (tmp_path / MISSING.file).is_file()
    (named,) = read_private([tmp_path], MISSING)
    assert (named["item_id"], named["name"]) == ("lost", "figures_march.xlsx")
