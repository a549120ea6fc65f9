"""The tasks of a release as a runner and a grader need them.

The halves stay apart: what an agent may see is read from the public half alone; what grades it
comes from the private half, if that is there. `require_guarded` reads those that may be shown to
agents and judges that run elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from data.canonical import digest, file_digest
from data.contracts import PRIVATE_FIELDS, Candidate, Lane
from data.errors import InputError
from data.snapshot import layout
from data.snapshot.errata import About, Action, Notice, notice_path, read_notice
from data.snapshot.release import PrivacyStamp
from data.snapshot.signature import claimed_signers
from data.snapshot.tasks import candidate_of
from data.snapshot.verification import verify


@dataclass(frozen=True, slots=True)
class ReleasedTask:
    """A task as an agent gets it: `instruction` is `instruction.md`, `inputs` name -> path."""

    candidate: Candidate
    instruction: str
    inputs: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class ReleasedTasks:
    """A release: its name, its digest, its tasks by id, and the folder of its tables.

    `digest` is of the public half, so that it is the same for a reader who has only that half.
    `private_sums` are the digests of the private half by path. `notice`: its errata, if it has any;
    tasks that they withdraw are in `withdrawn` and not in `tasks`.
    """

    snapshot: str
    digest: str
    tasks: Mapping[str, ReleasedTask]
    tables: Path
    private: Path | None
    private_sums: Mapping[str, str] = field(default_factory=dict)
    notice: Notice | None = None
    withdrawn: Mapping[str, ReleasedTask] = field(default_factory=dict)

    @property
    def about(self) -> About:
        """What a notice of errata has to fit."""
        ids = frozenset({*self.tasks, *self.withdrawn})
        return About(self.snapshot, self.digest, ids, claimed_signers(self.public))

    @property
    def notice_digest(self) -> str | None:
        """What tables of scores name the errata by; None without any."""
        return self.notice.digest if self.notice else None

    @property
    def public(self) -> Path:
        """The folder of the public half."""
        return self.tables.parent

    def grading(self, task_id: str) -> dict[str, Any]:
        """The task with its grader-only fields, as JSON; errata replace what they correct.

        Raises InputError without them, or if they are not what was released.
        """
        if self.private is None:
            raise InputError(
                self.snapshot, "the private half is missing", "private/ next to public/",
                "Grading needs the private half.",
            )  # fmt: skip
        task = self.tasks.get(task_id) or self.withdrawn[task_id]
        whole: dict[str, Any] = task.candidate.model_dump(mode="json")
        paths = {name: f"{task_id}/{name}.json" for name in sorted(PRIVATE_FIELDS)}
        listed = {name: path for name, path in paths.items() if path in self.private_sums}
        if not listed:
            raise InputError(
                str(self.private / task_id), "nothing to grade the task with",
                f"an answer, rules or a rubric listed in {layout.SUMS}", "Restore the release.",
            )  # fmt: skip
        for name, path in listed.items():
            _check(self.private, path, self.private_sums)
            whole[name] = orjson.loads((self.private / path).read_bytes())[name]
        return whole | (self.notice.grading(task_id) if self.notice else {})

    def world(self, task_id: str) -> Path:
        """The file with the services' state at the start of a workflow task.

        Raises InputError if the task has none, or if it is not what was released.
        """
        path = f"{task_id}/{layout.WORLD}"
        if self.private is None or path not in self.private_sums:
            raise InputError(
                self.snapshot, f"no {layout.WORLD} for {task_id[:100]}",
                "a workflow task, and the private half of its release",
                "Choose a task with services, or restore private/.",
            )  # fmt: skip
        _check(self.private, path, self.private_sums)
        return self.private / path


def _no_release(path: Path, folder: Path, error: Exception) -> InputError:
    """What is wrong with a folder that is no release: it may be the folder of the build."""
    actual = "nothing" if isinstance(error, FileNotFoundError) else type(error).__name__
    latest = folder / "snapshots" / "latest"
    todo = f"Did you mean {latest}?" if latest.is_dir() else "Run `benchmint verify`."
    return InputError(str(path), actual, "a release written by `benchmint build`", todo)


def read_tasks(snapshot: Path) -> ReleasedTasks:
    """The tasks of a snapshot, both halves or the public one, with its errata applied.

    Raises InputError, also where what an agent is given is not what was released: attempts would
    state the digest of another release than the one that was run.
    """
    root = snapshot.resolve()
    public = root / layout.PUBLIC if (root / layout.PUBLIC).is_dir() else root
    private = root / layout.PRIVATE
    path = public / layout.TASK_LIST
    try:
        lines = path.read_bytes().splitlines()
        content, listed = _sums(public)
        for name in (layout.TASK_LIST, layout.MANIFEST):
            _check(public, name, listed)
        manifest = orjson.loads((public / layout.MANIFEST).read_bytes())
        shared: set[str] = set()
        tasks = [_task(public, orjson.loads(line), listed, shared) for line in lines]
        for name in (*sorted(shared), *_tables(public, listed)):
            _check(public, name, listed)
        if not layout.is_id(str(manifest["snapshot"])):
            raise ValueError(layout.MANIFEST)
        _, private_sums = _sums(private) if private.is_dir() else (b"", {})
    except (OSError, ValueError, KeyError, ValidationError) as error:
        raise _no_release(path, snapshot, error) from error
    name, everything = str(manifest["snapshot"]), {task.candidate.task_id: task for task in tasks}
    about = About(name, digest(content), frozenset(everything), claimed_signers(root))
    notice = read_notice(notice_path(root, name), about)
    withdrawn = {entry.task_id for entry in notice.of(Action.WITHDRAWN)} if notice else set()
    return ReleasedTasks(
        snapshot=name,
        digest=about.digest,
        tasks={name: task for name, task in everything.items() if name not in withdrawn},
        tables=public / layout.TABLES,
        private=private if private.is_dir() else None,
        private_sums=private_sums,
        notice=notice,
        withdrawn={name: everything[name] for name in sorted(withdrawn)},
    )


def _sums(half: Path) -> tuple[bytes, dict[str, str]]:
    """The SHA256SUMS of a half, as bytes and by path. Raises InputError, which names the file."""
    path = half / layout.SUMS
    try:
        content = path.read_bytes()
        return content, layout.parse(content)
    except (OSError, layout.SumsError) as error:
        problem = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(
            str(path), problem or type(error).__name__, "the released digests",
            "Restore the release.",
        ) from error  # fmt: skip


def _task(
    public: Path, row: Mapping[str, Any], listed: Mapping[str, str], shared: set[str]
) -> ReleasedTask:
    """A task whose own files are checked; those that it shares are added to `shared`."""
    candidate = candidate_of(row)
    if not layout.is_id(candidate.task_id):
        raise ValueError(layout.TASK_LIST)
    folder = f"{layout.TASKS}/{candidate.task_id}"
    inputs = {item.path: layout.input_path(candidate.task_id, item) for item in candidate.fixtures}
    for path in (f"{folder}/{layout.INSTRUCTION}", *inputs.values()):
        if path.startswith(f"{layout.ENVIRONMENTS}/"):
            shared.add(path)
        else:
            _check(public, path, listed)
    text = (public / folder / layout.INSTRUCTION).read_text(encoding="utf-8")
    return ReleasedTask(candidate, text, {name: public / path for name, path in inputs.items()})


def _tables(public: Path, listed: Mapping[str, str]) -> list[str]:
    """The tables that are listed or there; tools and graders read them."""
    there = {f"{layout.TABLES}/{path.name}" for path in (public / layout.TABLES).glob("*")}
    return sorted(there | {name for name in listed if name.startswith(f"{layout.TABLES}/")})


def require_outside(snapshot: Path, out: Path) -> None:
    """Raise InputError where something would be written into a release, which never changes."""
    if out.resolve().is_relative_to(snapshot.resolve()):
        raise InputError(
            str(out), "a folder in the snapshot", "a folder outside the snapshot",
            "Choose another --out: an extra file would make the release fail verification.",
        )  # fmt: skip


def _check(half: Path, name: str, listed: Mapping[str, str]) -> None:
    """Raise InputError if a file of a half is not the one that its SHA256SUMS lists."""
    path = half / name
    # A listed name is a safe one (`sums.parse`).
    is_file = path.is_file() and not path.is_symlink()
    if name in listed and is_file and file_digest(path) == listed[name]:
        return
    problem = "a file that differs from the released one" if path.is_file() else "no file"
    raise InputError(
            str(path), problem, f"the digest listed in {layout.SUMS}",
            "Restore the release; `benchmint verify` lists everything that changed.",
        )  # fmt: skip


# May they be shown elsewhere? --------------------------------------------------------------------


def require_guarded(snapshot: Path) -> ReleasedTasks:
    """The tasks of a release that passed the leak scan and the risk gate. Raises InputError.

    A release is written only after both; what is checked here is that this folder is such a
    release, unchanged, and that its own report says so for everything in it.
    """
    report = verify(snapshot)
    if not report.ok:
        raise _refused(snapshot, f"{len(report.findings)} findings from `benchmint verify`")
    release = read_tasks(snapshot)
    public = release.tables.parent
    manifest = orjson.loads((public / layout.MANIFEST).read_bytes())
    if manifest["privacy"] == PrivacyStamp.PUBLIC:
        return release
    path = public / layout.PRIVACY
    privacy: dict[str, Any] = orjson.loads(path.read_bytes()) if path.is_file() else {}
    if problem := _problem(release, privacy):
        raise _refused(snapshot, problem)
    return release


def _problem(release: ReleasedTasks, privacy: dict[str, Any]) -> str | None:
    """What the privacy report of a release leaves open."""
    has_sessions = any(t.candidate.lane is Lane.SESSIONS for t in release.tasks.values())
    if has_sessions and not (privacy.get("masking") or {}).get("leak_scan"):
        return "tasks from sessions with no leak scan report"
    tables = (privacy.get("tables") or {}).get("tables", {})
    for name, table in sorted(tables.items()):
        verdict = table.get("verdict")
        if verdict is not None and verdict.get("status") != "passed":
            return f"table {name}, which did not pass the risk gate"
    return None


def _refused(snapshot: Path, problem: str) -> InputError:
    return InputError(
        str(snapshot), problem, "a pool that passed the leak scan and the risk gate",
        "Rebuild it: only what passed may be shown to agents and judges.",
    )  # fmt: skip
