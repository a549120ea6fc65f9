"""The preflight gate: which prompts a newcomer can meet, and why others are kept back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.preflight import (
    GATE,
    PreflightConfig,
    measures,
)
from construction.judging.preflight_limits import PreflightReason
from construction.judging.signals import measure
from construction.sessions.packaging.package import Identity, package
from data.contracts import CutReason, Disclosure, Fixture, Status, TaskInstance, Verdict
from tests.construction.sessions.instances import said

CSS = "Can you rewrite this with flexbox?\n```\ndiv { float: left }\n```"


def verdict(instance: TaskInstance, *paths: str) -> Verdict:
    fixtures = [Fixture(path=path, sha256="0" * 64, bytes=99, media_type="x/y") for path in paths]
    packaged = package(instance, fixtures, Identity("t", "s", Disclosure.PUBLIC))
    return GATE.judge(measure(packaged.case, packaged.conversation), PreflightConfig())


def later(*texts: str, before: Sequence[str] = ("Sort the invoices by date.",)) -> TaskInstance:
    return replace(said(*texts), started_by=CutReason.TOPIC_SHIFT, said_before=tuple(before))


@pytest.mark.parametrize(
    "texts",
    [
        ("Write a Python function that parses ISO dates",),
        ("How do Python generators work, and when are they slower than lists?",),
        ("帮我写一封请假邮件，三天，理由是搬家",),
        ("把“团建预算三万元，四十人”写成一段给老板的说明，不超过一百字",),
        (CSS,),
        ("Translate 'good morning' into Welsh",),
        (
            "We sell bread. Sales fall on Mondays. Should we close on Mondays or bake less?",
            "Thanks",
        ),
        ("Draft a notice for tenants: water off on 3 May, 9 to 12.", "No, the date must be 4 May."),
    ],
)
def test_requests_that_stand_on_their_own_pass(texts: tuple[str, ...]) -> None:
    actual = verdict(said(*texts))
    assert (actual.gate, actual.status, actual.reason) == ("preflight", Status.PASSED, None)
    assert (actual.observed, actual.limit) == (1.0, 0.6)


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (said("hi"), PreflightReason.CONVERSATION_ONLY),
        (said("？"), PreflightReason.CONVERSATION_ONLY),
        (said("🤔"), PreflightReason.CONVERSATION_ONLY),
        (said("thanks, good work everyone!"), PreflightReason.CONVERSATION_ONLY),
        (said("测试一下"), PreflightReason.TOY),
        (said("The invoices are paid and the van is back."), PreflightReason.NO_REQUEST),
        (said("发票都付了，车也还了，下周再说。"), PreflightReason.NO_REQUEST),
        (said("Did you call the printer about it yet?"), PreflightReason.NO_REQUEST),
        (said("I need to change my flight to Oslo, please."), PreflightReason.NEEDS_LIVE_SYSTEM),
        (said("帮我查一下我的订单什么时候发货"), PreflightReason.NEEDS_LIVE_SYSTEM),
        (said("What's the weather like in Graz today?"), PreflightReason.NEEDS_LIVE_SYSTEM),
        (said("Summarise the files in this directory"), PreflightReason.MISSING_OBJECT),
        (said("List the files"), PreflightReason.MISSING_OBJECT),
        (said("Fix the failing test in the repo"), PreflightReason.MISSING_OBJECT),
        (said("Rewrite the letter as we discussed"), PreflightReason.LEANS_ON_CONTEXT),
        (said("按你刚才说的改一下这封信的开头"), PreflightReason.LEANS_ON_CONTEXT),
        (said("Summarise the dataset in five lines"), PreflightReason.LEANS_ON_CONTEXT),
        (later("Yes, write that one down for Monday too"), PreflightReason.LEANS_ON_CONTEXT),
        (later("需要包含哪些内容？"), PreflightReason.LEANS_ON_CONTEXT),
        (said("What do you think?"), PreflightReason.CHAT),
        (said("Read my order number from the attached photo"), PreflightReason.MISSING_OBJECT),
    ],
)
def test_what_a_newcomer_cannot_meet(instance: TaskInstance, reason: PreflightReason) -> None:
    actual = verdict(instance)
    assert (actual.status, actual.reason) == (Status.FAILED, reason)


def test_files_at_hand_make_a_request_stand() -> None:
    instance = said("Summarise the dataset in five lines", acts=[("read", "/w/sales.csv", 1)])
    assert verdict(instance).reason == PreflightReason.MISSING_INPUTS
    assert verdict(instance, "sales.csv").status is Status.PASSED


@pytest.mark.parametrize(
    "text",
    [
        "Who writes to Kim most often?",
        "How many mails did Kim get? Who sent them?",
        "When is Kim free on Monday?",
        "Can Kim come to the workshop on 3 May?",
        "Has anyone asked Kim about the rent?",
        "What does Kim owe?",
        "Kim周一有空吗？",
    ],
)
def test_a_question_that_files_answer_is_a_request_of_one_who_asks_alone(text: str) -> None:
    assert verdict(said(text), "mails/Kim/rent.eml", "calendar/Kim.ics").status is Status.PASSED
    among = replace(said(text).user_turns[0], text=f"[Slack #ops Mon] {text}")
    talk = replace(said(text), user_turns=(among,))
    assert verdict(talk, "mails/Kim/rent.eml", "calendar/Kim.ics").status is Status.FAILED
    assert verdict(said(text)).status is Status.FAILED


def test_one_missing_file_of_many_is_no_obstacle() -> None:
    acts = [("read", f"/w/{name}.csv", 1) for name in "abc"]
    instance = said("Merge these three price lists and explain the gaps", acts=acts)
    assert verdict(instance, "a.csv", "b.csv").status is Status.PASSED
    actual = verdict(instance, "a.csv")
    assert (actual.reason, actual.observed) == (PreflightReason.MISSING_INPUTS, 0.666666667)


def test_files_that_the_agent_wrote_itself_are_not_missing() -> None:
    acts = [("wrote", "/w/plan.md", 1), ("read", "/w/plan.md", 3)]
    assert verdict(said("Write a plan for a bake sale", acts=acts)).status is Status.PASSED


def test_an_output_named_is_a_demand_however_it_is_put() -> None:
    instance = said("Bake-sale posters, two sizes, cheerful, saved as posters.pdf by noon")
    actual = verdict(instance)
    assert (actual.status, actual.measures["demands"]) == (Status.PASSED, 1)


def test_an_account_counts_wherever_it_was_mentioned() -> None:
    instance = later(
        "Is there any cheaper way to get the same result on Friday?",
        before=["My user ID is 4711 and I want to cancel my booking."],
    )
    assert verdict(instance).reason == PreflightReason.NEEDS_LIVE_SYSTEM


def test_among_several_writers_only_what_calls_the_agent_counts() -> None:
    def by_two(first: str, second: str) -> TaskInstance:
        instance = said(first, second)
        mia, raj = (
            replace(turn, sender=name)
            for turn, name in zip(instance.user_turns, ["Mia", "Raj"], strict=True)
        )
        return replace(instance, user_turns=(mia, raj))

    talk = by_two("Flour is up by a tenth.", "Mia already works out a new bread price.")
    assert verdict(talk).reason == PreflightReason.NO_REQUEST
    called = by_two("Flour is up by a tenth.", "Agent, work out a new price for a 2 euro loaf.")
    assert verdict(called).status is Status.PASSED
    later = "Agent, flour is up by a tenth. Can you work out a new price for a 2 euro loaf?"
    assert verdict(by_two("The oven is fixed.", later)).status is Status.PASSED


def test_a_thread_must_tell_what_it_is_about() -> None:
    def from_mia(text: str) -> TaskInstance:
        instance = said(text)
        return replace(instance, user_turns=(replace(instance.user_turns[0], sender="Mia"),))

    short = verdict(from_mia("Should we deliver without the handles?"))
    assert (short.reason, short.observed, short.limit) == (
        PreflightReason.LEANS_ON_CONTEXT,
        6,
        120,
    )
    result = (
        "The kitchen for the Lindgren house is ready but for the handles, which the supplier "
        "promised for last Friday and now for the end of the month. The fitters are booked for "
        "Tuesday, and the family moves in on Thursday. "
        "Their contract says that a kitchen is delivered whole, and that each day of delay costs "
        "us one part in two hundred of the price, at most a tenth. The supplier offers other "
        "handles from stock, in brass instead of steel, which Mrs Lindgren did not like when she "
        "saw them in the shop. If we deliver without handles, the fitters have to come again for "
        "half a day, and their firm is booked out until the middle of next month. "
    )
    assert verdict(from_mia(result + "Should we deliver without?")).status is Status.PASSED


def test_in_a_channel_a_call_by_name_is_for_somebody_else() -> None:
    instance = said("Petra, please draft the price list for spring.")
    turn = replace(instance.user_turns[0], text=f"[Chat #shop] {instance.user_turns[0].said}")
    in_channel = replace(instance, user_turns=(turn,))
    assert verdict(in_channel).reason == PreflightReason.NO_REQUEST
    assert verdict(instance).status is Status.PASSED


def test_most_demands_must_be_met() -> None:
    half = said(
        "Write a haiku about rye. Are you ready? Who is on the late shift? When will the oven come?"
    )
    actual = verdict(half)
    assert (actual.reason, actual.observed) == (PreflightReason.CONVERSATION_ONLY, 0.25)


def test_measures_hold_counts_and_never_text() -> None:
    actual = verdict(said("Write a haiku about rye."))
    assert actual.measures["words"] == 5
    assert all(isinstance(value, int) for value in actual.measures.values())


@given(st.lists(st.text(max_size=80), min_size=1, max_size=4), st.booleans())
def test_every_instance_gets_a_verdict_with_its_reason(texts: list[str], is_later: bool) -> None:
    instance = later(*texts) if is_later else said(*texts)
    packaged = package(instance, (), Identity("t", "s", Disclosure.PUBLIC))
    signals = measure(packaged.case, packaged.conversation)
    actual = GATE.judge(signals, PreflightConfig())
    assert actual.measures == measures(signals)
    assert (actual.reason is None) == (actual.status is Status.PASSED)
    assert signals.demands.met <= signals.demands.count


@pytest.mark.parametrize(
    "text",
    [
        "Swap row of Ann and row of Ben in the score file",
        "Every employee gets a letter with the new salary",
        "Number of people that attend the party",
        "descending order of price for the goods list",
        "Need replies to all of the mails in the inbox",
        "Reply to the thread about the outage and close the ticket with a summary",
        "把李四那一行删掉",
    ],
)
def test_what_a_session_over_files_opens_with_is_a_request(text: str) -> None:
    assert verdict(said(text), "data/score.xlsx", "inbox.json").status is Status.PASSED


def test_without_files_the_same_words_ask_for_nothing_or_lean_on_earlier_talk() -> None:
    assert verdict(said("Number of people that attend the party")).reason == (
        PreflightReason.NO_REQUEST
    )
    text = "Summarise the thread for me and close the ticket, please"
    assert verdict(said(text)).reason == PreflightReason.LEANS_ON_CONTEXT
    assert verdict(said(text), "thread.eml").status is Status.PASSED


def test_the_state_of_a_working_copy_is_missing_without_program_code() -> None:
    text = "Check the latest commit for mistakes and list them"
    assert verdict(said(text), "docs/plan.md").reason == PreflightReason.MISSING_OBJECT
    assert verdict(said(text), "src/main.go").status is Status.PASSED


@pytest.mark.parametrize("text", ["delete draft.xlsx", "Please remove the old file."])
def test_a_file_that_only_goes_leaves_nothing_to_grade(text: str) -> None:
    assert verdict(said(text), "data/draft.xlsx").reason == PreflightReason.SETUP_CHORE
    kept = verdict(said("delete the last row in draft.xlsx"), "data/draft.xlsx")
    assert kept.status is Status.PASSED


OFFICE = (
    "The harbour office opens at nine. Boats have to be paid for before they leave the harbour, "
    "and who comes late pays for the whole day. Keys are kept in the box at the door."
)


@pytest.mark.parametrize(
    "text",
    [
        f'Rewrite the last part so that it is friendlier: "{OFFICE}"',
        f"Please shorten the last part.\n\n> {OFFICE}",
        f"Make the last part of this text friendlier.\n\n{OFFICE} Lost keys cost twenty euros.",
        "把最后一部分改得更友好：\n\n港口办公室九点开门。船只离港前必须付费，迟到者须付全天费用。"
        "钥匙放在门口的盒子里。钥匙丢失须赔偿二十欧元，从押金里扣。",
    ],
)
def test_the_last_part_of_a_text_that_is_brought_along(text: str) -> None:
    assert verdict(said(text)).reason is None
    lost = text.partition('"')[0].partition("\n")[0]
    assert verdict(said(lost)).status is Status.FAILED


@pytest.mark.parametrize(
    "text",
    [
        "Explain the pull request template to new office staff in one page.",
        "Write a memo on the error handling of the accounts department, one page.",
        "Summarise the error handling in our complaints desk for new starters.",
    ],
)
def test_words_of_software_in_an_office_request(text: str) -> None:
    assert verdict(said(text), "handbook.md").reason is None
