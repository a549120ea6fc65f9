"""Tasks by a model: what it is shown of a session, and what follows from its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from construction.judging.calls.contracts import CallReason
from construction.judging.contracts import Judged
from construction.judging.model.asking import Checked, _question
from construction.sessions.recovery import RecoveryConfig, Tasks
from construction.sessions.recovery.by_model import (
    Conversation,
    RecoveryAnswer,
    _conversation_of,
    _masked,
    _recovery_stage,
    joined,
    read_tasks,
    shortened,
    windows,
    write_tasks,
)
from data.stage_tables import outcome_counts
from tests.construction.judging.model.fakes import Scripted
from tests.construction.sessions.recovery.talk import Talk, call

CONFIG = RecoveryConfig()


def shown(conversation: Conversation) -> Any:
    user = _question(_recovery_stage(), conversation).user
    return orjson.loads(user[user.index("{") : user.rindex("}") + 1])


def talk() -> Talk:
    made = Talk().user("Total the hours of Ida Quill.", "hours.xlsx")
    made.agent("Saved for Ida Quill.", call("read", path="in/hours.xlsx"),
               call("write", path="out/total.md"))  # fmt: skip
    return made.user("Now the toll rule.").agent("Rule 4.").user("thanks").agent("Welcome.")


def conversation(made: Talk) -> Conversation:
    shown_talk = _conversation_of(made.session())
    assert shown_talk is not None
    return shown_talk


def replies(*answers: Mapping[str, Any] | CallReason) -> Scripted:
    """A model that gives these answers, one a question."""
    queue = list(answers)
    return Scripted(lambda question: queue.pop(0))


def same(texts: Sequence[str], _uid: str) -> Sequence[str]:
    return texts


def test_what_a_model_is_shown() -> None:
    first, second, third = shown(conversation(talk()))["messages"]
    assert first == {
        "number": 1,
        "person": "Total the hours of Ida Quill.",
        "at": "2023-11-14 22:14",
        "attached": ["hours.xlsx"],
        "agent": {
            "read": ["hours.xlsx"],
            "wrote": ["total.md"],
            "said_last": "Saved for Ida Quill.",
        },
    }
    assert (second["agent"], third["number"]) == ({"said_last": "Rule 4."}, 3)


def test_every_text_is_masked() -> None:
    def mask(texts: Sequence[str], uid: str) -> Sequence[str]:
        assert uid == "talk.abc123"
        return [text.replace("Ida Quill", "X").replace("hours", "h") for text in texts]

    first = shown(_masked(conversation(talk()), mask))["messages"][0]
    assert first["person"] == "Total the h of X."
    assert first["attached"] == first["agent"]["read"] == ["h.xlsx"]
    assert first["agent"]["said_last"] == "Saved for X."


def test_one_message_and_sub_agents_are_not_asked_about() -> None:
    assert _conversation_of(Talk().user("Total it.").agent("12.").session()) is None
    assert _conversation_of(talk().session(parent="main")) is None


def test_long_messages_are_cut_so_that_short_ones_stay_whole() -> None:
    made = Talk().user("Sort the list.").agent("ok").user("pasted " * 100_000).agent("yes " * 9000)
    for _ in range(20):
        made.user("一二三四五六七八九十" * 3).agent("好")
    cut = shortened(conversation(made), CONFIG).messages
    assert cut[0].said == "Sort the list."
    assert cut[2].said == "一二三四五六七八九十" * 3
    assert " […] " in cut[1].said and cut[1].reply.startswith("[…] ")
    whole = sum(len(message.said) + len(message.reply) for message in cut)
    assert 2_500 < whole < CONFIG.prompt_tokens * 3.8


def test_a_long_session_is_asked_about_in_windows_that_overlap() -> None:
    made = Talk()
    for number in range(130):
        made.user(f"row {number}").agent("ok")
    parts = windows(conversation(made), CONFIG)
    assert [len(part.messages) for part in parts] == [60, 60, 22]
    assert [part.item_id for part in parts] == [f"talk.abc123/{n}" for n in (1, 2, 3)]
    assert parts[0].messages[-6:] == parts[1].messages[:6]
    covered = {message.index for part in parts for message in part.messages}
    assert covered == set(range(0, 260, 2))


def test_answers_become_turns_and_windows_are_joined(tmp_path: Path) -> None:
    config = RecoveryConfig(window_turns=3, overlap_turns=1)
    made = Talk()
    for said in ("a", "b", "c", "d", "e"):
        made.user(said).agent("ok")
    asker = replies(
        {"reason": "", "tasks": [{"turns": [1, 2], "what": "x"}, {"turns": [3], "what": "y"}]},
        {"reason": "", "tasks": [{"turns": [1, 2], "what": "y"}], "no_task": [3]},
    )
    sources = [("logs/a.jsonl", conversation(made))]
    write_tasks(sources, config, same, asker, tmp_path)
    assert read_tasks(tmp_path) == {
        "logs/a.jsonl": {"talk.abc123": Tasks(((0, 2), (4, 6)), no_task=(8,))}
    }
    assert outcome_counts(tmp_path) == {"kept": 2}


def test_a_session_without_a_usable_answer_is_left_to_structure(tmp_path: Path) -> None:
    write_tasks([("a", conversation(talk()))], CONFIG, same, replies(CallReason.INVALID), tmp_path)
    assert read_tasks(tmp_path) == {}
    assert outcome_counts(tmp_path) == {"errored": 1}


def test_numbers_are_put_right_rather_than_refused() -> None:
    answer = RecoveryAnswer.model_validate(
        {"reason": "", "tasks": [{"turns": [1, 9, 1], "what": "x"}], "no_task": [1, 3]}
    )
    checked = _recovery_stage().check(conversation(talk()), answer)
    assert checked == Checked(Tasks(((0, 2),), (4,)), ("4 numbers of messages put right",))


def test_an_unanswered_window_leaves_the_whole_session_out() -> None:
    first = Judged("s/1", Tasks(((0,),)))
    none: Judged[Tasks] = Judged("s/2", None, "call.invalid")
    assert joined([first, none]) == {}
