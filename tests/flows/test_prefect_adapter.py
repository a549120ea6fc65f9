"""Steps with Prefect and without it: the same function, and errors that tell no text."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from data.errors import InputError, StageError
from flows import prefect_adapter as steps
from flows.prefect_adapter import keep_table, lane, stage, without_prefect


@stage("halve")
def halve(n: int) -> int:
    """Half of an even number."""
    if n == 0:
        raise InputError("numbers.txt", "0", "a positive number", "Leave it out.")
    if n % 2:
        raise ValueError(f"{n} is the secret of a session")
    return n // 2


@lane("halves")
def halves(numbers: list[int]) -> list[int]:
    """The half of each."""
    return [halve(n) for n in numbers]


def test_without_prefect_steps_are_the_functions() -> None:
    with without_prefect(), patch.object(steps, "create_table_artifact") as kept:
        assert halves([2, 8]) == [1, 4]
        keep_table("figures", [{"n": 1}])
    assert not kept.called


def test_what_nobody_foresaw_names_the_stage_and_not_the_text() -> None:
    with without_prefect(), pytest.raises(StageError, match="stage halve: ValueError") as told:
        halve(3)
    assert "secret" not in str(told.value)
    with without_prefect(), pytest.raises(InputError, match=r"numbers\.txt"):
        halve(0)


def test_tables_are_kept_if_they_have_rows() -> None:
    with patch.object(steps, "create_table_artifact") as kept:
        keep_table("figures", [])
        keep_table("figures", [{"n": 1}])
    kept.assert_called_once_with([{"n": 1}], key="figures")


def test_a_step_keeps_its_name_and_its_words() -> None:
    assert (halve.__name__, halve.__doc__) == ("halve", "Half of an even number.")
