"""Pages of attempts and tasks beside a leaderboard, and Inspect's viewer over the runner's logs.

OUT/private/attempts/CONFIGURATION/TASK-EPOCH.html   what was said, called, checked, delivered
OUT/private/tasks/TASK.html                          the task with its inputs and answers
OUT/private/tasks/files/NAME.txt                     inputs of which pages show a part, whole
OUT/private/viewer/index.html                        Inspect's viewer, which needs a web server
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from importlib.util import find_spec
from io import StringIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import orjson
import polars as pl

from construction.judging.evidence.views import FileView, look
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.attempt_pages import AttemptView, Links, attempt_page
from data.attempts import (
    LOGS,
    RUN,
    TRAJECTORIES,
    AttemptRecord,
    attempt_name,
    outputs_folder,
    read_attempts,
)
from data.canonical import file_digest
from data.contracts.attempt import Progress, Score, ScorePart
from data.neutralise import visible
from data.reasons import words_of
from data.releases.tasks import ReleasedTasks
from data.snapshot import layout
from data.snapshot.task_pages import (
    Preview,
    TaskView,
    checked_words,
    preview,
    services_of,
    task_pages,
)
from flows.label_words import all_labels

_HOME = "private"
ATTEMPTS, _TASKS, _VIEWER = "attempts", "tasks", "viewer"
_FILES = "files"  # below TASKS: inputs of which pages show a part
_LARGEST_TEXT = 16 << 20  # of an input that is kept whole
_MOST_FILES = 40  # of an attempt's or a task's files that are shown
_LARGEST = 64 << 20  # of a trajectory that is shown
_MOST_OTHERS = 200
_MOST_OPENED = 5  # office documents of one attempt or task that are opened, each in a child
_ROWS, _COLUMNS, _LONGEST_TEXT = 40, 20, 4_000  # of an office document that is shown


def write_reading(
    release: ReleasedTasks,
    attempts: Path,
    tables: Mapping[str, pl.DataFrame],
    results: Sequence[Mapping[str, Any]],
    out: Path,
) -> int:
    """Write the pages of all attempts of a board below `out`; how many attempts have one.

    `results` are the rows that the board lists: attempt, task, configuration, epoch,
    result, about, ways.
    """
    home = private_dir(out / _HOME)
    by_task: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in results:
        by_task[row["task"]].append(row)
    _write_tasks(release, home, by_task)
    scores = scores_of(tables["scores"], tables["score_parts"])
    known = {row["attempt"]: row for row in results}
    recorded = {
        record.attempt.attempt_id: (folder, record)
        for folder, record in read_attempts(attempts)
        if record.attempt.attempt_id in known
    }
    logs = _bundle({folder for folder, _ in recorded.values()}, home)
    for attempt_id, (folder, record) in recorded.items():
        attempt, row = record.attempt, known[attempt_id]
        name = attempt_name(attempt.task_id, attempt.epoch)
        links = _links(row, by_task[row["task"]], logs.get((folder, name)))
        view = _view(release, folder, record, scores.get(attempt_id), row, links)
        _write_page(home / ATTEMPTS / attempt.configuration.name / f"{name}.html", view, release)
    return len(recorded)


def _view(
    release: ReleasedTasks,
    folder: Path,
    record: AttemptRecord,
    score: Score | None,
    row: Mapping[str, Any],
    links: Links,
) -> AttemptView:
    """All that the page of an attempt shows."""
    attempt = record.attempt
    return AttemptView(
        record,
        score,
        row["result"],
        row["about"],
        _task(release, attempt.task_id).instruction,
        _grading(release, attempt.task_id),
        _outputs_of(folder, record),
        links,
        row["ways"][1],
        _trajectory(folder, attempt_name(attempt.task_id, attempt.epoch)),
        has_skill=attempt.task_id in _skills(folder),
    )


def _links(
    row: Mapping[str, Any], at_task: Sequence[Mapping[str, Any]], viewer: str | None
) -> Links:
    """Where the page of an attempt leads, also to others at its task."""
    others = _led_to((one for one in at_task if one["attempt"] != row["attempt"]), "..")
    board = f"../../../leaderboard.html#attempt={quote(row['attempt'])}"
    task = f"../../{_TASKS}/{quote(row['task'])}.html"
    return Links(board, task, viewer, others)


def _led_to(rows: Iterable[Mapping[str, Any]], home: str) -> list[tuple[str, str, str]]:
    """Title, result and address of attempts, whose folders are in `home`."""
    return [
        (
            f"{row['configuration']}, attempt {row['epoch']}",
            _result(row),
            f"{home}/{quote(row['configuration'])}/"
            f"{quote(attempt_name(row['task'], row['epoch']))}.html",
        )
        for row in islice(rows, _MOST_OTHERS)
    ]


def _result(row: Mapping[str, Any]) -> str:
    """How an attempt came out, and why it failed."""
    meaning = words_of(all_labels(), "termination", row["ways"][1] or "").meaning
    return f"{row['result']}. {meaning}" if meaning else row["result"]


def _write_page(path: Path, view: AttemptView, release: ReleasedTasks) -> None:
    private_dir(path.parent)
    write_bytes(path, attempt_page(view, release.snapshot).encode(), mode=PRIVATE_FILE)


def _task(release: ReleasedTasks, task_id: str) -> Any:
    return release.tasks.get(task_id) or release.withdrawn[task_id]


def _grading(release: ReleasedTasks, task_id: str) -> Mapping[str, Any]:
    return release.grading(task_id) if release.private is not None else {}


def _write_tasks(
    release: ReleasedTasks, home: Path, attempts: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """Write the pages of tasks, in place of all that was there before."""
    for name in (ATTEMPTS, _TASKS, _VIEWER):
        shutil.rmtree(home / name, ignore_errors=True)
    views = []
    files = private_dir(private_dir(home / _TASKS) / _FILES)
    for task_id, task in sorted({**release.tasks, **release.withdrawn}.items()):
        grading = _grading(release, task_id)
        checked = checked_words(task.candidate, grading)
        led = _led_to(attempts.get(task_id, ()), f"../{ATTEMPTS}")
        shown = [_whole(one, task.inputs[one.path], files) for one in _previews(task.inputs)]
        services, world = _world(release, task_id, files)
        views.append(
            TaskView(task.candidate, shown, grading, checked, led, all_labels(), services, world)
        )
    folder = home / _TASKS
    back = ("../../leaderboard.html#list", "Leaderboard")
    for name, content in task_pages(views, release.snapshot, "", back=back):
        write_bytes(folder / name, content.encode(), mode=PRIVATE_FILE)


def _whole(shown: Preview, path: Path, files: Path) -> Preview:
    """The preview with the address of all of the file, if it is a text of which a part is shown."""
    is_part = shown.note.startswith("The beginning") and shown.bytes <= _LARGEST_TEXT
    with suppress(UnicodeDecodeError):
        if is_part:
            text = path.read_bytes().decode("utf-8-sig")
            return replace(shown, whole=_kept(text, file_digest(path)[:20], files))
    return shown


def _world(release: ReleasedTasks, task_id: str, files: Path) -> tuple[list[tuple[str, str]], str]:
    """What the services of a task hold at the start, and the address of all of it."""
    if f"{task_id}/{layout.WORLD}" not in release.private_sums:
        return [], ""
    world = orjson.loads(release.world(task_id).read_bytes())
    text = orjson.dumps(world["state"], option=orjson.OPT_INDENT_2).decode()
    return services_of(world), _kept(text, task_id, files)


def _kept(text: str, name: str, files: Path) -> str:
    """Keep a text beside the pages as one that browsers never run; its address from a page."""
    path = files / f"{name}.txt"
    if not path.exists():
        write_bytes(path, visible(text).encode("utf-8-sig"), mode=PRIVATE_FILE)
    return f"{_FILES}/{path.name}"


def _previews(files: Mapping[str, Path]) -> list[Preview]:
    """The beginnings of files; those of office documents as a judge would be shown them."""
    plain = [preview(name, path) for name, path in list(files.items())[:_MOST_FILES]]
    unread = [one.path for one in plain if not (one.text or one.rows)][:_MOST_OPENED]
    closed = {name: files[name] for name in unread}
    views = dict(zip(closed, look(closed), strict=True))
    return [_opened(one, views[one.path]) if one.path in views else one for one in plain]


def _opened(closed: Preview, view: FileView) -> Preview:
    """The preview of a file that is no text: its first table, or what it says."""
    rows = next((sheet.head for sheet in view.sheets if sheet.head), ())
    text = "" if rows else "\n".join(part.text for part in view.parts)
    if not rows and not text:
        return replace(closed, note=view.note or closed.note)
    notes = [view.note, "The beginning; open the file for the rest."]
    return replace(
        closed,
        rows=[[visible(cell) for cell in row[:_COLUMNS]] for row in rows[:_ROWS]],
        text=visible(text[:_LONGEST_TEXT]),
        note=". ".join(
            filter(None, notes if len(rows) > _ROWS or len(text) > _LONGEST_TEXT else notes[:1])
        ),
    )


def _outputs_of(folder: Path, record: AttemptRecord) -> list[Preview]:
    """The files that an attempt delivered, as far as they are shown."""
    delivered = outputs_folder(folder, record.attempt.task_id, record.attempt.epoch)
    files = {
        path.relative_to(delivered).as_posix(): path
        for path in sorted(delivered.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    return _previews(files)


def _skills(folder: Path) -> Collection[str]:
    """The tasks for which a configuration was given a skill, by the record of its run."""
    with suppress(OSError, ValueError):
        record = orjson.loads((folder / RUN).read_bytes())
        return dict(record.get("skills") or {})
    return ()


def _trajectory(folder: Path, name: str) -> Mapping[str, Any] | None:
    path = folder / TRAJECTORIES / f"{name}.json"
    with suppress(OSError, ValueError):
        if path.stat().st_size <= _LARGEST:
            content = orjson.loads(path.read_bytes())
            return content if isinstance(content, dict) else None
    return None


def scores_of(scores: pl.DataFrame, parts: pl.DataFrame) -> dict[str, Score]:
    """The scores of the tables by attempt."""
    fields = ("name", "evidence", "weight", "value", "required", "deterministic", "reason")
    own: dict[str, list[ScorePart]] = {}
    for row in parts.sort("attempt_id", "index").iter_rows(named=True):
        detail = orjson.loads(row["detail"] or "{}")
        part = ScorePart(**{name: row[name] for name in fields}, detail=detail)
        own.setdefault(row["attempt_id"], []).append(part)
    progress = ("gpr_direct", "gpr_inferred", "tpe", "first_unreached", "operation")
    plain = (
        "task_id", "grader", "overall", "passed", "acc", "ee", "deterministic_share", "judge",
        "passed_at_best",
    )  # fmt: skip
    return {
        row["attempt_id"]: Score(
            parts=tuple(own.get(row["attempt_id"], ())),
            progress=Progress(**{name: row[name] for name in progress}),
            **{name: row[name] for name in plain},
        )
        for row in scores.iter_rows(named=True)
    }


def _bundle(folders: set[Path], home: Path) -> dict[tuple[Path, str], str]:
    """Put Inspect's viewer over the logs of configurations; the address of each attempt in it."""
    if find_spec("inspect_ai") is None:
        return {}
    from inspect_ai.log import bundle_log_dir

    addresses: dict[tuple[Path, str], str] = {}
    with TemporaryDirectory() as scratch:
        for folder in sorted(folders):
            for path in sorted((folder / LOGS).glob("*.eval")):
                target = Path(scratch, folder.name, path.name)
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(path, target)
                position = quote(f"{folder.name}/{path.name}")
                for name, sample in _samples(path):
                    addresses[folder, name] = (
                        f"../../{_VIEWER}/index.html#/logs/{position}/{sample}"
                    )
        if addresses:
            with redirect_stdout(StringIO()):
                bundle_log_dir(scratch, str(home / _VIEWER), overwrite=True)
    for path in (home / _VIEWER).rglob("*"):
        path.chmod(0o700 if path.is_dir() else PRIVATE_FILE)
    return addresses


def _samples(path: Path) -> Iterator[tuple[str, str]]:
    """The attempts in a log, with where it shows each; nothing for one that cannot be read."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    with suppress(Exception):  # of any of Inspect's parsers: the page of the attempt stands alone
        header = read_eval_log(str(path), header_only=True)
        number = header.eval.task.rpartition("-")[2]  # ours run each repetition by itself
        for sample in read_eval_log_sample_summaries(str(path)):
            epoch = int(number) if number.isdecimal() else sample.epoch
            position = f"samples/sample/{quote(str(sample.id))}/{sample.epoch}"
            yield attempt_name(str(sample.id), epoch), position
