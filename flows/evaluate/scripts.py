"""What agents without a model do: a script for each attempt.

They show that a benchmark measures something. `oracle` must pass, and `null`, `talk`, `empty-calls`
and the flawed ones must not; `playback` repeats what was recorded, and is graded as that was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl
from inspect_ai.tool import Tool, ToolDef

from construction.analytics.task_files import (
    StepsDoNotRunError,
    read_analytics,
    read_released,
    submission_of,
)
from construction.grading.oracle import FLAWS, OracleError, computable, flawed, oracle
from construction.grading.spec import REPORT, TaskSpec, spec_of
from construction.statements.tools.agent_tools import BY_NAME
from construction.statements.tools.database import Database
from construction.webpages.pages import PageIndex, read_pages
from construction.workflows.declaration import has_services
from data.attempts import read_attempts
from data.contracts import Candidate, Lane
from data.contracts.attempt import AttemptStatus, Submission
from data.errors import InputError
from data.randomness import keyed_generator, keyed_order
from data.releases.tasks import ReleasedTasks

_Move = tuple[str, Mapping[str, Any]]  # a tool's name and its arguments
ORACLE, PLAYBACK, READER = "oracle", "playback", "web-reader"
# Agents of graded skill, and how often they are right.
SKILLED = {"skill-85": 0.85, "skill-70": 0.70, "skill-55": 0.55, "skill-40": 0.40, "skill-25": 0.25}
_LUCK = b"skilled agents"  # no secret: what they do may be computed again by anybody
_TALK = "Done. All steps of the task were carried out, the results were checked, and all is ready."


@dataclass(frozen=True, slots=True)
class _ScriptStep:
    """What an agent says in one step, and the calls that it makes."""

    text: str = ""
    calls: tuple[_Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """The steps of an attempt, and the answer that ends it; None is no answer."""

    steps: tuple[_ScriptStep, ...] = ()
    answer: str | None = None


Scripts = Mapping[tuple[str, int], Script]  # by task and repetition, from 1


def _null(_task: Candidate, _tools: Sequence[Tool]) -> Script:
    """Nothing at all."""
    return Script()


def _talk(_task: Candidate, _tools: Sequence[Tool]) -> Script:
    """A confident report without any action."""
    return Script((_ScriptStep(_TALK),), _TALK)


def _empty_calls(task: Candidate, tools: Sequence[Tool]) -> Script:
    """Each tool once with no more than it insists on, then the report."""
    calls = [(definition.name, _least(definition)) for definition in map(ToolDef, tools)]
    return Script((*(_ScriptStep(calls=(call,)) for call in calls), _ScriptStep(_TALK)), _TALK)


def _least(definition: ToolDef) -> dict[str, Any]:
    """An empty value for each argument that a tool insists on."""
    blank = {"string": " ", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
    schema = orjson.loads(definition.parameters.model_dump_json(exclude_none=True))
    return {
        name: blank[schema["properties"][name].get("type", "string")]
        for name in schema.get("required", ())
    }


# Agents that do the same on any task; they get the task's tools.
WORKLESS: Mapping[str, Callable[[Candidate, Sequence[Tool]], Script]] = {
    "null": _null,
    "talk": _talk,
    "empty-calls": _empty_calls,
}


def scripts_of(
    agent: str,
    release: ReleasedTasks,
    database: Database | None,
    epochs: int,
    source: Path | None,
    pages: PageIndex | None = None,
) -> Scripts:
    """The scripts that an agent needs. Raises InputError."""
    if agent == READER and pages is not None:
        return _reader_scripts(release, pages, epochs)
    if (agent == PLAYBACK) != (source is not None):
        raise InputError(
            "--agent and --from", f"agent {agent}, {source or 'no folder'}",
            "a folder of attempts only with playback",
            "Pass --from FOLDER only with --agent playback.",
        )  # fmt: skip
    if source is not None:
        return _recorded_scripts(release, source, epochs)
    if agent == ORACLE or agent in FLAWS:
        analytic = _analytic_scripts(release, epochs) if agent == ORACLE else {}
        return {**_computed_scripts(agent, release, database, epochs), **analytic}
    if agent in SKILLED:
        return _skilled_scripts(agent, release, database, epochs)
    return {}


def _reader_scripts(release: ReleasedTasks, pages: PageIndex, epochs: int) -> Scripts:
    """What the rule-based reader of pages does on each question."""
    scripts = {}
    for task_id, task in release.tasks.items():
        if BY_NAME.keys() & set(task.candidate.tools):
            calls, answer = read_pages(task.candidate.prompt, pages)
            script = Script(tuple(_ScriptStep(calls=(call,)) for call in calls), answer)
            scripts.update({(task_id, epoch): script for epoch in range(1, epochs + 1)})
    return scripts


def _computed_scripts(
    agent: str, release: ReleasedTasks, database: Database | None, epochs: int
) -> Scripts:
    """Scripts of the oracle or a flawed agent, for tasks whose reference steps can be run.

    Answers to questions are computed by the data tools, never read; on a workflow task the oracle
    makes the recorded requests of the reference solution. Needs the private half.
    """
    scripts: dict[tuple[str, int], Script] = {}
    for task_id, task in release.tasks.items():
        is_workflow = has_services(task.candidate) and task.candidate.lane is Lane.WORKFLOWS
        if database is None and not is_workflow:
            continue
        spec = spec_of(release.grading(task_id))
        if is_workflow and agent == ORACLE and _reports(spec):
            script = _reference_script(spec)
            scripts.update({(task_id, epoch): script for epoch in range(1, epochs + 1)})
        if database is None or not computable(spec):
            continue
        try:
            done = oracle(spec, database) if agent == ORACLE else flawed(agent, spec, database)
        except OracleError as error:
            where = f"{release.snapshot}: {task_id}"
            expected = "reference steps that lead to one value"
            raise InputError(where, str(error), expected, "Rebuild the release.") from error
        if done is not None:
            scripts.update({(task_id, epoch): _script_of(done) for epoch in range(1, epochs + 1)})
    return scripts


def _analytic_scripts(release: ReleasedTasks, epochs: int) -> Scripts:
    """Scripts of the oracle for analytic tasks, from the released files of their environment.

    Raises InputError for steps that do not run. Needs the private half.
    """
    scripts: dict[tuple[str, int], Script] = {}
    tables: dict[str, Mapping[str, pl.DataFrame]] = {}
    for task in read_analytics(release):
        name = task.environment
        tables[name] = tables.get(name) or read_released(release, name).tables
        try:
            done = submission_of(task.program, task.parts, tables[name])
        except StepsDoNotRunError as error:
            where = f"{release.snapshot}: {task.task_id}"
            expected = "reference steps that lead to the answer"
            raise InputError(where, str(error), expected, "Rebuild the release.") from error
        scripts.update({(task.task_id, epoch): _script_of(done) for epoch in range(1, epochs + 1)})
    return scripts


def _reports(spec: TaskSpec) -> bool:
    """Is a reference run over services recorded? Not of a repair that has services beside files."""
    return any(step.operation == REPORT for step in spec.steps)


def _reference_script(spec: TaskSpec) -> Script:
    """The requests of a workflow task's reference, one at a time, and the answer it reports."""
    steps: list[_ScriptStep] = []
    answer: str | None = None
    for step in spec.steps:
        arguments = dict(step.arguments or {})
        service, _, operation = step.operation.partition(".")
        if step.operation == REPORT:
            answer = str(arguments.get("answer"))
            steps.append(_ScriptStep(answer))
        elif operation:
            steps.append(_ScriptStep(calls=((f"{service}_{operation}", arguments),)))
    return Script(tuple(steps), answer)


def _skilled_scripts(
    agent: str, release: ReleasedTasks, database: Database | None, epochs: int
) -> Scripts:
    """Scripts of an agent that is right as often as its skill says, and else makes a mistake.

    A task has a difficulty that all such agents share, and each attempt a share of luck; both are
    keyed by ids, so that the same attempt is always the same. Needs the private half.
    """
    scripts: dict[tuple[str, int], Script] = {}
    for task_id in release.tasks if database is not None else ():
        spec = spec_of(release.grading(task_id))
        if not computable(spec):
            continue
        assert database is not None
        right, wrong = oracle(spec, database), _mistake(spec, database)
        for epoch in range(1, epochs + 1):
            is_right = _hardness(agent, task_id, epoch) < SKILLED[agent]
            script = _script_of(right) if is_right else Script((_ScriptStep(_TALK),), _TALK)
            scripts[task_id, epoch] = script if is_right or wrong is None else _script_of(wrong)
    return scripts


def _mistake(spec: TaskSpec, database: Database) -> Submission | None:
    """The first mistake that a task allows, in an order that is the task's own."""
    names = list(FLAWS)
    for position in keyed_order(_LUCK, spec.task_id, names):
        if (wrong := flawed(names[position], spec, database)) is not None:
            return wrong
    return None


def _hardness(agent: str, task_id: str, epoch: int) -> float:
    """From 0 to 1, evenly: the task's difficulty and the luck of the attempt weigh the same."""
    shared = keyed_generator(_LUCK, "difficulty", task_id).random()
    luck = keyed_generator(_LUCK, agent, f"{task_id} {epoch}").random()
    mean = (shared + luck) / 2
    # the mean of two even draws lies around 1/2: its distribution makes it even again
    return 2 * mean**2 if mean < 0.5 else 1 - 2 * (1 - mean) ** 2


def _recorded_scripts(release: ReleasedTasks, source: Path, epochs: int) -> Scripts:
    """Scripts that repeat the attempts of one configuration, but for those that broke down.

    Raises InputError for attempts of several configurations, or on another release.
    """
    records = [record for _, record in read_attempts(source)]
    configurations = {record.attempt.configuration.name for record in records}
    if len(configurations) > 1:
        raise InputError(
            str(source), f"{len(configurations)} configurations", "attempts from one configuration",
            f"Pass the folder of a single one: {', '.join(sorted(configurations))}.",
        )  # fmt: skip
    if any(record.attempt.release_digest != release.digest for record in records):
        expected = f"attempts at {release.snapshot}"
        raise InputError(
            str(source), "attempts at another release", expected, "Pass the snapshot that was run."
        )
    return {
        (record.attempt.task_id, record.attempt.epoch): _script_of(record.submission)
        for record in records
        if record.attempt.status is not AttemptStatus.INFRA_ERROR
        and record.attempt.epoch <= epochs
        and record.attempt.task_id in release.tasks
    }


def _script_of(submission: Submission) -> Script:
    """The script that leads to a submission, but for its files, which the calls make again."""
    texts = dict(submission.statements)
    calls: dict[int, list[_Move]] = defaultdict(list)
    for call in submission.calls:
        calls[call.step].append((call.name, call.arguments))
    steps = (
        _ScriptStep(texts.get(number, ""), tuple(calls[number]))
        for number in range(1, submission.steps + 1)
    )
    return Script(tuple(steps), submission.answer)


SCRIPTED = (ORACLE, READER, *SKILLED, *FLAWS, *WORKLESS, PLAYBACK)
CONTROLS = frozenset({ORACLE, *FLAWS, *WORKLESS})  # right or wrong by construction
