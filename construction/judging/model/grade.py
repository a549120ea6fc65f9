"""Grading by a model: rubric with expected values and traps, and programs that check results.

As EnterpriseClawBench, app. B.3: five dimensions with weights, anchors for each criterion. Every
quoted fact is looked up in the inputs; a criterion whose facts do not stand there is dropped. What
is only a matter of form (weights, paths, names of dimensions) code puts right. The programs are
kept as they are, and count only when they have been proven.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from math import fsum, isfinite
from typing import Annotated, Any, Literal

from pydantic import Field

from construction.grading.gate import VISUAL
from construction.judging.baseline.grade import WORD_RULES
from construction.judging.contracts import Answer, Case, Graded, JudgeReason, ModelStagesConfig
from construction.judging.evidence.shown import find_quote
from construction.judging.evidence.views import Evidence as CaseEvidence
from construction.judging.evidence.views import Pictures, Said
from construction.judging.model.asking import Checked, Faults, Stage
from construction.judging.model.prompt import (
    Cleaner,
    LookedAt,
    case_content,
    case_images,
    load_prompt,
    looked_at,
    without_addressed_in,
)
from construction.judging.model.write import plain_path
from construction.prompt_frame import announced
from data.contracts import Anchors, Candidate, Criterion, Evidence, Rubric
from data.text.numbers import scan_numbers


class Dimension(StrEnum):
    """The dimensions of a rubric (EnterpriseClawBench, app. B)."""

    GROUNDED_ACCURACY = "grounded_accuracy"
    TASK_RELEVANCE = "task_relevance"
    SUBSTANTIVE_DEPTH = "substantive_depth"
    PRACTICAL_UTILITY = "practical_utility"
    COMMUNICATION_QUALITY = "communication_quality"


_MOST_UNSEEN = 8  # files that a fault names
_Sentence = Annotated[str, Field(max_length=400)]
_Place = Annotated[str, Field(max_length=200)]


class FactAnswer(Answer):
    path: _Place
    quote: _Sentence


class TrapAnswer(Answer):
    what: _Sentence
    path: _Place
    quote: _Sentence


class CriterionAnswer(Answer):
    dimension: Annotated[
        str, Field(json_schema_extra={"enum": [str(single) for single in Dimension]})
    ]
    weight: float
    text: Annotated[str, Field(min_length=10, max_length=400)]
    met: _Sentence
    partly: _Sentence
    not_met: _Sentence
    facts: Annotated[tuple[FactAnswer, ...], Field(max_length=12)]


class GradeAnswer(Answer):
    traps: Annotated[tuple[TrapAnswer, ...], Field(max_length=10)]
    criteria: Annotated[tuple[CriterionAnswer, ...], Field(max_length=20)]
    route: Literal["text", "visual"]
    retrieval: bool
    accuracy: bool
    action: bool
    semantic: bool
    why: _Sentence
    computable: bool
    reference: Annotated[str, Field(max_length=30_000)]
    checks: Annotated[str, Field(max_length=30_000)]


def grade_stage(
    config: ModelStagesConfig,
    otherwise: Callable[[Case], Graded],
    pictures: Pictures | None = None,
) -> Stage[Case, GradeAnswer, Graded]:
    """The stage; of what `otherwise` gives the rules on facts remain."""

    def content(case: Case, cleaner: Cleaner) -> dict[str, Any]:
        candidate = case.candidate
        task = {
            "task": cleaner.text(candidate.prompt, config.request_chars, "task"),
            "deliverables": to_deliver(candidate),
        }
        shown = task | case_content(case, cleaner, config, pictures)
        given: dict[str, Any] = without_addressed_in(shown)
        return given

    def check(case: Case, answer: GradeAnswer) -> Checked[Graded] | Faults:
        draft = _Draft(case, answer, otherwise(case), looked_at(case, config, pictures))
        if draft.faults:
            return Faults(tuple(draft.faults), draft.reason)
        return Checked(draft.graded)

    def settled(case: Case, answer: GradeAnswer | None) -> Graded:
        given = otherwise(case)
        if answer is None:
            return given
        return _Draft(case, answer, given, looked_at(case, config, pictures)).graded

    return Stage(
        prompt=load_prompt("grade"),
        answer=GradeAnswer,
        item_id=lambda case: case.candidate.task_id,
        content=content,
        check=check,
        programs=frozenset({"reference", "checks"}),
        settle=lambda case, answer, _faults: settled(case, answer),
        images=lambda case: case_images(case, config, pictures),
    )


def to_deliver(candidate: Candidate) -> list[str]:
    """What the task announces: names, patterns, and how many files of a type have no name."""
    lines = list(announced(candidate.deliverables))
    for item in candidate.deliverables:
        if (nameless := item.count - len(announced([item]))) > 0:
            lines.append(f"at least {nameless} × *.{item.file_type}, named as one likes")
    return lines


class _Draft:
    """An answer held against its case: `faults` to be mended, and the grading without them."""

    def __init__(
        self, case: Case, answer: GradeAnswer, otherwise: Graded, pictures: LookedAt
    ) -> None:
        self.case, self.answer, self.pictures = case, answer, pictures
        self.inputs = CaseEvidence(files=case.evidence.files)
        released = Said(speaker="person", text=case.candidate.prompt)
        self.said = CaseEvidence(said=(*case.evidence.said, released))
        views = sorted(case.evidence.files, key=lambda view: -len(view.path))
        self.by_path = {view.path: CaseEvidence(files=(view,)) for view in views}
        self.faults: list[str] = []
        self.reason = JudgeReason.WRONG_FORM
        self._check_traps()
        criteria = _weighted(list(self._sound()))
        # One that falls with its facts is a fault already, and is mended with them.
        there = {_dimension_of(criterion.dimension) for criterion in answer.criteria}
        if lacking := [str(single) for single in Dimension if single not in there]:
            self._fault(JudgeReason.DIMENSIONS, f"no criterion for {', '.join(lacking)}")
        reference, checks = self._programs()
        is_visual = any(item.file_type in VISUAL for item in case.candidate.deliverables)
        route = answer.route if is_visual else "text"
        self.graded = Graded(
            rubric=Rubric(route=route, criteria=criteria) if criteria else otherwise.rubric,
            rules=tuple(rule for rule in otherwise.rules if rule.kind not in WORD_RULES),
            evidence=Evidence(
                retrieval=answer.retrieval,
                accuracy=answer.accuracy,
                action=answer.action,
                semantic=answer.semantic,
            ),
            computable=bool(reference),
            reference=reference,
            checks=checks,
            why=" ".join(answer.why.split()),
        )

    def _fault(self, reason: JudgeReason, sentence: str) -> None:
        self.reason = reason
        self.faults.append(sentence)

    def _check_traps(self) -> None:
        for trap in self.answer.traps:
            is_seen, quote = self._is_seen(self._path(trap.path)), trap.quote
            if self.pictures.unseen and not is_seen and not quote.strip():
                hidden = ", ".join(list(self.pictures.unseen)[:_MOST_UNSEEN])
                wrong = (
                    f"trap “{trap.what[:60]}” quotes nothing: what may stand in {hidden} is not "
                    "missing, though you do not see it; say so neither here nor in a criterion"
                )
                self._fault(JudgeReason.UNKNOWN_EVIDENCE, wrong)
            elif not is_seen and quote.strip() and not self._stands(quote):
                wrong = f"trap “{trap.what[:60]}”: no input holds “{quote[:80]}”, nor does the task"
                self._fault(JudgeReason.UNKNOWN_EVIDENCE, wrong)

    def _stands(self, quote: str) -> bool:
        """Does a quote stand in an input, or in what was asked, which is evidence too?"""
        return any(find_quote(where, quote) is not None for where in (self.inputs, self.said))

    def _sound(self) -> Iterator[tuple[Criterion, float]]:
        """The criteria with their weights as given, without facts that no input holds.

        Of facts at least one has to stand.
        """
        for number, own in enumerate(self.answer.criteria, 1):
            dimension = _dimension_of(own.dimension)
            if dimension is None:
                wrong = f"criterion {number}: unknown dimension “{own.dimension}”"
                self._fault(JudgeReason.DIMENSIONS, wrong)
                continue
            places = [(fact, self._pointer(fact, number)) for fact in own.facts]
            if _rests_on(own, [fact for fact, where in places if where is None]):
                continue
            criterion = Criterion(
                dimension=dimension,
                weight=0,
                text=" ".join(own.text.split()),
                evidence=tuple(dict.fromkeys(where for _, where in places if where)),
                anchors=Anchors(met=own.met, partly=own.partly, not_met=own.not_met),
            )
            yield criterion, own.weight if isfinite(own.weight) and own.weight > 0 else 0.0

    def _pointer(self, fact: FactAnswer, number: int) -> str | None:
        """Where a fact stands: "data/a.xlsx#row 7"; "" where no input is meant, None: nowhere."""
        path, quote = self._path(fact.path), fact.quote.strip()
        if path == "" or not (quote or fact.path.strip()):
            return ""
        if path and (not quote or self._is_seen(path)):
            return path
        if where := self._where(path, quote):
            return where
        if quote and self._stands(quote):
            return ""  # what was asked needs no pointer
        problem = f"no input holds “{quote[:80]}”" if quote else f"no input is “{fact.path[:80]}”"
        self._fault(JudgeReason.UNKNOWN_EVIDENCE, f"criterion {number}: {problem}")
        return None

    def _where(self, path: str | None, quote: str) -> str | None:
        """The place of a quote, in the file that is named for it if it stands there."""
        own = self.by_path.get(path or "")
        for evidence in (own, self.inputs) if own else (self.inputs,):
            if quote and (where := find_quote(evidence, quote)):
                named = next(name for name in self.by_path if where.startswith(name))
                return f"{named}#{where[len(named) :].lstrip(', ')}".rstrip("#")
        return None

    def _is_seen(self, path: str | None) -> bool:
        """Is it a file of which pictures were shown? What they show, no words of it can refute."""
        return path in self.pictures.shown

    def _path(self, path: str) -> str | None:
        """The input that a path means, however written; "" for a deliverable, None for none."""
        wanted = plain_path(path.partition("#")[0])
        last = _name(wanted)
        there = [view.path for view in self.case.evidence.files]
        if wanted in there or not last:
            return wanted or None
        if last in map(_name, announced(self.case.candidate.deliverables)):
            return ""
        same = [single for single in there if _name(single) == last]
        return same[0] if len(same) == 1 else None

    def _programs(self) -> tuple[str, str]:
        """Both programs, if the task is computable and both are Python."""
        if not self.answer.computable:
            return "", ""
        programs = (code_of(self.answer.reference), code_of(self.answer.checks))
        for name, program in zip(("reference", "checks"), programs, strict=True):
            if problem := trouble_of(program):
                self._fault(JudgeReason.NOT_CHECKABLE, f"`{name}` {problem}")
        return ("", "") if any(map(trouble_of, programs)) else programs


def _name(path: str) -> str:
    return path.rpartition("/")[2].casefold()


def _rests_on(own: CriterionAnswer, false: Sequence[FactAnswer]) -> bool:
    """Does a criterion rest on false facts: it has no others, or gives their values?"""
    values = {number.value for number in scan_numbers(own.text)}
    gives = any(n.value in values for fact in false for n in scan_numbers(fact.quote))
    return bool(false) and (gives or len(false) == len(own.facts))


def _dimension_of(name: str) -> Dimension | None:
    plain = "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())
    return next((single for single in Dimension if plain == single), None)


def _weighted(sound: Sequence[tuple[Criterion, float]]) -> tuple[Criterion, ...]:
    """The criteria by dimension, their weights scaled so that they sum to 1."""
    order = list(map(str, Dimension))
    ordered = sorted(sound, key=lambda pair: order.index(pair[0].dimension))
    whole = fsum(weight for _, weight in ordered)
    return tuple(
        criterion.model_copy(
            update={"weight": round(weight / whole if whole else 1 / len(ordered), 9)}
        )
        for criterion, weight in ordered
    )


def code_of(program: str) -> str:
    """A program without the fence that some models put around it."""
    lines = program.strip().split("\n")
    if lines[0].startswith("```"):
        lines = lines[1:-1] if lines[-1].strip() == "```" else lines[1:]
    return "\n".join(lines).strip() + "\n" if any(map(str.strip, lines)) else ""


def trouble_of(program: str) -> str:
    """Why a program is none; empty where it is one."""
    if not program:
        return "is empty, although the task is computable"
    try:
        ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        return f"is no Python 3.11: {type(error).__name__}" + (f" in line {line}" if line else "")
    return ""
