"""Rewriting by rules: noise goes, facts stay; inventions and losses by kind and by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.rules.facts import FactKind, find_facts
from construction.judging.rules.rewriting import Faithfulness, check_faithfulness, rewrite
from construction.prompt_frame import WORDS
from tests.construction.judging.rules.cases import case


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("Hello! Draft a notice on parking.", "Draft a notice on parking."),
        ("Thanks. New task: draft a notice on parking.", "Draft a notice on parking."),
        ("Good morning, draft a notice on parking.", "Draft a notice on parking."),
        ("Hello world programs in five languages, please write them.", "Hello world programs"),
        ("Unrelated request: draft a notice on parking.", "Draft a notice on parking."),
        ("A different topic. Task: draft a notice on parking.", "Draft a notice on parking."),
        ("题外话，写一份停车通知。", "写一份停车通知。"),
        ("Requests for leave pile up; draft a notice.", "Requests for leave pile up"),
        ("您好，写一份停车通知，一百字。", "写一份停车通知，一百字。"),
        ("早上好，新的一天，新任务：写一份停车通知。", "写一份停车通知。"),
        ("换个话题。写一份停车通知。", "写一份停车通知。"),
        ("好奇号是什么时候登陆火星的？写一段介绍。", "好奇号是什么时候"),
    ],
)
def test_lead_ins_go_and_content_stays(text: str, opening: str) -> None:
    assert rewrite(case(text)).startswith(opening)


def test_later_requirements_become_a_list() -> None:
    prompt = rewrite(
        case("Draft a notice on parking.", "Add the dates.", "Keep it under 90 words.")
    )
    head = "Further requirements; where one differs from the above, it counts:"
    assert f"parking.\n\n{head}\n- Add the dates.\n- Keep it under 90 words.\n" in prompt
    assert WORDS["en"].as_one not in prompt


def test_the_list_is_in_the_language_of_the_request() -> None:
    prompt = rewrite(case("写一份停车通知，一百字。", "加上日期。"))
    assert "补充要求（与上文不一致时，以补充要求为准）：\n- 加上日期。" in prompt


def test_a_later_question_is_no_requirement() -> None:
    prompt = rewrite(case("Draft a notice on parking.", "Why is parking in Kiel so hard to find?"))
    assert WORDS["en"].as_one in prompt
    assert "Why is parking in Kiel so hard to find?" in prompt


def test_talk_about_sending_files_goes() -> None:
    texts = ("I will send you two files, one message each.", "Compare the two offers in a table.")
    prompt = rewrite(case(*texts, files=("a.xlsx", "b.xlsx")))
    assert "one message each" not in prompt
    assert prompt.startswith("Compare the two offers in a table.")
    assert "- inputs/a.xlsx\n- inputs/b.xlsx" in prompt


@pytest.mark.parametrize(
    "text",
    [
        "Draft a notice:\n1. where to park\n2. when to pay\n3. whom to ask\n- [ ] dates",
        "# Task\n\nDraft a notice on parking.\n\n## Output\n\n**One** page, `plain` words.",
        "Draft a notice on parking for the tenants of the two northern houses. See\n"
        "the rules for guests. Take a\nlook at the two prices as well.",
        "Draft a notice and name the columns\n\n    plate_no\n    Go_Live\n\nin a table.",
        "写一份停车通知。要求：\n1. 写明日期\n2. 写明地点\n\n好的停车习惯要列出来。",
    ],
)
def test_structure_stays_as_typed(text: str) -> None:
    assert f"{text}\n\n" in rewrite(case(text))


def test_lines_that_hold_a_path_stay() -> None:
    text = (
        "Draw the plan of the car park again and save it as\n/work/results/plan_new.py\n\nThanks!"
    )
    prompt = rewrite(case(text))
    assert "outputs/plan_new.py" in prompt.partition("Deliver")[0]
    assert "Thanks" not in prompt


def test_paragraphs_of_one_message_are_no_later_requirements() -> None:
    text = "Draft a notice on parking.\n\nThe summary should name the dates."
    assert rewrite(case(text)).startswith(f"{text}\n\n")


@pytest.mark.parametrize(
    "code", ["```\nhi\n\nthanks\n```", "--- a/hi\n+++ b/hi\n hi\n\nThanks a lot!\n\n+bye"]
)
def test_code_is_left_alone(code: str) -> None:
    assert code in rewrite(case(f"Explain this:\n{code}"))


def test_messages_between_people_stay_as_packaged() -> None:
    item = case("Hello! Draft a notice on parking.")
    prompt = f"{WORDS['en'].thread}\n\nMaya: {item.request}"
    thread = item.model_copy(
        update={"candidate": item.candidate.model_copy(update={"prompt": prompt})}
    )
    assert rewrite(thread) == prompt


TURNS = (
    "Hello!",
    "Draft a notice for Petra by 3 May 2025.",
    "Add 40 chairs.",
    "Thanks a lot!",
    "您好，写一份通知，交给毕凌霄。",
    "Make it 200 words.",
    "What about Kiel?",
    "ok",
    "```\nx = 1\n```",
)


@given(st.lists(st.sampled_from(TURNS), min_size=1, max_size=5))
def test_a_rewrite_is_never_less_faithful_than_the_packaged_prompt(texts: list[str]) -> None:
    item = case(*texts)
    packaged = check_faithfulness(item.candidate.prompt, item)
    rewritten = check_faithfulness(rewrite(item), item)
    assert set(rewritten.losses) <= set(packaged.losses)
    assert set(rewritten.inventions) <= set(packaged.inventions)


def checked(request: str, rewrite: str, *files: str) -> Faithfulness:
    return check_faithfulness(rewrite, case(request, files=files))


@pytest.mark.parametrize(
    ("request_text", "rewrite"),
    [
        ("Pay 1,000 euros to the club", "Pay 1000 euros to the club"),
        ("共一千二百元的预算", "预算共1200元"),
        ("销售额3.5万", "销售额35,000"),
        ("销售额两亿元", "销售额200000000元"),
        ("a budget of 2.5 million", "a budget of 2,500,000"),
        ("a budget of 3k", "a budget of 3,000"),
        ("raise prices by 5 percent", "raise prices by 5%"),
        ("涨价百分之五", "涨价5%"),
        ("five pieces and twenty-one boxes", "5 pieces and 21 boxes"),
        ("三千五百字的文章", "3500字的文章"),
        ("写两页说明", "写2页说明"),
        ("three hundred copies", "300 copies"),
        ("due on 3 May 2025", "due on 2025-05-03"),
        ("due on May 3rd, 2025", "due on 3 May 2025"),
        ("due on 03.05.2025", "due on 3 May 2025"),
        ("due on 05/13/2025", "due on 13 May 2025"),
        ("due on 03/04/2025", "due on 3 April 2025"),
        ("due on 03/04/2025", "due on 4 March 2025"),
        ("2025年10月21日之前交", "2025-10-21之前交"),
        ("二〇二五年十月二十一日之前交", "2025年10月21日之前交"),
        ("figures of Q3 2025", "2025年第三季度的数字"),
        ("figures of October 2025", "2025-10的数字"),
        ("meet at 2:30 pm", "meet at 14:30"),
        ("下午两点半开会", "14:30开会"),
        ("call at 9 am", "call at 09:00"),
        ("ring 138 0013 8000", "ring 13800138000"),
        ("ask Petra Bachwald about order DF89BM", "order DF89BM: ask Petra Bachwald"),
        ("给长陵机械做一份方案", "为长陵机械写方案"),
        ("把结果交给贺锦书。", "结果给贺锦书过目"),
        ("read https://example.org/a and answer", "answer from https://example.org/a"),
        ("Hello! Thanks so much. Write a poem on rain", "Write a poem on rain"),
    ],
)
def test_the_same_fact_in_another_notation(request_text: str, rewrite: str) -> None:
    assert checked(request_text, rewrite) == Faithfulness((), ())


@pytest.mark.parametrize(
    ("request_text", "rewrite", "kind", "value"),
    [
        ("Pay 1,000 euros", "Pay 1,000 euros in 3 parts", FactKind.NUMBER, "3"),
        ("Pay by 3 May", "Pay by 3 May 2025", FactKind.DATE, "2025-05-03"),
        ("Write to the club", "Write to the club and ask Petra", FactKind.ENTITY, "petra"),
        ("raise prices by 5", "raise prices by 5%", FactKind.NUMBER, "5%"),
        ("写一份说明", "按报价.xlsx写一份说明", FactKind.FILE, "报价.xlsx"),
        ("写一份说明", "给岚山地产写一份说明", FactKind.ENTITY, "岚山地产"),
        ("写一份说明", "2025年3月前写一份说明", FactKind.DATE, "2025-03"),
        (
            "Look it up",
            "Look it up at https://example.org/x",
            FactKind.URL,
            "https://example.org/x",
        ),
        ("Meet at noon", "Meet at 14:30", FactKind.DATE, "14:30"),
    ],
)
def test_an_invention_is_named(request_text: str, rewrite: str, kind: FactKind, value: str) -> None:
    actual = checked(request_text, rewrite).inventions
    assert (kind, value) in {(fact.kind, fact.value) for fact in actual}


@pytest.mark.parametrize(
    ("request_text", "rewrite", "kind", "value"),
    [
        ("Write 300 words on rain", "Write on rain", FactKind.NUMBER, "300"),
        ("Write it by 3 May 2025", "Write it by 3 May", FactKind.DATE, "2025-05-03"),
        ("ask Petra Bachwald first", "ask first", FactKind.ENTITY, "petra bachwald"),
        ("save it as plan.md", "save it", FactKind.FILE, "plan.md"),
        ("订单DF89BM有问题", "订单有问题", FactKind.ENTITY, "df89bm"),
        ("折扣百分之五", "有折扣", FactKind.NUMBER, "5%"),
        ("把《用户手册》译成英文", "译成英文", FactKind.ENTITY, "用户手册"),
        ("交给毕凌霄，周五前", "周五前完成", FactKind.ENTITY, "毕凌霄"),
    ],
)
def test_a_loss_is_named(request_text: str, rewrite: str, kind: FactKind, value: str) -> None:
    actual = checked(request_text, rewrite).losses
    assert (kind, value) in {(fact.kind, fact.value) for fact in actual}


def test_every_input_file_must_be_named() -> None:
    actual = checked(
        "Compare the offers", "Compare inputs/a.xlsx with the other", "a.xlsx", "b.xlsx"
    )
    assert [(fact.kind, fact.text) for fact in actual.losses] == [(FactKind.FILE, "b.xlsx")]


def test_the_frame_of_a_packaged_prompt_invents_nothing() -> None:
    item = case("Condense memo.pdf into one page, save as short.docx", files=("memo.pdf",))
    assert check_faithfulness(item.candidate.prompt, item).faithful


@pytest.mark.parametrize(
    "text", ["1. Go\n2. Run", "0.", "十分感谢", "万一下雨", "第一次", "a one-off", "may I"]
)
def test_what_only_looks_like_a_number_or_a_date(text: str) -> None:
    assert [item for item in find_facts(text) if item.kind in ("number", "date")] == []


@given(st.text(max_size=200))
def test_a_text_is_faithful_to_itself(text: str) -> None:
    item = case(text or "?")
    assert check_faithfulness(item.request, item).inventions == ()


@pytest.mark.parametrize(
    "text", ["1" * 50_000, "1,000," * 9_000, "一" * 50_000, "A " * 30_000, "a1" * 30_000]
)
def test_hostile_text_is_read_in_one_pass(text: str) -> None:
    assert len(find_facts(text)) < len(text)
