"""What stays of a user's text once transport is taken off, and what must not be taken."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from construction.sessions.wrappers.blocks import calls_own_command
from construction.sessions.wrappers.unwrap import unwrap
from data.contracts import Origin

_METADATA = (
    "Conversation info (untrusted metadata):\n```json\n"
    '{"message_id": "om_41", "group_channel": "#orders", "timestamp": "Mon 2026-03-02 09:30 GMT+8"}'
    '\n```\n\nSender (untrusted metadata):\n```json\n{"label": "Ines"}\n```\n\n'
)


@pytest.mark.parametrize(
    ("text", "said", "sender", "channel"),
    [
        (
            "[Feishu #orders Mon Mar 02 09:30:11 CST 2026] Ines: sort the list",
            "sort the list",
            "Ines",
            "Feishu #orders",
        ),
        (
            "[Slack #orders Tue Mar 03 10:00:00 GMT+1 2026] Note: sort it",
            "Note: sort it",
            None,
            "Slack #orders",
        ),
        ("[#orders Ines Ode Tue W2D2 11:30:00 PDT 2026] Sorted.", "Sorted.", "Ines Ode", "#orders"),
        (
            "[#orders Ines Tue W2D2 11:30:00 PDT 2026 via #stock] Sorted.",
            "Sorted.",
            "Ines",
            "#orders",
        ),
        ("[Telegram Ines (@ines) id:77 +2m 2026-03-02 09:30 UTC] sort", "sort", "Ines", "Telegram"),
        (
            "[Discord Depot #orders channel id:9 +3s Mon 2026-03-02 09:30 GMT+1] Ines: sort",
            "sort",
            "Ines",
            "Discord #orders",
        ),
        ("[WhatsApp +4420794600 +2m 2026-03-02T09:30Z] sort", "sort", "+4420794600", "WhatsApp"),
        ("[微信 群友甲 Tue W1D2 11:05:00 CST 2026] 订单要排序", "订单要排序", "群友甲", "微信"),
        ("[Slack IT 09:30] Note: sort it", "Note: sort it", "IT", "Slack"),
        ("[Slack April Mon Mar 02 09:30:11 UTC 2026] sort", "sort", "April", "Slack"),
        ("[WeChat 周宁 D3 15:08] 好", "好", "周宁", "WeChat"),
        ("[企业微信 周宁 Mon Mar 02 09:30:00 CST 2026] 排好了吗", "排好了吗", "周宁", "企业微信"),
        ("[main 周宁 Tue W1D2 14:00:00 CST 2026] 排好了吗", "排好了吗", "周宁", "main"),
        ("[邮件 周宁 D5 14:30] 排好了吗", "排好了吗", "周宁", "邮件"),
        ("【企业微信】周宁 2026-03-02 10:11:00\n请排序", "请排序", "周宁", "企业微信"),
        ("[飞书] 请排序", "请排序", None, "飞书"),
        ("[message_id: om_41]\n周宁: 请排序", "请排序", "周宁", None),
        ("[message_id: om_41]\n岑其琛: 请排序", "请排序", "岑其琛", None),
        ("[message_id: om_41]\n欧阳青禾：请排序", "请排序", "欧阳青禾", None),
        ("[message_id: om_41]\n阿卜杜·热合曼: 请排序", "请排序", "阿卜杜·热合曼", None),
        ("[message_id: om_41]\n任务: 请排序", "任务: 请排序", None, None),
        ("[message_id: om_41]\n请排序: 订单", "请排序: 订单", None, None),
        ("请排序 [message_id: om_41]", "请排序", None, None),
        ("Sender: Ines (ou_9)\nsort it", "sort it", "Ines (ou_9)", None),
        (
            "Ines Ode  2026-03-02 10:11:22\nsort it\nBen Roe  2026-03-02 10:12:22\nby date",
            "sort it\nby date",
            "Ines Ode",
            None,
        ),
        (_METADATA + "sort the list", "sort the list", "Ines", "#orders"),
        (
            "[Chat messages since your last reply - for context]\n"
            "Ben: hm\n\n[Current message - respond to this]\n[飞书] 排序",
            "排序",
            None,
            "飞书",
        ),
        (
            "System: [2026-03-02 09:30:11 GMT+8] Feishu[main] "
            "message in group oc_1: 请排\n\n[message_id: om_1]\n周宁: 请排序",
            "请排序",
            "周宁",
            None,
        ),
        (  # the announcement tells a nickname from the first words
            "System: [2026-03-02 09:30:11 GMT+8] Feishu[main] "
            "message in group oc_1: 请排\n\n[message_id: om_1]\n群友甲: 请排序",
            "请排序",
            "群友甲",
            None,
        ),
        (
            "System: [2026-03-02 09:30:11 GMT+8] Feishu[main] "
            "message in group oc_1: 周宁: 请排\n\n[message_id: om_1]\n周宁: 请排序",
            "周宁: 请排序",
            None,
            None,
        ),
        (
            "System: [2026-03-02 09:30:11 GMT+8] Feishu[main] DM from ou_1: 请排序",
            "请排序",
            None,
            None,
        ),
        ("[Replying to Ben id:3]\nthe old list\n[/Replying]\nsort it", "sort it", None, None),
        ("「周宁：昨天的单子」\n- - - - - - - - - -\n请排序", "请排序", None, None),
        (
            "[Queued messages while agent was busy]\n\n"
            "---\nQueued #1\nsort\n\n---\nQueued #2\nby date",
            "sort\n\nby date",
            None,
            None,
        ),
        ("<@U0417> sort it", "sort it", None, None),
        ('<at user_id="ou_1">Bot</at> 请排序', "请排序", None, None),
        ("@depot-bot -- sort it", "sort it", None, None),
        ("@小帮手 请排序", "请排序", None, None),
        ("Thanks, that is all. ###STOP###", "Thanks, that is all.", None, None),
    ],
)
def test_heads_and_blocks_come_off(
    text: str, said: str, sender: str | None, channel: str | None
) -> None:
    unwrapped = unwrap(text)
    assert (unwrapped.said, unwrapped.sender, unwrapped.channel) == (said, sender, channel)
    assert unwrapped.origin is Origin.HUMAN


@pytest.mark.parametrize(
    "text",
    [
        "[Q3 2026] report is wrong",
        "[2026-03-01] fix the stock list",
        "[Meeting 10:30] prepare the agenda",
        "[Urgent] sort the list",
        "[来自客户的投诉] 请分类",
        "[executive summary] shorten it",
        "[trimmed]",
        "Sum up this chat:\n[3/1/26, 10:22:33] Ben: hi\n[3/1/26, 10:23:33] Ines: yo",
        "System: Debian 12\nProblem: it crashes",
        "@main.py explain this",
        "@src/main.py explain this",
        "@小帮手请排序",
        "<!DOCTYPE html>",
        "From: Oslo\nTo: Rome\nfind trains",
        "附件: 请看邮件",
        "附件: “请查收”",
        "Attached: please translate it",
        "Attachment: https://example.org/a.pdf",
        "把 [图片] 两个字删掉",
        "第一段\n[图片]\n第二段",
        "[文件]管理模块要加权限",
        "explain this:\n> KeyError: 'x'",
        "> KeyError: 'x'\nwhat does this mean?",
        "> Sort the ponds by\n  > their swans.",
        "On Tuesday Ben wrote:\nthe stock is low\nPlease check that he is right",
        "请总结下面的邮件\n\n------------------ 原始邮件 "
        "------------------\n发件人: 周宁\n库存不足",
        "- one\n\n\n\n- two",
    ],
)
def test_what_belongs_to_the_request_stays(text: str) -> None:
    unwrapped = unwrap(text)
    assert unwrapped.said == text
    assert unwrapped.attachments == ()
    assert unwrapped.origin is Origin.HUMAN


def test_each_message_of_a_turn_loses_its_head() -> None:
    unwrapped = unwrap(
        "[飞书 周宁 Mon Mar 02 09:30:00 CST 2026] 单子发了。\n第二行\n"
        "[飞书 何青 Mon Mar 02 09:31:00 CST 2026] 收到。"
    )
    assert unwrapped.said == "单子发了。\n第二行\n收到。"
    assert unwrapped.sender == "周宁"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("[Mon 2026-03-02 09:30 GMT+8] x", datetime(2026, 3, 2, 1, 30, tzinfo=UTC)),
        (
            "[Slack Ines Mon Mar 02 09:30:11 EST 2026] x",
            datetime(2026, 3, 2, 14, 30, 11, tzinfo=UTC),
        ),
        ("[Slack Ines 2 March 2026 9:30 PM UTC] x", datetime(2026, 3, 2, 21, 30, tzinfo=UTC)),
        (
            "[Slack Ines 2026年3月2日 下午9:30 GMT+08:00] x",
            datetime(2026, 3, 2, 13, 30, tzinfo=UTC),
        ),
        (
            "From: a@b.example\nDate: Mon, 2 Mar 2026 09:30:00 +0530\n\nx",
            datetime(2026, 3, 2, 4, 0, tzinfo=UTC),
        ),
        (
            "[Slack April Mon Mar 02 09:30:11 UTC 2026] x",
            datetime(2026, 3, 2, 9, 30, 11, tzinfo=UTC),
        ),
        ("[WeChat 周宁 D3 15:08] x", None),
        ("[Slack Ines Mon Mar 09 08:19:02 XYZ 2026] x", None),
        ("[Slack Ines Sat Feb 31 09:30:00 UTC 2026] x", None),
    ],
)
def test_time_of_a_head(text: str, moment: datetime | None) -> None:
    assert unwrap(text).at == (moment.timestamp() if moment else None)
    assert unwrap(text).said == "x"
    assert unwrap(text, dated=False).at is None


@pytest.mark.parametrize(
    ("name", "is_own"),
    [("/berth-review", True), ("harbour:fees", True), ("/exit", False), ("/model", False)],
)
def test_commands_of_the_persons_own_are_told_from_those_of_the_program(
    name: str, is_own: bool
) -> None:
    text = f"<command-message>x</command-message>\n<command-name>{name}</command-name>"
    assert calls_own_command(text) == is_own
    assert not calls_own_command(f"Run {name} for me.")


@pytest.mark.parametrize(
    ("text", "said", "origin"),
    [
        ("<uploaded_files>\n/quay\n</uploaded_files>\nSort it.", "Sort it.", Origin.HUMAN),
        (
            "<user_info>\nOS: quay\n</user_info>\n\n<system-reminder>x</system-reminder> Sort it.",
            "Sort it.",
            Origin.HUMAN,
        ),
        ('<skill name="a">\nRead </skill>.\n</skill>\nSort it.', "Sort it.", Origin.HUMAN),
        ("<state_snapshot>\nSorted.\n</state_snapshot>", None, Origin.SYSTEM),
        ("<environment_context>\nnot closed", None, Origin.HUMAN),
        ("<rules>\nby length\n</rules>\nSort it.", None, Origin.HUMAN),
        ("Sort it.\n<uploaded_files>\n/quay\n</uploaded_files>", None, Origin.HUMAN),
    ],
)  # fmt: skip
def test_blocks_of_a_harness_come_off_the_start_alone(
    text: str, said: str | None, origin: Origin
) -> None:
    unwrapped = unwrap(text)
    assert (unwrapped.said, unwrapped.origin) == (text if said is None else said, origin)


def test_many_blocks_come_off() -> None:
    assert unwrap("<user_info>x</user_info>\n" * 5000 + "Sort it.").said == "Sort it."


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("Stop hook feedback:\nRun the tests first.", Origin.SYSTEM),
        ("SubagentStop hook feedback:\n[gate.sh]: red", Origin.SYSTEM),
        ("PostToolUse:Write hook additional context: [fmt]: two files changed", Origin.SYSTEM),
        ('PreToolUse:Bash hook blocking error from command: "gate.sh":\nno', Origin.SYSTEM),
        ("UserPromptSubmit operation blocked by hook:\nno secrets, please", Origin.SYSTEM),
        ("Stop hook feedback: how do I turn it off?", Origin.HUMAN),
        ("The stop hook feedback:\nwhat is it?", Origin.HUMAN),
        ("PreToolUse hooks: write one that formats", Origin.HUMAN),
    ],
)
def test_feedback_of_hooks_is_no_persons(text: str, origin: Origin) -> None:
    assert unwrap(text).origin is origin
