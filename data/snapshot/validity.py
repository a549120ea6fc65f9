"""The validity report: the Agentic Benchmark Checklist, item by item, with the evidence of a build.

The items are those of Zhu et al. 2025 (arXiv 2507.02825): T of the tasks, O of the outcomes by kind
of grading, R of the reporting. Evidence is what the manifest, the statistics and the ledger of the
release show; an item without any says "not shown", and nothing is claimed for what was not tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from data.figures import amount, number, percent
from data.snapshot import layout
from data.snapshot.manifest import Manifest

State = Literal["shown", "in part", "not shown", "not applicable"]
Rows = Sequence[Mapping[str, Any]]
_WITHOUT_WORK = ("null", "talk", "empty calls")
_FORMS = ("plain number", "with separators", "as JSON", "in a sentence", "in bold", "full width")
NOT_SHOWN: State = "not shown"
_NO_USE: State = "not applicable"
_MATCHING = (
    ("O.a.1", "Equivalent expressions are accepted", _FORMS, "other forms of the correct answer"),
    ("O.a.2", "Redundant words are tolerated", ("in a sentence",), "the answer in a sentence"),
    (
        "O.b.1",
        "Negations are recognised",
        ("refusal with the value",),
        "a refusal that contains the value",
    ),
    ("O.b.2", "Listing all answers does not pass", ("right among others",), "several answers"),
    ("O.b.3", "Guesses do not pass", ("another value", "no value", "times 1000"), "other values"),
)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the checklist: what it asks for, and what this release shows of it."""

    item: str
    asks: str
    state: State
    evidence: str


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the release says about itself."""

    manifest: Manifest
    statistics: Mapping[str, Any]
    gates: Mapping[str, Mapping[str, int]]  # gate -> number of items by status

    @property
    def tasks(self) -> int:
        return self.manifest.counts.tasks

    def n(self, statistic: str, value: str) -> int:
        """How many tasks have a value of a statistic."""
        return sum(row["n"] for row in self.statistics[statistic] if row["value"] == value)

    def audited(self, kinds: Iterable[str]) -> tuple[int, int, list[str]]:
        """Submissions of these kinds, those that came out as they must, and the kinds tried."""
        wanted = set(kinds)
        audit = self.manifest.grading.audit if self.manifest.grading else ()
        rows = [row for row in audit if row.kind in wanted]
        return sum(r.tasks for r in rows), sum(r.held for r in rows), [r.kind for r in rows]


def report(manifest: Manifest, statistics: Mapping[str, Any], gates: Rows) -> list[Item]:
    """All items in the order of the checklist."""
    facts = _Facts(manifest, statistics, {row["gate"]: row["statuses"] for row in gates})
    return [item for part in _PARTS for item in part(facts)]


def counts(items: Iterable[Item]) -> dict[str, int]:
    """How many items have each state."""
    total: dict[str, int] = dict.fromkeys(("shown", "in part", NOT_SHOWN, "not applicable"), 0)
    for item in items:
        total[item.state] += 1
    return total


def _of(held: int, tried: int) -> State:
    if not tried:
        return NOT_SHOWN
    return "shown" if held == tried else "in part"


def _tried(facts: _Facts, kinds: Sequence[str], what: str) -> tuple[State, str]:
    tried, held, names = facts.audited(kinds)
    if not tried:
        return NOT_SHOWN, f"no released tasks were tried with {what}"
    named = ", ".join(names)
    return _of(held, tried), f"{number(held)} of {number(tried)} gave the expected result ({named})"


def _part(state: State) -> State:
    """Of what was tried on some tasks, or shows a part of what an item asks for."""
    return "in part" if state == "shown" else state


def _tools_and_environment(facts: _Facts) -> Iterator[Item]:
    manifest, tasks = facts.manifest, facts.tasks
    cut_off = facts.n("network", "none")
    frozen: State = "shown" if cut_off == tasks else "in part"
    versions = f"code {manifest.code_version[:12]}, lock file {manifest.lock_digest[:12]}"
    yield Item("T.1", "Tool versions are stated", "shown", versions)
    reach = (
        f"{cut_off} of {tasks} tasks need no network access; the runner provides tools and services"
    )
    yield Item("T.2", "Services that tasks need are reachable", frozen, reach)
    what = (
        "the runner counts attempts that the machine aborted separately; none was provoked "
        "in this build"
    )
    yield Item("T.3", "Outages are handled", NOT_SHOWN, what)
    what = (
        "each attempt starts with its own copy of inputs and services; no run in this build "
        "shows it"
    )
    yield Item("T.4", "State is cleared between runs", "in part", what)
    scanned = sum(facts.gates.get("leaks", {}).values())
    halves = (
        "answers, rules and graders are only in the private half, and verify looks for them in the "
        f"public one; the leak scan examined {amount(scanned, 'candidate')}"
    )
    yield Item("T.5", "Agents are cut off from the ground truth", "shown", halves)
    fixed = (
        f"{amount(manifest.counts.fixtures, 'input file')} with SHA-256, "
        f"{amount(len(manifest.inputs), 'input')} to the build recorded by digest; {reach}"
    )
    yield Item("T.6", "The environment is frozen", frozen, fixed)


def _solvable(facts: _Facts) -> Iterator[Item]:
    tasks, grading = facts.tasks, facts.manifest.grading
    kinds = ("computed answer",)
    state, evidence = _tried(facts, kinds, "the answer computed by the reference steps")
    if facts.audited(kinds)[0] < tasks:
        state, evidence = _part(state), f"{evidence}; {amount(tasks, 'task')} in all"
    yield Item("T.7", "The ground truth is verified", state, evidence)
    verified = grading.verified if grading else 0
    tried = f"{verified} of {tasks} were run in a sandbox before release; {evidence}"
    yield Item("T.8", "Each task can be solved", _of(verified, tasks) if verified else state, tried)
    yield Item("T.9", "There is an oracle solver", state, f"{evidence}; agent oracle")
    state, evidence = _tried(facts, _WITHOUT_WORK, "submissions with no work in them")
    yield Item("T.10", "There are no shortcuts", _part(state), evidence)


def _matched(facts: _Facts) -> Iterator[Item]:
    answers = facts.n("evidence", "accuracy")
    for item, asks, kinds, what in _MATCHING:
        if answers:
            yield Item(item, asks, *_tried(facts, kinds, what))
        else:
            yield Item(item, asks, _NO_USE, "no tasks are graded by an answer")


def _judged(facts: _Facts) -> Iterator[Item]:
    semantic = facts.n("evidence", "semantic")
    what = f"{semantic} of {facts.tasks} tasks are partly judged; no judge ran in this build"
    for item, asks in (
        ("O.c.1", "A judge's accuracy and consistency are documented"),
        ("O.c.2", "A judge withstands adversarial submissions"),
    ):
        if semantic:
            yield Item(item, asks, NOT_SHOWN, what)
        else:
            yield Item(item, asks, _NO_USE, "no tasks are graded by a judge")


def _programs_and_states(facts: _Facts) -> Iterator[Item]:
    screened = facts.gates.get("screen", {})
    drafts, passed = sum(screened.values()), screened.get("passed", 0)
    screening = f"{passed} of {drafts} drafts passed screening"
    state: State = "in part" if drafts else NOT_SHOWN
    code, actions = facts.n("surfaces", "workspace"), facts.n("evidence", "action")
    for item, asks, what in (
        ("O.d.1", "Tests are verified", f"{screening} (reference, recipes for sibling tasks)"),
        ("O.d.2", "Test quality is measured", f"{screening}: a mutant for each check fails"),
    ):
        applies = f"{code} of {facts.tasks} tasks are checked on their deliverables; {what}"
        yield Item(item, asks, state if code else _NO_USE, applies)
    yield Item("O.e", "Fuzzed inputs are comprehensive", _NO_USE, "no tasks are graded by fuzzing")
    twice = "graders are pure functions; they were not run twice in this build"
    yield Item("O.f", "Graders give the same result every time", NOT_SHOWN, twice)
    for item, asks, shown in (
        ("O.g.1", "All successful states are accepted", NOT_SHOWN),
        ("O.g.2", "Side effects are detected, and irrelevant state is ignored", state),
        ("O.g.3", "The state is too complex to be reached by chance", state),
    ):
        applies = f"{actions} of {facts.tasks} tasks are graded by state; {screening}"
        yield Item(item, asks, shown if actions else _NO_USE, applies)


def _forms_and_measures(facts: _Facts) -> Iterator[Item]:
    grading = facts.manifest.grading
    share = percent(grading.deterministic_share) if grading else "an unknown share"
    form = f"guidelines state unit, decimals and type; {share} of the weight needs no judge"
    answers = facts.n("evidence", "accuracy")
    yield Item("O.h.1", "The answer format is stated", "shown" if answers else _NO_USE, form)
    steps = "milestones are reported alongside the score and do not affect it"
    yield Item("O.h.2", "Multi-step work does not pass on its last step alone", "in part", steps)
    yield Item("O.i", "Quality metrics reflect skill", _NO_USE, "no tasks are graded by a metric")


def _open_and_dated(facts: _Facts) -> Iterator[Item]:
    manifest = facts.manifest
    licence = f"licence: {manifest.licence or 'none declared'}"
    yield Item("R.1", "The data is open", "shown" if manifest.licence else NOT_SHOWN, licence)
    yield Item(
        "R.2", "The harness is open", "shown", "the runner and the exports for other runners"
    )
    canary = f"canary {manifest.canary} in every text file; the answers are not published"
    yield Item("R.3", "Contamination is prevented", "in part", canary)
    dated = f"dated releases: {manifest.snapshot}, version {manifest.version}"
    yield Item("R.4", "There is an update plan", "shown", dated)
    yield Item(
        "R.5", "The report states what is measured", "shown", "README.md, Motivation and Uses"
    )
    yield Item(
        "R.6", "The report states who is evaluated", NOT_SHOWN, "a release contains no attempts"
    )


def _flaws_and_results(facts: _Facts) -> Iterator[Item]:
    gates = f"{amount(len(facts.gates), 'gate')}, each with its limit, in {layout.REPORT}"
    yield Item("R.7", "Flaws are looked for and fixed", "shown", gates)
    said = "each task states what was not verified (`preflight` in tasks.jsonl)"
    yield Item("R.8", "Remaining flaws are described", "in part", said)
    judged = facts.manifest.grading.judge_only if facts.manifest.grading else 0
    counted = f"{judged} of {facts.tasks} tasks can only be scored by a judge"
    yield Item("R.9", "Remaining flaws are quantified", "in part", counted)
    for item, asks in (
        ("R.10", "Statistics with intervals"),
        ("R.11", "Guidance on interpreting results"),
        ("R.12", "Non-agent baselines"),
    ):
        yield Item(
            item, asks, NOT_SHOWN, "a release contains no scores; `leaderboard` reports them"
        )
    state, evidence = _tried(facts, _WITHOUT_WORK, "submissions with no work in them")
    yield Item("R.13", "Trivial agents are reported", state, evidence)


_PARTS = (
    *(_tools_and_environment, _solvable),
    *(_matched, _judged, _programs_and_states, _forms_and_measures),
    *(_open_and_dated, _flaws_and_results),
)
