"""The analytic tasks of a release, read back: programmes, and the tables that its files give."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import polars as pl
from pydantic import ValidationError

from construction.analytics import steps as s
from construction.analytics.answers import written_parts
from construction.analytics.config import Variant
from construction.analytics.contracts import Language, Part
from construction.analytics.environment.cleaning import clean_tables, read_files
from construction.analytics.environment.declaration import Declaration
from construction.analytics.environment.variants import read_clean
from construction.analytics.execute_polars import StepFailedError, run
from construction.analytics.milestones import milestones_of, program_of_steps
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import pretty_json
from data.contracts import Answer, Candidate, Lane, Milestone, Step
from data.contracts.attempt import Submission
from data.errors import InputError
from data.releases.tasks import ReleasedTasks
from data.snapshot import layout

DECLARATION, NOISE = "declaration.json", "noise.json"
FILES = "files"  # in the output of a stage: the files of the variant


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


@dataclass(frozen=True, slots=True)
class ReleasedEnvironment:
    """An environment over its released files, and the clean tables that they give."""

    declaration: Declaration
    variant: Variant
    tables: Mapping[str, pl.DataFrame]


def write_declaration(out: Path, declaration: Declaration, variant: Variant) -> None:
    """Write what reads the released files; private. `declaration`: over the raw variant."""
    content = {"variant": variant, "declaration": declaration.model_dump(mode="json")}
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
    except (OSError, ValueError, KeyError) as error:
        expected, todo = "the declaration of a release", "Restore the release."
        raise InputError(str(path), type(error).__name__, expected, todo) from error
    if variant == "raw":
        tables = clean_tables(declaration, read_files(folder, declaration))
    else:
        tables = read_clean(declaration, folder)
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
            )
        )
    return tasks


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
    numeric = [part.decimals is not None for part in parts]
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
