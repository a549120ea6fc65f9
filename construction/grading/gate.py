"""The gate that a task's grader has to pass before the task may be released, and its settings.

The grader is attacked (`attacks`), and the oracle answers the tasks for which an answer can be
computed. A grader that takes a submission without work for a solution, or that rejects the computed
answer, is of no use, whatever the task is like. Nor is a criterion of a rubric, unless some judge
can be shown, as text or by its look, the deliverable and the files that the criterion points at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from construction.grading.file_types import TYPES, FileType, type_of
from construction.grading.spec import EMPTY_CALLS, NULL, TALK
from data.contracts import (
    Bound,
    Candidate,
    Fixture,
    Gate,
    GateReason,
    Limit,
    Measures,
    Share,
    StageConfig,
    Status,
)

if TYPE_CHECKING:  # whoever lists the gates loads no grader
    from construction.grading.attacks import Grader
    from construction.grading.spec import TaskSpec
    from data.contracts.attempt import Score, Submission

STAGE = "preflight"
SECTION = "grading"


class GradingRecipe(StageConfig):
    """How attempts are scored, and what a grader must withstand before its task is released.

    `formula` is how parts are combined into the overall score: their mean, weighted by `weight`.
    `null_limit` is the share of the deterministic weight that a submission with no work may earn. A
    task is `judge_only` if no weighted part can be scored without a judge; it is `needs_model` if
    only a rubric could score it and rules could not write a usable one.
    """

    formula: Literal["weighted_mean"] = "weighted_mean"
    pass_threshold: Share = 0.8  # for the overall score; each required part must also score 1
    null_limit: Share = 0.2
    judge_only: Literal["admit", "refuse"] = "admit"
    needs_model: Literal["admit", "refuse"] = "admit"


class GraderReason(GateReason):
    PASSED_BY_NULL = (
        "preflight.passed_by_null",
        "An empty submission, or files with none of the agent's own work, score too high.",
    )
    PASSED_BY_TALK = "preflight.passed_by_talk", "Describing the reference path scores too high."
    PASSED_BY_EMPTY_CALLS = (
        "preflight.passed_by_empty_calls",
        "Describing the path and calling each tool without arguments scores too high.",
    )
    ORACLE = (
        "preflight.oracle",
        "The grader does not accept the answer computed by the reference steps.",
    )
    NEEDS_MODEL = (
        "preflight.needs_model",
        "Rules cannot write a usable rubric, and every part needs one.",
    )
    JUDGE_ONLY = "preflight.judge_only", "No weighted part can be scored without a judge."


@dataclass(frozen=True, slots=True)
class Attacked:
    """What submissions without work earned, 0 to 1 by family, and what the oracle scored.

    `strongest` names the attack that earned most, if one earned anything. `oracle` is None where
    no answer can be computed. `deterministic_parts` counts the parts with weight that need no
    judge, `deterministic_share` is their share of the weight. `weak_rules` counts hard rules that
    files without work satisfied: they only admit to grading by a rubric or by proven programs.
    """

    null: float
    talk: float
    empty_calls: float
    strongest: str | None
    oracle: float | None
    deterministic_parts: int
    deterministic_share: float
    needs_model: bool = False
    weak_rules: int = 0


def measure(
    spec: TaskSpec,
    tools: Sequence[str],
    inputs: Mapping[str, Path],
    folder: Path,
    grader: Grader,
    computed: Submission | None,
    *,
    is_computable: bool,
    needs_model: bool = False,
) -> Attacked:
    """Attack the grader of one task; `computed` is what the oracle submits, None if it failed.

    `needs_model`: its rubric is not usable.
    """
    from construction.grading.attacks import attacks, gain

    gains = {NULL: 0.0, TALK: 0.0, EMPTY_CALLS: 0.0}
    strongest, most = None, 0.0
    nothing: Score | None = None
    for attack in attacks(spec, tools, inputs, folder):
        score = grader(spec, attack.submission)
        nothing = nothing or score
        earned = gain(score)
        gains[attack.family] = max(gains[attack.family], earned)
        if earned > most:
            strongest, most = attack.name, earned
    assert nothing is not None
    scored = [part for part in nothing.parts if part.deterministic and part.weight > 0]
    return Attacked(
        null=gains[NULL],
        talk=gains[TALK],
        empty_calls=gains[EMPTY_CALLS],
        strongest=strongest,
        oracle=_oracle_score(spec, grader, computed) if is_computable else None,
        deterministic_parts=len(scored),
        deterministic_share=nothing.deterministic_share,
        needs_model=needs_model and not scored,
    )


def _oracle_score(spec: TaskSpec, grader: Grader, computed: Submission | None) -> float:
    """Its deterministic score; 0 if there is no submission, or if it does not pass."""
    from construction.grading.combine import deterministic_score

    if computed is None:
        return 0.0
    score = grader(spec, computed)
    return 0.0 if score.passed is False else deterministic_score(score.parts)


def _has_oracle(seen: Measures) -> bool:
    return seen["oracle"] is not None


def _earned(family: str, reason: GraderReason, meaning: str) -> Limit:
    return Limit(
        "null_limit",
        Bound.MAX,
        "share of the deterministic weight",
        meaning,
        reason,
        value=lambda seen: seen[family],
    )


def _judge_only(policy: str, status: Any) -> Limit:
    return Limit(
        "deterministic parts",
        Bound.MIN,
        "parts",
        "At least one weighted part is scored without a judge.",
        GraderReason.JUDGE_ONLY,
        value=lambda seen: seen["deterministic_parts"],
        at=1,
        movable=False,
        policy=("judge_only", policy),
        status=status,
    )


def _needs_model(policy: str, status: Any) -> Limit:
    return Limit(
        "rubrics that need a model",
        Bound.MAX,
        "rubrics",
        "If only a rubric can score the task, the rubric is usable.",
        GraderReason.NEEDS_MODEL,
        value=lambda seen: int(seen["needs_model"]),
        at=0,
        movable=False,
        policy=("needs_model", policy),
        status=status,
    )


GATE: Gate[Attacked, GradingRecipe] = Gate(
    name="grader",
    stage=STAGE,
    section=SECTION,
    meaning="Does its grader reject submissions with no work in them, and accept the computed "
    "answer?",
    config=GradingRecipe,
    reasons=GraderReason,
    measure=measure,
    limits=(
        _earned(
            NULL,
            GraderReason.PASSED_BY_NULL,
            "An empty submission, or files with no work in them, earn at most this and "
            "satisfy no required part.",
        ),
        _earned(
            TALK,
            GraderReason.PASSED_BY_TALK,
            "A description of the reference path earns at most this and satisfies no "
            "required part.",
        ),
        _earned(
            EMPTY_CALLS,
            GraderReason.PASSED_BY_EMPTY_CALLS,
            "A submission with no work in it earns at most this and satisfies no required part.",
        ),
        Limit(
            "oracle",
            Bound.MIN,
            "score",
            "If the answer can be computed, it scores at least this.",
            GraderReason.ORACLE,
            value=lambda seen: seen["oracle"],
            when=_has_oracle,
            at=1,
            movable=False,
        ),
        _needs_model("refuse", Status.FAILED),
        _needs_model("admit", Status.UNVERIFIED),
        _judge_only("refuse", Status.FAILED),
        _judge_only("admit", Status.UNVERIFIED),
    ),
    headline="null_limit",
)


# Types whose look can be judged.
VISUAL = frozenset({"pptx", "png", "jpg", "gif", "webp", "svg", "html", "pdf", "docx", "xlsx"})
_SHOWN = ("text/", "image/")  # media types that a judge can be shown, whatever the file's name


def unresolved(task: Candidate) -> Iterator[tuple[str, str]]:
    """What is left to a judge and cannot be shown to one: what is wrong, and where.

    A task without files is judged by its answer. A criterion that names evidence needs one piece
    that can be shown by either route: an input file, or a URL that the task may reach.
    """
    if task.rubric is None or not task.rubric.criteria:
        return
    types = [TYPES.get(item.file_type) for item in task.deliverables]
    if types and not any(_shows(kind, task.rubric.route) for kind in types):
        yield f"nothing_to_judge_as_{task.rubric.route}", "rubric"
    shown = {fixture.path for fixture in task.fixtures if _can_be_shown(fixture)}
    for number, criterion in enumerate(task.rubric.criteria, 1):
        if criterion.evidence and not _has_one(criterion.evidence, shown, task.network.urls):
            yield "no_evidence_to_show", f"criterion {number}"


def _shows(kind: FileType | None, route: str) -> bool:
    if kind is None:  # no rule opens it, a judge is shown what of it is text
        return route == "text"
    return kind.name in VISUAL if route == "visual" else _has_text(kind)


def _has_text(kind: FileType) -> bool:
    return kind.opener not in (None, "image", "zip")


def _can_be_shown(fixture: Fixture) -> bool:
    kind = type_of(fixture.path)
    if kind is None:
        return fixture.media_type.startswith(_SHOWN)
    return _has_text(kind) or kind.name in VISUAL


def _has_one(evidence: Sequence[str], shown: set[str], urls: Sequence[str]) -> bool:
    """Does one pointer (`path`, `path#part` or a URL) lead to what can be shown?"""
    return any(
        pointer in urls or pointer in shown or pointer.partition("#")[0] in shown
        for pointer in evidence
    )
