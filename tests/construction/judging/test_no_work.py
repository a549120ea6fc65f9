"""Toys, chat, prompts of a harness and set-up chores are no work to hand out."""

from __future__ import annotations

import pytest

from construction.judging.preflight import GATE, PreflightConfig
from construction.judging.preflight_limits import PreflightReason
from construction.judging.signals import measure
from construction.sessions.packaging.package import Identity, package
from data.contracts import Disclosure, Fixture
from tests.construction.sessions.instances import said

TABLE = Fixture(path="costs.csv", sha256="0" * 64, bytes=900, media_type="text/csv")


def reason(text: str, *fixtures: Fixture) -> str | None:
    packaged = package(said(text), fixtures, Identity("t", "s", Disclosure.PUBLIC))
    return GATE.judge(measure(packaged.case, packaged.conversation), PreflightConfig()).reason


@pytest.mark.parametrize(
    "text",
    [
        "Write a hello world program in Rust",
        "Create hello.txt with the text: Hello World",
        "Please tell me a joke about accountants",
        "帮我写一个你好世界的程序",
        "Write a function that adds two numbers",
        "Translate 'hello' into Danish",
        'Print "Hello, World!" to the console',
        "用Python写一个hello world",
        "Write a file foo.txt containing bar",
        'Write "it works" to out.txt',
        "创建一个 test.txt，内容为 测试",
        "Step 1",
        "Run a tool",
        "Delegate a file search to a sub-agent",
        "Exercise session metadata.",
        "Need a quick diagnostic",
        "[omitted for brevity]",
    ],
)
def test_toys(text: str) -> None:
    assert reason(text) == PreflightReason.TOY


@pytest.mark.parametrize(
    ("text", "is_toy"),
    [
        ("Create a file hello.txt with the content Hello World", True),
        ("Write a hello world program in Python and save it as hello.py", True),
        ("写一个文件 a.txt，内容是 hello", True),
        ("Write a test with five questions on costs.csv into test.txt", False),
        ("Create a file test.txt with the sum of the costs", False),
    ],
)
def test_a_trial_is_a_toy_whatever_file_lies_there(text: str, is_toy: bool) -> None:
    assert (reason(text, TABLE) == PreflightReason.TOY) == is_toy


@pytest.mark.parametrize(
    "text",
    [
        "Step 1: sort the costs by month. Step 2: add a column with the sum of each month.",
        "Run the tool of your choice over this list and return it sorted: plum, pear, apple",
        "Need a quick diagnostic of why bread sinks in the middle while it bakes.",
        "Translate 'good morning' into Danish",
        "Write a lesson that explains each part of a hello world program in C, with exercises.",
    ],
)
def test_work_that_begins_like_a_toy(text: str) -> None:
    assert reason(text) != PreflightReason.TOY


@pytest.mark.parametrize(
    "text",
    ["Which model are you, and what can you do?", "What is your opinion of tabs against spaces?",
     "你觉得写代码和写诗哪个更难？", "Who would win, a shark or a bear?"],
)  # fmt: skip
def test_chat(text: str) -> None:
    assert reason(text) == PreflightReason.CHAT


def test_a_question_about_what_the_assistant_reaches_is_chat_whatever_files_there_are() -> None:
    assert reason("Are you able to access external APIs from here?", TABLE) == PreflightReason.CHAT
    assert reason("你能访问外网吗？", TABLE) == PreflightReason.CHAT
    assert reason("Are you able to sum up the costs per month?", TABLE) is None


@pytest.mark.parametrize(
    "trial",
    [
        "Summarise the costs by month.",
        "Sort the costs by size, the largest first.",
        "按月汇总费用。",
    ],
)
def test_a_template_of_a_harness_gets_one_verdict(trial: str) -> None:
    text = f"You are being evaluated. {trial} Your score is out of 20, two points each."
    assert reason(text, TABLE) == PreflightReason.HARNESS


@pytest.mark.parametrize(
    "text",
    [
        "Install ripgrep and fd on this machine",
        "Please configure the gateway so that it listens on port 9000",
        "Set a reminder for the dentist on Friday at nine",
        "帮我安装最新的插件",
        "Remember that my manager is called Ines",
    ],
)
def test_set_up_chores(text: str) -> None:
    assert reason(text) == PreflightReason.SETUP_CHORE


@pytest.mark.parametrize(
    "text",
    [
        "Sum costs.csv by month and write the result to monthly.csv; the total score of each "
        "supplier goes into a second column.",
        "Explain in guide.md how to install the database, in ten steps, and use costs.csv.",
        "What do you think of the costs in costs.csv? Write a memo of one page on where we could "
        "save, as memo.md.",
        "Translate the sentence 'hello world is the first program' into French and list the costs "
        "of costs.csv above 100 in big.csv.",
        "检查定时任务的运行情况，按月汇总 costs.csv，写一份总结。",
        "Tell new staff how to install the printer, in one page, as guide.md, from costs.csv.",
        "按月汇总 costs.csv 的费用，写到 monthly.csv，并在最后一行写合计。",
    ],
)
def test_work_that_uses_such_words_is_work(text: str) -> None:
    assert reason(text, TABLE) is None
