"""Check programs: a proven program reads inputs and outputs, and says what it found.

A check of the kind `findings` holds a Python program and the input files as they were released, so
that nothing that an agent did to its copies matters. The program runs where delivered programs run,
by the `run` of the caller, beside copies of the output files, and prints a JSON list of findings.
Each finding that was proven when the check was made is a required part; without `run` all of them
stay unjudged.

Imports the standard library and `data.contracts.attempt`: the exported bundle takes it along.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from construction.grading import checking, formulas
from construction.grading.file_look import read_regular
from construction.grading.openers import TooLarge
from construction.grading.programs import STDOUT, Program, Ran, Run
from construction.grading.spec import CheckSpec, TaskSpec
from data.contracts.attempt import ScorePart

FINDINGS = "findings"
_PROGRAM, _COMMAND = "check.py", "python3 -B check.py"
_SECONDS = 60.0
_MOST_FILES, _MOST_BYTES = 60, 4 << 20  # of delivered files, and of each
_MOST_ITEMS, _MOST_TEXT = 200, 300


class FindingReason(StrEnum):
    """Why a finding does not hold; renaming one is a breaking change."""

    WRONG = "finding.wrong"
    MISSING = "finding.missing"  # the program did not come to it
    CRASHED = "finding.crashed"
    TIMED_OUT = "finding.timed_out"
    NO_BOX = "finding.no_box"  # nothing here can run it


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check program says of one thing: did it hold, what was expected and found."""

    name: str
    passed: bool
    expected: str = ""
    actual: str = ""


def _findings_checks(spec: TaskSpec) -> tuple[CheckSpec, ...]:
    """The checks of a task that are programs."""
    return tuple(check for check in spec.checks if check.kind == FINDINGS)


def grade_findings(spec: TaskSpec, outputs: Path | None, run: Run | None) -> tuple[ScorePart, ...]:
    """One required part per proven finding, `check.<id>.<finding>`, worth 1 or 0 or unjudged."""
    checks = _findings_checks(spec)
    delivered = dict(_delivered(outputs)) if checks and outputs is not None else {}
    return tuple(
        part for check in checks for part in _parts(check, _ran(check.params, delivered, run))
    )


def program_of(program: str, inputs: Mapping[str, bytes], outputs: Mapping[str, bytes]) -> Program:
    """A check program with copies of the files that it reads, and the library it may import."""
    files = {_PROGRAM: program.encode(), **library()}
    files |= {f"inputs/{path}": content for path, content in inputs.items()}
    files |= {f"outputs/{path}": content for path, content in outputs.items()}
    return Program(files, _COMMAND, _SECONDS, libraries=True)


def library() -> dict[str, bytes]:
    """The module `checking` with what it imports; they lie beside programs."""
    paths = [Path(str(module.__file__)) for module in (checking, formulas)]
    return {path.name: path.read_bytes() for path in paths}


def read_findings(ran: Ran) -> tuple[Finding, ...] | None:
    """The findings that a program printed, each name once; None if it printed no list of them."""
    if ran.timed_out or ran.code != 0:
        return None
    try:
        printed = json.loads(ran.files.get(STDOUT, b""))
    except (ValueError, RecursionError):
        return None
    if not isinstance(printed, list) or len(printed) > _MOST_ITEMS:
        return None
    by_name: dict[str, Finding] = {}
    for item in printed:
        if not isinstance(item, dict) or not isinstance(item.get("passed"), bool):
            return None
        name, expected, seen = (_text(item.get(key)) for key in ("finding", "expected", "found"))
        if not name or name in by_name:
            return None
        by_name[name] = Finding(name, item["passed"], expected, seen)
    return tuple(by_name.values())


def _text(value: object) -> str:
    plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(plain.split())[:_MOST_TEXT]


def _ran(
    params: Mapping[str, Any], delivered: Mapping[str, bytes], run: Run | None
) -> Mapping[str, Finding] | FindingReason:
    if not delivered:
        return {}
    if run is None:
        return FindingReason.NO_BOX
    inputs = {path: base64.b64decode(text) for path, text in params["inputs"].items()}
    ran = run(program_of(params["program"], inputs, delivered))
    findings = read_findings(ran)
    if findings is None:
        return FindingReason.TIMED_OUT if ran.timed_out else FindingReason.CRASHED
    return {finding.name: finding for finding in findings}


def _parts(check: CheckSpec, outcome: Mapping[str, Finding] | FindingReason) -> Iterator[ScorePart]:
    names = check.params["findings"]
    for name in names:
        finding = None if isinstance(outcome, FindingReason) else outcome.get(name)
        if isinstance(outcome, FindingReason):
            reason: FindingReason | None = outcome
        elif finding is None:
            reason = FindingReason.MISSING
        else:
            reason = None if finding.passed else FindingReason.WRONG
        is_judged = reason is not FindingReason.NO_BOX
        yield ScorePart(
            name=f"check.{check.check_id}.{name}",
            evidence=check.evidence,
            weight=check.weight / len(names),
            value=(0.0 if reason else 1.0) if is_judged else None,
            required=check.required,
            reason=reason,
            detail={"expected": finding.expected, "found": finding.actual} if finding else {},
        )


def _delivered(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The files below a folder by relative path, in order; links and large ones are left out."""
    names = sorted(
        os.path.relpath(os.path.join(where, name), folder)  # noqa: PTH118 (hostile names)
        for where, _, files in os.walk(folder, followlinks=False)
        for name in files
    )
    for name in names[:_MOST_FILES]:
        with suppress(OSError, TooLarge):
            yield Path(name).as_posix(), read_regular(str(folder), name, _MOST_BYTES)
