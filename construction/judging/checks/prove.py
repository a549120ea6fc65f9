"""The proof of a check program, by running, without a model.

A task with a computable result comes with two programs of a model: a reference solution and a check
program. A second solution was asked for apart, by a prompt that shows neither. Every run is in a
sandbox of its own. What counts as proven are the findings that hold on the results of both
solutions; there must be some, and then

- nothing, the text of the task, empty files and copies of the inputs fail;
- wrong results fail, at least `_MUTANTS` of them: copies of the reference's result in which
  something is changed, what the findings tell of first, each by a finding that says something about
  what was changed; and the reference's results for other inputs. A finding that fails for none of
  them is left out;
- with a changed input, the old result fails and the reference's new one holds: the program computes
  what it expects. Where no change of an input makes the old result fail, findings about formulas
  and programs alone remain: each of them fails for one that computes otherwise in one place, all of
  them for `_STRUCTURES`, and with each other input it holds for one of the solutions.

The hard rules of the task are held against the reference's result, too (`held_rules`).

What does not prove itself is dropped with its reason; nothing here decides about the task.
"""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import filter as filter_names
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import TypeAdapter

from construction.grading.file_types import TYPES, extension_of
from construction.grading.findings import (
    FINDINGS,
    Finding,
    library,
    program_of,
    read_findings,
)
from construction.grading.programs import STDOUT, Program, Ran, Run
from construction.judging.checks import mutants, office
from construction.judging.checks.held_rules import Held, held
from construction.judging.checks.mutants import INDEX, PROGRAMS, STRUCTURE, Mutant
from data.canonical import canonical_json, digest
from data.contracts import Check, Rule

_VERSION = 9  # raised when what a proof asks for changes
_MUTANTS = 6
_ERRORS = "errors.txt"
_SOLUTION, _COMMAND = "solution.py", f"mkdir -p outputs && python3 -B solution.py 2> {_ERRORS}"
_MOST_ERRORS, _MOST_FAULTS = 1_200, 12  # characters of a trace, and findings that are told
_LONGEST_VALUE = 60  # characters of a value in a fault
_SOLUTION_SECONDS = 60.0
_CHANGED_INPUTS = 18  # tried until one changes the result
_MOST_MUTANTS, _MOST_TOLD = 30, 18  # in all, and of what findings tell of
_MOST_MORE = 18  # of what findings tell of that none of these has failed
_OTHER_INPUT = "other input"
_MOST_INPUT_BYTES = 2_000_000  # of all inputs: the check carries them along
_MAKER, _OFFICE = Path(mutants.__file__), Path(office.__file__)
_STRUCTURES = 4  # formulas and programs that compute otherwise, for findings about them alone
_LEAST_OTHERS = 3  # other inputs with which such a finding holds, if there are inputs
_WEIGHT = 0.8  # of the checks in the task; right results pass it by themselves


class ProofReason(StrEnum):
    """Why check programs are not proven."""

    NOT_RUN = "proof.not_run"  # no sandbox, or a replay without their proof
    TOO_LARGE = "proof.inputs_too_large"
    REFERENCE_FAILED = "proof.reference_failed"
    NO_FINDINGS = "proof.no_findings"
    NO_SECOND = "proof.no_second_solution"
    SECOND_FAILED = "proof.second_failed"
    SECOND_DISAGREES = "proof.second_disagrees"
    PASSED_WITHOUT_WORK = "proof.passed_without_work"
    NOTHING_TO_DO = "proof.nothing_to_do"  # an input is the wanted result already
    MUTANTS_PASSED = "proof.mutants_passed"
    NOT_COMPUTED = "proof.not_computed"  # a changed input does not change what is expected

    @property
    def advice(self) -> str:
        """The fault as the writer of the programs is told it; empty: nothing that mending helps."""
        return _TOLD.get(self, "")


_TOLD = {
    ProofReason.REFERENCE_FAILED: "The reference failed, or the checks fail on its result.",
    ProofReason.NO_FINDINGS: "The checks printed no list of findings on the reference's result.",
    ProofReason.SECOND_DISAGREES: "No finding holds on somebody else's solution of the task.",
    ProofReason.PASSED_WITHOUT_WORK: "A result without any work in it passes the checks.",
    ProofReason.MUTANTS_PASSED: "Too few wrong results fail the checks, for what is wrong in them.",
    ProofReason.NOT_COMPUTED: "With a changed input the reference's new result does not pass, or "
    "its old one still does.",
}


@dataclass(frozen=True, slots=True)
class Provable:
    """A task with its programs; `inputs` by their paths below `inputs/`, `prompt` as released."""

    task_id: str
    prompt: str
    deliverables: tuple[str, ...]
    inputs: Mapping[str, bytes] = field(repr=False)
    reference: str = field(repr=False)
    checks: str = field(repr=False)
    second: str = field(repr=False)
    rules: tuple[Rule, ...] = ()

    @property
    def key(self) -> str:
        """A digest of all that the proof depends on; a proof is captured under it."""
        inputs = {path: digest(content) for path, content in self.inputs.items()}
        programs = [self.reference, self.checks, self.second]
        own = {name: digest(module) for name, module in library().items()}
        made_with = [_VERSION, own, list(self.rules)]
        return digest([*made_with, self.prompt, list(self.deliverables), inputs, programs])


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome: the findings that count, or why there are none; `counts` of what was tried.

    `expected` are the values that findings expect, `rules` the hard rules that the reference's
    result meets, `dropped` why it fails the others. `faults` tell the writer of the programs what
    happened. They hold values of inputs: private.
    """

    findings: tuple[str, ...] = ()
    expected: Mapping[str, str] = field(default_factory=dict, repr=False)
    rules: tuple[Rule, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=dict)
    reason: ProofReason | None = None
    detail: str = ""
    faults: tuple[str, ...] = field(default=(), repr=False)
    counts: Mapping[str, int] = field(default_factory=dict)


class _Unproven(Exception):
    """`faults` are what the writer of the programs is told, beside the detail."""

    def __init__(self, reason: ProofReason, detail: str = "", faults: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason, self.detail, self.faults = reason, detail, tuple(faults)


def prove(task: Provable, run: Run | None) -> Proof:
    """Run everything that the proof takes. Raises what `run` raises."""
    if run is None:
        return Proof(reason=ProofReason.NOT_RUN)
    proof = _Proving(task, run)
    try:
        agreed = proof.findings()
        rules = proof.held_rules()
        proof.without_work(agreed)
        findings = proof.changed_inputs(proof.wrong_results(agreed))
        if findings != agreed:
            proof.without_work(findings)
    except _Unproven as why:
        faults = tuple(filter(None, (why.reason.advice, why.detail, *why.faults)))
        return Proof(reason=why.reason, detail=why.detail, faults=faults, counts=proof.counts)
    expected = {name: proof.expected[name] for name in findings}
    return Proof(findings, expected, rules.rules, rules.dropped, counts=proof.counts)


def proven_check(task: Provable, proof: Proof) -> Check:
    """The check that goes into the candidate."""
    inputs = {
        path: base64.b64encode(content).decode() for path, content in sorted(task.inputs.items())
    }
    return Check(
        check_id="computed",
        kind=FINDINGS,
        params={"program": task.checks, "inputs": inputs, "findings": list(proof.findings)},
        text="; ".join(proof.findings),
        weight=_WEIGHT,
        required=True,
        evidence="accuracy",
    )


# Another input, with its change, and the findings that fail for the reference's result.
_Failing = tuple[Mutant, Mapping[str, bytes], set[str]]


class _Proving:
    def __init__(self, task: Provable, run: Run) -> None:
        self.task, self.run = task, run
        self.counts: dict[str, int] = {"mutants": 0, "killed": 0, "changed_inputs": 0}
        self.result: Mapping[str, bytes] = {}
        self.reported: dict[str, list[str]] = {}  # what findings on the result expect and find
        self.expected: dict[str, str] = {}
        self.structures: dict[str, set[str]] = {}  # the mutants of this kind that findings fail

    def findings(self) -> tuple[str, ...]:
        """The findings that hold on the results of both solutions."""
        task = self.task
        if sum(map(len, task.inputs.values())) > _MOST_INPUT_BYTES:
            raise _Unproven(ProofReason.TOO_LARGE)
        self.result = self._solved(task.reference, ProofReason.REFERENCE_FAILED)
        own = self._checked(self.result)
        if not own:
            raise _Unproven(ProofReason.NO_FINDINGS, faults=[self._trace(self.result)])
        holding = [finding.name for finding in own if finding.passed]
        if not holding:
            faults = [_shown(finding) for finding in own[:_MOST_FAULTS]]
            raise _Unproven(ProofReason.REFERENCE_FAILED, "its checks fail on it", faults)
        if not task.second:
            raise _Unproven(ProofReason.NO_SECOND)
        others = self._checked(self._solved(task.second, ProofReason.SECOND_FAILED)) or ()
        agreed = {finding.name for finding in others if finding.passed}
        both = tuple(name for name in holding if name in agreed)
        if not both:
            differing = (_shown(finding) for finding in others if not finding.passed)
            faults = [_shown(finding) for finding in others[:_MOST_FAULTS]]
            detail = next(differing, "no finding holds on it")
            raise _Unproven(ProofReason.SECOND_DISAGREES, detail, faults)
        self.reported = {
            finding.name: [text for text in (finding.actual, finding.expected) if text]
            for finding in own
            if finding.name in both
        }
        self.expected = {finding.name: finding.expected for finding in own if finding.name in both}
        return both

    def held_rules(self) -> Held:
        """The hard rules that the reference's result meets, and why it fails the others."""
        task = self.task
        rules = held(task.rules, task.prompt, task.inputs, self.result)
        if rules.fault:
            raise _Unproven(ProofReason.REFERENCE_FAILED, rules.fault)
        return rules

    def without_work(self, findings: Sequence[str]) -> None:
        """Nothing, talk, empty files and copies of inputs must not pass."""
        for name, outputs in self._lazy():
            if self._passes(findings, outputs):
                raise _Unproven(ProofReason.PASSED_WITHOUT_WORK, name)
        edited = self._inputs_of_results(by_name=True)
        if edited and (edited == self.result or self._passes(findings, self._beside(edited))):
            raise _Unproven(ProofReason.NOTHING_TO_DO, ", ".join(sorted(edited)))

    def wrong_results(self, findings: Sequence[str]) -> tuple[str, ...]:
        """The findings that fail for a wrong copy of the result, for what was changed in it.

        For those that no copy has failed, more copies are made of what they tell of alone.
        """
        unbroken, passed = set(findings), list[str]()
        for mutant, outputs in self._wrong():
            failed = self._failed(mutant, outputs, findings)
            unbroken -= failed
            if not failed:
                passed.append(f"passed: {mutant.path}, {mutant.before!r} as {mutant.after!r}")
        words = [text for name in sorted(unbroken) for text in self.reported.get(name, ())]
        for mutant in self._of_words(words)[:_MOST_MORE] if unbroken else ():
            outputs = {**self.result, mutant.path: mutant.content}
            unbroken -= self._failed(mutant, outputs, findings)
        killed = self.counts["killed"]
        if killed < _MUTANTS:
            tried = self.counts["mutants"]
            detail = f"{killed} of {tried} failed rightly"
            raise _Unproven(ProofReason.MUTANTS_PASSED, detail, passed[:_MOST_FAULTS])
        return tuple(name for name in findings if name not in unbroken)

    def _failed(
        self, mutant: Mutant, outputs: Mapping[str, bytes], findings: Sequence[str]
    ) -> set[str]:
        """The findings that fail for a wrong copy, if they do so for what is wrong in it."""
        printed = self._checked(outputs)
        failed = [f for f in printed or () if f.name in set(findings) and not f.passed]
        self.counts["mutants"] += 1
        if not failed or not _is_right(mutant, failed, len(findings)):
            return set()
        self.counts["killed"] += 1
        for finding in failed if mutant.kind == STRUCTURE else ():
            self.structures.setdefault(finding.name, set()).add(mutant.after)
        return {finding.name for finding in failed}

    def changed_inputs(self, findings: tuple[str, ...]) -> tuple[str, ...]:
        """With another number in an input, the old result fails and the new one holds.

        Of findings of which none does so those that hold whatever the inputs, as long as formulas
        and programs compute what they should.
        """
        faults, failing = list[str](), list[_Failing]()
        for mutant, inputs, changed in self._other_results:
            self.counts["changed_inputs"] += 1
            old, new = self._checked(self.result, inputs), self._checked(changed, inputs)
            failed = [f for f in _among(findings, new or ()) if not f.passed]
            if failed:
                failing.append((mutant, inputs, {finding.name for finding in failed}))
                faults.append(f"{_change_of(mutant)}: the new result fails {_shown(failed[0])}")
                continue
            if old is not None and any(not finding.passed for finding in _among(findings, old)):
                return findings
            faults.append(f"{_change_of(mutant)}: the old result passes as before")
        kept = self._of_structure(findings, failing)
        if not kept:
            raise _Unproven(ProofReason.NOT_COMPUTED, faults=faults[:_MOST_FAULTS])
        return kept

    def _of_structure(
        self, findings: tuple[str, ...], failing: Sequence[_Failing]
    ) -> tuple[str, ...]:
        """The findings about formulas and programs that hold whatever the values of inputs.

        `failing` are those that fail for the reference's results with other inputs; the second
        solution may do as well there, and a program with a line less may be none.
        """
        unsteady, lost = set[str](), 0
        for mutant, inputs, names in failing:
            if extension_of(mutant.path) in PROGRAMS and mutant.kind == "row":
                lost += 1
                continue
            with suppress(_Unproven):
                results = self._solved(self.task.second, ProofReason.SECOND_FAILED, inputs)
                printed = _among(findings, self._checked(results, inputs) or ())
                names = names - {finding.name for finding in printed if finding.passed}
            unsteady |= names
        kept = tuple(n for n in findings if n not in unsteady and n in self.structures)
        wrong = set[str]().union(*(self.structures[name] for name in kept))
        least = _LEAST_OTHERS if self.task.inputs else 0
        is_steady = len(self._other_results) - lost >= least
        return kept if is_steady and len(wrong) >= _STRUCTURES else ()

    def _trace(self, outputs: Mapping[str, bytes]) -> str:
        """What the check program says of itself where it fails."""
        program = program_of(self.task.checks, self.task.inputs, outputs)
        command = f"{program.command} 2> {_ERRORS}"
        ran = self.run(replace(program, command=command, wanted=(_ERRORS,)))
        printed = ran.files.get(STDOUT, b"")[:200].decode("utf-8", "replace")
        return _errors(ran) or f"it printed: {printed}"

    @cached_property
    def _other_results(self) -> Sequence[tuple[Mutant, Mapping[str, bytes], Mapping[str, bytes]]]:
        """Other inputs, each with its change and the reference's results, where it runs on them.

        Values that findings tell of are changed first, then any.
        """
        given, words = self.task.inputs.items(), self._words()
        reported = _in_turn([copies_of("told", *one, self.run, words) for one in given])
        values = [mutant for mutant in reported if mutant.kind != "entity"][: _CHANGED_INPUTS // 3]
        others = _in_turn([copies_of("inputs", *one, self.run) for one in given])
        results = []
        for mutant in [*values, *others][:_CHANGED_INPUTS]:
            inputs = {**self.task.inputs, mutant.path: mutant.content}
            with suppress(_Unproven):  # the changed input may be no input of this kind any more
                failure = ProofReason.REFERENCE_FAILED
                results.append((mutant, inputs, self._solved(self.task.reference, failure, inputs)))
        return results

    def _solved(
        self, program: str, failure: ProofReason, inputs: Mapping[str, bytes] | None = None
    ) -> dict[str, bytes]:
        """What a solution leaves in `outputs/`, all deliverables among it."""
        given = self.task.inputs if inputs is None else inputs
        files = {_SOLUTION: program.encode(), **library()}
        files |= {f"inputs/{path}": content for path, content in given.items()}
        own = Program(files, _COMMAND, _SOLUTION_SECONDS, (_ERRORS,), libraries=True)
        ran = self.run(replace(own, keeps="outputs"))
        if ran.timed_out or ran.code != 0:
            how = "took too long" if ran.timed_out else f"ended with code {ran.code}"
            raise _Unproven(failure, how, [_errors(ran)])
        outputs = {
            path.removeprefix("outputs/"): content
            for path, content in ran.files.items()
            if path.startswith("outputs/")
        }
        there = [_base(path).casefold() for path in outputs]
        wanted = self.task.deliverables
        lacking = [name for name in wanted if not filter_names(there, _base(name).casefold())]
        if lacking or not outputs:
            raise _Unproven(failure, f"did not write {', '.join(lacking) or 'anything'}")
        return outputs

    def _checked(
        self, outputs: Mapping[str, bytes], inputs: Mapping[str, bytes] | None = None
    ) -> tuple[Finding, ...] | None:
        given = self.task.inputs if inputs is None else inputs
        return read_findings(self.run(program_of(self.task.checks, given, outputs)))

    def _passes(self, findings: Sequence[str], outputs: Mapping[str, bytes]) -> bool:
        printed = self._checked(outputs)
        passed = {finding.name for finding in printed or () if finding.passed}
        return passed.issuperset(findings)

    def _lazy(self) -> Iterator[tuple[str, dict[str, bytes]]]:
        yield "nothing", {}
        yield "talk", dict.fromkeys(self.result, self.task.prompt.encode())
        yield "empty", self._beside({})
        copies = self._inputs_of_results(by_name=False) if len(self.task.inputs) == 1 else {}
        named = self._inputs_of_results(by_name=True)
        if copies and copies not in (self.result, named):
            yield "a copy of the input", self._beside(copies)

    def _inputs_of_results(self, *, by_name: bool) -> dict[str, bytes]:
        """Inputs of the results' types in the results' place, of the same name if `by_name`."""
        return {
            name: content
            for name in self.result
            for path, content in self.task.inputs.items()
            if extension_of(path) == extension_of(name)
            and (_base(path) == _base(name) or not by_name)
        }

    def _beside(self, outputs: Mapping[str, bytes]) -> dict[str, bytes]:
        """Some outputs, and an empty file for each other result."""
        known = {name: extension_of(name) in TYPES for name in self.result}
        return {name: b"\n" if known[name] else b"" for name in self.result} | dict(outputs)

    def _wrong(self) -> Iterator[tuple[Mutant, Mapping[str, bytes]]]:
        """Wrong results: what findings tell of, then kinds in turn, then those of other inputs."""
        for mutant in self._copies():
            yield mutant, {**self.result, mutant.path: mutant.content}
        for _, _, outputs in self._other_results:
            if outputs != self.result:
                yield Mutant(_OTHER_INPUT, "", b""), outputs

    def _copies(self) -> list[Mutant]:
        inputs = self.task.inputs.items()
        others = sorted({name for given in inputs for name in names_of(*given, self.run)})
        by_kind: dict[str, list[Mutant]] = {}
        for path, content in self.result.items():
            for mutant in copies_of("wrong", path, content, self.run, others):
                by_kind.setdefault(mutant.kind, []).append(mutant)
        structures = by_kind.pop(STRUCTURE, [])
        first = self._of_words(self._words())[:_MOST_TOLD]
        rest = _in_turn(list(by_kind.values()))
        return [*structures, *[*first, *rest][:_MOST_MUTANTS]]

    def _words(self) -> list[str]:
        return [text for texts in self.reported.values() for text in texts]

    def _of_words(self, words: Sequence[str]) -> list[Mutant]:
        """Copies of the results in which what some words tell of is changed."""
        results = self.result.items()
        return _in_turn([copies_of("told", *result, self.run, words) for result in results])


def _in_turn(lists: Sequence[Sequence[Mutant]]) -> list[Mutant]:
    """The first of each, then the second of each, so that a limit takes some of all."""
    longest = max(map(len, lists), default=0)
    return [made[at] for at in range(longest) for made in lists if at < len(made)]


def copies_of(
    what: str, path: str, content: bytes, run: Run, words: Sequence[str] = ()
) -> list[Mutant]:
    """Changed copies of a file, made in a sandbox; `what` as the program `mutants` takes it.

    `words` are what findings tell of ("told"), or names of other entities ("wrong").
    """
    rows, files = _maker(what, path, content, words, run)
    made = [
        Mutant(kind, path, files[f"made/{number}"], before, after)
        for number, (kind, before, after) in enumerate(rows)
        if f"made/{number}" in files
    ]
    return [mutant for mutant in made if mutant.content != content]


def names_of(path: str, content: bytes, run: Run) -> list[str]:
    """Names that a file holds: entities that a mutant may swap in. They are read in a sandbox."""
    names, _ = _maker("names", path, content, (), run)
    return [str(name) for name in names]


def _maker(
    what: str, path: str, content: bytes, names: Sequence[str], run: Run
) -> tuple[list[Any], Mapping[str, bytes]]:
    """What `mutants` lists for a file, and the files that it made."""
    arguments = [_MAKER.name, what, _base(path), json.dumps(list(names))]
    files = {own.name: own.read_bytes() for own in (_MAKER, _OFFICE)}
    files |= {**library(), "given": content}
    command = f"python3 -B {shlex.join(arguments)}"
    ran = run(Program(files, command, _SOLUTION_SECONDS, libraries=True, keeps="made"))
    if ran.timed_out or ran.code != 0:
        return [], {}
    return json.loads(ran.files.get(f"made/{INDEX}", b"[]")), ran.files


def _is_right(mutant: Mutant, failed: Sequence[Finding], count: int) -> bool:
    """Does a failed finding speak of what was changed, or do others still hold?

    The reference's result for another input has the right form, so that all may fail for it.
    """
    if len(failed) < count or mutant.kind == _OTHER_INPUT:
        return True
    words = " ".join(f"{finding.expected} {finding.actual}" for finding in failed).replace(",", "")
    marks = [mark.replace(",", "") for mark in (mutant.before, mutant.after) if mark]
    cores = (mark.rstrip("0").rstrip(".") if "." in mark else mark for mark in marks)
    return count == 1 or any(core in words for core in cores)


def _among(findings: Sequence[str], printed: Sequence[Finding]) -> list[Finding]:
    """The proven findings, those failed that are not there."""
    by_name = {finding.name: finding for finding in printed}
    return [by_name.get(name, Finding(name, passed=False)) for name in findings]


def _errors(ran: Ran) -> str:
    return ran.files.get(_ERRORS, b"").decode("utf-8", "replace")[-_MOST_ERRORS:].strip()


def _change_of(mutant: Mutant) -> str:
    """Which input was changed, and how: `inputs/rows.csv with 12 as 14`, or its kind of change."""
    before, after = (repr(text)[:_LONGEST_VALUE] for text in (mutant.before, mutant.after))
    how = f"{before} as {after}" if mutant.before or mutant.after else f"another {mutant.kind}"
    return f"inputs/{mutant.path} with {how}"


def _shown(finding: Finding) -> str:
    values = {"expected": finding.expected, "found": finding.actual}
    held = "holds" if finding.passed else "fails"
    return f"{finding.name} {held}: {json.dumps(values, ensure_ascii=False)}"


def _base(path: str) -> str:
    return PurePosixPath(path).name


def proof_record(proof: Proof) -> bytes:
    """A proof as it is captured."""
    return canonical_json(proof)


def read_proof(record: bytes) -> Proof:
    """The proof of a record."""
    return _PROOF.validate_json(record)


_PROOF = TypeAdapter(Proof)
