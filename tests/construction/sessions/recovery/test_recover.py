"""What recovery fills in, what it leaves out, and what holds for any session."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.sessions.recovery import LeftOutReason, RecoveryConfig, Tasks, recover
from construction.sessions.recovery.recover import _session_urls
from data.contracts import AgentAct, CutReason, Origin, Role, Session, SourceFormat, Turn
from tests.construction.sessions.recovery.talk import Talk, call

CONFIG = RecoveryConfig()
TWO_TASKS = (
    Talk("two")
    .user("Draft the invitation to the annual meeting.", "/in/agenda.docx")
    .agent("For which date?")
    .user("the ninth of September")
    .agent("Saved.", call("read", path="/in/agenda.docx"), call("write", path="invite.docx"))
    .user("thank you")
    .agent("You're welcome!")
    .user("/new")
    .agent("New session.")
    .user("List all suppliers that delivered late in March.")
    .agent("Two.", call("bash", command="python late.py > late.csv"))
)


def test_the_fields_of_an_instance() -> None:
    first, second = recover(TWO_TASKS.session(), CONFIG).instances
    assert (first.instance_id, second.instance_id) == ("two.abc123_i1", "two.abc123_i2")
    assert (first.session_uid, first.session_id) == ("two.abc123", "two")
    assert (first.source_format, first.source_path) == (SourceFormat.OPENCLAW, "logs/two.jsonl")
    assert (first.started_by, second.started_by) == (
        CutReason.SESSION_START,
        CutReason.EXPLICIT_RESET,
    )
    assert first.turn_indices == (0, 1, 2, 3, 4, 5)
    assert second.turn_indices == (8, 9)
    assert [turn.index for turn in first.user_turns] == [0, 2, 4]
    assert first.user_turns[0].attachments[0].path == "/in/agenda.docx"
    assert first.user_turns[0].line == 1
    assert first.acts == (
        AgentAct("read", "/in/agenda.docx", 3),
        AgentAct("wrote", "invite.docx", 3),
    )
    assert second.acts == (AgentAct("wrote", "late.csv", 9), AgentAct("ran", "late.py", 9))
    assert (first.reply, second.reply) == ("You're welcome!", "Two.")
    assert (first.asked_back, second.asked_back) == (True, False)
    assert first.said_before == ()
    assert second.said_before == (
        "Draft the invitation to the annual meeting.",
        "the ninth of September",
        "thank you",
    )
    assert (first.answers[-1], second.answers) == ("You're welcome!", ("Two.",))
    assert (first.made, second.made) == ((), ())
    assert first.cwd == "/work"


def test_the_fingerprint_is_of_the_texts_and_nothing_else() -> None:
    session = TWO_TASKS.session()
    copy = replace(
        session,
        uid="two.ffffff",
        source_path="copy.jsonl",
        turns=tuple(replace(turn, at=None, line=turn.line + 7) for turn in session.turns),
    )
    prints = [[i.fingerprint for i in recover(s, CONFIG).instances] for s in (session, copy)]
    assert prints[0] == prints[1]
    said = "List all suppliers that delivered late in March."
    assert prints[0][1] == hashlib.sha256(f"{len(said)}:{said}".encode()).hexdigest()


def test_session_urls_only_where_a_person_wrote_a_redaction() -> None:
    talk = (
        Talk()
        .user("Summarise https://[REDACTED]/q1 please.")
        .agent(
            "See https://example.org/q1.",
            call(
                "fetch",
                result="from http://files.example.net/a.pdf, https://example.org/q1",
                request={"parts": [{"u": "https://example.com/x"}]},
            ),
        )
    )
    talk.user("/new").agent("Hi.").user("Write a limerick about clerks.").agent(
        "There once was a clerk."
    )
    first, second = recover(talk.session(), CONFIG).instances
    assert "https://example.org/q1" in first.session_urls
    assert first.session_urls[-2:] == ("https://example.com/x", "http://files.example.net/a.pdf")
    assert len(first.session_urls) == len(set(first.session_urls))
    assert second.session_urls == ()


def test_urls_of_deeply_nested_arguments() -> None:
    nested: object = "https://example.org/deep"
    for _ in range(5000):
        nested = [nested]
    talk = Talk().user("go").agent("ok", call("fetch", tree=nested))
    assert _session_urls(talk.session()) == ("https://example.org/deep",)


def test_sub_agent_sessions_yield_nothing() -> None:
    recovered = recover(TWO_TASKS.session(parent="main"), CONFIG)
    assert recovered.instances == ()
    assert set(recovered.left_out.values()) == {LeftOutReason.SUB_AGENT}
    assert len(recovered.left_out) == 10


def test_machine_turns_are_left_out_with_what_the_agent_did_then() -> None:
    talk = Talk().machine("Context", role=Role.SYSTEM).agent("Hello!")
    talk.user("Compile the open invoices.").agent("23 invoices.")
    talk.machine("[cron:1] Check the backup", Origin.CRON).agent(
        "Fine.", call("read", path="b.log")
    )
    talk.machine("Read HEARTBEAT.md").agent("HEARTBEAT_OK").user("").agent("?")
    recovered = recover(talk.session(), CONFIG)
    (only,) = recovered.instances
    assert only.turn_indices == (2, 3)
    assert (only.acts, only.reply) == ((), "23 invoices.")
    assert recovered.left_out == {
        0: LeftOutReason.BEFORE_FIRST_REQUEST,
        1: LeftOutReason.BEFORE_FIRST_REQUEST,
        **dict.fromkeys((4, 5, 6, 7, 9), LeftOutReason.MACHINE_TURN),
        8: LeftOutReason.EMPTY_TURN,
    }


def test_notices_in_the_middle_of_a_task_do_not_interrupt_it() -> None:
    talk = Talk().user("Run the import.").agent("Started.").machine("command finished, exit 0")
    talk.agent("Imported.", call("write", path="log.txt"))
    (only,) = recover(talk.session(), CONFIG).instances
    assert only.turn_indices == (0, 1, 2, 3)
    assert (only.reply, only.acts) == ("Imported.", (AgentAct("wrote", "log.txt", 3),))


@pytest.mark.parametrize(
    "notice", ["<command-name>/clear</command-name>", "A new session was started via /new."]
)
def test_a_reset_may_come_as_a_notice(notice: str) -> None:
    talk = Talk().user("Make the table wider.").agent("Done.").machine(notice).agent("Hi!")
    talk.user("and now?").agent("Ready.")
    recovered = recover(talk.session(), CONFIG)
    assert [len(instance.user_turns) for instance in recovered.instances] == [1, 1]
    assert recovered.left_out == dict.fromkeys((2, 3), LeftOutReason.RESET_COMMAND)


@pytest.mark.parametrize("command", ["/tide-check", "/harbour:fees 12", "/compact"])
def test_a_command_alone_is_no_request_and_belongs_to_what_was_asked(command: str) -> None:
    talk = Talk().user("Make the table wider.").agent("Done.").user(command).agent("Checked.")
    (only,) = recover(talk.session(), CONFIG).instances
    assert (only.turn_indices, [turn.said for turn in only.user_turns]) == (
        (0, 1, 2, 3), ["Make the table wider."]
    )  # fmt: skip
    alone = recover(Talk().user(command).agent("Checked.").session(), CONFIG)
    assert alone.left_out == dict.fromkeys((0, 1), LeftOutReason.BEFORE_FIRST_REQUEST)
    request = f"{command} and write down which berths are closed"
    assert [
        turn.said for turn in recover(talk.user(request).session(), CONFIG).instances[-1].user_turns
    ][-1] == request


def test_a_path_is_no_reset() -> None:
    talk = Talk().user("Make the table wider.").agent("Done.")
    talk.machine("backup finished: /new/table.docx, see /reset.log").agent("Noted.")
    assert recover(talk.session(), CONFIG).left_out == {}


def test_a_lone_question_mark_is_an_instance_of_its_own_session() -> None:
    (only,) = recover(Talk().user("？").agent("Yes?").session(), CONFIG).instances
    assert [turn.said for turn in only.user_turns] == ["？"]


def test_an_empty_session() -> None:
    recovered = recover(Talk().session(), CONFIG)
    assert (recovered.instances, recovered.left_out) == ((), {})


words = st.sampled_from(
    [
        "thanks", "/new", "/reset", "", "？", "继续", "New task: count the chairs", "换个话题",
        "等我发完再开始", "发完了", "hi", "Please write a report about whales", "make it shorter",
        "\ud800 broken", "nul \x00 byte", "[REDACTED] https://a.example/[REDACTED]", "👍",
    ]
)  # fmt: skip
kinds = st.sampled_from(["user", "agent", "file", "cron", "system", "pause"])


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Sessions of any mixture of turns."""
    talk = Talk()
    for kind in draw(st.lists(kinds, max_size=14)):
        text = draw(words)
        if kind == "user":
            talk.user(text)
        elif kind == "file":
            talk.user(text, "inputs/a.xlsx")
        elif kind == "agent":
            talk.agent(text, call("write", path="out.md"))
        elif kind == "pause":
            talk.pause(draw(st.floats(0, 1e7)))
        else:
            talk.machine(text, Origin.CRON if kind == "cron" else Origin.SYSTEM)
    return talk.session()


@settings(max_examples=300)
@given(sessions())
def test_every_turn_is_in_exactly_one_place(session: Session) -> None:
    recovered = recover(session, CONFIG)
    placed = [index for instance in recovered.instances for index in instance.turn_indices]
    assert sorted([*placed, *recovered.left_out]) == [turn.index for turn in session.turns]
    human = [turn.index for turn in session.turns if turn.origin is Origin.HUMAN]
    indices = [turn.index for instance in recovered.instances for turn in instance.user_turns]
    assert indices == [index for index in human if index not in recovered.left_out]


def tasks_of(session: Session, tasks: Tasks | None = None) -> list[list[int]]:
    recovered = recover(session, CONFIG, tasks)
    return [[turn.index for turn in instance.user_turns] for instance in recovered.instances]


def reasons_of(session: Session, tasks: Tasks | None = None) -> list[CutReason]:
    return [instance.started_by for instance in recover(session, CONFIG, tasks).instances]


def test_structure_cuts_where_other_material_comes_after_a_delivery() -> None:
    talk = Talk().user("Clean this list.", "guests.csv")
    talk.agent("Saved.", call("write", path="guests_clean.csv"))
    talk.user("And sort it by surname.").agent("Sorted.", call("write", path="guests_clean.csv"))
    talk.user("Now proofread the leaflet.", "leaflet.docx").agent("Done.")
    assert tasks_of(talk.session()) == [[0, 2], [4]]
    assert reasons_of(talk.session()) == [CutReason.SESSION_START, CutReason.AFTER_DELIVERY]


def test_material_for_the_same_work_is_no_cut() -> None:
    talk = Talk().user("I send three reports, build one table of them.").agent("I wait.")
    talk.user("first", "q1.xlsx").agent("One.").user("second", "q2.xlsx").agent("Two.")
    talk.user("merge them into guests.xlsx", "q3.xlsx").agent(
        "Saved.", call("write", path="guests.xlsx")
    )
    talk.user("guests.xlsx lacks the totals", "totals.csv").agent("Added.")
    assert tasks_of(talk.session()) == [[0, 2, 4, 6, 8]]


def test_a_long_pause_cuts_between_different_files_only() -> None:
    for name, expected in (("rents.xlsx", [[0, 2]]), ("tours.xlsx", [[0], [2]])):
        talk = Talk().user("Total rents.xlsx.").agent("12.", call("read", path="rents.xlsx"))
        talk.pause(13 * 3600).user(f"Total {name}.").agent("9.", call("read", path=name))
        assert tasks_of(talk.session()) == expected


def test_words_alone_cut_nothing() -> None:
    talk = Talk().user("Which plants survive in the dark?").agent("Ivy.")
    talk.user("Something else: new task! Write a toast for Helga.").agent("Dear Helga")
    assert tasks_of(talk.session()) == [[0, 2]]


def test_the_tasks_that_a_model_named() -> None:
    talk = Talk().user("hello").agent("Hi.").user("Total the hours.").agent("12.")
    talk.user("Which rule holds for tolls?").agent("Rule 4.").user("hours by month, please")
    talk.agent("Done.").user("thanks").agent("Welcome.")
    tasks = Tasks(((2, 6), (4,)), no_task=(0,))
    recovered = recover(talk.session(), CONFIG, tasks)
    assert tasks_of(talk.session(), tasks) == [[2, 6, 8], [4]]
    assert reasons_of(talk.session(), tasks) == [CutReason.SESSION_START, CutReason.OTHER_TASK]
    assert recovered.instances[0].turn_indices == (2, 3, 6, 7, 8, 9)
    assert recovered.left_out == dict.fromkeys((0, 1), LeftOutReason.NO_TASK)


def test_numbers_of_a_model_that_are_no_messages_change_nothing() -> None:
    talk = Talk().user("Total the hours.").agent("12.").user("by month").agent("Done.")
    assert tasks_of(talk.session(), Tasks(((0, 1, 77), (99,)), no_task=(1, 50))) == [[0, 2]]


@settings(max_examples=300)
@given(sessions(), st.lists(st.lists(st.integers(0, 15), max_size=5), max_size=4), st.data())
def test_any_answer_of_a_model_places_every_turn(
    session: Session, groups: list[list[int]], data: st.DataObject
) -> None:
    idle = data.draw(st.lists(st.integers(0, 15), max_size=4))
    recovered = recover(session, CONFIG, Tasks(tuple(map(tuple, groups)), tuple(idle)))
    placed = [index for instance in recovered.instances for index in instance.turn_indices]
    assert sorted([*placed, *recovered.left_out]) == [turn.index for turn in session.turns]


@pytest.mark.parametrize(
    "text",
    [
        "a." * 320_000,
        "请" * 640_000,
        "'\"" * 320_000,
        " | , " * 128_000,
        ("x" * 79 + "/") * 8_000,
        "thank you " * 64_000,
    ],
    ids=["dots", "han", "quotes", "marks", "paths", "thanks"],
)
def test_long_lines_cost_no_more_than_short_ones(text: str) -> None:
    talk = Talk()
    for _ in range(5):
        talk.user(text).agent(text, call("bash", command=text), call("write", path=text))
    session = talk.session()
    begun = time.process_time()
    recover(session, CONFIG)
    assert time.process_time() - begun < 1.0


def test_the_cost_grows_linearly_with_the_session() -> None:
    def seconds(count: int) -> float:
        turns: list[Turn] = []
        talk = Talk()
        for number in range(count):
            talk.user("", f"in/{number}.csv").user(f"and row {number} too").agent("Added.")
        turns += talk.turns
        session = replace(talk.session(), turns=tuple(turns))
        begun = time.process_time()
        recover(session, CONFIG)
        return time.process_time() - begun

    small = min(seconds(200) for _ in range(3))
    # Quadratic cost would be 256 times as much; 16 is linear, the rest is for a busy machine.
    assert any(seconds(3200) < 128 * small + 0.2 for _ in range(3))
