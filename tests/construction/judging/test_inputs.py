"""Which of the input files a request speaks of."""

from __future__ import annotations

from time import process_time

import pytest

from construction.judging.inputs import inputs_spoken_of

PICTURES = ["data/harbour_plan.png", "data/crew_list.jpg", "data/harbour_list.jpg"]
STATES = ["crm/customers.json", "kb/articles.json", "scheduler/jobs.json"]


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("Read the plan in the picture.", PICTURES, ["data/harbour_plan.png"]),
        ("Read every image.", PICTURES, PICTURES),
        ("Read the crew list image of the harbour.", PICTURES, ["data/crew_list.jpg"]),
        ("Knowledge base (what is out of date)", STATES, ["kb/articles.json"]),
        ("State of scheduled tasks", STATES, ["scheduler/jobs.json"]),
        ("从RSS源中筛选与园艺有关的条目", ["rss/feeds.json", "hr/staff.json"], ["rss/feeds.json"]),
    ],
)
def test_the_files_that_are_meant(text: str, given: list[str], expected: list[str]) -> None:
    assert list(inputs_spoken_of(text, given)) == expected


def test_a_name_of_many_parts_is_read_in_linear_time() -> None:
    def seconds(parts: int) -> float:
        given = [f"{lead}-{'-'.join('b' * parts)}.xlsx" for lead in ("0b", "c")]
        began = process_time()
        inputs_spoken_of(f"Read 0b_{'_'.join('b' * parts)}.xls.", given)
        return process_time() - began + 1e-3

    assert seconds(32) / seconds(4) < 24  # linear 8
