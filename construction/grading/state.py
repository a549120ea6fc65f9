"""The state of delivered files as graded parts: what each check finds, on copies.

Checks that read files run in a confined process (`_judge_in_child`), as everything does that opens
what an agent made; in this process only for files that this project wrote itself (`judge_here`).
Checks of the kind `runs` execute delivered files by the `run` of the caller. Without one nothing is
executed, and the part stays unjudged: the default can never run an agent's program on this machine.

Imports what the exported bundle has.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from construction.grading.programs import STDOUT, CannotRun, Program, Ran, Run
from construction.grading.spec import CheckSpec, TaskSpec
from construction.grading.state_kinds import (
    RUNS,
    STATE_KINDS,
    Files,
    StateReason,
    is_keeping,
    judge_state,
)
from data.child import confine
from data.contracts.attempt import ScorePart

_Question = tuple[str, Mapping[str, Any]]  # kind and params of a check
_Judge = Callable[[Sequence[_Question], Files], Sequence[StateReason | None]]
_MAX_BYTES = 4 << 20  # of one delivered file
_SECONDS, _MEMORY_BYTES = 20, 1 << 30
_START = "import sys; sys.path.insert(0, {root!r}); from {module} import main; main()"


def state_checks(spec: TaskSpec) -> tuple[CheckSpec, ...]:
    """The checks of a task that are about delivered files."""
    return tuple(check for check in spec.checks if check.kind in STATE_KINDS)


def without_state_checks(spec: TaskSpec) -> TaskSpec:
    """The task with the checks on services alone."""
    return replace(spec, checks=tuple(c for c in spec.checks if c.kind not in STATE_KINDS))


def grade_state(
    spec: TaskSpec, files: Files, run: Run | None, judge: _Judge | None = None
) -> tuple[ScorePart, ...]:
    """One part per check on delivered files, `check.<id>`, worth 1 or 0 or unjudged.

    Programs are not run where a file that they need is missing.
    """
    judge = judge or _judge_in_child
    checks = state_checks(spec)
    plain = [(check.kind, check.params) for check in checks if check.kind != RUNS]
    answers = iter(judge(plain, files) if plain else ())
    reasons = {
        check.check_id: _after_run(check.params, files, run, judge)
        if check.kind == RUNS
        else next(answers)
        for check in checks
    }
    demands = [c.check_id for c in checks if not is_keeping(c.kind, c.params)]
    is_idle = all(reasons[name] is not None for name in demands)
    return tuple(_part(check, reasons[check.check_id], is_idle) for check in checks)


def _part(check: CheckSpec, reason: StateReason | None, is_idle: bool) -> ScorePart:
    if reason is None and is_idle and is_keeping(check.kind, check.params):
        reason = StateReason.NOTHING_REPAIRED
    is_judged = reason is not StateReason.NO_BOX
    return ScorePart(
        name=f"check.{check.check_id}",
        evidence=check.evidence,
        weight=check.weight,
        value=(0.0 if reason else 1.0) if is_judged else None,
        required=check.required,
        reason=reason,
    )


def _after_run(
    params: Mapping[str, Any], files: Files, run: Run | None, judge: _Judge
) -> StateReason | None:
    """The program of a check is run; then every check of `after` holds on what it left."""
    staged, inputs = {}, {}
    for path, source in params["files"].items():
        if "input" in source:
            inputs[path] = source["input"]
            continue
        content = files.get(source["output"]) if "output" in source else _given(source)
        if content is None:
            return StateReason.MISSING_FILE
        staged[path] = content
    if run is None:
        return StateReason.NO_BOX
    after = [(check["kind"], check["params"]) for check in params["after"]]
    wanted = {each["file"] for _, each in after} - {STDOUT}
    built = params.get("environment", {})
    program = Program(
        staged,
        params["command"],
        params.get("seconds", 10.0),
        tuple(sorted(wanted)),
        inputs=inputs,
        environment=built.get("name", ""),
        python=built.get("python", ""),
    )
    try:
        ran = run(program)
    except CannotRun:
        return StateReason.NO_BOX
    return _outcome(ran, after, params.get("code", 0), judge)


def _given(source: Mapping[str, str]) -> bytes:
    """A file of the check itself: text, or base64 for what is none."""
    return base64.b64decode(source["base64"]) if "base64" in source else source["text"].encode()


def _outcome(ran: Ran, after: Sequence[_Question], code: int, judge: _Judge) -> StateReason | None:
    if ran.timed_out:
        return StateReason.TIMED_OUT
    if ran.code != code:
        return StateReason.EXIT_CODE
    return next((reason for reason in judge(after, ran.files) if reason), None) if after else None


def _files_named(spec: TaskSpec) -> Iterator[str]:
    """The delivered files that the checks are about, each once."""
    names = []
    for check in state_checks(spec):
        if check.kind == RUNS:
            names += [each["output"] for each in check.params["files"].values() if "output" in each]
        else:
            names.append(check.params["file"])
    yield from dict.fromkeys(names)


def read_outputs(spec: TaskSpec, folder: Path | None) -> dict[str, bytes]:
    """The delivered files that the checks are about; links and large files count as missing."""
    from construction.grading.file_look import read_regular
    from construction.grading.openers import TooLarge

    files = {}
    for name in _files_named(spec) if folder is not None else ():
        with suppress(OSError, TooLarge):
            files[name] = read_regular(str(folder), name, _MAX_BYTES)
    return files


def judge_here(questions: Sequence[_Question], files: Files) -> list[StateReason | None]:
    """In this process: for files that this project wrote itself."""
    return [judge_state(kind, params, files) for kind, params in questions]


def judge_check(kind: str, params: Mapping[str, Any], files: Files, run: Run) -> StateReason | None:
    """One check on files that this project wrote itself."""
    if kind == RUNS:
        return _after_run(params, files, run, judge_here)
    return judge_state(kind, params, files)


def _judge_in_child(questions: Sequence[_Question], files: Files) -> list[StateReason | None]:
    """In a confined process; if it dies, every check that it was to answer fails."""
    root = Path(__file__).resolve().parents[__name__.count(".")]
    encoded = {name: base64.b64encode(content).decode() for name, content in files.items()}
    crashed: list[StateReason | None] = [StateReason.CRASHED] * len(questions)
    with TemporaryDirectory() as nowhere, suppress(subprocess.TimeoutExpired, ValueError, KeyError):
        done = subprocess.run(  # noqa: S603 - our own module, no shell
            [sys.executable, "-I", "-B", "-c", _START.format(root=str(root), module=__name__)],
            input=json.dumps({"questions": questions, "files": encoded}).encode(),
            capture_output=True,
            cwd=nowhere,
            env={"LC_ALL": "C.UTF-8"},
            timeout=2 * _SECONDS,
            check=False,
        )
        reasons = json.loads(done.stdout)
        if len(reasons) == len(questions):
            return [None if reason is None else StateReason(reason) for reason in reasons]
    return crashed


def main() -> None:
    """Answer the questions on standard input; files are untrusted."""
    task = json.load(sys.stdin)
    answer = confine(_SECONDS, _MEMORY_BYTES)
    files = {name: base64.b64decode(content) for name, content in task["files"].items()}
    questions = [(kind, params) for kind, params in task["questions"]]
    answer.write(json.dumps(judge_here(questions, files)).encode())
    answer.flush()
