"""Repairs of real size: faults that show alone and interact, and shortcuts that fail."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from construction.grading.programs import STDOUT, Program, Run
from construction.workflows.repair import faulty_programs
from construction.workflows.repair.aftermath import read_aftermath
from construction.workflows.repair.catalogue import (
    BY_NAME,
    _solved,
    candidate_of,
    graded,
    own_programs,
    screen_repair,
    spec_of_repair,
)
from construction.workflows.repair.drafts import RepairDraft
from construction.workflows.repair.faulty_programs import NAMES, _case_output, _staged
from construction.workflows.repair.working_program import (
    FOLDER,
    edited,
    read_program,
    run_project,
)
from construction.workflows.screening import ScreeningConfig, ScreenReason
from tests.needs import needs_box

FAULTS = [(name, fault) for name in NAMES for fault in read_program(name).faults]
PAIRS = [(name, pair) for name in NAMES for pair in read_program(name).pairs]


@cache
def drafted(name: str, number: int = 1, seed: int = 11) -> RepairDraft:
    return BY_NAME[name].build(number, seed)


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with own_programs() as programs:
        yield programs


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_of_real_size_and_has_faults_and_pairs_enough(name: str) -> None:
    program = read_program(name)
    source = [data for path, data in program.project.items() if path.endswith(".py")]
    assert 600 <= sum(len(data.decode().splitlines()) for data in source) <= 3000
    assert len([path for path in program.project if path.startswith(f"{name}/")]) >= 10
    assert len(program.faults) >= 6 and len(program.pairs) >= 8
    assert {each for fault in program.faults.values() for each in fault.interacts} <= {
        *program.faults
    }


@pytest.mark.parametrize("name", NAMES)
def test_programs_need_the_standard_library_alone(name: str) -> None:
    allowed = {name, "__future__", *sys.stdlib_module_names}
    for path, data in read_program(name).project.items():
        for node in ast.walk(ast.parse(data)) if path.endswith(".py") else ():
            if isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= allowed
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").partition(".")[0] in allowed


@pytest.mark.parametrize("name", NAMES)
def test_each_fault_can_be_undone_also_beside_all_others(name: str) -> None:
    program = read_program(name)
    every = dict(program.project)
    for fault in program.faults.values():
        every = edited(every, fault.edits)
    for kept in program.faults:
        alone = every
        for other, fault in program.faults.items():
            alone = edited(alone, fault.edits, undo=True) if other != kept else alone
        assert alone == edited(program.project, program.faults[kept].edits), kept


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_a_pair_and_two_silent_faults_and_no_two_are_alike(name: str) -> None:
    program = read_program(name)
    assert [names[:2] for names in program.rules.values()] == [*program.pairs]
    assert {len({*names}) for names in program.rules.values()} == {4}
    assert len({frozenset(names) for names in program.rules.values()}) == len(program.pairs)


@pytest.mark.slow(seconds=60)
@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_fault_shows_in_its_case_alone_and_in_no_visible_test(name: str, fault: str) -> None:
    program = read_program(name)
    tree = edited(program.project, program.faults[fault].edits)
    data = faulty_programs._data(name, "11/1/0")
    lost = {
        case
        for case, files in data.items()
        if case != "sample"
        and _case_output(program, tree, files) != _case_output(program, program.project, files)
    }
    assert lost == {fault}
    run_project(tree, ["python3 -m unittest"])  # raises if a test fails


@pytest.mark.slow(seconds=60)
@pytest.mark.parametrize(("name", "pair"), PAIRS)
def test_a_pair_that_is_declared_to_interact_does(name: str, pair: tuple[str, str]) -> None:
    program = read_program(name)
    assert any(_staged(program, pair, f"11/{n}").interacts for n in range(4))


@pytest.mark.parametrize(
    "name",
    [name if name == "ratebook" else pytest.param(name, marks=pytest.mark.slow) for name in NAMES],
)
def test_a_request_tells_symptoms_and_no_cause(name: str) -> None:
    draft = drafted(name)
    program = read_program(name)
    assert not any(slot in draft.prompt for slot in "{}")
    assert not any(file in draft.prompt for fault in draft.rule.split("+")
                   for file, _, _ in program.faults[fault].edits)  # fmt: skip
    task = candidate_of(draft, BY_NAME[name], "w-1")
    assert task.split == ("full" if read_aftermath(name) else "smoke")
    assert [fixture.path for fixture in task.fixtures] == [f"{name}.tar"]
    archive = ("archive_search_papers", "archive_get_paper") if draft.world else ()
    assert task.tools == ("shell", "read_file", "write_file", *archive)
    assert (task.structure and task.structure.services) == len(archive) // 2


@pytest.mark.slow
def test_a_draft_is_the_same_again_and_another_under_another_seed() -> None:
    again, other = (BY_NAME["ratebook"].build(1, seed) for seed in (11, 12))
    draft = drafted("ratebook")
    assert (again.inputs, again.prompt, again.checks) == (draft.inputs, draft.prompt, draft.checks)
    assert again.world == draft.world != other.world
    assert other.inputs != draft.inputs


@needs_box
def test_the_box_of_all_programs_does_not_fill_up(run: Run) -> None:
    fill = Program({"start": b""}, "head -c 60000000 /dev/zero > kept && echo done", 60.0)
    done = [run(fill) for _ in range(5)]  # more than its disk, together
    assert [(each.code, each.files[STDOUT]) for each in done] == [(0, b"done\n")] * 5


@needs_box
@pytest.mark.slow(seconds=60)
@pytest.mark.parametrize("name", NAMES)
def test_a_draft_passes_its_screening(name: str, run: Run) -> None:
    draft = drafted(name)
    seen = screen_repair(draft, BY_NAME[name], run, ScreeningConfig())
    assert (seen.reason, seen.tried.mutants) == (None, len(draft.checks))


@needs_box
def test_half_a_repair_and_shortcuts_fail_for_their_reason(run: Run) -> None:
    draft = drafted("ratebook")
    spec = spec_of_repair(draft)
    faults = [*draft.rule.split("+"), "written_off"]
    lost = []
    for files in draft.attacks:
        score = graded(spec, files, run, 0.8)
        assert score.passed is False
        lost.append({part.name.removeprefix("check.") for part in score.parts if part.value != 1})
    assert lost[:5] == [{name} for name in faults]  # each has all but one mended
    assert all({*faults} <= names for names in lost[5:9])
    program_only, ledger_only, *others = lost[9:]
    assert (program_only, ledger_only) == ({"ledger"}, {*faults})
    assert [names & {"ledger", *faults} for names in others] == [{"ledger"}] * 2


@needs_box
def test_a_fault_that_the_inputs_do_not_show_is_no_task(run: Run) -> None:
    draft = drafted("ratebook")
    repair = BY_NAME["ratebook"]
    mended = _solved(repair, draft.rule, draft.inputs, draft.world)
    seen = screen_repair(
        replace(draft, inputs={**mended}),
        replace(repair, solve=lambda rule, files, world: files),
        run,
        ScreeningConfig(),
    )
    assert seen.reason == ScreenReason.PASSED_BY_NULL


def test_text_that_does_not_stand_there_once_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a\.py: found 'x' 2 times; expected it once"):
        edited({"a.py": b"x = x"}, [("a.py", "x", "y")])


def test_every_program_folder_is_known() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == set(NAMES) and set(NAMES) <= BY_NAME.keys()
