"""The panel of scripted agents on workspace repair: what each of them would deliver.

They have the names and the faults of the panel of service tasks, as far as a folder can show them:
an agent that writes twice breaks something besides, one that forgets a source leaves the first part
undone, one that does not see the overriding rule leaves the last part undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from construction.grading.state_kinds import is_keeping
from construction.workflows.panel import PANEL
from construction.workflows.repair.drafts import Files, RepairDraft
from data.contracts.attempt import Score

Grader = Callable[[Files], Score]


def panel_scores(
    draft: RepairDraft, delivered: Files, grader: Grader
) -> Iterator[tuple[str, Score]]:
    """The score of each agent of the panel, in its order; `delivered` is the reference's."""
    for agent in PANEL:
        yield agent.name, grader(_delivery(agent.name, draft, delivered))


def _delivery(agent: str, draft: RepairDraft, delivered: Files) -> Files:
    mended = [c.check_id for c in draft.checks if not is_keeping(c.kind, c.params)]
    kept = [c.check_id for c in draft.checks if is_keeping(c.kind, c.params)]
    exact = [c.check_id for c in draft.checks if c.evidence == "accuracy" or c.kind == "value"]
    executes = any(check.kind == "runs" for check in draft.checks)
    violated = {
        "double_writes": kept[:1],
        "arithmetic_slip": exact[:1],
        "wrong_entity": mended[-1:] if len(mended) > 1 else [],
        "ignores_overriding_rule": mended[-1:],
        "forgets_one_source": mended[:1],
    }.get(agent, [])
    gives_up = agent == "gives_up_on_errors" and executes
    if agent == "no_writes" or gives_up:
        return {name: data for name, data in draft.inputs.items() if name in draft.delivers}
    files = dict(delivered)
    for check_id in violated:
        draft.mutants[check_id](files)
    return files
