"""A thing that a request puts into a named file is asked for as no file of its own."""

from __future__ import annotations

import pytest

from tests.construction.judging.rules.cases import case

FILES = ["boats.csv"]


def results(text: str, files: list[str] | None = None) -> list[tuple[str, int]]:
    deliverables = case(text, files=FILES if files is None else files).candidate.deliverables
    return [(item.file_type, item.count) for item in deliverables]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Count the boats in boats.csv per club and draft a short mail to the clubs that have none."
         " All of it goes into clubs.md.", "md"),
        ("Write a mail to the harbour master on the late boats in boats.csv. At most 100 words."
         " Save it as harbour.txt.", "txt"),
        ("Write an e-mail to the harbour master from boats.csv. Thank him, saved as harbour.txt.",
         "txt"),
        ("Draw a line chart of boats.csv. Table and chart belong into boats.xlsx.", "xlsx"),
        ("Write a report on boats.csv and draw a bar chart; put both into boats.xlsx.", "xlsx"),
        ("Compare the boats, write the result to clubs.md. Also draft a mail to the crew in the"
         " same file.", "md"),
        ("Write the comparison to clubs.md. Draft a mail to the crew too. Put the mail in a"
         " separate section at the end.", "md"),
        ("Write the comparison to clubs.docx. Draw a bar chart of the weights.", "docx"),
        ("Schedule a meeting with each club and list the meetings. Everything in clubs.docx.",
         "docx"),
        ("统计 boats.csv 里的船数，再给没有船的俱乐部写一封邮件。全部写入 clubs.md。", "md"),
        ("根据 boats.csv 写一封邮件给港务长。不超过100字。保存为 harbour.txt。", "txt"),
        ("用 boats.csv 画一张柱状图，表格和图表都放进 clubs.xlsx。", "xlsx"),
        ("用 boats.csv 画一张柱状图，表和图都放各俱乐部.xlsx。", "xlsx"),
        ("比较船只，结果写入 clubs.md。给船员写一封邮件，邮件放在同一文件的末尾。", "md"),
    ],
)  # fmt: skip
def test_what_is_put_into_a_named_file_is_no_file_of_its_own(text: str, kind: str) -> None:
    assert results(text) == [(kind, 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write the comparison to clubs.md. Also draft a mail to the crew.",
         [("eml", 1), ("md", 1)]),
        ("Write the comparison to clubs.md. Draft a mail to the crew as .eml.",
         [("eml", 1), ("md", 1)]),
        ("Write the comparison to clubs.md. Draft a mail to the crew in a separate file.",
         [("eml", 1), ("md", 1)]),
        ("Write the comparison to clubs.md and email it to Ann.", [("eml", 1), ("md", 1)]),
        ("Write clubs.docx and draw a bar chart as a png.", [("docx", 1), ("png", 1)]),
        ("Write the weights to weights.csv and draw a bar chart.", [("csv", 1), ("png", 1)]),
        ("Write clubs.docx and schedule a meeting with Ann on 5/3/2031 at 10:00.",
         [("docx", 1), ("ics", 1)]),
        ("Fix the weights in boats.csv. Draft a mail to the crew.", [("csv", 1), ("eml", 1)]),
        ("用 boats.csv 画一张柱状图，表格写入 clubs.xlsx，图表另存为图片。",
         [("png", 1), ("xlsx", 1)]),
        ("比较船只，结果写入 clubs.md。另外给船员写一封邮件。", [("eml", 1), ("md", 1)]),
    ],
)  # fmt: skip
def test_what_is_wanted_beside_a_named_file_stays_a_file(
    text: str, expected: list[tuple[str, int]]
) -> None:
    assert results(text) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Send emails crew.eml to Bob and Tom.", 1),
        ("Send emails named crew.eml to Bob, Tom and Ada.", 1),
        ("发邮件 crew.eml 给小王和小李。", 1),
        ("Send emails crew.eml to each of Bob and Tom.", 2),
        ("Send individual emails crew.eml to Bob and Tom.", 2),
        ("Send separate emails crew.eml to Bob, Tom and Ada.", 3),
        ("Write emails crew.eml and save them in the folder of each rower.", 2),
    ],
)
def test_one_mail_goes_to_several_people_unless_each_has_one(text: str, count: int) -> None:
    assert results(text) == [("eml", count)]


def test_letters_of_a_word_are_no_letter() -> None:
    text = "Clean boats.csv and save it as clean.csv. Write the names with capital first letters."
    assert results(text) == [("csv", 1)]


def test_what_a_chinese_verb_orders_after_a_file_is_no_change_of_it() -> None:
    read_only = "看 boats.csv 里的意见，按次数给问题排序，存成 ranks.md。"
    assert results(read_only) == [("md", 1)]
    for name in ("boats.csv", "`boats.csv`", "「data/boats.csv」"):
        changed = f"把{name}排序，并把说明写入 ranks.md。"
        assert results(changed) == [("csv", 1), ("md", 1)]
