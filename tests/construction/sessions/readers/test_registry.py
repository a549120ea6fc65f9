"""Every file gives sessions or is named; nothing that a file holds stops the build."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.sessions.readers import chat, openclaw, registry
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from data.contracts import Origin, ReadIssue, Session, SourceFormat
from tests.construction.sessions.readers.written import lines, typed

_SAID = {"role": "user", "content": "count the stock"}
_RECORD = {"type": "message", "id": "u", "timestamp": "2026-03-02T09:30:00Z", "message": _SAID}


def _only_issue(source: SourceFile, forced: SourceFormat | None = None) -> ReadIssue:
    (issue,) = read_source(source, forced)
    assert isinstance(issue, ReadIssue)
    assert (issue.unit, issue.line) == ("file", 0)
    return issue


def test_a_log_is_read_by_its_reader(tmp_path: Path) -> None:
    (parsed,) = read_source(lines(tmp_path, [_RECORD]))
    assert isinstance(parsed, Session)
    assert (parsed.source_format, typed(parsed.turns)) == (
        SourceFormat.OPENCLAW,
        ["count the stock"],
    )


def test_the_forced_format_is_obeyed(tmp_path: Path) -> None:
    source = lines(tmp_path, [_SAID, _SAID])
    (parsed,) = read_source(source, SourceFormat.CHAT)
    assert isinstance(parsed, Session)
    assert len(parsed.turns) == 2
    first, *_ = read_source(source, SourceFormat.OPENCLAW)
    assert isinstance(first, ReadIssue)
    assert (first.unit, first.line, first.reason) == ("record", 1, "record.unexpected")


def test_other_formats_are_named(tmp_path: Path) -> None:
    issue = _only_issue(lines(tmp_path, [{"chat_format_version": 1}]))
    assert issue.reason == "file.unsupported"
    assert issue.actual == "grok (chat history without IDs)"
    assert issue.expected.startswith(
        "a log of openclaw, claude_code, codex, codex_exec, atif, chat"
    )


@pytest.mark.parametrize(
    ("content", "reason"), [("# Notes", "file.not_a_session_log"), ("", "file.empty")]
)
def test_files_that_are_no_logs_are_named(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "notes.md"
    path.write_text(content)
    assert _only_issue(SourceFile(path, "notes.md")).reason == reason


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    issue = _only_issue(SourceFile(tmp_path / "gone.jsonl", "gone.jsonl"))
    assert (issue.reason, issue.actual) == ("file.unreadable", "FileNotFoundError 2")


def test_a_log_without_sessions_is_named(tmp_path: Path) -> None:
    path = tmp_path / "blank.jsonl"
    path.write_text("\n\n")
    issue = _only_issue(SourceFile(path, "blank.jsonl"), SourceFormat.OPENCLAW)
    assert issue.reason == "file.no_session"


def test_a_failing_reader_is_an_issue_without_the_files_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(source: SourceFile) -> Iterator[Session | ReadIssue]:
        yield ReadIssue("line", source.relative, 1, "line.not_json", "x", "JSON")
        raise ValueError("count the stock")

    own = registry.Format(SourceFormat.OPENCLAW, lambda sample: True, failing)
    monkeypatch.setattr(registry, "FORMATS", (own,))
    first, last = read_source(lines(tmp_path, [_RECORD]))
    assert isinstance(first, ReadIssue)
    assert isinstance(last, ReadIssue)
    assert (last.reason, last.actual) == ("file.reader_failed", "ValueError in the reader")


_WORDS = st.sampled_from(
    ["", "a", "b", "user", "assistant", "toolResult", "tool", "system", "session", "message",
     "compaction", "custom", "text", "toolCall", "tool_call", "image_url", "T8:20:00", "\x00",
     "[cron:x] y", "data:,x", "{"]
)  # fmt: skip
_KEYS = st.sampled_from(
    ["type", "id", "parentId", "message", "role", "content", "timestamp", "toolCallId", "arguments",
     "name", "version", "cwd", "summary", "model", "messages", "traj", "task_id", "tool_calls",
     "function", "tool_uses", "output", "image_url", "file", "source", "conversation", "text",
     "thinking", "platform", "session_id", "model_config", "branchedFrom", "tool_call_id"]
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.just(1e300) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=10,
)
_MESSAGE: dict[str, st.SearchStrategy[Any]] = {
    "type": st.just("message"),
    "message": st.dictionaries(_KEYS, _VALUES, max_size=5),
}
_NAMED: dict[str, st.SearchStrategy[Any]] = {"id": _WORDS, "parentId": _WORDS}
_RECORDS = st.lists(
    st.dictionaries(_KEYS, _VALUES, max_size=6) | st.fixed_dictionaries(_MESSAGE, optional=_NAMED),
    max_size=6,
)


@settings(max_examples=80)
@given(_RECORDS)
def test_records_of_any_shape(records: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = lines(Path(folder), records)
        for read in (openclaw.read, chat.read):
            read_sessions = [item for item in read(source) if isinstance(item, Session)]
            assert len({item.uid for item in read_sessions}) == len(read_sessions)
            for item in read_sessions:
                indices = [turn.index for turn in item.turns]
                assert indices == list(range(len(indices)))
                assert all(count > 0 for count in item.dropped.values())
        reasons = [item.reason for item in read_source(source) if isinstance(item, ReadIssue)]
        assert "file.reader_failed" not in reasons


@settings(max_examples=100)
@given(
    st.binary(max_size=300) | st.lists(_VALUES, max_size=3).map(lambda v: json.dumps(v).encode())
)
def test_files_of_any_content(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x")
        path.write_bytes(content)
        parsed = list(read_source(SourceFile(path, "x")))
        assert parsed
        assert all(
            item.reason != "file.reader_failed" for item in parsed if isinstance(item, ReadIssue)
        )


def test_all_real_files_are_read_or_named(material: Path) -> None:
    root = material / "sessions"
    by_format: Counter[str] = Counter()
    issues: Counter[str] = Counter()
    people = 0
    for path in sorted(file for file in root.rglob("*") if file.is_file()):
        parsed = list(read_source(SourceFile(path, path.relative_to(root).as_posix())))
        assert parsed, path
        for item in parsed:
            if isinstance(item, ReadIssue):
                issues[f"{item.unit} {item.reason}"] += 1
            else:
                by_format[item.source_format] += 1
                people += sum(turn.origin is Origin.HUMAN for turn in item.turns)
    assert set(issues) == {
        "file file.unsupported",
        "file file.not_a_session_log",
        "file file.no_records",  # four rollouts of Codex without a message
        "file file.part_alone",  # of opencode's storage, which a scan reads with its session
        "record record.unexpected",  # a part that its maker named `custom_block`
    }
    assert by_format["openclaw"] == 98
    assert by_format["chat"] == 54
    assert by_format["hermes"] == 3
    assert by_format["gemini"] == 4
    assert by_format["swe_agent"] == 2
    assert by_format["qwen"] == 6
    assert by_format["cursor"] == 5
    assert people > 1400
