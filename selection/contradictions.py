"""Settings of a selection that cannot mean anything together, or not for this pool.

They are errors before anything is solved. Limits that are sensible and still cannot be met are
`blockers`.
"""

from __future__ import annotations

from collections.abc import Iterator

from data.errors import InputError
from selection.config import Objective, SelectionConfig
from selection.pool import Pool

_MOST_NAMES = 5  # named in a message


def require_consistent(pool: Pool, config: SelectionConfig) -> None:
    """Raise InputError for the first contradiction."""
    for setting, actual, expected, todo in _contradictions(pool, config):
        raise InputError(f"[selection] {setting}", actual, expected, todo)


_Contradiction = tuple[str, str, str, str]  # setting, found, expected, what to do


def _contradictions(pool: Pool, config: SelectionConfig) -> Iterator[_Contradiction]:
    yield from _of_names(pool, config)
    yield from _of_objective(pool, config)
    yield from _without_data(pool, config)


def _of_names(pool: Pool, config: SelectionConfig) -> Iterator[_Contradiction]:
    known = {item.item_id for item in pool.items}
    for setting in ("must_include", "must_exclude"):
        if strangers := sorted({*getattr(config, setting)} - known):
            yield (
                setting,
                f"{len(strangers)} ids that are not in the pool: {_listed(strangers)}",
                "ids of the pool",
                "Correct or remove them.",
            )
    if both := sorted({*config.must_include} & {*config.must_exclude}):
        yield (
            "must_include",
            f"{len(both)} ids that must_exclude names too: {_listed(both)}",
            "each id in one of the two",
            "Remove them from one.",
        )
    if (wanted := len({*config.must_include})) > config.size:
        yield (
            "must_include",
            f"{wanted} ids",
            f"at most the size, {config.size}",
            "Remove some, or raise the size.",
        )


def _of_objective(pool: Pool, config: SelectionConfig) -> Iterator[_Contradiction]:
    objective = config.objective
    if objective is Objective.COVERAGE and pool.pilots:
        yield (
            "objective",
            f"coverage, and scores of {len(pool.pilots)} models",
            "margins, balanced or pairs where there are scores: coverage uses none",
            "Choose one of these, or leave the scores out.",
        )
    if objective is not Objective.COVERAGE and not pool.pilots:
        yield (
            "objective",
            f"{objective}, and no pilot scores",
            "coverage where there are no scores",
            "Give pilot scores, or choose coverage.",
        )
    if objective is not Objective.PAIRS:
        return
    for setting in ("quota_price", "stratum_picks"):
        if setting in config.model_fields_set and getattr(config, setting) is not None:
            yield (
                setting,
                f"{getattr(config, setting)}, and objective = pairs",
                "no quotas: pairs has none",
                "Remove the setting, or choose margins or balanced.",
            )


def _without_data(pool: Pool, config: SelectionConfig) -> Iterator[_Contradiction]:
    if config.budget is not None and not any(item.cost for item in pool.items):
        yield (
            "budget",
            f"{config.budget:g}, and no item with a cost",
            "costs of the items",
            "Add the column `cost` to the scores, or remove the budget.",
        )
    if config.order_margin is not None and len(pool.pilots) < 2:
        yield (
            "order_margin",
            f"{config.order_margin:g}, and {len(pool.pilots)} pilots",
            "two pilots or more, which can be in an order",
            "Name more pilots, or remove the margin.",
        )
    if config.selection_threshold is not None and not pool.pilots:
        yield (
            "selection_threshold",
            f"{config.selection_threshold:g}, and no pilot scores",
            "scores that pass it or not",
            "Give pilot scores, or remove the threshold.",
        )
    if config.max_changed is not None and not any(item.in_last_release for item in pool.items):
        yield (
            "max_changed",
            f"{config.max_changed:g}, and no item of a last release",
            "items that were in the last release",
            "Name the last release, or remove the bound.",
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
