"""Reading OpenClaw and pi logs: the tree, its results, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.openclaw import read
from construction.sessions.readers.registry import detect
from data.contracts import Attachment, Origin, Role, Session, SourceFormat
from tests.construction.sessions.readers.written import (
    document,
    issues,
    lines,
    session,
    sessions,
    typed,
)

_HEADER = {"type": "session", "version": 3, "id": "s", "cwd": "/depot"} | {
    "timestamp": "2026-03-02T09:30:00Z"
}


def _message(
    id_: str | None, parent: str | None, role: str, content: Any, **more: Any
) -> dict[str, Any]:
    tree = {} if id_ is None else {"id": id_, "parentId": parent}
    time = {"timestamp": "2026-03-02T09:31:00Z"}
    return {"type": "message", **tree, **time, "message": {"role": role, "content": content} | more}


def _user(id_: str | None, parent: str | None, text: str) -> dict[str, Any]:
    return _message(id_, parent, "user", [{"type": "text", "text": text}])


def _agent(id_: str | None, parent: str | None, text: str, *calls: str) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text}] + [
        {"type": "toolCall", "id": call, "name": "count", "arguments": {"of": call}}
        for call in calls
    ]
    return _message(id_, parent, "assistant", blocks)


def _result(id_: str | None, parent: str | None, call: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": f"result of {call}"}]
    return _message(id_, parent, "toolResult", content, toolCallId=call, toolName="count") | more


def _results(read_session: Session) -> dict[str, str | None]:
    return {c.call_id: c.result for turn in read_session.turns for c in turn.tool_calls}


def test_a_session_with_all_its_fields(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            _HEADER,
            {"type": "model_change", "id": "m", "parentId": None, "modelId": "model-p"},
            _message(
                "u", "m", "user",
                [{"type": "text", "text": "[Slack Ines Mon Mar 02 09:30:11 UTC 2026] count"},
                 {"type": "image", "data": "AAAA", "mimeType": "image/png"}],
            ),
            _message(
                "a", "u", "assistant",
                [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "counting"},
                 {"type": "toolCall", "id": "c", "name": "count", "arguments": {"of": "x"}}],
                model="model-p", stopReason="toolUse",
            ),
            _result("r", "a", "c"),
        ],
    )  # fmt: skip
    parsed = session(read, source)
    assert (parsed.session_id, parsed.format_version, parsed.cwd) == ("s", "3", "/depot")
    assert parsed.started_at == 1772443800.0
    assert parsed.dropped == {"bookkeeping": 1}
    user, agent = parsed.turns
    assert (user.text[:6], user.said, user.sender, user.line) == ("[Slack", "count", "Ines", 3)
    assert user.attachments == (Attachment(None, "image/png", "AAAA"),)
    assert (user.at, user.turn_id, user.parent_id) == (1772443860.0, "u", "m")
    assert (agent.text, agent.thinking) == ("counting", "hm")
    assert (agent.model, agent.stop_reason, agent.origin) == ("model-p", "toolUse", Origin.AGENT)
    assert [(c.call_id, c.name, c.arguments, c.result, c.line) for c in agent.tool_calls] == [
        ("c", "count", {"of": "x"}, "result of c", 4)
    ]


def test_the_branch_of_the_last_message_is_followed(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            _HEADER,
            _user("u1", None, "first"),
            _agent("a1", "u1", "left out", "c1"),
            _result("r1", "a1", "c1"),
            _user("u2", "r1", "left out too"),
            _agent("a2", "u1", "kept"),
            _user("u3", "a2", "last"),
            {"type": "custom", "id": "x", "parentId": "a1", "customType": "ui"},
        ],
    )
    parsed = session(read, source)
    assert [turn.text for turn in parsed.turns] == ["first", "kept", "last"]
    assert [turn.index for turn in parsed.turns] == [0, 1, 2]
    assert parsed.dropped == {"abandoned_branch": 3, "bookkeeping": 1}


def test_results_of_parallel_calls_may_hang_side_by_side(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            _HEADER,
            _agent("a1", None, "both", "c1", "c2"),
            _result("r1", "c1", "c1"),
            _result("r2", "c2", "c2"),
            _agent("a2", "r2", "done"),
        ],
    )
    parsed = session(read, source)
    assert _results(parsed) == {"c1": "result of c1", "c2": "result of c2"}
    assert [turn.text for turn in parsed.turns] == ["both", "done"]
    assert parsed.dropped == {}


def test_a_result_may_hang_under_its_calls_id(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            _HEADER,
            _agent("a1", None, "counting", "c1"),
            _user("u1", "a1", "left out"),
            _result("r1", "c1", "c1"),
            _agent("a2", "r1", "done"),
        ],
    )
    parsed = session(read, source)
    assert [turn.text for turn in parsed.turns] == ["counting", "done"]
    assert parsed.dropped == {"abandoned_branch": 1}


def test_version_1_is_a_list(tmp_path: Path) -> None:
    header = {"type": "session", "id": "old", "timestamp": "2026-03-02T09:30:00Z", "cwd": "/d"}
    source = lines(
        tmp_path,
        [
            header | {"branchedFrom": "/logs/older.jsonl"},
            _user(None, None, "first"),
            _agent(None, None, "counting", "c"),
            _result(None, None, "c"),
            {"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 3},
            _message(None, None, "bashExecution", None, command="ls", output="a.txt", exitCode=0),
            _user(None, None, "second"),
        ],
    )
    parsed = session(read, source)
    assert (parsed.format_version, parsed.extra) == ("1", {"branchedFrom": "/logs/older.jsonl"})
    assert [(turn.role, turn.text) for turn in parsed.turns] == [
        (Role.USER, "first"),
        (Role.ASSISTANT, "counting"),
        (Role.SYSTEM, "so far"),
        (Role.SYSTEM, "$ ls\na.txt"),
        (Role.USER, "second"),
    ]
    assert _results(parsed) == {"c": "result of c"}


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.reset.2026-03-02", ".jsonl.bak-1"])
def test_a_log_without_header_is_named_after_its_file(tmp_path: Path, suffix: str) -> None:
    records = [_user("u9", "u8", "go on"), _agent("a9", "u9", "done")]
    parsed = session(read, lines(tmp_path, records, f"ines_slack{suffix}"))
    assert parsed.session_id == "ines_slack"
    assert (parsed.format_version, parsed.started_at) == (None, 1772443860.0)
    assert [turn.text for turn in parsed.turns] == ["go on", "done"]


def test_a_broken_line_does_not_break_the_chain(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [_HEADER, _user("u1", None, "first"), '{"type": "mess', _user("u2", "a1", "second")],
    )
    broken, read_session = list(read(source))
    assert isinstance(read_session, Session)
    assert typed(read_session.turns) == ["first", "second"]
    (issue,) = issues(read, source)
    assert issue == broken
    assert (issue.unit, issue.line, issue.reason) == ("line", 3, "line.not_json")
    assert issue.actual == "text, 14 bytes, not JSON"


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (
            {"type": "hologram", "id": "h", "parentId": "u1"},
            "a record of type hologram with 3 keys",
        ),
        ({"type": "my private text", "id": "h"}, "a record of type str, 15 characters with 2 keys"),
        ({"type": ["x"], "id": "h"}, "a record of type list with 2 keys"),
        ({"type": "message", "id": "h", "message": "hello"}, "a message that is str"),
        ({"type": "message", "id": "h", "message": {"role": "oracle"}}, "a message of role oracle"),
        ({"type": "message", "id": "h", "message": {"role": {}}}, "a message of role dict"),
    ],
)
def test_an_odd_record_is_an_issue_and_the_rest_is_read(
    tmp_path: Path, record: dict[str, Any], problem: str
) -> None:
    source = lines(
        tmp_path, [_HEADER, _user("u1", None, "first"), record, _user("u2", "h", "second")]
    )
    issue, read_session = list(read(source))
    assert isinstance(read_session, Session)
    assert typed(read_session.turns) == ["first", "second"]
    assert issues(read, source) == [issue]
    (named,) = issues(read, source)
    assert (named.unit, named.line, named.reason) == ("record", 3, "record.unexpected")
    assert named.actual == problem


def test_machine_turns_and_notices_are_no_peoples_words(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            _HEADER,
            _user("u1", None, "[cron:7 count] Count the stock"),
            _user("u2", "u1", "Pre-compaction memory flush."),
            {"type": "custom_message", "id": "m", "parentId": "u2", "content": "context"},
            _message("s", "m", "system", [{"type": "text", "text": "updated"}]),
            _user("u3", "s", "thanks"),
        ],
    )
    parsed = session(read, source)
    assert typed(parsed.turns) == ["thanks"]
    assert [turn.origin for turn in parsed.turns] == [
        Origin.CRON, Origin.SYSTEM, Origin.SYSTEM, Origin.SYSTEM, Origin.HUMAN
    ]  # fmt: skip


def test_delivered_copies_and_repeated_records_are_dropped(tmp_path: Path) -> None:
    mirror = _message("d", "a", "assistant", [{"type": "text", "text": "done"}])
    mirror["message"]["model"] = "delivery-mirror"
    source = lines(
        tmp_path,
        [_HEADER, _user("u", None, "go"), _agent("a", "u", "done"), mirror, _user("u", "d", "go")],
    )
    parsed = session(read, source)
    assert [turn.text for turn in parsed.turns] == ["go", "done"]
    assert parsed.dropped == {"duplicate_event": 1, "duplicate_record": 1}


def test_the_logs_own_time_goes_before_the_messages(tmp_path: Path) -> None:
    sent = _user("u1", None, "x")
    sent["message"]["timestamp"] = 1_000_000_000_000
    odd = _user("u2", "u1", "y")
    odd["timestamp"] = "T8:20:00"
    odd["message"]["timestamp"] = 1_772_443_900_000
    parsed = session(read, lines(tmp_path, [_HEADER, sent, odd]))
    assert [turn.at for turn in parsed.turns] == [1772443860.0, 1772443900.0]


def test_a_second_header_starts_a_second_session(tmp_path: Path) -> None:
    other = _HEADER | {"id": "t"}
    source = lines(
        tmp_path,
        [_HEADER, _user("u", None, "one"), _HEADER, other, _user("u", None, "two")],
    )
    first, second = sessions(read, source)
    assert (first.session_id, typed(first.turns)) == ("s", ["one"])
    assert (second.session_id, typed(second.turns)) == ("t", ["two"])
    assert first.dropped == {"bookkeeping": 1}
    assert first.uid != second.uid


def test_a_record_that_is_its_own_parent_ends(tmp_path: Path) -> None:
    source = lines(tmp_path, [_HEADER, _user("u1", None, "one"), _user("u2", "u2", "two")])
    assert typed(session(read, source).turns) == ["one", "two"]


def test_what_a_harness_writes_into_a_message_is_nobodys(tmp_path: Path) -> None:
    skill = '<skill name="tidy" location="/s/SKILL.md">\nReferences.\n\n# Tidy\n</skill>'
    event = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nA task.\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
    texts = [skill, f"{skill}\n\nonly the shed", f"[Mon 2026-03-02 09:31 UTC] {event}"]
    records = [_HEADER, *(_user(str(n), str(n - 1) if n else None, t) for n, t in enumerate(texts))]
    parsed = session(read, lines(tmp_path, records))
    assert typed(parsed.turns) == ["only the shed"]
    assert [turn.origin for turn in parsed.turns] == [Origin.SYSTEM, Origin.HUMAN, Origin.SYSTEM]


def test_a_list_of_records_is_a_log_too(tmp_path: Path) -> None:
    records = [_HEADER, _user("u1", None, "first"), _agent("a1", "u1", "", "c")]
    records.append(_result("r1", "a1", "c"))
    source = document(tmp_path, records, "trajectory.json")
    assert detect(source).format is SourceFormat.OPENCLAW
    parsed = session(read, source)
    assert (parsed.session_id, typed(parsed.turns)) == ("s", ["first"])
    assert _results(parsed) == {"c": "result of c"}
    headless = session(read, document(tmp_path, records[1:], "ines_slack.json"))
    assert headless.session_id == "ines_slack"


def test_a_value_of_a_list_that_is_no_record_is_an_issue_without_its_text(tmp_path: Path) -> None:
    source = document(tmp_path, [_HEADER, _user("u1", None, "first"), "secret", 7])
    assert [(i.reason, i.actual) for i in issues(read, source)] == [
        ("record.unexpected", "a value of type str"),
        ("record.unexpected", "a value of type int"),
    ]
