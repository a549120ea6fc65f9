"""What a judge is shown of attempts that deliver too much, or what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from construction.grading.logs import grade_attempts
from construction.judging.calls.contracts import Question
from construction.judging.judged_attempts import JudgedRun, judge_run
from data.attempts import outputs_folder
from data.releases.tasks import ReleasedTasks, read_tasks
from tests.construction.judging.model.fakes import CONFIG, Scripted
from tests.flows.judge_attempts import LONG, attempted, snapshot
from tests.flows.judge_server import material, readings, verdicts

__all__ = ["snapshot"]  # a fixture


def by_rules(request: Question) -> Mapping[str, Any]:
    block = material(request.user)
    return readings(block) if request.stage == "evidence" else verdicts(block)


@pytest.fixture
def release(snapshot: Path) -> ReleasedTasks:
    return read_tasks(snapshot)


def judged(release: ReleasedTasks, folder: Path) -> tuple[JudgedRun, list[dict[str, Any]]]:
    """The result, and what the judge was sent."""
    client = Scripted(by_rules)
    made = judge_run(
        release, grade_attempts(release, folder), folder, client, CONFIG, folder / "kept", 7
    )
    return made, [material(request.user) for request in client.asked]


def outputs(release: ReleasedTasks, folder: Path) -> Path:
    """The folder of what the only attempt delivers."""
    attempted(folder, release, [LONG])
    return outputs_folder(folder / "agent", next(iter(release.tasks)), 1)


def part(made: JudgedRun) -> tuple[float | None, str | None, Mapping[str, Any]]:
    (_, score), *_ = made.run.scores
    own = next(own for own in score.parts if own.evidence == "semantic")
    return own.value, own.reason, own.detail


def test_the_file_that_is_wanted_is_seen_among_a_thousand(
    release: ReleasedTasks, tmp_path: Path
) -> None:
    given = outputs(release, tmp_path / "a")
    (given / "report.md").rename(given / "zzz.md")
    for number in range(1_000):
        (given / f"part-{number:04d}.dat").write_bytes(b"\0\1")
    made, (block, *_) = judged(release, tmp_path / "a")
    assert block["files"][0]["name"] == "zzz.md"
    assert (len(block["files"]), block["files_not_shown"]) == (20, 981)
    value, _, detail = part(made)
    assert (value, detail["files_not_shown"], detail["not_read"]) == (1.0, 981, {"no_text": 19})


def test_of_fifty_megabytes_beginning_and_end_are_shown(
    release: ReleasedTasks, tmp_path: Path
) -> None:
    (outputs(release, tmp_path / "a") / "report.md").write_text(f"{LONG}\n" * 250_000)
    made, blocks = judged(release, tmp_path / "a")
    assert max(len(orjson.dumps(block)) for block in blocks) < 60_000
    assert "characters left out" in blocks[0]["files"][0]["text"]
    assert part(made)[0] == 1.0


@pytest.mark.parametrize(
    ("content", "reason", "troubles"),
    [
        (os.urandom(4_096), "judge.nothing_readable", {"broken": 1}),
        (b"\0" * 60_000_000, "judge.nothing_readable", {"broken": 1}),
        (b"x" * (101 << 20), "judge.nothing_readable", {"too_large": 1}),
        (b" \n", "judge.nothing_readable", {}),
    ],
)
def test_what_cannot_be_read_is_worth_nothing_and_says_why(
    release: ReleasedTasks, tmp_path: Path, content: bytes, reason: str, troubles: dict[str, int]
) -> None:
    (outputs(release, tmp_path / "a") / "report.md").write_bytes(content)
    made, blocks = judged(release, tmp_path / "a")
    assert blocks == []
    value, why, detail = part(made)
    assert (value, why, detail.get("not_read", {})) == (0.0, reason, troubles)


def test_links_and_pipes_are_no_deliverables(release: ReleasedTasks, tmp_path: Path) -> None:
    given = outputs(release, tmp_path / "a")
    (given / "report.md").unlink()
    (given / "report.md").symlink_to("/etc/passwd")
    os.mkfifo(given / "pipe.md")
    made, _ = judged(release, tmp_path / "a")
    assert part(made)[:2] == (0.0, "judge.nothing_delivered")
