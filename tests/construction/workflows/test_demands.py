"""What readers held against tasks, as properties of every draft: dates, offsets, rules, demands."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from construction.workflows.contracts import Draft
from construction.workflows.registry import DRAFTS_EACH, drafts_of
from construction.workflows.registry import SMOKE as SCENARIOS
from construction.workflows.repair import catalogue
from construction.workflows.scenarios.surroundings import WITHDRAWN
from data.contracts.candidate import Check

SEED = 11
DRAFTS = {
    f"{draft.scenario}-{draft.number}": draft
    for draft in drafts_of(dict.fromkeys(SCENARIOS, DRAFTS_EACH), SEED)
}
REPAIRS = {
    f"{each.name}-{number}": each.build(number, SEED)
    for each in catalogue.REPAIRS
    for number in (1, 2, 3)
}
ZONES = {"+08:00": "Asia/Shanghai", "+01:00": "Europe/Brussels", "+02:00": "Europe/Brussels"}
DAY, INSTANT = r"\d{4}-\d\d-\d\d", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d"
MADE = "record_created"


def records(draft: Draft, service: str, plural: str) -> list[Mapping[str, Any]]:
    return list(draft.world.state.get(service, {}).get(plural, {}).values())


def made(draft: Draft) -> list[Check]:
    return [check for check in draft.checks if check.kind == MADE]


def texts(draft: Draft) -> Iterator[str]:
    """Bodies of rules that hold: published articles, and records that override."""
    for record in draft.overriding:
        service, plural, identifier = record.split("/")
        fields = draft.world.state[service][plural][identifier]
        yield str(fields.get("body") or fields.get("text") or "")


@pytest.mark.parametrize("name", DRAFTS)
def test_no_new_record_promises_or_plans_a_day_that_is_over(name: str) -> None:
    draft = DRAFTS[name]
    for check in made(draft):
        where = check.params["where"]
        days = [str(where[field]) for field in ("due_on", "start", "end") if field in where]
        if check.params["service"] == "mail":
            days += re.findall(DAY, json.dumps(where.get("body", "")))
        assert all(day[:10] >= draft.world.now[:10] for day in days), check.text


@pytest.mark.parametrize("name", DRAFTS)
def test_times_in_calendars_have_the_offset_of_their_day(name: str) -> None:
    draft = DRAFTS[name]
    zone = ZoneInfo(ZONES[draft.world.now[-6:]])
    written = json.dumps([check.params.get("where") for check in draft.checks])
    written += json.dumps(records(draft, "calendar", "events"))
    for instant in [draft.world.now, *re.findall(INSTANT, written)]:
        there = dt.datetime.fromisoformat(instant)
        assert there.utcoffset() == there.replace(tzinfo=zone).utcoffset(), instant


@pytest.mark.parametrize("name", DRAFTS)
def test_an_older_rule_of_the_same_person_is_withdrawn(name: str) -> None:
    """An older article is archived; a mail has no status, so the newer one has to say it."""
    draft = DRAFTS[name]
    mails = [record for record in draft.overriding if record.startswith("mail/")]
    for record in mails:
        newer = draft.world.state["mail"]["messages"][record.rpartition("/")[2]]
        older = [
            mail
            for mail in records(draft, "mail", "messages")
            if mail["sender"] == newer["sender"]
            and mail["sent_at"][:4] < newer["sent_at"][:4]
            and mail["id"] != newer["id"]
        ]
        if older:
            assert WITHDRAWN in newer["body"] or "is withdrawn" in newer["body"]


FLAGS = (  # scenario, what a professional acts on without a rule, words of the rule that names it
    ("newsletter_issue", "Consent: missing", "lacks the consent"),
    ("newsletter_issue", "Embargo until: 2026-10-05", "embargo ends"),
    ("picture_rights", "Use: print only", "print only"),
    ("picture_rights", "Region: home country", "home country"),
    ("picture_rights", "required, none given", "needs a credit"),
    ("picture_rights", "no consent form", "consent form"),
    ("price_letters", " DKK, valid", "not in EUR"),
    ("price_letters", "valid from 2026-03-01", "end of this month"),
    ("competitor_prices", "Members only.", "members only"),
    ("competitor_prices", "Out of stock.", "out of stock"),
    ("competitor_prices", "Price of a set", "for a set"),
    ("supplier_phones", '"kind": "forum"', "kind company"),
    ("travel_claims_zh", "没有发票", "没有发票"),
)


@pytest.mark.parametrize(("scenario", "flag", "rule"), FLAGS)
def test_a_red_flag_is_only_where_the_rule_names_it(scenario: str, flag: str, rule: str) -> None:
    flagged = []
    for draft in DRAFTS.values():
        if draft.scenario != scenario:
            continue
        shown = " ".join(
            json.dumps(fields, ensure_ascii=False)
            for collections in draft.world.state.values()
            for plural, kept in collections.items()
            for fields in kept.values()
            if plural != "articles"
        )
        is_named = any(rule in text for text in texts(draft))
        assert (flag in shown) == is_named
        flagged.append(is_named)
    assert sorted(flagged) == [False, False, False, True]


@pytest.mark.parametrize("name", [n for n in REPAIRS if n.startswith("price_cache")])
def test_the_log_of_a_cache_shows_the_case_that_was_reported(name: str) -> None:
    draft = REPAIRS[name]
    log = draft.inputs["shop.log"].decode()
    reported = re.search(r"pay in (\w{3})", draft.prompt)
    assert (reported.group(1) if reported else "EUR") in log.splitlines()[-1]
    minutes = [60 * int(line[:2]) + int(line[3:5]) for line in log.splitlines()]
    assert (max(minutes) - min(minutes) > 10) == ("hours old" in draft.prompt)


@pytest.mark.parametrize("name", DRAFTS)
def test_a_word_for_all_that_is_not_done_is_not_that_of_one_status(name: str) -> None:
    """Tasks, tickets and bugs have the status open, and others in which they are not done."""
    draft = DRAFTS[name]
    assert not re.search(r"\bopen (?:tasks?|tickets?|bugs?)\b", draft.prompt + draft.guidelines)


Demand = tuple[str, Callable[[Draft], bool]]


def _is_made(service: str, *fields: str) -> Callable[[Draft], bool]:
    return lambda draft: any(
        check.params["service"] == service and {*fields} <= check.params["where"].keys()
        for check in made(draft)
    )


def _sets(*fields: str) -> Callable[[Draft], bool]:
    return lambda draft: any(
        {*fields} & check.params["where"].keys()
        for check in draft.checks
        if check.kind in (MADE, "record_equals")
    )


DEMANDS: tuple[Demand, ...] = (
    (r"\btasks? (?:called )?'", _is_made("todo", "title")),
    (r"\b[Rr]eply to\b|gets a reply", _is_made("mail", "in_reply_to", "body")),
    (r"\bdue (?:on|in a week|the day|\d)|with the due dates", _sets("due_on")),
    (r"assigned to (?:the|its|their)|\band assigned\b", _sets("assignee", "owner")),
    (r"document '|store a document|save a document", _is_made("documents", "title", "body")),
    (r"\bnote called '|as a note '", _is_made("notes", "title", "body")),
    (r"into the calendar|Calendar entry|book it as", _is_made("calendar", "title", "start", "end")),
    (r"with (?:the|all) three", _is_made("calendar", "attendees")),
    (r"\b[Bb]ookmark\b", _is_made("web", "saved_page", "folder")),
    (r"in the details", _is_made("todo", "details")),
    (r"[Aa]pprove|reject", _sets("status", "stage")),
    (r"hours estimated|estimate in hours", _is_made("todo", "estimate_hours")),
)


@pytest.mark.parametrize(("words", "is_checked"), DEMANDS)
def test_what_a_request_demands_has_a_check(
    words: str, is_checked: Callable[[Draft], bool]
) -> None:
    demanded = [draft for draft in DRAFTS.values() if re.search(words, draft.prompt)]
    assert demanded
    assert [draft.scenario for draft in demanded if not is_checked(draft)] == []


@pytest.mark.parametrize("name", DRAFTS)
def test_an_address_in_a_request_is_in_its_rule(name: str) -> None:
    draft = DRAFTS[name]
    for address in re.findall(r"[\w.]+@[\w.-]+\.example", draft.prompt):
        assert any(address in text for text in texts(draft))


@pytest.mark.parametrize("name", REPAIRS)
def test_what_a_repair_demands_of_a_program_is_run(name: str) -> None:
    draft = REPAIRS[name]
    commands = [str(check.params.get("command")) for check in draft.checks]
    codes = [check.params.get("code", 0) for check in draft.checks]
    if "on standard error" in draft.prompt:
        assert any("2>&1 >/dev/null" in command for command in commands)
    for code in re.findall(r"exit code is (\d)", draft.prompt):
        assert int(code) in codes


@pytest.mark.parametrize("name", [n for n in REPAIRS if "service_settings" in n])
def test_a_log_is_of_after_what_it_results_from(name: str) -> None:
    inputs = REPAIRS[name].inputs
    if "moves.csv" in inputs:
        last = max(re.findall(DAY, inputs["moves.csv"].decode()))
        assert inputs["service.log"].decode()[:10] > last


@pytest.mark.parametrize("name", [n for n in REPAIRS if re.match("queue_log|backup", n)])
def test_logs_of_the_night_are_of_the_night(name: str) -> None:
    logs = [data.decode() for file, data in REPAIRS[name].inputs.items() if file.endswith(".log")]
    for log in logs:
        assert log[11:13] in ("00", "01", "02", "03")


@pytest.mark.parametrize("number", range(1, DRAFTS_EACH + 1))
def test_a_letter_announces_what_is_not_yet_valid(number: int) -> None:
    draft = DRAFTS[f"price_letters-{number}"]
    for letter in records(draft, "documents", "documents"):
        valid = letter["body"].partition("valid from ")[2][:10]
        written = dt.date.fromisoformat(letter["updated_at"][:10])
        assert 0 < (dt.date.fromisoformat(valid) - written).days < 90


@pytest.mark.parametrize("name", [n for n in REPAIRS if n.startswith("orders_transform")])
def test_an_order_is_changed_after_it_was_received(name: str) -> None:
    _, *lines = REPAIRS[name].inputs["raw.csv"].decode().splitlines()
    for line in lines:
        _, updated, _, _, received = line.split(",")
        moments = [dt.datetime.fromisoformat(each) for each in (received, updated)]
        assert moments == sorted(moments), line
