"""What persons typed into Claude Code, and what the harness wrote into their records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.claude_code import read
from construction.sessions.readers.source import SourceFile
from data.contracts import Attachment, Origin, Role, Session
from tests.construction.sessions.readers.written import (
    lines,
    session,
    typed,
)
from tests.construction.sessions.readers.written_claude import agent, result, text, use, user


@pytest.mark.parametrize(
    "content",
    [
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
        "<local-command-stdout>Set model to large</local-command-stdout>",
        "<bash-input>ls -la</bash-input>",
        "<bash-stdout>total 0</bash-stdout>",
        "[Request interrupted by user for tool use]",
        "<task-notification>job 3 ended</task-notification>",
        "<system-reminder>Use the list.</system-reminder>",
        [
            text("<system-reminder>a</system-reminder>"),
            text("<system-reminder>b</system-reminder>"),
        ],
    ],
)
def test_what_the_harness_writes_is_no_prompt(tmp_path: Path, content: Any) -> None:
    found = session(read, lines(tmp_path, [user("u1", None, content)]))
    assert [turn.origin for turn in found.turns] == [Origin.SYSTEM]
    assert typed(found.turns) == []


@pytest.mark.parametrize(
    "flags",
    [
        {"isMeta": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"origin": {"kind": "task-notification"}},
    ],
)
def test_flagged_records_are_no_prompts(tmp_path: Path, flags: dict[str, Any]) -> None:
    found = session(read, lines(tmp_path, [user("u1", None, "Looks typed", **flags)]))
    assert typed(found.turns) == []


def test_reminders_are_taken_off_a_prompt_and_stay_in_its_text(tmp_path: Path) -> None:
    text = "<system-reminder>\nBe brief.\n</system-reminder>\nFix the <b>title</b>"
    (turn,) = session(read, lines(tmp_path, [user("u1", None, text)])).turns
    assert (turn.said, turn.text) == ("Fix the <b>title</b>", text)


def test_an_unclosed_reminder_is_the_persons_own_text(tmp_path: Path) -> None:
    text = "What does <system-reminder> mean?"
    (turn,) = session(read, lines(tmp_path, [user("u1", None, text)])).turns
    assert (turn.said, turn.origin) == (text, Origin.HUMAN)


def test_pictures_and_documents_are_attachments(tmp_path: Path) -> None:
    def inline(kind: str, mime: str) -> dict[str, Any]:
        return {"type": kind, "source": {"type": "base64", "media_type": mime, "data": "QUJD"}}

    linked = {"type": "image", "source": {"type": "url", "url": "https://pictures.example/a.png"}}
    content = [inline("image", "image/png"), inline("document", "application/pdf"), linked]
    (turn,) = session(read, lines(tmp_path, [user("u1", None, [*content, text("Compare")])])).turns
    assert turn.attachments == (
        Attachment(None, "image/png", "QUJD"),
        Attachment(None, "application/pdf", "QUJD"),
    )
    assert turn.text == "https://pictures.example/a.png\nCompare"
    assert turn.origin is Origin.HUMAN


def test_a_file_named_with_at_is_an_attachment_of_the_prompt(tmp_path: Path) -> None:
    def opened(id_: str, parent: str, name: str) -> dict[str, Any]:
        attachment = {"type": "file", "filename": name}
        return {"type": "attachment", "uuid": id_, "parentUuid": parent, "attachment": attachment}

    source = lines(
        tmp_path,
        [
            user("u1", None, "Compare @a.csv with @b.csv"),
            opened("f1", "u1", "/work/books/a.csv"),
            opened("f2", "f1", "/work/books/b.csv"),
            agent("a1", "f2", text("Same.")),
            user("u2", "a1", "Thanks"),
            opened("f3", "u2", "/work/books/restored-by-the-harness.md"),
        ],
    )
    found = session(read, source)
    assert found.turns[0].attachments == (
        Attachment("/work/books/a.csv"),
        Attachment("/work/books/b.csv"),
    )
    assert found.turns[2].attachments == ()


def test_a_prompt_typed_while_the_agent_works_is_a_turn(tmp_path: Path) -> None:
    def queued(id_: str, parent: str, **attachment: Any) -> dict[str, Any]:
        full = {"type": "queued_command", **attachment}
        return {"type": "attachment", "uuid": id_, "parentUuid": parent, "attachment": full}

    source = lines(
        tmp_path,
        [
            user("u1", None, "Write a letter"),
            queued("q1", "u1", prompt="In French, please", commandMode="prompt"),
            queued("q2", "q1", prompt="job 3 ended", commandMode="task-notification"),
            agent("a1", "q2", text("Chère banque")),
        ],
    )
    found = session(read, source)
    assert typed(found.turns) == ["Write a letter", "In French, please"]
    assert [turn.role for turn in found.turns] == [Role.USER, Role.USER, Role.ASSISTANT]
    assert found.dropped == {"bookkeeping": 1}


def test_what_a_person_says_when_refusing_a_call_is_a_turn(tmp_path: Path) -> None:
    refusal = "The user doesn't want to proceed. To tell you how to proceed, the user said:\n"
    source = lines(
        tmp_path,
        [
            user("u1", None, "Clean up"),
            agent("a1", "u1", use("t1"), use("t2")),
            user("r1", "a1", [result("t1", refusal + "keep the logs", is_error=True)]),
            user("r2", "r1", [result("t2", "he said, the user said:\nno", is_error=False)]),
        ],
    )
    assert typed(session(read, source).turns) == ["Clean up", "keep the logs"]


def test_real_logs_hold_no_harness_text_as_prompts(material: Path) -> None:
    folders = [material / "sessions" / "claude_code"]
    folders.append(material / "sessions" / "harness_formats" / "stage0" / "agents" / "claude")
    files = [path for folder in folders for path in sorted(folder.rglob("*.jsonl"))]
    assert len(files) >= 60
    prompts: list[str] = []
    for path in files:
        found = [item for item in read(SourceFile(path, path.name)) if isinstance(item, Session)]
        assert found, path.name
        prompts.extend(text for item in found for text in typed(item.turns))
    assert len(prompts) >= 15
    assert not [text for text in prompts if text.startswith(("<", "Caveat:"))]
