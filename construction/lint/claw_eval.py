"""Task folders in the form of Claw-Eval and Claw-Eval-Live: read as candidates as far as their
services are known, and their graders attacked.

Folders are untrusted: YAML is parsed without tags and aliases, sizes are bounded, and no path leads
out of the folder. `known_services.toml` has the names of services there and here.

`audit` attacks a grader with nothing, talk alone, and talk with one empty call of each tool. It is
a program of somebody else's, never imported here: `claw_eval_driver.py` calls it in a box of its
own, without network and without a judge. What an attacker says is what an agent could say that
knows nothing: the task in its own words, and that it is done. The reference solution is no part of
it; a grader that accepts a right answer from whoever knows it is not at fault for that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from construction.grading.attacks import DONE
from construction.grading.combine import PASS_THRESHOLD
from construction.grading.programs import Program, Run
from construction.grading.spec import EMPTY_CALLS, NULL, TALK
from construction.lint.findings import (
    Finding,
    Missing,
    Report,
    Trials,
    repeated,
    unread,
    words_of,
)
from construction.sandbox.sandbox import bubblewrap
from construction.workflows.declaration import service_names, tools_of
from data.canonical import digest, file_digest
from data.contracts import Budget, Candidate, Disclosure, Fixture, Lane, Provenance
from data.errors import InputError
from data.text.lexicon import load_table

TASK, GRADER, _FIXTURES = "task.yaml", "grader.py", "fixtures"
_MOST_BYTES, _MAX_FIXTURES = 2 << 20, 500
_TURNS, _DEFAULT_SECONDS = 24, 300  # where a task states no budget: the defaults of Claw-Eval-Live
_DO = "Correct the file, or leave out the task."


class _MissingPart(StrEnum):
    """What keeps a foreign task from running here; renaming one is a breaking change."""

    SERVICE = "foreign.unknown_service"
    TOOL = "foreign.unknown_tool"  # its service is known, the operation is not
    FIXTURE = "foreign.missing_fixture"
    GRADER = "foreign.no_grader"
    CHECKS = "foreign.no_checks"  # its grader is a program: somebody has to write it as checks


@dataclass(frozen=True, slots=True)
class _Gap:
    """One thing that is missing, and its name in the task."""

    missing: _MissingPart
    name: str


@dataclass(frozen=True, slots=True)
class _ForeignTask:
    """A task as it was read. `tools` are the names that its own grader knows."""

    folder: Path
    task_id: str
    prompt: str
    tools: tuple[str, ...]
    reference: str  # what the task says of its solution, for the audit
    candidate: Candidate
    gaps: tuple[_Gap, ...]


def _read_task(folder: Path, root: Path | None = None) -> _ForeignTask:
    """Read one folder of the set in `root`. Raises InputError naming the file and the field in
    error, OSError for files that cannot be read.
    """
    document = document_of(folder)
    prompt, language = _prompt(document, folder)
    names = [_name(tool) for tool in _list(document.get("tools"))]
    fixtures, lost = _fixtures(document, folder, root or folder)
    services, gaps = _services(document, names)
    environment = document.get("environment")
    limits: Mapping[str, Any] = environment if isinstance(environment, Mapping) else {}
    gaps += [_Gap(_MissingPart.FIXTURE, name) for name in lost]
    has_grader = (folder / GRADER).is_file() and not (folder / GRADER).is_symlink()
    gaps.append(_Gap(_MissingPart.CHECKS if has_grader else _MissingPart.GRADER, GRADER))
    task_id = str(document.get("task_id") or folder.name)[:100]
    candidate = Candidate(
        task_id=task_id,
        lane=Lane.WORKFLOWS,
        prompt=prompt,
        language=language,
        business_task=str(document["task_name"])[:200] if "task_name" in document else None,
        execution_surface="services" if services else "workspace",
        fixtures=fixtures,
        tools=tuple(tool.name for tool in tools_of(services)),
        budget=Budget(
            turns=_positive(limits.get("max_turns"), _TURNS),
            seconds=_positive(limits.get("timeout_seconds"), _DEFAULT_SECONDS),
        ),
        provenance=Provenance(
            source="foreign tasks",
            source_format="claw_eval",
            item_id=task_id,
            disclosure=Disclosure.PUBLIC,
            detail={"category": str(document.get("category", ""))[:100]},
        ),
    )
    reference = str(document.get("reference_solution") or "")
    return _ForeignTask(folder, task_id, prompt, tuple(names), reference, candidate, tuple(gaps))


def document_of(folder: Path) -> Mapping[str, Any]:
    """The task.yaml of a folder. Raises InputError."""
    path = folder / TASK
    try:
        if path.is_symlink() or (size := path.stat().st_size) > _MOST_BYTES:
            what = "a link" if path.is_symlink() else f"{size:,} bytes"
            raise InputError(str(path), what, f"a file of at most {_MOST_BYTES:,} bytes", _DO)
        document = yaml.load(path.read_text("utf-8"), Loader=_PlainLoader)  # noqa: S506 (below)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        what = type(error).__name__
        raise InputError(str(path), what, "YAML without tags or aliases", _DO) from None
    if not isinstance(document, dict):
        raise InputError(str(path), type(document).__name__, "a mapping", _DO)
    return document


class _PlainLoader(yaml.SafeLoader):
    """YAML that names no Python objects and repeats nothing by alias."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def _prompt(document: Mapping[str, Any], folder: Path) -> tuple[str, str]:
    prompt = document.get("prompt")
    text = prompt.get("text") if isinstance(prompt, Mapping) else prompt
    if not isinstance(text, str) or not text.strip():
        raise InputError(str(folder / TASK), "no prompt", "a non-empty prompt.text", _DO)
    language = prompt.get("language") if isinstance(prompt, Mapping) else None
    return text, language if isinstance(language, str) and len(language) < 20 else "und"


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else []


def _name(entry: Any) -> str:
    name = entry.get("name", "") if isinstance(entry, Mapping) else entry
    return str(name)[:100]


def _positive(value: Any, otherwise: int) -> int:
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else otherwise
    )


def _services(document: Mapping[str, Any], tools: list[str]) -> tuple[list[str], list[_Gap]]:
    """The services here that stand for those of the task, and what is not known of them."""
    known: Mapping[str, str] = load_table(__package__, "known_services.toml")["services"]
    own = {name: name for name in service_names()}
    gaps, services = [], []
    for name in dict.fromkeys(map(_name, _list(document.get("services")))):
        here = own.get(name) or known.get(name)
        if here is None:
            gaps.append(_Gap(_MissingPart.SERVICE, name))
        else:
            services.append((name, here))
    for tool in tools:
        owner = next((pair for pair in services if tool.startswith(f"{pair[0]}_")), None)
        if owner is None:
            continue
        operation = tool.removeprefix(f"{owner[0]}_")
        if f"{owner[1]}_{operation}" not in {each.name for each in tools_of([owner[1]])}:
            gaps.append(_Gap(_MissingPart.TOOL, tool))
    return list(dict.fromkeys(here for _, here in services)), gaps


def _fixtures(
    document: Mapping[str, Any], folder: Path, root: Path
) -> tuple[tuple[Fixture, ...], Iterator[str]]:
    """The input files of the task, and the names of those that are declared and not there.

    Files for its grader (`sandbox_grader_files`) have to be there, and are no input.
    """
    environment = document.get("environment")
    declared = _list(environment.get("fixtures")) if isinstance(environment, Mapping) else []
    declared = declared + _list(document.get("sandbox_files"))
    kept_back = _list(document.get("sandbox_grader_files"))
    present, lost = [], []
    for number, entry in enumerate((*declared, *kept_back)[:_MAX_FIXTURES]):
        name = entry.get("path", "") if isinstance(entry, Mapping) else entry
        relative = PurePosixPath(str(name))
        if (path := _fixture_file(relative, folder, root)) is not None:
            if number >= len(declared):
                continue
            shown = str(relative).removeprefix(f"{_FIXTURES}/")
            size = path.stat().st_size
            present.append(
                Fixture(
                    path=shown,
                    sha256=file_digest(path),
                    bytes=size,
                    media_type="application/octet-stream",
                )
            )
        else:
            lost.append(str(relative)[:200])
    return tuple(present), iter(lost)


def _fixture_file(relative: PurePosixPath, folder: Path, root: Path) -> Path | None:
    """The file of that name in the folder of the task, or from the folder that holds the set."""
    if relative.is_absolute() or ".." in relative.parts:
        return None
    set_of = root if folder == root else root.parent
    for base, bound in ((folder, folder), (root, root), (set_of, root)):
        path = base / relative
        if path.is_file() and path.resolve().is_relative_to(bound.resolve()):
            return path
    return None


_DRIVER = Path(__file__).with_name("claw_eval_driver.py")
_MAX_BYTES = 2 << 20
_SECONDS = 30.0  # for an attempt
_SCORE = "score.json"
# Attempts have folders of their own in one box, and none waits for another that hangs.
_COMMAND = f"""for name in {{names}}; do
  (cd $name; timeout {_SECONDS:.0f} python3 ../driver.py < attempt.json > out && mv out {_SCORE})
done"""


class _AuditReason(StrEnum):
    """What is wrong with a foreign grader; renaming one is a breaking change."""

    PASSED_BY_NULL = "grader.passed_by_null"
    PASSED_BY_TALK = "grader.passed_by_talk_only"
    PASSED_BY_EMPTY_CALLS = "grader.passed_by_empty_calls"
    WITHOUT_JUDGE = "grader.passed_without_judge"  # by what it does where no judge is there
    NOT_RUN = "grader.not_run"  # it ended with an error, took too long, or returned no score


_REASONS = {
    NULL: _AuditReason.PASSED_BY_NULL,
    TALK: _AuditReason.PASSED_BY_TALK,
    EMPTY_CALLS: _AuditReason.PASSED_BY_EMPTY_CALLS,
}


@dataclass(frozen=True, slots=True)
class _Audited:
    """The score of each attack (None: the grader did not return one), and what follows.

    A judge is stood in for by one that gives nothing: what passes then passes every judge.
    """

    task_id: str
    scores: Mapping[str, float | None] = field(default_factory=dict)
    reasons: tuple[_AuditReason, ...] = ()


def audit(task: _ForeignTask, run: Run, threshold: float = PASS_THRESHOLD) -> _Audited:
    """Attack the grader of one task; `run` has a sandbox for it."""
    path = task.folder / GRADER
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_BYTES:
        return _Audited(task.task_id, {}, (_AuditReason.NOT_RUN,))
    tried = _attempts(task)
    files = {"driver.py": _DRIVER.read_bytes()}
    for name, attempt in tried.items():
        files[f"{name}/grader.py"] = path.read_bytes()
        files[f"{name}/attempt.json"] = json.dumps(attempt).encode()
    wanted = {name: f"{name}/{_SCORE}" for name in tried}
    ran = run(Program(files, _COMMAND.format(names=" ".join(tried)), _SECONDS * len(tried),
                      wanted=tuple(wanted.values())))  # fmt: skip
    printed = {name: ran.files.get(score, b"") for name, score in wanted.items()}
    scores = {name: _score(text, "score") for name, text in printed.items()}
    reasons = [
        _REASONS[name] for name, score in scores.items() if score is not None and score >= threshold
    ]
    alone = [_score(text, "without_judge") for text in printed.values()]
    if not reasons and any(score is not None and score >= threshold for score in alone):
        reasons.append(_AuditReason.WITHOUT_JUDGE)
    if None in scores.values():
        reasons.append(_AuditReason.NOT_RUN)
    return _Audited(task.task_id, scores, tuple(reasons))


def _score(printed: bytes, name: str) -> float | None:
    try:
        score = float(json.loads(printed)[name])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
    return score if math.isfinite(score) else None


def _attempts(task: _ForeignTask) -> dict[str, dict[str, Any]]:
    """What each attack hands in, in the words of the framework: messages, dispatches, audit."""
    talk = [_message("user", task.prompt), _message("assistant", f"{task.prompt}\n{DONE}")]
    calls = [
        {
            "tool_name": name,
            "request_body": {},
            "response_status": 200,
            "response_body": {},
            "endpoint_url": "",
        }
        for name in task.tools
    ]
    described = {"task_id": task.task_id, "prompt": {"text": task.prompt}}
    nothing: dict[str, Any] = {"messages": [], "dispatches": [], "audit_data": {}}
    return {
        NULL: {**nothing, "task": described},
        TALK: {**nothing, "messages": talk, "task": described},
        EMPTY_CALLS: {
            "messages": talk,
            "dispatches": calls,
            "audit_data": _audit(task),
            "task": described,
        },
    }


def _message(role: str, text: str) -> dict[str, Any]:
    body = {"role": role, "content": [{"type": "text", "text": text}], "text": text}
    return {"message": body, "role": role, "content": text, "text": text}


def _audit(task: _ForeignTask) -> dict[str, Any]:
    """The log of each service: its tools, called once without arguments."""
    logs: dict[str, Any] = {}
    for name in task.tools:
        log = logs.setdefault(name.partition("_")[0], {"calls": []})
        log["calls"].append({"endpoint": name, "request_body": {}, "response_status": 200})
    return logs


def lint(folders: Sequence[Path], root: Path, trials: Trials) -> Report:
    """The faults of task folders below `root`; graders are attacked without a judge, as far as
    `trials` go.
    """
    report, tasks = Report("Claw-Eval-Live tasks", len(folders)), list[_ForeignTask]()
    for folder in folders:
        try:
            tasks.append(_read_task(folder, root))
        except InputError as error:
            report.defects.append(Finding(folder.name, "task.unreadable", str(error)))
        except OSError as error:
            report.unchecked.append(unread(folder.name, error))
    ids = [(task.task_id, task.task_id) for task in tasks]
    report.defects += repeated(ids, "record.repeated_id", "the id")
    report.defects += repeated(map(_request, tasks), "task.duplicate", "the prompt and files")
    missing = Missing()
    for task in tasks:
        _gaps(task, report, missing)
        if task.reference and words_of(task.reference) in words_of(task.prompt):
            what = "the prompt contains the reference solution"
            report.defects.append(Finding(task.task_id, "solution.in_instruction", what))
    missing.settle(report)
    for task in sorted(tasks, key=lambda each: digest(each.task_id)):
        _attack(task, report, trials)
    report.unchecked += trials.left_out("grader")
    what = "services and a judge are not available, so no reference solutions were run"
    report.unchecked.append(Finding("", "oracle", what))
    return report


def _request(task: _ForeignTask) -> tuple[str, str]:
    files = sorted(fixture.sha256 for fixture in task.candidate.fixtures)
    return task.task_id, "\n".join((words_of(task.prompt), *files))


def _gaps(task: _ForeignTask, report: Report, missing: Missing) -> None:
    missing.there |= {_kind(fixture.path) for fixture in task.candidate.fixtures}
    for gap in task.gaps:
        finding = Finding(task.task_id, str(gap.missing), gap.name)
        if gap.missing is _MissingPart.FIXTURE:
            missing.lost.append((_kind(gap.name), finding))
        elif gap.missing is _MissingPart.GRADER:
            missing.lost.append((gap.name, finding))
        else:
            report.portability.append(finding)
        if gap.missing is _MissingPart.CHECKS:
            missing.there.add(gap.name)


def _kind(name: str) -> str:
    """What is left out of a copy together: files of one ending."""
    path = PurePosixPath(name)
    return f"*{path.suffix}" if path.suffix else path.name


def _attack(task: _ForeignTask, report: Report, trials: Trials) -> None:
    from construction.grading.programs_box import ProgramNotRun, run_in_box

    if not any(gap.missing is _MissingPart.CHECKS for gap in task.gaps):
        return
    if bubblewrap() is None:
        report.unchecked.append(
            Finding(task.task_id, "grader", "no sandbox on this machine (bubblewrap)")
        )
        return
    if not trials.allow():
        return
    try:
        audited = audit(task, run_in_box)
    except ProgramNotRun as error:
        report.unchecked.append(Finding(task.task_id, "grader", str(error)))
        return
    scores = ", ".join(f"{name} {score}" for name, score in audited.scores.items())
    lists = {_AuditReason.NOT_RUN: report.unchecked, _AuditReason.WITHOUT_JUDGE: report.portability}
    for reason in audited.reasons:
        lists.get(reason, report.defects).append(Finding(task.task_id, str(reason), scores))
