"""How many released session tasks have checks of their own, and do these reject work not done?

    python -m benchmarks.computed_checks SNAPSHOT [SNAPSHOT...]

A check is of the task's own if it follows from its request or its inputs: a column, a sheet, a text
or a length that the request fixes, words between which it lets choose, a result that it names, what
a change must leave in place, or what a conversion must carry over.
Rules that any task of the type has (it opens, is not empty, uses words of the task) are not
counted. Then every released task is attacked with each null deliverable once more: nothing, empty
shells, filler, stubs, the prompt, a copy of an input, an input saved anew. An attack that passes,
or earns more than the limit of the recipe's default, is counted. The last columns are the
candidates of any lane that the same gate refused, from the release's own ledger.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchmarks.report import table, write_result
from construction.grading.attacks import NULL, attacks, gain
from construction.grading.gate import GraderReason, GradingRecipe
from construction.grading.grade import grade
from construction.grading.spec import RuleSpec, TaskSpec, spec_of
from construction.judging.deliverables import ANSWER
from data.contracts import Lane
from data.releases.tasks import ReleasedTask, read_tasks
from data.snapshot import layout

RECIPE = GradingRecipe()
_OF_THE_REQUEST = ("columns", "sheets", "holds", "same")
_HEAD = (
    "snapshot",
    "session tasks",
    "computed checks",
    "named outputs",
    "either",
    "null deliverables tried",
    "accepted",
    "refused: null",
    "refused: no rubric",
)


def is_computed(rule: RuleSpec) -> bool:
    """Does the rule follow from the request or the inputs of its task, beside a result's name?"""
    kind, _, rest = rule.rule_id.partition(".")
    of_a_text = rest.startswith(("kept.", "carried.", "choice."))
    asked_length = kind == "length" and "." in rest
    return kind in _OF_THE_REQUEST or of_a_text or asked_length


def _names_a_result(rule: RuleSpec) -> bool:
    return rule.kind == "named" and rule.params["names"] != [ANSWER]


def accepted(task: ReleasedTask, spec: TaskSpec) -> Iterator[tuple[str, bool]]:
    """Each null deliverable with whether it earns more than the limit."""
    with tempfile.TemporaryDirectory() as folder:
        for attack in attacks(spec, task.candidate.tools, task.inputs, Path(folder)):
            if attack.family == NULL:
                score = grade(spec, attack.submission, threshold=RECIPE.pass_threshold)
                yield attack.name, gain(score) > RECIPE.null_limit


def _row(snapshot: Path) -> tuple[list[str], dict[str, object]]:
    release = read_tasks(snapshot)
    tasks = {
        name: task for name, task in release.tasks.items() if task.candidate.lane == Lane.SESSIONS
    }
    checked, named = set(), set()
    tried: Counter[str] = Counter()
    passed: dict[str, list[str]] = {}
    for name, task in tasks.items():
        spec = spec_of(release.grading(name))
        checked |= {name} if any(map(is_computed, spec.rules)) or spec.answers else set()
        named |= {name} if any(map(_names_a_result, spec.rules)) else set()
        for attack, is_accepted in accepted(task, spec):
            tried[attack] += 1
            if is_accepted:
                passed.setdefault(name, []).append(attack)
    refused = _refused(snapshot)
    row = [
        snapshot.name,
        str(len(tasks)),
        *(_of(group, tasks) for group in (checked, named, checked | named)),
        str(tried.total()),
        str(sum(map(len, passed.values()))),
        str(refused[GraderReason.PASSED_BY_NULL]),
        str(refused[GraderReason.NEEDS_MODEL]),
    ]
    return row, {"tried": dict(tried), "accepted": passed}


def _of(group: set[str], tasks: dict[str, ReleasedTask]) -> str:
    return f"{len(group)} ({len(group) / max(1, len(tasks)):.0%})"


def _refused(snapshot: Path) -> Counter[str]:
    """Candidates of the sessions lane that a gate refused, by the reason in the ledger."""
    ledger = pl.read_parquet(snapshot / layout.PRIVATE / layout.LEDGER_TABLE)
    return Counter(ledger.filter(pl.col("outcome") == "rejected")["reason"])


def main() -> None:
    """Check the released session tasks of the snapshots, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshots", type=Path, nargs="+")
    results = {path.name: _row(path) for path in parser.parse_args().snapshots}
    rows = [row for row, _ in results.values()]
    figures = {name: figures for name, (_, figures) in results.items()}
    write_result("computed_checks", __doc__ or "", table(_HEAD, rows), figures)


if __name__ == "__main__":
    main()
