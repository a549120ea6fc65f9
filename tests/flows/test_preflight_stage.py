"""The preflight of a build: weak graders never reach the selection, whatever made them weak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.grading.gate import GraderReason, GradingRecipe
from construction.grading.preflight import grading_facts
from construction.judging.baseline.grade import _hard_rules
from data.contracts import (
    Answer,
    Candidate,
    Check,
    Criterion,
    Deliverable,
    Disclosure,
    Lane,
    Outcome,
    Provenance,
    Rubric,
    Rule,
    Status,
)
from data.pool import read_pool, write_pool
from data.run_store import content_digest
from data.stage_tables import StageRecords, read_records
from data.stages import Results, run_stage
from flows.recipe import Recipe, Runtime
from flows.run import Run, open_run
from flows.stages import selection
from flows.stages.selection import (
    INFORMATIVE,
    PREFLIGHT,
    SANDBOX_PREFLIGHT,
    SELECT,
    chosen_candidates,
)

CREATE = {"service": "refunds", "operation": "create"}
LENGTH = {"extensions": ["docx"], "unit": "words", "min": 400}
RULES = (
    *_hard_rules([Deliverable(file_type="docx", name_hints=("review.docx",))], "Write it."),
    Rule(rule_id="length.docx.words", kind="length", params=LENGTH, text="It has 400 words."),
)
RUBRIC = Rubric(criteria=(Criterion(dimension="depth", weight=1.0, text="It is thorough."),))


def candidate(name: str, lane: Lane = Lane.SIGNALS, **parts: Any) -> Candidate:
    source = Provenance(
        source="planted", source_format="made", item_id=name, disclosure=Disclosure.PUBLIC
    )
    prompt = "Refund the broken lamp of order 17 and say how much it was."
    return Candidate(
        task_id=name, lane=lane, prompt=prompt, language="en", provenance=source, **parts
    )


def check(kind: str, params: dict[str, Any], **more: Any) -> Check:
    return Check(check_id=kind, kind=kind, params=params, text="A refund is made.", **more)


def gold(value: str) -> tuple[Answer, ...]:
    return (Answer(part="amount", type="number", value=value),)


STRICT = check("called", {**CREATE, "where": {"order": 17}}, weight=1.0, required=True)
PLANTED = {
    "forbids-only": (
        candidate("forbids-only", checks=(check("not_called", CREATE, weight=1.0),)),
        GraderReason.PASSED_BY_NULL,
    ),
    "given-away": (candidate("given-away", answers=gold("17")), GraderReason.PASSED_BY_TALK),
    "called-only": (
        candidate("called-only", checks=(check("called", CREATE, weight=1.0),)),
        GraderReason.PASSED_BY_EMPTY_CALLS,
    ),
    "strict": (candidate("strict", checks=(STRICT,)), None),
    "answer": (candidate("answer", answers=gold("41.20")), None),
    "judged": (
        candidate("judged", Lane.SESSIONS, rules=RULES, rubric=RUBRIC),
        GraderReason.JUDGE_ONLY,
    ),
}


def run_preflight(
    folder: Path, candidates: list[Candidate], workers: int = 1, **settings: Any
) -> tuple[Run, Results, StageRecords]:
    recipe = Recipe(grading=GradingRecipe(**settings))
    run = open_run(recipe, Runtime(out=folder / "out", workers=workers, quiet=True))
    parts = {"leak-check": folder / "sessions", "question_phrasing": folder / "questions"}
    for offset, part in enumerate(parts.values()):
        part.mkdir(parents=True, exist_ok=True)
        write_pool(part, candidates[offset::2], {})
    results = Results(outputs={name: (part,) for name, part in parts.items()})
    run_stage(run, PREFLIGHT, results)
    return run, results, read_records(results.outputs["preflight"])


def test_each_weak_grader_is_rejected_with_its_reason(tmp_path: Path) -> None:
    _, results, records = run_preflight(tmp_path, [task for task, _ in PLANTED.values()])
    reasons = {name: verdict.reason for name, verdict in records.verdicts}
    assert reasons == {name: reason for name, (_, reason) in PLANTED.items()}
    kept = {row.item_id for row in records.ledger if row.outcome is Outcome.KEPT}
    assert kept == {"strict", "answer", "judged"}
    rejected = {row.item_id: row.evidence for row in records.ledger if row.item_id not in kept}
    assert rejected["forbids-only"] == {"attack": "nothing"}
    survivors = read_pool(results.outputs["preflight"]).candidates
    assert {task.task_id for task in survivors} == kept


def test_rules_that_files_without_work_satisfy_only_admit_where_a_rubric_grades(
    tmp_path: Path,
) -> None:
    table = Deliverable(file_type="csv", name_hints=("fees.csv",))
    weak = tuple(_hard_rules([table], "Write it."))
    needs = RUBRIC.model_copy(update={"needs_model": True})
    tasks = [
        candidate("rubric", Lane.SESSIONS, rules=weak, rubric=RUBRIC),
        candidate("no-rubric", Lane.SESSIONS, rules=weak),
        candidate("no-usable-rubric", Lane.SESSIONS, rules=weak, rubric=needs),
        candidate("strong", Lane.SESSIONS, rules=RULES, rubric=RUBRIC),
    ]
    _, results, records = run_preflight(tmp_path, tasks)
    seen = dict(records.verdicts)
    assert {name: verdict.measures["weak_rules"] for name, verdict in seen.items()} == {
        "rubric": len(weak), "no-rubric": 0, "no-usable-rubric": 0, "strong": 0,
    }  # fmt: skip
    assert seen["no-rubric"].reason == GraderReason.PASSED_BY_NULL
    assert seen["no-usable-rubric"].reason == GraderReason.PASSED_BY_NULL
    pool = {task.task_id: task.rules for task in read_pool(results.outputs["preflight"]).candidates}
    assert pool == {"rubric": weak, "strong": RULES}


@pytest.mark.parametrize(
    ("policy", "status"), [("admit", Status.UNVERIFIED), ("refuse", Status.FAILED)]
)
def test_the_recipe_admits_or_refuses_what_only_a_judge_can_score(
    policy: str, status: Status, tmp_path: Path
) -> None:
    task, _ = PLANTED["judged"]
    _, results, records = run_preflight(tmp_path, [task], judge_only=policy)
    ((_, verdict),) = records.verdicts
    assert (verdict.status, verdict.reason) == (status, GraderReason.JUDGE_ONLY)
    survivors = read_pool(results.outputs["preflight"]).candidates
    assert len(survivors) == (policy == "admit")


def test_only_survivors_can_be_selected(tmp_path: Path) -> None:
    run, results, _ = run_preflight(tmp_path, [task for task, _ in PLANTED.values()])
    for stage in (INFORMATIVE, SANDBOX_PREFLIGHT, SELECT):
        run_stage(run, stage, results)
    (selected,) = results.outputs["select"]
    chosen = {task.task_id for task in chosen_candidates(selected)}
    assert chosen
    assert chosen <= {"strict", "answer", "judged"}


def test_shards_and_workers_change_nothing_and_what_is_done_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [task for task, _ in PLANTED.values()]
    _, whole, _ = run_preflight(tmp_path / "a", tasks)
    monkeypatch.setattr(selection, "_SHARD_SIZE", 2)
    _, parted, records = run_preflight(tmp_path / "b", tasks[::-1], workers=2)
    assert (len(whole.outputs["preflight"]), len(parted.outputs["preflight"])) == (1, 3)
    pools = [read_pool(results.outputs["preflight"]) for results in (whole, parted)]
    assert pools[0].candidates == pools[1].candidates
    assert len(records.ledger) == len(tasks)
    monkeypatch.setattr("construction.grading.preflight.measure", None)  # would raise if called
    _, again, _ = run_preflight(tmp_path / "b", tasks, workers=1)
    digests = [[content_digest(f) for f in r.outputs["preflight"]] for r in (parted, again)]
    assert digests[0] == digests[1]


def test_the_manifest_says_how_much_needs_no_judge(tmp_path: Path) -> None:
    tasks = [PLANTED[name][0] for name in ("strict", "judged", "answer")]
    run, results, _ = run_preflight(tmp_path, tasks, null_limit=0.1)
    facts = grading_facts(run.recipe.grading, results.outputs["preflight"], tasks[:2])
    assert (facts.formula, facts.pass_threshold, facts.null_limit) == ("weighted_mean", 0.8, 0.1)
    assert (facts.deterministic_share, facts.judge_only) == (0.5, 1)
