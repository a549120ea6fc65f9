"""Runs the gate over candidates of the pool and writes those that survive it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from construction.grading.attacks import Grader, look_here
from construction.grading.findings import FINDINGS
from construction.grading.gate import (
    GATE,
    STAGE,
    Attacked,
    GradingRecipe,
    measure,
)
from construction.grading.hard_rules import grade_files
from construction.grading.oracle import FLAWS, OracleError, computable, flawed, oracle
from construction.grading.spec import EMPTY_CALLS, NULL, TALK, AnswerSpec, TaskSpec, spec_of
from construction.statements.tools.database import Database, open_database
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import (
    Bound,
    Candidate,
    Lane,
    StageKind,
    Verdict,
    share,
)
from data.contracts.attempt import Score, ScorePart, Submission
from data.contracts.gate import breaks
from data.ledger import deciding, gated_row
from data.pool import write_pool
from data.snapshot.release import AuditedKind, GradingFacts
from data.snapshot.tasks import verified
from data.stage_tables import write_stage_tables

# The audit of a task's grader: what it should accept and reject, and whether it did.
#
# Submissions without work and the computed answer are tried by the gate anyway. Here come answers
# that are wrong in one known way, the right answer in other forms, and what agents submit that make
# one mistake on the reference path.

ACCEPTED, REJECTED = "accepted", "rejected"
_WIDE = {ord(char): ord(char) + 0xFEE0 for char in "0123456789.-"}  # full-width forms


@dataclass(frozen=True, slots=True)
class _Probe:
    """One trial of a grader: of which kind, what it should do, and whether it did."""

    kind: str
    expected: str
    held: bool


def _audit(
    spec: TaskSpec,
    attacked: Attacked,
    grader: Grader,
    database: Database | None,
    null_limit: float,
) -> list[_Probe]:
    """All probes of one task; `attacked` is what the gate saw, `database` None: no reference path.

    A submission that is undecided without a judge was not rejected.
    """
    gains = {NULL: attacked.null, TALK: attacked.talk, EMPTY_CALLS: attacked.empty_calls}
    probes = [
        _Probe(name.replace("_", " "), REJECTED, not breaks(Bound.MAX, gained, null_limit))
        for name, gained in gains.items()
    ]
    if attacked.oracle is not None:
        probes.append(_Probe("computed answer", ACCEPTED, attacked.oracle == 1))
    part = spec.answers[0] if len(spec.answers) == 1 else None
    if part is None or part.type != "number" or _number(part) is None:
        return probes
    for expected, forms in ((REJECTED, _wrong_answers(part)), (ACCEPTED, _equivalent_forms(part))):
        for kind, text in forms.items():
            probes.append(_Probe(kind, expected, _holds(spec, grader, text, expected)))
    return probes + list(_mistakes(spec, grader, database))


def _holds(spec: TaskSpec, grader: Grader, text: str, expected: str) -> bool:
    score = grader(spec, Submission(answer=text, statements=((1, text),), steps=1))
    value = next(part.value for part in score.parts if part.evidence == "accuracy")
    return value == 1 if expected == ACCEPTED else value != 1


def _number(part: AnswerSpec) -> Decimal | None:
    try:
        number = Decimal(part.value)
        return number if number.is_finite() else None
    except InvalidOperation:
        return None


def _wrong_answers(part: AnswerSpec) -> Mapping[str, str]:
    """Answers that are wrong in one way, by kind; those that the gold does not allow are absent."""
    value = Decimal(part.value)
    near = value + max(abs(value) // 7, Decimal(3))
    answers = {
        "times 1000": f"{value * 1000:f}",
        "another value": f"{near:f}",
        "right among others": f"It is {near:,f} or {value:,f}.",
        "refusal with the value": f"I cannot answer this. Somebody wrote {value:,f} somewhere.",
        "no value": "Please see the filing.",
    }
    if value:
        return {"wrong sign": f"{-value:f}", **answers}
    return {kind: text for kind, text in answers.items() if kind != "times 1000"}


def _equivalent_forms(part: AnswerSpec) -> Mapping[str, str]:
    """The right answer in other forms, by kind."""
    value = Decimal(part.value)
    bare = json.dumps(int(value) if value == value.to_integral_value() else float(value))
    return {
        "plain number": part.value,
        "with separators": f"{value:,f}",
        "as JSON": f'{{"answer": {bare}}}',
        "in a sentence": f"The answer is {value:,f}.",
        "in bold": f"**{value:,f}**",
        "full width": part.value.translate(_WIDE),
    }


def _mistakes(spec: TaskSpec, grader: Grader, database: Database | None) -> Iterator[_Probe]:
    """What agents submit that walk the reference steps with one mistake."""
    for flaw in FLAWS if database is not None else ():
        assert database is not None
        try:
            wrong = flawed(flaw, spec, database)
        except OracleError:
            return
        if wrong is not None:
            kind = f"agent: {flaw.replace('-', ' ')}"
            yield _Probe(kind, REJECTED, grader(spec, wrong).passed is False)


def _audited_kinds(probes: Iterable[_Probe]) -> tuple[AuditedKind, ...]:
    """Counts by kind: first what has to be rejected, then what has to be accepted."""
    tried, held = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for probe in probes:
        tried[probe.kind, probe.expected] += 1
        held[probe.kind, probe.expected] += probe.held
    order = sorted(tried, key=lambda key: (key[1] == ACCEPTED, list(tried).index(key)))
    return tuple(
        AuditedKind(kind, expected, tried[kind, expected], held[kind, expected])
        for kind, expected in order
    )


UNIT = "candidate"
_SHARES, _PROBES = "deterministic_shares.json", "grader_audit.json"


# What a candidate's steps lead to; None if they lead to no answer.
_Compute = Callable[[Candidate], Submission | None]


@dataclass(frozen=True, slots=True)
class PreflightJob:
    """Candidates as JSON, their input files by SHA-256, and what the oracle computes with.

    `database`: the tables behind the data tools; `analytic` opens what computes analytic tasks.
    """

    candidates: tuple[str, ...]
    files: Mapping[str, Path]
    database: Path | None
    config: GradingRecipe
    analytic: Callable[[], _Compute] | None = None


def preflight_shard(job: PreflightJob, out: Path) -> None:
    """Judge the grader of each candidate; write the survivors, the verdicts and the ledger."""
    candidates = [Candidate.model_validate_json(row) for row in job.candidates]
    specs = [spec_of(candidate.model_dump(mode="json")) for candidate in candidates]
    folder = job.database if any(map(computable, specs)) else None
    database = None if folder is None else open_database(folder)
    has_analytic = any(candidate.lane is Lane.ANALYTICS for candidate in candidates)
    analytic = job.analytic() if has_analytic and job.analytic is not None else None
    attacked: dict[str, Attacked] = {}
    for at, (candidate, spec) in enumerate(zip(candidates, specs, strict=True)):
        seen = _attacked(candidate, spec, job, _oracle(candidate, spec, database, analytic))
        if seen.null > job.config.null_limit and _is_graded_besides(candidate):
            specs[at] = replace(spec, rules=())
            seen = _attacked(candidate, specs[at], job, None)
            seen = replace(seen, weak_rules=len(candidate.rules))
        attacked[spec.task_id] = seen
    probes = {spec.task_id: _audited(spec, attacked, job, database) for spec in specs}
    verdicts = [(name, GATE.judge(seen, job.config)) for name, seen in attacked.items()]
    _write_preflight(candidates, verdicts, out)
    shares = {name: seen.deterministic_share for name, seen in attacked.items()}
    write_bytes(out / _SHARES, canonical_json(shares))
    write_bytes(out / _PROBES, canonical_json(probes))


def _write_preflight(
    candidates: Sequence[Candidate], verdicts: Sequence[tuple[str, Verdict]], out: Path
) -> None:
    """Write the pool of the candidates that did not fail, and what became of each."""
    rows = [
        gated_row(STAGE, UNIT, name, deciding([verdict]), _evidence(verdict))
        for name, verdict in verdicts
    ]
    ids = [candidate.task_id for candidate in candidates]
    write_stage_tables(out, StageKind.FILTER, ids, rows, verdicts=verdicts, stage=STAGE, unit=UNIT)
    failed = {name for name, verdict in verdicts if deciding([verdict]) is not None}
    write_pool(out, [task for task in candidates if task.task_id not in failed], {})


def grading_facts(
    config: GradingRecipe, folders: Iterable[Path], tasks: Sequence[Candidate]
) -> GradingFacts:
    """How the released tasks are scored; `folders` are outputs of the preflight."""

    shares: dict[str, float] = {}
    probes: dict[str, list[dict[str, Any]]] = {}
    for folder in folders:
        shares |= orjson.loads((folder / _SHARES).read_bytes())
        probes |= orjson.loads((folder / _PROBES).read_bytes())
    released = [shares[task.task_id] for task in tasks]
    return GradingFacts(
        formula=config.formula,
        pass_threshold=config.pass_threshold,
        null_limit=config.null_limit,
        deterministic_share=share(fsum(released), len(released)),
        judge_only=released.count(0.0),
        verified=verified(tasks),
        audit=_audited_kinds(_Probe(**row) for task in tasks for row in probes[task.task_id]),
    )


def _evidence(verdict: Verdict) -> dict[str, str | None]:
    return {"attack": str(verdict.measures["strongest"])} if verdict.measures["strongest"] else {}


_Oracle = Callable[[], Submission | None]


def _oracle(
    candidate: Candidate, spec: TaskSpec, database: Database | None, analytic: _Compute | None
) -> _Oracle | None:
    """What computes the answer of a candidate; None where nothing can."""
    if candidate.lane is Lane.ANALYTICS:
        return partial(analytic, candidate) if analytic is not None else None
    if database is not None and computable(spec):
        return partial(_computed, spec, database)
    return None


def _attacked(
    candidate: Candidate, spec: TaskSpec, job: PreflightJob, compute: _Oracle | None
) -> Attacked:
    inputs = {fixture.path: job.files[fixture.sha256] for fixture in candidate.fixtures}
    grader = partial(_graded, threshold=job.config.pass_threshold)
    with TemporaryDirectory() as folder:
        return measure(
            spec,
            candidate.tools,
            inputs,
            Path(folder),
            grader,
            compute() if compute is not None else None,
            is_computable=compute is not None,
            needs_model=candidate.rubric is not None and candidate.rubric.needs_model,
        )


def _is_graded_besides(candidate: Candidate) -> bool:
    """Do a rubric, or programs that nothing without work passes, decide where its rules do not?"""
    rubric = candidate.rubric
    has_rubric = rubric is not None and bool(rubric.criteria) and not rubric.needs_model
    has_others = any(check.kind != FINDINGS for check in candidate.checks)
    is_other = bool(candidate.answers) or has_others
    return bool(candidate.rules) and not is_other and (has_rubric or bool(candidate.checks))


def _audited(
    spec: TaskSpec, attacked: Mapping[str, Attacked], job: PreflightJob, database: Database | None
) -> list[dict[str, Any]]:
    """What the grader of a task did with submissions whose worth is known."""

    grader = partial(_graded, threshold=job.config.pass_threshold)
    path = database if computable(spec) else None
    limit = job.config.null_limit
    return [asdict(row) for row in _audit(spec, attacked[spec.task_id], grader, path, limit)]


def _graded(spec: TaskSpec, submission: Submission, threshold: float) -> Score:
    from construction.grading.grade import grade

    return grade(spec, submission, threshold=threshold, file_grader=_own_files)


def _own_files(spec: TaskSpec, outputs: Path | None) -> tuple[ScorePart, ...]:
    return grade_files(spec, outputs, look=look_here)


def _computed(spec: TaskSpec, database: Database) -> Submission | None:
    try:
        return oracle(spec, database)
    except OracleError:
        return None
