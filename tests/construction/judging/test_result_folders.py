"""Folders of results: names are found, and hostile texts take linear time."""

from __future__ import annotations

import time

import pytest

from construction.judging.result_folders import folders_of


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Put sums-2024.csv in a folder called monthly.", {"sums-2024.csv": "monthly"}),
        ("Write sums-2024.csv and save it in the folder done", {"sums-2024.csv": "done"}),
        ("Write sums-2024.csv.", {}),
    ],
)
def test_the_folder_beside_a_file_is_its_folder(
    request_text: str, expected: dict[str, str]
) -> None:
    assert folders_of(request_text, ["sums-2024.csv"]) == expected


@pytest.mark.parametrize("piece", ["a", "-", "a-", "7f", "a.csv in a ", "save it ", "张"])
def test_one_long_word_is_read_in_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        began = time.process_time()
        folders_of(text, ["sums.csv"])
        return time.process_time() - began + 1e-3

    assert seconds(160_000) / seconds(20_000) < 24  # linear 8, quadratic 64
