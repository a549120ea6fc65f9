"""Results of other runners as attempts: jobs of Harbor, logs of Inspect, trajectories in ATIF.

    harbor    a job's folder, or a folder of jobs: TRIAL/result.json with artifacts/ and agent/
    inspect   a log (.eval or .json), or a folder of logs, of what `export inspect` wrote
    atif      a folder of trajectories named by their tasks: TASK-2.json, or TASK/trajectory.json

What they say of scores is not used: all is graded again, from what was answered and delivered.
"""

from __future__ import annotations

import base64
import io
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from construction.grading.bundle_command import read_work, submission_of
from construction.grading.spec import spec_of
from construction.sessions.readers import atif
from construction.sessions.readers.source import SourceFile
from construction.workflows.declaration import has_services
from data.atomic import PRIVATE_DIR, PRIVATE_FILE, write_bytes
from data.attempts import (
    FOLDER,
    OUTPUTS,
    RUN,
    AttemptRecord,
    attempt_id_of,
    attempt_name,
    check_name,
    outputs_folder,
    subfolders,
    write_attempt,
    write_trajectory,
)
from data.canonical import digest, pretty_json
from data.contracts import ReadIssue, Session
from data.contracts.attempt import (
    Attempt,
    AttemptStatus,
    Call,
    Configuration,
    Submission,
    Usage,
)
from data.errors import InputError, require_extra
from data.neutralise import one_line
from data.releases.tasks import ReleasedTasks, read_tasks, require_outside
from data.snapshot import layout

_HARBOR, _INSPECT, ATIF = "harbor", "inspect", "atif"
_AGENT_ENDED = frozenset(  # Harbor's names of errors that are the agent's own
    {
        "NonZeroAgentExitCodeError",
        "OutputTokenExceededError",
        "ContextWindowExceededError",
        "AgentSafetyRefusalError",
    }
)
_WORK, _RECORD = "artifacts/work", "artifacts/state/record.json"  # of a trial
_LARGEST_JSON = 256 << 20
_MOST_BYTES, _MOST_FILES = 1 << 30, 20_000  # of the files that an attempt of Inspect's delivered
_LONGEST_ERROR = 300
_NAME = re.compile(r"[^\w.+-]+")  # what a folder's name is spared


_Delivered = Mapping[str, Path | bytes]  # files by their names


@dataclass(frozen=True, slots=True)
class _Result:
    """One attempt elsewhere. `epoch` None: its number follows from the order.

    `outputs` are the files that it delivered, `release` the digest of the release if it says it.
    """

    task_id: str
    epoch: int | None
    harness: str
    model: str
    status: AttemptStatus
    submission: Submission
    log_digest: str
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    error: str | None = None
    release: str | None = None
    outputs: _Delivered = field(default_factory=dict)
    trajectory: Mapping[str, Any] | None = None
    sample: Any = None


def runner_of(path: Path) -> str | None:
    """Which runner wrote what is at a path; None for attempts of our own, and for nothing known."""
    if path.is_file():
        return _INSPECT if path.suffix == ".eval" or _is_inspect(path) else None
    if any((folder / FOLDER).is_dir() for folder in (path, *subfolders(path))):
        return None
    if next(_trials(path), None) is not None:
        return _HARBOR
    if any(path.glob("*.eval")) or any(map(_is_inspect, sorted(path.glob("*.json"))[:3])):
        return _INSPECT
    return ATIF if any(map(_is_atif, _trajectories(path)[:3])) else None


def write_results(snapshot: Path, logs: Path, out: Path, name: str | None = None) -> list[Path]:
    """Write results from elsewhere as attempts below `out`; the folders of their configurations.

    Raises InputError for results on another release, and where other attempts have the name.
    """
    require_outside(snapshot, out)
    release, runner = read_tasks(snapshot), runner_of(logs)
    if runner == _INSPECT:
        require_extra("evaluate")
    readers = {_HARBOR: _harbor, _INSPECT: _inspect, ATIF: _atif}
    results = list(readers[runner or ATIF](logs, release))
    _require_release(logs, release, results)
    groups: dict[tuple[str, str], list[_Result]] = {}
    for result in results:
        groups.setdefault((result.harness, result.model), []).append(result)
    if name is not None and len(groups) > 1:
        raise InputError(
            "--name", f"{len(groups)} configurations in {logs}", "a single configuration to name",
            "Omit --name: each is named after its runner, agent and model.",
        )  # fmt: skip
    folders = []
    for (harness, model), own in sorted(groups.items()):
        parts = [str(runner), harness, model if model != "none" else ""]
        title = name or _NAME.sub("-", "-".join(part for part in parts if part)).strip("-.")
        check_name(title)
        configuration = Configuration(title, harness, model, runner=str(runner))
        folders.append(_write(out / release.snapshot / title, configuration, release, own))
    return folders


def _require_release(logs: Path, release: ReleasedTasks, results: Sequence[_Result]) -> None:
    known = {result.release for result in results if result.release is not None}
    strange = sorted({r.task_id for r in results} - release.tasks.keys() - release.withdrawn.keys())
    if known - {release.digest} or strange or not results:
        problem = f"task {one_line(strange[0])}" if strange else "results from another release"
        raise InputError(
            str(logs), problem if results else "no attempts", f"results for {release.snapshot}",
            "Pass the snapshot that was exported and run.",
        )  # fmt: skip


def _write(
    folder: Path, configuration: Configuration, release: ReleasedTasks, results: list[_Result]
) -> Path:
    """Write the attempts of one configuration, in place of those of the same logs."""
    about = pretty_json({"release": release.digest, "configuration": asdict(configuration)})
    path = folder / RUN
    if folder.exists() and (not path.exists() or path.read_bytes() != about):
        raise InputError(
            str(folder), "attempts from another runner or release", "none, or attempts from the "
            "same one",
            "Use another --name for these results.",
        )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIR)
    write_bytes(path, about, mode=PRIVATE_FILE)
    for result, epoch in _numbered(results):
        _write_attempt(folder, configuration, release.digest, result, epoch)
    return folder


def _write_attempt(
    folder: Path, configuration: Configuration, release: str, result: _Result, epoch: int
) -> None:
    """Write one attempt, its trajectory and its files."""
    delivered = outputs_folder(folder, result.task_id, epoch)
    deliver(result.outputs, delivered)
    attempt = Attempt(
        attempt_id=attempt_id_of(release, result.task_id, configuration.name, epoch),
        release_digest=release,
        task_id=result.task_id,
        configuration=configuration,
        epoch=epoch,
        status=result.status,
        termination=None,
        steps=result.submission.steps,
        usage=result.usage,
        seconds=result.seconds,
        retries=0,
        log_digest=result.log_digest,
        error=result.error,
    )
    record = AttemptRecord(attempt, result.submission)
    trajectory = result.trajectory
    if result.sample is not None:
        from flows.evaluate.record import trajectory_of

        trajectory = trajectory_of(result.sample, record)
    if trajectory is not None:
        write_trajectory(folder, attempt, trajectory)
    write_attempt(folder, record)


def _numbered(results: Sequence[_Result]) -> Iterator[tuple[_Result, int]]:
    """The results with their repetitions; of two with the same number the later one counts."""
    chosen: dict[tuple[str, int], _Result] = {}
    counts: dict[str, int] = {}
    for result in results:
        counts[result.task_id] = counts.get(result.task_id, 0) + 1
        chosen[result.task_id, result.epoch or counts[result.task_id]] = result
    yield from ((result, epoch) for (_, epoch), result in chosen.items())


def deliver(files: _Delivered, target: Path) -> None:
    """Write the delivered files in place of earlier ones."""
    shutil.rmtree(target, ignore_errors=True)
    for name, content in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIR)
        path.write_bytes(content if isinstance(content, bytes) else content.read_bytes())


def regular_files(folder: Path) -> dict[str, Path]:
    """The files below a folder by their names; links are not followed."""
    if folder.is_symlink():
        return {}
    root = folder.resolve()
    return {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.resolve().is_relative_to(root)
    }


# Harbor


def _trials(folder: Path) -> Iterator[Path]:
    """The folders of trials: that of a trial itself, those of a job, of a folder of jobs."""
    for pattern in (".", "*", "*/*"):
        for path in sorted(folder.glob(pattern) if pattern != "." else [folder]):
            content = _json(path / "result.json") if path.is_dir() else None
            if content and {"trial_name", "task_name", "agent_info"} <= content.keys():
                yield path


def _harbor(logs: Path, release: ReleasedTasks) -> Iterator[_Result]:
    """The trials by the time at which they began: repetitions are numbered by it."""
    known = {path: _json(path / "result.json") or {} for path in _trials(logs)}
    for path, result in sorted(known.items(), key=lambda item: str(item[1].get("started_at"))):
        yield _trial(path, result, release)


def _trial(path: Path, result: Mapping[str, Any], release: ReleasedTasks) -> _Result:
    task_id = str(result["task_name"]).rpartition("/")[2]
    agent = _of(result, "agent_info")
    model = _of(agent, "model_info")
    names = [part for part in (model.get("provider"), model.get("name")) if part]
    status, error = _ended(result)
    session, trajectory = _session(path / "agent" / "trajectory.json")
    submission = Submission() if session is None else _done(session, release, task_id)
    if task_id in release.tasks:
        status, error, submission = _with_work(path, release, task_id, status, error, submission)
    return _Result(
        task_id=task_id,
        epoch=None,
        harness=str(agent.get("name") or "unknown"),
        model="/".join(names) or "none",
        status=status,
        submission=submission,
        log_digest=digest(dict(result)),
        usage=_usage(_of(result, "agent_result")),
        seconds=_seconds(_of(result, "agent_execution")),
        error=error,
        release=_release_of(path),
        outputs=regular_files(path / _WORK / OUTPUTS),
        trajectory=trajectory,
    )


def _with_work(
    path: Path,
    release: ReleasedTasks,
    task_id: str,
    status: AttemptStatus,
    error: str | None,
    submission: Submission,
) -> tuple[AttemptStatus, str | None, Submission]:
    """With what the agent left in its folder and what its services recorded."""
    delivered = read_work(spec_of(release.grading(task_id)), path / _WORK)
    submission = replace(submission, answer=delivered.answer)
    if not has_services(release.tasks[task_id].candidate):
        return status, error, submission
    record = _json(path / _RECORD)
    if record is None:
        missing = error or "no record of the services: they stopped before the agent did"
        return AttemptStatus.INFRA_ERROR, missing, submission
    served = submission_of(record)
    return status, error, replace(submission, audit=served.audit, changes=served.changes)


def _ended(result: Mapping[str, Any]) -> tuple[AttemptStatus, str | None]:
    """How a trial ended. An error that is not known to be the agent's is the infrastructure's."""
    error = _of(result, "exception_info")
    if not error:
        return AttemptStatus.COMPLETED, None
    kind = str(error.get("exception_type"))
    said = one_line(f"{kind}: {error.get('exception_message')}")[:_LONGEST_ERROR]
    if kind == "AgentTimeoutError":
        return AttemptStatus.TIMEOUT, said
    return (AttemptStatus.AGENT_ERROR if kind in _AGENT_ENDED else AttemptStatus.INFRA_ERROR), said


def _release_of(path: Path) -> str | None:
    """The digest of the release, which the exported graders print."""
    with suppress(OSError, ValueError, IndexError):
        lines = (path / "verifier" / "test-stdout.txt").read_text("utf-8").splitlines()
        printed = orjson.loads(lines[-1]).get("release_digest")
        return str(printed) if printed else None
    return None


def _usage(context: Mapping[str, Any]) -> Usage:
    cached = context.get("n_cache_tokens") or 0
    return Usage(
        input_tokens=max((context.get("n_input_tokens") or 0) - cached, 0),
        cached_tokens=cached,
        output_tokens=context.get("n_output_tokens") or 0,
        cost=context.get("cost_usd"),
    )


def _seconds(timing: Mapping[str, Any]) -> float:
    ends = [timing.get("started_at"), timing.get("finished_at")]
    with suppress(TypeError, ValueError):
        first, last = (datetime.fromisoformat(str(end)) for end in ends)
        return round((last - first).total_seconds(), 3)
    return 0.0


# Inspect


def _is_inspect(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    content = _json(path) or {}
    return isinstance(content.get("eval"), dict) and {"plan", "samples"} <= content.keys()


def _inspect(logs: Path, release: ReleasedTasks) -> Iterator[_Result]:
    from inspect_ai.log import read_eval_log

    paths = [logs] if logs.is_file() else sorted((*logs.glob("*.eval"), *logs.glob("*.json")))
    for path in paths:
        try:
            log = read_eval_log(str(path))
        except Exception as error:  # of any of its parsers
            raise InputError(
                str(path), type(error).__name__, "an Inspect log", "Pass only Inspect logs."
            ) from error
        harness = one_line(str(log.eval.solver or "react"))
        for sample in log.samples or ():
            yield _sample(path, sample, harness, log.eval.model)


def _sample(path: Path, sample: Any, harness: str, model: str) -> _Result:
    from flows.evaluate.record import error_of, status_of, usage_of

    digest_of_release = (sample.metadata or {}).get("release_digest")
    if digest_of_release is None:
        raise InputError(
            str(path), f"sample {one_line(str(sample.id))}, from no release",
            "samples from an exported release",
            "Export the release again and run that export: earlier packages do not "
            "identify the release.",
        )  # fmt: skip
    submission = _said(sample)
    return _Result(
        task_id=str(sample.id),
        epoch=sample.epoch,
        harness=harness.rpartition("/")[2],
        model=model,
        status=status_of(sample, submission.steps),
        submission=submission,
        log_digest=digest(sample.model_dump(mode="json", exclude={"timelines"})),
        usage=usage_of(sample),
        seconds=round(sample.total_time or 0.0, 3),
        error=error_of(sample),
        release=str(digest_of_release),
        outputs=_unpacked(path, sample.store.get("outputs")),
        sample=sample,
    )


def _said(sample: Any) -> Submission:
    """What was answered, said, called and asked of services in a sample."""
    from flows.evaluate.record import calls_of, inferences_of, shortened, statements_of

    served = submission_of(sample.store.get("services") or {})
    return Submission(
        answer=shortened(sample.output.completion) if sample.output.choices else None,
        statements=tuple(statements_of(sample)),
        calls=tuple(calls_of(sample)),
        audit=served.audit,
        changes=served.changes,
        steps=len(list(inferences_of(sample))),
    )


def _unpacked(path: Path, archive: object) -> _Delivered:
    """The files that the scorer of the export kept in the log."""
    if not isinstance(archive, str):
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(archive, validate=True))) as opened:
            entries = [entry for entry in opened.infolist() if not entry.is_dir()]
            sizes = sum(entry.file_size for entry in entries)
            if sizes > _MOST_BYTES or len(entries) > _MOST_FILES:
                raise ValueError("too large")
            if not all(layout.is_safe_path(entry.filename) for entry in entries):
                raise ValueError("unsafe names")
            return {entry.filename: opened.read(entry) for entry in entries}
    except (ValueError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise InputError(
            str(path), f"delivered files that cannot be read ({type(error).__name__})",
            "the archive written by the exported scorer", "Run the attempt again.",
        ) from error  # fmt: skip


# ATIF


def _trajectories(folder: Path) -> list[Path]:
    return sorted(
        (*folder.glob("*.json"), *folder.glob("*/*.json"), *folder.glob("*/agent/*.json"))
    )


def _is_atif(path: Path) -> bool:
    return str((_json(path) or {}).get("schema_version", "")).startswith("ATIF")


def _atif(logs: Path, release: ReleasedTasks) -> Iterator[_Result]:
    paths = [path for path in _trajectories(logs) if _is_atif(path)]
    if not paths:
        raise InputError(
            str(logs), "no attempts", "attempts, a Harbor job, an Inspect log, or ATIF",
            "Run `benchmint evaluate` first, or pass the other runner's folder.",
        )  # fmt: skip
    for path in paths:
        session, document = _session(path)
        if session is None or document is None:
            raise InputError(
                str(path), "a trajectory that cannot be read", "ATIF 1.0 to 1.8", "Write it again."
            )
        yield _of_trajectory(path, session, document, release)


def _of_trajectory(
    path: Path, session: Session, document: Mapping[str, Any], release: ReleasedTasks
) -> _Result:
    named = _task_of(path, session, release)
    if named is None:
        raise InputError(
            str(path), "a trajectory that does not name its task",
            f"the ID of a task in {release.snapshot}",
            "Name the file or its folder after the task: TASK-2.json, " "TASK/trajectory.json.",
        )  # fmt: skip
    task_id, epoch = named
    agent, totals = _of(document, "agent"), _of(document, "final_metrics")
    ours = path.parent.parent / OUTPUTS / attempt_name(task_id, epoch or 1)
    delivered = ours if ours.is_dir() else path.parent / OUTPUTS
    cached = totals.get("total_cached_tokens") or 0
    return _Result(
        task_id=task_id,
        epoch=epoch,
        harness=str(agent.get("name") or "unknown"),
        model=str(agent.get("model_name") or "none"),
        status=AttemptStatus.COMPLETED,
        submission=_done(session, release, task_id),
        log_digest=digest(dict(document)),
        usage=Usage(
            input_tokens=max((totals.get("total_prompt_tokens") or 0) - cached, 0),
            cached_tokens=cached,
            output_tokens=totals.get("total_completion_tokens") or 0,
            cost=totals.get("total_cost_usd"),
        ),
        release=_of(document, "extra").get("release_digest"),
        outputs=regular_files(delivered),
        trajectory=document,
    )


def _task_of(path: Path, session: Session, release: ReleasedTasks) -> tuple[str, int | None] | None:
    """The task and the repetition that a name states: of the file, its folders, the session."""
    ids = {*release.tasks, *release.withdrawn}
    for name in (path.stem, path.parent.name, path.parent.parent.name, session.session_id):
        task_id, _, number = name.rpartition("-")
        if name in ids:
            return name, None
        if task_id in ids and number.isdecimal() and 0 < int(number) < 1 << 20:
            return task_id, int(number)
    return None


def _session(path: Path) -> tuple[Session | None, Mapping[str, Any] | None]:
    """The main session of a trajectory, and the document; None for what cannot be read."""
    document = _json(path)
    if document is None or path.is_symlink():
        return None, None
    first = next(iter(atif.read(SourceFile(path, path.name))), None)
    return (None, None) if first is None or isinstance(first, ReadIssue) else (first, document)


def _done(session: Session, release: ReleasedTasks, task_id: str) -> Submission:
    """What a session says, calls and answers; its last word is the answer."""
    task = release.tasks.get(task_id) or release.withdrawn.get(task_id)
    tools = task.candidate.tools if task is not None else ()
    answer: str | None = None
    statements: list[tuple[int, str]] = []
    calls: list[Call] = []
    step = 0
    for turn in session.turns:
        if turn.role != "assistant":
            continue
        step += 1
        if turn.text.strip():
            statements.append((step, turn.text))
            answer = turn.text
        for call in turn.tool_calls:
            arguments = call.arguments if isinstance(call.arguments, dict) else {}
            if call.name == "submit":
                answer = str(arguments.get("answer", answer or ""))
                continue
            # a client puts the name of the server before that of the tool
            name = next((tool for tool in tools if call.name.endswith(tool)), call.name)
            shown = call.result or ""
            calls.append(Call(call.call_id, step, name, arguments, shown, is_error=call.is_error))
    return Submission(answer, tuple(statements), tuple(calls), steps=step)


def _json(path: Path) -> dict[str, Any] | None:
    """The object in a file; None if there is none, or one that is too large."""
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= _LARGEST_JSON:
            content = orjson.loads(path.read_bytes())
            return content if isinstance(content, dict) else None
    return None


def _of(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}
