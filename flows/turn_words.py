"""What was said in the turns of an instance, as the readers read it: private."""

from __future__ import annotations

from pathlib import Path

from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from data.contracts import Session
from data.neutralise import one_line, visible
from data.staging.audit import Rows, cut_long, source_paths, turn_lines, with_records


def with_words(out: Path, turns: Rows) -> Rows:
    """Turns with `text`, what was said, and `record`, the raw line of the log.

    Control characters are named and long texts cut. Where the file no longer holds the session,
    `text` is the record, or says why there is none.
    """
    said = _said(out, {(turn["path"], turn["session_uid"]) for turn in turns})
    return [
        turn | {"text": said.get(_key(turn), turn["record"])} for turn in with_records(out, turns)
    ]


def evidence(out: Path, instance_id: str) -> Rows:
    """Role, file, line and words of each turn of an instance."""
    turns = turn_lines(out / "staging.duckdb", instance_id)
    return [
        {
            "role": one_line(turn["role"] or ""),
            "path": one_line(turn["path"]),
            "line": turn["line"],
            "text": turn["text"],
        }
        for turn in with_words(out, turns)
    ]


def _key(turn: dict[str, object]) -> tuple[object, object]:
    return turn["session_uid"], turn["turn_index"]


def _said(out: Path, wanted: set[tuple[str, str]]) -> dict[tuple[object, object], str]:
    """The words by session and turn index."""
    sources, uids = source_paths(out), {uid for _, uid in wanted}
    texts: dict[tuple[object, object], str] = {}
    for name in sorted({path for path, _ in wanted if Path(sources.get(path, "")).is_file()}):
        for session in read_source(SourceFile(Path(sources[name]), name)):
            if isinstance(session, Session) and session.uid in uids:
                for turn in session.turns:
                    shown = cut_long(visible(turn.said or turn.text))
                    texts[session.uid, turn.index] = shown
    return texts
