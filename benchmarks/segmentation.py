"""Segmentation data and metrics: concatenated sessions with known joins.

A join is a true boundary. All turns of a session count as one task, although people sometimes
change the subject, so that no method can reach an F1 of 1 on real chats.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.recovery.exchanges import opens_exchange
from construction.sessions.recovery.lexicon import terms
from data.contracts import Session, Turn
from data.text.scripts import HAN_KANA, count_han

SEED = 20_260_115
ROUNDS = 6  # shuffles of each half
# Pauses inside a session stay as logged. At a join, half of the people continue at once (a pause
# drawn from those inside the sessions of the corpus, so that it gives no hint), half come back
# after a break: seconds, log-uniform.
_BREAK = (15 * 60.0, 18 * 3600.0)
_LEAST_TERMS = 3  # sessions whose turns hold fewer terms are placeholders
_SCENARIO = re.compile(r"hil_\w\d+")
_TOKEN = re.compile(f"[a-z0-9_]+|[{HAN_KANA}]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A session to be joined to others; neighbours must share `pool` and differ in `topic`."""

    session: Session
    pool: str
    topic: str


@dataclass(frozen=True, slots=True)
class Document:
    """A concatenation; `joins[i]` is true if a session ends before human turn i + 1."""

    session: Session
    joins: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Micro F1 over all gaps between human turns, and WindowDiff averaged over documents."""

    precision: float
    recall: float
    f1: float
    window_diff: float
    gaps: int
    boundaries: int


Method = Callable[[Document], tuple[bool, ...]]


# --- Corpora -----------------------------------------------------------------------------------


def read_pieces(material: Path) -> dict[str, list[Piece]]:
    """Sessions with human turns, by corpus, in the order of their paths."""
    root = material / "sessions"
    claude = [*_logs(root / "claude_code"), *_logs(root / "harness_formats/stage0/agents/claude")]
    claude = [path for path in claude if "ccl_records" not in path.parts]  # single records
    return {
        "tau-bench airline": [
            Piece(session, "airline", session.uid)
            for session in _sessions(_logs(root / "tau_bench"))
        ],
        "ClawArena": [
            Piece(session, _language(session), _scenario(session))
            for session in _sessions(_logs(root / "clawarena" / "openclaw"))
        ],
        "Claude Code": [Piece(session, "claude", session.uid) for session in _sessions(claude)],
    }


def _logs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.json*") if path.name != "sessions.json")


def _sessions(paths: Iterable[Path]) -> Iterator[Session]:
    """Sessions in which a person says something, without copies in other files."""
    seen: set[tuple[str, ...]] = set()
    for session in _read(paths):
        said = tuple(turn.said for turn in session.turns if opens_exchange(turn))
        if said not in seen and len(terms("\n".join(said), 10_000)) >= _LEAST_TERMS:
            seen.add(said)
            yield session


def _read(paths: Iterable[Path]) -> Iterator[Session]:
    for path in paths:
        for item in read_source(SourceFile(path, path.as_posix())):
            if isinstance(item, Session) and item.parent_session_id is None:
                yield item


def _language(session: Session) -> str:
    said = "".join(turn.said for turn in session.turns if opens_exchange(turn))
    return "zh" if count_han(said) * 5 > len(said) else "en"


def _scenario(session: Session) -> str:
    match = _SCENARIO.search(session.source_path)
    return match.group() if match else session.uid


def halves(pieces: Sequence[Piece], seed: int) -> tuple[list[Piece], list[Piece]]:
    """Two halves by a seeded shuffle, for tuning and for reporting; every pool is divided."""
    chance = random.Random(seed)
    tune: list[Piece] = []
    report: list[Piece] = []
    for pool in sorted({piece.pool for piece in pieces}):
        members = [piece for piece in pieces if piece.pool == pool]
        chance.shuffle(members)
        middle = (len(members) + 1) // 2
        tune += members[:middle]
        report += members[middle:]
    return tune, report


def documents(pieces: Sequence[Piece], seed: int, size: int, *, timed: bool) -> list[Document]:
    """Concatenations of up to `size` sessions of a pool; neighbours differ in topic."""
    chance = random.Random(seed)
    inside = [pause for piece in pieces for pause in pauses(piece.session) if pause is not None]
    joined: list[Document] = []
    for _ in range(ROUNDS):
        for pool in sorted({piece.pool for piece in pieces}):
            members = [piece for piece in pieces if piece.pool == pool]
            chance.shuffle(members)
            for run in _runs(members, size):
                breaks = [_join_pause(chance, inside) for _ in run]
                joined.append(_joined(run, breaks, timed=timed))
    return joined


def _join_pause(chance: random.Random, inside: Sequence[float]) -> float:
    at_once = chance.random() < 0.5
    long = math.exp(chance.uniform(*map(math.log, _BREAK)))
    return chance.choice(inside) if at_once and inside else long


def _runs(members: list[Piece], size: int) -> Iterator[list[Session]]:
    """Runs of sessions in order, neighbours differing in topic; single sessions are left out."""
    waiting = list(members)
    while waiting:
        run: list[Piece] = []
        for piece in list(waiting):
            if len(run) < size and (not run or run[-1].topic != piece.topic):
                run.append(piece)
                waiting.remove(piece)
        if len(run) < 2:
            return
        yield [piece.session for piece in run]


def _joined(sessions: Sequence[Session], breaks: Sequence[float], *, timed: bool) -> Document:
    turns: list[Turn] = []
    joins: list[bool] = []
    clock: float | None = None
    for session, pause in zip(sessions, breaks, strict=True):
        times = [turn.at for turn in session.turns if turn.at is not None]
        shift = clock + pause - times[0] if times and clock is not None else 0.0
        spoken = 0
        for turn in session.turns:
            at = turn.at + shift if timed and turn.at is not None else None
            turns.append(replace(turn, index=len(turns), at=at, sender=None, channel=None))
            if opens_exchange(turn):
                joins.append(spoken == 0)
                spoken += 1
        clock = times[-1] + shift if times else clock
    first = sessions[0]
    joined = replace(first, turns=tuple(turns), cwd=None, system_prompt=None)
    return Document(joined, tuple(joins[1:]))


def pauses(session: Session) -> list[float | None]:
    """Seconds before each human turn except the first; None where the log has no times."""
    seconds: list[float | None] = []
    last: float | None = None
    for turn in session.turns:
        if opens_exchange(turn):
            known = turn.at is not None and last is not None
            seconds.append(turn.at - last if known and turn.at and last else None)
        last = turn.at if turn.at is not None else last
    return seconds[1:]


# --- Metrics -----------------------------------------------------------------------------------


def score(documents: Sequence[Document], method: Method) -> Score:
    """Apply a method to all documents and compare its cuts with the joins."""
    hits = made = true = gaps = 0
    differences: list[float] = []
    for document in documents:
        cuts = method(document)
        hits += sum(a and b for a, b in zip(cuts, document.joins, strict=True))
        made, true, gaps = made + sum(cuts), true + sum(document.joins), gaps + len(cuts)
        differences.append(window_diff(document.joins, cuts))
    precision = hits / made if made else 0.0
    recall = hits / true if true else 0.0
    f1 = 2 * hits / (made + true) if made + true else 0.0
    mean = sum(differences) / len(differences) if differences else 0.0
    return Score(precision, recall, f1, mean, gaps, true)


def window_diff(truth: Sequence[bool], cuts: Sequence[bool]) -> float:
    """WindowDiff (Pevzner and Hearst 2002): the share of windows with different counts of cuts.

    A window spans k gaps, where k is half the mean length of a true segment, at least 1.
    """
    width = max(1, round((len(truth) + 1) / (sum(truth) + 1) / 2))
    windows = len(truth) - width + 1
    if windows < 1:
        return float(sum(truth) != sum(cuts))
    wrong = sum(sum(truth[at : at + width]) != sum(cuts[at : at + width]) for at in range(windows))
    return wrong / windows
