"""Names that may be results although nothing is said of making them."""

from __future__ import annotations

import pytest

from construction.mentions.named_files import named_files, output_files
from tests.construction.sessions.instances import said


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Summarise the contracts. The result goes to summary.docx.", "summary.docx"),
        ("I expect two files from you: clean.csv and log.txt.", "log.txt"),
        ("When you are done I should find ranking.csv in the folder.", "ranking.csv"),
        ("Your answer belongs in answer.txt.", "answer.txt"),
        ("Name the file notes_2024.md.", "notes_2024.md"),
        ("Have the memo ready as memo.docx by noon.", "memo.docx"),
        ("Compare the drafts; differences go into diff.md.", "diff.md"),
        ("Everything in one workbook, All.xlsx, with a tab per region.", "All.xlsx"),
        ("Write the names of the winners to winners.txt.", "winners.txt"),
        ("The report lives at q3.md once you are done.", "q3.md"),
        ("Leave the finished version at final.docx.", "final.docx"),
        ("Final answer file: `final.txt`.", "final.txt"),
        ("Plan.xlsx should have a tab for each month.", "Plan.xlsx"),
        ("A second file, extra.csv, lists the rejected rows.", "extra.csv"),
        ("Save one file per week: week_1.csv, week_2.csv.", "week_2.csv"),
        ("Document your assumptions in assumptions.md", "assumptions.md"),
        ("The top five into top5.csv, please.", "top5.csv"),
        ("Summarise the minutes in a new doc page2.docx", "page2.docx"),
        ("Write a page and link to details.md, which you also write.", "details.md"),
        ("First, an Excel file Stats.xlsx with two sheets.", "Stats.xlsx"),
        ('Excel file "Stats.xlsx" with two sheets', "Stats.xlsx"),
        ("## Output\n\n- `top.json`: the ten busiest hosts", "top.json"),
        ("**Deliverables**\n`top.json` holds the ten busiest hosts.", "top.json"),
        ("I'd like:\n\n  • top.json with the ten busiest hosts", "top.json"),
        ("需要提交：answer.json，其中包含两个字段", "answer.json"),
        ("The dashboard must live at /srv/app/index.html.", "/srv/app/index.html"),
        ("A reviewer will open report.html in a browser.", "report.html"),
        ("At the end an overview, overview.md, should exist.", "overview.md"),
        ("When done, email the team with update.eml attached.", "update.eml"),
        ("Send out an invite.ics to everyone.", "invite.ics"),
        ("Generate a pdf of the post, post.pdf in the data folder", "post.pdf"),
        ("Add the meeting to Bob's calendar bob.ics", "bob.ics"),
        ("We need the deliverables by noon: memo.docx and chart.png.", "memo.docx"),
        ("请生成 Excel 文件 a.xlsx（包含两个工作表）和 Word 文档 b.docx。", "b.docx"),
        ("文件名为 list.csv。", "list.csv"),
        ("Write a short note about the boat and its price in note.docx", "note.docx"),
        ("Count the mails that Carla got and summarize it in mail_count.pdf", "mail_count.pdf"),
        ("Read the inbox, then present the statistics in stat_2.pdf", "stat_2.pdf"),
        ("Review the contract and list the risks in risks.md", "risks.md"),
        ("Describe the picture in description.txt", "description.txt"),
        ("Tell Bob what he has to do via mail tasks.eml", "tasks.eml"),
        ("分析所有邮件，把结果总结在 summary.docx 里", "summary.docx"),
        ("阅读邮件并在 answer.txt 中回答", "answer.txt"),
        ("Write a letter about broken lamps, letter.docx", "letter.docx"),
        ("Please design a logo for a rowing club, logo.svg.", "logo.svg"),
        ("写一首关于灯塔的诗，灯塔.txt", "灯塔.txt"),
    ],
)
def test_it_is_a_result_unless_such_a_file_exists(text: str, name: str) -> None:
    instance = said(text)
    assert name in [mention.path for mention in output_files(instance)]
    assert name not in [mention.path for mention in named_files(instance).declared]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I have one file, data.csv, with all rows.", "data.csv"),
        ("There is a list (people.csv) with all names.", "people.csv"),
        ("Look into data.csv", "data.csv"),
        ("A config file settings.toml is included.", "settings.toml"),
        ("See guide.pdf for the format.", "guide.pdf"),
        ("Create a workbook with the totals in data.csv.", "data.csv"),
        ("Create plan.pdf from notes.docx.", "notes.docx"),
        ("Write a summary of the rows in data.csv.", "data.csv"),
        ("Make a chart from last year's sales, sales.xlsx", "sales.xlsx"),
        ("我有一个表格，people.csv", "people.csv"),
        ("我手上有大约七万行日志，存放在\naccess.log，帮我看看", "access.log"),
    ],
)
def test_what_is_said_to_be_at_hand_stays_an_input(text: str, name: str) -> None:
    assert [mention.path for mention in named_files(said(text)).declared] == [name]


def test_a_file_whose_part_is_pasted_is_not_needed() -> None:
    code = "```python\ndef low(day):\n    return 6\n```"
    pasted = said(f"Turn this function of tide.py into a generator:\n\n{code}")
    assert named_files(pasted).declared == ()
    other = said(f"Use the function in tide.py to read this:\n\n{code}")
    assert [mention.path for mention in named_files(other).declared] == ["tide.py"]
    assert [
        mention.path for mention in named_files(said("Turn this function of tide.py.")).declared
    ]


def test_a_name_below_a_heading_of_inputs_stays_an_input() -> None:
    text = "## Output\n\n- top.json: the hosts\n\n## Given\n\n- `hosts.csv` holds the hosts"
    assert [mention.path for mention in named_files(said(text)).declared] == ["hosts.csv"]


def test_a_silent_name_is_a_result_where_other_inputs_are_given() -> None:
    """Nothing says what `ranks.txt` is: an input alone, a result beside `people.csv`."""
    instance = said("Sort people.csv by age. Ranks: ranks.txt")
    assert [mention.silent for mention in named_files(instance).declared] == [False, True]
    assert output_files(instance) == ()
    assert [mention.path for mention in output_files(instance, ["people.csv"])] == ["ranks.txt"]
    assert output_files(instance, ["people.csv", "in/ranks.txt"]) == ()


def test_what_the_words_speak_of_as_there_is_not_silent() -> None:
    for text in ("policy.md says so.", "As described in policy.md, pay.", "Use our policy.md."):
        assert [mention.silent for mention in named_files(said(text)).declared] == [False], text
