"""What a text names by form, and what an instance attaches, names and reads."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.mentions.files import (
    BARE_NAMES,
    MAX_MENTIONS,
    _settled,
    find_file_spans,
    missing_file,
    named_files,
)
from data.contracts import Attachment, MissingKind
from tests.construction.sessions.instances import said


def named(text: str) -> list[str]:
    return [mention.path for mention in named_files(said(text)).named]


@pytest.mark.parametrize("name", sorted(BARE_NAMES | {"id_rsa", ".env"}))
def test_names_without_an_extension_are_doubtful(name: str) -> None:
    (span,) = find_file_spans(f"please read {name} first")
    assert (span.path, span.doubtful) == (name, True)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('Open "Q3 sales report.xlsx" now', "Q3 sales report.xlsx"),
        ("Open `notes.md` now", "notes.md"),
        ("请看《2024 年度 预算表（终版）.xlsx》", "2024 年度 预算表（终版）.xlsx"),
        ("请看「会议 纪要.docx」", "会议 纪要.docx"),
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
        ("raw files are in data/raw/", "data/raw/"),
        ("fix the Dockerfile", "Dockerfile"),
        ("use this list:\n```\ndata/a.csv\n```", "data/a.csv"),
    ],
)
def test_names_are_found_whole(text: str, path: str) -> None:
    assert named(text) == [path]


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
        "Here is it:\n```\nopen(a.yaml)\n```",
        '```\nopen("data.csv")\nprint(x)\n```',
        'it fails:\n  File "/srv/app.py", line 3',
        "call console.log(x) and response.json()",
        "docx or .pdf, whatever",
    ],
)
def test_what_names_nothing(text: str) -> None:
    assert named(text) == []


@pytest.mark.parametrize(
    ("text", "known", "path"),
    [
        ("open Q3 final report.xlsx", ["d/q3 final report.xlsx", "report.xlsx"], 0),
        ("麻烦瞧瞧我的销售数据.csv", ["我的销售数据.csv"], 0),
        ("read soak.csv", ["oak.csv"], None),
        ("read 2_oak.csv", ["oak.csv"], None),
    ],
)
def test_known_files_settle_where_a_name_begins(
    text: str, known: list[str], path: int | None
) -> None:
    (span,) = find_file_spans(text)
    assert _settled(text, span, known) == (None if path is None else known[path])


def test_attachments_are_listed_apart_and_once() -> None:
    sent = [Attachment("/srv/in/plan---x1.docx"), Attachment(None, "image/png", "eA==")]
    files = named_files(said("Look at plan---x1.docx and b.csv", attachments=sent))
    assert [mention.path for mention in files.attached] == ["/srv/in/plan---x1.docx", ""]
    assert [mention.path for mention in files.named] == ["b.csv"]


def test_a_gateways_word_for_a_picture_is_the_picture_itself() -> None:
    sent = [Attachment(None, "image/png"), Attachment("shot.png", "image/png")]
    assert [one.path for one in named_files(said("Look", attachments=sent)).attached] == [
        "shot.png"
    ]


def test_an_attached_link_is_no_file() -> None:
    assert named_files(said("Look", attachments=[Attachment("https://a.example/b")])).attached == ()


def test_acts_tell_inputs_from_results() -> None:
    acts = [
        ("read", "/w/oak.csv", 1),
        ("wrote", "/w/oak.csv", 1),
        ("wrote", "/w/all.csv", 1),
        ("read", "/w/all.csv", 1),
        ("read", "/w/sums.csv", 1),
        ("read", "/w/.venv/lib/site-packages/x.py", 1),
        ("read", "https://a.example/x.csv", 1),
    ]
    files = named_files(replace(said("Sum up", acts=acts), made=("/w/sums.csv",)))
    assert [mention.path for mention in files.read] == ["/w/oak.csv"]
    assert files.results == ("/w/all.csv", "/w/sums.csv")


def test_a_result_that_the_agent_wrote_settles_its_name() -> None:
    acts = [("wrote", "/w/价目汇总.xlsx", 1)]
    (mention,) = named_files(said("请整理后存成价目汇总.xlsx", acts=acts)).named
    assert mention.path.endswith("价目汇总.xlsx")
    assert not mention.doubtful


def test_mentions_are_bounded() -> None:
    listing = " ".join(f"f{number}.csv" for number in range(2000))
    assert len(named("read " + listing)) == MAX_MENTIONS


def test_a_missing_file_says_what_it_is() -> None:
    kinds = {"a/b.csv": MissingKind.FILE, "a/b": MissingKind.FOLDER, "a/Makefile": MissingKind.FILE}
    assert {path: missing_file(path, "here").kind for path in kinds} == kinds


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
    named(text)


def test_pasted_diffs_name_no_files() -> None:
    diff = "diff --git a/app/run.go b/app/run.go\n--- a/app/run.go\n+++ b/app/run.go\n@@ -1 +1 @@\n"
    assert named(f"Current diff:\n{diff}\nRead notes.md first.") == ["notes.md"]
