"""Every file that one part of the project writes and another reads: what is written can be read.

`PAIRS` lists the formats. Those of the signals chain are written and read here, each by the real
producer and the real consumer; of the others the test is named that does it.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from anonymization.words_review import (
    WordLeft,
    _read_review,
    open_rows,
    write_decisions,
    write_words,
)
from construction.judging.settings import Judges
from construction.signals.codebook import default_crosswalk
from construction.signals.collect import (
    CollectConfig,
    collect_file,
    collect_registry,
    history,
    keep,
    read_capture,
    snapshot_files,
)
from construction.signals.config import SignalsRecipe
from construction.signals.mixture import (
    _mixture_picture,
    dated_files,
    mixture_report,
    pattern_needs,
    public_mixture,
    task_weights,
    write_mixture,
)
from construction.workflows.candidate_ideas import (
    IDEAS_FILE,
    candidate_ideas,
    seeds_of,
    write_ideas,
)
from construction.workflows.demand import demanded, generators, write_demand
from construction.workflows.screening import WorkflowsRecipe
from data.stage_tables import outcome_counts
from flows.recipe import Recipe, Runtime
from selection.config import MatrixSelection
from selection.output import check_selection, select_from_matrix
from selection.scores import read_scores
from tests.conftest import REPO
from tests.construction.signals.collect.fake_registry import FakeRegistry
from tests.flows.test_refresh import NEW, OLD
from tests.selection.matrices import drawn, write_csv

_REVIEW = "tests/construction/judging/test_review.py"
_MASKED = "tests/anonymization/test_instruction_gate.py"
# Format -> writer, reader, and the test file that runs both.
PAIRS = {
    "capture": ("collect_registry", "collect_file", "tests/test_round_trips.py"),
    "log of captures": ("keep", "history", "tests/test_round_trips.py"),
    "signals report": ("write_mixture", "mixture_report", "tests/test_round_trips.py"),
    "candidate ideas": ("write_ideas", "write_demand", "tests/test_round_trips.py"),
    "demand": ("write_demand", "demanded", "tests/test_round_trips.py"),
    "score matrix": ("write_csv", "read_scores", "tests/test_round_trips.py"),
    "selection": ("select_from_matrix", "check_selection", "tests/test_round_trips.py"),
    "word list": ("write_words", "read_review", "tests/test_round_trips.py"),
    "panel scores": ("write_panel", "read_scores", "tests/construction/workflows/test_pool.py"),
    "world": ("write_world", "read_world", "tests/construction/workflows/test_world_file.py"),
    "proposals": ("make_proposals", "read_pool", "tests/construction/workflows/test_pool.py"),
    "review items": ("write_items", "read_items", _REVIEW),
    "review sheet": ("review_export_command", "review_import_command", _REVIEW),
    "rounds": ("write_rounds", "read_rounds", "tests/construction/judging/test_rounds.py"),
    "pool": ("write_pool", "read_pool", "tests/flows/test_preflight_stage.py"),
    "attempt": ("write_attempt", "read_attempts", "tests/construction/grading/test_logs.py"),
    "errata": ("errata", "leaderboard", "tests/flows/test_errata_command.py"),
    "release": ("write_snapshot", "read_tasks", "tests/data/releases/test_tasks.py"),
    "facts of a release": ("written", "facts_of_snapshot", "tests/data/releases/test_diff.py"),
    "mask changes": ("write_changes", "read_changes", _MASKED),
}  # fmt: skip
DAYS = {dt.date(2026, 3, 1): OLD, dt.date(2026, 4, 1): NEW}


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_each_pair_is_run_by_its_test(name: str) -> None:
    writer, reader, path = PAIRS[name]
    text = (REPO / path).read_text(encoding="utf-8")
    for function, verb in ((writer, "write"), (reader, "read")):
        is_run = f"{function}(" in text or f'run("{function}"' in text
        assert is_run, f"{path} does not {verb} a {name}"


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days of a registry, and a table of a day before."""
    folder = tmp_path_factory.mktemp("captures")
    for day, skills in DAYS.items():
        with FakeRegistry(skills) as registry:
            collect_registry(registry.config(page_size=2), CollectConfig(), day, folder)
    keep(folder, b"slug,downloads\nold-one,7\n", "registry", dt.date(2026, 2, 1), ".csv")
    return folder


@pytest.fixture(scope="module")
def mixture(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixture")
    dated = dated_files(snapshot_files([captures], "registry"))
    write_mixture(SignalsRecipe(), dated, folder, quiet=True)
    return folder


def test_a_capture_and_its_log_are_read_back(captures: Path) -> None:
    kept = history(captures, "registry")
    assert [one.date for one in kept] == [dt.date(2026, 2, 1), *DAYS]
    assert snapshot_files([captures], "registry") == [one.path for one in kept]
    for capture in kept[1:]:
        assert read_capture(capture.path).digest == capture.sha256
        collected = collect_file(capture.path, "registry", capture.date, CollectConfig())
        assert not collected.issues
        slugs = {signal.slug for signal in collected.snapshot.signals}
        assert slugs == {row["slug"] for row in DAYS[capture.date]}
    table = collect_file(kept[0].path, "registry", kept[0].date, CollectConfig())
    assert [signal.slug for signal in table.snapshot.signals] == ["old-one"]


def test_the_report_serves_each_of_its_readers(mixture: Path) -> None:
    report = mixture_report(mixture)
    assert [row["date"] for row in report["history"]] == ["2026-02-01", "2026-03-01", "2026-04-01"]
    weights = task_weights([mixture])
    assert sum(weights.values()) == pytest.approx(1.0)
    assert weights.keys() <= default_crosswalk().task_families.keys()
    assert pattern_needs([mixture]) == report["needs"]
    assert sum(seed.ideas for seed in seeds_of(report)) == SignalsRecipe().analysis.ideas
    assert _mixture_picture(mixture).inline.startswith("<svg")


def test_ideas_become_demand_and_demand_becomes_drafts(mixture: Path, tmp_path: Path) -> None:
    judges: Judges = Runtime(out=tmp_path / "out").judges(Recipe())
    ideas, demand = tmp_path / "ideas", tmp_path / "demand"
    ideas.mkdir()
    demand.mkdir()
    made = candidate_ideas(seeds_of(mixture_report(mixture)), (), judges)
    write_ideas(made, ideas)
    recipe = WorkflowsRecipe(drafts=20)
    weights, needs = task_weights([mixture]), pattern_needs([mixture])
    write_demand(ideas / IDEAS_FILE, weights, recipe, 7, demand, needs)
    counts = outcome_counts(demand)
    assert sum(counts.values()) == len(made.proposed.ideas) > 0
    drafts = demanded(demand)
    assert sum(drafts.values()) == 20
    assert drafts.keys() <= generators().keys()
    public = public_mixture(mixture, ideas / IDEAS_FILE)
    assert [row["idea_id"] for row in public["ideas"]] == [
        idea.idea_id for idea in made.proposed.ideas
    ]
    assert "own/shelf" not in str(public)  # no skill by name


def test_a_score_matrix_becomes_a_selection_that_is_confirmed(tmp_path: Path) -> None:
    matrix = drawn(24, 5, n_families=3)
    again, _ = read_scores(write_csv(tmp_path / "scores.csv", matrix))
    assert (again.items, again.models) == (matrix.items, matrix.models)
    assert (again.scores == matrix.scores).all()
    select_from_matrix(again, MatrixSelection(size=6), tmp_path / "chosen", quality=False)
    assert check_selection(tmp_path / "chosen") == ()


def test_decisions_on_words_are_read_as_they_were_made(tmp_path: Path) -> None:
    path, words = tmp_path / "words.csv", ("=cmd|x", "'quoted", "青鸟", "007", "A, B\n", '"both"')
    write_words(path, dict.fromkeys(words, WordLeft()))
    assert _read_review(path).decisions == {}
    write_decisions(path, {row["word"]: "keep" for row in open_rows(path)})
    decided = _read_review(path)
    assert decided.keep == frozenset(word.strip() for word in words)
    write_words(path, {}, decided)
    assert _read_review(path).decisions == dict.fromkeys(map(str.strip, words), "keep")
