"""From an instance to a candidate: the prompt word for word, and every field around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.contracts import Case
from construction.prompt_frame import frame, with_page_paths, with_released_paths
from construction.sessions.package import Identity, _package
from data.canonical import digest
from data.contracts import (
    Disclosure,
    Fixture,
    Lane,
    NetworkPolicy,
    TaskInstance,
)
from tests.construction.sessions.instances import said

IDENTITY = Identity("s-0001", "workshop", Disclosure.PUBLIC, "CC0-1.0")


def fixture(path: str) -> Fixture:
    return Fixture(path=path, sha256=digest(path), bytes=1, media_type="text/plain")


def packed(instance: TaskInstance, *paths: str) -> Case:
    return _package(instance, [fixture(path) for path in paths], IDENTITY)


def test_a_prompt_in_english() -> None:
    instance = said(
        "Merge /root/inputs/oak.csv and pine.csv into one price list and save it as all.xlsx.",
        "Prices should be rounded to whole euros.",
    )
    case = packed(instance, "oak.csv", "pine.csv")
    assert case.candidate.prompt == (
        "Merge inputs/oak.csv and inputs/pine.csv into one price list and save it as all.xlsx.\n\n"
        "Prices should be rounded to whole euros.\n\n"
        "Take all of the above together as one request: do what it asks for, use the rest as "
        "background, and where a later part changes an earlier one, follow the later one.\n\n"
        "Input files:\n- inputs/oak.csv\n- inputs/pine.csv\n\n"
        "Deliver into outputs/:\n- outputs/all.xlsx"
    )
    assert case.request == case.candidate.prompt.partition("\n\nTake all")[0]


def test_input_files_are_listed_as_they_were_attached() -> None:
    case = packed(said("Compare the first file with the second."), "zebra.csv", "ant.csv")
    assert "Input files:\n- inputs/zebra.csv\n- inputs/ant.csv\n" in case.candidate.prompt
    assert [one.path for one in case.candidate.fixtures] == ["zebra.csv", "ant.csv"]


def test_a_message_that_was_sent_again_stands_once() -> None:
    case = packed(said("Sort oak.csv", "and round it", "Sort oak.csv"), "oak.csv")
    assert case.request == "Sort inputs/oak.csv\n\nand round it"


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


def test_the_evidence_tells_what_was_said_and_done() -> None:
    acts = [("read", "/w/oak.csv", 1), ("ran", "sum.py", 1), ("wrote", "/w/all.csv", 1)]
    instance = replace(
        said("Sum up oak.csv in all.csv", "Round it", acts=acts),
        reply="Done.",
        answers=("Which column?", "Done."),
        tools=("Read ×1", "Bash ×2"),
        said_before=("Good morning",),
    )
    timed = replace(instance.user_turns[0], at=1_773_306_060.0, sender="Mia")
    evidence = packed(replace(instance, user_turns=(timed, instance.user_turns[1]))).evidence
    assert [(said.speaker, said.at, said.text) for said in evidence.said] == [
        ("person:Mia", "2026-03-12T09:01+00:00", "Sum up oak.csv in all.csv"),
        ("agent", None, "Which column?"),
        ("person", None, "Round it"),
        ("agent", None, "Done."),
    ]
    assert [said.text for said in evidence.before] == ["Good morning"]
    assert (evidence.read, evidence.ran) == (("/w/oak.csv",), ("sum.py",))
    assert (evidence.wrote, evidence.last_words) == (("/w/all.csv",), "Done.")
    assert evidence.tools == ("Read ×1", "Bash ×2")


@pytest.mark.parametrize(
    ("words", "given", "acts", "names", "source"),
    [
        # Named and made by the agent; named and nowhere; named, read and then changed.
        (
            "Sum up oak.csv in all.csv",
            ("oak.csv",),
            [("wrote", "/w/all.csv", 1)],
            "all.csv",
            "both",
        ),
        ("Sum up oak.csv in all.csv", ("oak.csv",), [], "all.csv", "request"),
        (
            "Add a row Sum to oak.xlsx",
            ("oak.xlsx",),
            [("read", "/w/oak.xlsx", 1), ("wrote", "/w/oak.xlsx", 1)],
            "oak.xlsx",
            "both",
        ),
        # Nothing is named: what the agent made, or else an answer.
        ("Sum up oak.csv", ("oak.csv",), [("wrote", "/w/sum.md", 1)], "sum.md", "produced"),
        ("Sum up oak.csv", ("oak.csv",), [("read", "/w/oak.csv", 1)], "answer.md", "request"),
        ("把oak.csv的合计写到合计表.xlsx", ("oak.csv",), [], "合计表.xlsx", "request"),
    ],
)
def test_what_is_delivered_follows_from_names_and_acts(
    words: str, given: tuple[str, ...], acts: list[tuple[str, str, int]], names: str, source: str
) -> None:
    (item,) = packed(said(words, acts=acts, cwd="/w"), *given).candidate.deliverables
    assert (item.name_hints, item.source) == ((names,), source)


def test_what_a_program_made_is_delivered() -> None:
    """The agent read the result back, so that it looks like an input."""
    acts = [("read", "oak.csv", 1), ("ran", "sum.py", 1), ("read", "sums.csv", 1)]
    instance = replace(said("Save a csv with the sums", acts=acts), made=("sums.csv",))
    (item,) = packed(instance, "oak.csv").candidate.deliverables
    assert (item.file_type, item.name_hints, item.source) == ("csv", ("sums.csv",), "produced")


def test_every_field_of_a_candidate() -> None:
    instance = said(
        "Summarise https://example.com/a and save it as hinges.pdf", acts=[("ran", "make.sh", 1)]
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
    assert candidate.rules == (), "they are laid down when it is graded"
    assert (candidate.difficulty, candidate.difficulty_rule) == (None, None)
    provenance = candidate.provenance
    assert (provenance.source, provenance.source_format) == ("workshop", "chat")
    assert (provenance.item_id, provenance.licence) == ("s_i1", "CC0-1.0")
    assert provenance.disclosure is Disclosure.PUBLIC
    assert provenance.detail == {
        "started_by": "session_start",
        "user_turns": 1,
        "turns_in_prompt": 1,
        "other_tools": [],
        "redacted": False,
    }


@pytest.mark.parametrize(
    ("text", "paths", "surface"),
    [
        ("How do hinges work?", (), "chat"),
        ("Summarise notes.md", ("notes.md",), "files"),
        ("Write a report on hinges as hinges.pdf", (), "files"),
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
    packaged = _package(said("Read https://example.com/ab"), (), IDENTITY, network="freeze")
    assert packaged.candidate.network == NetworkPolicy()


def test_the_agents_own_names_are_not_told() -> None:
    acts = [("wrote", "/w/oak.py", 1), ("wrote", "/w/pine.py", 1)]
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
        ("oak.csv of both", ("a/oak.csv", "b/oak.csv"), "oak.csv of both"),
    ],
)
def test_files_go_by_their_released_paths(text: str, paths: tuple[str, ...], expected: str) -> None:
    assert with_released_paths(text, [fixture(path) for path in paths]) == expected


def test_a_file_with_two_paths_is_listed_once() -> None:
    pair = [fixture("oak.csv"), fixture("pine.csv")]
    pair += [pair[0].model_copy(update={"path": "wood/oak.csv"})]
    prompt = frame("Count them.", pair, (), "en")
    assert "- inputs/oak.csv (the same file: inputs/wood/oak.csv)\n- inputs/pine.csv\n" in prompt
    assert prompt.count("oak.csv") == 2


@given(
    st.lists(st.text(max_size=80), min_size=1, max_size=4),
    st.lists(st.sampled_from(["a.csv", "合同.docx", "x/y.md", "notes.txt"]), unique=True),
)
def test_packaging_depends_on_nothing_but_its_input(texts: list[str], paths: list[str]) -> None:
    instance = said(*texts)
    there = packed(instance, *paths).candidate
    back = packed(instance, *reversed(paths)).candidate
    assert there.fixtures == back.fixtures[::-1]
    assert there == packed(instance, *paths).candidate
    # Files are listed as they were attached; nothing else goes by their order.
    assert sorted(there.prompt.split("\n")) == sorted(back.prompt.split("\n"))
    same = {"prompt": "", "fixtures": ()}
    assert there.model_copy(update=same) == back.model_copy(update=same)
    assert all(f"- inputs/{path}" in there.prompt for path in paths)
