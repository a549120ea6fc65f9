"""Mutants: which changes are made, that each is a program, and that a draw is stable."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import mutation
from benchmarks.mutants import Mutant, mutants
from benchmarks.mutation import (
    ROOMS,
    Judged,
    Record,
    Room,
    draw,
    equivalents,
    judge,
    kill_rate,
    tried,
)
from benchmarks.mutation_tests import (
    Outcome,
    Step,
    import_distances,
    importers,
    matching_files,
    room_tests,
    seconds_by_file,
    steps,
)
from tests.conftest import REPO

SOURCE = '''"""Limits of 3."""

LIMIT: int = 3


def fits(size: int, *, wide: bool = True) -> bool:
    """At most 3."""
    log.info("size %d", size)
    if size <= LIMIT and not wide:
        check(size)
        return size == 0
    raise ValueError(f"{size + 1}")
'''


def test_changes_of_each_kind() -> None:
    assert [(mutant.function, mutant.before, mutant.after) for mutant in mutants("m", SOURCE)] == [
        ("module", "3", "4"),
        ("module", "3", "(2)"),
        ("fits", "True", "False"),
        ("fits", "size <= LIMIT and (not wide)", "(size <= LIMIT or not wide)"),
        ("fits", "size <= LIMIT", "(size < LIMIT)"),
        ("fits", "size <= LIMIT", "(size > LIMIT)"),
        ("fits", "not wide", "(wide)"),
        ("fits", "check(size)", "pass"),
        ("fits", "return size == 0", "return not (size == 0)"),
        ("fits", "size == 0", "(size != 0)"),
        ("fits", "0", "1"),
        ("fits", "0", "(-1)"),
        ("fits", "raise ValueError(f'{size + 1}')", "pass"),
    ]


def test_a_mutant_changes_its_place_only() -> None:
    (mutant,) = [one for one in mutants("m", SOURCE) if one.after == "(size < LIMIT)"]
    assert mutant.applied(SOURCE) == SOURCE.replace("size <= LIMIT", "(size < LIMIT)")
    assert mutant.line == 9
    text = 'x = "äöü" if a < b else "é"\n'
    assert mutants("m", text)[0].applied(text) == 'x = "äöü" if (a <= b) else "é"\n'


def test_equal_changes_of_a_function_have_numbers() -> None:
    names = [mutant.name for mutant in mutants("m.py", "def f():\n    g(1)\n    g(1)\n")]
    assert names[:2] == ["m.py f: g(1) -> pass", "m.py f: 1 -> 2"]
    assert "m.py f: g(1) -> pass #2" in names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.slow(seconds=3)
def test_every_mutant_of_a_sample_is_another_program(room: str) -> None:
    drawn = draw(80, 3, [room])
    assert len({mutant.name for _, mutant in drawn}) == 80
    for _, mutant in drawn:
        source = (REPO / mutant.path).read_text(encoding="utf-8")
        changed = ast.dump(ast.parse(mutant.applied(source)))
        assert changed != ast.dump(ast.parse(source)), mutant.name


@pytest.mark.slow(seconds=9)
def test_a_draw_is_stable_and_even() -> None:
    drawn = draw(7, 1, ROOMS)
    assert drawn == draw(7, 1, reversed(list(ROOMS)))
    assert [room for room, _ in drawn] == ["gates"] * 2 + ["masking"] * 2 + [
        "sampling",
        "selection",
        "snapshot",
    ]


@pytest.mark.slow(seconds=13)
def test_the_tests_nearest_to_the_changed_module_run_first_and_slow_ones_last() -> None:
    files = room_tests(["selection/scores.py"], ROOMS["selection"].tests, REPO)
    plan = steps("selection/scores.py", dict.fromkeys(files, 2.0), REPO)
    assert [step.mark for step in plan] == ["not slow", "not slow", "slow"]
    near, rest, slow = (set(step.files) for step in plan)
    assert "tests/selection/test_scores.py" in near
    assert all("selection" in (REPO / file).read_text(encoding="utf-8") for file in near)
    assert not near & rest and near | rest == slow == set(files)
    assert plan[2].seconds == 60 + 3 * 2 * len(files)


def test_distances_count_the_imports_between() -> None:
    imported_by = {"a.py": {"b.py", "test_a.py"}, "b.py": {"test_b.py", "a.py"}}
    assert import_distances("a.py", imported_by) == {
        "a.py": 0, "b.py": 1, "test_a.py": 1, "test_b.py": 2,
    }  # fmt: skip


def test_imports_are_those_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").write_text("from p.b import x\n")
    (tmp_path / "p" / "b.py").write_text("import json\n")
    (tmp_path / "test_p.py").write_text("from p import b\n")
    assert importers(tmp_path) == {
        "p/__init__.py": {"test_p.py"},
        "p/b.py": {"p/__init__.py", "test_p.py"},
        "test_p.py": set(),
    }


def test_a_pattern_without_a_file_is_an_error() -> None:
    with pytest.raises(FileNotFoundError, match=r"anonymization/gone: .*ROOMS"):
        matching_files(["selection", "anonymization/gone"], REPO)


@pytest.mark.slow
def test_the_tests_of_a_room_are_also_all_that_import_its_modules() -> None:
    files = room_tests(["data/snapshot/layout.py"], ["tests/data/snapshot"], REPO)
    assert "tests/data/snapshot/test_layout.py" in files
    assert "tests/data/snapshot/sample.py" not in files
    assert any(not file.startswith("tests/data/snapshot/") for file in files)


def test_survivors_count_against_and_equivalents_not_at_all() -> None:
    (mutant,) = mutants("m", "x = not y\n")
    rows = [Judged("gates", mutant, outcome, 1.0) for outcome in Outcome]
    assert kill_rate(rows) == 2 / 3
    assert kill_rate(rows[3:]) == 1.0


def test_equivalents_are_mutants_that_exist_and_have_a_reason() -> None:
    named = equivalents()
    paths = {name.partition(" ")[0] for name in named}
    known = {
        mutant.name
        for path in paths
        for mutant in mutants(path, (REPO / path).read_text(encoding="utf-8"))
    }
    assert set(named) <= known
    assert all(len(reason) > 20 for reason in named.values())


TESTED = "def f(x: int) -> bool:\n    return x > 1\n"


def room_of_one(folder: Path) -> Path:
    """A repository of one module and one test file, which leaves `x >= 1` unnoticed."""
    (folder / "m.py").write_text(TESTED)
    test = "import time\n\nfrom m import f\n\n\ndef test_f() -> None:\n"
    test += "    time.sleep(0.05)\n    assert f(2) and not f(0)\n"
    (folder / "test_m.py").write_text(test)
    return folder


@pytest.mark.slow(seconds=8)
def test_a_mutant_is_tried_in_a_copy_and_taken_back(tmp_path: Path) -> None:
    root = room_of_one(tmp_path)
    outcomes = {
        mutant.after: tried(root, mutant, steps("m.py", {"test_m.py": 1.0}, root))
        for mutant in mutants("m.py", TESTED)
    }
    assert outcomes["(x <= 1)"] == (Outcome.KILLED, "test_m.py::test_f")
    assert outcomes["(x >= 1)"] == (Outcome.SURVIVED, "")
    assert (tmp_path / "m.py").read_text() == TESTED


@pytest.mark.slow(seconds=3)
def test_the_time_of_each_test_file_is_measured_once_on_unchanged_code(tmp_path: Path) -> None:
    root = room_of_one(tmp_path)
    seconds = seconds_by_file(root, "one", ["test_m.py"])
    assert 0.05 <= seconds["test_m.py"] < 60
    (root / "m.py").write_text("def f(x: int) -> bool:\n    return False\n")
    with pytest.raises(SystemExit, match=r"the tests of one fail .* test_m.py::test_f"):
        seconds_by_file(root, "one", ["test_m.py"])


@pytest.mark.slow(seconds=30)
def test_a_stopped_run_goes_on_after_the_last_recorded_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = draw(2, 5, ["sampling"])
    tries: list[str] = []

    def noted(_root: Path, mutant: Mutant, _plan: Sequence[Step]) -> tuple[Outcome, str]:
        if len(tries) == 1:
            raise KeyboardInterrupt
        tries.append(mutant.name)
        return Outcome.KILLED, "test_x"

    monkeypatch.setattr(mutation, "tried", noted)
    monkeypatch.setattr(mutation, "seconds_by_file", lambda *_: {"tests/selection": 1.0})
    record = tmp_path / "outcomes.jsonl"
    with pytest.raises(KeyboardInterrupt):
        judge(drawn, Record(record))
    monkeypatch.setattr(mutation, "tried", lambda *_: (Outcome.SURVIVED, ""))
    judged = judge(drawn, Record(record))
    assert [row.outcome for row in judged] == [Outcome.KILLED, Outcome.SURVIVED]
    assert [row.by for row in judged] == ["test_x", ""]


def test_a_record_of_another_commit_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "outcomes.jsonl"
    record.write_text('{"commit": "0123456789ab"}\n')
    with pytest.raises(SystemExit, match="of commit 0123456789ab"):
        Record(record)


@pytest.mark.parametrize("room", ROOMS.values(), ids=ROOMS)
def test_every_pattern_of_a_room_matches_files(room: Room) -> None:
    for pattern in (*room.sources, *room.tests, *room.without):
        assert matching_files([pattern], REPO)
