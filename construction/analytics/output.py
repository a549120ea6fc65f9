"""Tasks on disk and as candidates of the pool: the public list, and the private half."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from construction.analytics.contracts import AnalyticTask, split_of
from construction.analytics.environment.declaration import Declaration
from construction.analytics.milestones import reference_steps
from construction.analytics.quotas import family_of
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, file_digest
from data.contracts import (
    Budget,
    Candidate,
    Disclosure,
    Evidence,
    Fixture,
    Label,
    Lane,
    Provenance,
)

TASKS, GOLD = "tasks.jsonl", "gold.jsonl"
_MEDIA = {
    ".csv": "text/csv",
    ".md": "text/markdown",
}
_PUBLIC = ("task_id", "category", "difficulty", "difficulty_rule", "language")


def write_tasks(out: Path, tasks: Sequence[AnalyticTask]) -> None:
    """The public list: what an agent is told, and nothing of how it is solved."""
    write_bytes(out / TASKS, b"".join(public_line(task) + b"\n" for task in tasks))


def public_line(task: AnalyticTask) -> bytes:
    """The line of a task in the public list."""
    shown = {name: getattr(task, name) for name in _PUBLIC}
    return canonical_json(shown | {"prompt": prompt_of(task)})


def write_gold(out: Path, tasks: Sequence[AnalyticTask]) -> None:
    """The private half: programmes, answers, milestones, noise."""
    lines = [canonical_json(task.model_dump(mode="json")) + b"\n" for task in tasks]
    write_bytes(out / GOLD, b"".join(lines), mode=PRIVATE_FILE)


def read_gold(folder: Path) -> list[AnalyticTask]:
    """The tasks that `write_gold` wrote."""
    lines = (folder / GOLD).read_bytes().splitlines()
    return [AnalyticTask.model_validate(orjson.loads(line)) for line in lines]


def prompt_of(task: AnalyticTask) -> str:
    return f"{task.question}\n\n{task.guidelines}"


def fixtures_of(folder: Path, environment: str) -> list[Fixture]:
    """The files of a variant as inputs of tasks: the same for all of them."""
    return [
        Fixture(
            path=path.relative_to(folder).as_posix(),
            sha256=file_digest(path),
            bytes=path.stat().st_size,
            media_type=_MEDIA.get(path.suffix, "text/plain"),
            environment=environment,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def candidate_of(
    task: AnalyticTask,
    declaration: Declaration,
    fixtures: Sequence[Fixture],
    opaque: Callable[[str], str],
) -> Candidate:
    """The candidate of a task; `fixtures` are the files of the variant that agents get."""
    files = [declaration.files[name] for name in task.files]
    disclosures = {file.disclosure for file in files}
    anonymized = Disclosure.ANONYMIZED in disclosures
    licences = sorted({file.licence for file in files if file.licence})
    family, why = family_of(task.category), f"category {task.category}"
    return Candidate(
        task_id=opaque(task.task_id),
        lane=Lane.ANALYTICS,
        prompt=task.question,
        language=task.language,
        task_family=Label(value=family, confidence=1.0, reason=why),
        business_task=f"Analyse: {task.category.replace('_', ' ')}",
        execution_surface="workspace",
        difficulty=task.difficulty,
        difficulty_rule=task.difficulty_rule,
        split=split_of(len(task.parts)),
        guidelines=task.guidelines,
        fixtures=tuple(fixtures),
        tools=("shell",),
        budget=Budget(turns=60, seconds=1200),
        answers=task.answers,
        steps=reference_steps(task.program, task.parts),
        milestones=task.milestones,
        evidence=Evidence(retrieval=True, accuracy=True),
        provenance=Provenance(
            source=declaration.name,
            source_format="environment",
            item_id=task.task_id,
            disclosure=Disclosure.ANONYMIZED if anonymized else Disclosure.PUBLIC,
            licence="; ".join(licences) or None,
            detail={"template": task.template, "noise": list(task.noise)},
        ),
    )
