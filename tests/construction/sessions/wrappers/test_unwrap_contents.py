"""Attachment markers, mail, machine turns; and what holds for every text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.wrappers.unwrap import unwrap
from data.contracts import Attachment, Origin


def _paths(text: str) -> list[str | None]:
    return [attachment.path for attachment in unwrap(text).attachments]


@pytest.mark.parametrize(
    ("text", "said", "paths"),
    [
        (
            "[media attached: /in/a b.jpg (image/jpeg) | /in/a "
            "b.jpg]\nTo send an image back, do so.\nwhat is it",
            "what is it",
            ["/in/a b.jpg"],
        ),
        (
            "[media attached: 2 files]\n[media attached 1/2: "
            "/a.png (image/png)]\n[media attached 2/2: /b.pdf]\nsee",
            "see",
            ["/a.png", "/b.pdf"],
        ),
        (
            "[media attached: /a.png (image/png)]\n[Mon 2026-03-02 09:30 GMT+8] see",
            "see",
            ["/a.png"],
        ),
        ("附件: /root/inputs/订单.docx\n请翻译", "请翻译", ["/root/inputs/订单.docx"]),
        ("附件：订单.xlsx、合同.pdf，请核对", "请核对", ["订单.xlsx", "合同.pdf"]),
        ("附件1：a.tar.gz\n附件2：《b.pdf》\n比较", "比较", ["a.tar.gz", "b.pdf"]),
        (
            "附件: /root/in/合同 （终版 v2.1）.docx\n核对",
            "核对",
            ["/root/in/合同 （终版 v2.1）.docx"],
        ),
        ("附件: /root/in/a.docx 译成 b.docx", "译成 b.docx", ["/root/in/a.docx"]),
        ("[media attached: /in/b [x].png (image/png)] see", "see", ["/in/b [x].png"]),
        ("[附件] x.csv 画图", "画图", ["x.csv"]),
        (
            "Attached: a.pdf, b c.xlsx and d.csv\nmerge them",
            "merge them",
            ["a.pdf", "b c.xlsx", "d.csv"],
        ),
        (
            "Attachments:\n- a.pdf (1.2 MB)\n- b.xlsx\n- and a third one\nmerge",
            "- and a third one\nmerge",
            ["a.pdf", "b.xlsx"],
        ),
        ("Attached: C:\\Depot\\stock.xlsx", "", ["C:\\Depot\\stock.xlsx"]),
        ("[attached: x.csv] plot it", "plot it", ["x.csv"]),
        ("[文件: 合同.docx] 看看", "看看", ["合同.docx"]),
        ("[Image: source: /tmp/x.png]", "", ["/tmp/x.png"]),
        ("📎 report.pdf\nread it", "read it", ["report.pdf"]),
        ("[图片] 这个怎么改", "这个怎么改", [None]),
        ("<media:image> crop it", "crop it", [None]),
        (
            '<file name="a.txt" mime="text/plain">\nmuch text\n</file>\nwhat is in it',
            "what is in it",
            ["a.txt"],
        ),
        ("[Slack #orders Mon Mar 02 09:30:11 CST 2026] Ines: [图片] see", "see", [None]),
        ("[图片]\n[图片]\n比一下", "比一下", [None, None]),
        ("看看\n[图片]", "看看", [None]),
        ("[Feishu 周宁 Mon Mar 02 09:30:11 CST 2026] 这里\n[图片]\n错了", "这里\n错了", [None]),
        (
            "From: a@b.example\nSubject: stock\nAttachments: stock.xlsx\n\nplease check",
            "please check",
            ["stock.xlsx"],
        ),
    ],
)
def test_attachment_markers_become_attachments(
    text: str, said: str, paths: list[str | None]
) -> None:
    assert unwrap(text).said == said
    assert _paths(text) == paths


def test_media_type_is_kept() -> None:
    assert unwrap("[media attached: /a.jpg (image/jpeg)]").attachments == (
        Attachment("/a.jpg", "image/jpeg"),
    )
    assert unwrap("[语音]").attachments == (Attachment(None, "audio/*"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "From: Ben <b@x.example>\nTo: me\nDate: Mon, 2 "
            "Mar 2026 09:30:00 +0800\nSubject: Re: stock\n\nok",
            "ok",
        ),
        ("From: Ben\nSubject: Re: Fwd: count the stock\n", "count the stock"),
        ("发件人: 周宁\n主题: 库存\n\n请盘点\n发自我的iPhone", "请盘点"),
        (
            "ok\n\nOn Mon, Mar 2, 2026 at 9:00 AM Ben "
            "<b@x.example> wrote:\n> how many\n> are left?",
            "ok",
        ),
        (
            "On Mon, Mar 2, 2026 at 9:00 AM Ben <b@x.example> "
            "wrote:\n> how many?\n\nForty, order ten more",
            "Forty, order ten more",
        ),
        ("在 2026年3月2日，周宁 <z@x.example> 写道：\n> 还有多少\n好的", "好的"),
        ("收到\n\n------------------ 原始邮件 ------------------\n发件人: 周宁\n还有多少", "收到"),
        ("noted\n\n-----Original Message-----\nFrom: Ben\nhow many are left?", "noted"),
        ("> how many are left?\nforty", "forty"),
        (
            "From: Ben\nSubject: stock\n\nforty\n\nFrom: Ines\n"
            "Sent: Monday\nTo: Ben\nSubject: stock\n\nhow many?",
            "forty",
        ),
    ],
)
def test_mail_heads_and_quoted_history(text: str, said: str) -> None:
    assert unwrap(text).said == said


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("[cron:7f-2 Morning count] Count the stock", Origin.CRON),
        ("[Mon 2026-03-02 09:30 GMT+8] [cron:7f-2 x] Count the stock", Origin.CRON),
        ("[定时任务] 盘点库存", Origin.CRON),
        ("Read HEARTBEAT.md if it exists. Else reply HEARTBEAT_OK.", Origin.SYSTEM),
        ("[OpenClaw heartbeat poll]", Origin.SYSTEM),
        ("heartbeat", Origin.SYSTEM),
        ("<command-name>/exit</command-name>", Origin.SYSTEM),
        ("<command-message>x</command-message><command-name>/quay</command-name>", Origin.HUMAN),
        ("Base directory for this skill: /quay/skills/tides\n\n# Tides", Origin.SYSTEM),
        ("[Request interrupted by user for tool use]", Origin.SYSTEM),
        ("Pre-compaction memory flush. Write down what matters.", Origin.SYSTEM),
        ("System: [2026-03-02 09:30:11 GMT+8] Exec completed (ab, code 0) :: done", Origin.SYSTEM),
        ("Exec finished (gateway id=1, code 0)", Origin.SYSTEM),
        ('A cron job "count" just completed successfully.', Origin.SYSTEM),
        ("[Subagent Context] You are a subagent.", Origin.AGENT),
        ("A cron job fails every night, please look", Origin.HUMAN),
        ("HEARTBEAT.md is missing, write one", Origin.HUMAN),
        ("Read HEARTBEAT.md and explain it", Origin.HUMAN),
        ("Exec failed on the server, have a look", Origin.HUMAN),
        ("/new", Origin.HUMAN),
        ("？", Origin.HUMAN),
    ],
)
def test_machine_turns_are_told_from_peoples(text: str, origin: Origin) -> None:
    assert unwrap(text).origin is origin


def test_a_schedules_prompt_is_kept_without_its_head() -> None:
    assert unwrap("[cron:7f-2 Morning count] Count the stock").said == "Count the stock"


_PIECES = st.sampled_from(
    ["[", "]", "【", "】", "「", "」", ">", "> ", "<", "@", "#", ":", "：", "\n", "\n\n", " ", "- ",
     "---", "```json\n", "{", "}", "[Slack #a Mon Mar 02 09:30:11 CST 2026] ", "附件: ",
     "Attached: ", "a.pdf", "From: a\n", "Subject: b\n", "wrote:", "写道：", "System: [x] ",
     "[media attached: ",
     "<file name=\"a\">", "</file>", "<user_info>", "</user_info>", "<skill name=\"a\">",
     "Queued #1", "[cron:", "10:30", "周宁", "Ben Roe", "\x00", "\ud800"]
)  # fmt: skip


@given(st.lists(_PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_no_text_makes_it_fail_or_adds_words(text: str) -> None:
    unwrapped = unwrap(text)
    assert len(unwrapped.said) <= len(text)
    assert set(unwrapped.said) <= set(text)
    assert unwrapped.said == unwrapped.said.strip()


@given(st.text("abcdefgh ijk.,?!一二三四五六，。", max_size=80))
def test_plain_prose_is_only_trimmed(text: str) -> None:
    assert unwrap(text).said == text.strip()


@pytest.mark.parametrize(
    "unit",
    ["[", "[a", "> a\n", "附件: ", "Attached: a.pdf\n", "[media attached: ", "On a wrote:\n",
     "<at ",
     "message_id: x\n", "- ", "\n ", "[图片: ", "\t", "「", "From: a\n",
     "Amy Roe  2026-03-02 10:11:22\n",
     "Conversation info (untrusted metadata):\n```json\n", "<file name=\"a\">", "@a ", "a.b,",
     "/a.b,",
     "<user_info>", "<user_info>x</user_info> ", "<skill name=\"a\">\n</skill>",
     "From: a\nSent: b\nTo: c\n"],
)  # fmt: skip
def test_time_is_linear_in_the_length(unit: str) -> None:
    def seconds(length: int) -> float:
        long = unit * (length // len(unit)) + "x"
        began = time.process_time()
        for start in ("", "附件: ", "[图片: ", "From: a\nSubject: b\n\nplease explain\n"):
            unwrap(start + long)
        return time.process_time() - began

    small = min(seconds(20_000) for _ in range(3))
    # Quadratic time would take 256 times as long; 16 is linear, the rest is for a busy machine.
    assert any(seconds(320_000) < 128 * small + 0.2 for _ in range(3))
