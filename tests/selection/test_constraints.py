from __future__ import annotations

from collections import Counter

from selection.config import Objective, SelectionConfig
from selection.pool import PoolItem, pool_of_items
from selection.select import select_subset


def test_without_scores_difficulty_and_sources_are_spread() -> None:
    items = [
        PoolItem(
            f"i{number:02d}",
            "f" if number % 8 < 4 else "g",
            difficulty=["easy", "hard"][number % 2],
            source=f"s{number % 4}",
        )
        for number in range(16)
    ]
    config = SelectionConfig(size=8, objective=Objective.COVERAGE)
    told = select_subset(pool_of_items(items), config)
    assert told.chosen is not None
    taken = [item for item in items if item.item_id in told.chosen]
    assert Counter(item.family for item in taken) == {"f": 4, "g": 4}
    assert Counter(item.difficulty for item in taken) == {"easy": 4, "hard": 4}
    assert Counter(item.source for item in taken) == dict.fromkeys(["s0", "s1", "s2", "s3"], 2)
    assert told.solution.objective == 0
    again = select_subset(pool_of_items(items[::-1]), config)
    assert again.chosen == told.chosen
