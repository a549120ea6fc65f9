"""Hard rules held against the result of a reference: what that fails is no rule of the task.

Rules on names, number and types of files say what the request says: a reference that fails one is
no reference. The others are made without reading the request; one that asserts more than it
(something in a PDF is changed, where files are renamed) is dropped with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.grading.file_child import look_in_children
from construction.grading.file_look import RuleLimits
from construction.grading.file_types import type_of
from construction.grading.hard_rules import DELIVERABLES, RULE, FileReason, grade_files
from construction.grading.spec import RuleSpec, TaskSpec
from construction.judging.baseline.grade import same_rule
from data.contracts import Rule

_OF_THE_REQUEST = frozenset({"named", "count", "file_type"})


@dataclass(frozen=True, slots=True)
class Held:
    """`rules` are those that hold, `dropped` the reasons of the others by their ids.

    `fault` says why the result is none at all: then there are no rules.
    """

    rules: tuple[Rule, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


def held(
    rules: Sequence[Rule], prompt: str, inputs: Mapping[str, bytes], result: Mapping[str, bytes]
) -> Held:
    """The rules that a right result meets; where inputs are delivered as they were, that they are.

    A result that counts as no work for another reason than being a copy is a fault.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in result.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        failed = _failed(rules, prompt, (), folder)
        kinds = {rule.rule_id: rule.kind for rule in rules}
        dropped = {rule_id: why for rule_id, why in failed.items() if rule_id in kinds}
        if wrong := next((one for one in dropped if kinds[one] in _OF_THE_REQUEST), ""):
            return Held(fault=f"its result fails {wrong}: {dropped[wrong]}")
        kept = [rule for rule in rules if rule.rule_id not in dropped]
        digests = [sha256(content).hexdigest() for content in inputs.values()]
        if _failed(kept, prompt, digests, folder).get(DELIVERABLES) == FileReason.COPIED_INPUT:
            kept += _same_rules(digests, result, folder)
        fault = _failed(kept, prompt, digests, folder).get(DELIVERABLES, "")
        return Held(fault=f"its result: {fault}") if fault else Held(tuple(kept), dropped)


def _failed(
    rules: Sequence[Rule], prompt: str, inputs: Sequence[str], folder: Path
) -> dict[str, str]:
    """The reasons of the rules that files fail, by their ids, and of `DELIVERABLES`."""
    own = tuple(RuleSpec(rule.rule_id, rule.kind, rule.params, rule.text) for rule in rules)
    spec = TaskSpec("reference", prompt, inputs=tuple(inputs), rules=own)
    parts = grade_files(spec, folder)
    return {part.name.removeprefix(RULE): str(part.reason) for part in parts if not part.value}


def _same_rules(inputs: Sequence[str], result: Mapping[str, bytes], folder: Path) -> list[Rule]:
    """For each known type of which inputs are delivered: one of them is there as it was."""
    copies = [path for path, own in result.items() if sha256(own).hexdigest() in inputs]
    forms: dict[str, set[int]] = {}
    for path, seen in zip(copies, look_in_children(folder, copies, RuleLimits()), strict=True):
        if (kind := type_of(path)) is not None:
            forms.setdefault(kind.name, set()).add(seen.form)
    return [same_rule(kind, sorted(own)) for kind, own in sorted(forms.items())]
