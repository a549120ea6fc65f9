"""Analytic tasks on disk: the public list, the private half and the candidates of the pool are
written; the tasks of a release are read back, with their programmes and the tables of its files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import polars as pl
from pydantic import ValidationError

from construction.analytics import steps as s
from construction.analytics.answers import (
    milestones_of,
    program_of_steps,
    reference_steps,
    written_parts,
)
from construction.analytics.archive import Archive, archived_file
from construction.analytics.config import Variant, family_of
from construction.analytics.contracts import UNDECIDED, AnalyticTask, Language, Part
from construction.analytics.environment.declaration import Declaration
from construction.analytics.environment.variants import (
    clean_tables,
    documents,
    read_clean,
    read_files,
)
from construction.analytics.execute_polars import StepFailedError, run
from construction.workflows.declaration import has_services, tools_of
from construction.workflows.runs import CALLS
from construction.workflows.world_file import ARCHIVE, WORLDS, read_world, write_world
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, file_digest, pretty_json
from data.contracts import (
    Answer,
    Budget,
    Candidate,
    Disclosure,
    Evidence,
    Fixture,
    Label,
    Lane,
    Milestone,
    Provenance,
    Step,
    Structure,
)
from data.contracts.attempt import Submission
from data.errors import InputError
from data.releases.tasks import ReleasedTasks
from data.snapshot import layout

TASKS, _GOLD = "tasks.jsonl", "gold.jsonl"
_MEDIA = {
    ".csv": "text/csv",
    ".md": "text/markdown",
}
_TURNS, _SECONDS = 60, 1200  # over files alone
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
    write_bytes(out / _GOLD, b"".join(lines), mode=PRIVATE_FILE)


def read_gold(folder: Path) -> list[AnalyticTask]:
    """The tasks that `write_gold` wrote."""
    lines = (folder / _GOLD).read_bytes().splitlines()
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
    """The candidate of a task; `fixtures` are the files of the variant that agents get.

    The world of an archive is released apart, to graders and runners alone.
    """
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
        split=task.split,
        guidelines=task.guidelines,
        fixtures=tuple(fixtures),
        tools=("shell", *(_archive_tools() if task.archive else ())),
        budget=_budget(task),
        structure=_structure(task, declaration),
        answers=task.answers,
        steps=reference_steps(task.program, task.parts),
        milestones=task.milestones,
        evidence=Evidence(retrieval=True, accuracy=True),
        provenance=_provenance(task, declaration),
    )


def _provenance(task: AnalyticTask, declaration: Declaration) -> Provenance:
    files = [declaration.files[name] for name in task.files]
    anonymized = Disclosure.ANONYMIZED in {file.disclosure for file in files}
    licences = sorted({file.licence for file in files if file.licence})
    return Provenance(
        source=declaration.name,
        source_format="environment",
        item_id=task.task_id,
        disclosure=Disclosure.ANONYMIZED if anonymized else Disclosure.PUBLIC,
        licence="; ".join(licences) or None,
        detail={"template": task.template, "noise": list(task.noise)},
    )


def _archive_tools() -> tuple[str, ...]:
    return tuple(tool.name for tool in tools_of([ARCHIVE]))


def _budget(task: AnalyticTask) -> Budget:
    """What every agent has, and turns for the requests to an archive, several in each."""
    requests = task.archive.allowance if task.archive else 0
    turns = _TURNS - (-requests // CALLS)
    return Budget(turns=turns, seconds=_SECONDS * turns // _TURNS)


def _structure(task: AnalyticTask, declaration: Declaration) -> Structure | None:
    name = archived_file(declaration)
    if task.archive is None or name is None:
        return None
    papers = len(declaration.files[name].texts)
    return Structure(records=papers, overriding=0, services=1, calls=task.archive.requests)


def write_worlds(
    out: Path, tasks: Sequence[AnalyticTask], archive: Archive, opaque: Callable[[str], str]
) -> None:
    """The archive as each task has it."""
    for task in tasks:
        if task.archive is not None:
            path = out / WORLDS / f"{opaque(task.task_id)}.json"
            write_world(path, archive.world(task.archive.allowance))


DECLARATION, NOISE = "declaration.json", "noise.json"
FILES = "files"  # in the output of a stage: the files of the variant
_PAPERS = "papers"  # in the declaration of a release: what no file has


class StepsDoNotRunError(Exception):
    """The reference steps are none, or give no result on the released files."""


@dataclass(frozen=True, slots=True)
class ReleasedTask:
    """What grades an analytic task, as the private half has it."""

    task_id: str
    language: Language
    guidelines: str
    environment: str
    program: s.Program
    parts: tuple[Part, ...]
    answers: tuple[Answer, ...]
    milestones: tuple[Milestone, ...]
    allowance: int | None = None  # of requests to an archive


@dataclass(frozen=True, slots=True)
class ReleasedEnvironment:
    """An environment over its released files, and the clean tables that they give."""

    declaration: Declaration
    variant: Variant
    tables: Mapping[str, pl.DataFrame]


def write_declaration(
    out: Path, declaration: Declaration, variant: Variant, archive: Archive | None = None
) -> None:
    """Write what reads the released files; private. `declaration`: over the raw variant."""
    papers = {} if archive is None else {archive.file: dict(archive.texts)}
    content = {
        "variant": variant,
        "declaration": declaration.model_dump(mode="json"),
        _PAPERS: papers,
    }
    write_bytes(out / DECLARATION, pretty_json(content), mode=PRIVATE_FILE)


def read_released(release: ReleasedTasks, environment: str) -> ReleasedEnvironment:
    """The clean tables of an environment, from the released files alone.

    Raises InputError without the private half, or if it is not readable.
    """
    home = f"{layout.ENVIRONMENTS}/{environment}"
    if release.private is None:
        expected, todo = "private/ beside public/", "Restore the private half."
        raise InputError(release.snapshot, "the private half is missing", expected, todo)
    return read_environment(release.private / home / DECLARATION, release.public / home)


def read_environment(path: Path, folder: Path) -> ReleasedEnvironment:
    """The clean tables that the files in `folder` give, by the declaration at `path`.

    Raises InputError.
    """
    try:
        content = orjson.loads(path.read_bytes())
        declaration = Declaration.model_validate(content["declaration"])
        variant: Variant = content["variant"]
        papers = {name: documents(texts) for name, texts in content[_PAPERS].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        expected, todo = "the declaration of a release", "Restore the release."
        raise InputError(str(path), type(error).__name__, expected, todo) from error
    if variant == "raw":
        tables = clean_tables(declaration, read_files(folder, declaration, papers))
    else:
        tables = read_clean(declaration, folder, papers)
    return ReleasedEnvironment(declaration, variant, tables)


def walker_of(output: Path) -> Callable[[Candidate], Submission | None]:
    """What walks the steps of candidates on the files in the output of the analytics lane.

    None is the result for steps that lead to no answer. Raises InputError.
    """
    tables = read_environment(output / DECLARATION, output / FILES).tables

    def walk(candidate: Candidate) -> Submission | None:
        try:
            program, parts = program_of_steps(candidate.steps)
            return submission_of(program, parts, tables)
        except (StepsDoNotRunError, ValidationError):
            return None

    return walk


def read_analytics(release: ReleasedTasks) -> list[ReleasedTask]:
    """The analytic tasks of a release with what grades them. Raises InputError."""
    tasks = []
    for task_id, task in sorted(release.tasks.items()):
        candidate = task.candidate
        if candidate.lane is not Lane.ANALYTICS:
            continue
        whole = release.grading(task_id)
        names = sorted({f.environment for f in candidate.fixtures if f.environment is not None})
        try:
            program, parts = program_of_steps([Step.model_validate(v) for v in whole["steps"]])
            (environment,) = names
        except (ValidationError, ValueError) as error:
            expected = "typed steps over the files of one environment"
            raise InputError(
                f"{release.snapshot}: {task_id}", type(error).__name__, expected, "Rebuild it."
            ) from error
        tasks.append(
            ReleasedTask(
                task_id,
                "zh" if candidate.language.startswith("zh") else "en",
                candidate.guidelines,
                environment,
                program,
                parts,
                tuple(map(Answer.model_validate, whole["answers"])),
                tuple(map(Milestone.model_validate, whole["milestones"])),
                _allowance(release, candidate),
            )
        )
    return tasks


def _allowance(release: ReleasedTasks, candidate: Candidate) -> int | None:
    if not has_services(candidate):
        return None
    return read_world(release.world(candidate.task_id)).allowance


def submission_of(
    program: s.Program, parts: Sequence[Part], tables: Mapping[str, pl.DataFrame]
) -> Submission:
    """What an analyst who walks the steps submits: the milestones on the way, then the answer.

    Raises StepsDoNotRunError.
    """
    try:
        results = run(program, tables)
        written = written_parts(parts, results)
    except StepFailedError as error:
        raise StepsDoNotRunError(str(error)) from error
    except (IndexError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        # A result of another kind than the answer has, such as rows for a number.
        raise StepsDoNotRunError(type(error).__name__) from error
    numeric = [
        part.decimals is not None and text != UNDECIDED
        for part, text in zip(parts, written, strict=True)
    ]
    answer = answer_text([part.part for part in parts], written, numeric)
    said = [
        (milestone.step or 0, f"{', '.join(milestone.context[:1])}: {milestone.value}")
        for milestone in milestones_of(program, results, ())
    ]
    last = len(program) + 1
    return Submission(answer=answer, statements=(*said, (last, answer)), steps=last)


def answer_text(names: Sequence[str], written: Sequence[str], numeric: Sequence[bool]) -> str:
    """An answer as the guidelines ask for it: the value, or a JSON object of the parts.

    `numeric`: which parts are numbers; they keep their decimals in JSON.
    """
    if len(written) == 1:
        return written[0]
    values = [
        value if is_number or value.startswith("[") else json.dumps(value, ensure_ascii=False)
        for value, is_number in zip(written, numeric, strict=True)
    ]
    pairs = (f"{json.dumps(name)}: {value}" for name, value in zip(names, values, strict=True))
    return "{" + ", ".join(pairs) + "}"
