"""Small workflow tasks over services: screening, mutants, attacks, the scripted panel.

    python -m benchmarks.workflows

The drafts are four of each scenario of the split *smoke*. No model is called. The reference
solution is run twice on each draft; every other figure is of agents and submissions that are wrong
by construction.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.report import table, write_result
from construction.workflows.documents.scenario import scenarios
from construction.workflows.pool import DIFFICULTY_RULE, difficulty_of
from construction.workflows.runs import PANEL, graded, replay, spec_of_draft
from construction.workflows.screening import Screened, ScreeningConfig, screened
from construction.workflows.trials import _sibling_recipes

SEED, DRAFTS_EACH = 0, 4
ATTACKS = ("null", "talk_only", "empty_calls", "destructive", "unneeded", "siblings", "survivors")


def main() -> None:
    """Screen all drafts and write `results/workflows`."""
    began = time.perf_counter()
    seen: list[Screened] = []
    for scenario in scenarios().values():
        if scenario.split == "smoke":
            drafts = [scenario.build(number, SEED) for number in range(1, DRAFTS_EACH + 1)]
            seen += screened(drafts, scenario, ScreeningConfig())
    figures = figures_of(seen) | {"seconds": round(time.perf_counter() - began, 1)}
    write_result("workflows", __doc__ or "", page(figures), figures)


def figures_of(seen: Sequence[Screened]) -> dict[str, Any]:
    kept = [each for each in seen if each.reason is None]
    passes = Counter(sum(cell.score.passed is True for cell in each.cells) for each in kept)
    return {
        "scenarios": len({each.scenario.name for each in seen}),
        "families": dict(Counter(each.scenario.task_family for each in kept)),
        "drafts": len(seen),
        "kept": len(kept),
        "reasons": dict(Counter(each.reason for each in seen if each.reason)),
        "reference": sum(each.tried.oracle == 1 for each in seen),
        "second_run_differs": sum(each.tried.differing for each in seen),
        "attacks": {name: sum(getattr(each.tried, name) for each in seen) for name in ATTACKS},
        "siblings": _siblings(seen),
        "mutants": sum(each.tried.mutants for each in seen),
        "checks": sum(len(each.draft.checks) for each in seen),
        "answers": sum(len(each.draft.answers) for each in seen),
        "records": _spread([_records(each) for each in seen]),
        "requests": _spread([len(each.run.requests) for each in seen]),
        "difficulty": dict(Counter(difficulty_of(each.draft, each.scenario) for each in kept)),
        "with_fault": sum(bool(each.draft.world.faults) for each in kept),
        "languages": dict(Counter(each.draft.language for each in kept)),
        "panel": _panel(kept),
        "passed_by": {str(number): passes[number] for number in range(len(PANEL) + 1)},
    }


def _siblings(seen: Sequence[Screened]) -> dict[str, int]:
    """Drafts put to what solved another draft of their scenario: its requests and its answer as
    they were, and its rule applied to their own world. How many, and how many pass."""
    threshold = ScreeningConfig().pass_threshold
    pairs = [
        (draft, other)
        for draft in seen
        for other in seen
        if draft.scenario == other.scenario and draft.draft.number != other.draft.number
    ]
    passed: Counter[str] = Counter()
    for tried, other in pairs:
        spec, world = spec_of_draft(tried.draft), tried.draft.world
        as_it_was = [replay(world, other.run.requests, other.run.answer).submission()]
        applied = list(_sibling_recipes(tried.draft, tried.scenario, [other.draft]))
        for way, submissions in (("as_it_was", as_it_was), ("applied", applied)):
            passed[f"{way}_tried"] += len(submissions)
            passed[way] += sum(
                graded(spec, submission, threshold).passed is not False
                for submission in submissions
            )
    return {"pairs": len(pairs), **passed}


def _records(each: Screened) -> int:
    state = each.draft.world.state
    return sum(len(records) for rooms in state.values() for records in rooms.values())


def _spread(numbers: Sequence[int]) -> dict[str, int]:
    ordered = sorted(numbers)
    return {"least": ordered[0], "median": ordered[len(ordered) // 2], "most": ordered[-1]}


def _panel(kept: Sequence[Screened]) -> list[dict[str, Any]]:
    """What was declared of each agent and what it did, in the order of the panel."""
    rows = []
    for position, agent in enumerate(PANEL):
        cells = [each.cells[position] for each in kept]
        rows.append(
            {
                "agent": agent.name,
                "flaw": agent.meaning,
                "declared": sum(not agent.fails(each.draft) for each in kept),
                "passed": sum(cell.score.passed is True for cell in cells),
                "mean": round(sum(cell.score.overall or 0 for cell in cells) / len(cells), 3),
                "surprises": sum(not cell.is_expected for cell in cells),
            }
        )
    return rows


def page(figures: Mapping[str, Any]) -> str:
    """The page; what falls short stands first."""
    return "\n".join(
        [
            "Misses first. The panel shows that graders tell flaws apart, not how hard tasks are "
            "for models: no model has run on them. Agents that write nothing, see no rule or "
            "forget a source pass no task at all, by construction; no small task has a decoy. "
            "Nobody but their author has read the tasks. Languages of the requests: "
            f"{figures['languages']}.\n",
            f"{figures['kept']} of {figures['drafts']} drafts of {figures['scenarios']} "
            f"scenarios and {len(figures['families'])} families pass the screening, in "
            f"{figures['seconds']} s in one process, building included. Rejected: "
            f"{figures['reasons'] or 'none'}.\n",
            table(("measure", "figure", "bar"), _bars(figures)),
            table(
                ("agent", "its flaw", "passes declared", "passed", "mean score", "surprises"),
                [[str(value) for value in row.values()] for row in figures["panel"]],
            ),
            "Declared: how many drafts the agent passes, said from the drafts before it runs. A "
            "surprise is a draft with another outcome than declared.\n",
            table(
                ("agents that pass", "tasks"),
                [(number, str(count)) for number, count in figures["passed_by"].items()],
            ),
            f"Tasks that all agents pass: {figures['passed_by']['8']}; that all fail: "
            f"{figures['passed_by']['0']} (the seed: 19 and 27 of 105).\n",
            f"Difficulty ({DIFFICULTY_RULE}): {figures['difficulty']}. With a fault: "
            f"{figures['with_fault']}. Records of a world "
            f"and requests of a reference run, least, median and most: "
            f"{tuple(figures['records'].values())} and {tuple(figures['requests'].values())}.\n",
            table(("family", "tasks"), sorted((n, str(c)) for n, c in figures["families"].items())),
        ]
    )


def _bars(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    attacks, drafts, siblings = figures["attacks"], figures["drafts"], figures["siblings"]
    return [
        ("reference solutions that score 1", f"{figures['reference']} of {drafts}", "all"),
        ("second runs with another score or state", str(figures["second_run_differs"]), "0"),
        ("passes of a null agent", str(attacks["null"]), "0"),
        ("passes of talk alone", str(attacks["talk_only"]), "0"),
        ("passes of talk and empty calls", str(attacks["empty_calls"]), "0"),
        ("passes of right acts with a wrong one", str(attacks["destructive"]), "0"),
        ("passes without one of the services", str(attacks["unneeded"]), "0"),
        ("passes by a sibling's recipe or without the rule", str(attacks["siblings"]), "0"),
        (
            f"passes of what solved a sibling, its requests and answer as they were, of "
            f"{siblings['as_it_was_tried']} replays over {siblings['pairs']} pairs",
            str(siblings["as_it_was"]),
            "0",
        ),
        (
            f"passes of a sibling's rule in the draft's own world, of {siblings['applied_tried']}",
            str(siblings["applied"]),
            "0",
        ),
        (
            f"mutants that lose nothing, of {figures['mutants']}, and checks without one, of "
            f"{figures['checks'] + figures['answers']}",
            str(attacks["survivors"]),
            "0",
        ),
    ]


if __name__ == "__main__":
    main()
