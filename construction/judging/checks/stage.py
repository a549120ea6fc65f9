"""The stage of executable checks: second solutions, proofs, and candidates with what is proven.

The prompt of the second solution shows neither the first nor the check program, so that a check
program which accepts both has not merely learned the first one's form. A pair that did not prove
itself goes back once with what happened when it was run; that prompt does not show the second
solution.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from math import fsum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from construction.grading.programs import Run
from construction.judging.calls.contracts import FORECASTS
from construction.judging.checks.prove import (
    Proof,
    ProofReason,
    Provable,
    proof_record,
    prove,
    proven_check,
    read_proof,
)
from construction.judging.contracts import Answer, Case, Judged, ModelStagesConfig
from construction.judging.evidence.shown import deal, words_of
from construction.judging.evidence.views import Evidence
from construction.judging.model.asking import (
    Checked,
    Faults,
    Stage,
    ask,
    require_answers,
    write_model_use,
)
from construction.judging.model.grade import Dimension, code_of, to_deliver, trouble_of
from construction.judging.model.prompt import Cleaner, load_prompt, without_addressed_in
from construction.judging.settings import MEND, SECOND, Judges, ModelStage
from construction.judging.stages import UNIT, read_graded, read_kept, read_programs
from construction.prompt_frame import announced
from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.captures import CaptureFile
from data.contracts import (
    Candidate,
    Criterion,
    LedgerRow,
    Outcome,
    Rubric,
    StageKind,
)
from data.stage_tables import write_stage_tables
from data.text.scripts import leading_language

STAGE = "checks"
PROGRAM = "program"  # the unit: one task's pair of programs
_PAIR = ("reference", "checks")
_KEPT = "kept.jsonl"
_MOST_CHARS = 120  # of an expected value in a criterion, and of each one of a list
_MOST_VALUES = 12  # of a list in a criterion: a year of months
_FLAGS = frozenset({"true", "false"})  # of findings that say what they expect by their names
_AGREES = {"en": "Agrees with what a program has checked: ", "zh": "与程序核对的结果一致："}


class SecondAnswer(Answer):
    plan: Annotated[str, Field(max_length=2_000)]
    program: Annotated[str, Field(max_length=30_000)]


def _second_stage(config: ModelStagesConfig) -> Stage[Case, SecondAnswer, str]:
    """Another program for a task; "" where the model finds it not computable."""

    def check(_case: Case, answer: SecondAnswer) -> Checked[str] | Faults:
        program = code_of(answer.program)
        problem = trouble_of(program) if program else ""
        return Faults((f"`program` {problem}",)) if problem else Checked(program)

    return Stage(
        prompt=load_prompt(SECOND),
        answer=SecondAnswer,
        item_id=lambda case: case.candidate.task_id,
        content=lambda case, cleaner: _task(case, cleaner, config),
        check=check,
        programs=frozenset({"program"}),
        settle=lambda _case, _answer, _faults: "",
    )


def _task(case: Case, cleaner: Cleaner, config: ModelStagesConfig) -> dict[str, Any]:
    """The task as it is released, and its input files: nothing of what was found out before."""
    candidate = case.candidate
    inputs = Evidence(files=case.evidence.files, tree=case.evidence.tree)
    shown = deal(inputs, config.evidence_tokens, about=candidate.prompt)
    cleaner.notes += [f"left out: {what}" for what in shown.left_out]
    task = {
        "task": cleaner.text(candidate.prompt, config.request_chars, "task"),
        "deliverables": cleaner.tree(to_deliver(candidate), "deliverables"),
    }
    content: dict[str, Any] = cleaner.tree(shown.content, "evidence")
    return task | content


@dataclass(frozen=True, slots=True)
class Unproven:
    """A task whose programs did not prove themselves, and what happened when they were run."""

    case: Case
    programs: Mapping[str, str] = field(repr=False)  # reference, checks
    faults: tuple[str, ...] = field(repr=False)


class MendAnswer(Answer):
    fault: Annotated[str, Field(max_length=2_000)]
    reference: Annotated[str, Field(max_length=30_000)]
    checks: Annotated[str, Field(max_length=30_000)]


def mend_stage(config: ModelStagesConfig) -> Stage[Unproven, MendAnswer, dict[str, str]]:
    """The corrected pair of a task; empty where the model gives it up."""

    def content(task: Unproven, cleaner: Cleaner) -> dict[str, Any]:
        own: dict[str, Any] = cleaner.tree({**task.programs, "faults": task.faults}, "programs")
        shown: dict[str, Any] = without_addressed_in(_task(task.case, cleaner, config))
        return shown | own

    def check(_task: Unproven, answer: MendAnswer) -> Checked[dict[str, str]] | Faults:
        programs = {name: code_of(getattr(answer, name)) for name in _PAIR}
        if not all(programs.values()):
            return Checked({})
        troubles = [f"`{n}` {t}" for n, p in programs.items() if (t := trouble_of(p))]
        return Faults(tuple(troubles)) if troubles else Checked(programs)

    return Stage(
        prompt=load_prompt(MEND),
        answer=MendAnswer,
        item_id=lambda task: task.case.candidate.task_id,
        content=content,
        check=check,
        programs=frozenset(_PAIR),
        settle=lambda _task, _answer, _faults: {},
    )


class Proofs(CaptureFile[str, Proof]):
    """Proofs by the digest of what they depend on; a rebuild replays them."""

    EXPECTED = "a proof of check programs"
    REMEDY = "Restore the file, or delete it to have the programs proven again."

    def _record(self, key: str, outcome: Proof) -> dict[str, Any]:
        return {"key": key, "proof": proof_record(outcome).decode()}

    def _entry(self, record: dict[str, Any]) -> tuple[str, Proof]:
        return str(record["key"]), read_proof(str(record["proof"]).encode())


@dataclass(frozen=True, slots=True)
class Proving:
    """Where proofs are kept, what the inputs of a candidate hold, and how programs are run.

    `recorded` are proofs of an earlier build, which hold as well; `workers` are the proofs that
    are tried side by side.
    """

    captured: Path
    contents: Callable[[Candidate], Mapping[str, bytes]]
    run: Run | None
    recorded: Path | None = None
    workers: int = 1


def write_checked(written: Path, graded: Path, judges: Judges, proving: Proving, out: Path) -> None:
    """Ask for second solutions, prove the programs, and write the candidates with their checks.

    `written` and `graded` are the outputs of these stages. A pair of programs that is not proven
    goes back once with what happened, is proven again, and else rejected with the reason; the
    candidate stays, with its rubric. Where an input is the wanted result already, it goes too.
    """
    candidates, programs = read_graded(graded), read_programs(graded)
    cases = {case.candidate.task_id: case for case in read_kept(written)}
    cases = {name: case for name, case in cases.items() if name in programs}
    tried = _tried(cases, programs, judges, proving) if cases else _Tried()
    tasks, proofs = tried.tasks, tried.proofs
    done = {name for name, one in proofs.items() if one.reason is ProofReason.NOTHING_TO_DO}
    kept = [
        _checked(candidate, tasks[candidate.task_id], proofs[candidate.task_id])
        if candidate.task_id in tasks
        else candidate
        for candidate in candidates
        if candidate.task_id not in done
    ]
    write_bytes(out / _KEPT, b"".join(canonical_json(one) + b"\n" for one in kept))
    reasons = {
        candidate.task_id: ProofReason.NOTHING_TO_DO if candidate.task_id in done else None
        for candidate in candidates
    }
    _write_tables(out, UNIT, reasons)
    if tasks:
        (out / PROGRAM).mkdir()
        unproven = {f"({name})": proofs[name].reason for name in sorted(tasks)}
        _write_tables(out / PROGRAM, PROGRAM, unproven)
    if cases:
        records = {task_id: proof_record(proof).decode() for task_id, proof in proofs.items()}
        inputs = {"model-replies-second": tried.replies, "proofs": digest(records)}
        write_model_use(out, judges.costs(tried.answered), inputs)


def _write_tables(out: Path, unit: str, reasons: Mapping[str, ProofReason | None]) -> None:
    """The stage tables of what is kept, or rejected with the reason, by id."""
    rows = [
        LedgerRow(STAGE, unit, name, Outcome.KEPT)
        if reason is None
        else LedgerRow(STAGE, unit, name, Outcome.REJECTED, reason=str(reason))
        for name, reason in reasons.items()
    ]
    write_stage_tables(out, StageKind.FILTER, list(reasons), rows, stage=STAGE, unit=unit)


@dataclass(frozen=True, slots=True)
class _Tried:
    """The programs of candidates, what became of their proofs, and what was asked for them."""

    tasks: Mapping[str, Provable] = field(default_factory=dict)
    proofs: Mapping[str, Proof] = field(default_factory=dict)
    answered: Mapping[str, list[Judged[Any]]] = field(default_factory=dict)
    replies: str = ""


def _tried(
    cases: Mapping[str, Case],
    programs: Mapping[str, Mapping[str, str]],
    judges: Judges,
    proving: Proving,
) -> _Tried:
    """Prove the programs with second solutions, and once more what was mended."""
    pairs = {name: {key: programs[name][key] for key in _PAIR} for name in cases}
    with judges.client(masked=True) as client:
        config = judges.config.stage_settings(ModelStage.GRADE)
        seconds = ask(_second_stage(config), list(cases.values()), client)
        if FORECASTS.get() is not None:  # a plan: the most that may be asked to mend
            untried = [one.item_id for one in seconds if one.value is None]
            most = [Unproven(cases[name], pairs[name], ()) for name in untried]
            ask(mend_stage(config), most, client)
        require_answers(seconds)
        second_of = {one.item_id: one.value or "" for one in seconds}
        tasks = {}
        for name, case in cases.items():
            own = case.candidate
            reference, checks = pairs[name].values()
            given = (own.prompt, announced(own.deliverables), proving.contents(own))
            tasks[name] = Provable(name, *given, reference, checks, second_of[name], own.rules)
        proofs = _proofs(tasks, proving)
        to_mend = [
            Unproven(cases[name], pairs[name], proof.faults)
            for name, proof in sorted(proofs.items())
            if proof.reason is not None and proof.reason.advice
        ]
        mended = require_answers(ask(mend_stage(config), to_mend, client))
        again = {
            one.item_id: replace(
                tasks[one.item_id], reference=one.value["reference"], checks=one.value["checks"]
            )
            for one in mended
            if one.value
        }
        answered: dict[str, list[Judged[Any]]] = {SECOND: list(seconds), MEND: list(mended)}
        replies = client.replies_digest()
    return _Tried(tasks | again, proofs | _proofs(again, proving), answered, replies)


def _proofs(tasks: Mapping[str, Provable], proving: Proving) -> dict[str, Proof]:
    """The proof of each task, from the capture where it is there; new ones are kept at once.

    Without a sandbox nothing is captured: nothing was found out.
    """
    captured = Proofs.load(proving.captured)
    recorded = Proofs.load(proving.recorded) if proving.recorded else Proofs()
    known = {
        name: captured.find(task.key) or recorded.find(task.key) for name, task in tasks.items()
    }
    proofs = {name: proof for name, proof in known.items() if proof is not None}
    with ThreadPoolExecutor(proving.workers) as pool:
        trying = {
            pool.submit(prove, task, proving.run): name
            for name, task in sorted(tasks.items())
            if name not in proofs
        }
        try:
            for tried in as_completed(trying):
                name = trying[tried]
                proofs[name] = tried.result()
                if proving.run is not None:
                    captured.keep(tasks[name].key, proofs[name])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if len(captured):
        captured.save()
    return dict(sorted(proofs.items()))


def _checked(candidate: Candidate, task: Provable, proof: Proof) -> Candidate:
    """The candidate with the proven check; how the proof went stays in the private provenance."""
    source = candidate.provenance
    outcome: dict[str, Any] = {"findings": len(proof.findings), **proof.counts}
    if proof.reason is not None:
        outcome["reason"] = proof.reason
    if proof.dropped:
        outcome["dropped_rules"] = dict(proof.dropped)
    detail = {**source.detail, "proof": outcome}
    changes: dict[str, object] = {"provenance": source.model_copy(update={"detail": detail})}
    if proof.findings:
        changes["checks"] = (*candidate.checks, proven_check(task, proof))
        changes["rules"] = proof.rules
        changes["rubric"] = _with_findings(candidate, proof.expected)
    return candidate.model_copy(update=changes)


def _with_findings(candidate: Candidate, expected: Mapping[str, str]) -> Rubric | None:
    """The rubric, with one criterion more for values that findings expect and it does not state."""
    rubric = candidate.rubric
    if rubric is None or rubric.needs_model:
        return rubric
    said = words_of("\n".join(_texts(rubric)))
    lacking = [
        f"{name}: {_readable(value)}"
        for name, value in expected.items()
        if any(f" {word} " not in said for word in words_of(value).split() if word not in _FLAGS)
    ]
    if not lacking:
        return rubric
    start = _AGREES["zh" if leading_language(candidate.prompt) == "zh" else "en"]
    count = len(rubric.criteria)
    shares = [round(one.weight * count / (count + 1), 9) for one in rubric.criteria]
    criteria = [
        one.model_copy(update={"weight": weight})
        for one, weight in zip(rubric.criteria, shares, strict=True)
    ]
    own = Criterion(
        dimension=str(Dimension.GROUNDED_ACCURACY),
        weight=round(1 - fsum(shares), 9),
        text=start + "; ".join(lacking),
    )
    return rubric.model_copy(update={"criteria": (own, *criteria)})


def _readable(value: str) -> str:
    """What a finding expects, as a person writes it; of a long list the first values.

    The text of a list may be cut in the middle: then its last value does not count.
    """
    closing = {"[": "]", "(": ")", "{": "}"}.get(value[:1], "")
    is_whole = value.endswith(closing)
    text = value if is_whole else value.rpartition(", ")[0] + closing
    try:
        values = literal_eval(text) if closing else value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        values = value
    if isinstance(values, set):
        values = sorted(values, key=str)  # Python's own order differs from process to process
    if not isinstance(values, list | tuple):
        return _shortened(value)
    texts = [str(one).removesuffix(".0") for one in values][:_MOST_VALUES]
    more = " …" if not is_whole or len(values) > _MOST_VALUES else ""
    return ", ".join(map(_shortened, texts)) + more


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS].rstrip()} …"


def _texts(rubric: Rubric) -> Iterator[str]:
    for criterion in rubric.criteria:
        yield criterion.text
        if (own := criterion.anchors) is not None:
            yield from (own.met, own.partly, own.not_met)
