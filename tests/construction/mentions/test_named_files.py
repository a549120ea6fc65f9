from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.mentions.extensions import BARE_NAMES
from construction.mentions.named_files import (
    MAX_MENTIONS,
    declared_files,
    named_files,
    output_files,
)
from construction.mentions.spans import find_file_spans
from data.contracts import Attachment, TaskInstance
from tests.construction.sessions.instances import said


def declared(instance: TaskInstance) -> list[str]:
    return [mention.path for mention in declared_files(instance)]


def outputs(instance: TaskInstance) -> list[str]:
    return [mention.path for mention in output_files(instance)]


@pytest.mark.parametrize("name", sorted(BARE_NAMES | {"id_rsa", "id_dsa", "id_ed25519"}))
def test_names_without_an_extension_are_known_as_a_whole(name: str) -> None:
    assert [span.path for span in find_file_spans(f"please read {name} first")] == [name]


@pytest.mark.parametrize(
    ("text", "inputs", "results"),
    [
        ("Read data/sales.csv and save it to out/sum.xlsx", ["data/sales.csv"], ["out/sum.xlsx"]),
        ("Send offer.pdf to Ana via note.eml", ["offer.pdf"], ["note.eml"]),
        ("Split them in two files n.xlsx and s.xlsx", [], ["s.xlsx", "n.xlsx"]),
        ("Sort the bills and organize them into bills.xlsx", [], ["bills.xlsx"]),
        ("Find the fees. Record date, place, etc. in excel fees.xlsx", [], ["fees.xlsx"]),
        ("Mark gaps as `OPEN` and explain in `gaps.md` what is missing", [], ["gaps.md"]),
        ("Explain the loop in main.c", ["main.c"], []),
        ("The loop reads &flags.json twice", [], []),
        ("Summarize the comments in review.docx", ["review.docx"], []),
        ("Each `<id>.json` has a title, each `{day}.csv` a header", [], []),
        ("Convert a.docx to b.pdf", ["a.docx"], ["b.pdf"]),
        (
            "Merge jan.csv, feb.csv and mar.csv into q1.csv",
            ["jan.csv", "feb.csv", "mar.csv"],
            ["q1.csv"],
        ),
        ("Create a chart from report (1).xlsx", ["report (1).xlsx"], []),
        ("Please also take [REDACTED]/budget.xlsx in", ["[REDACTED]/budget.xlsx"], []),
        ("Compare it with report [EMAIL].docx", ["report [EMAIL].docx"], []),
        ("Write a README.md for the project", [], ["README.md"]),
        ("I want a report.docx based on raw.csv", ["raw.csv"], ["report.docx"]),
        (
            "Write clean.py that reads data.csv and writes clean.csv",
            ["data.csv"],
            ["clean.py", "clean.csv"],
        ),
        ("Compare the sums in Q1.xlsx to those in Q2.xlsx", ["Q1.xlsx", "Q2.xlsx"], []),
        ("Extract the tables from scan.pdf to tables.xlsx", ["scan.pdf"], ["tables.xlsx"]),
        ("Save the chart as c.png and the rows in t.csv", [], ["c.png", "t.csv"]),
        ("Add a totals column to summary.xlsx", ["summary.xlsx"], []),
        ("results should be written to out.csv", [], ["out.csv"]),
        ("The rows were saved in rows.csv, please plot them", ["rows.csv"], []),
        ("Generate a PDF report (report.pdf)", [], ["report.pdf"]),
        ("Summarize interview.docx in summary.md", ["interview.docx"], ["summary.md"]),
        ("Inputs:\n- a.csv\n- b.csv\nOutputs:\n- c.csv", ["a.csv", "b.csv"], ["c.csv"]),
        ("Use template.docx as the template", ["template.docx"], []),
        ("Check that the totals in a.xlsx match b.xlsx", ["a.xlsx", "b.xlsx"], []),
        ("合并 a.pdf、b.pdf → c.pdf", ["a.pdf", "b.pdf"], ["c.pdf"]),
        ("不用管 旧版.docx，以 新版.docx 为准", ["新版.docx"], []),
        ("将 a.png 和 b.png 拼成 c.png", ["a.png", "b.png"], ["c.png"]),
        ("把 /data/导出/订单.csv 里的退款单找出来", ["/data/导出/订单.csv"], []),
        ("Don't read a.csv, b.csv or c.csv, use d.csv", ["d.csv"], []),
        ("The export in data.csv has errors", ["data.csv"], []),
        ("Save the bar chart to chart.png", [], ["chart.png"]),
        ("The deliverable is deck.pptx", [], ["deck.pptx"]),
        ("The output should be result.csv", [], ["result.csv"]),
        ("The output in result.csv looks wrong", ["result.csv"], []),
        ("Output the totals in result.csv", [], ["result.csv"]),
        ("budget.xlsx needs a pivot table", ["budget.xlsx"], []),
        ("根据销售数据.xlsx生成汇总表.xlsx", ["销售数据.xlsx"], ["汇总表.xlsx"]),
        ("把报告.docx转换成 report.pdf", ["报告.docx"], ["report.pdf"]),
        ("请打开 名单.xlsx，汇总后保存为 汇总.xlsx", ["名单.xlsx"], ["汇总.xlsx"]),
        ("生成 sales.xlsx 的汇总图表", ["sales.xlsx"], []),
        ("我写了一份方案.docx，请帮我润色", ["方案.docx"], []),
        ("请将分析结果写入result.json", [], ["result.json"]),
        ("我上传了合同.pdf和补充协议.docx，请对比", ["合同.pdf", "补充协议.docx"], []),
        ("昨天我把数据导出到 客户.csv 了，你看看", ["客户.csv"], []),
        ("帮我做个PPT，名字叫 季度汇报.pptx", [], ["季度汇报.pptx"]),
        ("对账单.xlsx 和 流水.csv 核对一下", ["对账单.xlsx", "流水.csv"], []),
        ("Fix the parser, and put everything in parser.py", [], ["parser.py"]),
        ("The chart goes on page one. 图和表都放 图表.xlsx", [], ["图表.xlsx"]),
        ("做一张排班表，文件名用 排班.xlsx", [], ["排班.xlsx"]),
        ("核对开放日名单（`名单.csv`）和签到表（`签到.csv`）", ["名单.csv", "签到.csv"], []),
        ("看一下库存（stock.csv）", ["stock.csv"], []),
        ("分析本月支出：spend.xlsx", ["spend.xlsx"], []),
        ("三个部门的周报（a1.txt、b1.txt）合成一页", ["a1.txt", "b1.txt"], []),
        ("3个部门的周报（a1.txt、b1.txt）合成一页", ["a1.txt", "b1.txt"], []),
        ("写一份分析报告 out.docx", [], ["out.docx"]),
        ("生成对账单 out.xlsx", [], ["out.xlsx"]),
        ("写一封跟进邮件 out.docx", [], ["out.docx"]),
        ("写产品介绍 out.docx", [], ["out.docx"]),
        ("各月份明细 a1.csv 汇总一下", ["a1.csv"], []),
        ("写个脚本读取 a1.csv，结果写到 b1.csv", ["a1.csv"], ["b1.csv"]),
        ("做一个对比：a1.csv 和 b1.csv", ["a1.csv", "b1.csv"], []),
        ("把“扫描 (2).PDF”这类文件名改成“2025_2.pdf”，清单存为 list.csv", [], ["list.csv"]),
    ],
)
def test_inputs_and_results(text: str, inputs: list[str], results: list[str]) -> None:
    instance = said(text)
    assert declared(instance) == inputs
    assert outputs(instance) == results


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('Open "Q3 sales report.xlsx" now', "Q3 sales report.xlsx"),
        ("Open `notes.md` now", "notes.md"),
        ("请看《2024 年度 预算表（终版）.xlsx》", "2024 年度 预算表（终版）.xlsx"),
        ("请看「会议 纪要.docx」", "会议 纪要.docx"),
        (
            r"Open C:\Users\Li Wei\My Files\budget final.xlsx",
            r"C:\Users\Li Wei\My Files\budget final.xlsx",
        ),
        (r"读取 D:\数据\一月.csv 的内容", r"D:\数据\一月.csv"),
        (r"read \\nas\share\plan.docx", r"\\nas\share\plan.docx"),
        ("look at ~/Desktop/shot.png", "~/Desktop/shot.png"),
        ("read @packages/app/src/main.ts in full", "packages/app/src/main.ts"),
        ("unpack logs.tar.gz", "logs.tar.gz"),
        ("see 报告(终稿)[v2].docx please", "报告(终稿)[v2].docx"),
        ("read /etc/passwd", "/etc/passwd"),
        ("use ../../secrets/x and summarise", "../../secrets/x"),
        ("use the .env file", ".env"),
        ("take services/api/.env into account", "services/api/.env"),
        ("另外请参考services/api/.env。", "services/api/.env"),
        ("read services/api/Dockerfile", "services/api/Dockerfile"),
        ("read `sums/+SUM&$HOME'x.csv` too", "sums/+SUM&$HOME'x.csv"),
        ("check `.aws/credentials`", ".aws/credentials"),
        ("Go through the folder data/interviews", "data/interviews"),
        ("请把 data/访谈记录 这个目录下的都读一遍", "data/访谈记录"),
        ("raw files are in data/raw/", "data/raw/"),
        ("fix the Dockerfile", "Dockerfile"),
        ("use this list:\n```\ndata/a.csv\n```", "data/a.csv"),
    ],
)
def test_names_are_found_whole(text: str, path: str) -> None:
    assert declared(said(text)) == [path]


@pytest.mark.parametrize(
    "text",
    [
        "We run Node.js v18.2.0, Vue.js and ASP.NET",
        "see https://example.com/a/file.pdf?x=y.csv for more",
        "see docs.python.org/3/library/index.html for more",
        "mail bob@acme.py or ann@corp.md",
        "version 1.2.3, e.g. the U.S. one at 10.30a.m",
        "use and/or, I/O, 24/7, his/her",
        "list every *.csv and report_*.txt",
        "name them YYYY-MM-DD_topic.csv or <name>.csv or {id}.json",
        "use $NAME.csv or report_$DATE.csv or out-$(date).csv",
        "rename files like 'Scan (2).PDF' to '2025_2.pdf'",
        "the Scan_2.PDF-style names are odd",
        "for example final_v2.csv",
        "文件命名规则如 2024_report.xlsx",
        "Don't touch config.yaml",
        "不要修改 config.yaml",
        "without opening notes.txt",
        "What is package.json used for?",
        "什么是 package.json",
        "Is a robots.txt file necessary?",
        "Here is config.yaml:\n```\na: 1\n```",
        '```\nopen("data.csv")\nprint(x)\n```',
        'it fails:\n  File "/srv/app.py", line 3',
        "$ python run.py --in data.csv\nENOENT: open '/x/y.json'",
        "call console.log(x) and response.json()",
        "docx or .pdf, whatever",
    ],
)
def test_what_declares_nothing(text: str) -> None:
    assert declared(said(text)) == []


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("plan.md is now in the docs/ folder, read it", ["plan.md"]),
        ("I uploaded a.csv to data/raw/", ["a.csv"]),
        ("打开文件夹 /home/u/项目资料/ 里的预算.xlsx", ["预算.xlsx"]),
        ("Compare a.csv with everything in data/raw/", ["a.csv", "data/raw/"]),
        ("Start with what we have in data/raw/.", ["data/raw/"]),
    ],
)
def test_a_folder_that_only_places_a_file_is_no_input(text: str, inputs: list[str]) -> None:
    assert declared(said(text)) == inputs


def test_attachments_are_declared_and_named_once() -> None:
    attached = [Attachment("/root/inputs/x.docx"), Attachment(None, "image/png", "aGk=")]
    instance = said("Summarise x.docx and the picture", attachments=attached)
    assert declared(instance) == ["/root/inputs/x.docx", ""]


def test_an_attachment_is_recognised_by_its_whole_name() -> None:
    attached = [Attachment("/in/Q3 final report.xlsx", None, "aGk=")]
    instance = said("Total the Q3 final report.xlsx please", attachments=attached)
    assert declared(instance) == ["/in/Q3 final report.xlsx"]


def test_two_inline_pictures_are_two_files() -> None:
    pictures = [Attachment(None, "image/png", "aGk="), Attachment(None, "image/png", "aG8=")]
    assert len(declared_files(said("compare them", attachments=pictures))) == 2


def test_an_attached_link_is_no_file() -> None:
    assert declared(said("look", attachments=[Attachment("https://a.example/x.png")])) == []


def test_the_same_file_is_declared_once_under_its_longest_name() -> None:
    instance = said("Read sales.csv.", "Then check data/sales.csv and sales.csv again.")
    assert declared(instance) == ["data/sales.csv"]


def test_what_the_agent_wrote_before_is_no_input() -> None:
    acts = [("wrote", "/root/work/out/summary.md", 1)]
    later = "Compare it with {} please"
    assert declared(said("Draft it", later.format("out/summary.md"), acts=acts)) == []
    assert declared(said("Draft it", later.format("summary.md"), acts=acts)) == []
    # same name, another folder
    other = later.format("data/summary.md")
    assert declared(said("Draft it", other, acts=acts)) == ["data/summary.md"]


def test_a_result_asked_for_is_no_input_later() -> None:
    instance = said("Save it as out.xlsx", "Open out.xlsx and add a chart")
    assert (declared(instance), outputs(instance)) == ([], ["out.xlsx"])


def test_an_input_that_is_overwritten_stays_an_input() -> None:
    assert declared(said("Fill in form.xlsx and save it as form.xlsx")) == ["form.xlsx"]


@pytest.mark.parametrize(("kind", "inputs"), [("read", ["plan.md"]), ("wrote", [])])
def test_acts_settle_what_words_leave_open(kind: str, inputs: list[str]) -> None:
    instance = said("plan.md, three sections", acts=[(kind, "/work/plan.md", 1)])
    assert declared(instance) == inputs


@pytest.mark.parametrize(
    "text",
    [
        "I need a one-page note in Markdown (note.md) that names the five worst",
        "A short report in note.md is enough",
        "A clean one-page document, note.md",
        "One to two pages, note.md",
        "1 to 2 pages, note.md",
        "One row per person with the rates visible as formulas, in note.md",
        "Everything in note.md",
        "最后一张汇总表，note.md",
        "一份报告（note.md）就行",
    ],
)
def test_a_result_without_a_verb_is_told_by_the_first_act(text: str) -> None:
    assert outputs(said(text, acts=[("wrote", "/w/note.md", 1)])) == ["note.md"]
    assert declared(said(text, acts=[("read", "/w/note.md", 1)])) == ["note.md"]
    silent = named_files(said(text))
    assert [mention.path for mention in (*silent.declared, *silent.open)] == ["note.md"]


@pytest.mark.parametrize(
    "text",
    [
        "Read note.md and shorten it",
        "The total in note.md is wrong",
        "Add a summary to note.md",
        "看一下 note.md",
        "把 note.md 精简一半",
    ],
)
def test_an_edit_without_reading_makes_no_result_of_an_input(text: str) -> None:
    assert declared(said(text, acts=[("wrote", "/w/note.md", 1)])) == ["note.md"]


def test_a_gateways_word_for_a_picture_is_the_picture_itself() -> None:
    stand_in, picture = Attachment(None, "image/*"), Attachment("/in/a.jpg", "image/jpeg")
    assert declared(said("crop it", attachments=[picture, stand_in])) == ["/in/a.jpg"]
    assert declared(said("crop it", attachments=[stand_in, stand_in, picture])) == ["", "/in/a.jpg"]
    # nothing else arrived: what was sent is lost
    assert declared(said("crop it", attachments=[stand_in])) == [""]
    sheet = Attachment("/in/a.xlsx")
    assert declared(said("crop it", attachments=[sheet, stand_in])) == ["/in/a.xlsx", ""]


def test_your_file_is_an_earlier_tasks_in_the_first_turn_only() -> None:
    words = "The report.docx you generated lacks a chart"
    assert declared(said(words)) == ["report.docx"]
    assert declared(said("Write it", words)) == []
    assert declared(said("写一份", "你刚才生成的 report.docx 少了一列")) == []


def test_observed_files_are_read_by_the_agent_alone() -> None:
    acts = [
        ("read", "/w/data/sales.csv", 1),
        ("read", "/w/glossary.md", 1),
        ("wrote", "/w/out.md", 1),
        ("read", "/w/out.md", 1),
        ("read", "/w/glossary.md", 3),
        ("ran", "/w/make.py", 3),
    ]
    instance = said("Read data/sales.csv", acts=acts)
    assert [mention.path for mention in named_files(instance).observed] == ["/w/glossary.md"]


def test_wide_holds_what_may_belong_to_the_name() -> None:
    (mention,) = declared_files(said("please open Q3 final report.xlsx"))
    assert (mention.path, mention.wide) == ("report.xlsx", "please open Q3 final report.xlsx")


def test_mentions_are_bounded() -> None:
    listing = " ".join(f"f{number}.csv" for number in range(2000))
    assert len(declared_files(said("read " + listing))) == MAX_MENTIONS


PIECES = st.sampled_from(
    ["read ", "保存为", "a.csv", "报告.docx", "`", '"', "(", "）", "C:\\x\\", "/", "\n", "- ", "，",
     "not ", "```", "@", "https://a.example/x.pdf", "~/", "..", "*", "《", "》", " "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
def test_spans_lie_in_the_text_and_do_not_overlap(text: str) -> None:
    spans = find_file_spans(text)
    for span in spans:
        assert text[span.start : span.end] == span.path
        assert 0 <= span.reach <= span.start < span.end
    assert all(left.end <= right.start for left, right in pairwise(spans))


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/x.pdf " * 15_000,
        "a.csv" * 60_000,
        '"a.csv ' * 50_000,
        "C:\\a b " * 50_000 + "x.docx",
        "```\n" * 80_000 + "a.csv",
        "file.py:1:1 " * 30_000,
        "(" * 300_000 + ").docx",
        "报告" * 150_000 + ".docx",
        "1.1." * 80_000 + "csv a.csv",
        "a/" * 150_000,
        "\\" * 300_000 + "a.csv",
        "." * 300_000 + "env a.csv",
    ],
)
@pytest.mark.timeout(120)  # what is not linear takes hours
def test_hostile_texts_take_linear_time(text: str) -> None:
    declared(said(text))


@pytest.mark.parametrize(
    "text",
    [
        "又到了月度报销对账的时候，我有三张扫描的\n超市小票，放在 /srv/in/receipts/，"
        "请写入 /srv/out/sum.csv。",
        "我把手头的东西整理到了 /srv/in/receipts/ 下：请写 /srv/out/sum.csv。",
        "候选论文都在 `/srv/in/receipts/` 中，请写 /srv/out/sum.csv。",
    ],
)
def test_a_folder_in_which_something_lies_is_an_input(text: str) -> None:
    named = named_files(said(text))
    assert [mention.path for mention in named.declared] == ["/srv/in/receipts/"]
    assert [mention.path for mention in named.outputs] == ["/srv/out/sum.csv"]


def test_a_negation_in_the_sentence_before_a_wrapped_name_counts_no_more() -> None:
    text = "金额用数值格式，而不是文本。请同时写出\n/srv/out/flags.csv，每张一行。"
    assert [mention.path for mention in named_files(said(text)).outputs] == ["/srv/out/flags.csv"]


def test_a_list_in_a_file_is_a_result_where_only_other_inputs_are_at_hand() -> None:
    instance = said("List the meetings of Kim in meetings.xlsx")
    assert [mention.path for mention in output_files(instance, ["kim.ics"])] == ["meetings.xlsx"]
    assert output_files(instance, ["meetings.xlsx"]) == output_files(instance) == ()
    assert declared(instance) == ["meetings.xlsx"]


def test_pasted_diffs_and_terminal_sessions_name_no_files() -> None:
    diff = "diff --git a/app/run.go b/app/run.go\n--- a/app/run.go\n+++ b/app/run.go\n@@ -1 +1 @@\n"
    diff += '-load("old.toml")\n+load("new.toml")\n\n return os.Open("keys.pem")\n'
    shell = "[03/11/26 9:05  ~/src/boats] boats sync\n\nReading logs [1/1]\n\n"
    shell += "📊 Counts written to: /Users/kim/src/boats/counts.json\n"
    for text in (f"Current diff: {diff}", f"This output is odd:\n\n{shell}"):
        named = named_files(said(f"{text}\nRead notes.md first."))
        assert [mention.path for mention in named.declared] == ["notes.md"]
        assert named.outputs == named.open == ()
