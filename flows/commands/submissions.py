"""Attempts of others: `submit` bundles them, `check` grades them again before they are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from data.errors import InputError
from flows.commands.evaluate import ATTEMPTS

_SHOWN = 5


def submit_command(
    attempts: Annotated[
        Path, typer.Argument(help="One configuration's attempts: ATTEMPTS/RELEASE/NAME.")
    ],
    out: Annotated[Path, typer.Option(help="Archive to write.")] = Path("submission.zip"),
) -> None:
    """Bundle one configuration's attempts for the leaderboard's maintainer."""
    from data.submissions import bundle

    about = bundle(attempts, out)
    print(f"{about.configuration.name}: {len(about.files)} files in {out}")
    print(f"made on the release with the digest {about.release}")


def check_command(
    submission: Annotated[Path, typer.Argument(help="The submitted archive.")],
    snapshot: Annotated[Path, typer.Option(help="The release that was run, with private/.")],
    out: Annotated[Path, typer.Option(help="The leaderboard's attempts.")] = ATTEMPTS,
    partial: Annotated[
        bool, typer.Option("--partial", help="Accept attempts at only some of the tasks.")
    ] = False,
) -> None:
    """Check a submission, regrade it and add it to the attempts; exit with 1 if it is refused.

    Nothing that the submission says of its own scores is used.
    """
    import shutil
    from tempfile import TemporaryDirectory

    from data.attempts import TABLES_FOLDER
    from data.releases.tasks import read_tasks, require_outside
    from data.submissions import unpack

    require_outside(snapshot, out)
    release = read_tasks(snapshot)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch, "submission")
        about = unpack(submission, folder)
        if about.release != release.digest:
            expected = f"attempts at {release.snapshot}"
            todo = "Pass the snapshot that was run."
            raise InputError(str(submission), "attempts at another release", expected, todo)
        target = out / release.snapshot / about.configuration.name
        if target.exists():
            todo = "Move them away, or ask for a submission with another name."
            raise InputError(str(target), "attempts with that name", "none yet", todo)
        problems = _problems(release, folder, about.epochs, partial=partial)
        if problems:
            print("\n".join(problems))
            print(f"refused: {about.configuration.name} was not added to the leaderboard")
            raise typer.Exit(1)
        run = _grade(snapshot, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(folder, target)
    _print(run, target / TABLES_FOLDER)


def _problems(release: Any, folder: Path, epochs: int, *, partial: bool) -> list[str]:
    """Why a submission is refused, one line each."""
    from construction.grading.replayed_calls import altered_calls
    from construction.statements.tools.database import database_of
    from construction.workflows.replayed import is_replayed
    from data.attempts import attempt_name, read_attempts
    from data.neutralise import one_line

    records = [
        record
        for _, record in read_attempts(folder)
        if record.attempt.task_id not in release.withdrawn
    ]
    names = {attempt_name(r.attempt.task_id, r.attempt.epoch) for r in records}
    strange = sorted({r.attempt.task_id for r in records} - release.tasks.keys())
    wanted = {attempt_name(task, n) for task in release.tasks for n in range(1, epochs + 1)}
    altered = list(altered_calls(records, database_of(release.tables)))
    forged = [record for record in records if not is_replayed(record, release)]
    lines = [f"task {name} is not in the release" for name in strange[:_SHOWN]]
    if not partial and (missing := sorted(wanted - names)):
        lines.append(f"{len(missing)} of {len(wanted)} attempts are missing, first {missing[0]}")
    lines += [
        f"{record.attempt.task_id}: {call.name} does not return the recorded response"
        for record, call in altered[:_SHOWN]
    ]
    lines += [
        f"{record.attempt.task_id}: replaying its calls does not end in the recorded state"
        for record in forged[:_SHOWN]
    ]
    return list(map(one_line, lines))


def _grade(snapshot: Path, folder: Path) -> Any:
    from data.attempts import TABLES_FOLDER
    from flows.evaluate.grading import grade_folder

    return grade_folder(snapshot, folder, folder / TABLES_FOLDER)


def _print(run: Any, tables: Path) -> None:
    from construction.grading.logs import print_summaries, summaries

    print_summaries(summaries(run))
    print(f"accepted; tables: {tables}")
