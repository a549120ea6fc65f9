"""Output files as graded parts: rules as columns, and what counts as own work."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from construction.grading import file_child
from construction.grading.attacks import LOREM, holding, look_here, shell
from construction.grading.file_look import RuleLimits, Seen, look
from construction.grading.file_types import TYPES
from construction.grading.hard_rules import DELIVERABLES, FileReason, _look_at_outputs, grade_files
from construction.grading.spec import RuleSpec, TaskSpec, spec_of
from construction.judging.baseline.grade import _hard_rules
from data.contracts import Deliverable
from data.contracts.attempt import ScorePart

PROMPT = (
    "Write a review of the quarterly revenue for the board, with the three largest changes.\n"
    "收入增长多少？\n\nInput files:\n- inputs/revenue.csv\n\nDeliver: result"
)
WORK = "Revenue rose by 12 % to 41.3 million; the north grew most, the west lost two customers."
# The request allows what the hard rules find by words, so that only `deliverables` can object.
TEMPLATE = "a {{ template }} with a traceback"
HOLD_TEXT = [kind for kind in TYPES if holding(kind, WORK) is not None]


def task(kind: str, *names: str, count: int = 1, inputs: tuple[bytes, ...] = ()) -> TaskSpec:
    requests = Deliverable(file_type=kind, count=count, name_hints=names)
    rules = [rule.model_dump() for rule in _hard_rules([requests], TEMPLATE)]
    digests = [{"sha256": hashlib.sha256(data).hexdigest()} for data in inputs]
    return spec_of({"task_id": "t", "prompt": PROMPT, "rules": rules, "fixtures": digests})


def graded(spec: TaskSpec, folder: Path | None, **files: bytes) -> ScorePart:
    """The part `deliverables` of files by name, in which `__` stands for the dot."""
    if folder is not None:
        for name, data in files.items():
            (folder / name.replace("__", ".")).write_bytes(data)
    part = grade_files(spec, folder, look=look_here)[-1]
    assert (part.name, part.required, part.weight, part.deterministic) == (
        DELIVERABLES,
        True,
        0.0,
        True,
    )
    return part


def content(kind: str, text: str) -> bytes:
    data = holding(kind, text)
    assert data is not None
    return data


def test_each_rule_is_a_column_without_weight(tmp_path: Path) -> None:
    spec = task("md", "result.md", count=2)
    (tmp_path / "result.md").write_text(WORK)
    parts = grade_files(spec, tmp_path)
    assert [part.name for part in parts] == [f"rule.{r.rule_id}" for r in spec.rules] + [
        DELIVERABLES
    ]
    assert {part.weight for part in parts} == {0.0}
    failed = {part.name: part.reason for part in parts if part.value == 0}
    assert failed == {
        "rule.count.md": "rules.too_few_files",
        DELIVERABLES: "rules.too_few_files",
    }


def test_a_task_without_rules_has_no_part(tmp_path: Path) -> None:
    assert grade_files(TaskSpec("t"), tmp_path) == ()


def test_nothing_delivered_fails_for_the_missing_file(tmp_path: Path) -> None:
    assert graded(task("md"), None).reason == "rules.missing_file"
    assert graded(task("md"), tmp_path).reason == "rules.missing_file"


@pytest.mark.parametrize("kind", [kind for kind in HOLD_TEXT if kind not in ("py", "sh", "js")])
def test_a_text_of_ones_own_is_work(kind: str, tmp_path: Path) -> None:
    if TYPES[kind].kind == "code" and kind != "ipynb":
        data = b"SELECT total FROM revenue; a { color: red }\n"
    else:
        data = content(kind, f"{WORK}\n{WORK}")
    part = graded(task(kind), tmp_path, **{f"result__{kind}": data})
    assert (part.value, part.reason) == (1.0, None)


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_the_empty_shell_of_every_type_is_no_work(kind: str, tmp_path: Path) -> None:
    part = graded(task(kind), tmp_path, **{f"result__{kind}": shell(kind)})
    assert (part.value, part.reason) == (0.0, FileReason.EMPTY_SHELL)


@pytest.mark.parametrize("kind", HOLD_TEXT)
def test_filler_and_the_pasted_prompt_are_no_work(kind: str, tmp_path: Path) -> None:
    for title, text in (("filler", f"{LOREM}\n{LOREM}"), ("prompt", PROMPT)):
        folder = tmp_path / title
        folder.mkdir()
        part = graded(task(kind), folder, **{f"result__{kind}": content(kind, text)})
        no_code = TYPES[kind].kind == "code" and kind != "ipynb"  # it is all comments
        expected = {"filler": FileReason.FILLER, "prompt": FileReason.REPEATS_PROMPT}[title]
        assert part.reason == (FileReason.EMPTY_SHELL if no_code else expected)


def test_a_copied_input_is_no_work_but_does_no_harm_beside_work(tmp_path: Path) -> None:
    data = b"region,revenue\nnorth,12\n"
    spec = task("csv", "result.csv", inputs=(data,))
    assert graded(spec, tmp_path, result__csv=data).reason == FileReason.COPIED_INPUT
    (tmp_path / "result.csv").unlink()
    part = graded(spec, tmp_path, revenue__csv=data, result__csv=b"region,change\nnorth,3\n")
    assert (part.value, part.reason) == (1.0, None)


def test_where_a_copy_is_asked_for_a_copied_input_is_the_work(tmp_path: Path) -> None:
    data = b"region,revenue\nnorth,12\n"
    spec = task("csv", "backup.csv", inputs=(data,))
    forms = [look(data, TYPES["csv"], RuleLimits()).form]
    same = RuleSpec("same.csv", "same", {"extensions": ["csv"], "forms": forms}, "")
    spec = replace(spec, rules=(*spec.rules, same))
    assert graded(spec, tmp_path, backup__csv=data).value == 1.0
    assert graded(spec, tmp_path, backup__csv=b"region,revenue\nsouth,9\n").reason == (
        "rules.altered"
    )


def test_as_many_files_of_own_work_as_asked(tmp_path: Path) -> None:
    spec = task("md", count=2)
    part = graded(spec, tmp_path, a__md=WORK.encode(), b__md=LOREM.encode())
    assert part.reason == FileReason.FILLER
    assert graded(spec, tmp_path, c__md=WORK.encode()).value == 1.0


def test_a_text_that_the_prompt_gives_may_be_handed_back_without_the_request(
    tmp_path: Path,
) -> None:
    given = f"{WORK} " * 20
    spec = task("md")
    spec = TaskSpec(
        "t", f"Correct the mistakes in this text and save it: {given}", rules=spec.rules
    )
    assert graded(spec, tmp_path, result__md=given.encode()).value == 1.0
    assert graded(spec, tmp_path, result__md=spec.prompt.encode()).value == 0.0


@pytest.mark.parametrize(
    "text", ["test\n" * 30, "占位符 待补充", "placeholder text here", "\n# --\n"]
)
def test_dummy_words_are_filler_or_nothing(text: str, tmp_path: Path) -> None:
    part = graded(task("txt"), tmp_path, result__txt=text.encode())
    assert part.reason in (FileReason.FILLER, FileReason.EMPTY_SHELL)


def test_identical_files_are_looked_at_once(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text(WORK)
    (tmp_path / "other.md").write_text("other")
    opened: list[str] = []

    def look(folder: Path, names: Sequence[str], limits: RuleLimits) -> list[Seen]:
        opened.extend(names)
        return [Seen(items=1) for _ in names]

    outputs = _look_at_outputs(task("md").rules, tmp_path, look=look)
    assert opened == ["0.md", "other.md"]
    assert len(outputs.files) == 6


def test_a_file_that_kills_its_process_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for the module kills the process in which one of three files is looked at."""
    package = tmp_path / "hostile"
    package.mkdir()
    (package / "__init__.py").write_text("")
    source = Path(file_child.__file__).read_text(encoding="utf-8")
    killer = "    if name == 'b.md':\n        os.kill(os.getpid(), 9)\n"
    source = source.replace("    status = 1\n", f"    status = 1\n{killer}")
    (package / "child.py").write_text(source)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    child = importlib.import_module("hostile.child")

    folder = tmp_path / "outputs"
    folder.mkdir()
    for name in ("a.md", "b.md", "c.md"):
        (folder / name).write_text(WORK)
    seen = child.look_in_children(folder, ["a.md", "b.md", "c.md"], RuleLimits())
    assert [item.trouble for item in seen] == ["", "crashed", ""]


def test_a_folder_costs_one_start(tmp_path: Path) -> None:
    names = [f"{number}.json" for number in range(40)]
    for name in names:
        (tmp_path / name).write_text(f'{{"number": "{name}"}}')
    before = os.times()
    seen = file_child.look_in_children(tmp_path, names, RuleLimits())
    used = os.times()
    assert {item.trouble for item in seen} == {""}
    spent = used.children_user + used.children_system
    assert spent - before.children_user - before.children_system < 8  # seconds; alone: 0.2 each
