"""The audit of a task's grader: what it should accept and reject, and whether it did.

Submissions without work and the computed answer are tried by the gate anyway. Here come answers
that are wrong in one known way, the right answer in other forms, and what agents submit that make
one mistake on the reference path.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from construction.grading.attacks import Grader
from construction.grading.flawed import FLAWS, flawed
from construction.grading.gate import Attacked
from construction.grading.oracle import OracleError
from construction.grading.spec import EMPTY_CALLS, NULL, TALK, AnswerSpec, TaskSpec
from construction.statements.tools.database import Database
from data.contracts import Bound
from data.contracts.attempt import Submission
from data.contracts.gate import breaks
from data.snapshot.release import AuditedKind

ACCEPTED, REJECTED = "accepted", "rejected"
_WIDE = {ord(char): ord(char) + 0xFEE0 for char in "0123456789.-"}  # full-width forms


@dataclass(frozen=True, slots=True)
class Probe:
    """One trial of a grader: of which kind, what it should do, and whether it did."""

    kind: str
    expected: str
    held: bool


def audit(
    spec: TaskSpec,
    attacked: Attacked,
    grader: Grader,
    database: Database | None,
    null_limit: float,
) -> list[Probe]:
    """All probes of one task; `attacked` is what the gate saw, `database` None: no reference path.

    A submission that is undecided without a judge was not rejected.
    """
    gains = {NULL: attacked.null, TALK: attacked.talk, EMPTY_CALLS: attacked.empty_calls}
    probes = [
        Probe(name.replace("_", " "), REJECTED, not breaks(Bound.MAX, gained, null_limit))
        for name, gained in gains.items()
    ]
    if attacked.oracle is not None:
        probes.append(Probe("computed answer", ACCEPTED, attacked.oracle == 1))
    part = spec.answers[0] if len(spec.answers) == 1 else None
    if part is None or part.type != "number" or _number(part) is None:
        return probes
    for expected, forms in ((REJECTED, wrong_answers(part)), (ACCEPTED, equivalent_forms(part))):
        for kind, text in forms.items():
            probes.append(Probe(kind, expected, _holds(spec, grader, text, expected)))
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


def wrong_answers(part: AnswerSpec) -> Mapping[str, str]:
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


def equivalent_forms(part: AnswerSpec) -> Mapping[str, str]:
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


def _mistakes(spec: TaskSpec, grader: Grader, database: Database | None) -> Iterator[Probe]:
    """What agents submit that walk the reference steps with one mistake."""
    for flaw in FLAWS if database is not None else ():
        assert database is not None
        try:
            wrong = flawed(flaw, spec, database)
        except OracleError:
            return
        if wrong is not None:
            kind = f"agent: {flaw.replace('-', ' ')}"
            yield Probe(kind, REJECTED, grader(spec, wrong).passed is False)


def audited_kinds(probes: Iterable[Probe]) -> tuple[AuditedKind, ...]:
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
