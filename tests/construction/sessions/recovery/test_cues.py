"""Each row of the scoring table holds where it should, and nowhere else."""

from __future__ import annotations

import pytest

from construction.sessions.recovery import RecoveryConfig, recover
from construction.sessions.recovery.cues import CUES, cohesions
from construction.sessions.recovery.exchanges import read_exchanges
from construction.sessions.recovery.features import asks_back
from construction.sessions.recovery.segment import Decision, decide
from tests.construction.sessions.recovery.talk import Talk, call

CONFIG = RecoveryConfig()
LONG = " ".join(f"term{n}a" for n in range(60))
OTHER = " ".join(f"word{n}b" for n in range(60))


def decisions(talk: Talk) -> list[Decision]:
    exchanges, _ = read_exchanges(talk.session())
    return decide(exchanges, [asks_back(exchange.reply) for exchange in exchanges], CONFIG)


def cues(talk: Talk) -> set[str]:
    """The cues that hold at the last gap of the talk."""
    return set(str(decisions(talk)[-1].evidence["cues"]).split())


def after(said: str, reply: str = "Here is the list.") -> Talk:
    return Talk().user(said).agent(reply)


SAVE = call("write", path="chairs.csv")
WELDS = "Please plan the welding course for the apprentices in the second week of May."

LIST = after("Compile a list of the oak chairs.")

# For each cue a talk at whose last gap it holds, and one at whose last gap it does not.
HOLDS: dict[str, tuple[Talk, Talk]] = {
    "reset_command": (
        after("Count the chairs.").user("/new").agent("New.").user("Count the desks."),
        after("Count the chairs.").user("Count the desks in /new/list.csv"),
    ),
    "reset_words": (
        after("Count the chairs.").user("New task: count the desks."),
        after("Count the chairs.").user("Count the desks as a new task."),
    ),
    "courtesy": (
        after("Count the chairs.").user("thank you!"),
        after("Count the chairs.").user("thank you! And the desks?"),
    ),
    "waiting_for_material": (
        after("Wait until I have sent all three.").user("first").agent("Got it.").user("second"),
        after("Wait until I have sent all three.").user("that was the last").agent("Ok.").user("b"),
    ),
    "go_on": (
        after("Count the chairs.").user("continue"),
        after("Count the chairs.").user("continue with the desks"),
    ),
    "only_material_so_far": (
        Talk().user("", "a.csv").agent("Received.").user("Chart it."),
        Talk().user("", "a.csv").agent("Ok.", call("write", path="a.png")).user("Chart it."),
    ),
    "marked": (
        after("Count the chairs.").user("On another note, count the desks."),
        after("Count the chairs.").user("Count the desks on another note pad."),
    ),
    "hands_over": (
        after("Count the chairs.").user("Alright, let's tackle the desks."),
        after("Count the chairs.").user("Alright, let's count the desks too."),
    ),
    "by_the_way": (
        after("Count the chairs.").user("By the way, count the desks."),
        after("Count the chairs.").user("Count the desks by the way out."),
    ),
    "pause": (
        after("Count the chairs.").pause(86_400).user("Count the desks."),
        after("Count the chairs.").user("Count the desks."),
    ),
    "closed": (
        after("Count the chairs.").user("thanks").agent("Sure.").user("Count the desks."),
        after("Count the chairs.").user("Count the desks."),
    ),
    "delivered": (
        after("Count the chairs.", "I've saved it.").user("Count the desks."),
        after("Count the chairs.", "Do you want the desks too?").user("Count the desks."),
    ),
    "finished": (
        Talk().user("Count the chairs.").agent("Counted, all tests pass.", SAVE).user(WELDS),
        Talk().user("Count the chairs.").agent("Counting:", SAVE).user(WELDS),
    ),
    "incoherent": (
        after(LONG, LONG).user(OTHER).agent(OTHER),
        after(LONG, LONG).user(LONG).agent(LONG),
    ),
    "deep": (
        after(LONG, LONG).user(LONG).agent(LONG).user(OTHER).agent(OTHER),
        after(LONG, LONG).user(LONG).agent(LONG),
    ),
    "valley": (
        after(LONG, LONG).user(LONG).agent(LONG).user(OTHER).agent(OTHER),
        after(LONG, LONG).user(OTHER).agent(OTHER).user(OTHER).agent(OTHER),
    ),
    "novel": (
        after("Compile a list of chairs.").user("Draft a toast for Helga's retirement."),
        after("Compile a list of chairs.").user("the chairs in Helga's office"),
    ),
    "other_names": (
        after("Convert map.tiff.").user("Summarise audit.pdf."),
        after("Convert map.tiff.").user("Crop map.tiff."),
    ),
    "thanked": (
        after("Count the chairs.").user("Perfect, thanks. Now count the desks."),
        after("Count the chairs.").user("Perfect. Now count the desks."),
    ),
    "greeting": (
        after("Count the chairs.").user("Good morning! Count the desks."),
        after("Count the chairs.").user("Count the desks that say good morning."),
    ),
    "request": (
        after("Count the chairs.").user("Please count the desks."),
        after("Count the chairs.").user("the desks are missing"),
    ),
    "new_object": (
        after("Count the chairs.").user("Write a toast for Helga."),
        after("Count the chairs.").user("Write the total below."),
    ),
    "new_material": (
        after("Count the chairs.").user("Count these too.", "desks.csv"),
        after("Count the chairs.").user("Count these too."),
    ),
    "question": (
        after("Count the chairs.").user("Which visa is needed for Nairobi?"),
        after("Count the chairs.").user("Say which one is broken."),
    ),
    "coherent": (
        after(LONG, LONG).user(LONG).agent(LONG),
        after(LONG, LONG).user(OTHER).agent(OTHER),
    ),
    "same_names": (
        after("Convert map.tiff.").user("Crop map.tiff."),
        after("Convert map.tiff.").user("Summarise audit.pdf."),
    ),
    "same_files": (
        Talk()
        .user("Fix the login.")
        .agent("Ok.", call("edit", path="/w/auth.py"))
        .user("The logout too.")
        .agent("Ok.", call("read", path="auth.py")),
        Talk()
        .user("Fix the login.")
        .agent("Ok.", call("edit", path="/w/auth.py"))
        .user("The logout too.")
        .agent("Ok.", call("read", path="menu.py")),
    ),
    "answers_question": (
        after("Book a room.", "For how many people?").user("twelve"),
        after("Book a room.", "Booked.").user("twelve"),
    ),
    "unanswered": (
        Talk().user("Compare the offers.").user("the price matters most"),
        after("Compare the offers.").user("the price matters most"),
    ),
    "reply_opener": (
        after("Count the chairs.").user("No, the oak ones."),
        after("Count the chairs.").user("The oak ones, no others."),
    ),
    "interrupts": (
        after("Count the chairs.", "Let me look at the first hall:").user("the oak ones"),
        after("Count the chairs.", "Let me look:").user("Then we need to count the desks."),
    ),
    "leans_on": (
        after("Count the chairs.").user("Write a caption for it."),
        after("Count the chairs.").user("Write a caption for it.", "photo.jpg"),
    ),
    "known_object": (
        after("Count the chairs.").user("Check the total."),
        after("Count the chairs.").user("Check a total."),
    ),
    "refers_back": (
        after("Count the chairs.").user("Are these the oak ones?"),
        after("Count the chairs.").user("Are oak ones cheaper?"),
    ),
    "refines": (
        after("Count the chairs.").user("Add the desks."),
        after("Count the chairs.").user("Are desks cheaper?"),
    ),
    "short": (
        after("Count the chairs.").user("the oak ones"),
        after("Count the chairs.").user("the oak ones in the big hall on the second floor"),
    ),
    "habit": (LIST.user("and the desks"), LIST),
}


def test_every_cue_is_tried() -> None:
    assert set(HOLDS) == {cue.name for cue in CUES}


@pytest.mark.parametrize("name", [cue.name for cue in CUES])
def test_a_cue_holds_where_it_should(name: str) -> None:
    assert name in cues(HOLDS[name][0])


@pytest.mark.parametrize("name", [cue.name for cue in CUES if cue.name != "habit"])
def test_a_cue_does_not_hold_elsewhere(name: str) -> None:
    assert name not in cues(HOLDS[name][1])


def test_an_acknowledgement_before_a_full_request_closes_what_was_before() -> None:
    opened = after("Count the chairs.").user(f"Alright, {WELDS.lower()}")
    answered = after("Count the chairs.", "All halls?").user(f"Alright, {WELDS.lower()}")
    assert "reply_opener" not in cues(opened)
    assert "reply_opener" in cues(answered)
    assert "reply_opener" in cues(after("Count the chairs.").user("Alright, the oak ones."))


def test_words_that_a_whole_session_shares_say_less() -> None:
    """The same gap counts as less coherent where all other gaps share these words too."""
    shared, own = (frozenset(text.split()[:60]) for text in (LONG, OTHER))
    half = frozenset([*sorted(shared)[:30], *sorted(own)[:30]])
    alike = cohesions([shared, half, shared, half, shared, half])
    mixed = cohesions([frozenset({f"a{n}"}) for n in range(8)] + [shared, half])
    assert alike[-1].value == pytest.approx(mixed[-1].value, abs=0.25)
    assert alike[-1].usual > 0.4
    assert mixed[-1].usual == 0


def test_the_score_is_the_sum_of_the_table() -> None:
    talk = after("Count the chairs.").user("Good morning! Please write a toast for Helga Brandt.")
    evidence = decisions(talk)[-1].evidence
    weights = {cue.name: cue.weight for cue in CUES}
    held = str(evidence["cues"]).split()
    assert held[0] == "greeting"
    low = sum(min(0.0, weights[name]) for name in held)
    high = sum(max(0.0, weights[name]) for name in held)
    assert isinstance(evidence["score"], float) and low <= evidence["score"] <= high


def test_waiting_lasts_until_all_is_sent_whatever_is_said_meanwhile() -> None:
    talk = after("等我发完再开始，一共三份合同").pause(86_400)
    talk.user("第一份是采购合同，写一份摘要的材料").agent("收到。").pause(86_400)
    talk.user("Please draft a toast for Helga.").agent("Noted.").user("发完了").agent("好的。")
    assert [len(i.user_turns) for i in recover(talk.session(), CONFIG).instances] == [4]
    talk.user("换个话题，查一下高铁时刻").agent("好的。")
    assert [len(i.user_turns) for i in recover(talk.session(), CONFIG).instances] == [4, 1]


def test_waiting_ends_when_the_agent_delivers() -> None:
    talk = after("Wait until I have sent all three.").user("", "a.csv")
    talk.agent("Merged.", call("write", path="out.csv")).user("New task: count the desks.")
    assert "waiting_for_material" not in cues(talk)


def test_names_are_forgotten_at_a_cut() -> None:
    talk = after("Convert map.tiff.").user("New task: proofread bees.docx.").agent("Ok.")
    assert "same_names" not in cues(talk.user("Crop map.tiff."))


def test_attachments_are_judged_by_the_request_that_follows_them() -> None:
    talk = after("Count the chairs.").user("", "payroll.csv").user("New task: sum this up.")
    first, second = decisions(talk)
    assert "reset_words" in str(first.evidence["cues"]).split()
    assert "only_material_so_far" in str(second.evidence["cues"]).split()


def test_a_word_of_assent_before_a_handover_is_no_reply() -> None:
    talk = after("Count the chairs.").user("OK, now let's turn to the desks.")
    assert "reply_opener" not in cues(talk)
