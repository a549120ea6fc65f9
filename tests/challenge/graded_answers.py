"""The cases of the three sets of graded answers, and what the grader says of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from construction.grading.answers.parts import grade_answers
from construction.grading.spec import spec_of

SETS = ("graded_answers", "graded_answers_2", "graded_answers_3")


@dataclass(frozen=True, slots=True)
class Judged:
    """One case: what its writer says, whether the grader agrees, and whether its reason fits."""

    kind: str
    is_right: bool
    agrees: bool
    reason_fits: bool


def judged_cases(name: str) -> Iterator[Judged]:
    """The cases of one of `SETS`."""
    path = Path(__file__).with_name(f"{name}.jsonl")
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        parts = grade_answers(_spec(case), case["answer"])
        reasons = {part.reason for part in parts if part.reason}
        agrees = case["right"] == (not reasons)
        fits = agrees and (case["right"] or bool(reasons & set(case["reasons"])))
        yield Judged(case["kind"], case["right"], agrees, fits)


def _spec(case: dict[str, Any]) -> Any:
    """The specification; the writer gave lists as arrays, where contracts have JSON as text."""
    answers = [
        {**part, "value": part["value"] if isinstance(part["value"], str) else _text(part["value"])}
        for part in case["answers"]
    ]
    return spec_of({"task_id": case["id"], "prompt": case["prompt"], "answers": answers})


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
