"""From graded attempts to scores without unjudged parts: what a judge is shown, what follows.

What was not delivered is worth nothing and is not judged. A part whose verdict nothing
supports stays unjudged, and goes to people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from construction.grading.combine import combine
from construction.grading.file_child import regular_files
from construction.grading.grade import criteria
from construction.grading.logs import GradedRun
from construction.grading.milestones import termination
from construction.grading.spec import TaskSpec, spec_of
from construction.judging.contracts import (
    Asker,
    Judged,
    ModelStagesConfig,
)
from construction.judging.delivered_text import text_of
from construction.judging.model.attempt_case import (
    WORTH,
    AttemptCase,
    AttemptReason,
    DeliveredFile,
    PartVerdict,
    Verdicts,
)
from construction.judging.model.attempts import judge_attempts
from construction.judging.rendering import pages_of
from construction.judging.review import LONGEST_ITEM, ReviewItem, Topic
from data.attempts import AttemptRecord, outputs_folder, read_attempts
from data.contracts.attempt import Attempt, Score, ScorePart
from data.randomness import Key, keyed_order
from data.releases.tasks import ReleasedTask, ReleasedTasks

_MOST_FILES = 20
_TASK_CHARS = 2_000  # of the task, in a packet for people


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """Attempts and scores after judging, the cases that were judged, and their results."""

    run: GradedRun
    cases: tuple[AttemptCase, ...]
    results: tuple[Judged[Verdicts], ...]
    untouched: int  # attempts with unjudged parts of which nothing was delivered


def judge_run(
    release: ReleasedTasks,
    run: GradedRun,
    logs: Path,
    client: Asker,
    config: ModelStagesConfig,
    kept: Path,
    key: Key,
) -> JudgedRun:
    """Judge what the graders left open below `logs`; `kept` holds pages that were rendered.

    `key` draws the control criteria: private, and the same in a replay.

    Raises SandboxFailed where pages have to be seen and no sandbox works.
    """
    records = {
        record.attempt.attempt_id: (folder, record) for folder, record in read_attempts(logs)
    }
    specs = {name: spec_of(release.grading(name)) for name in _open_tasks(run)}
    cases: dict[str, AttemptCase | None] = {}
    for attempt, score in run.scores:
        if open_parts(score):
            folder, record = records[attempt.attempt_id]
            task, spec = release.tasks[attempt.task_id], specs[attempt.task_id]
            route = str((release.grading(attempt.task_id).get("rubric") or {}).get("route", "text"))
            outputs = outputs_folder(folder, attempt.task_id, attempt.epoch)
            looks = kept if route == "visual" else None
            cases[attempt.attempt_id] = case_of(task, spec, record, score, outputs, looks)
    open_cases = tuple(case for case in cases.values() if case is not None)
    results = tuple(judge_attempts(open_cases, client, config, key))
    by_id = {result.item_id: result for result in results}
    scores = [
        (attempt, _settled(specs[attempt.task_id], records[attempt.attempt_id][1], score,
                           cases[attempt.attempt_id], by_id.get(attempt.attempt_id), config.judge))
        if attempt.attempt_id in cases else (attempt, score)
        for attempt, score in run.scores
    ]  # fmt: skip
    untouched = sum(case is None for case in cases.values())
    return JudgedRun(_ended(run, scores), open_cases, results, untouched)


def _open_tasks(run: GradedRun) -> list[str]:
    return sorted({attempt.task_id for attempt, score in run.scores if open_parts(score)})


def open_parts(score: Score) -> list[ScorePart]:
    """The parts with weight that only a judge can score, and that none has."""
    return [
        part
        for part in score.parts
        if part.value is None and part.weight > 0 and not part.deterministic
    ]


def case_of(
    task: ReleasedTask,
    spec: TaskSpec,
    record: AttemptRecord,
    score: Score,
    outputs: Path,
    kept: Path | None,
) -> AttemptCase | None:
    """What a judge is shown; None where files were wanted and nothing can be read or seen.

    `kept` None: pages are not looked at.
    """
    names = list(regular_files(outputs, _MOST_FILES)) if outputs.is_dir() else []
    files = tuple(_delivered(outputs, name, kept) for name in names)
    has_content = any(file.text.strip() or file.pages for file in files)
    if task.candidate.deliverables and not has_content:
        return None
    if not has_content and not (record.submission.answer or "").strip():
        return None
    wanted = {part.name for part in open_parts(score)}
    texts = [f"{criterion.dimension}: {criterion.text}" for criterion in spec.criteria]
    named = zip((part.name for part in criteria(spec)), texts, strict=True)
    return AttemptCase(
        attempt_id=record.attempt.attempt_id,
        task=task.instruction,
        criteria={name: text for name, text in named if name in wanted},
        answer=record.submission.answer,
        files=files,
        inputs={name: text_of(path.parent, path.name)[0] for name, path in task.inputs.items()},
    )


def _delivered(outputs: Path, name: str, kept: Path | None) -> DeliveredFile:
    text, trouble = text_of(outputs, name)
    pages = pages_of(outputs, name, kept)[0] if kept is not None else ()
    return DeliveredFile(name, text, trouble, pages)


def _settled(
    spec: TaskSpec,
    record: AttemptRecord,
    score: Score,
    case: AttemptCase | None,
    result: Judged[Verdicts] | None,
    judge: str,
) -> Score:
    """The score with the verdicts in it; without a result its parts stay unjudged."""
    parts = tuple(
        part if part not in open_parts(score) else _part(part, case, result, judge)
        for part in score.parts
    )
    whole = combine(
        spec.task_id,
        parts,
        steps=record.submission.steps,
        gold_steps=len(spec.steps),
        progress=score.progress,
    )
    return replace(whole, judge=judge)


def _part(
    part: ScorePart, case: AttemptCase | None, result: Judged[Verdicts] | None, judge: str
) -> ScorePart:
    if case is None:
        return replace(part, value=0.0, reason=str(AttemptReason.NOTHING_DELIVERED))
    if result is None or result.value is None:
        return replace(part, reason=None if result is None else result.reason)
    seen = result.value[part.name]
    detail = {"judge": judge, "quotes": list(seen.quotes), "page": seen.page}
    return replace(
        part,
        value=None if seen.verdict is None else WORTH[seen.verdict],
        reason=None if seen.reason is None else str(seen.reason),
        detail=detail | {"addressed": case.is_addressed},
    )


def _ended(run: GradedRun, scores: Sequence[tuple[Attempt, Score]]) -> GradedRun:
    """The run with its new scores; how an attempt ended depends on whether it passed."""
    passed = {attempt.attempt_id: score.passed for attempt, score in scores}

    def ended(record: AttemptRecord) -> AttemptRecord:
        attempt = record.attempt
        if attempt.attempt_id not in passed:
            return record
        how = termination(attempt.status, record.submission, passed[attempt.attempt_id])
        return replace(record, attempt=replace(attempt, termination=how))

    attempts = tuple(map(ended, run.attempts))
    by_id = {record.attempt.attempt_id: record.attempt for record in attempts}
    own = tuple((by_id[a.attempt_id], score) for a, score in scores)
    return replace(run, attempts=attempts, scores=own)


def packets(judged: JudgedRun, judge: str, most: int, seed: int) -> list[ReviewItem]:
    """The parts of at most so many attempts, drawn by the seed, for people to judge too."""
    order = keyed_order(seed, "packets", [case.attempt_id for case in judged.cases])[:most]
    chosen = [(judged.cases[at], judged.results[at]) for at in sorted(order)]
    return [item for case, result in chosen for item in _items(case, result, judge)]


def _items(case: AttemptCase, result: Judged[Verdicts], judge: str) -> Iterator[ReviewItem]:
    files = (f"[{file.name}]\n{file.text}" for file in case.files)
    shown = "\n\n".join([case.answer or "", *files])
    for part, criterion in case.criteria.items():
        seen = result.value[part] if result.value is not None else PartVerdict(None)
        yield ReviewItem(
            item_id=f"{case.attempt_id}:{part}",
            topic=Topic.CRITERION,
            text=f"{criterion}\n\n{case.task[:_TASK_CHARS]}\n\n{shown}"[:LONGEST_ITEM],
            answers={judge: str(seen.verdict or "")},
        )


def rated_pairs(
    items: Iterable[ReviewItem], decisions: Mapping[tuple[str, Topic], Any], judge: str
) -> tuple[list[str], list[str]]:
    """The verdicts of the judge and of people on the parts that both judged."""
    pairs = [
        (item.answers.get(judge, ""), decisions[item.key].decision.decision)
        for item in items
        if item.key in decisions
    ]
    known = [(own, persons) for own, persons in pairs if own]
    return [own for own, _ in known], [persons for _, persons in known]
