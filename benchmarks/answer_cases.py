"""Answers that were read wrongly once, of strangers and of our own: how many are read right.

`python -m benchmarks.answer_cases [CASES]`: CASES is a folder with `answers/answers.jsonl` and
`graders/*.jsonl` (each with `*.expected.json`); without it $BENCHMINT_CASES, else ../shared/cases.
Where it is not there, only our own siblings (`answer_cases.toml`) are read, and the reason is said.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from construction.grading.actions import mentions
from construction.grading.answers.check import check_answer
from construction.grading.answers.lexicon import GoldAnswer
from construction.grading.answers.parts import grade_answers
from construction.grading.bundle_command import submission_of
from construction.grading.grade import grade
from construction.grading.spec import spec_of

DEFAULT = Path(__file__).parents[1].parent / "shared" / "cases"
SIBLINGS = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Case:
    """One answer: its kind, what it says, whether it is right, and whether it is read as such."""

    kind: str
    text: str
    is_right: bool
    agrees: bool


def siblings() -> Iterator[Case]:
    """Our own cases."""
    groups = tomllib.loads(SIBLINGS.read_text(encoding="utf-8"))
    for group in groups["answer"]:
        for is_right, texts in ((True, group["right"]), (False, group["wrong"])):
            for text in texts:
                accepted = _accepts(group["question"], [{"part": "value", **group}], text)
                yield Case(group["kind"], text, is_right, accepted == is_right)
    for group in groups["mention"]:
        for is_right, texts in ((True, group["right"]), (False, group["wrong"])):
            for text in texts:
                is_stated = mentions(text, group["wanted"])
                yield Case("texts of records", text, is_right, is_stated == is_right)


def _accepts(question: str, parts: list[dict[str, Any]], answer: str) -> bool:
    spec = spec_of({"task_id": "case", "prompt": question, "answers": parts})
    return all(part.value == 1 for part in grade_answers(spec, answer))


def answers(path: Path) -> Iterator[Case]:
    """The answers of `answers.jsonl`: single values by the check, others by the grader."""
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        gold, text = case["gold"], case["answer"]
        if case["lane"] == "questions":
            value, scale = Decimal(gold["value"]), Decimal(gold["scale"])
            wanted = GoldAnswer(value, gold["unit"], scale, gold["decimals"])
            accepted = check_answer(text, wanted, case["question"]).is_correct
        else:
            accepted = _accepts(case["question"], _parts(gold), text)
        yield Case(case["fault"], text, case["right"], accepted == case["right"])


def _parts(gold: dict[str, Any]) -> list[dict[str, Any]]:
    unit = {"unit": gold["unit"], "scale": int(gold["scale"]), "decimals": gold["decimals"]}
    if isinstance(gold["value"], str):
        return [{"part": "value", "type": "number", "value": gold["value"], **unit}]
    names = json.dumps(gold["value"]["names"], ensure_ascii=False)
    return [
        {"part": "names", "type": "list", "value": names},
        {"part": "value", "type": "number", "value": gold["value"]["value"], **unit},
    ]


def graders(folder: Path) -> Iterator[Case]:
    """Whole submissions, as the exported grader gets them."""
    for expected in sorted(folder.glob("*.expected.json")):
        path = expected.with_name(expected.name.replace(".expected.json", ".jsonl"))
        if not path.exists():
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for line, passed in zip(lines, json.loads(expected.read_text()), strict=True):
            case = json.loads(line)
            score = grade(spec_of(case["task"]), submission_of(case["submission"]))
            text = str(case["submission"]["answer"])
            yield Case(path.stem, text, passed, score.passed == passed)


def main() -> int:
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BENCHMINT_CASES")
    folder = Path(given) if given else DEFAULT
    own, others = list(siblings()), list[Case]()
    if (folder / "answers").is_dir():
        others = [*answers(folder / "answers" / "answers.jsonl"), *graders(folder / "graders")]
        _print("cases of strangers", others)
    else:
        print(f"cases of strangers: skipped, {folder} has no folder `answers`\n")
    _print("siblings of our own", own)
    return 0 if all(case.agrees for case in (*own, *others)) else 1


def _print(title: str, cases: list[Case]) -> None:
    print(f"| {title} | read right | of |\n|---|---|---|")
    for kind in dict.fromkeys(case.kind for case in cases):
        of_kind = [case for case in cases if case.kind == kind]
        print(f"| {kind} | {sum(case.agrees for case in of_kind)} | {len(of_kind)} |")
    print()
    for case in cases:
        if not case.agrees:
            print(f"{case.kind}: {case.text!r} is {'right' if case.is_right else 'wrong'}")


if __name__ == "__main__":
    sys.exit(main())
