"""From an instance to a candidate: the prompt word for word, and every field around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.packaging.package import Identity, Packaged, package
from construction.sessions.prompts.released_paths import with_page_paths, with_released_paths
from data.contracts import (
    CutReason,
    Disclosure,
    Fixture,
    Lane,
    NetworkPolicy,
    TaskInstance,
)
from tests.construction.sessions.instances import said

IDENTITY = Identity("s-0001", "workshop", Disclosure.PUBLIC, "CC0-1.0")


def fixture(path: str) -> Fixture:
    return Fixture(path=path, sha256="0" * 64, bytes=1, media_type="text/plain")


def packed(instance: TaskInstance, *paths: str) -> Packaged:
    return package(instance, [fixture(path) for path in paths], IDENTITY)


def test_a_prompt_in_english() -> None:
    instance = said(
        "Merge /root/inputs/oak.csv and pine.csv into one price list and save it as all.xlsx.",
        "Thanks!",
        "Prices should be rounded to whole euros.",
    )
    assert packed(instance, "oak.csv", "pine.csv").candidate.prompt == (
        "Merge inputs/oak.csv and inputs/pine.csv into one price list and save it as all.xlsx.\n\n"
        "Prices should be rounded to whole euros.\n\n"
        "Take all of the above together as one request: do what it asks for, use the rest as "
        "background, and where a later part changes an earlier one, follow the later one.\n\n"
        "Input files:\n- inputs/oak.csv\n- inputs/pine.csv\n\n"
        "Deliver into outputs/:\n- outputs/all.xlsx"
    )


def test_input_files_are_listed_as_they_were_attached() -> None:
    packaged = packed(said("Compare the first file with the second."), "zebra.csv", "ant.csv")
    assert "Input files:\n- inputs/zebra.csv\n- inputs/ant.csv\n" in packaged.candidate.prompt
    assert [one.path for one in packaged.candidate.fixtures] == ["ant.csv", "zebra.csv"]


def test_a_prompt_in_chinese() -> None:
    prompt = packed(
        said("请审一下/root/inputs/合同.docx，列出风险点"), "合同.docx"
    ).candidate.prompt
    assert prompt == (
        "请审一下inputs/合同.docx，列出风险点\n\n"
        "输入文件：\n- inputs/合同.docx\n\n"
        "请将成果放入 outputs/：\n- outputs/answer.md：完整的回答"
    )


def test_a_prompt_in_japanese() -> None:
    prompt = packed(said("この議事録を三行で要約してください")).candidate.prompt
    assert prompt.endswith("成果物は outputs/ に置いてください：\n- outputs/answer.md：完全な回答")


def test_several_writers_are_named() -> None:
    instance = said("The hinges are in.", "Agent, list what is still missing.")
    turns = [
        replace(turn, sender=name)
        for turn, name in zip(instance.user_turns, ["Mia", "Raj"], strict=True)
    ]
    packaged = packed(replace(instance, user_turns=tuple(turns)))
    assert packaged.candidate.prompt.startswith(
        "These messages were written by several people, in this order:\n\n"
        "Mia: The hinges are in.\n\nRaj: Agent, list what is still missing.\n\n"
    )
    assert packaged.conversation.people == 2


def from_people(texts: list[str], senders: list[str]) -> TaskInstance:
    instance = said(*texts)
    pairs = zip(instance.user_turns, senders, strict=True)
    return replace(instance, user_turns=tuple(replace(turn, sender=name) for turn, name in pairs))


def test_messages_that_reached_somebody_are_a_thread_to_be_answered() -> None:
    packaged = packed(
        from_people(
            [
                "The hinges are in.",
                "Should we wait for the handles or deliver without?",
                "It is raining here.",
            ],
            ["Mia", "Mia", "Mia"],
        )
    )
    assert packaged.conversation.is_thread
    prompt = packaged.candidate.prompt
    assert prompt.startswith("These messages reached the person you assist, the oldest first:")
    assert "Mia: Should we wait for the handles or deliver without?\n\nWrite the answer" in prompt
    assert "raining" not in prompt


def test_a_thread_needs_a_writer_an_open_question_and_no_file_to_make() -> None:
    assert not packed(from_people(["The hinges are in."], ["Mia"])).conversation.is_thread
    assert not packed(
        said("Should we wait for the handles or deliver without?")
    ).conversation.is_thread
    wants_file = from_people(["Please put the open orders into orders.xlsx."], ["Mia"])
    assert not packed(wants_file).conversation.is_thread
    assert not packed(from_people(["Agent, list what is missing."], ["Mia"])).conversation.is_thread


def test_background_stands_before_the_request() -> None:
    instance = replace(
        said("What does the Lindgren worktop cost?"),
        started_by=CutReason.TOPIC_SHIFT,
        said_before=("Our price for Lindgren is 240 per metre.",),
    )
    assert packed(instance).candidate.prompt.startswith(
        "Background, from earlier in the same conversation:\n\n"
        "Our price for Lindgren is 240 per metre.\n\nThe request:\n\n"
        "What does the Lindgren worktop cost?\n\nTake all"
    )


def test_every_field_of_a_candidate() -> None:
    instance = said(
        "Summarise https://example.com/a and save it as a PDF", acts=[("ran", "make.sh", 1)]
    )
    candidate = packed(instance, "notes.md").candidate
    assert (candidate.task_id, candidate.lane, candidate.language) == (
        "s-0001",
        Lane.SESSIONS,
        "en",
    )
    assert candidate.execution_surface == "shell"
    assert candidate.tools == ("read_file", "write_file", "shell", "fetch")
    assert candidate.network == NetworkPolicy(mode="list", urls=("https://example.com/a",))
    assert [(item.file_type, item.count) for item in candidate.deliverables] == [("pdf", 1)]
    assert {rule.kind for rule in candidate.rules} >= {"file_type", "count", "opens", "non_empty"}
    assert (candidate.difficulty, candidate.difficulty_rule) == (None, None)
    provenance = candidate.provenance
    assert (provenance.source, provenance.source_format) == ("workshop", "chat")
    assert (provenance.item_id, provenance.licence) == ("s_i1", "CC0-1.0")
    assert provenance.disclosure is Disclosure.PUBLIC
    assert provenance.detail == {
        "started_by": "session_start",
        "user_turns": 1,
        "turns_in_prompt": 1,
    }


@pytest.mark.parametrize(
    ("text", "paths", "surface"),
    [
        ("How do hinges work?", (), "chat"),
        ("Summarise notes.md", ("notes.md",), "files"),
        ("Write a report on hinges and export it as a PDF", (), "files"),
        ("Read https://example.com/hinges and explain it", (), "web"),
    ],
)
def test_where_the_work_is_done(text: str, paths: tuple[str, ...], surface: str) -> None:
    assert packed(said(text), *paths).candidate.execution_surface == surface


def test_pages_stand_under_the_paths_they_are_released_by() -> None:
    text = "Compare https://example.com/a with https://example.com/ab, please."
    replaced = with_page_paths(text, {"https://example.com/a": "pages/01.html"})
    assert replaced == "Compare inputs/pages/01.html with https://example.com/ab, please."


def test_without_network_nothing_is_reached() -> None:
    packaged = package(said("Read https://example.com/ab"), (), IDENTITY, network="freeze")
    assert packaged.candidate.network == NetworkPolicy()


def test_the_agents_own_names_are_not_told_but_those_of_edited_files_are() -> None:
    acts = [("wrote", "/w/oak.py", 1), ("wrote", "/w/pine.py", 1)]
    edited = packed(said("Fix the rounding", acts=acts), "src/oak.py", "src/pine.py")
    assert edited.candidate.prompt.endswith("- outputs/oak.py\n- outputs/pine.py")
    fresh = packed(said("Write something that rounds", acts=acts))
    assert fresh.candidate.prompt.endswith("- at least 2 × .py")


@pytest.mark.parametrize(
    ("text", "paths", "expected"),
    [
        ("see C:\\work\\oak.csv.", ("oak.csv",), "see inputs/oak.csv."),
        ("see `./data/oak.csv`", ("data/oak.csv",), "see `inputs/data/oak.csv`"),
        (
            "b/x.csv then a/x.csv",
            ("a/x.csv", "b/x.csv"),
            "inputs/b/x.csv then inputs/a/x.csv",
        ),
        ("OAK.CSV", ("oak.csv",), "inputs/oak.csv"),
        ("https://example.com/oak.csv", ("oak.csv",), "https://example.com/oak.csv"),
        ("soak.csv and oak.csvx", ("oak.csv",), "soak.csv and oak.csvx"),
        ("inputs/oak.csv", ("oak.csv",), "inputs/oak.csv"),
    ],
)
def test_files_go_by_their_released_paths(text: str, paths: tuple[str, ...], expected: str) -> None:
    assert with_released_paths(text, [fixture(path) for path in paths]) == expected


@given(
    st.lists(st.text(max_size=80), min_size=1, max_size=4),
    st.lists(st.sampled_from(["a.csv", "合同.docx", "x/y.md", "notes.txt"]), unique=True),
)
def test_packaging_depends_on_nothing_but_its_input(texts: list[str], paths: list[str]) -> None:
    instance = said(*texts)
    there = packed(instance, *paths).candidate
    back = packed(instance, *reversed(paths)).candidate
    assert there == packed(instance, *paths).candidate
    # Files are listed as they were attached; nothing else goes by their order.
    assert sorted(there.prompt.split("\n")) == sorted(back.prompt.split("\n"))
    assert there.model_copy(update={"prompt": ""}) == back.model_copy(update={"prompt": ""})
    assert all(f"- inputs/{path}" in there.prompt for path in paths)
