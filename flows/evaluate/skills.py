"""Skill transfer (EnterpriseClawBench, section 3.4): what one model writes down, another works by.

A consumer, an agent with its model, works on the in-domain tasks of each task class. A creator, a
model, distils one skill for each consumer and class from what happened there (`creators.py`). The
consumer then works on the held-out tasks of the class with the skill, as it did without.

ATTEMPTS/<release>/<consumer>/             without skills: the attempts of `benchmint evaluate`
HOME = OUT/private/<release>
HOME/attempts/<release>/<consumer>+<creator>/   with skills
HOME/skills/<consumer>+<creator>/               a folder for each skill, and the replies
.../scores/                                     tables of scores, in the folder of each

What is there is not made again: the same command goes on after any end, and pays nothing twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from statistics import fmean

import orjson
import polars as pl

from construction.judging.calls.contracts import Mode
from data.atomic import private_dir
from data.attempts import (
    TABLES_FOLDER,
    AttemptRecord,
    attempt_name,
    check_name,
    finished,
    has_attempts,
    read_attempts,
)
from data.contracts import Candidate
from data.contracts.attempt import AttemptStatus, Score
from data.errors import InputError
from data.progress import counting, underway
from data.randomness import keyed_order
from data.releases.tasks import ReleasedTasks, read_tasks, require_guarded, require_outside
from data.snapshot import layout
from flows.evaluate.creators import REPLY_TOKENS, Shown, Written, distil, kept_skill, skill_name
from flows.evaluate.grading import grade_folder
from flows.evaluate.http_agent import is_here
from flows.evaluate.judging import JudgeOrder, judge, private_of_build
from flows.evaluate.plan import (
    HTTP,
    MODEL_AGENT,
    Plan,
    Request,
    check_request,
    held,
    plan_of,
    wanted_attempts,
)
from flows.evaluate.programs import KNOWN, has_skills
from flows.evaluate.reading import scores_of
from flows.evaluate.run import evaluate, model_of
from selection.evaluation.board import counted
from selection.evaluation.transfer import Pair

_IN_DOMAIN, _HELD_OUT = "in_domain", "held_out"
_HELD_OUT_SHARE = 1 / 3  # of a class that the release does not split: the paper has 10 and 5 tasks
_FEWEST = 2  # tasks of a class: to learn on and to test on


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What `benchmint agents skills` is asked for.

    Consumers are requests as for `benchmint evaluate`, creators those of their models alone. A
    skill is distilled from at most `in_domain` tasks. `judge`: the model that scores open parts.
    """

    snapshot: Path
    attempts: Path
    out: Path
    consumers: tuple[Request, ...]
    creators: tuple[Request, ...]
    classes: tuple[str, ...] = ()
    in_domain: int = 10
    judge: str | None = None
    judge_url: str = ""


@dataclass(frozen=True, slots=True)
class _TransferClass:
    """Tasks that skills are learned on, and others of the class that they are tested on.

    `split` is `release` where the release says which are held out, `drawn` where its seed decides.
    """

    name: str
    in_domain: tuple[str, ...]
    held_out: tuple[str, ...]
    split: str


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """What is in no figure, and why: a class, the skill of a class, or a held-out task."""

    what: str
    name: str
    creator: str
    consumer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Use:
    """What a consumer took per attempt at held-out tasks, without and with skills.

    Means; None where unknown. `opened`: in how many of `attempts` the skill was looked at; None
    where it is part of the task's text.
    """

    creator: str
    consumer: str
    tokens_before: float | None
    tokens_after: float | None
    cost_before: float | None
    cost_after: float | None
    opened: int | None
    attempts: int


@dataclass(slots=True)
class Study:
    """All that came out. Each held-out task of each creator and consumer is a pair or left out."""

    release: str
    release_digest: str
    classes: Sequence[_TransferClass]
    consumers: Sequence[str]
    creators: Sequence[str]
    judge: str | None
    pairs: list[Pair] = field(default_factory=list)
    skills: list[Written] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    left_out: list[_LeftOut] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Ran:
    """A configuration that ran: attempts and their scores, and why it was not let at tasks.

    `means` are the score and the pass rate of each task that has a score, over its epochs.
    """

    plan: Plan
    attempts: Mapping[str, Sequence[Shown]]
    means: Mapping[str, tuple[float, float | None]]
    reasons: Mapping[str, str]

    def why_not(self, task_id: str) -> str:
        """Why a task has no score."""
        own = [shown.record.attempt for shown in self.attempts.get(task_id, ())]
        if task_id in self.reasons:
            return self.reasons[task_id]
        if not own:
            return "it did not run; run the same command again to continue"
        if all(attempt.status is AttemptStatus.INFRA_ERROR for attempt in own):
            return "its attempts were ended by infrastructure errors"
        return "only a judge can score it (--judge)"


def _transfer_classes(
    tasks: Mapping[str, Candidate], seed: int, most_in_domain: int = 10
) -> tuple[list[_TransferClass], dict[str, str]]:
    """The classes with tasks on both sides, and why others are left out, by name.

    A class is a big class of the release, or a task family of its lane where it has none. Where
    the release does not hold out some of its tasks, and not all, a third is drawn.
    """
    members: defaultdict[str, list[str]] = defaultdict(list)
    for task_id in sorted(tasks):
        members[_class_name(tasks[task_id])].append(task_id)
    classes, reasons = [], {}
    for name, ids in sorted(members.items()):
        if len(ids) < _FEWEST:
            reasons[name] = "a class with a single task has no other task to learn from"
            continue
        order = [ids[at] for at in keyed_order(seed, "skills", ids)]
        labels = {task_id: tasks[task_id].task_class for task_id in order}
        split: dict[str, str | None] = {
            task_id: label.split if label else None for task_id, label in labels.items()
        }
        is_split = set(split.values()) == {_IN_DOMAIN, _HELD_OUT}
        if not is_split:
            n_held = max(1, round(_HELD_OUT_SHARE * len(ids)))
            split = {**dict.fromkeys(order, _IN_DOMAIN), **dict.fromkeys(order[:n_held], _HELD_OUT)}
        learned = [task_id for task_id in order if split[task_id] == _IN_DOMAIN]
        tested = [task_id for task_id in order if split[task_id] == _HELD_OUT]
        origin = "release" if is_split else "drawn"
        classes.append(_TransferClass(name, tuple(learned[:most_in_domain]), tuple(tested), origin))
    return classes, reasons


def _class_name(task: Candidate) -> str:
    """The class whose tasks share a skill."""
    if task.task_class is not None:
        return task.task_class.big_class
    return f"{task.lane}.{task.task_family.value if task.task_family else 'none'}"


def study(order: Order) -> Study:
    """Run what is not done yet, and pair the results. Raises InputError."""
    release, classes, reasons = prepare(order)
    plans = plans_without(order, classes)
    with redirect_stdout(StringIO()):  # Inspect announces itself there
        for plan in (*plans, *(plan_of(request) for request in order.creators)):
            model_of(plan)  # refused before anything is paid
    home = private_dir(private_dir(order.out / "private") / release.snapshot)
    made = Study(
        release.snapshot, release.digest, classes,
        [request.title for request in order.consumers],
        [request.model or "" for request in order.creators], order.judge,
        left_out=[_LeftOut("class", name, "", "", reason) for name, reason in reasons.items()],
    )  # fmt: skip
    with held(home):
        for request, plan in zip(order.consumers, plans, strict=True):
            _consumer(order, made, home, request, plan)
    return made


def plans_without(order: Order, classes: Sequence[_TransferClass]) -> list[Plan]:
    """What each consumer is to do without skills. Raises InputError."""
    tasks = tuple(task for of in classes for task in (*of.in_domain, *of.held_out))
    return [
        plan_of(replace(request, snapshot=order.snapshot, out=order.attempts, task=tasks))
        for request in order.consumers
    ]


def prepare(order: Order) -> tuple[ReleasedTasks, list[_TransferClass], dict[str, str]]:
    """The release, its classes, and the reasons of those left out. Raises InputError."""
    require_outside(order.snapshot, order.out)
    for request in order.consumers:
        if request.kind not in (MODEL_AGENT, *KNOWN, HTTP):
            expected = f"agents that can use a skill: {', '.join((MODEL_AGENT, *KNOWN))}, or a URL"
            raise InputError("--consumers", request.agent, expected, "Choose one of these.")
    for request in (*order.consumers, *order.creators):
        check_request(request)
    release = read_tasks(order.snapshot)
    if release.private is None:
        expected = "private/ next to public/, for grading attempts"
        raise InputError(release.snapshot, "no private half", expected, "Restore it.")
    if not all(request.base_url and is_here(request.base_url) for request in order.creators):
        require_guarded(order.snapshot)  # creators elsewhere read traces and what was checked
    manifest = orjson.loads((release.public / layout.MANIFEST).read_bytes())
    candidates = {task_id: task.candidate for task_id, task in release.tasks.items()}
    classes, reasons = _transfer_classes(candidates, manifest["seed"], order.in_domain)
    known = [item.name for item in classes]
    if strange := [name for name in order.classes if name not in known]:
        why = reasons.get(strange[0])
        actual = f"{strange[0]} ({why})" if why else strange[0]
        raise InputError("--class", actual, ", ".join(known) or "none", "Choose one of these.")
    if order.classes:
        classes, reasons = [item for item in classes if item.name in order.classes], {}
    if not classes:
        expected = "a class with at least two: one to learn from and one to test on"
        raise InputError(release.snapshot, "no suitable tasks", expected, "Use a larger release.")
    return release, classes, reasons


def _consumer(order: Order, made: Study, home: Path, request: Request, plan: Plan) -> None:
    """One consumer without skills, and then with those of each creator."""
    title = request.title
    before = _run(order, plan, f"{title} without skills")
    for creator in order.creators:
        name = f"{title}+{(creator.model or '').replace('/', '-')}"
        check_name(name)
        skills = _skills(order, made, home / "skills" / name, before, creator)
        given = {
            task_id: skills[of.name].skill
            for of in made.classes
            if of.name in skills
            for task_id in of.held_out
        }
        after = None
        if given:
            own = replace(request, snapshot=order.snapshot, name=name, task=tuple(given))
            with_skills = replace(plan_of(replace(own, out=home / "attempts")), skills=given)
            after = _run(order, with_skills, f"{title} with skills of {creator.model}")
            made.uses.append(_use(before, after, title, creator.model or ""))
        _compare(made, before, after, title, creator.model or "")


def _run(order: Order, plan: Plan, title: str) -> _Ran:
    """Let a configuration work, and have its attempts graded or judged."""
    todo = len(wanted_attempts(plan).keys() - finished(plan.folder))
    with counting(title, todo, "attempt") as advance:
        ended = evaluate(plan, advance)
    if not has_attempts(plan.folder):
        return _Ran(plan, {}, {}, ended.left_out)
    tables = plan.folder / TABLES_FOLDER
    with underway(f"{title}: scores"):
        _score(order, plan, tables)
    rows = pl.read_parquet(tables / "scores.parquet")
    scores: dict[str, Score] = scores_of(rows, pl.read_parquet(tables / "score_parts.parquet"))
    attempts: defaultdict[str, list[Shown]] = defaultdict(list)
    for folder, record in read_attempts(plan.folder):
        attempt = record.attempt
        if attempt.task_id in plan.task_ids and attempt.epoch <= plan.epochs:
            shown = Shown(folder, record, scores.get(attempt.attempt_id))
            attempts[attempt.task_id].append(shown)
    means = (
        counted(rows)
        .filter(pl.col("task_id").is_in(plan.task_ids), pl.col("epoch") <= plan.epochs)
        .drop_nulls("overall")
        .group_by("task_id")
        .agg(pl.col("overall", "passed").mean())
        .iter_rows()
    )
    by_task = {task_id: (overall, passed) for task_id, overall, passed in means}
    return _Ran(plan, attempts, by_task, ended.left_out)


def _score(order: Order, plan: Plan, tables: Path) -> None:
    """Write the scores of a configuration's attempts, judged where a judge is named."""
    if order.judge is None:
        grade_folder(order.snapshot, plan.folder, tables)
        return
    hidden = tuple(path.resolve() for path in private_of_build(order.snapshot))
    judge(
        JudgeOrder(
            attempts=plan.folder, snapshot=order.snapshot, model=order.judge,
            base_url=order.judge_url, mode=Mode.RECORD, most_tokens=None, packets=0, seed=0,
            tables=tables, hidden=hidden,
        )
    )  # fmt: skip


def _skills(
    order: Order, made: Study, folder: Path, before: _Ran, creator: Request
) -> dict[str, Written]:
    """The skill of each class, kept or newly written; where there is none, the reason is kept."""
    skills = {}
    for of in made.classes:
        written = _skill(order, folder, before, creator, of)
        if isinstance(written, Written):
            skills[of.name] = written
            made.skills.append(written)
        else:
            consumer = before.plan.configuration.name
            made.left_out.append(_LeftOut("skill", of.name, creator.model or "", consumer, written))
    return skills


def _skill(
    order: Order, folder: Path, before: _Ran, creator: Request, of: _TransferClass
) -> Written | str:
    """A skill, or why there is none. One that is on disk stands, whatever happened since."""
    folder /= skill_name(of.name)
    if kept := kept_skill(folder):
        return kept
    possible = [task for task in of.in_domain if task not in before.reasons]
    wanted = {attempt_name(task, n + 1) for task in possible for n in range(before.plan.epochs)}
    if n_open := len(wanted - finished(before.plan.folder)):
        return f"{n_open} in-domain attempts are unfinished; run the same command again to continue"
    if not possible:
        return "the consumer cannot attempt any of the in-domain tasks"
    shown = [item for task in possible for item in before.attempts[task]]
    asked_for = replace(
        creator, snapshot=order.snapshot, out=folder, reply_tokens=REPLY_TOKENS, name="creator"
    )
    with underway(f"{creator.model} distils a skill for {before.plan.configuration.name}"):
        return distil(plan_of(asked_for), before.plan, of.name, shown, folder)


def _compare(made: Study, before: _Ran, after: _Ran | None, consumer: str, creator: str) -> None:
    """Pair the held-out tasks of a consumer; each is in a pair or left out with a reason."""
    for of in made.classes:
        for task in of.held_out:
            if task not in before.means:
                reason = f"without a skill: {before.why_not(task)}"
            elif after is None or task not in after.plan.skills:
                reason = "no skill for its class"
            elif task not in after.means:
                reason = f"with the skill: {after.why_not(task)}"
            else:
                (score, passed), (new, now) = before.means[task], after.means[task]
                made.pairs.append(Pair(creator, consumer, of.name, task, score, new, passed, now))
                continue
            made.left_out.append(_LeftOut("task", task, creator, consumer, reason))


def _use(before: _Ran, after: _Ran, consumer: str, creator: str) -> Use:
    """What the held-out tasks took that were tried with a skill."""
    first = [item.record for task in after.attempts for item in before.attempts.get(task, ())]
    second = [item.record for items in after.attempts.values() for item in items]
    opened = sum(_opens(record, after.plan) for record in second)
    return Use(
        creator, consumer, _tokens(first), _tokens(second), _cost(first), _cost(second),
        opened if has_skills(after.plan.program) else None, len(second),
    )  # fmt: skip


def _opens(record: AttemptRecord, plan: Plan) -> bool:
    """Does any call name the skill, as reading its file or asking for it does?"""
    name = plan.skills[record.attempt.task_id].name
    return any(name in str(call.arguments) for call in record.submission.calls)


def _tokens(records: Sequence[AttemptRecord]) -> float | None:
    used = [record.attempt.usage for record in records]
    totals = [usage.input_tokens + usage.cached_tokens + usage.output_tokens for usage in used]
    return fmean(totals) if totals else None


def _cost(records: Sequence[AttemptRecord]) -> float | None:
    costs = [record.attempt.usage.cost for record in records]
    known = [cost for cost in costs if cost is not None]
    return fmean(known) if known and len(known) == len(costs) else None
