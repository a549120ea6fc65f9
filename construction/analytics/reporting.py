"""The funnel of the lane: what was made and rejected, what noise bites, what guessers get right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from construction.analytics.contracts import AnalyticTask, Difficulty
from construction.analytics.make import Minted


def report_of(minted: Minted) -> dict[str, Any]:
    """The funnel: tasks and reasons by category and difficulty, noise, guessers."""
    tasks = minted.tasks
    reasons: dict[str, Counter[str]] = {}
    for row in minted.ledger:
        reasons.setdefault(row.stratum or "", Counter())[row.reason or "kept"] += 1
    wanted = {
        f"{category}/{difficulty}": quota
        for category, quotas in minted.bench.declaration.quotas.items()
        for difficulty, quota in quotas.items()
    }
    bitten = [task for task in tasks if task.noise]
    return {
        "candidates": len(minted.ledger),
        "tasks": len(tasks),
        "asked_for": wanted,
        "made": dict(sorted(Counter(f"{t.category}/{t.difficulty}" for t in tasks).items())),
        "reasons": {name: dict(sorted(count.items())) for name, count in sorted(reasons.items())},
        "templates": dict(sorted(Counter(task.template for task in tasks).items())),
        "languages": dict(sorted(Counter(task.language for task in tasks).items())),
        "noise": dict(sorted(Counter(kind for task in tasks for kind in task.noise).items())),
        "noise_by_difficulty": _noise_by_difficulty(tasks),
        "noisy_share": round(len(bitten) / len(tasks), 4) if tasks else 0.0,
        "noise_quota": minted.quota.report(),
        "guessers": minted.guesser.report(),
    }


def _noise_by_difficulty(tasks: Sequence[AnalyticTask]) -> list[dict[str, Any]]:
    """Per difficulty: its tasks, those that noise changes, and by kind."""
    rows = []
    for difficulty in get_args(Difficulty):
        own = [task for task in tasks if task.difficulty == difficulty]
        kinds = Counter(kind for task in own for kind in task.noise)
        rows.append(
            {
                "difficulty": difficulty,
                "tasks": len(own),
                "noisy": sum(bool(task.noise) for task in own),
                "kinds": dict(sorted(kinds.items())),
                "steps": sum(len(task.program) for task in own),
            }
        )
    return rows
