"""What `to_atif` writes is ATIF 1.8, and our reader gives the same session back."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import orjson
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.export_atif import to_atif
from construction.sessions.readers.atif import read
from construction.sessions.readers.source import SourceFile
from data.contracts import Attachment, Origin, Role, Session, SourceFormat, ToolCall, Turn
from tests.construction.sessions.packaging.atif_check import assert_valid

_WORDS = st.text(max_size=30)
_MAYBE = st.none() | _WORDS
_NAMES = st.none() | st.text(min_size=1, max_size=10)
_IDS = st.sampled_from(["a", "b", "call_1", ""])
# Logs give microseconds at best; beyond year 2100 the field beside the time stamp is used.
_TIMES = st.none() | st.integers(0, 5 * 10**15).map(lambda micros: micros / 1e6)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=5,
)
_ATTACHMENTS = st.builds(
    Attachment,
    path=st.none()
    | st.sampled_from(["in/a.png", "C:\\b.wav", "http://x.example/c.png", "data:,d", ""]),
    mime=st.none() | st.sampled_from(["image/png", "audio/wav", "application/pdf", "image/bmp"]),
    data=st.none() | st.sampled_from(["", "QUJD"]),
)
_CALLS = st.builds(
    ToolCall,
    call_id=_IDS,
    name=_WORDS,
    arguments=st.dictionaries(_WORDS, _JSON, max_size=3),
    result=_MAYBE,
    is_error=st.booleans(),
)
_TURNS = st.builds(
    Turn,
    index=st.just(0),
    role=st.sampled_from(Role),
    origin=st.sampled_from(Origin),
    text=_WORDS,
    said=_WORDS,
    line=st.just(0),
    at=_TIMES,
    turn_id=_MAYBE,
    parent_id=_MAYBE,
    sender=_MAYBE,
    channel=_MAYBE,
    thinking=_WORDS,
    model=_MAYBE,
    stop_reason=_MAYBE,
    attachments=st.lists(_ATTACHMENTS, max_size=4).map(tuple),
    tool_calls=st.lists(_CALLS, max_size=4).map(tuple),
)


def _numbered(turns: list[Turn]) -> tuple[Turn, ...]:
    return tuple(replace(turn, index=index) for index, turn in enumerate(turns))


_SESSIONS = st.builds(
    Session,
    uid=st.just("s.000000"),
    session_id=st.text(min_size=1, max_size=20),
    source_format=st.sampled_from(SourceFormat),
    source_path=st.just("logs/s.jsonl"),
    turns=st.lists(_TURNS, max_size=5).map(_numbered),
    format_version=_NAMES,
    cwd=_NAMES,
    started_at=_TIMES,
    agent_name=_NAMES,
    agent_version=_NAMES,
    parent_session_id=_NAMES,
    system_prompt=_MAYBE,
    dropped=st.dictionaries(_WORDS, st.integers(1, 99), max_size=3),
    extra=st.dictionaries(_WORDS, _JSON, max_size=3),
)


def _read_back(session: Session) -> Session:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "exported.json")
        path.write_bytes(orjson.dumps(to_atif(session)))
        parsed = list(read(SourceFile(path, "exported.json")))
    assert len(parsed) == 1
    assert isinstance(parsed[0], Session)
    return parsed[0]


@given(_SESSIONS)
def test_export_is_valid_and_read_back_without_loss(session: Session) -> None:
    assert_valid(to_atif(session))
    read_back = _read_back(session)
    expected = replace(
        session,
        uid=read_back.uid,
        source_format=SourceFormat.ATIF,
        source_path="exported.json",
        format_version="1.8",
    )
    assert read_back == expected


def test_pictures_and_sound_are_parts_of_the_message_and_documents_stand_beside_it() -> None:
    attachments = (
        Attachment("a.docx"),
        Attachment(None, "image/png", "QUJD"),
        Attachment("b.wav", "audio/wav"),
    )
    turn = Turn(0, Role.USER, Origin.HUMAN, "see", "see", 3, attachments=attachments)
    session = Session("u", "s", SourceFormat.CLAUDE_CODE, "s.jsonl", (turn,))
    step = to_atif(session)["steps"][0]
    assert step["message"] == [
        {"type": "text", "text": "see"},
        {
            "type": "image",
            "source": {"media_type": "image/png", "path": "data:image/png;base64,QUJD"},
        },
        {"type": "audio", "source": {"media_type": "audio/wav", "path": "b.wav"}},
    ]
    kept = step["extra"]["benchmint"]["attachments"]
    assert kept == [{"path": "a.docx", "mime": None, "data": None}, {"part": 0}, {"part": 1}]


def test_times_are_iso_to_the_microsecond() -> None:
    turn = Turn(0, Role.USER, Origin.HUMAN, "x", "x", 1, at=1_700_000_000.123456)
    session = Session("u", "s", SourceFormat.CODEX, "s.jsonl", (turn,))
    assert to_atif(session)["steps"][0]["timestamp"] == "2023-11-14T22:13:20.123456Z"
    assert _read_back(session).turns[0].at == 1_700_000_000.123456


def test_calls_that_share_an_id_keep_their_own_results() -> None:
    calls = (
        ToolCall("c", "run", {"n": 1}),
        ToolCall("c", "run", {"n": 2}, "second", is_error=True),
    )
    turn = Turn(0, Role.ASSISTANT, Origin.AGENT, "", "", 1, tool_calls=calls)
    session = Session("u", "s", SourceFormat.OPENCLAW, "s.jsonl", (turn,))
    assert _read_back(session).turns[0].tool_calls == calls


def test_the_continuation_is_a_field_of_the_standard() -> None:
    extra = {"continued_trajectory_ref": "next.json", "kept": 1}
    session = Session("u", "s", SourceFormat.ATIF, "s.json", (), extra=extra)
    document = to_atif(session)
    assert document["continued_trajectory_ref"] == "next.json"
    assert document["extra"]["benchmint"]["extra"] == {"kept": 1}
    assert _read_back(session).extra == extra
