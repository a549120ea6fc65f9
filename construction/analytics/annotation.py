"""Annotation by consensus: executor, models and people answer each task in the cleaned variant.

The executor's answer is the gold. A model sees the question and the columns of the clean tables,
writes steps of its own, and these are run. Its steps are data: they are validated, and nothing that
it writes is run as code. Answers agree if the common grader takes both for the gold. What is not
unanimous goes to people, whose answer either is the gold, which admits the task, or is another,
which rejects it. Rounds are kept as for sessions (`construction.judging.rounds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import orjson
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from construction.analytics.answers import program_of_steps
from construction.analytics.contracts import Part
from construction.analytics.environment.declaration import Declaration
from construction.analytics.steps import TypedStep, reads_steps
from construction.analytics.task_files import StepsDoNotRunError, answer_text, submission_of
from construction.grading.answers.parts import grade_answers
from construction.grading.spec import TaskSpec, spec_of
from construction.judging.consensus import ConsensusConfig, Opinion, Routed, route
from construction.judging.contracts import Answer, Asker, Fault, Judged, JudgeReason
from construction.judging.model.asking import Checked, Stage, ask, require_answers
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.judging.review import ReviewItem, Topic, disputes
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, digest
from data.contracts import Candidate
from data.errors import InputError

_CHARS = 8_000


class ProgrammeAnswer(Answer):
    programme: Annotated[str, Field(min_length=2, max_length=_CHARS)]


class _Given(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    part: str
    step: Annotated[int, Field(ge=1)]
    column: str | None = None


class _Programme(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: Annotated[tuple[TypedStep, ...], Field(max_length=9)]
    answers: Annotated[tuple[_Given, ...], Field(max_length=4)]


@dataclass(frozen=True, slots=True)
class Subject:
    """A task with its gold, and the clean tables that all annotators answer from."""

    candidate: Candidate
    declaration: Declaration
    tables: Mapping[str, pl.DataFrame]

    @property
    def spec(self) -> TaskSpec:
        return spec_of(self.candidate.model_dump(mode="json"))

    @property
    def gold(self) -> str:
        answers = self.candidate.answers
        numeric = [a.type == "number" for a in answers]
        return answer_text([a.part for a in answers], [a.value for a in answers], numeric)

    @property
    def parts(self) -> tuple[Part, ...]:
        return program_of_steps(self.candidate.steps)[1]

    @property
    def case(self) -> str:
        return digest([self.candidate.prompt, self.candidate.guidelines, self.gold])

    def form(self, answer: str) -> str:
        """The gold for every answer that the grader takes for it, other answers as they are."""
        parts = grade_answers(self.spec, answer)
        return self.gold if parts and all(part.value == 1 for part in parts) else answer


def _annotation_stage() -> Stage[Subject, ProgrammeAnswer, str]:
    """Question in, answer out: the one that the model's steps give."""
    return Stage(
        prompt=load_prompt("annotation"),
        answer=ProgrammeAnswer,
        item_id=lambda subject: subject.candidate.task_id,
        content=_content,
        check=_check,
    )


def _content(subject: Subject, cleaner: Cleaner) -> dict[str, Any]:
    """Question, parts and columns; of the values only the names that the question may use."""
    declaration = subject.declaration
    return {
        "question": cleaner.text(subject.candidate.prompt, 4_000, "question"),
        "guidelines": cleaner.text(subject.candidate.guidelines, 4_000, "guidelines"),
        "parts": [cleaner.text(part.part, 200, "parts") for part in subject.parts],
        "tables": {
            table.name: [
                cleaner.text(f"{c.name} ({c.type}{', ' if c.unit else ''}{c.unit})", 200, "tables")
                for c in table.columns
            ]
            for table in declaration.tables
        },
        "names": {
            slot: [
                cleaner.text(f"{value}: {pair[0]}", 200, "names") for value, pair in names.items()
            ]
            for slot, names in declaration.names.items()
        },
    }


def _check(subject: Subject, answer: ProgrammeAnswer) -> Checked[str] | Fault:
    """The answer that the model's steps give, written as the guidelines ask for it."""
    try:
        programme = _Programme.model_validate(orjson.loads(answer.programme))
    except (orjson.JSONDecodeError, ValidationError):
        return Fault(JudgeReason.WRONG_FORM, "no programme")
    given = {entry.part: entry for entry in programme.answers}
    if set(given) != {part.part for part in subject.parts}:
        return Fault(JudgeReason.NOT_CHECKABLE, "other parts")
    count = len(programme.steps)
    ahead = any(
        used >= number
        for number, step in enumerate(programme.steps, 1)
        for used in reads_steps(step)
    )
    if ahead or any(entry.step > count for entry in programme.answers):
        return Fault(JudgeReason.NOT_CHECKABLE, "a step that is not there")
    parts = [
        part.model_copy(
            update={
                "step": given[part.part].step,
                "column": given[part.part].column or part.column,
            }
        )
        for part in subject.parts
    ]
    try:
        submission = submission_of(programme.steps, parts, subject.tables)
    except StepsDoNotRunError:
        return Fault(JudgeReason.NOT_CHECKABLE, "steps without a result")
    return Checked(submission.answer or "")


STAGE, EXECUTOR = "annotation", "executor"
ROUNDS = "analytics-rounds.jsonl"
OpenModel = Callable[[str], AbstractContextManager[Asker]]


class Round(BaseModel):
    """The answers to a task in one round, by annotator; None: no usable one."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    release: str
    item_id: str
    case: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # digest of what they answered
    round: Annotated[int, Field(ge=1)]
    answers: dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Consented:
    """What became of the tasks: routing, what people have to decide, and the rounds that count."""

    routed: Routed
    disputed: Sequence[ReviewItem]
    rounds: Sequence[Round]
    by_model: Mapping[str, Sequence[Judged[str]]]


def annotate(
    folder: Path,
    release: str,
    subjects: Sequence[Subject],
    decided: Mapping[str, str | None],
    config: ConsensusConfig,
    open_model: OpenModel,
) -> Consented:
    """Hold the rounds that are due for `release`, then route every task.

    `folder` keeps the rounds; `decided` are the answers of people by task id, None: rejected.
    Raises UnansweredError where a model gave no reply about some task.
    """
    log = _read_rounds(folder)
    known = _known(log, release, subjects, config)
    due = _due(subjects, known, decided, config, log, release)
    by_model: dict[str, Sequence[Judged[str]]] = {}
    for name in config.annotators if due else ():
        if name != EXECUTOR:
            with open_model(name) as client:
                by_model[name] = require_answers(ask(_annotation_stage(), due, client))
    held = [_round(release, row, s, known, config, by_model) for row, s in enumerate(due)]
    lines = b"".join(canonical_json(line) + b"\n" for line in (*log, *held))
    write_bytes(folder / ROUNDS, lines, mode=PRIVATE_FILE)
    known = _known([*log, *held], release, subjects, config)
    rounds = [line for of_task in known.values() for line in of_task]
    routed = _routed(subjects, rounds, decided, config)
    return Consented(routed, _disputed(subjects, known, config), rounds, by_model)


def _read_rounds(folder: Path) -> list[Round]:
    """All rounds that were held, the first one first. Raises InputError."""
    path = folder / ROUNDS
    lines = path.read_bytes().splitlines() if path.is_file() else []
    rounds = []
    for number, line in enumerate(lines, start=1):
        try:
            rounds.append(Round.model_validate_json(line))
        except ValidationError as error:
            problem, todo = f"{error.error_count()} errors", "Restore the file, or remove it."
            raise InputError(str(path), problem, "a round", todo, number) from None
    return rounds


def _known(
    log: Sequence[Round], release: str, subjects: Sequence[Subject], config: ConsensusConfig
) -> dict[str, list[Round]]:
    """The rounds of each task as it is now, up to those of `release`, in order."""
    releases = list(dict.fromkeys(line.release for line in log))
    until = releases.index(release) + 1 if release in releases else len(releases)
    counted = set(releases[:until])
    cases = {subject.candidate.task_id: subject.case for subject in subjects}
    known: dict[str, dict[int, Round]] = {task_id: {} for task_id in cases}
    for line in log:
        is_same = cases.get(line.item_id) == line.case
        if is_same and line.release in counted and line.answers.keys() == set(config.annotators):
            known[line.item_id].setdefault(line.round, line)
    return {task_id: [held[n] for n in sorted(held)] for task_id, held in known.items()}


def _due(
    subjects: Sequence[Subject],
    known: Mapping[str, Sequence[Round]],
    decided: Mapping[str, str | None],
    config: ConsensusConfig,
    log: Sequence[Round],
    release: str,
) -> list[Subject]:
    """Tasks without a round, and in a new release those that still wait for agreement."""
    is_new = all(line.release != release for line in log)
    rounds = [line for held in known.values() for line in held]
    waiting = {item.item_id for item in _routed(subjects, rounds, {}, config).queue}

    def is_due(task_id: str) -> bool:
        held = len(known[task_id])
        again = is_new and task_id in waiting - decided.keys() and held < config.max_rounds
        return not held or again

    return [subject for subject in subjects if is_due(subject.candidate.task_id)]


def _round(
    release: str,
    row: int,
    subject: Subject,
    known: Mapping[str, Sequence[Round]],
    config: ConsensusConfig,
    by_model: Mapping[str, Sequence[Judged[str]]],
) -> Round:
    task_id = subject.candidate.task_id
    answers = {
        name: subject.gold if name == EXECUTOR else by_model[name][row].value
        for name in config.annotators
    }
    number = len(known[task_id]) + 1
    return Round(release=release, item_id=task_id, case=subject.case, round=number, answers=answers)


def _routed(
    subjects: Sequence[Subject],
    rounds: Sequence[Round],
    decided: Mapping[str, str | None],
    config: ConsensusConfig,
) -> Routed:
    by_id = {subject.candidate.task_id: subject for subject in subjects}
    opinions = [
        Opinion(line.item_id, name, by_id[line.item_id].form(answer), line.round)
        for line in rounds
        for name, answer in sorted(line.answers.items())
        if answer is not None
    ]
    decisions = {
        task_id: answer if answer is not None and _is_gold(by_id[task_id], answer) else None
        for task_id, answer in decided.items()
        if task_id in by_id
    }
    return route(list(by_id), opinions, config, decided=decisions)


def _is_gold(subject: Subject, answer: str) -> bool:
    return subject.form(answer) == subject.gold


def _disputed(
    subjects: Sequence[Subject], known: Mapping[str, Sequence[Round]], config: ConsensusConfig
) -> list[ReviewItem]:
    """What the annotators of the last round differ on, for people to answer.

    They see no answer of another annotator, so that theirs is their own.
    """
    texts: dict[str, str] = {}
    by_judge: dict[str, dict[str, str]] = {name: {} for name in config.annotators}
    for subject in subjects:
        task_id = subject.candidate.task_id
        texts[task_id] = f"{subject.candidate.prompt}\n\n{subject.candidate.guidelines}"
        for name, answer in known[task_id][-1].answers.items():
            if answer is not None:
                by_judge[name][task_id] = subject.form(answer)
    items = disputes(Topic.ANSWER, texts, by_judge)
    return [item.model_copy(update={"answers": {}}) for item in items]
