"""Recorded sessions whose human turns were labelled: does a new task begin here?

A row of `labels/recorded_turns.csv` (blind half) or `labels/recorded_turns_dev.csv` (development)
is one user message of a session, counted from 0. `harness_text` marks those that no person wrote
(command output, interruptions, caveats): they are no human turns here, whatever a reader of logs
takes them for.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path

from benchmarks.segmentation import Document, Method
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.recovery import RecoveryConfig, recover
from data.contracts import Origin, Role, Session

LABELS = Path(__file__).with_name("labels")
HARNESS = "harness_text"
_CONFIG = RecoveryConfig()


@dataclass(frozen=True, slots=True)
class Labelled:
    """A session as read, and as labelled: only the human turns open an exchange.

    `human` holds the turn indices of the human turns, `document.joins[i]` whether a new task
    begins at human turn i + 1.
    """

    session: Session
    human: tuple[int, ...]
    document: Document

    @property
    def tasks(self) -> int:
        return 1 + sum(self.document.joins)


def read_labelled(labels: Path, root: Path) -> list[Labelled]:
    """The labelled sessions with at least one human turn, in the order of the file."""
    with labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    read = [
        labelled(_session(root, path), list(turns))
        for path, turns in groupby(rows, key=lambda row: row["session"])
    ]
    return [labelled for labelled in read if labelled.human]


def _session(root: Path, path: str) -> Session:
    items = list(read_source(SourceFile(root / path, path)))
    sessions = [item for item in items if isinstance(item, Session)]
    if len(sessions) != 1:
        raise ValueError(f"{path}: found {len(sessions)} sessions; expected one")
    return sessions[0]


def labelled(session: Session, rows: Sequence[Mapping[str, str]]) -> Labelled:
    """A session with the labels of its user messages, one row each."""
    users = [turn.index for turn in session.turns if turn.role is Role.USER]
    if len(users) != len(rows):
        raise ValueError(
            f"{session.source_path}: found {len(rows)} labels; expected {len(users)}, "
            "one a user message"
        )
    by_turn = {users[int(row["turn"])]: row for row in rows}
    human = tuple(index for index, row in by_turn.items() if row["reason"] != HARNESS)
    turns = tuple(
        replace(turn, origin=Origin.HUMAN if turn.index in human else Origin.SYSTEM)
        if turn.role is Role.USER
        else turn
        for turn in session.turns
    )
    joins = tuple(by_turn[index]["boundary"] == "true" for index in human[1:])
    return Labelled(session, human, Document(replace(session, turns=turns), joins))


def recovery(sessions: Iterable[Labelled]) -> Method:
    """Recovery of the sessions as read; a cut counts for the next human turn."""

    def cut_turns(labelled: Labelled) -> set[int]:
        return {cut.turn_index for cut in recover(labelled.session, _CONFIG).cuts}

    return projected(sessions, cut_turns)


def projected(sessions: Iterable[Labelled], cut_turns: Callable[[Labelled], set[int]]) -> Method:
    """A method that gives turn indices, as one that says at which gaps it cuts."""
    by_uid = {labelled.session.uid: labelled for labelled in sessions}

    def method(document: Document) -> tuple[bool, ...]:
        labelled = by_uid[document.session.uid]
        cuts = cut_turns(labelled)
        return tuple(any(a < cut <= b for cut in cuts) for a, b in pairwise(labelled.human))

    return method
