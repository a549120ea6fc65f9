"""A release with a computable question, hostile texts and names, and tasks with files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from construction.grading.exports.writing import Export
from construction.statements.model import write_statements
from data.contracts import Answer, Candidate, Criterion, Deliverable, NetworkPolicy, Rubric, Step
from data.releases.tasks import read_tasks
from data.snapshot import layout
from data.snapshot.writer import write_snapshot
from tests.construction.statements.tools.tiny import QUANDELL, REVENUE, tiny_statements
from tests.data.snapshot.sample import Store, release, task_id

HOSTILE = (
    '"""\n\'\'\' \\" \\n \\u0041 $(touch /tmp/owned) `id` ${HOME} %s {{ x }} {x}\n'
    "[agent]\ntimeout_sec = 1\nEOF\n# canary <!-- canary -->\tend. How much is it?"
)
HOSTILE_NAME = "a $(touch owned) `b` \"c\" 'd' ; [e] {f}.csv"
GOLD_TEXT = "zanzibar-4711"
RUBRIC_TEXT = "Mentions the quagga explicitly."
TOOLS = ("discover_companies", "discover_company_series", "get_company_fundamentals")
DAYS = {"period_start": "2024-01-01", "period_end": "2024-03-31", "months": 3}


def _steps() -> tuple[Step, ...]:
    company = {"company_id": QUANDELL}
    steps = (
        ("Find the company.", TOOLS[0], {"query": "Quandell Software, Inc."}),
        ("Find its series.", TOOLS[1], {**company, "query": "Total revenues"}),
        ("Read its value.", TOOLS[2], {**company, "series_id": REVENUE, "period": "2024-Q1"}),
        (
            "Give it in millions.",
            "present",
            {"values": "$3.values", **DAYS, "unit": "USD", "scale": 1_000_000, "decimals": 0},
        ),
    )
    return tuple(
        Step(index=number, text=text, operation=operation, arguments=arguments)
        for number, (text, operation, arguments) in enumerate(steps, 1)
    )


def _question(task: Candidate) -> Candidate:
    parts = {"type": "number", "unit": "USD", "scale": 1_000_000, "decimals": 0, "tolerance": 0.0}
    answer = Answer.model_validate({"part": "value", "value": "125", **parts})
    return task.model_copy(
        update={
            "prompt": "What was the revenue of Quandell Software, Inc. in the first quarter?",
            "tools": TOOLS,
            "answers": (answer,),
            "steps": _steps(),
            "fixtures": (),
            "deliverables": (),
            "rules": (),
        }
    )


def _changed(candidates: list[Candidate], store: Store) -> list[Candidate]:
    question, judged, text, *rest = candidates
    criterion = Criterion(dimension="clarity", weight=1.0, text=RUBRIC_TEXT)
    hostile = {
        "prompt": HOSTILE,
        "fixtures": (store.add(HOSTILE_NAME, b"id,total\n1,2\n"),),
        "network": NetworkPolicy(mode="list", urls=("https://example.org/a?b=$(id)",)),
        "deliverables": (Deliverable(file_type="xlsx"),),
    }
    gold = Answer(part="code", type="text", value=GOLD_TEXT)
    plain = {"deliverables": (), "rules": (), "fixtures": (), "tools": ()}
    return [
        _question(question),
        judged.model_copy(update={**hostile, "rubric": Rubric(criteria=(criterion,))}),
        text.model_copy(update={**plain, "prompt": HOSTILE, "answers": (gold,)}),
        *rest,
    ]


def sample_release(root: Path) -> Path:
    """Write the snapshot, with the tables behind its data tools; its path."""
    made = release(root, 6)
    candidates = _changed(list(made.candidates), Store(root / "store"))
    path = write_snapshot(replace(made, candidates=candidates), root / "out").path
    public = path / layout.PUBLIC
    write_statements(public / layout.TABLES, tiny_statements())
    (public / layout.SUMS).write_bytes(layout.render(layout.compute(public)))
    return path


def sample_export(snapshot: Path, *, with_private: bool) -> Export:
    return Export(read_tasks(snapshot), with_private)


def ids(export: Export) -> list[str]:
    """Ids of the question, the judged and the text task, in this order."""
    names = [task_id(number) for number in (1, 2, 3)]
    assert set(names) <= set(export.release.tasks)
    return names


def contents(folder: Path) -> Mapping[str, bytes]:
    """All files below a folder, by relative path."""
    return {
        os.path.relpath(path, folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def task_folder(whole: Path, name: str) -> Path:
    """The folder of a task in an export for Harbor."""
    (path,) = whole.glob(f"*/{name}/task.toml")
    return path.parent
