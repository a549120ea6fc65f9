"""From graded attempts to scores without unjudged parts: what a judge is shown, what follows.

What was not delivered is worth nothing and is not judged. A part without a supported verdict counts
as not met, whatever the reason: an attempt that keeps its judge from a verdict must not be better
off than one that is judged. What it would have come to with these parts met stands beside the score
(`passed_at_best`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any

from construction.grading.combine import combine, is_passed
from construction.grading.file_child import regular_files
from construction.grading.file_types import type_of
from construction.grading.grade import criteria, termination
from construction.grading.logs import GradedRun
from construction.grading.spec import TaskSpec, spec_of
from construction.judging.calls.contracts import Image
from construction.judging.contracts import Asker, ModelStagesConfig
from construction.judging.evidence.delivered import changes_of, pages_of
from construction.judging.evidence.shown import plain_text
from construction.judging.evidence.views import Evidence, FileView, look
from construction.judging.model.attempt_case import WORTH, AttemptCase, JudgedAttempt
from construction.judging.model.attempts import judge_attempts
from construction.judging.review import LONGEST_ITEM, Decisions, ReviewItem, Topic
from construction.mentions.files import tail
from data.attempts import AttemptRecord, outputs_folder, read_attempts
from data.contracts import Candidate, Lane
from data.contracts.attempt import Attempt, Score, ScorePart
from data.neutralise import visible
from data.randomness import Key, keyed_order
from data.releases.tasks import ReleasedTask, ReleasedTasks

_MOST_FILES, _MOST_PAGES = 20, 40  # that a judge is shown
_MOST_PICTURED = 16 << 20  # bytes of all pages of an attempt; endpoints refuse larger requests
_COUNTED_FILES = 10_000
_NOT_RENDERED = "its pages are not shown"
_TASK_CHARS = 2_000  # of the task, in a packet for people

# The evidence of an attempt with what its outputs (a folder) say besides: an applied patch.
_LookAt = Callable[[ReleasedTask, Path, Evidence], Evidence]


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """Attempts and scores after judging, the cases that were judged, and their verdicts."""

    run: GradedRun
    cases: tuple[AttemptCase, ...]
    results: tuple[JudgedAttempt, ...]
    untouched: int  # attempts with unjudged parts of which nothing could be shown


def judge_run(
    release: ReleasedTasks,
    run: GradedRun,
    logs: Path,
    client: Asker,
    config: ModelStagesConfig,
    kept: Path,
    key: Key,
    looks: Mapping[Lane, _LookAt] = MappingProxyType({}),
) -> JudgedRun:
    """Judge what the graders left open below `logs`; `kept` holds pages that were rendered.

    `key` draws the control criteria: private, and the same in a replay.

    Raises SandboxFailed without a sandbox for pages, UnansweredError without some reply.
    """
    tasks: dict[str, _OpenTask] = {}
    recorded = {record.attempt.attempt_id: (own, record) for own, record in read_attempts(logs)}
    cases: dict[str, AttemptCase] = {}
    for attempt, score in run.scores:
        if _open_parts(score):
            own, record = recorded[attempt.attempt_id]
            outputs = outputs_folder(own, attempt.task_id, attempt.epoch)
            if attempt.task_id not in tasks:
                tasks[attempt.task_id] = _OpenTask.of(release, attempt.task_id)
            case = tasks[attempt.task_id].case(record, score, outputs, kept, looks)
            where = outputs.relative_to(logs).as_posix()
            cases[attempt.attempt_id] = replace(case, folder=where)
    shown = [case for case in cases.values() if case.nothing is None]
    results = judge_attempts(shown, client, config, key)
    by_id = {result.attempt_id: result for result in results}
    scores = []
    for attempt, score in run.scores:
        name = attempt.attempt_id
        if name in cases:
            spec, record = tasks[attempt.task_id].spec, recorded[name][1]
            score = _settled(spec, record, score, cases[name], by_id.get(name), config.judge)
        scores.append((attempt, score))
    untouched = len(cases) - len(shown)
    return JudgedRun(_ended(run, scores), tuple(shown), tuple(results), untouched)


def _open_parts(score: Score) -> list[ScorePart]:
    """The parts with weight that only a judge can score, and that none has."""
    return [
        part
        for part in score.parts
        if part.value is None and part.weight > 0 and not part.deterministic
    ]


@dataclass(frozen=True, slots=True)
class _OpenTask:
    """A task with parts that a judge has to score, and the views of its inputs."""

    task: ReleasedTask
    spec: TaskSpec
    criteria: tuple[str, ...]
    inputs: tuple[FileView, ...]
    by_looks: bool

    @classmethod
    def of(cls, release: ReleasedTasks, task_id: str) -> _OpenTask:
        task, grading = release.tasks[task_id], release.grading(task_id)
        rubric: Mapping[str, Any] = grading.get("rubric") or {}
        texts = tuple(map(_criterion, rubric.get("criteria", ())))
        by_looks = rubric.get("route") == "visual"
        return cls(task, spec_of(grading), texts, look(task.inputs), by_looks)

    def case(
        self,
        record: AttemptRecord,
        score: Score,
        outputs: Path,
        kept: Path,
        looks: Mapping[Lane, _LookAt],
    ) -> AttemptCase:
        """What a judge is shown of an attempt with these outputs."""
        candidate = self.task.candidate
        delivered, left_out = _delivered(outputs, candidate)
        views, pages = _shown(outputs, delivered, kept if self.by_looks else None)
        wanted = {part.name for part in _open_parts(score)}
        named = zip((part.name for part in criteria(self.spec)), self.criteria, strict=True)
        evidence = Evidence(
            files=self.inputs, outputs=views, changes=changes_of(self.inputs, views)
        )
        return AttemptCase(
            attempt_id=record.attempt.attempt_id,
            task=self.task.instruction,
            criteria={name: text for name, text in named if name in wanted},
            answer=record.submission.answer,
            evidence=looks.get(candidate.lane, _as_it_is)(self.task, outputs, evidence),
            pages=pages,
            wants_files=bool(candidate.deliverables),
            left_out=left_out,
        )


def _as_it_is(_task: ReleasedTask, _outputs: Path, evidence: Evidence) -> Evidence:
    return evidence


def _criterion(criterion: Mapping[str, Any]) -> str:
    """A criterion with its anchors, where it has some."""
    anchors: Mapping[str, Any] = criterion.get("anchors") or {}
    shown = "".join(
        f" [{name.replace('_', ' ')}: {text}]" for name, text in anchors.items() if text
    )
    return f"{criterion['dimension']}: {criterion['text']}{shown}"


def _delivered(outputs: Path, candidate: Candidate) -> tuple[list[str], int]:
    """The files that a judge is shown, those that the task names first, and how many others.

    A folder that is a link delivers nothing.
    """
    hints = {tail(name) for item in candidate.deliverables for name in item.name_hints}
    types = {item.file_type for item in candidate.deliverables}

    def rank(name: str) -> tuple[bool, bool]:
        kind = type_of(name)
        return tail(name) not in hints, kind is None or kind.name not in types

    delivered = () if outputs.is_symlink() else regular_files(outputs, _COUNTED_FILES)
    names = sorted(delivered, key=rank)
    return names[:_MOST_FILES], max(0, len(names) - _MOST_FILES)


def _shown(
    outputs: Path, names: Sequence[str], kept: Path | None
) -> tuple[tuple[FileView, ...], dict[str, tuple[Image, ...]]]:
    """The views of outputs, and pictures of their pages; `kept` None: those are not looked at."""
    views = list(look({name: outputs / name for name in names}))
    pages: dict[str, tuple[Image, ...]] = {}
    room, bytes_left = _MOST_PAGES, _MOST_PICTURED
    for at, name in enumerate(names if kept is not None else ()):
        made, trouble = pages_of(outputs, name, kept or outputs)
        ends = accumulate(len(page.content) for page in made)
        fitting = zip(made[:room], ends, strict=False)
        pages[views[at].path] = own = tuple(page for page, end in fitting if end <= bytes_left)
        room -= len(own)
        bytes_left -= sum(len(page.content) for page in own)
        if trouble and trouble != "no_pages":
            note = "; ".join(filter(None, (views[at].note, f"{_NOT_RENDERED}: {trouble}")))
            views[at] = views[at].model_copy(update={"note": note})
    return tuple(views), pages


def _settled(
    spec: TaskSpec,
    record: AttemptRecord,
    score: Score,
    case: AttemptCase,
    result: JudgedAttempt | None,
    judge: str,
) -> Score:
    """The score with the verdicts in it; without a result nothing could be judged."""
    is_open = set(map(id, _open_parts(score)))
    parts = [_part(p, case, result, judge) if id(p) in is_open else p for p in score.parts]
    whole = combine(
        spec.task_id,
        parts,
        steps=record.submission.steps,
        gold_steps=len(spec.steps),
        progress=score.progress,
    )
    verdicts = result.verdicts if result is not None else {}
    unsupported = {name for name, seen in verdicts.items() if seen.verdict is None}
    at_best = [replace(p, value=None) if p.name in unsupported else p for p in parts]
    could_pass = is_passed(at_best) is not False if unsupported else None
    return replace(whole, judge=judge, passed_at_best=could_pass)


def _part(
    part: ScorePart, case: AttemptCase, result: JudgedAttempt | None, judge: str
) -> ScorePart:
    outputs = case.evidence.outputs
    not_read = Counter(view.note for view in outputs if view.kind in ("unreadable", "binary"))
    not_read += Counter(view.note for view in outputs if _NOT_RENDERED in view.note)
    detail: dict[str, Any] = {"judge": judge, "addressed": case.is_addressed}
    detail |= {"not_read": dict(sorted(not_read.items()))} if not_read else {}
    detail |= {"files_not_shown": case.left_out} if case.left_out else {}
    if result is None:
        return replace(part, value=0.0, reason=case.nothing, detail=detail)
    seen = result.verdicts[part.name]
    detail |= {
        "finding": seen.finding,
        "quotes": list(seen.quotes),
        "page": seen.page,
        "supported": seen.verdict is not None,
    }
    return replace(part, value=WORTH[seen.counted], reason=seen.reason, detail=detail)


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


def packets(
    judged: JudgedRun, judge: str, most: int, seed: int, earlier: Sequence[ReviewItem]
) -> list[ReviewItem]:
    """The parts of at most so many attempts, drawn by the seed, and all that were drawn `earlier`.

    Earlier ones are made anew where their attempt was judged now, and stay as they are elsewhere:
    a sheet that is out can still come back.
    """
    ids = [case.attempt_id for case in judged.cases]
    drawn = {ids[at] for at in keyed_order(seed, "packets", ids)[:most]}
    drawn |= {item.item_id.rpartition(":")[0] for item in earlier}
    items = {item.key: item for item in earlier}
    for case, result in zip(judged.cases, judged.results, strict=True):
        for part, criterion in case.criteria.items() if case.attempt_id in drawn else ():
            item = ReviewItem(
                item_id=_item_id(result, part),
                topic=Topic.CRITERION,
                text=_packet_text(case, criterion),
                answers={judge: str(result.verdicts[part].verdict or "")},
            )
            items[item.key] = item
    return list(items.values())


def _item_id(result: JudgedAttempt, part: str) -> str:
    return f"{result.attempt_id}:{part}"


def _packet_text(case: AttemptCase, criterion: str) -> str:
    """Criterion, task and what was delivered; what is cut is named, and where the whole stands."""
    where = f"Delivered files: {case.folder}"
    if case.left_out:
        where += f" ({case.left_out} more than are shown here)"
    views = case.evidence.outputs
    files = (f"[{view.path}]\n{plain_text(view) or f'(no text: {view.note})'}" for view in views)
    task = _cut(visible(case.task), _TASK_CHARS, "the task of the release")
    whole = visible("\n\n".join([criterion, task, where, case.answer or "", *files]))
    return _cut(whole, LONGEST_ITEM, case.folder)


def _cut(text: str, most: int, where: str) -> str:
    """At most so many characters, with how many are missing and where the whole stands."""
    if len(text) <= most:
        return text
    mark = "\n⟨{} more characters are not shown; the whole stands in {}⟩"
    kept = most - len(mark) - len(where) - len(str(len(text)))
    return text[:kept] + mark.format(len(text) - kept, where)


def rated_pairs(judged: JudgedRun, decisions: Decisions) -> tuple[list[str], list[str]]:
    """What counts of the judge's verdicts, and those of people, on the parts that both judged."""
    pairs = [
        (str(seen.counted), decisions[key].decision.decision)
        for result in judged.results
        for part, seen in result.verdicts.items()
        if (key := (_item_id(result, part), Topic.CRITERION)) in decisions
    ]
    return [own for own, _ in pairs], [persons for _, persons in pairs]
