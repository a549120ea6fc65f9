"""Recovery on recorded sessions, against labels of where a new task begins.

    python -m benchmarks.labelled_recovery LABELS… [--root DIR]
        [--model NAME --base-url URL --store DIR [--mode replay]]

A row of a file of labels is one user message of a session: `session` (a path below the root),
`turn` (from 0), `boundary` (true where a person begins a new task with it) and `reason`
(`harness_text`: no person wrote it). Corrections, approvals and follow-ups on the same work begin
no task. Every method reads the sessions as they are; a message counts as a boundary if it is in
another task than the message of a person before it. F1 is over all such pairs of neighbours.
Without a model's name, structure alone is measured.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from benchmarks.real_requests import MATERIAL
from benchmarks.report import table, write_result
from construction.judging.calls.contracts import LlmConfig, LlmRuntime, Mode
from construction.judging.model.asking import ask, model_client
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.recovery import RecoveryConfig, Tasks, recover
from construction.sessions.recovery.by_model import (
    _conversation_of,
    _recovery_stage,
    joined,
    shortened,
    windows,
)
from data.contracts import Role, Session, share

_CONFIG = RecoveryConfig()
_HARNESS = "harness_text"
_READINGS = """
## What was tried

A capable language model answered each prompt from the prompt alone. With the first wording of the
prompt it cut more than the labels do (precision .727 and .500, recall .889 and 1.000, F1 .800 and
.667): it parted a review from what came of it. The second wording, above, joins too much. The bar
of .85 is missed by both. The third wording lies between the two; it was asked once, on the 23 fresh
sessions of `recorded_turns_2811` (transcripts of Cursor and Claude Code that no wording had seen):
precision .917, recall .759, F1 .830. One more boundary found would meet the bar.
"""
_HEAD = ("method", "sessions", "gaps", "boundaries", "precision", "recall", "F1")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A session and its human turns by index; `joins[i]`: does a task begin at turn i + 1?"""

    session: Session
    human: tuple[int, ...]
    joins: tuple[bool, ...]


def read_labelled(labels: Path, root: Path) -> Iterator[Labelled]:
    """The labelled sessions of several human turns, in the order of the file."""
    with labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for path, of in groupby(rows, key=lambda row: row["session"]):
        labelled = _labelled(root, path, list(of))
        if labelled.joins:
            yield labelled


def _labelled(root: Path, path: str, rows: Sequence[Mapping[str, str]]) -> Labelled:
    read = read_source(SourceFile(root / path, path))
    (session,) = (item for item in read if isinstance(item, Session))
    users = [turn.index for turn in session.turns if turn.role is Role.USER]
    if len(users) != len(rows):
        raise ValueError(f"{path}: found {len(rows)} labels; expected {len(users)}")
    by_turn = {users[int(row["turn"])]: row for row in rows}
    human = tuple(index for index, row in by_turn.items() if row["reason"] != _HARNESS)
    return Labelled(
        session, human, tuple(by_turn[index]["boundary"] == "true" for index in human[1:])
    )


def by_model(sessions: Sequence[Labelled], arguments: argparse.Namespace) -> Mapping[str, Tasks]:
    """The model's answers, by the uid of the session."""
    config = LlmConfig(mode=Mode(arguments.mode), model=arguments.model)
    runtime = LlmRuntime(base_url=arguments.base_url, timeout=3600, concurrency=64)
    conversations = [c for c in (_conversation_of(of.session) for of in sessions) if c is not None]
    parts = [shortened(part, _CONFIG) for talk in conversations for part in windows(talk, _CONFIG)]
    with model_client(config, runtime, arguments.store, masked=True) as client:
        return joined(ask(_recovery_stage(), parts, client))


def score(sessions: Sequence[Labelled], tasks: Mapping[str, Tasks]) -> list[int]:
    """True positives, found and real boundaries, and gaps."""
    counts = [0, 0, 0, 0]
    for labelled in sessions:
        recovered = recover(labelled.session, _CONFIG, tasks.get(labelled.session.uid))
        task_of = {
            turn.index: number
            for number, instance in enumerate(recovered.instances)
            for turn in instance.user_turns
        }
        for (before, after), real in zip(pairwise(labelled.human), labelled.joins, strict=True):
            last = max((i for i in task_of if i <= before), default=None)
            task = task_of.get(after)
            is_cut = task is not None and last is not None and task != task_of[last]
            counts[0] += is_cut and real
            counts[1] += is_cut
            counts[2] += real
            counts[3] += 1
    return counts


def row(name: str, sessions: Sequence[Labelled], tasks: Mapping[str, Tasks]) -> list[str]:
    """A row of the table."""
    right, cuts, real, gaps = score(sessions, tasks)
    precision, recall = share(right, cuts), share(right, real)
    f1 = share(2 * right, cuts + real)
    return [
        name,
        str(len(sessions)),
        str(gaps),
        str(real),
        *(f"{x:.3f}" for x in (precision, recall, f1)),
    ]


def main() -> None:
    """Measure each file of labels, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="+", type=Path)
    parser.add_argument("--root", type=Path, default=MATERIAL / "sessions-with-files")
    parser.add_argument("--model", default="", help="the name of a model; without it: structure")
    parser.add_argument("--base-url", default=LlmRuntime().base_url)
    parser.add_argument("--store", type=Path, default=Path("boundary_replies"))
    parser.add_argument("--mode", default="record", choices=("record", "replay"))
    parser.add_argument("--write", action="store_true", help="write the page of results")
    arguments = parser.parse_args()
    body = ""
    for labels in arguments.labels:
        sessions = list(read_labelled(labels, arguments.root))
        rows = [row("structure", sessions, {})]
        if arguments.model:
            rows.append(row(arguments.model, sessions, by_model(sessions, arguments)))
        body += f"## {labels.stem}\n\n{table(_HEAD, rows)}\n\n"
    print(body)
    if arguments.write:
        write_result("labelled_recovery", __doc__ or "", body + _READINGS, {})


if __name__ == "__main__":
    main()
