"""The addressee gate: whom the messages of a chat ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from construction.sessions.gates.addressee import (
    GATE,
    AddresseeConfig,
    AddresseeReason,
    measure,
)
from construction.sessions.local_gates import LOCAL_GATES
from construction.sessions.recovery import RecoveryConfig, recover
from construction.sessions.recovery.shell import READ, WROTE
from construction.sessions.wrappers.unwrap import unwrap
from data.contracts import Role, TaskInstance, Verdict
from tests.construction.sessions.instances import said
from tests.construction.sessions.recovery.talk import Talk

AMONG, NOTHING = AddresseeReason.AMONG_OTHERS, AddresseeReason.NO_REQUEST
DM, CHANNEL = "[Slack {name} Mon Mar 02 09:00]", "[Slack #stall Mon Mar 02 09:00] {name}:"


def chat(
    *messages: tuple[str, str],
    head: str = DM,
    acts: Sequence[tuple[str, str, int]] = (),
    reply: str = "",
    before: tuple[str, ...] = (),
) -> TaskInstance:
    """An instance of (writer, words), as a gateway logs them under heads."""
    instance = said(*(words for _, words in messages), acts=acts)
    turns = tuple(
        replace(turn, sender=name, text=f"{head.format(name=name)} {words}")
        for turn, (name, words) in zip(instance.user_turns, messages, strict=True)
    )
    return replace(instance, user_turns=turns, reply=reply, said_before=before)


def judged(instance: TaskInstance) -> Verdict:
    return GATE.judge(measure(instance), AddresseeConfig())


AMONG_COLLEAGUES = [
    [("Nora", "Tom, can you bring the scales on Friday?")],
    [("Nora", "Hi Tom,\nplease send me prices.xlsx before the meeting.")],
    [("Nora", "Dr. Okafor, I read your report.md and would rather wait. What do you think?")],
    [("Nora", "Tom -- I fixed the till. Can you check the GitLab run?"), ("Nora", "It is red.")],
    [("Nora", "The scales are broken."), ("Tom", "Can you call the shop? The bill is bill.pdf.")],
    [("Nora", "Who takes the stall on Friday?"), ("Tom", "Me."), ("Nora", "Great, thanks!")],
    [("Jonas", "Hallo Petra, kannst du bitte die Liste preise.csv prüfen?")],
    [("Jonas", "Sehr geehrte Frau Lindqvist, anbei das Angebot. Bitte prüfen Sie die Preise.")],
    [("Jonas", "Kommst du am Freitag?"), ("Petra", "Ja, ich bringe die Waage mit.")],
    [("韩梅", "李雷，请把上周的价格表发给我。")],
    [("韩梅", "雷哥，秤坏了，周五怎么办？"), ("李雷", "我去借一台。")],
    [("韩梅", "李经理您好，合同我看过了，请确认第三条。")],
    [("韩梅", "箱子到了吗？"), ("李雷", "到了，清单在云盘里。"), ("韩梅", "好的，谢谢。")],
]


@pytest.mark.parametrize("messages", AMONG_COLLEAGUES)
def test_colleagues_among_themselves(messages: list[tuple[str, str]]) -> None:
    assert judged(chat(*messages)).reason == AMONG


@pytest.mark.parametrize(
    "words",
    [
        "hey could you fix the totals in prices.xlsx?",
        "hey there, can u make a short list of who owes what, thx!",
        "Morning! Quick one: please rename the sheets of stall.xlsx by month.",
        "Agent, Nora said the totals are off. Check them and tell me which.",
        "Hi Agent, I've put the bills into bills/. Which of them is unpaid?",
        "need a summary of minutes.md by noon, keep it short please. Use bullets.",
        "Yep, and also translate the sign into German.",
        "Nah, make it two pages. Add the prices.",
        "Moin! Kannst du mal eben die Summen in preise.xlsx korrigieren?",
        "Bitte fasse das Protokoll zusammen. Create a list of all open points.",
        "So, draft the letter to Nora, please.",
        "帮我把价格表按月份整理一下。",
        "早上好！麻烦写一份给李经理的道歉信。",
        "助手，请核对账单的合计。",
        "顺便把会议记录翻译成英文。",
        "算每个摊位的合计，存成合计.xlsx。",
        "三份周报合成一页给经营会，存周报.docx。",
        "Fasse das Protokoll in fünf Sätzen zusammen.",
        "The open bills by size, largest first, saved as bills.csv by noon",
    ],
)
def test_a_request_in_the_tone_of_a_colleague_is_one(words: str) -> None:
    assert judged(chat(("Nora", words))).reason is None
    assert judged(said(words)).reason is None  # nor where no sender is known


def test_several_writers_and_one_of_them_calls_the_agent() -> None:
    talk = [("Nora", "The scales are broken."), ("Tom", "Agent, write a complaint to the shop.")]
    assert judged(chat(*talk, head=CHANNEL)).reason is None
    meeting = [("Nora", "Can you take Friday?"), ("Tom", "Who brings the scales?")] * 3
    assert judged(chat(*meeting, talk[1], head=CHANNEL)).reason == AMONG  # one of seven


def test_who_thanks_the_agent_does_not_ask_it() -> None:
    talk = [("Nora", "Tom, can you take Friday?"), ("Tom", "Yes."), ("Nora", "Thanks Agent!")]
    assert judged(chat(*talk, head=CHANNEL)).reason == AMONG


def test_a_message_to_a_person_that_the_agent_carries_out() -> None:
    order = ("Nora", "Nova, draft a letter to the shop about the scales.")
    assert judged(chat(order)).reason == AMONG
    assert judged(chat(order, reply="Here is the letter: Dear shop …")).reason is None


@pytest.mark.parametrize(
    ("words", "reply", "is_task"),
    [
        ("Priya, can you write the summary for the board?", "I'll draft a one-page summary.", True),
        ("Priya, can you write the summary for the board?", "Nora asks Priya for it.", False),
        ("Priya, can you write the summary for the board?", "[Ack]", False),
        ("Priya, can you bring the summary tomorrow?", "I'll write that into the diary.", False),
        ("Lena, please put together a statement.", "Subject: The leak in the stairwell", True),
        ("Lena, I need you to compile the minutes.", "I will compile them by call.", True),
        ("Lena, did you send the letter?", "I'll draft a reply later.", False),
        ("李雷，能不能帮我写一份给房东的信？", "我来起草这封信。", True),
        ("李雷，能不能帮我写一份给房东的信？", "韩梅请李雷写信。已记录。", False),
        ("Petra, kannst du einen Brief schreiben?", "Ich schreibe den Brief.", True),
    ],
)
def test_a_text_that_a_colleague_wants_and_the_agent_writes(
    words: str, reply: str, is_task: bool
) -> None:
    background = ("Nora", "The board meets on Monday. Sales fell, and two people left.")
    order = judged(chat(background, ("Nora", words), reply=reply))
    assert order.reason == (None if is_task else AMONG)
    several = [("Tom", "Who takes Friday?"), ("Nora", words)]
    assert judged(chat(*several, reply=reply)).reason == (None if is_task else AMONG)


def test_an_order_that_does_not_read_as_one_but_is_taken_on() -> None:
    order = ("Nora", "Draft talking points for the market day: the new scales, and longer hours.")
    assert judged(chat(order, reply="Good morning!")).reason == NOTHING
    assert judged(chat(order, reply="Here are the talking points.")).reason is None


def test_in_a_group_the_agent_has_to_write_upon_an_order() -> None:
    talk = [("Nora", "The scales are broken."), ("Tom", "Write a complaint to the shop.")]
    assert judged(chat(*talk)).reason == AMONG
    assert judged(chat(*talk, acts=[(READ, "shop.md", 3)])).reason == AMONG
    assert judged(chat(*talk, acts=[(WROTE, "letter.md", 1)])).reason == AMONG  # before the order
    assert judged(chat(*talk, acts=[(WROTE, "letter.md", 3)])).reason is None


def test_whom_a_talk_is_with_may_have_been_said_before() -> None:
    message = ("Nora", "Can you bring the scales too?")
    assert judged(chat(message)).reason is None
    to_tom = "Tom, the stall is ours on Friday."
    assert judged(chat(message, before=(to_tom,))).reason == AMONG
    assert judged(replace(chat(message), opening=to_tom)).reason == AMONG
    assert judged(replace(chat(message), opening="Hi Agent, the stall is ours.")).reason is None
    assert judged(replace(chat(message), people=("Nora", "Tom"))).reason == AMONG


def test_recovery_notes_who_writes_in_a_session_and_how_it_opens() -> None:
    talk = Talk("stall").user("Tom, the stall is ours.").agent("Noted.").user("/new")
    session = talk.user("Sort prices.csv by name.").agent("Done.").session()
    names = iter(["Nora", "Nora", "Tom"])
    turns = (
        replace(turn, sender=next(names)) if turn.role is Role.USER else turn
        for turn in session.turns
    )
    instances = recover(replace(session, turns=tuple(turns)), RecoveryConfig()).instances
    assert [item.people for item in instances] == [("Nora", "Tom")] * 2
    assert {item.opening for item in instances} == {"Tom, the stall is ours."}


def test_several_messages_in_one_turn() -> None:
    text = "[Slack Nora Mon 09:00] Is prices.csv done?\n[Slack Tom Mon 09:05] Yes, please check."
    instance = said("Is prices.csv done?\nYes, please check.")
    turn = replace(instance.user_turns[0], text=text, sender="Nora")
    seen = measure(replace(instance, user_turns=(turn,)))
    assert (seen.people, seen.of_agent) == (2, 0)


def test_a_notice_that_repeats_a_message_is_one_message() -> None:
    text = "[Slack ou_12ab34cd Mon 09:00] Sort pri…\n\n[Slack Nora Mon 09:00] Sort prices.csv."
    instance = said("Sort prices.csv.")
    turn = replace(instance.user_turns[0], text=text, sender="Nora")
    seen = measure(replace(instance, user_turns=(turn,), people=("Nora",)))
    assert (seen.people, seen.of_agent) == (1, 1)


def test_a_pasted_talk_without_a_word_to_the_agent() -> None:
    talk = "Nora: Is prices.csv done?\nTom: Nearly. Can you check the sums?\nNora: Later."
    assert judged(said(talk)).reason == AMONG
    assert judged(said(f"Summarise this talk in two lines.\n\n{talk}")).reason is None


@pytest.mark.parametrize(
    "words",
    [
        "The tram is slow today. I am off now.",
        "Found two broken crates. The list is in crates.csv.",
        "Are you able to browse the web?",
        "整改完成，清单在 crates.csv 里。",
        "The list of broken crates is done. Do you want me to bring it on Friday?",
    ],
)
def test_who_tells_or_asks_how_things_stand_asks_for_no_work(words: str) -> None:
    assert judged(chat(("Nora", words))).reason == NOTHING
    assert judged(said(words)).reason is None


def test_it_decides_before_the_files_that_are_missing() -> None:
    names = [gate.name for gate in LOCAL_GATES]
    assert names.index("addressee") < names.index("fixture")


def test_an_agent_with_a_chinese_handle_is_the_agent() -> None:
    instance = chat(
        ("韩梅", "请写一份值班表 roster.md"), head="[Feishu #店 Mon Mar 02 09:00] {name}: @小助手"
    )
    assert judged(instance).reason is None


@pytest.mark.parametrize(
    "words",
    [
        "Hello, could you write a packing list as list.md? Best, Nora",
        "Kannst du mir eine Packliste als liste.md schreiben? Gruß, Nora",
        "助手，把一到十的平方写到 squares.txt",
    ],
)
def test_a_greeting_at_the_end_calls_nobody_and_an_object_may_stand_first(words: str) -> None:
    assert judged(chat(("Nora", words))).reason is None


TALK = "[10:02] Nora: Tom, can you bring the scales?\n[10:03] Tom: Nora, please ask Petra."


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("Please write the open points of this chat into points.md", None),
        ("请把以上对话整理成 minutes.md", None),
        ("Please bring the boxes too", AMONG),
    ],
)
def test_a_quoted_talk_is_material_where_work_on_it_is_asked(
    order: str, reason: AddresseeReason | None
) -> None:
    instance = said(f"{TALK}\n{order}")
    turn = instance.user_turns[0]
    turn = replace(turn, said=unwrap(turn.text).said)
    assert judged(replace(instance, user_turns=(turn,))).reason == reason
