"""Systems, the web, a browser and mail that a request wants."""

from __future__ import annotations

import pytest

from construction.mentions.resources import ResourceKind, missing_systems, wants


@pytest.mark.parametrize(
    ("text", "paths", "missing"),
    [
        ("Pull the grades from the LMS.", [], ["lms"]),
        (
            "It begins with querying the learning management system.",
            [],
            ["learning management system"],
        ),
        ("Search an online research database for papers.", [], ["research database"]),
        ("Pull the quiz rows from Canvas.", [], ["canvas"]),
        ("Pull every row of the Airtable base.", ["airtable_snapshot.json"], []),
        ("Create a Notion page with the summary.", [], ["notion"]),
        ("Look up the customers in CRM.", ["crm/customers.json"], []),
        ("Look up the customers in CRM.", ["notes.md"], ["crm"]),
        ("查一下知识库怎么解决。", [], ["知识库"]),
        ("Create test cases in TestRail for the gate.", ["notes.md"], ["testrail"]),
        ("Get the bugs from our issue tracker.", ["notes.md"], ["issue tracker"]),
        ("Get the bugs from our issue tracker.", ["issues.json"], []),
        ("查一下知识库怎么解决。", ["kb/articles.json"], []),
        ("Retrieve the prices from the market data service.", [], ["market data service"]),
        ("Retrieve the prices from the market data service.", ["market.csv"], []),
        ("Close the stale bugs in our tracker.", [], ["tracker"]),
        ("Who are the ten largest customers according to the CRM?", ["fees.xlsx"], ["crm"]),
        ("在CRM里找出没有联系过的客户。", ["fees.xlsx"], ["crm"]),
        ("在CRM里找出没有联系过的客户。", ["crm/customers.json"], []),
        ("从Jira导出本周的缺陷。", [], ["jira"]),
        ("客户管理系统里最大的客户是谁？", [], ["客户管理系统"]),
        ("写一份关于Jira的介绍。", [], []),
        ("Trage den Anruf im CRM ein.", [], ["crm"]),
        ("Design a booking system for the library.", [], []),
        ("Make a content calendar for LinkedIn and our blog.", [], []),
        ("Our CRM is slow. Write a memo on why.", [], []),
        ("Explain in a note how our team reviews a pull request.", [], []),
        ("Look up the train schedules to Kiel for Monday.", ["guide.md"], ["train schedules"]),
        ("Look up the train schedules to Kiel for Monday.", ["trains.csv"], []),
        ("查一下明天去昆明的航班。", [], ["航班"]),
        ("Write a memo on how we publish train schedules.", [], []),
        ("Do not look up the weather forecast; use the table.", [], []),
        (
            "Plan the week and take a screenshot of the planner.",
            ["week.csv"],
            ["take a screenshot of"],
        ),
        ("Read the screenshot and list the prices.", ["shot.png"], []),
        ("Do not take a screenshot of the planner.", [], []),
        ("Open the planner and save a screenshot as day.png.", [], ["save a screenshot"]),
        ("Save the screenshot as a PDF.", ["shot.png"], []),
        ("打开日程应用并截图。", [], ["并截图"]),
        ("请给出日程应用的截图。", [], ["给出日程应用的截图"]),
        ("把附件截图里的表格整理成 day.csv。", ["shot.png"], []),
        ("根据我提供的截图写一份说明。", ["shot.png"], []),
        ("Search the web for the ferry times and take a screenshot of the table.", [], []),
        ("上网查渡轮时刻表，截图保存。", [], []),
        ("排好渡轮时刻表，截图保存。", [], ["截图保存"]),
        ("排好日程并提交日历截图。", ["week.csv"], ["提交日历截图"]),
        ("排好日程，保存日历页面的截图。", ["week.csv"], ["保存日历页面的截图"]),
        ("Save the plan and a screenshot as plan.png.", ["week.csv"], []),
        ("保存计划和一张截图。", ["week.csv"], []),
    ],
)
def test_a_system_is_missing_where_no_input_stands_for_it(
    text: str, paths: list[str], missing: list[str]
) -> None:
    assert list(missing_systems(text, paths)) == missing


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("Search the web for three sources.", ResourceKind.WEB, True),
        ("Do not search the web.", ResourceKind.WEB, False),
        ("上网搜一下三个来源。", ResourceKind.WEB, True),
        ("好像是网上搜的，忘了是哪个。", ResourceKind.WEB, False),
        ("Who is this person, and give me a source link.", ResourceKind.WEB, True),
        ("图中的人是谁？", ResourceKind.WEB, True),
        ("Who is the person to call? See contacts.csv.", ResourceKind.WEB, False),
        ("不要上网搜。", ResourceKind.WEB, False),
        ("Use the browser to open the page.", ResourceKind.BROWSER, True),
        ("Send an email to Ann.", ResourceKind.MAIL, True),
        ("把日历事件发给我。", ResourceKind.CALENDAR, True),
        ("Sum the column.", ResourceKind.WEB, False),
        ("Do not edit any rows, send emails or book rooms.", ResourceKind.MAIL, False),
        ("Only read: never move files, send emails, or delete notes.", ResourceKind.MAIL, False),
        ("If you cannot find it, send an email to Ann or Bob.", ResourceKind.MAIL, True),
        ("Do not edit the rows but send an email to Ann.", ResourceKind.MAIL, True),
        ("不要修改任何文件、发送邮件或新建日历事件。", ResourceKind.MAIL, False),
        ("不要修改文件，发送邮件，或新建日历事件。", ResourceKind.CALENDAR, False),
        ("不要修改文件，请发送邮件给小安。", ResourceKind.MAIL, True),
    ],
)
def test_the_web_a_browser_and_messages(text: str, kind: ResourceKind, wanted: bool) -> None:
    assert wants(text, kind) is wanted


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Write a guide on how to clean up an overfull inbox.", ()),
        ("Write SQL queries against a CRM database with the tables customers and deals.", ()),
        ("Write a guide from the pages in our Confluence.", ("confluence",)),
        ("Write a checklist for new hires, then log into Salesforce.", ("salesforce",)),
    ],
)
def test_what_a_text_is_written_about_is_not_opened(text: str, missing: tuple[str, ...]) -> None:
    assert missing_systems(text, ()) == missing
