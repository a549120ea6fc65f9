"""What a judge is shown of attempts that deliver too much, or what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from PIL import Image

from construction.grading.logs import grade_attempts
from construction.judging.calls.contracts import Question
from construction.judging.judged_attempts import JudgedRun, judge_run
from data.attempts import outputs_folder
from data.releases.tasks import ReleasedTasks, read_tasks
from data.snapshot.writer import write_snapshot
from tests.construction.judging.model.fakes import CONFIG, Scripted
from tests.data.snapshot.sample import release
from tests.flows.judge_attempts import LONG, attempted, snapshot, with_rubric
from tests.flows.judge_server import answer, material, scopes
from tests.needs import needs_box

__all__ = ["snapshot"]  # a fixture
REAL = {
    f"{name}: The report says what {name} asks for."
    for name in ("grounded_accuracy", "communication_quality")
}


def by_rules(request: Question) -> Mapping[str, Any]:
    block = material(request.user)
    return answer(block)


@pytest.fixture
def tasks(snapshot: Path) -> ReleasedTasks:
    return read_tasks(snapshot)


def judged(tasks: ReleasedTasks, folder: Path) -> tuple[JudgedRun, list[dict[str, Any]]]:
    """The result, and what the judge was sent."""
    client = Scripted(by_rules)
    made = judge_run(
        tasks, grade_attempts(tasks, folder), folder, client, CONFIG, folder / "kept", 7
    )
    return made, [material(request.user) for request in client.asked]


def outputs(tasks: ReleasedTasks, folder: Path) -> Path:
    """The folder of what the only attempt delivers."""
    attempted(folder, tasks, [LONG])
    return outputs_folder(folder / "agent", next(iter(tasks.tasks)), 1)


def part(made: JudgedRun) -> tuple[float | None, str | None, Mapping[str, Any]]:
    (_, score), *_ = made.run.scores
    own = next(own for own in score.parts if own.evidence == "semantic")
    return own.value, own.reason, own.detail


def test_the_file_that_is_wanted_is_seen_among_a_thousand(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    given = outputs(tasks, tmp_path / "a")
    (given / "report.md").rename(given / "zzz.md")
    for number in range(1_000):
        (given / f"part-{number:04d}.dat").write_bytes(b"\0\1")
    made, (_, block, *_) = judged(tasks, tmp_path / "a")
    assert block["output_files"][0]["path"] == "zzz.md"
    assert (len(block["output_files"]), block["files_not_shown"]) == (20, 981)
    value, _, detail = part(made)
    assert (value, detail["files_not_shown"], detail["not_read"]) == (
        1.0,
        981,
        {"no form that is read here": 19},
    )


def test_of_fifty_megabytes_beginning_and_end_are_shown(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    (outputs(tasks, tmp_path / "a") / "report.md").write_text(f"{LONG}\n" * 250_000)
    made, blocks = judged(tasks, tmp_path / "a")
    assert max(len(orjson.dumps(block)) for block in blocks) < 4 * CONFIG.delivered_tokens + 10_000
    assert "not shown" in str(blocks[1]["output_files"][0])
    assert part(made)[0] == 1.0


@pytest.mark.parametrize(
    ("content", "reason", "troubles"),
    [
        (os.urandom(4_096), "judge.nothing_readable", {"no form that is read here": 1}),
        (b"\0" * 60_000_000, "judge.nothing_readable", {"no form that is read here": 1}),
        (
            b"x" * (101 << 20),
            "judge.nothing_readable",
            {"is larger than the files that are opened": 1},
        ),
        (b" \n", "judge.nothing_readable", {}),
    ],
)
def test_what_cannot_be_read_is_worth_nothing_and_says_why(
    tasks: ReleasedTasks, tmp_path: Path, content: bytes, reason: str, troubles: dict[str, int]
) -> None:
    (outputs(tasks, tmp_path / "a") / "report.md").write_bytes(content)
    made, blocks = judged(tasks, tmp_path / "a")
    assert blocks == []
    value, why, detail = part(made)
    assert (value, why, detail.get("not_read", {})) == (0.0, reason, troubles)


def test_links_and_pipes_are_no_deliverables(tasks: ReleasedTasks, tmp_path: Path) -> None:
    given = outputs(tasks, tmp_path / "a")
    (given / "report.md").unlink()
    (given / "report.md").symlink_to("/etc/passwd")
    os.mkfifo(given / "pipe.md")
    made, _ = judged(tasks, tmp_path / "a")
    assert part(made)[:2] == (0.0, "judge.nothing_delivered")


def test_a_folder_that_is_a_link_delivers_nothing(tasks: ReleasedTasks, tmp_path: Path) -> None:
    given = outputs(tasks, tmp_path / "a")
    given.rename(tmp_path / "elsewhere")
    given.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    made, _ = judged(tasks, tmp_path / "a")
    assert part(made)[:2] == (0.0, "judge.nothing_delivered")


@needs_box
def test_on_the_visual_route_the_judge_sees_pages_and_the_second_reading_only_the_named_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = release(tmp_path)
    tasks = [with_rubric(candidate, "visual", "png") for candidate in given.candidates]
    snapshot = read_tasks(write_snapshot(replace(given, candidates=tasks), tmp_path / "out").path)
    delivered = outputs(snapshot, tmp_path / "a")
    (delivered / "report.md").unlink()
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        Image.new("RGB", (60, 40), colour).save(delivered / name)

    def by_looks(request: Question) -> Mapping[str, Any]:
        block = material(request.user)
        if request.stage == "scope":
            return scopes(block)
        entries = block["criteria"] if request.stage == "attempts" else block["demands"]
        wanted = [
            (entry["part"], entry.get("criterion", entry.get("demand")) in REAL)
            for entry in entries
        ]
        if request.stage == "evidence":
            shown = {True: "all", False: "nothing"}
            return {"demands": [{"part": part, "shows": shown[real]} for part, real in wanted]}
        verdict = {True: ("met", 2), False: ("not_met", None)}
        return {
            "verdicts": [
                {
                    "part": part,
                    "finding": "",
                    "verdict": verdict[real][0],
                    "quotes": [],
                    "page": verdict[real][1],
                }
                for part, real in wanted
            ]
        }

    client = Scripted(by_looks)
    graded, kept = grade_attempts(snapshot, tmp_path / "a"), tmp_path / "kept"
    made = judge_run(snapshot, graded, tmp_path / "a", client, CONFIG, kept, 7)
    _, first, second = client.asked
    assert (len(first.images), len(second.images)) == (2, 1)
    assert second.images[0] == first.images[1]
    with Image.open(BytesIO(second.images[0].content)) as page:
        assert page.convert("RGB").getpixel((5, 5)) == (0, 0, 255)
    value, _, detail = part(made)
    assert (value, detail["page"]) == (1.0, 2)
    limit = len(first.images[0].content)  # of all pages of an attempt
    monkeypatch.setattr("construction.judging.judged_attempts._MOST_PICTURED", limit)
    with_less = Scripted(by_looks)
    judge_run(snapshot, graded, tmp_path / "a", with_less, CONFIG, kept, 7)
    assert with_less.asked[1].images == first.images[:1]
