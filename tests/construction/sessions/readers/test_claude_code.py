"""Reading Claude Code logs: turns, branches, results, sub-agents, broken lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.claude_code import read
from data.contracts import Origin, Role, Session, SourceFormat, ToolCall
from tests.construction.sessions.readers.written import (
    document,
    issues,
    lines,
    session,
    sessions,
    typed,
)
from tests.construction.sessions.readers.written_claude import START, agent, result, text, use, user


def test_the_session_and_its_turns(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            user("u1", None, "Sum the invoices in a.csv"),
            agent(
                "a1", "u1", {"type": "thinking", "thinking": "One file."}, answer="m1", stop=None
            ),
            agent("a2", "a1", text("Reading."), answer="m1", stop=None),
            agent("a3", "a2", use("t1", path="a.csv"), answer="m1", stop="tool_use"),
            user("r1", "a3", [result("t1", [text("1"), text("2")])]),
            agent("a4", "r1", text("The sum is 3."), answer="m2", stop="end_turn"),
        ],
        "books/s1.jsonl",
    )
    parsed = session(read, source)
    assert (parsed.session_id, parsed.source_path) == ("s1", "books/s1.jsonl")
    assert parsed.uid.startswith("s1.")
    assert parsed.source_format is SourceFormat.CLAUDE_CODE
    assert (parsed.cwd, parsed.agent_version) == ("/work/books", "2.1.0")
    assert parsed.started_at == START
    assert (parsed.parent_session_id, parsed.dropped) == (None, {})
    request, acted, closed = parsed.turns
    assert (request.role, request.origin, request.line) == (Role.USER, Origin.HUMAN, 1)
    assert request.said == "Sum the invoices in a.csv"
    # Three records of one answer are one turn, at the first one's line.
    assert (acted.line, acted.turn_id, acted.parent_id) == (2, "a1", "u1")
    assert (acted.thinking, acted.text, acted.model) == ("One file.", "Reading.", "model-c")
    assert acted.stop_reason == "tool_use"
    assert acted.tool_calls == (ToolCall("t1", "Read", {"path": "a.csv"}, "1\n2", line=4),)
    assert (closed.text, closed.parent_id, closed.stop_reason) == (
        "The sum is 3.",
        "a1",
        "end_turn",
    )


def test_results_of_parallel_calls_do_not_make_branches(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            user("u1", None, "Read both"),
            agent("a1", "u1", use("t1"), answer="m1", stop=None),
            agent("a2", "a1", use("t2"), answer="m1", stop="tool_use"),
            user("r2", "a2", [result("t2", "two")]),
            user("r1", "a1", [result("t1", "one", is_error=True)]),
            # The log goes on from the first call's result; the second call hangs beside it.
            agent("a3", "r1", text("Done."), answer="m2", stop="end_turn"),
        ],
    )
    parsed = session(read, source)
    calls = parsed.turns[1].tool_calls
    assert [(call.result, call.is_error) for call in calls] == [("one", True), ("two", False)]
    assert [turn.text for turn in parsed.turns] == ["Read both", "", "Done."]
    assert parsed.dropped == {}


def test_an_abandoned_branch_is_left_out_and_counted(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            user("u1", None, "Write a letter"),
            agent("a1", "u1", text("To whom?")),
            user("u2", "a1", "To the bank"),
            agent("a2", "u2", text("Dear bank")),
            user("u3", "a1", "To my landlord"),
            agent("a3", "u3", text("Dear landlord")),
        ],
    )
    parsed = session(read, source)
    assert typed(parsed.turns) == ["Write a letter", "To my landlord"]
    assert parsed.dropped == {"abandoned_branch": 2}


def _hook(id_: str, parent: str, event: str, kind: str = "progress") -> dict[str, Any]:
    event_data = {"hookEvent": event, "command": "check.sh"}
    if kind == "progress":
        return {"type": kind, "uuid": id_, "parentUuid": parent, "data": {
            **event_data, "type": "hook_progress"}}  # fmt: skip
    return {"type": kind, "uuid": id_, "parentUuid": parent, "attachment": {
        **event_data, "type": "hook_success"}}  # fmt: skip


@pytest.mark.parametrize("kind", ["progress", "attachment"])
def test_hooks_that_are_logged_after_their_turn_make_no_branch(tmp_path: Path, kind: str) -> None:
    source = lines(
        tmp_path,
        [
            user("u1", None, "Sum the invoices"),
            agent("a1", "u1", use("t1"), answer="m1", stop="tool_use"),
            user("r1", "a1", [result("t1", "12")]),
            agent("a2", "r1", use("t2"), answer="m2", stop="tool_use"),
            user("r2", "a2", [result("t2", "30")]),
            agent("a3", "r2", text("It is 42."), answer="m3", stop="end_turn"),
            _hook("h1", "a1", "PreToolUse", kind),
            _hook("h2", "h1", "PostToolUse", kind),
            _hook("h3", "h2", "Stop", kind),
            {"type": "system", "uuid": "h4", "parentUuid": "h3", "subtype": "stop_hook_summary"},
            user("u2", "h4", "Now write it down"),
            agent("a4", "u2", text("Written."), answer="m4", stop="end_turn"),
        ],
    )
    parsed = session(read, source)
    assert typed(parsed.turns) == ["Sum the invoices", "Now write it down"]
    calls = [(call.call_id, call.result) for turn in parsed.turns for call in turn.tool_calls]
    assert calls == [("t1", "12"), ("t2", "30")]
    assert [turn.text for turn in parsed.turns[-3:]] == [
        "It is 42.",
        "Now write it down",
        "Written.",
    ]
    assert "abandoned_branch" not in parsed.dropped


def test_the_hooks_of_a_prompt_do_not_bring_a_branch_back(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            user("u1", None, "Sum the invoices"),
            agent("a1", "u1", text("Which?"), answer="m1", stop="end_turn"),
            user("u2", "a1", "The old ones"),
            agent("a2", "u2", use("t1"), answer="m2", stop="tool_use"),
            user("r1", "a2", [result("t1", "12")]),
            _hook("h1", "a1", "UserPromptSubmit"),
            user("u3", "h1", "The new ones"),
            agent("a3", "u3", use("t2"), answer="m3", stop="tool_use"),
            _hook("h2", "a3", "PreToolUse"),
            user("r2", "h2", [result("t2", "30")]),
            agent("a4", "r2", text("30."), answer="m4", stop="end_turn"),
        ],
    )
    parsed = session(read, source)
    assert typed(parsed.turns) == ["Sum the invoices", "The new ones"]
    assert parsed.dropped["abandoned_branch"] == 2


def test_words_that_were_taken_back_before_any_answer_are_a_persons(tmp_path: Path) -> None:
    records = [
        user("u1", None, "count the books"),
        agent("a1", "u1", text("Four.")),
        user("u2", "a1", "/work/books/b.csv"),
        user("u3", "a1", "and these: /work/books/b.csv"),
        agent("a3", "u3", text("Seven.")),
        user("u4", "a3", "write it dwn"),
        user("n4", "u4", "Base directory for this skill: /work", isMeta=True),
        user("u5", "a3", "write it dwn"),
    ]
    parsed = session(read, lines(tmp_path, records))
    assert typed(parsed.turns) == [
        "count the books", "/work/books/b.csv", "and these: /work/books/b.csv", "write it dwn"
    ]  # fmt: skip
    assert parsed.dropped == {"abandoned_branch": 2}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("<command-name>/tally</command-name>\n<command-args>the <berths></command-args>",
         "/tally the <berths>"),
        ("<command-message>tally is running…</command-message>\n<command-name>/tally"
         "</command-name>", "/tally"),
        ("<command-name>/depot:tally (MCP)</command-name>\n    <command-message>tally"
         "</command-message>\n    <command-args>berths</command-args>", "/depot:tally berths"),
        ("<command-name>/plan</command-name>\n<command-args>the move of books</command-args>",
         "/plan the move of books"),
        ("<command-name>/plan</command-name>\n<command-args>open</command-args>", None),
        ("<command-name>/compact</command-name>\n<command-args>keep the list</command-args>", None),
    ],
)  # fmt: skip
def test_a_command_is_what_was_typed(tmp_path: Path, command: str, said: str | None) -> None:
    parsed = session(read, lines(tmp_path, [user("u1", None, command)]))
    assert typed(parsed.turns) == ([said] if said else [])


def test_commands_with_an_exclamation_mark_choose_no_branch_and_are_kept(tmp_path: Path) -> None:
    records = [
        user("u1", None, "count the books"),
        agent("a1", "u1", use("t1", file_path="a.csv"), answer="m1", stop="tool_use"),
        user("r1", "a1", [result("t1", "4")]),
        agent("a2", "r1", text("Four."), answer="m2", stop="end_turn"),
        user("b1", "a1", "<bash-input>wc -l a.csv</bash-input>"),
        user("b2", "b1", "<bash-stdout>4 a.csv</bash-stdout><bash-stderr></bash-stderr>"),
    ]
    parsed = session(read, lines(tmp_path, records))
    assert [(turn.role, turn.text[:12]) for turn in parsed.turns] == [
        (Role.USER, "count the bo"),
        (Role.ASSISTANT, ""),
        (Role.ASSISTANT, "Four."),
        (Role.SYSTEM, "<bash-input>"),
        (Role.SYSTEM, "<bash-stdout"),
    ]
    assert parsed.dropped == {}


def test_a_command_at_the_end_of_a_branch_leaves_it_active(tmp_path: Path) -> None:
    records = [
        user("u1", None, "count the books"),
        agent("a0", "u1", text("No."), answer="m0", stop="end_turn"),
        agent("a1", "u1", text("Four."), answer="m1", stop="end_turn"),
        user("x1", "a1", "<command-name>/exit</command-name>"),
    ]
    parsed = session(read, lines(tmp_path, records))
    assert [turn.text for turn in parsed.turns][1:] == ["Four.", records[3]["message"]["content"]]
    assert parsed.dropped == {"abandoned_branch": 1}


def test_the_stream_of_a_run_keeps_sub_agents_apart(tmp_path: Path) -> None:
    def spoken(kind: str, content: Any, parent: str | None = None) -> dict[str, Any]:
        message = {"role": kind, "content": content}
        return {"type": kind, "message": message, "parent_tool_use_id": parent, "session_id": "s"}

    records = [
        {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/work", "tools": []},
        spoken("user", "count the books"),
        spoken("assistant", [use("t1")]),
        spoken("user", "list them", "t1"),
        spoken("assistant", [text("a, b")], "t1"),
        spoken("user", [result("t1", "a, b")]),
        spoken("assistant", [text("Two.")]),
        {"type": "result", "subtype": "success", "result": "Two.", "session_id": "s"},
    ]
    main, side = sessions(read, lines(tmp_path, records))
    assert typed(main.turns) == ["count the books"]
    assert main.turns[-1].text == "Two."
    assert (side.parent_session_id, typed(side.turns)) == ("s", [])
    assert [turn.text for turn in side.turns] == ["list them", "a, b"]


def test_a_replayed_prefix_counts_once(tmp_path: Path) -> None:
    prefix = [user("u1", None, "Write a letter"), agent("a1", "u1", text("To whom?"))]
    source = lines(tmp_path, [*prefix, *prefix, user("u2", "a1", "To the bank", sessionId="s2")])
    parsed = session(read, source)
    assert typed(parsed.turns) == ["Write a letter", "To the bank"]
    assert parsed.dropped == {"replayed_prefix": 2}
    assert parsed.session_id == "s2"


def test_the_graph_runs_through_bookkeeping_and_compaction(tmp_path: Path) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "c1",
        "parentUuid": None,
        "logicalParentUuid": "a1",
    }
    summary = user("u2", "c1", "This is what happened so far", isCompactSummary=True)
    source = lines(
        tmp_path,
        [
            {"type": "summary", "summary": "Letters", "leafUuid": "a1"},
            user("u1", None, "Write a letter"),
            {"type": "progress", "uuid": "p1", "parentUuid": "u1"},
            agent("a1", "p1", text("To whom?")),
            boundary,
            summary,
            {
                "type": "attachment",
                "uuid": "h1",
                "parentUuid": "u2",
                "attachment": {"type": "hook"},
            },
            user("u3", "h1", "To the bank"),
            {"type": "file-history-snapshot", "uuid": "n1", "parentUuid": "u3"},
        ],
    )
    parsed = session(read, source)
    assert [(turn.role, turn.origin) for turn in parsed.turns] == [
        (Role.USER, Origin.HUMAN),
        (Role.ASSISTANT, Origin.AGENT),
        (Role.SYSTEM, Origin.SYSTEM),
        (Role.USER, Origin.HUMAN),
    ]
    assert parsed.turns[3].parent_id == "u2"
    assert parsed.dropped == {"bookkeeping": 5}


def test_a_record_of_unknown_type_is_named_and_the_graph_runs_through_it(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            user("u1", None, "Write a letter"),
            {"type": "something-new", "uuid": "n1", "parentUuid": "u1"},
            agent("a1", "n1", text("Done")),
            {"type": "to whom it may concern"},
            {"uuid": "n2", "parentUuid": "a1"},
        ],
    )
    assert [(issue.line, issue.reason, issue.actual) for issue in issues(read, source)] == [
        (2, "record.unexpected", "a record of type something-new with 3 keys"),
        (4, "record.unexpected", "a record of type str, 22 characters with 1 keys"),
        (5, "record.unexpected", "a record of type NoneType with 2 keys"),
    ]
    (parsed,) = (item for item in read(source) if isinstance(item, Session))
    assert [turn.text for turn in parsed.turns] == ["Write a letter", "Done"]
    assert parsed.turns[1].parent_id == "u1"
    assert parsed.dropped == {}


def test_an_empty_result_is_filled_from_what_the_harness_kept(tmp_path: Path) -> None:
    def call(number: int, detail: Any) -> list[dict[str, Any]]:
        called = agent(f"a{number}", None, use(f"t{number}"))
        answered = user(f"r{number}", f"a{number}", [result(f"t{number}", "")])
        return [called, {**answered, "toolUseResult": detail}]

    records = [*call(1, {"stdout": "out", "stderr": "err"}), *call(2, "text"), *call(3, {"n": 1})]
    parsed = session(read, lines(tmp_path, records))
    assert [turn.tool_calls[0].result for turn in parsed.turns] == ["out\nerr", "text", ""]


def test_sidechains_are_sessions_and_their_prompts_are_an_agents(tmp_path: Path) -> None:
    side: dict[str, Any] = {"isSidechain": True}
    source = lines(
        tmp_path,
        [
            user("u1", None, "Ask two helpers"),
            agent("a1", "u1", use("t1")),
            user("x1", None, "Find the invoices", **side),
            agent("x2", "x1", text("Found."), **side),
            user("y1", None, "Find the letters", **side),
            user("z1", None, "Named helper", agentId="9f", **side),
            user("r1", "a1", [result("t1", "Found.")]),
        ],
    )
    parsed = sessions(read, source)
    assert [(item.session_id, item.parent_session_id, len(item.turns)) for item in parsed] == [
        ("s1", None, 2),
        ("s1-sidechain-1", "s1", 2),
        ("s1-sidechain-2", "s1", 1),
        ("agent-9f", "s1", 1),
    ]
    assert [item.turns[0].origin for item in parsed] == [Origin.HUMAN, *[Origin.AGENT] * 3]
    assert len({item.uid for item in parsed}) == 4


@pytest.mark.parametrize(
    ("name", "logged"),
    [("agent-9f.jsonl", "s1"), ("s1/subagents/agent-9f.jsonl", "agent-9f")],
)
def test_logs_of_sub_agents_name_their_parent(tmp_path: Path, name: str, logged: str) -> None:
    prompt = user("x1", None, "Find the invoices", sessionId=logged)
    parsed = session(read, lines(tmp_path, [prompt], name))
    assert (parsed.session_id, parsed.parent_session_id) == ("agent-9f", "s1")
    assert parsed.turns[0].origin is Origin.AGENT


def test_a_file_that_holds_only_a_sidechain_names_its_session(tmp_path: Path) -> None:
    parsed = session(read, lines(tmp_path, [user("x1", None, "Warmup", isSidechain=True)]))
    assert (parsed.session_id, parsed.parent_session_id) == ("s1-sidechain-1", "s1")


def test_sub_agents_with_like_names_have_uids_of_their_own(tmp_path: Path) -> None:
    names = ["a b", "a-b"]
    records = [user(name, None, "Go", isSidechain=True, agentId=name) for name in names]
    parsed = sessions(read, lines(tmp_path, records))
    assert len({item.uid for item in parsed}) == 2


def test_old_logs_without_ids_are_read_in_file_order(tmp_path: Path) -> None:
    def bare(kind: str, content: Any) -> dict[str, Any]:
        return {"type": kind, "message": {"content": content}}

    source = lines(
        tmp_path,
        [
            bare("user", "Write a letter"),
            bare("assistant", [use("t1")]),
            bare("user", [result("t1", "ok")]),
            bare("assistant", [text("Done.")]),
            bare("user", "Now print it"),
        ],
        "old.jsonl",
    )
    parsed = session(read, source)
    assert parsed.session_id == "old"
    assert typed(parsed.turns) == ["Write a letter", "Now print it"]
    assert parsed.turns[1].tool_calls[0].result == "ok"


def test_calls_logged_as_records_of_their_own(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            {"type": "tool_use", "uuid": "t1", "name": "bash", "input": {"command": "ls"}},
            {"type": "tool_result", "uuid": "r1", "name": "bash", "output": "a.csv"},
        ],
    )
    (turn,) = session(read, source).turns
    assert turn.tool_calls == (ToolCall("t1", "bash", {"command": "ls"}, "a.csv", line=1),)


def test_an_export_in_one_document(tmp_path: Path) -> None:
    records = [user("u1", None, "Write a letter"), agent("a1", "u1", text("Dear bank"))]
    parsed = session(read, document(tmp_path, {"loglines": records, "source": "web"}))
    assert [turn.line for turn in parsed.turns] == [0, 0]
    assert typed(parsed.turns) == ["Write a letter"]


def test_a_file_that_holds_only_a_result_gives_a_session_without_turns(tmp_path: Path) -> None:
    parsed = session(read, document(tmp_path, user("r1", "a1", [result("t1", "ok")])))
    assert (parsed.session_id, parsed.turns) == ("s1", ())
    assert parsed.dropped == {"unclaimed_result": 1}


def test_broken_lines_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            user("u1", None, "Write a letter"),
            '{"type": "user", "message": {"content": "cut o',
            "[1, 2]",
            {"type": "user", "uuid": "u2", "parentUuid": "u1", "message": {"content": 5}},
            {"type": "assistant", "uuid": "u3", "parentUuid": "u2"},
            user("u4", "u3", "To the bank"),
        ],
    )
    problems = issues(read, source)
    assert [(issue.line, issue.reason, issue.actual) for issue in problems] == [
        (2, "line.not_json", "text, 46 bytes, not JSON"),
        (3, "line.not_object", "list, 6 bytes"),
        (4, "record.no_content", "message: dict, content: int"),
        (5, "record.no_content", "message: NoneType, content: NoneType"),
    ]
    (whole,) = [item for item in read(source) if isinstance(item, Session)]
    assert typed(whole.turns) == ["Write a letter", "To the bank"]


def test_an_empty_file_is_an_issue(tmp_path: Path) -> None:
    (issue,) = issues(read, lines(tmp_path, []))
    assert (issue.unit, issue.reason) == ("file", "file.no_records")


def test_errors_and_aborts_are_stop_reasons(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            agent("a1", None, text("API Error"), isApiErrorMessage=True),
            agent("a2", "a1", text("Half"), isAbortedMidStream=True),
        ],
    )
    assert [turn.stop_reason for turn in session(read, source).turns] == ["error", "aborted"]


def test_an_answer_that_is_logged_again_while_it_grows_counts_once(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            agent("a1", None, text("Reading."), answer="m1", stop=None),
            agent("a2", "a1", text("Reading."), use("t1"), answer="m1", stop=None),
            agent("a3", "a2", use("t1"), answer="m1", stop="tool_use"),
        ],
    )
    (turn,) = session(read, source).turns
    assert (turn.text, [call.call_id for call in turn.tool_calls]) == ("Reading.", ["t1"])
