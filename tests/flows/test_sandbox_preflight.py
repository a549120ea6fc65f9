"""The sandbox preflight of a build: planted faults, replacements, replay, interruptions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from construction.grading.sandbox_preflight import SandboxReason, SandboxRecipe
from construction.grading.trial import Boxes, Found, Trial, _TrialStopped
from construction.sandbox import sandbox
from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import Box
from construction.sandbox.toolset import library_paths
from data.canonical import digest
from data.contracts import Candidate, Deliverable, Fixture, NetworkPolicy, Outcome, Status
from data.errors import ReleaseError
from data.pool import read_pool, write_pool
from data.run_store import content_digest
from data.stage_tables import StageRecords, read_records
from data.stages import Results, run_stage
from flows.recipe import Recipe, Runtime
from flows.run import Run, open_run
from flows.stages.selection import OUTCOMES_INPUT, SANDBOX_PREFLIGHT, SELECT, _SandboxTrials
from selection.config import Band, SelectionRecipe
from tests.construction.grading.test_trial import CONTENT, fixture, rubric, task
from tests.needs import needs_box

LARGE = b"x" * (9 << 20)
SMALL = Box(Limits(disk_bytes=24 << 20), libraries=library_paths())  # of which the work folder: 8


def files_of(*names: str) -> tuple[Deliverable, ...]:
    return tuple(Deliverable(file_type=n.rpartition(".")[2], name_hints=(n,)) for n in names)


def sound(name: str, **parts: Any) -> Candidate:
    return task(name, prompt=f"Task {name}: sum the orders.", fixtures=(fixture(),), **parts)


def with_input(name: str, path: str, content: bytes = CONTENT) -> Candidate:
    return sound(name).model_copy(update={"fixtures": (fixture(path, content),)})


OFFICE = ("a.xlsx", "b.docx", "c.pptx", "d.pdf", "e.png", "sub/f.md", "g.csv", "h.mp3", "i.odd")
WRONG = Fixture(path="a.csv", sha256="0" * 64, bytes=15, media_type="text/csv")
# What each plant fails on (None: nothing), and the evidence in the ledger.
PLANTED: Mapping[str, tuple[Candidate, SandboxReason | None, str]] = {
    "t-office": (sound("t-office", deliverables=files_of(*OFFICE)), None, ""),
    "t-answer": (sound("t-answer"), None, ""),
    "t-store": (
        sound("t-store").model_copy(update={"fixtures": (WRONG,)}),
        SandboxReason.UPLOAD,
        "not_as_recorded input 1",
    ),
    "t-large": (
        with_input("t-large", "large.bin", LARGE),
        SandboxReason.UPLOAD,
        "no_space_left_on_device input 1",
    ),
    "t-long": (
        with_input("t-long", f"{'n' * 300}.csv"),
        SandboxReason.UPLOAD,
        "file_name_too_long input 1",
    ),
    "t-nul": (with_input("t-nul", "a\0b.csv"), SandboxReason.UPLOAD, "no_path input 1"),
    "t-in-file": (
        sound("t-in-file").model_copy(update={"fixtures": (fixture("a"), fixture("a/b"))}),
        SandboxReason.UPLOAD,
        "file_exists input 2",
    ),
    "t-fetch": (
        sound("t-fetch", tools=("fetch",), network=NetworkPolicy(mode="web")),
        SandboxReason.EXECUTION,
        "no_such_tool fetch",
    ),
    "t-absolute": (
        sound("t-absolute", deliverables=files_of("/srv/reports/a.md")),
        SandboxReason.DOWNLOAD,
        "read-only_file_system output 1",
    ),
    "t-outside": (
        sound("t-outside", deliverables=files_of("ok.md", "../a.csv")),
        SandboxReason.DOWNLOAD,
        "not_downloaded output 2",
    ),
    "t-leftover": (
        sound("t-leftover", deliverables=files_of("a.tmp")),
        SandboxReason.DOWNLOAD,
        "not_downloaded output 1",
    ),
    "t-no-type": (
        sound("t-no-type", deliverables=(Deliverable(file_type="x" * 300),)),
        SandboxReason.DOWNLOAD,
        "file_name_too_long output 1",
    ),
    "t-route": (
        sound("t-route", rubric=rubric("gone.csv")),
        SandboxReason.ROUTE,
        "no_evidence_to_show criterion 1",
    ),
}


def opened(
    folder: Path,
    boxes: Boxes | None = None,
    *,
    limit: int | None = None,
    difficulty_shares: Mapping[str, Band] | None = None,
    name: str = "out",
    **settings: Any,
) -> Run:
    recipe = Recipe(
        preflight=SandboxRecipe(**{"sandbox": "run", **settings}),
        selection=SelectionRecipe(max_tasks=limit, difficulty_shares=difficulty_shares or {}),
    )
    run = open_run(recipe, Runtime(out=folder / name, workers=2, quiet=True))
    return Run(run.recipe, run.runtime, run.store, run.key, boxes=boxes)


def preflight(
    run: Run, folder: Path, candidates: list[Candidate]
) -> tuple[Results, StageRecords, dict[str, str]]:
    """The results, the records, and the status of each task that the selection then takes."""
    pool = folder / "pool"
    pool.mkdir(exist_ok=True)
    stored = {digest(content): folder / digest(content) for content in (CONTENT, LARGE)}
    for (sha256, path), content in zip(stored.items(), (CONTENT, LARGE), strict=True):
        assert digest(content) == sha256
        path.write_bytes(content)
    write_pool(pool, candidates, stored)
    results = Results(outputs={"informative": (pool,), "package": (pool,)})
    run_stage(run, SANDBOX_PREFLIGHT, results)
    run_stage(run, SELECT, results)
    records = read_records(results.outputs["sandbox_preflight"])
    chosen = read_pool(results.outputs["select"]).candidates
    return results, records, {one.task_id: one.preflight for one in chosen}


def digest_of(results: Results) -> list[str]:
    return [content_digest(results.outputs[name][0]) for name in ("sandbox_preflight", "select")]


def without_bubblewrap(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sandbox, "bubblewrap", lambda: None)


@needs_box
def test_every_plant_is_rejected_with_its_reason_and_place(tmp_path: Path) -> None:
    run = opened(tmp_path, Boxes(2, box=SMALL))
    results, records, chosen = preflight(run, tmp_path, [one for one, _, _ in PLANTED.values()])
    reasons = {name: verdict.reason for name, verdict in records.verdicts}
    assert reasons == {name: reason for name, (_, reason, _) in PLANTED.items()}
    places = {
        row.item_id: f"{row.evidence['fault']} {row.evidence['where']}"
        for row in records.ledger
        if row.outcome is Outcome.REJECTED
    }
    assert places == {name: place for name, (_, reason, place) in PLANTED.items() if reason}
    assert chosen == {"t-office": "verified", "t-answer": "verified"}
    assert OUTCOMES_INPUT in results.inputs


@needs_box
def test_what_fails_is_replaced_under_the_limits_of_the_selection_and_the_rest_is_not_tried(
    tmp_path: Path,
) -> None:
    run = opened(tmp_path, limit=3)
    bad = [f"t-{n}" for n in range(4)]
    pool = [sound(f"t-{n}", tools=("fetch",) if f"t-{n}" in bad else ()) for n in range(9)]
    _, records, chosen = preflight(run, tmp_path, pool)
    assert set(chosen.values()) == {"verified"}
    assert len(chosen) == 3
    assert not chosen.keys() & set(bad)
    statuses = {name: verdict.status for name, verdict in records.verdicts}
    assert {name for name, status in statuses.items() if status is Status.PASSED} == set(chosen)
    assert {status for name, status in statuses.items() if name in bad} <= {
        Status.FAILED,
        Status.NOT_MEASURED,
    }


@needs_box
def test_limits_that_the_rest_of_the_pool_cannot_meet_are_named(tmp_path: Path) -> None:
    half_hard = {"hard": Band(low=0.5)}
    run = opened(tmp_path, limit=2, difficulty_shares=half_hard)
    pool = [
        sound(f"t-{n}", tools=("fetch",) if n < 1 else (), difficulty="hard" if n < 1 else "easy")
        for n in range(4)
    ]
    with pytest.raises(ReleaseError, match="no selection of 2 tasks is possible"):
        preflight(run, tmp_path, pool)


@needs_box
def test_outcomes_replay_without_a_sandbox_and_belong_to_the_task_as_it_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [PLANTED[name][0] for name in ("t-answer", "t-route", "t-outside")]
    first, _, chosen = preflight(opened(tmp_path), tmp_path, tasks)
    captured = tmp_path / "out" / "private" / "captures" / "preflight.jsonl"
    without_bubblewrap(monkeypatch)
    elsewhere = tmp_path / "elsewhere" / "private" / "captures"
    elsewhere.mkdir(parents=True)
    (elsewhere / captured.name).write_bytes(captured.read_bytes())
    again, _, same = preflight(opened(tmp_path, name="elsewhere"), tmp_path, tasks[::-1])
    assert digest_of(first) == digest_of(again)
    assert first.inputs == again.inputs
    assert chosen == same == {"t-answer": "verified"}
    changed = [tasks[0].model_copy(update={"prompt": "Another."})]
    _, records, now = preflight(opened(tmp_path, name="elsewhere"), tmp_path, changed)
    assert [v.reason for _, v in records.verdicts] == [SandboxReason.NO_SANDBOX]
    assert now == {"t-answer": "unverified"}


@pytest.mark.parametrize(
    ("settings", "reason", "outcome"),
    [
        ({}, SandboxReason.NO_SANDBOX, "unverified"),
        ({"unverified": "refuse"}, SandboxReason.NO_SANDBOX, None),
        ({"sandbox": "off"}, SandboxReason.NOT_TRIED, "unverified"),
    ],
)
def test_without_a_sandbox_the_recipe_decides(
    settings: dict[str, Any],
    reason: SandboxReason,
    outcome: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_bubblewrap(monkeypatch)
    tasks = [sound("t-1"), sound("t-2")]
    _, records, chosen = preflight(opened(tmp_path, **settings), tmp_path, tasks)
    assert {verdict.reason for _, verdict in records.verdicts} == {reason}
    assert chosen == ({} if outcome is None else dict.fromkeys(("t-1", "t-2"), outcome))


class Failing(Boxes):
    """Boxes of which the one for `t-2` ends at once."""

    def run(self, trials: Any, report: Found) -> None:
        small = Box(Limits(memory_bytes=1 << 20))  # too little for any interpreter
        super().run([one for one in trials if one.task.task_id != "t-2"], report)
        Boxes(box=small).run([one for one in trials if one.task.task_id == "t-2"], report)


@needs_box
def test_the_infrastructure_stops_the_stage_and_what_was_tried_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [sound(f"t-{n}") for n in range(4)]
    with pytest.raises(_TrialStopped, match=r"t-2: the sandbox ended .* Nothing is decided"):
        preflight(opened(tmp_path, Failing()), tmp_path, tasks)
    tried: list[str] = []
    keep = _SandboxTrials._keep

    def count(self: _SandboxTrials, trial: Trial, faults: Any) -> None:
        tried.append(trial.task.task_id)
        keep(self, trial, faults)

    monkeypatch.setattr(_SandboxTrials, "_keep", count)
    results, _, chosen = preflight(opened(tmp_path), tmp_path, tasks)
    assert tried == ["t-2"]
    assert set(chosen.values()) == {"verified"}
    whole, _, _ = preflight(opened(tmp_path, name="whole"), tmp_path, tasks)
    assert results.inputs == whole.inputs
