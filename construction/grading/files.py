"""Output files as graded parts: every hard rule, and whether the deliverables are own work.

A hard rule has no weight: EnterpriseClawBench keeps rules out of the score, so each is a column
beside it. What a task cannot do without is the part `deliverables`: all rules hold, and enough
files are the agent's own work. A copy of an input, the text of the prompt, filler and the empty
shell of a file type are none.

Imports the standard library, the libraries that open files and `data.contracts.attempt`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from construction.grading.file_child import look_in_children
from construction.grading.file_look import RuleLimits, Seen, shingles
from construction.grading.file_types import extension_of
from construction.grading.hard_rules import Look, OutputFile, Outputs, judge_rule, look_at_outputs
from construction.grading.spec import RuleSpec, TaskSpec
from data.contracts.attempt import ScorePart

DELIVERABLES = "deliverables"
RULE = "rule."  # starts the name of a rule's part
# A file repeats the prompt if nearly all it says is from there, it takes over much of it, and also
# its first words: text that a prompt gives to be copied or corrected comes after a request.
_FROM_PROMPT, _OF_PROMPT, _FIRST_RUNS = 0.9, 0.5, 5


class FileReason(StrEnum):
    """Why a file is not the agent's own work."""

    COPIED_INPUT = "files.copied_input"
    EMPTY_SHELL = "files.empty_shell"
    FILLER = "files.filler"
    REPEATS_PROMPT = "files.repeats_prompt"


def grade_files(
    spec: TaskSpec,
    outputs: Path | None,
    limits: RuleLimits | None = None,
    look: Look = look_in_children,
) -> tuple[ScorePart, ...]:
    """The parts of a task with hard rules, none without; `outputs` None: no file was delivered.

    Each rule is a part of weight 0, then comes the required part `deliverables`.
    """
    if not spec.rules:
        return ()
    seen = Outputs()
    if outputs is not None:
        is_copying = any(rule.kind == "same" for rule in spec.rules)  # then a copy is the work
        inputs = () if is_copying else spec.inputs
        seen = look_at_outputs(spec.rules, outputs, limits, inputs, look)
    results = [judge_rule(rule, seen.files, seen.overflow) for rule in spec.rules]
    columns = [
        ScorePart(
            name=f"{RULE}{result.rule_id}",
            evidence="action",
            weight=0.0,
            value=float(result.passed),
            reason=result.reason,
            detail={"observed": result.observed, "limit": result.limit, "file": result.file},
        )
        for result in results
    ]
    broken = next((result.reason for result in results if not result.passed), None)
    reason = _not_own_work(spec, seen) or broken
    required = ScorePart(
        DELIVERABLES, "action", 0.0, float(reason is None), required=True, reason=reason
    )
    return (*columns, required)


def _not_own_work(spec: TaskSpec, seen: Outputs) -> str | None:
    """Why own work is missing where files are there; None if it is not, or nothing is there."""
    repeats = _repeating(spec.prompt)
    faults = {file.name: _fault(file.seen, repeats) for file in seen.files}
    for rule in spec.rules:
        extensions = rule.params.get("extensions", ())
        files = [file for file in seen.files if file.extension in extensions]
        if _has_enough(rule, [file for file in files if faults[file.name] is None]):
            continue
        reasons = [reason for file in files if (reason := faults[file.name]) is not None]
        if reasons:
            return reasons[0]
        if any(extension_of(name) in extensions for name in seen.copies):
            return FileReason.COPIED_INPUT
    return None


def _has_enough(rule: RuleSpec, own: Sequence[OutputFile]) -> bool:
    """Are there as many files of own work as a rule counts, with the names that it asks for?"""
    if rule.kind == "named":
        present = {_base(file.name) for file in own}
        return all(_base(name) in present for name in rule.params["names"])
    return len(own) >= int(rule.params.get("min", 1))


def _base(name: str) -> str:
    return name.rpartition("/")[2].lower()


def _fault(seen: Seen, repeats: Callable[[Seen], bool]) -> str | None:
    if seen.is_shell:
        return FileReason.EMPTY_SHELL
    if seen.is_filler:
        return FileReason.FILLER
    return FileReason.REPEATS_PROMPT if repeats(seen) else None


def _repeating(prompt: str) -> Callable[[Seen], bool]:
    """Whether the text of a file is merely that of the prompt."""
    runs = shingles(prompt)
    distinct, first = frozenset(runs), frozenset(runs[:_FIRST_RUNS])

    def repeats(seen: Seen) -> bool:
        if not distinct or not seen.shingles or not first.issubset(seen.shingles):
            return False
        common = len(distinct.intersection(seen.shingles))
        return common >= _FROM_PROMPT * len(seen.shingles) and common >= _OF_PROMPT * len(distinct)

    return repeats
