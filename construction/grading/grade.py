"""The grade of one attempt: answers, actions, files and rubric weighed in one way; its progress.

Milestones are found in tool calls and in what the agent wrote. A number that is equal by chance is
no evidence: it has to stand in the same call, or the same sentence, as one of the milestone's words
of context. Formulas after DataClawBench.

Imports nothing that the exported bundle does not have; files are looked at only where a task has
hard rules.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path

from construction.grading.actions import CHANGES, grade_actions
from construction.grading.answers.markup import sentences
from construction.grading.answers.numbers import gives_up
from construction.grading.answers.parts import grade_answers
from construction.grading.combine import PASS_THRESHOLD, combine, timely_progress
from construction.grading.findings import FINDINGS, grade_findings
from construction.grading.programs import Run
from construction.grading.spec import MilestoneSpec, TaskSpec
from construction.grading.state import (
    grade_state,
    read_outputs,
    state_checks,
    without_state_checks,
)
from data.contracts.attempt import (
    AttemptStatus,
    Call,
    Progress,
    Score,
    ScorePart,
    Submission,
    Termination,
)
from data.text.folding import fold_case, fold_spaces, fold_words
from data.text.numbers import Number, scan_numbers

_NEAR_ZERO = Decimal("1e-6")  # absolute: below it a relative tolerance means nothing
_MAX_CHARS = 200_000  # of an output or a statement
_EDGE = r"[\w/:]|[-.](?=\w)"  # what continues an identifier
_MINUS = re.compile(r"(?:[-−–△▲]\s?|minus |negative |\()[$€£¥]?\Z")
_PERCENT = re.compile(r"\s?(?:%|per ?cent)")


@dataclass(frozen=True)
class _Evidence:
    """A text in which a milestone may be found, and the step (from 1) that it belongs to.

    `operation` is the tool whose output it is; empty for arguments and statements.
    """

    step: int
    text: str
    operation: str = ""
    context: str = ""

    @cached_property
    def folded(self) -> str:
        return fold_spaces(fold_case(self.text))

    @cached_property
    def words(self) -> str:
        """The words of the call or sentence, between spaces."""
        return f" {fold_words(f'{self.context} {self.text}')} "

    @cached_property
    def numbers(self) -> list[tuple[Decimal, bool]]:
        """The numbers with their signs; the second of a pair is true for a percentage."""
        found_numbers = scan_numbers(self.folded)
        return [_signed(self.folded, number) for number in found_numbers]


def _signed(text: str, number: Number) -> tuple[Decimal, bool]:
    negative = _MINUS.search(text, max(0, number.start - 12), number.start) is not None
    is_percent = _PERCENT.match(text, number.end) is not None
    return -number.value if negative else number.value, is_percent


def _reached(spec: TaskSpec, submission: Submission) -> dict[str, int]:
    """Milestones with direct evidence, and the step (from 1) of the first one.

    Failed calls are no evidence. An output is evidence only for milestones of its own step and of
    earlier ones: a period that a list of companies happens to show has not been read.
    """
    if not spec.milestones:
        return {}
    evidence = sorted(_evidence(submission), key=lambda item: item.step)
    first_step = _first_steps(spec)
    steps: dict[str, int] = {}
    for milestone in spec.milestones:
        for item in evidence:
            if first_step.get(item.operation, milestone.step or 0) < (milestone.step or 0):
                continue
            if _is_shown(milestone, item, spec):
                steps[milestone.name] = item.step
                break
    return steps


def _inferred(spec: TaskSpec, direct: Mapping[str, int]) -> dict[str, int]:
    """The milestones reached directly, and those that they imply, at the same step at the latest.

    What is implied implies on; cycles end.
    """
    implied = {milestone.name: milestone.implies for milestone in spec.milestones}
    steps = dict(direct)
    waiting = list(direct)
    while waiting:
        name = waiting.pop()
        for earlier in implied.get(name, ()):
            if earlier in implied and steps[name] < steps.get(earlier, steps[name] + 1):
                steps[earlier] = steps[name]
                waiting.append(earlier)
    return steps


def progress(spec: TaskSpec, submission: Submission) -> Progress:
    """The progress of an attempt; meant for failed ones. Empty without milestones."""
    if not spec.milestones:
        return Progress()
    direct = _reached(spec, submission)
    steps = _inferred(spec, direct)
    missed = next((item for item in spec.milestones if item.name not in steps), None)
    operations = {step.index: step.operation for step in spec.steps}
    return Progress(
        gpr_direct=round(len(direct) / len(spec.milestones), 9),
        gpr_inferred=round(len(steps) / len(spec.milestones), 9),
        tpe=timely_progress(list(steps.values()), len(spec.steps)),
        first_unreached=None if missed is None else missed.name,
        operation=None if missed is None else operations.get(missed.step or 0) or None,
    )


def termination(
    status: AttemptStatus, submission: Submission, passed: bool | None
) -> Termination | None:
    """Why a failed attempt ended, by the first that fits; None for a passed one.

    An infrastructure error is no end of the agent's and has none either.
    """
    if passed or status is AttemptStatus.INFRA_ERROR:
        return None
    if status is AttemptStatus.TIMEOUT:
        return Termination.TIMEOUT
    answer = (submission.answer or "").strip()
    if not answer and status is AttemptStatus.COMPLETED:
        return Termination.SILENT_STOP
    if answer and gives_up(answer):
        return Termination.GAVE_UP
    is_answered = bool(answer) and status is AttemptStatus.COMPLETED
    return Termination.WRONG_ANSWER if is_answered else Termination.OTHER


def _evidence(submission: Submission) -> Iterator[_Evidence]:
    for call in submission.calls:
        if not call.is_error:
            yield from _of_call(call)
    for step, text in submission.statements:
        for sentence in sentences(text[:_MAX_CHARS]):
            if sentence.strip():
                yield _Evidence(step, sentence)
    if submission.answer:
        for sentence in sentences(submission.answer[-_MAX_CHARS:]):
            yield _Evidence(max(submission.steps, 1), sentence)


def _of_call(call: Call) -> Iterator[_Evidence]:
    """Arguments and output; the words of the whole call are the context of both."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)[:_MAX_CHARS]
    output = _unescaped(call.output[:_MAX_CHARS])
    yield _Evidence(call.step, arguments, "", output)
    yield _Evidence(call.step, output, call.name, arguments)


def _unescaped(output: str) -> str:
    """JSON with its escaped characters (\\u53d7) as they are read."""
    if "\\u" not in output:
        return output
    try:
        return json.dumps(json.loads(output), ensure_ascii=False)
    except (ValueError, RecursionError):
        return output


def _first_steps(spec: TaskSpec) -> dict[str, int]:
    """For each operation the last reference step that runs it."""
    return {step.operation: step.index for step in spec.steps if step.operation}


def _is_shown(milestone: MilestoneSpec, item: _Evidence, spec: TaskSpec) -> bool:
    if milestone.type == "number":
        return _has_context(milestone.context or (milestone.name,), item) and _has_number(
            milestone, item, spec
        )
    if milestone.context and not _has_context(milestone.context, item):
        return False
    if milestone.type == "text":
        return f" {fold_words(milestone.value)} " in item.words
    return _identifier(milestone.value).search(item.folded) is not None


def _has_context(context: Sequence[str], item: _Evidence) -> bool:
    folded = (fold_words(words) for words in context)
    return any(f" {words} " in item.words for words in folded if words)


def _identifier(value: str) -> re.Pattern[str]:
    """A pattern that finds the identifier whole."""
    folded = fold_spaces(fold_case(value))
    return re.compile(rf"(?<![\w/:.-]){re.escape(folded)}(?!{_EDGE})")


def _has_number(milestone: MilestoneSpec, item: _Evidence, spec: TaskSpec) -> bool:
    """Is one of the numbers the value, in base units or in the scale of an answer?"""
    try:
        value = Decimal(milestone.value.replace(",", ""))
    except InvalidOperation:
        return False
    allowed = max(abs(value) * Decimal(str(milestone.tolerance)), _NEAR_ZERO)
    scales = {Decimal(1), *(Decimal(answer.scale) for answer in spec.answers)}
    for number, is_percent in item.numbers:
        factors = {Decimal("0.01")} if is_percent and milestone.unit == "ratio" else scales
        if any(abs(number * factor - value) <= allowed for factor in factors):
            return True
    return False


_FileGrader = Callable[[TaskSpec, Path | None], Sequence[ScorePart]]
# Of an attempt that makes none of the wanted changes: a right report alone is not the work.
MOST_UNDONE = 0.2
RUBRIC_SHARE = 0.2  # of a task that has gold answers too: right answers pass it by themselves


def grade(
    spec: TaskSpec,
    submission: Submission,
    *,
    threshold: float = PASS_THRESHOLD,
    file_grader: _FileGrader | None = None,
    run: Run | None = None,
) -> Score:
    """The score of a submission; parts that need a judge stay unjudged.

    `file_grader` looks at the output files in place of `files.grade_files`; `run` runs delivered
    programs, without it the checks that need it stay unjudged. Never raises for anything that an
    agent made, except what `run` raises; raises ValueError for a gold value that is not of its
    type.
    """
    outputs = None if submission.outputs is None else Path(submission.outputs)
    parts = _weighed(
        grade_answers(spec, submission.answer),
        (
            *grade_actions(without_state_checks(_without_findings(spec)), submission),
            *_state(spec, outputs, run),
            *grade_findings(spec, outputs, run),
        ),
        criteria(spec),
    )
    score = combine(
        spec.task_id,
        (*parts, *_files(spec, outputs, file_grader)),
        steps=submission.steps,
        gold_steps=len(spec.steps),
        progress=progress(spec, submission),
        threshold=threshold,
    )
    if score.overall is not None and _is_left_undone(spec, score.parts):
        return replace(score, overall=min(score.overall, MOST_UNDONE))
    return score


def _without_findings(spec: TaskSpec) -> TaskSpec:
    """The task without its check programs."""
    return replace(spec, checks=tuple(c for c in spec.checks if c.kind != FINDINGS))


def _is_left_undone(spec: TaskSpec, parts: Sequence[ScorePart]) -> bool:
    """Did an attempt make none of the wanted changes, whatever it reports or changes besides?"""
    wanted = {f"check.{check.check_id}" for check in spec.checks if check.kind in CHANGES}
    values = [part.value for part in parts if part.name in wanted]
    return bool(values) and not any(values)


def _weighed(
    answers: Sequence[ScorePart], checks: Sequence[ScorePart], rubric: Sequence[ScorePart]
) -> tuple[ScorePart, ...]:
    """All parts with their weights in the whole task; this is the one rule for mixing them.

    Checks carry the weights that they state. What they leave goes to the answers where there are
    any, less `RUBRIC_SHARE` if the task has a rubric too: with the default threshold, right answers
    then decide the task, and no judge can turn wrong ones. Without answers the rubric carries what
    the checks leave. Within answers and within the rubric the shares stay as they are.
    """
    rest = max(0.0, 1.0 - sum(part.weight for part in checks))
    for_rubric = 0.0 if not rubric else min(RUBRIC_SHARE, rest) if answers else rest
    return (
        *_shared(answers, rest - for_rubric),
        *checks,
        *_shared(rubric, for_rubric),
    )


def _shared(parts: Sequence[ScorePart], share: float) -> list[ScorePart]:
    total = sum(part.weight for part in parts)
    return [replace(part, weight=part.weight / total * share if total else 0.0) for part in parts]


def criteria(spec: TaskSpec) -> tuple[ScorePart, ...]:
    """The criteria of the rubric as unjudged parts, `rubric.<dimension>`, numbered if repeated."""
    seen: Counter[str] = Counter()
    parts = []
    for criterion in spec.criteria:
        seen[criterion.dimension] += 1
        number = seen[criterion.dimension]
        suffix = f".{number}" if number > 1 else ""
        parts.append(
            ScorePart(
                name=f"rubric.{criterion.dimension}{suffix}",
                evidence="semantic",
                weight=criterion.weight,
                value=None,
                deterministic=False,
            )
        )
    return tuple(parts)


def _state(spec: TaskSpec, outputs: Path | None, run: Run | None) -> Sequence[ScorePart]:
    if not state_checks(spec):
        return ()
    return grade_state(spec, read_outputs(spec, outputs), run)


def _files(
    spec: TaskSpec, outputs: Path | None, file_grader: _FileGrader | None
) -> Sequence[ScorePart]:
    if not spec.rules:
        return ()
    if file_grader is not None:
        return file_grader(spec, outputs)
    # The libraries that open files are needed for tasks with files alone.
    from construction.grading.hard_rules import grade_files

    return grade_files(spec, outputs)
