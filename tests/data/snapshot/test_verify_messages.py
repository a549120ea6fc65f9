"""What a finding says: the file, the line or stage, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data.snapshot import verification, verification_files
from data.snapshot.verification import verify
from data.snapshot.verification_files import Findings
from tests.data.snapshot.damage import (
    Damage,
    append,
    edit_json,
    edit_rows,
    first_input,
    first_task,
    put,
    reseal,
)


def _rows(change: Any) -> Damage:
    return lambda snapshot: edit_rows(snapshot, change)


def _stage(number: int, **values: object) -> Damage:
    def change(funnel: Any) -> None:
        funnel["stages"][number].update(values)

    return lambda snapshot: edit_json(snapshot / "public/audit/funnel.json", change)


def _manifest(name: str, n: int) -> Damage:
    def change(manifest: Any) -> None:
        manifest["counts"][name] = n

    return lambda snapshot: edit_json(snapshot / "public/manifest.json", change)


DAMAGES: list[tuple[Damage, str, str]] = [
    (_rows(lambda rows: rows.insert(2, 7)), "public/tasks.jsonl:3",
     "found int, expected an object"),
    (lambda s: append(s / "public/tasks.jsonl", b"{\n"), "public/tasks.jsonl:19",
     "1 bytes that are not JSON"),
    (lambda s: append(s / "public/tasks.jsonl", b"{"), "public/tasks.jsonl",
     "the last line is incomplete"),
    (_rows(lambda rows: rows.append(rows[0])), "public/tasks.jsonl:19",
     "a task ID that was already listed"),
    (_rows(lambda rows: rows[1].update(answers=[], rubric={})), "public/tasks.jsonl:2",
     "has answers, rubric"),
    (_rows(lambda rows: rows[0].pop("canary")), "public/tasks.jsonl:1", "lacks the canary"),
    (_rows(lambda rows: rows[0].update(task_id="a/b")), "public/tasks.jsonl:1",
     "a task id that is not a valid directory name"),
    (lambda s: (first_task(s) / "task.yaml").unlink(), "/task.yaml",
    "the task is missing this file"),
    (lambda s: put(first_task(s) / "inputs/more.csv", b""), "/inputs/more.csv",
     "belongs to no task"),
    (lambda s: append(first_input(s), b"x"), "/inputs/orders.csv", "not the recorded digest"),
    (_rows(lambda rows: rows[0]["fixtures"][0].update(bytes=1)), "/inputs/orders.csv",
     "not the recorded size"),
    (_manifest("tasks", 17), "public/manifest.json", "counts 17 tasks, the tasks have 18"),
    (_stage(1, n_in=-1), "public/audit/funnel.json", "stage 2: counts must be whole numbers"),
    (_stage(0, n_in=True), "public/audit/funnel.json", "stage 1: counts must be whole numbers"),
    (_stage(0, kind="other"), "public/audit/funnel.json", "stage 1: an unknown kind"),
    (_stage(0, unit=1), "public/audit/funnel.json",
     "stage 1: stage, kind and unit must be texts"),
    (_stage(0, made=[]), "public/audit/funnel.json",
     "stage 1: outcomes and made must be objects"),
    (lambda s: put(s / "public/audit/statistics.json", b"[1]"), "public/audit/statistics.json",
     "found list, expected a JSON object"),
    (lambda s: put(s / "public/audit/statistics.json", b"{x"), "public/audit/statistics.json",
     "2 bytes that are not JSON"),
    (lambda s: edit_json(s / "public/audit/statistics.json", lambda d: d.pop("lanes")),
     "public/audit/statistics.json", "lanes does not match the tasks"),
    (lambda s: put(first_task(s) / "task.yaml", b"- 1\n"), "/task.yaml", "not a YAML mapping"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "path", "problem"), DAMAGES)
def test_a_finding_says_where_and_what(
    snapshot: Path, damage: Damage, path: str, problem: str
) -> None:
    damage(snapshot)
    reseal(snapshot)
    findings = verify(snapshot).findings
    matching = [f for f in findings if f.path.endswith(path) and f.problem == problem]
    assert len(matching) == 1, findings


def test_a_task_is_nested_at_most_100_levels_deep() -> None:
    for depth, deep in ((100, False), (101, True)):
        nested = b"a: " + b"[" * (depth - 1) + b"]" * (depth - 1)
        document = verification._load_yaml(nested)
        assert (document == "nested deeper than 100 levels") is deep
    wide = b"a: [" + b"[x], " * 300 + b"]"
    assert isinstance(verification._load_yaml(wide), dict)


def test_a_task_has_at_most_16_mib() -> None:
    head, limit = b"a: ", 16 * 1024 * 1024
    whole = head + b"x" * (limit - len(head))
    assert isinstance(verification._load_yaml(whole), dict)
    assert verification._load_yaml(whole + b"x") == "larger than 16 MiB"


def test_a_document_has_at_most_512_mib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verification_files.LARGEST_DOCUMENT == 512 * 1024 * 1024
    monkeypatch.setattr(verification_files, "LARGEST_DOCUMENT", 10)
    file = tmp_path / "a.json"
    cases: list[tuple[int, list[str]]] = [(10, []), (11, ["larger than 512 MiB"])]
    for size, problems in cases:
        file.write_bytes(b"x" * size)
        findings = Findings()
        content = verification_files.read({"a.json": file}, "a.json", "public", findings)
        assert (content is None) is bool(problems)
        assert [finding.problem for finding in findings.items] == problems
