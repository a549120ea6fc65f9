"""The offline self-containment judge: reasons on own requests, in the codebook's order."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.contracts import Case, Containment, ContainmentReason
from construction.judging.request_counts import brings_material, brings_text
from construction.judging.self_containment import ContainmentConfig, judge_containment, verdict
from construction.prompt_frame import WORDS
from tests.construction.judging.rules.cases import case

Reason = ContainmentReason
PASTED = (
    "Summarise this for the board.\n\n" + "The mill lost a day in May because the belt tore. " * 12
)


def judged(item: Case) -> Containment:
    actual = judge_containment(item, ContainmentConfig())
    assert verdict(item, ContainmentConfig()) == actual.model_copy(
        update={"rewritten_prompt": None}
    )
    return actual


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("What is 2+2?", ()),
        ("Write a haiku about autumn rain", ()),
        ("Write a bash script that backs up a folder to a dated tar file", ()),
        ("Explain the difference between TCP and UDP for a new colleague, half a page", ()),
        ("Summarise the attached report in five bullet points", ("q3_report.pdf",)),
        ("Write an apology to a customer whose refund is two weeks late. 120 words.", ()),
        ("Plan a three-day trip to Lisbon for two with a budget of 600 EUR, as a table", ()),
        ("Compare the two proposals in inputs and recommend one", ("a.pdf", "b.pdf")),
        ("Say hello in French", ()),
        ("the boat with the most seats, swap it with the last boat", ("boats.xlsx",)),
        (PASTED, ()),
        (
            "Cut the rules below to three lines:\n\nBerths one to nine are for small boats. "
            "Nobody may stay there for two weeks. Dogs are kept on a lead.",
            (),
        ),
        (
            "把下面的规定压缩成三条：\n\n一到九号泊位供六米以下的小船使用。任何船只停靠都不得超过"
            "两周。码头上的狗要拴绳。离开泊位时要带走所有缆绳和护舷。",
            (),
        ),
        ("帮我写一封请假邮件，三天，理由是搬家", ()),
        ("用Python写一个读取CSV并计算每列平均值的脚本", ()),
        ("把这段话翻成法语：我们明天上午九点在会议室见。", ()),
        ("总结 会议记录.docx 的要点", ("会议记录.docx",)),
        ("Audit the notes in /srv/vault/ and list all broken links", ("vault/a/plan.md",)),
        (
            "List all faults in sources/logs/ with their times, and save charts below outputs/",
            ("logs/a.log",),
        ),
        ("Sort the bills in bills.csv by shop. Archive them under outputs/cases/.", ("bills.csv",)),
        ("In the price list, which item costs most?", ("prices.xlsx",)),
        ("Does the claim exceed the budget? Yes or no?", ("claim.pdf", "budget.xlsx")),
    ],
)
def test_requests_that_a_newcomer_can_meet(text: str, files: tuple[str, ...]) -> None:
    actual = judged(case(text, files=files))
    assert (actual.reason_code, actual.self_contained) == (Reason.SELF_CONTAINED, True)
    assert actual.rewritten_prompt is not None
    assert "outputs/" in actual.rewritten_prompt


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", Reason.CONVERSATION_ONLY),
        ("Hi there, how are you?", Reason.CONVERSATION_ONLY),
        ("Thanks, that worked!", Reason.CONVERSATION_ONLY),
        ("继续", Reason.CONVERSATION_ONLY),
        ("张经理，请问报销什么时候到账？", Reason.CONVERSATION_ONLY),
        ("I pushed the fix this morning. All green now.", Reason.CONVERSATION_ONLY),
        ("List the files in the current directory", Reason.DEPENDS_ON_LIVE_SYSTEM),
        ("Run the tests", Reason.DEPENDS_ON_LIVE_SYSTEM),
        ("Check git status and commit my changes", Reason.DEPENDS_ON_LIVE_SYSTEM),
        ("Cancel my subscription please", Reason.DEPENDS_ON_LIVE_SYSTEM),
        ("Send an email to Tom that the meeting moves to 3pm", Reason.DEPENDS_ON_LIVE_SYSTEM),
        ("I want to change my return flight to Sunday.", Reason.DEPENDS_ON_LIVE_SYSTEM),
        ("帮我查一下我的快递到哪了", Reason.DEPENDS_ON_LIVE_SYSTEM),
        ("看看服务器为什么这么慢", Reason.DEPENDS_ON_LIVE_SYSTEM),
        ("Read README.md and summarize it", Reason.MISSING_INPUT),
        ("Summarise the attached report", Reason.MISSING_INPUT),
        ("Refactor this function to use async", Reason.MISSING_INPUT),
        ("把附件翻译成英文", Reason.MISSING_INPUT),
        ("Please draw on all session history and workspace files.", Reason.MISSING_INPUT),
        ("Implement the plan we discussed", Reason.MISSING_CONTEXT),
        ("Do the second option", Reason.MISSING_CONTEXT),
        ("Which database should we choose?", Reason.MISSING_CONTEXT),
        ("按上次的格式再做一份", Reason.MISSING_CONTEXT),
        (
            "Write a job advert for a clerk in Leeds, salary 28k. Also, completely unrelated: "
            'translate "good luck" into five languages.',
            Reason.MULTI_TASK,
        ),
        ("help me with my project", Reason.AMBIGUOUS_TASK),
        ("随便写点东西", Reason.AMBIGUOUS_TASK),
        ("Do you like me?", Reason.NOT_VERIFIABLE),
        ("Tell me a joke", Reason.NOT_VERIFIABLE),
    ],
)
def test_requests_that_a_newcomer_cannot_meet(text: str, reason: ContainmentReason) -> None:
    actual = judged(case(text))
    assert (actual.reason_code, actual.self_contained) == (reason, False)
    assert actual.rewritten_prompt is None
    assert actual.brief_reason


TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/harbour/fees.py", line 3, in total\n'
    "    return sum(row['fee'] for row in rows)\nKeyError: 'fee'\n"
)
QUOTED = (
    '"Describe the berths. Then write a letter of two paragraphs that recommends the cheapest '
    'one, at 30 a month, to a club of twelve rowers."'
)


@pytest.mark.parametrize(
    ("text", "is_contained"),
    [
        (f"Explain what this error means:\n\n{TRACEBACK}", True),
        (f"下面这个报错是什么意思？\n\n{TRACEBACK}", True),
        ("Explain what this error means", False),
        (f"Can you do the last part of this: {QUOTED}", True),
        (f"Do this last part: {QUOTED}", False),
        (f"Please finish that last part: {QUOTED}", False),
        ("Can you do the last part of this?", False),
    ],
)
def test_what_is_pasted_is_at_hand(text: str, is_contained: bool) -> None:
    assert judged(case(text)).self_contained == is_contained


@pytest.mark.parametrize(
    ("text", "is_brought"),
    [
        (f"Explain it and how to fix it.\n\n{TRACEBACK}", True),
        (f"Fix this.\n\n{TRACEBACK}", False),
        (f"帮我修复这个报错。\n\n{TRACEBACK}", False),
        (f"这个怎么解决？\n\n{TRACEBACK}", True),
        (f"给出解决方案。\n\n{TRACEBACK}", True),
        ("Fix this.\n\n--- a/fee.py\n+++ b/fee.py\n@@ -1 +1 @@\n-a = 1\n+a = 2", True),
        ("What does it say?\n\n2031-05-01 09:04 pump off\n2031-05-01 09:09 pump on", True),
        ("The meeting of 2031-05-01 09:04 was moved.", False),
    ],
)
def test_output_is_material_where_it_is_to_be_explained(text: str, is_brought: bool) -> None:
    assert brings_material(text) == is_brought


@pytest.mark.parametrize("piece", ["\n", "\n ", "“", "「", "«", "„"])
def test_blank_lines_and_open_quotes_are_read_in_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        request = "Traceback (most recent call last)" + piece * size
        began = process_time()
        brings_material(request)
        brings_text(request)
        return process_time() - began + 1e-3

    assert seconds(24_000) / seconds(3_000) < 24  # linear 8, quadratic 64


def test_a_part_of_what_was_said_in_another_message_is_not_at_hand() -> None:
    assert not judged(case("Here is a list.", f"Do the last part of this: {QUOTED}")).self_contained


def test_the_first_reason_of_the_codebook_decides() -> None:
    both = case("Cancel my subscription as we discussed, and summarise the attached invoice")
    assert judged(both).reason_code is Reason.DEPENDS_ON_LIVE_SYSTEM


def test_a_new_task_announced_at_the_start_is_no_second_task() -> None:
    actual = judged(case("New task: write a haiku about autumn rain in the mountains"))
    assert actual.reason_code is Reason.SELF_CONTAINED


THANKS = ("Thank you.", "Thanks a lot, really appreciate it!", "OK that's all, thank you.")
LEAVE = ("Let me know if anything is unclear. Thank you!", "谢谢", "好的，谢谢", "辛苦了，谢谢。")


@pytest.mark.parametrize("closing", [*THANKS, *LEAVE])
def test_a_closing_paragraph_answers_nobody(closing: str) -> None:
    text = f"Count the errors in gateway.csv and save the table as errors.xlsx.\n\n{closing}"
    assert judged(case(text, files=("gateway.csv",))).reason_code is Reason.SELF_CONTAINED


def test_thanks_for_what_was_said_answers_somebody() -> None:
    text = "Write a plan for the launch.\n\nThanks, you said it well and the second option it is."
    assert judged(case(text)).reason_code is Reason.MISSING_CONTEXT


def test_how_work_stands_may_be_what_the_files_tell() -> None:
    text = "Merge the status notes a.txt and b.txt into one page: what is on track, what is late."
    assert judged(case(text, files=("a.txt", "b.txt"))).reason_code is Reason.SELF_CONTAINED
    assert judged(case("Are we on track?")).reason_code is Reason.CONVERSATION_ONLY


def test_small_later_refinements_are_part_of_the_task() -> None:
    texts = ("Write a notice for tenants: water off on 3 May, 9 to 12.", "Make it friendlier.")
    assert judged(case(*texts)).reason_code is Reason.SELF_CONTAINED


def test_messages_between_people_are_no_task() -> None:
    item = case("How did the launch go?")
    prompt = f"{WORDS['en'].thread}\n\nMaya: How did the launch go?"
    thread = item.model_copy(
        update={"candidate": item.candidate.model_copy(update={"prompt": prompt})}
    )
    assert judged(thread).reason_code is Reason.CONVERSATION_ONLY


def test_asking_back_tips_the_scales_but_proves_nothing() -> None:
    text = "Draft a plan for the spring fair. List the costs. Send the plan to the club."
    assert judged(case(text)).reason_code is Reason.SELF_CONTAINED
    doubted = judged(case(text, asked_back=True))
    assert doubted.reason_code is Reason.DEPENDS_ON_LIVE_SYSTEM
    clear = judged(case("Write a haiku about autumn rain", asked_back=True))
    assert clear.self_contained
    assert clear.confidence < judged(case("Write a haiku about autumn rain")).confidence


@given(st.text(max_size=300))
def test_any_text_gets_a_verdict_that_fits_its_reason(text: str) -> None:
    actual = judged(case(text or "?"))
    assert actual.self_contained == (actual.reason_code is Reason.SELF_CONTAINED)
    assert (actual.rewritten_prompt is not None) == actual.self_contained


@pytest.mark.parametrize(
    "text", ["a.b/" * 20_000, "请" * 20_000, "Maya, " * 8_000, '"' * 30_000, "1,000" * 10_000]
)
def test_hostile_text_is_judged_in_one_pass(text: str) -> None:
    assert judged(case(text)).reason_code in Reason
