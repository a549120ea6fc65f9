"""Mutants: which changes are made, that each is a program, and that a draw is stable."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks import mutation
from benchmarks.mutants import mutants
from benchmarks.mutation import ROOMS, Judged, Outcome, draw, equivalents, kill_rate, ordered_tests
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
def test_every_mutant_of_a_sample_is_another_program(room: str) -> None:
    drawn = draw(80, 3, [room])
    assert len({mutant.name for _, mutant in drawn}) == 80
    for _, mutant in drawn:
        source = (REPO / mutant.path).read_text(encoding="utf-8")
        changed = ast.dump(ast.parse(mutant.applied(source)))
        assert changed != ast.dump(ast.parse(source)), mutant.name


def test_a_draw_is_stable_and_even() -> None:
    drawn = draw(7, 1, ROOMS)
    assert drawn == draw(7, 1, reversed(list(ROOMS)))
    assert [room for room, _ in drawn] == ["gates"] * 2 + ["masking"] * 2 + [
        "sampling",
        "selection",
        "snapshot",
    ]


def test_the_tests_of_the_changed_module_run_first() -> None:
    (mutant,) = mutants("selection/scores.py", "x = not y\n")
    files = ordered_tests(mutant, ROOMS["selection"].tests, REPO)
    assert "selection.scores" in (REPO / files[0]).read_text(encoding="utf-8")
    assert all(Path(file).name.startswith("test_") for file in files)


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


def test_a_mutant_is_tried_in_a_copy_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.py").write_text("def f(x: int) -> bool:\n    return x > 1\n")
    test = "from m import f\n\n\ndef test_f() -> None:\n    assert f(2) and not f(0)\n"
    (tmp_path / "test_m.py").write_text(test)
    source = (tmp_path / "m.py").read_text()
    outcomes = {
        mutant.after: mutation._tried(tmp_path, mutant, ["test_m.py"], 60)
        for mutant in mutants("m.py", source)
    }
    assert outcomes["(x <= 1)"] == (Outcome.KILLED, "test_m.py::test_f")
    assert outcomes["(x >= 1)"] == (Outcome.SURVIVED, "")
    assert (tmp_path / "m.py").read_text() == source
