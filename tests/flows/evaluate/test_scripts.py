"""Agents without a model: the oracle passes, a flawed one never, a playback is graded alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from construction.grading.grade import grade
from construction.grading.logs import grade_attempts
from construction.grading.oracle import FLAWS
from construction.grading.spec import spec_of
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.statements.tools.database import database_of
from data.attempts import (
    TABLES_FOLDER,
    TRAJECTORIES,
    attempts_database,
    read_attempts,
    write_tables,
)
from data.contracts import Lane, Session, SourceFormat
from data.contracts.attempt import Configuration, Submission
from data.errors import InputError
from data.releases.tasks import ReleasedTasks, read_tasks
from data.schemas import ATTEMPT_TABLES
from data.staging.print import query_text
from data.staging.sql import SqlLimits, run_sql
from flows.evaluate.plan import Plan
from flows.evaluate.run import evaluate
from flows.evaluate.scripts import ORACLE, PLAYBACK, Script, Scripts, _script_of, scripts_of
from tests.demo import Demo
from tests.needs import needs_box


@pytest.fixture(scope="module")
def questions(demo: Demo) -> ReleasedTasks:
    return read_tasks(demo.out / "snapshots" / "latest")


@pytest.mark.slow(seconds=20)
def test_flawed_agents_fail_where_the_oracle_passes(questions: ReleasedTasks) -> None:
    database = database_of(questions.tables)
    right = by_lane(questions, scripts_of(ORACLE, questions, database, 1, None))
    assert min(len(right[Lane.QUESTIONS]), len(right[Lane.ANALYTICS])) >= 5
    for agent in (ORACLE, *FLAWS):
        scripts = by_lane(questions, scripts_of(agent, questions, database, 1, None))
        del scripts[Lane.WORKFLOWS]  # what is graded there is what the services recorded
        graded = [task for tasks in scripts.values() for task in tasks.items()]
        # flaws are those of lookups
        assert len(graded) >= len(right[Lane.QUESTIONS]) / 3, agent
        for task_id, script in graded:
            score = grade(spec_of(questions.grading(task_id)), Submission(answer=script.answer))
            assert score.passed is (agent == ORACLE), (agent, task_id, script)


def by_lane(release: ReleasedTasks, scripts: Scripts) -> dict[Lane, dict[str, Script]]:
    """The first script of each task by the lane that made the task."""
    lanes: dict[Lane, dict[str, Script]] = {lane: {} for lane in Lane}
    for (task_id, _), script in scripts.items():
        lanes[release.tasks[task_id].candidate.lane][task_id] = script
    return lanes


@needs_box
@pytest.mark.slow(seconds=20)
def test_a_playback_is_graded_as_what_it_repeats(questions: ReleasedTasks, tmp_path: Path) -> None:
    database = database_of(questions.tables)
    right = by_lane(questions, scripts_of(ORACLE, questions, database, 1, None))
    plans = dict(next(iter(tasks.items())) for tasks in right.values() if tasks)
    plans |= right[Lane.WORKFLOWS]

    def run(agent: str, source: Path | None) -> Path:
        scripts = scripts_of(agent, questions, database, 1, source)
        configuration = Configuration(agent, agent, "none")
        folder = tmp_path / agent
        return evaluate(
            Plan(
                questions,
                configuration,
                agent,
                folder,
                database,
                task_ids=tuple(plans),
                scripts=scripts,
            )
        ).folder

    source = run(ORACLE, None)
    repeated = run(PLAYBACK, source)
    before, after = (
        [
            (record.submission.answer, _script_of(record.submission))
            for _, record in read_attempts(f)
        ]
        for f in (source, repeated)
    )
    assert before == after
    assert all(score.passed for _, score in grade_attempts(questions, repeated).scores)
    _check_trajectories(source)
    _check_views(questions, tmp_path, plans)
    with pytest.raises(InputError, match="found 2 configurations"):
        scripts_of(PLAYBACK, questions, database, 1, tmp_path)


def _check_trajectories(folder: Path) -> None:
    """Our own reader of ATIF finds the calls and answers of each attempt."""
    for _, record in read_attempts(folder):
        name = f"{record.attempt.task_id}-{record.attempt.epoch}.json"
        path = folder / TRAJECTORIES / name
        (session,) = read_source(SourceFile(path, name), SourceFormat.ATIF)
        assert isinstance(session, Session)
        calls = [call for turn in session.turns for call in turn.tool_calls]
        assert [(call.name, call.arguments, call.result) for call in calls] == [
            (call.name, call.arguments, call.output) for call in record.submission.calls
        ]
        assert session.turns[-1].text == record.submission.answer


def _check_views(release: ReleasedTasks, folder: Path, plans: Mapping[str, Script]) -> None:
    """An analyst asks the graded attempts of both configurations."""
    with pytest.raises(InputError, match="no tables of graded attempts"), attempts_database(folder):
        pass
    run = grade_attempts(release, folder)
    write_tables(folder / TABLES_FOLDER, run.attempts, run.scores)
    query = """SELECT configuration, count(*), sum(passed::INT), sum(n_calls)
               FROM attempts JOIN scores USING (attempt_id, configuration)
               GROUP BY ALL ORDER BY ALL"""
    n_calls = sum(len(step.calls) for script in plans.values() for step in script.steps)
    with attempts_database(folder) as path:
        assert run_sql(path, query, SqlLimits()).rows == [
            ["oracle", len(plans), len(plans), n_calls],
            ["playback", len(plans), len(plans), n_calls],
        ]
        listed = run_sql(path, query_text(None), SqlLimits()).rows
        parts = run_sql(path, "FROM score_parts", SqlLimits()).rows
    views = {table.name: table.row for table in ATTEMPT_TABLES}
    assert {name: row.rstrip(".") for name, row, _ in listed} == views
    assert {row[0] for row in parts} == {attempt.attempt_id for attempt, _ in run.scores}


def test_a_playback_needs_a_folder_and_others_none(questions: ReleasedTasks) -> None:
    for agent, source in ((PLAYBACK, None), (ORACLE, Path("x"))):
        with pytest.raises(InputError, match="a folder of attempts only with playback"):
            scripts_of(agent, questions, None, 1, source)
