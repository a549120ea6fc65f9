"""Stores of records of which a request speaks as of ones that are there."""

from __future__ import annotations

import pytest

from construction.mentions.stores import missing_stores

INBOX, CUSTOMERS, TABLE = "gmail/inbox.json", "crm/customers.json", "data.xlsx"


@pytest.mark.parametrize(
    ("text", "paths", "missing"),
    [
        ("Check my calendar and find a slot.", [], ["my calendar"]),
        ("Check my calendar and find a slot.", ["week.ics"], []),
        ("Go through my unread mail and sort it.", [], ["my unread mail"]),
        ("Which products are running low?", [], ["products are running low"]),
        ("Pick five articles from my RSS feeds.", [], ["my rss feeds"]),
        ("Take the minutes of our last meetings and list the tasks.", [], ["the minutes"]),
        ("Clean up the open tickets of March.", ["helpdesk/tickets.json"], []),
        ("List the customers whose contracts end in June.", [], ["the customers whose"]),
        ("帮我整理未读邮件，列出发件人。", [], ["未读邮件"]),
        ("帮我整理未读邮件，列出发件人。", ["邮件/inbox.json"], []),
        ("把会议纪要里的行动项和现有待办对比。", ["minutes.md"], ["现有待办"]),
    ],
)
def test_what_is_read_is_missing_unless_a_file_stands_for_it(
    text: str, paths: list[str], missing: list[str]
) -> None:
    assert list(missing_stores(text, paths)) == missing


@pytest.mark.parametrize(
    ("text", "paths", "missing"),
    [
        ("Read the mail, then check in my calendar what is free.", [INBOX], ["my calendar"]),
        ("For each customer list the open tickets.", [CUSTOMERS], ["the open tickets"]),
        ("For each customer list the open tickets.", [CUSTOMERS, "tickets.csv"], []),
        ("For each customer list the open tickets.", [CUSTOMERS, TABLE], ["the open tickets"]),
        ("For each customer list the open tickets.", ["crm.csv", TABLE], []),
        ("Check related emails of each customer.", [CUSTOMERS], ["related emails"]),
        ("Then check emails from them.", [CUSTOMERS], ["emails"]),
        ("Check the contact details of the account manager.", [CUSTOMERS], ["contact details"]),
        ("Find the open tickets and count them.", [TABLE], []),
        ("Check my calendar for a free slot.", [TABLE], ["my calendar"]),
        ("Collect from:\n1. customers\n2. stock levels", [CUSTOMERS], ["stock levels"]),
    ],
)
def test_files_of_other_stores_do_not_stand_for_it_and_unknown_ones_may(
    text: str, paths: list[str], missing: list[str]
) -> None:
    assert list(missing_stores(text, paths)) == missing


@pytest.mark.parametrize(
    "text",
    [
        'Create a calendar event "Review" on 12 March 2026 from 10:00 to 11:30.',
        "Write a template for support tickets with a field for severity.",
        "Write a knowledge base article on how to reset a password.",
        "Write ten tips on how to keep an inbox tidy.",
        "Explain how to merge two calendars.",
        "Draft a survey for our customers on delivery.",
        "Do not touch:\n- the inbox\n- my calendar\nWrite a poem on spring.",
        "Do not read the open tickets; write a policy.",
        "Week: 9:00 to 10:00 budget, 11:00 to 12:00 audit, 15:00 to 16:00 hiring. From 17:00 gym."
        " Find a free slot.",
        "Sort the unread mails pasted here.",
        "Count the open tickets in week.csv.",
        "写一份通知：仓库关闭三天。",
    ],
)
def test_what_is_made_brought_or_named_as_a_file_needs_no_store(text: str) -> None:
    assert missing_stores(text, []) == ()


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Set up a meeting with Omar for Thursday.", ["set up a meeting"]),
        ("Put the dates on my calendar.", ["put the dates on my calendar"]),
        ("Save the gist of it as a note.", ["save the gist of it as a note"]),
        ("把会议加到日历。", ["加到日历"]),
        ("Do not set up a meeting with Omar.", []),
        ("Check the open tickets and write report.md.", ["the open tickets"]),
    ],
)
def test_beside_the_export_of_one_store_orders_that_change_another_need_it(
    text: str, missing: list[str]
) -> None:
    assert list(missing_stores(text, [INBOX])) == missing
    assert missing_stores(text, [INBOX, "calendar/events.json", "notes.md", "tickets.json"]) == ()


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Read the mails and send each sender an answer.", ["send"]),
        ("Sort the mails; forward the offers to purchasing.", ["forward"]),
        ("Read the mails and draft an answer to each.", []),
        ("Draft the answers; do not send them.", []),
        ("Send me a table of the senders.", []),
        ("把投诉邮件整理成表，并发送给负责人。", ["发送"]),
        ("读邮件，起草回复，不要发送。", []),
        ("List the customers who send complaints.", []),
    ],
)
def test_beside_an_export_an_order_to_send_needs_the_system(text: str, missing: list[str]) -> None:
    assert list(missing_stores(text, [INBOX, CUSTOMERS])) == missing
    assert missing_stores(text, ["mails/a.eml"]) == ()


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Find duplicates in our customer list.", ["our customer list"]),
        ("Track my parcel.", ["my parcel"]),
        ("从考勤系统导出三月的记录。", ["考勤系统"]),
        ("Find a slogan for our bakery.", []),
        ("Write a letter to our suppliers.", []),
    ],
)
def test_what_is_the_persons_own_is_missing_where_there_is_no_file(
    text: str, missing: list[str]
) -> None:
    assert list(missing_stores(text, [])) == missing
    assert missing_stores(text, [TABLE]) == ()


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Summarise my expenses: taxi 12, hotel 140, dinner 35.", []),
        ("Classify these customer tickets as bug or wish: 1) it crashes 2) add dark mode", []),
        ("Summarise my expenses: by month and by person.", ["my expenses"]),
        ("Find these customer tickets: 1) A-12 2) A-14", ["customer tickets"]),
    ],
)
def test_what_the_request_lists_itself_is_there(text: str, missing: list[str]) -> None:
    assert list(missing_stores(text, [])) == missing


def test_many_items_and_verbs_take_linear_time() -> None:
    text = "Collect from:\n" + "- the inbox and find the open tickets\n" * 3000
    assert missing_stores(text * 3, []) == ("the inbox", "the open tickets")
