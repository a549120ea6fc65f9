"""Packets for readers: released tasks and rejections, drawn by the release's digest.

    python -m benchmarks.reading_packets WORKSPACE OUT [--material DIR] [--before WORKSPACE]

WORKSPACE is a build of `benchmarks.real_requests` (the labelled half, on whose cases no rule is
written). The order is that of SHA-256 over the release's digest and the id, and the first draw
counts: up to 100 released tasks and up to 60 rejections. A released packet is what an agent sees
(`instruction.md`, `inputs/`), and `rubric.md`, which it does not see. A rejected packet is the
request as it was published, the list of its files with the files, and the reason in words.
`index.json` says which packet is which, and which were read before; readers do not get it.
`--before` is the workspace of an earlier reading, of which everything was read: what was neither
released nor rejected there, for the same reason, is drawn first.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.real_requests import MATERIAL
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from data.contracts import Role, Session
from data.snapshot.layout import snapshot_digest

_MOST_RELEASED, _MOST_REJECTED = 100, 60
_MEANINGS = Path(__file__).resolve().parents[1] / "docs" / "audit.md"
_MORE_MEANINGS = {
    "session.no_task": "No message of a person in the session asks for work.",
    "instance.duplicate": "Another instance has the same typed text.",
}
_RELEASED = """
SELECT DISTINCT t.task_id, s.path FROM newest.selection t
JOIN newest.lineage l ON l.child = t.instance_id AND l.child_unit = 'instance'
JOIN newest.sessions s ON s.session_uid = l.parent
WHERE t.outcome = 'chosen'
"""
_REJECTED = """
SELECT r.item_id, r.reason, coalesce(r.path, s.path),
       coalesce(json_extract_string(r.evidence, '$.missing'), '')
FROM newest.rejections r
LEFT JOIN newest.lineage c ON c.child = r.item_id AND c.child_unit = 'candidate'
LEFT JOIN newest.task_instances i ON i.instance_id IN (r.item_id, c.parent)
LEFT JOIN newest.sessions s ON s.session_uid = i.session_uid
WHERE r.outcome = 'rejected' AND r.n > 0 AND coalesce(r.path, s.path) IS NOT NULL ORDER BY 1
"""
_TURNS = """
SELECT split_part(parent, '#', -1)::INT FROM newest.lineage
WHERE child IN (SELECT ? UNION SELECT parent FROM newest.lineage WHERE child = ?)
  AND parent_unit = 'turn' ORDER BY 1
"""


def drawn(digest: str, ids: Sequence[str], size: int, last: Collection[str] = ()) -> list[str]:
    """The first ids in the order of their digests with the release's digest; `last` come last."""
    return sorted(
        ids, key=lambda name: (name in last, sha256(f"{digest}/{name}".encode()).digest())
    )[:size]


def units(workspace: Path) -> tuple[dict[str, str], dict[str, tuple[Any, ...]]]:
    """The session of each released task, and the row of each rejection, by their ids."""
    with duckdb.connect(str(workspace / "staging.duckdb"), read_only=True) as connection:
        released: dict[str, str] = dict(connection.execute(_RELEASED).fetchall())
        return released, {row[0]: row for row in connection.execute(_REJECTED).fetchall()}


def release_digest(snapshot: Path) -> str:
    """The digest over both halves of a release."""
    halves = [(snapshot / half / "SHA256SUMS").read_bytes() for half in ("public", "private")]
    return snapshot_digest(*halves)


def write_released(snapshot: Path, task_id: str, packet: Path) -> None:
    """What an agent sees of a task, and beside it what a grader goes by."""
    public = snapshot / "public" / "tasks" / task_id
    packet.mkdir(parents=True)
    shutil.copy(public / "instruction.md", packet)
    (packet / "inputs").mkdir()
    if (public / "inputs").is_dir():
        shutil.copytree(public / "inputs", packet / "inputs", dirs_exist_ok=True)
    private = snapshot / "private" / task_id
    rubric = json.loads((private / "rubric.json").read_text(encoding="utf-8"))["rubric"]
    ruled = private / "rules.json"  # absent where no check could tell good work from none
    rules: list[dict[str, Any]] = (
        json.loads(ruled.read_text(encoding="utf-8"))["rules"] if ruled.is_file() else []
    )
    lines = ["# What a grader goes by (an agent does not see it)", "", "## Rubric", ""]
    lines += [
        f"- {row['weight']:.2f}, {row['dimension']}: {row['text']}" for row in rubric["criteria"]
    ]
    if rubric["needs_model"]:
        lines.append("- (marked: this rubric needs a model to be written)")
    lines += ["", "## Rules that a program checks", "", *(f"- {rule['text']}" for rule in rules)]
    (packet / "rubric.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_rejected(
    root: Path, session: str, turns: Sequence[int], reason: str, packet: Path
) -> None:
    """A request as it was published, its files, and the reason why it was rejected."""
    packet.mkdir(parents=True)
    record = json.loads((root / session).read_text(encoding="utf-8"))
    said = [row["content"] for row in record["messages"] if row["role"] == "user"]
    numbers = _numbers(root, session, turns) if turns else range(len(said))
    (packet / "request.md").write_text(_request(said, numbers), encoding="utf-8")
    folder = _folder(root / Path(session).parts[0] / "files", record["cwd"])
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    listed = [f"{path.relative_to(folder)} ({path.stat().st_size} bytes)" for path in names]
    text = "\n".join(listed) or "(no files)"
    (packet / "files.txt").write_text(f"{record['cwd']}:\n{text}\n", encoding="utf-8")
    if names:
        shutil.copytree(folder, packet / "files")
    (packet / "reason.md").write_text(reason, encoding="utf-8")


def _folder(files: Path, cwd: str) -> Path:
    """The folder of a session's files: its working directory without the leading parts."""
    parts = Path(cwd).parts
    return next(
        folder
        for start in range(1, len(parts))
        if (folder := files.joinpath(*parts[start:])).is_dir()
    )


def _numbers(root: Path, session: str, turns: Sequence[int]) -> list[int]:
    """Which of the user's messages the turns are, as the reader of logs counts them."""
    users = [
        turn.index
        for item in read_source(SourceFile(root / session, session))
        if isinstance(item, Session)
        for turn in item.turns
        if turn.role is Role.USER
    ]
    return [number for number, index in enumerate(users) if index in set(turns)]


def _request(said: Sequence[str], numbers: Sequence[int]) -> str:
    """The user's messages; of a recorded session those of the instance, each with its number.

    A session that is rejected as a whole has no instance: all of its messages.
    """
    if len(said) == 1:
        return f"{said[0]}\n"
    return "".join(
        f"--- message {number + 1} of the person's {len(said)} ---\n{said[number]}\n\n"
        for number in numbers or range(len(said))
    )


def reason_meanings() -> dict[str, str]:
    """The meaning of each reason, as the docs say it."""
    rows = re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \| (.+?) \|$", _MEANINGS.read_text(), re.M)
    return _MORE_MEANINGS | dict(rows)


def main() -> None:
    """Draw, write the packets and the index."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--material", type=Path, default=MATERIAL)
    parser.add_argument("--before", type=Path)
    arguments = parser.parse_args()
    snapshot = (arguments.workspace / "snapshots" / "latest").resolve()
    digest = release_digest(snapshot)
    sessions, rows = units(arguments.workspace)
    old_sessions, old_rows = units(arguments.before) if arguments.before else ({}, {})
    old_tasks = {task for task, path in sessions.items() if path in set(old_sessions.values())}
    reasons = {(row[2], row[1]) for row in old_rows.values()}
    old_items = {item for item, row in rows.items() if (row[2], row[1]) in reasons}
    tasks = [path.name for path in (snapshot / "public" / "tasks").iterdir()]
    index: dict[str, Any] = {"digest": digest, "released": {}, "rejected": {}}
    index["n"] = {"tasks": len(tasks), "rejections": len(rows)}
    for number, task in enumerate(drawn(digest, tasks, _MOST_RELEASED, old_tasks), 1):
        write_released(snapshot, task, arguments.out / "released" / str(number))
        entry = {"task": task, "session": sessions.get(task), "read_before": task in old_tasks}
        index["released"][number] = entry
    chosen = drawn(digest, sorted(rows), _MOST_REJECTED, old_items)
    _write_rejections(arguments.workspace, arguments.material, rows, chosen, arguments.out)
    for number, item in enumerate(chosen, 1):
        entry = {"item": item, "reason": rows[item][1], "session": rows[item][2]}
        index["rejected"][number] = entry | {"read_before": item in old_items}
    (arguments.out / "index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")


def _write_rejections(
    workspace: Path,
    material: Path,
    rows: Mapping[str, tuple[Any, ...]],
    chosen: Sequence[str],
    out: Path,
) -> None:
    names = json.loads((workspace / "private" / "missing_inputs.json").read_text())
    meanings = reason_meanings()
    with duckdb.connect(str(workspace / "staging.duckdb"), read_only=True) as connection:
        for number, item in enumerate(chosen, 1):
            _, reason, session, missing = rows[item]
            turns = [row[0] for row in connection.execute(_TURNS, [item, item]).fetchall()]
            private = "".join(f"- {row['kind']}: {row['name']}\n" for row in names.get(item, []))
            text = f"{reason}\n\nMeaning: {meanings[reason]}\n"
            text += f"\nMissing: {missing}\n{private}" if missing or private else ""
            folder = out / "rejected" / str(number)
            write_rejected(material / "sessions-with-files", session, turns, text, folder)


if __name__ == "__main__":
    main()
