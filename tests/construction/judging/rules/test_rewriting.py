"""The offline rewriting: noise goes, facts stay, what is not safe is left as packaged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.rules.faithfulness import check_faithfulness
from construction.judging.rules.rewriting import rewrite
from construction.sessions.prompts.prompt import WORDS
from tests.construction.judging.rules.cases import case


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("Hello! Draft a notice on parking.", "Draft a notice on parking."),
        ("Thanks. New task: draft a notice on parking.", "Draft a notice on parking."),
        ("Good morning, draft a notice on parking.", "Draft a notice on parking."),
        ("Hello world programs in five languages, please write them.", "Hello world programs"),
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


def test_code_is_left_alone() -> None:
    text = "Explain this:\n```\nhi\n\nthanks\n```"
    assert "```\nhi\n\nthanks\n```" in rewrite(case(text))


def test_messages_between_people_stay_as_packaged() -> None:
    one = case("Hello! Draft a notice on parking.")
    prompt = f"{WORDS['en'].thread}\n\nMaya: {one.request}"
    thread = one.model_copy(
        update={"candidate": one.candidate.model_copy(update={"prompt": prompt})}
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
    one = case(*texts)
    packaged = check_faithfulness(one.candidate.prompt, one)
    rewritten = check_faithfulness(rewrite(one), one)
    assert set(rewritten.losses) <= set(packaged.losses)
    assert set(rewritten.inventions) <= set(packaged.inventions)
